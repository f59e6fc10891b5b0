// The layout of all messages. Written from crates/pliant-view/src/protocol.rs by
// `PLIANT_WRITE=1 cargo test -p pliant-view layout`; do not edit.

/** Commands of the page: the byte of each, then its fields in order. */
export const COMMANDS = {
  hello: { kind: 0, fields: [] },
  drawn: { kind: 1, fields: [["frame", "u32"]] },
  play: { kind: 2, fields: [["on", "u8"]] },
  step: { kind: 3, fields: [] },
  reset: { kind: 4, fields: [] },
  speed: { kind: 5, fields: [["factor", "f64"]] },
  engine: { kind: 6, fields: [["engine", "u8"]] },
  ghost: { kind: 7, fields: [["engine", "u8"]] },
  timeStep: { kind: 8, fields: [["dt", "f64"]] },
  gravity: { kind: 9, fields: [["x", "f64"], ["y", "f64"], ["z", "f64"]] },
  grab: { kind: 10, fields: [["body", "u32"], ["x", "f64"], ["y", "f64"], ["z", "f64"], ["stiffness", "f64"]] },
  pull: { kind: 11, fields: [["x", "f64"], ["y", "f64"], ["z", "f64"]] },
  release: { kind: 12, fields: [] },
  target: { kind: 13, fields: [["joint", "u32"], ["freedom", "u32"], ["value", "f64"]] },
  scale: { kind: 14, fields: [["stiffness", "f64"], ["damping", "f64"]] },
  torques: { kind: 15, fields: [["on", "u8"]] },
  addModel: { kind: 16, fields: [] },
  save: { kind: 17, fields: [] },
  restore: { kind: 18, fields: [] },
  sceneFile: { kind: 19, fields: [] },
  ellipsoids: { kind: 20, fields: [["on", "u8"]] },
  forgetModels: { kind: 21, fields: [] },
} as const;

/** The code with which a connection ends when a later page takes over. */
export const REPLACED = 4001;

/** The byte of each message to the page. */
export const KINDS = {
  scene: 0,
  mesh: 1,
  status: 2,
  frame: 3,
  note: 4,
  file: 5,
} as const;

/** The numbers of a frame (f64), after eight bytes. */
export const NUMBERS = [
  "time",
  "steps",
  "step_time",
  "rate",
  "kinetic",
  "elastic",
  "potential",
  "held",
  "held_x",
  "held_y",
  "held_z",
  "goal_x",
  "goal_y",
  "goal_z",
  "force_x",
  "force_y",
  "force_z",
  "distance",
  "violation",
] as const;

/** The lists of a frame: a u32 count each, then all entries (f32); of each list, the numbers of an entry. */
export const LISTS = [
  ["bodies", ["m0", "m1", "m2", "m3", "m4", "m5", "m6", "m7", "m8", "m9", "m10", "m11", "m12", "m13", "m14", "m15"]],
  ["ghosts", ["m0", "m1", "m2", "m3", "m4", "m5", "m6", "m7", "m8", "m9", "m10", "m11", "m12", "m13", "m14", "m15"]],
  ["coordinates", ["position"]],
  ["targets", ["position"]],
  ["torques", ["torque"]],
  ["gaps", ["gap"]],
  ["contacts", ["x", "y", "z", "nx", "ny", "nz", "fx", "fy", "fz", "friction", "gap", "slips"]],
  ["weights", ["weight"]],
  ["ellipsoids", ["c0", "c1", "c2", "c3", "c4", "c5", "c6", "c7", "c8"]],
  ["springs", ["x", "y", "z", "tx", "ty", "tz", "force"]],
  ["loads", ["x", "y", "z", "fx", "fy", "fz"]],
] as const;
