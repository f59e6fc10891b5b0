// Messages: commands are written, and what comes in is read, by the tables of layout.ts.

import { COMMANDS, KINDS, LISTS, NUMBERS } from "./layout";

export type CommandName = keyof typeof COMMANDS;
type Fields<N extends CommandName> = (typeof COMMANDS)[N]["fields"][number];
export type Values<N extends CommandName> = Record<Fields<N>[0], number>;

const BYTES = { u8: 1, u32: 4, f64: 8 } as const;

/** A command as a message. */
export function encode<N extends CommandName>(name: N, values: Values<N>): ArrayBuffer {
  const { kind, fields } = COMMANDS[name];
  const length = (fields as readonly (readonly [string, keyof typeof BYTES])[]).reduce((sum, [, type]) => sum + BYTES[type], 1);
  const view = new DataView(new ArrayBuffer(length));
  view.setUint8(0, kind);
  let at = 1;
  for (const [field, type] of fields as readonly (readonly [string, keyof typeof BYTES])[]) {
    const value = (values as Record<string, number>)[field] ?? 0;
    if (type === "u8") view.setUint8(at, value);
    else if (type === "u32") view.setUint32(at, value, true);
    else view.setFloat64(at, value, true);
    at += BYTES[type];
  }
  return view.buffer;
}

/** Position, then quaternion w, x, y, z. */
export type Pose = [number, number, number, number, number, number, number];

export interface Shape {
  kind: "box" | "ball" | "capsule" | "cylinder" | "mesh" | "convex" | "heightfield" | "plane";
  pose: Pose;
  touches: boolean;
  /** Red, green, blue and opacity, from 0 to 1. */
  color: [number, number, number, number] | null;
  size?: number[];
  radius?: number;
  halfLength?: number;
  mesh?: number | null;
  scale?: [number, number, number];
  heights?: number[][];
}

export interface Freedom {
  slides: boolean;
  stiffness: number;
  lower: number | null;
  upper: number | null;
}

export interface Joint {
  name: string;
  parent: number | null;
  child: number;
  inParent: Pose;
  inChild: Pose;
  coordinate: number;
  freedoms: Freedom[];
}

export interface SceneMessage {
  name: string;
  radius: number;
  mass: number;
  touches: boolean;
  engines: string[];
  bodies: { name: string; mass: number; shapes: Shape[] }[];
  world: Shape[];
  joints: Joint[];
  effectors: { name: string; body: number; frame: Pose }[];
  meshes: number;
  warnings: string[];
}

export interface Status {
  engine: string;
  ghost: string | null;
  playing: boolean;
  speed: number;
  dt: number;
  gravity: [number, number, number];
  stiffnessScale: number;
  dampingScale: number;
  torques: boolean;
  models: number;
  grabStiffness: number | null;
  saved: boolean;
  ellipsoids: boolean;
  broken: string | null;
}

export interface MeshMessage {
  place: number;
  points: Float32Array;
  triangles: Uint32Array;
}

export type Numbers = Record<(typeof NUMBERS)[number], number>;
export type Lists = Record<(typeof LISTS)[number][0], Float32Array>;
export interface Frame extends Numbers {
  number: number;
  lists: Lists;
}

/** Numbers of an entry of a list. */
const entry = (list: keyof Lists) => LISTS.find(([name]) => name === list)![1].length;
export const [CONTACT, SPRING, LOAD] = [entry("contacts"), entry("springs"), entry("loads")];

export interface Receiver {
  scene(scene: SceneMessage): void;
  mesh(mesh: MeshMessage): void;
  status(status: Status): void;
  frame(frame: Frame): void;
  note(isError: boolean, text: string): void;
  file(name: string, text: string): void;
}

/** Reads a message and hands it on. */
export function decode(buffer: ArrayBuffer, to: Receiver): void {
  const view = new DataView(buffer);
  const kind = view.getUint8(0);
  const text = (from: number) => new TextDecoder().decode(new Uint8Array(buffer, from));
  if (kind === KINDS.frame) to.frame(decodeFrame(buffer, view));
  else if (kind === KINDS.scene) to.scene(JSON.parse(text(1)) as SceneMessage);
  else if (kind === KINDS.status) to.status(JSON.parse(text(1)) as Status);
  else if (kind === KINDS.note) to.note(view.getUint8(1) === 1, text(2));
  else if (kind === KINDS.file) {
    const file = JSON.parse(text(1)) as { name: string; text: string };
    to.file(file.name, file.text);
  } else if (kind === KINDS.mesh) {
    const [place, points, triangles] = [4, 8, 12].map((at) => view.getUint32(at, true)) as [number, number, number];
    to.mesh({
      place,
      points: new Float32Array(buffer, 16, 3 * points),
      triangles: new Uint32Array(buffer, 16 + 12 * points, 3 * triangles),
    });
  }
}

function decodeFrame(buffer: ArrayBuffer, view: DataView): Frame {
  const frame = { number: view.getUint32(4, true), lists: {} } as Frame;
  let at = 8;
  for (const name of NUMBERS) {
    frame[name] = view.getFloat64(at, true);
    at += 8;
  }
  let start = at + 4 * LISTS.length;
  for (const [name, entry] of LISTS) {
    const length = view.getUint32(at, true) * entry.length;
    frame.lists[name] = new Float32Array(buffer, start, length);
    at += 4;
    start += 4 * length;
  }
  return frame;
}
