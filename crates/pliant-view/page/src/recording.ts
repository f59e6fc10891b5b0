// What is saved of a session: pictures, films, trajectories, scene files.

import type { Frame, SceneMessage } from "./protocol";
import type { Drawing } from "./scene";

export function download(name: string, content: Blob | string, type = "text/plain"): void {
  const blob = typeof content === "string" ? new Blob([content], { type }) : content;
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

export function picture(drawing: Drawing, name: string): void {
  drawing.picture((blob) => blob && download(`${name}.png`, blob));
}

/** A film of the drawing, as WebM. */
export class Film {
  private recorder: MediaRecorder | undefined;

  get running(): boolean {
    return this.recorder !== undefined;
  }

  /** Starts, or ends and saves. */
  toggle(drawing: Drawing, name: string): void {
    if (this.recorder) {
      this.recorder.stop();
      this.recorder = undefined;
      return;
    }
    const parts: Blob[] = [];
    this.recorder = new MediaRecorder(drawing.stream(), { mimeType: "video/webm", videoBitsPerSecond: 6e6 });
    this.recorder.ondataavailable = (event) => parts.push(event.data);
    this.recorder.onstop = () => download(`${name}.webm`, new Blob(parts, { type: "video/webm" }));
    this.recorder.start(500);
  }
}

/** The trajectory of all frames that were drawn, as CSV with the columns of `pliant simulate`. */
export class Trajectory {
  private rows: string[] | undefined;
  private last = -1;

  get running(): boolean {
    return this.rows !== undefined;
  }

  toggle(scene: SceneMessage): void {
    if (this.rows) {
      download(`${fileName(scene.name)}.csv`, this.rows.join("\n") + "\n", "text/csv");
      this.rows = undefined;
      return;
    }
    const quoted = (name: string) => (/[",\n]/.test(name) ? `"${name.replaceAll('"', '""')}"` : name);
    const poses = scene.bodies.flatMap((body) => ["px", "py", "pz", "qw", "qx", "qy", "qz"].map((key) => quoted(`${body.name}.${key}`)));
    const joints = scene.joints.flatMap((joint) => joint.freedoms.map((_, k) => quoted(`${joint.name}.${k}`)));
    this.rows = [["time", ...poses, ...joints].join(",")];
    this.last = -1;
  }

  add(frame: Frame): void {
    if (!this.rows || frame.time === this.last) return;
    this.last = frame.time;
    const row: number[] = [frame.time];
    for (let at = 0; at < frame.lists.bodies.length; at += 16) row.push(...poseOf(frame.lists.bodies.subarray(at, at + 16)));
    row.push(...frame.lists.coordinates);
    this.rows.push(row.join(","));
  }
}

/** Position and quaternion w, x, y, z of a 4×4 matrix by columns. */
function poseOf(m: Float32Array): number[] {
  const at = (row: number, column: number) => m[4 * column + row]!;
  const trace = at(0, 0) + at(1, 1) + at(2, 2);
  // The largest of the four squares is the one to divide by.
  const squares = [trace, at(0, 0), at(1, 1), at(2, 2)];
  const k = squares.indexOf(Math.max(...squares));
  let q: number[];
  if (k === 0) q = [1 + trace, at(2, 1) - at(1, 2), at(0, 2) - at(2, 0), at(1, 0) - at(0, 1)];
  else {
    const [i, j, l] = [k - 1, k % 3, (k + 1) % 3];
    q = [at(l, j) - at(j, l), 0, 0, 0];
    q[1 + i] = 1 + at(i, i) - at(j, j) - at(l, l);
    q[1 + j] = at(j, i) + at(i, j);
    q[1 + l] = at(l, i) + at(i, l);
  }
  const length = Math.hypot(...q);
  return [at(0, 3), at(1, 3), at(2, 3), ...q.map((x) => x / length)];
}

export function fileName(name: string): string {
  return name.replace(/[^\p{L}\p{N}-]+/gu, "-") || "scene";
}
