// Shapes as geometries of three.js. What differs only in its size shares one geometry and is scaled.

import * as THREE from "three";
import type { MeshMessage, Pose, Shape } from "./protocol";

export function matrixOf(pose: Pose): THREE.Matrix4 {
  const [x, y, z, qw, qx, qy, qz] = pose;
  return new THREE.Matrix4().compose(new THREE.Vector3(x, y, z), new THREE.Quaternion(qx, qy, qz, qw), new THREE.Vector3(1, 1, 1));
}

/** Shapes of one key are drawn together: a geometry, and the matrix of each from its body's frame. */
export interface Piece {
  key: string;
  geometry: () => THREE.BufferGeometry;
  matrix: THREE.Matrix4;
}

/** How many sides round things have; fewer where there are many. */
export interface Detail {
  sides: number;
}

const alongZ = (geometry: THREE.BufferGeometry): THREE.BufferGeometry => geometry.rotateX(Math.PI / 2);

/** The piece of a shape; nothing for what is drawn otherwise (planes) or cannot be had. */
export function piece(shape: Shape, meshes: Map<number, MeshMessage>, { sides }: Detail): Piece | undefined {
  const matrix = matrixOf(shape.pose);
  const scaled = (x: number, y: number, z: number) => matrix.scale(new THREE.Vector3(x, y, z));
  const [r, h] = [shape.radius ?? 0, shape.halfLength ?? 0];
  switch (shape.kind) {
    case "box": {
      const [x, y, z] = shape.size as [number, number, number];
      return { key: "box", geometry: () => new THREE.BoxGeometry(1, 1, 1), matrix: scaled(x, y, z) };
    }
    case "ball":
      return { key: "ball", geometry: () => new THREE.SphereGeometry(1, sides, sides >> 1), matrix: scaled(r, r, r) };
    case "cylinder":
      return {
        key: "cylinder",
        geometry: () => alongZ(new THREE.CylinderGeometry(1, 1, 2, sides)),
        matrix: scaled(r, r, h),
      };
    case "capsule":
      return {
        key: `capsule ${(h / r).toPrecision(4)}`,
        geometry: () => alongZ(new THREE.CapsuleGeometry(1, (2 * h) / r, sides >> 2, sides)),
        matrix: scaled(r, r, r),
      };
    case "mesh":
    case "convex": {
      const mesh = shape.mesh == null ? undefined : meshes.get(shape.mesh);
      if (!mesh) return undefined;
      const [x, y, z] = shape.scale ?? [1, 1, 1];
      const mirrored = x * y * z < 0;
      return { key: `mesh ${shape.mesh} ${mirrored}`, geometry: () => ofMesh(mesh, mirrored), matrix: scaled(x, y, z) };
    }
    case "heightfield":
      return { key: `field ${JSON.stringify(shape.pose)}`, geometry: () => ofField(shape), matrix };
    case "plane":
      return undefined;
  }
}

function ofMesh(mesh: MeshMessage, mirrored: boolean): THREE.BufferGeometry {
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.BufferAttribute(mesh.points, 3));
  let triangles = mesh.triangles;
  if (mirrored) {
    triangles = triangles.slice();
    for (let k = 0; k < triangles.length; k += 3) [triangles[k], triangles[k + 1]] = [triangles[k + 1]!, triangles[k]!];
  }
  geometry.setIndex(new THREE.BufferAttribute(triangles, 1));
  // Files have no normals that could be trusted: flat faces, edges sharp.
  const flat = geometry.toNonIndexed();
  flat.computeVertexNormals();
  return flat;
}

function ofField(shape: Shape): THREE.BufferGeometry {
  const heights = shape.heights ?? [];
  const [rows, columns] = [heights.length, heights[0]?.length ?? 0];
  const [sx, sy] = (shape.size ?? [1, 1]) as [number, number];
  const points: number[] = [];
  heights.forEach((row, j) =>
    row.forEach((z, i) => points.push(sx * (i / (columns - 1) - 0.5), sy * (j / (rows - 1) - 0.5), z)),
  );
  const triangles: number[] = [];
  for (let j = 0; j + 1 < rows; j++)
    for (let i = 0; i + 1 < columns; i++) {
      const a = j * columns + i;
      triangles.push(a, a + 1, a + columns + 1, a, a + columns + 1, a + columns);
    }
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.Float32BufferAttribute(points, 3));
  geometry.setIndex(triangles);
  const flat = geometry.toNonIndexed();
  flat.computeVertexNormals();
  return flat;
}
