// Marks of joints: a spring where one acts, spiral where it turns and coil where it slides, and a ring elsewhere; red where it pulls most.

import * as THREE from "three";
import { solid } from "./materials";
import type { Frame, Joint, SceneMessage } from "./protocol";
import { matrixOf } from "./shapes";

/** Turns of a spiral and of a coil, and how long a coil is at zero, in sizes of a mark. */
const SPIRAL = 2.5;
const COIL = 6;
const LENGTH = 6;

const sprung = (joint: Joint) => joint.freedoms.find((freedom) => freedom.stiffness > 0);

/** A wire along a curve, by its parameter from 0 to 1. */
function wire(at: (s: number) => [number, number, number], pieces: number, thickness: number): THREE.BufferGeometry {
  const curve = new THREE.CatmullRomCurve3(Array.from({ length: pieces + 1 }, (_, k) => new THREE.Vector3(...at(k / pieces))));
  return new THREE.TubeGeometry(curve, pieces, thickness, 5);
}

/** About z, out to 1. */
const spiral = () =>
  wire((s) => {
    const [r, angle] = [0.25 + 0.75 * s, 2 * Math.PI * SPIRAL * s];
    return [r * Math.cos(angle), r * Math.sin(angle), 0];
  }, 40, 0.13);

/** Along z, from 0 to 1; its wire is round where it is scaled to so many radii. */
export const coil = (turns: number, radii: number) =>
  wire((s) => {
    const angle = 2 * Math.PI * turns * s;
    return [Math.cos(angle), Math.sin(angle), radii * s];
  }, 16 * turns, 0.16).scale(1, 1, 1 / radii);

interface Kind {
  mesh: THREE.InstancedMesh;
  joints: number[];
}

export class Marks {
  readonly object = new THREE.Group();
  private readonly kinds: Kind[] = [];
  private readonly frames: THREE.Matrix4[];

  constructor(
    private readonly scene: SceneMessage,
    private readonly size: number,
  ) {
    this.frames = scene.joints.map((joint) => matrixOf(joint.inParent));
    const of = (kind: (joint: Joint) => boolean) => scene.joints.flatMap((joint, at) => (kind(joint) ? [at] : []));
    const add = (joints: number[], geometry: THREE.BufferGeometry): void => {
      const mesh = new THREE.InstancedMesh(geometry, solid({}), Math.max(joints.length, 1));
      mesh.count = joints.length;
      mesh.frustumCulled = false;
      this.kinds.push({ mesh, joints });
      this.object.add(mesh);
    };
    add(of((joint) => !sprung(joint)), new THREE.TorusGeometry(1, 0.3, 6, 14));
    add(of((joint) => sprung(joint)?.slides === false), spiral());
    add(of((joint) => sprung(joint)?.slides === true), coil(COIL, LENGTH));
  }

  /** How many there are of each: rings, spirals, coils. */
  counts(): number[] {
    return this.kinds.map(({ joints }) => joints.length);
  }

  /** On bodies as they are now; nothing of them is kept. */
  place(frame: Frame, pose: (body: number) => THREE.Matrix4, calm: THREE.Color, strained: THREE.Color): void {
    const most = Math.max(1e-9, ...Array.from(frame.lists.torques, Math.abs));
    const [whole, scale, color] = [new THREE.Matrix4(), new THREE.Matrix4(), new THREE.Color()];
    this.kinds.forEach(({ mesh, joints }, kind) => {
      joints.forEach((at, k) => {
        const joint = this.scene.joints[at]!;
        whole.copy(this.frames[at]!);
        if (joint.parent !== null) whole.premultiply(pose(joint.parent));
        // A coil ends where its joint has slid to.
        const length = kind === 2 ? Math.max(0.2 * LENGTH * this.size, LENGTH * this.size + (frame.lists.coordinates[joint.coordinate] ?? 0)) : this.size;
        if (kind === 2) whole.multiply(scale.makeTranslation(0, 0, -LENGTH * this.size));
        mesh.setMatrixAt(k, whole.multiply(scale.makeScale(this.size, this.size, length)));
        const pull = kind === 0 ? 0 : Math.abs(frame.lists.torques[joint.coordinate] ?? 0) / most;
        mesh.setColorAt(k, color.copy(calm).lerp(strained, pull));
      });
      mesh.instanceMatrix.needsUpdate = true;
      if (mesh.instanceColor) mesh.instanceColor.needsUpdate = true;
    });
  }
}
