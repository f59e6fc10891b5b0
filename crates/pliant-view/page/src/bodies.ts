// All bodies of one engine: instanced, so that thousands are a few draw calls. Where a body has no shape, sticks between its joints stand
// for it.

import * as THREE from "three";
import { solid } from "./materials";
import type { MeshMessage, Pose, SceneMessage, Shape } from "./protocol";
import { piece, type Piece } from "./shapes";
import type { Theme } from "./theme";

interface Group {
  mesh: THREE.InstancedMesh;
  body: number[];
  own: THREE.Matrix4[];
  /** Colours of the file. */
  color: (THREE.Color | undefined)[];
}

/** The colour that a file gives a shape. */
export function colorOf(shape: Shape | undefined): THREE.Color | undefined {
  return shape?.color ? new THREE.Color().setRGB(shape.color[0], shape.color[1], shape.color[2], THREE.SRGBColorSpace) : undefined;
}

/** Above so many, round things have fewer sides. */
const MANY = 200;
/** Loose bodies so many times as far away as half of the others are left out of the view of all. */
const FAR = 4;

export class Bodies {
  readonly object = new THREE.Group();
  private groups: Group[] = [];
  private readonly poses: THREE.Matrix4[];
  /** Bodies with joints; the others are loose. */
  private readonly jointed: Set<number>;

  constructor(
    private readonly scene: SceneMessage,
    meshes: Map<number, MeshMessage>,
    private readonly ghost: boolean,
    whatTouches: boolean,
  ) {
    this.jointed = new Set(scene.joints.flatMap(({ parent, child }) => (parent === null ? [child] : [parent, child])));
    this.poses = scene.bodies.map(() => new THREE.Matrix4());
    const detail = { sides: scene.bodies.length > MANY ? 12 : 28 };
    const byKey = new Map<string, Omit<Group, "mesh"> & { geometry: THREE.BufferGeometry; opacity: number }>();
    const add = (one: Piece, body: number, shape?: Shape): void => {
      const opacity = shape?.color?.[3] ?? 1;
      const key = `${one.key} ${opacity}`;
      const known = byKey.get(key) ?? { geometry: one.geometry(), opacity, body: [], own: [], color: [] };
      known.body.push(body);
      known.own.push(one.matrix);
      known.color.push(colorOf(shape));
      byKey.set(key, known);
    };
    const has = (shape: Shape) => shape.mesh === undefined || (shape.mesh !== null && meshes.has(shape.mesh));
    const ends = this.ends();
    scene.bodies.forEach((body, at) => {
      const seen = body.shapes.filter((shape) => !shape.touches && has(shape));
      const touched = body.shapes.filter((shape) => shape.touches && has(shape));
      const shown = (whatTouches || seen.length === 0 ? touched : seen) ?? [];
      const pieces = shown.map((shape) => ({ one: piece(shape, meshes, detail), shape })).filter(({ one }) => one !== undefined);
      pieces.forEach(({ one, shape }) => shape.color?.[3] !== 0 && add(one!, at, shape));
      if (pieces.length === 0) this.sticks(ends[at]!).forEach((one) => add(one, at));
    });
    for (const { geometry, opacity, body, own, color } of byKey.values()) {
      const material = ghost
        ? solid({ transparent: true, opacity: 0.4, depthWrite: false, polygonOffset: true, polygonOffsetFactor: 2, polygonOffsetUnits: 4 })
        : solid(opacity < 1 ? { transparent: true, opacity, depthWrite: false } : {});
      const mesh = new THREE.InstancedMesh(geometry, material, body.length);
      mesh.frustumCulled = false;
      mesh.castShadow = mesh.receiveShadow = !ghost;
      mesh.instanceMatrix.setUsage(THREE.DynamicDrawUsage);
      this.groups.push({ mesh, body, own, color });
      this.object.add(mesh);
    }
  }

  /** From each link frame to its joints and effectors. */
  private ends(): THREE.Vector3[][] {
    const ends: THREE.Vector3[][] = this.scene.bodies.map(() => []);
    const add = (body: number, pose: Pose) => ends[body]!.push(new THREE.Vector3(pose[0], pose[1], pose[2]));
    for (const joint of this.scene.joints) {
      add(joint.child, joint.inChild);
      if (joint.parent !== null) add(joint.parent, joint.inParent);
    }
    for (const effector of this.scene.effectors) add(effector.body, effector.frame);
    return ends;
  }

  private sticks(ends: THREE.Vector3[]): Piece[] {
    const thin = 0.008 * this.scene.radius;
    const geometry = () => new THREE.CylinderGeometry(1, 1, 1, 8).rotateX(Math.PI / 2);
    return ends
      .filter((end) => end.length() > thin)
      .map((end) => {
        const turn = new THREE.Quaternion().setFromUnitVectors(new THREE.Vector3(0, 0, 1), end.clone().normalize());
        const matrix = new THREE.Matrix4().compose(end.clone().multiplyScalar(0.5), turn, new THREE.Vector3(thin, thin, end.length()));
        return { key: "stick", geometry, matrix };
      });
  }

  /** Where they are, sixteen numbers each. */
  place(transforms: Float32Array): void {
    this.poses.forEach((pose, at) => pose.fromArray(transforms, 16 * at));
    const whole = new THREE.Matrix4();
    for (const { mesh, body, own } of this.groups) {
      body.forEach((at, k) => mesh.setMatrixAt(k, whole.multiplyMatrices(this.poses[at]!, own[k]!)));
      mesh.instanceMatrix.needsUpdate = true;
      // three.js keeps it until it is cleared, and tests rays against it.
      mesh.boundingSphere = null;
    }
  }

  pose(body: number): THREE.Matrix4 {
    return this.poses[body]!;
  }

  /** A box around what is seen of the bodies where they are now, but for loose ones far away: what falls without end does not push the
   *  camera away. */
  bounds(): THREE.Box3 {
    const near = this.near();
    const [all, own, whole] = [new THREE.Box3(), new THREE.Box3(), new THREE.Matrix4()];
    for (const group of this.groups) {
      const { geometry } = group.mesh;
      if (!geometry.boundingBox) geometry.computeBoundingBox();
      group.body.forEach((at, k) => {
        if (near(at)) all.union(own.copy(geometry.boundingBox!).applyMatrix4(whole.multiplyMatrices(this.poses[at]!, group.own[k]!)));
      });
    }
    return all;
  }

  /** Whether a body is in the view of all. Those with joints are; loose ones are within FAR times the median distance from the median
   *  position, or of the radius where that is larger. Medians are of the bodies with joints, and of all where there are none: they stay
   *  where most of these are, however far the others have gone. */
  private near(): (body: number) => boolean {
    const places = this.poses.map((pose) => new THREE.Vector3().setFromMatrixPosition(pose));
    const those = this.jointed.size > 0 ? [...this.jointed].map((at) => places[at]!) : places;
    const median = (list: number[]) => list.sort((a, b) => a - b)[list.length >> 1] ?? 0;
    const [x, y, z] = (["x", "y", "z"] as const).map((axis) => median(those.map((place) => place[axis])));
    const middle = new THREE.Vector3(x, y, z);
    const far = FAR * Math.max(median(those.map((place) => place.distanceTo(middle))), this.scene.radius);
    return (body) => this.jointed.has(body) || places[body]!.distanceTo(middle) <= far;
  }

  /** The colour of each body, else the file's of each shape, or the theme's. */
  paint(theme: Theme, of?: (body: number) => THREE.Color | undefined): void {
    const own = theme.links.map((color) => new THREE.Color(color));
    const [ghost, loose] = [new THREE.Color(theme.ghost), new THREE.Color(theme.loose)];
    const usual = (at: number) => (this.ghost ? ghost : this.jointed.has(at) ? own[at % own.length]! : loose);
    for (const { mesh, body, color } of this.groups) {
      body.forEach((at, k) => mesh.setColorAt(k, of?.(at) ?? (this.ghost ? undefined : color[k]) ?? usual(at)));
      if (mesh.instanceColor) mesh.instanceColor.needsUpdate = true;
    }
  }

  /** The first body along a ray, and where. */
  pick(ray: THREE.Raycaster): { body: number; point: THREE.Vector3 } | undefined {
    const hits = ray.intersectObjects(this.groups.map((group) => group.mesh), false);
    const hit = hits[0];
    const group = hit && this.groups.find((one) => one.mesh === hit.object);
    return group && hit.instanceId !== undefined ? { body: group.body[hit.instanceId]!, point: hit.point } : undefined;
  }

  shadows(on: boolean): void {
    this.groups.forEach(({ mesh }) => (mesh.castShadow = mesh.receiveShadow = on && !this.ghost));
  }

  dispose(): void {
    for (const { mesh } of this.groups) {
      mesh.geometry.dispose();
      (mesh.material as THREE.Material).dispose();
      mesh.dispose();
    }
  }
}
