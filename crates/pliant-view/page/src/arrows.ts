// Many arrows, cones or springs, as instances of one geometry along z from the origin.

import * as THREE from "three";
import { mergeGeometries } from "three/addons/utils/BufferGeometryUtils.js";
import { coil } from "./marks";
import { solid } from "./materials";

const Z = new THREE.Vector3(0, 0, 1);

function arrow(): THREE.BufferGeometry {
  const shaft = new THREE.CylinderGeometry(0.4, 0.4, 0.76, 10).translate(0, 0.38, 0);
  const head = new THREE.ConeGeometry(1, 0.24, 14).translate(0, 0.88, 0);
  return mergeGeometries([shaft, head]).rotateX(Math.PI / 2);
}

/** A cone that opens upwards to height and radius 1. */
function cone(): THREE.BufferGeometry {
  return new THREE.ConeGeometry(1, 1, 24, 1, true).rotateX(-Math.PI / 2).translate(0, 0, 0.5);
}

export class Instances {
  readonly mesh: THREE.InstancedMesh;
  private count = 0;

  private constructor(geometry: THREE.BufferGeometry, material: THREE.Material, private readonly most: number) {
    this.mesh = new THREE.InstancedMesh(geometry, material, most);
    this.mesh.frustumCulled = false;
    this.mesh.count = 0;
    // A colour from the start, so that the material is made for colours.
    for (let k = 0; k < most; k++) this.mesh.setColorAt(k, new THREE.Color(0xffffff));
  }

  static arrows(most: number): Instances {
    const instances = new Instances(arrow(), new THREE.MeshBasicMaterial({ depthTest: false, transparent: true, opacity: 0.95 }), most);
    instances.mesh.renderOrder = 10;
    return instances;
  }

  static cones(most: number): Instances {
    return new Instances(cone(), new THREE.MeshBasicMaterial({ transparent: true, opacity: 0.25, side: THREE.DoubleSide, depthWrite: false }), most);
  }

  static springs(most: number): Instances {
    return new Instances(coil(12, 24), solid({}), most);
  }

  begin(): void {
    this.count = 0;
  }

  add(from: THREE.Vector3, along: THREE.Vector3, length: number, width: number, color: THREE.Color): void {
    if (this.count >= this.most || !(length > 0)) return;
    const turn = new THREE.Quaternion().setFromUnitVectors(Z, along.clone().normalize());
    this.mesh.setMatrixAt(this.count, new THREE.Matrix4().compose(from, turn, new THREE.Vector3(width, width, length)));
    this.mesh.setColorAt(this.count, color);
    this.count += 1;
  }

  end(): void {
    this.mesh.count = this.count;
    this.mesh.instanceMatrix.needsUpdate = true;
    if (this.mesh.instanceColor) this.mesh.instanceColor.needsUpdate = true;
  }
}
