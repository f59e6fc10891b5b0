// The camera: orbit, pan, zoom; fits what there is, and follows a body.

import * as THREE from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";

/** From where the whole is seen at first. */
const VIEW = new THREE.Vector3(0.75, -1, 0.5).normalize();

export class Camera {
  readonly camera = new THREE.PerspectiveCamera(38, 1, 0.01, 100);
  readonly controls: OrbitControls;
  /** Parts of width and height that are not covered. */
  private free: [number, number] = [1, 1];
  /** The body that is followed, and where it was. */
  private followed: { body: number; at: THREE.Vector3 } | undefined;

  constructor(canvas: HTMLElement) {
    this.camera.up.set(0, 0, 1);
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.enableDamping = false;
    this.controls.zoomToCursor = true;
  }

  /** Of the view, `right` and `top` (0 to 1) are covered by panels: what is looked at is in the middle of the rest. */
  resize(width: number, height: number, right: number, top: number): void {
    this.camera.aspect = width / height;
    this.free = [1 - right, 1 - top];
    this.camera.setViewOffset(width, height, (right * width) / 2, (-top * height) / 2, width, height);
    this.camera.updateProjectionMatrix();
  }

  /** Shows a box whole. */
  fit(box: THREE.Box3): void {
    const sphere = box.getBoundingSphere(new THREE.Sphere());
    const radius = Math.max(sphere.radius, 1e-3);
    const half = Math.tan((this.camera.fov * Math.PI) / 360);
    const [across, up] = [half * this.camera.aspect * this.free[0], half * this.free[1]];
    const distance = (1.12 * radius) / Math.sin(Math.atan(Math.min(up, across)));
    this.controls.target.copy(sphere.center);
    this.camera.position.copy(sphere.center).addScaledVector(VIEW, distance);
    [this.camera.near, this.camera.far] = [distance / 200, distance * 60];
    this.camera.updateProjectionMatrix();
    this.controls.update();
  }

  follow(body: number | undefined, at?: THREE.Vector3): void {
    this.followed = body === undefined || !at ? undefined : { body, at: at.clone() };
  }

  following(): number | undefined {
    return this.followed?.body;
  }

  /** Goes with what is followed. */
  update(where: (body: number) => THREE.Vector3): void {
    if (this.followed) {
      const now = where(this.followed.body);
      const moved = now.clone().sub(this.followed.at);
      this.followed.at = now.clone();
      this.camera.position.add(moved);
      this.controls.target.add(moved);
    }
    this.controls.update();
  }
}
