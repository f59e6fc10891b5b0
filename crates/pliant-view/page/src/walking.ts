// Legs that walk by the arrow keys: set-points of scenes whose legs have the joints of the gallery's hexapod, three legs at a time.

import * as THREE from "three";
import type { Link } from "./link";
import type { Frame, Joint, SceneMessage } from "./protocol";
import { matrixOf } from "./shapes";

/** Of the length of a leg: a stride, and how high a foot is lifted. Time of a cycle, and of starting and stopping, s. */
const STRIDE = 0.5;
const LIFT = 0.18;
const CYCLE = 0.8;
const EASE = 0.3;
const PARTS = ["coxa", "femur", "tibia"] as const;
const KEYS = { ArrowUp: [1, 0], ArrowDown: [-1, 0], ArrowLeft: [0, 1], ArrowRight: [0, -1] } as const;

interface Leg {
  /** Places of coxa, femur and tibia in the list of joints, and which way they turn. */
  joints: [number, number, number];
  signs: [number, number, number];
  outward: THREE.Vector3;
  across: THREE.Vector3;
  /** Outward and up: from the axis of each joint to the next, and to the foot. */
  links: THREE.Vector2[];
  foot: THREE.Vector3;
  late: boolean;
}

/** Where a foot is in its cycle: forward of its middle, in strides, and up. The first half swings. */
function step(phase: number): [number, number] {
  return phase < 0.5 ? [2 * phase - 0.5, Math.sin(2 * Math.PI * phase)] : [1.5 - 2 * phase, 0];
}

function legs(scene: SceneMessage): Leg[] {
  const find = (name: string) => scene.joints.findIndex((joint) => joint.name === name);
  const found: (Leg & { hip: THREE.Vector3 })[] = [];
  for (const effector of scene.effectors) {
    const joints = PARTS.map((part) => find(`${effector.name}_${part}`)) as [number, number, number];
    if (joints.some((at) => at < 0 || !(scene.joints[at]!.freedoms[0]!.stiffness > 0))) continue;
    // Of the base, with all joints at zero: a joint's frame in its parent is that in its child.
    const own = joints.map((at) => scene.joints[at]!) as [Joint, Joint, Joint];
    let body = new THREE.Matrix4();
    const frames = own.map((joint) => {
      const frame = body.clone().multiply(matrixOf(joint.inParent));
      body = frame.clone().multiply(matrixOf(joint.inChild).invert());
      return frame;
    });
    const points = [...frames, body.clone().multiply(matrixOf(effector.frame))].map((frame) => new THREE.Vector3().setFromMatrixPosition(frame));
    const outward = points[1]!.clone().sub(points[0]!).setZ(0).normalize();
    const across = new THREE.Vector3(0, 0, 1).cross(outward);
    const axes = [new THREE.Vector3(0, 0, 1), across, across];
    const signs = frames.map((frame, k) => Math.sign(new THREE.Vector3().setFromMatrixColumn(frame, 2).dot(axes[k]!)));
    const links = [0, 1, 2].map((k) => points[k + 1]!.clone().sub(points[k]!)).map((way) => new THREE.Vector2(way.dot(outward), way.z));
    found.push({ joints, signs: signs as [number, number, number], outward, across, links, foot: points[3]!, late: false, hip: points[0]! });
  }
  // Front and rear of one side go with the middle of the other.
  for (const side of [1, -1])
    found
      .filter(({ hip }) => hip.y * side > 0)
      .sort((a, b) => b.hip.x - a.hip.x)
      .forEach((leg, k) => (leg.late = (k % 2 === 0) === (side > 0)));
  return found;
}

/** Turns of coxa, femur and tibia that move a foot from where it stands: two links in a plane, and the turn of that. */
function angles({ outward, across, links: [coxa, femur, tibia] }: Leg, way: THREE.Vector3, up: number): number[] {
  const foot = outward.clone().multiplyScalar(coxa!.x + femur!.x + tibia!.x).add(way);
  const turn = Math.atan2(foot.dot(across), foot.dot(outward));
  const to = new THREE.Vector2(Math.hypot(foot.x, foot.y) - coxa!.x, femur!.y + tibia!.y + up);
  const [a, b, d] = [femur!.length(), tibia!.length(), to.length()];
  const acos = (x: number) => Math.acos(Math.min(1, Math.max(-1, x)));
  const angle = (v: THREE.Vector2) => Math.atan2(v.y, v.x);
  // The knee is above the line from hip to foot. Turns about the leg's across are downward.
  const first = angle(to) + acos((a * a + d * d - b * b) / (2 * a * d));
  const second = first - (Math.PI - acos((a * a + b * b - d * d) / (2 * a * b)));
  return [turn, angle(femur!) - first, angle(tibia!) - angle(femur!) - (second - first)];
}

export class Walking {
  private legs: Leg[] = [];
  private readonly pressed = new Set<keyof typeof KEYS>();
  private way = { forward: 0, turn: 0 };
  private phase = 0;
  private eased = 0;
  private before = 0;

  constructor(private readonly link: () => Link) {
    const arrow = (event: KeyboardEvent) => (event.key in KEYS ? (event.key as keyof typeof KEYS) : undefined);
    addEventListener("keydown", (event) => {
      const key = arrow(event);
      // Sliders and lists have these keys for themselves.
      if (!key || this.legs.length < 4 || (event.target as HTMLElement).closest("input, select, dialog")) return;
      event.preventDefault();
      this.pressed.add(key);
    });
    addEventListener("keyup", (event) => {
      const key = arrow(event);
      if (key) this.pressed.delete(key);
    });
    addEventListener("blur", () => this.pressed.clear());
  }

  setScene(scene: SceneMessage): void {
    this.legs = legs(scene);
    [this.eased, this.before] = [0, 0];
  }

  /** The set-points of a frame's time; none while it stands. */
  add({ time }: Frame): void {
    const passed = Math.min(Math.max(time - this.before, 0), 0.1);
    this.before = time;
    const on = this.pressed.size > 0;
    if (!on && this.eased === 0) return;
    if (on) {
      if (this.eased === 0) this.phase = 0;
      this.way = { forward: 0, turn: 0 };
      for (const key of this.pressed) {
        this.way.forward += KEYS[key][0];
        this.way.turn += KEYS[key][1];
      }
    }
    this.eased = Math.min(1, Math.max(0, this.eased + (on ? passed : -passed) / EASE));
    this.phase = (this.phase + passed / CYCLE) % 1;
    for (const leg of this.legs) {
      const [along, up] = step((this.phase + (leg.late ? 0.5 : 0)) % 1);
      const length = leg.links[1]!.length() + leg.links[2]!.length();
      const way = new THREE.Vector3(this.way.forward, 0, 0);
      way.addScaledVector(new THREE.Vector3(-leg.foot.y, leg.foot.x, 0).normalize(), this.way.turn).multiplyScalar(along * STRIDE * length * this.eased);
      const values = angles(leg, way, up * LIFT * length * this.eased);
      leg.joints.forEach((joint, k) => this.link().send("target", { joint, freedom: 0, value: leg.signs[k]! * values[k]! }));
    }
  }
}
