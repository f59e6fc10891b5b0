// The camera: orbit, pan, zoom; fits what there is, and follows a body.

import * as THREE from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";


export class Camera {
  readonly camera = new THREE.PerspectiveCamera(38, 1, 0.01, 100);
  readonly controls: OrbitControls;
  /** The direction from which the whole is seen. */
  readonly from = new THREE.Vector3(0.75, -1, 0.5).normalize();
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
    const middle = box.getCenter(new THREE.Vector3());
    const half = Math.tan((this.camera.fov * Math.PI) / 360);
    const [across, up] = [half * this.camera.aspect * this.free[0], half * this.free[1]];
    // Every corner is within the picture: its depth toward the camera, and how far that must be for its height and its side.
    const side = new THREE.Vector3().crossVectors(this.camera.up, this.from);
    if (side.lengthSq() < 1e-9) side.set(1, 0, 0);
    side.normalize();
    const above = new THREE.Vector3().crossVectors(this.from, side);
    let distance = 2e-3;
    for (let k = 0; k < 8; k++) {
      const corner = new THREE.Vector3(k & 1 ? box.max.x : box.min.x, k & 2 ? box.max.y : box.min.y, k & 4 ? box.max.z : box.min.z).sub(middle);
      distance = Math.max(distance, corner.dot(this.from) + Math.max(Math.abs(corner.dot(side)) / across, Math.abs(corner.dot(above)) / up));
    }
    distance *= 1.12;
    this.controls.target.copy(middle);
    this.camera.position.copy(middle).addScaledVector(this.from, distance);
    [this.camera.near, this.camera.far] = [distance / 200, distance * 60];
    this.camera.updateProjectionMatrix();
    this.controls.update();
  }

  /** Goes around what is looked at: to the left and upwards, rad. */
  turn(left: number, up: number): void {
    const away = this.camera.position.clone().sub(this.controls.target);
    // The vertical is y there, and z here.
    const at = new THREE.Spherical().setFromCartesianCoords(away.x, away.z, -away.y);
    at.theta -= left;
    at.phi -= up;
    const turned = new THREE.Vector3().setFromSpherical(at.makeSafe());
    this.camera.position.copy(this.controls.target).add(new THREE.Vector3(turned.x, -turned.z, turned.y));
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
