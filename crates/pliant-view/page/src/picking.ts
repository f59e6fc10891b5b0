// Taking hold: what is under the pointer, and the plane in which it is pulled. Effectors near the pointer go first, and are held at their
// origin; a body is held where it is touched.

import * as THREE from "three";
import type { Link } from "./link";
import type { SceneMessage } from "./protocol";
import type { Drawing } from "./scene";
import { matrixOf } from "./shapes";

/** How near the pointer an effector counts, px. */
const NEAR = 14;

export interface Picked {
  body: number;
  name: string;
  /** World. */
  point: THREE.Vector3;
  /** In the link frame. */
  local: THREE.Vector3;
}

export class Picking {
  private held: { plane: THREE.Plane } | undefined;
  /** The spring's stiffness, N/m; 0 is chosen by the mechanism. */
  stiffness = 0;
  scene: SceneMessage | undefined;

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly drawing: Drawing,
    private readonly link: () => Link,
    private readonly hovers: (picked: Picked | undefined, x: number, y: number) => void,
  ) {
    canvas.addEventListener("pointerdown", (event) => this.down(event), { capture: true });
    canvas.addEventListener("pointermove", (event) => this.move(event));
    ["pointerup", "pointercancel", "lostpointercapture"].forEach((name) => canvas.addEventListener(name, () => this.release()));
    canvas.addEventListener("pointerleave", () => this.hovers(undefined, 0, 0));
    canvas.addEventListener("dblclick", (event) => {
      const picked = this.pick(event.clientX, event.clientY);
      drawing.camera.follow(picked?.body, picked && new THREE.Vector3().setFromMatrixPosition(drawing.bodies!.pose(picked.body)));
    });
  }

  private ray(x: number, y: number): THREE.Raycaster {
    const box = this.canvas.getBoundingClientRect();
    const at = new THREE.Vector2(((x - box.left) / box.width) * 2 - 1, 1 - ((y - box.top) / box.height) * 2);
    const ray = new THREE.Raycaster();
    ray.setFromCamera(at, this.drawing.camera.camera);
    return ray;
  }

  pick(x: number, y: number): Picked | undefined {
    const { bodies } = this.drawing;
    if (!bodies || !this.scene) return undefined;
    let nearest: Picked | undefined;
    let least = NEAR;
    for (const effector of this.scene.effectors) {
      const point = new THREE.Vector3().setFromMatrixPosition(
        new THREE.Matrix4().multiplyMatrices(bodies.pose(effector.body), matrixOf(effector.frame)),
      );
      const seen = this.drawing.project(point);
      const away = Math.hypot(seen.x - x, seen.y - y);
      if (away < least) {
        least = away;
        const local = new THREE.Vector3(...effector.frame.slice(0, 3));
        nearest = { body: effector.body, name: `effector ${effector.name}`, point, local };
      }
    }
    if (nearest) return nearest;
    const hit = bodies.pick(this.ray(x, y));
    if (!hit) return undefined;
    const local = hit.point.clone().applyMatrix4(bodies.pose(hit.body).clone().invert());
    return { body: hit.body, name: this.scene.bodies[hit.body]!.name, point: hit.point, local };
  }

  private down(event: PointerEvent): void {
    if (event.button !== 0 || event.shiftKey || event.ctrlKey || event.metaKey) return;
    const picked = this.pick(event.clientX, event.clientY);
    if (!picked) return;
    // The camera stays where it is meanwhile.
    this.drawing.camera.controls.enabled = false;
    this.canvas.setPointerCapture(event.pointerId);
    const facing = this.drawing.camera.camera.getWorldDirection(new THREE.Vector3());
    this.held = { plane: new THREE.Plane().setFromNormalAndCoplanarPoint(facing, picked.point) };
    const { x, y, z } = picked.local;
    this.link().send("grab", { body: picked.body, x, y, z, stiffness: this.stiffness });
    this.hovers(undefined, 0, 0);
  }

  private move(event: PointerEvent): void {
    if (!this.held) {
      if (event.pointerType === "mouse" && event.buttons === 0) {
        const picked = this.pick(event.clientX, event.clientY);
        this.hovers(picked, event.clientX, event.clientY);
      }
      return;
    }
    const goal = this.ray(event.clientX, event.clientY).ray.intersectPlane(this.held.plane, new THREE.Vector3());
    if (goal) this.link().send("pull", { x: goal.x, y: goal.y, z: goal.z });
  }

  release(): void {
    if (!this.held) return;
    this.held = undefined;
    this.drawing.camera.controls.enabled = true;
    this.link().send("release", {});
  }
}
