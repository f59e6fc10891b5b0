// The player of pages of `pliant compare`: a motion that was recorded, by one engine and another over it, drawn as the viewer draws. What it
// plays is in the element `motion-data`, written by crates/pliant-view/src/recorded.rs.

import * as THREE from "three";
import { LISTS, NUMBERS } from "./layout";
import type { Frame, MeshMessage, SceneMessage } from "./protocol";
import { Drawing } from "./scene";
import { followSystem } from "./theme";

interface Motion {
  scene: SceneMessage;
  meshes: { points: string; triangles: string }[];
  /** When the frames are, s. */
  times: number[];
  /** The middle of all positions, m, and what one is counted in. */
  center: [number, number, number];
  unit: number;
  /** The run that is drawn solid. */
  solid: string;
  /** By name, frame by frame and body by body: position, then quaternion w, x, y, z, sixteen bits each. */
  runs: Record<string, string>;
  forces: { effector: number; force: [number, number, number] }[];
  from: [number, number, number];
}

/** What stands for 1 in a quaternion, and the numbers of a body. */
const [ONE, POSE] = [32767, 7] as const;
/** How far an arrow key turns the view, rad. */
const TURN = 0.1;
/** At so many moments it is seen how far the motion reaches. */
const LOOKS = 8;

const find = <T extends HTMLElement>(name: string): T => document.getElementById(`motion-${name}`) as T;
const [canvas, play, slider] = [find<HTMLCanvasElement>("canvas"), find<HTMLButtonElement>("play"), find<HTMLInputElement>("time")];
const [speed, other, reset] = [find<HTMLSelectElement>("speed"), find<HTMLSelectElement>("links"), find<HTMLButtonElement>("reset")];
const [clock, key, grid] = [find("clock"), find("key"), find("grid")];

const bytes = (text: string): ArrayBuffer => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)).buffer;

class Player {
  private readonly runs: Map<string, Int16Array>;
  private readonly drawing: Drawing;
  private readonly frame: Frame;
  private readonly last: number;
  private time = 0;
  private playing = false;
  private before = 0;
  private waits = false;

  constructor(private readonly motion: Motion) {
    this.runs = new Map(Object.entries(motion.runs).map(([name, text]) => [name, new Int16Array(bytes(text))]));
    this.last = motion.times[motion.times.length - 1]!;
    this.drawing = new Drawing(canvas, () => [0, 0]);
    const numbers = Object.fromEntries(NUMBERS.map((name) => [name, 0]));
    const lists = Object.fromEntries(LISTS.map(([name]) => [name, new Float32Array()]));
    this.frame = { number: 0, ...numbers, lists } as Frame;
    this.frame.lists.bodies = new Float32Array(16 * motion.scene.bodies.length);
    const meshes = new Map<number, MeshMessage>();
    motion.meshes.forEach(({ points, triangles }, place) =>
      meshes.set(place, { place, points: new Float32Array(bytes(points)), triangles: new Uint32Array(bytes(triangles)) }),
    );
    this.drawing.camera.from.set(...motion.from).normalize();
    this.drawing.setScene(motion.scene, meshes);
    this.recolour();
    this.fit();
    // The wheel scrolls the page until the picture was taken hold of.
    const { controls } = this.drawing.camera;
    controls.enableZoom = false;
    canvas.style.touchAction = "pan-y";
    canvas.addEventListener("pointerdown", () => canvas.focus());
    canvas.addEventListener("focus", () => (controls.enableZoom = true));
    canvas.addEventListener("blur", () => (controls.enableZoom = false));
    controls.addEventListener("change", () => this.ask());
  }

  /** The colours of the engines in this page. */
  recolour(): void {
    const style = getComputedStyle(document.documentElement);
    const color = (name: string) => style.getPropertyValue(`--${name}`).trim();
    this.drawing.tints = [color(this.motion.solid), color(other.value || this.motion.solid)];
    this.drawing.recolour();
    this.show();
  }

  /** Where all bodies of a run are now, between two frames, sixteen numbers each. */
  private place(run: Int16Array, to: Float32Array): void {
    const { times, center, unit } = this.motion;
    const count = times.length;
    let a = Math.min(count - 1, Math.floor((this.time / this.last) * (count - 1)) || 0);
    while (a + 1 < count && times[a + 1]! <= this.time) a++;
    while (a > 0 && times[a]! > this.time) a--;
    const b = Math.min(count - 1, a + 1);
    const span = times[b]! - times[a]!;
    const part = span > 0 ? (this.time - times[a]!) / span : 0;
    const [bodies, matrix, scale] = [to.length / 16, new THREE.Matrix4(), new THREE.Vector3(1, 1, 1)];
    const read = (frame: number, body: number) => {
      const [x, y, z, w, i, j, k] = run.subarray(POSE * (frame * bodies + body), POSE * (frame * bodies + body + 1)) as unknown as number[];
      return {
        position: new THREE.Vector3(x, y, z).multiplyScalar(unit).add(new THREE.Vector3(...center)),
        rotation: new THREE.Quaternion(i! / ONE, j! / ONE, k! / ONE, w! / ONE).normalize(),
      };
    };
    for (let body = 0; body < bodies; body++) {
      const [from, next] = [read(a, body), read(b, body)];
      matrix.compose(from.position.lerp(next.position, part), from.rotation.slerp(next.rotation, part), scale);
      matrix.toArray(to as unknown as number[], 16 * body);
    }
  }

  /** Forces where their effectors are now. */
  private forces(): Float32Array {
    const { scene, forces } = this.motion;
    const list = forces.flatMap(({ effector: place, force }) => {
      const { body, frame } = scene.effectors[place]!;
      const pose = new THREE.Matrix4().fromArray(this.frame.lists.bodies, 16 * body);
      return [...new THREE.Vector3(frame[0], frame[1], frame[2]).applyMatrix4(pose).toArray(), ...force];
    });
    return new Float32Array(list);
  }

  show(): void {
    const { lists } = this.frame;
    this.place(this.runs.get(this.motion.solid)!, lists.bodies);
    const over = this.runs.get(other.value);
    lists.ghosts = new Float32Array(over ? lists.bodies.length : 0);
    if (over) this.place(over, lists.ghosts);
    lists.loads = this.forces();
    this.drawing.place(this.frame);
    clock.textContent = `${this.time.toFixed(this.last < 0.2 ? 4 : this.last < 2 ? 3 : 2)} s`;
    grid.textContent = `grid ${Number(this.drawing.grid.toPrecision(2))} m`;
    if (document.activeElement !== slider || this.playing) slider.value = String(Math.round((1000 * this.time) / (this.last || 1)));
    this.ask();
  }

  /** Draws at the next picture of the browser. */
  ask(): void {
    if (this.waits) return;
    this.waits = true;
    requestAnimationFrame((now) => {
      this.waits = false;
      this.drawing.draw(now, this.playing);
      if (this.playing) this.go();
    });
  }

  private go(): void {
    const now = performance.now();
    this.time += (Math.min(100, now - this.before) / 1000) * Number(speed.value);
    this.before = now;
    if (this.time > this.last) this.time = 0;
    this.show();
  }

  start(on: boolean): void {
    this.playing = on;
    play.textContent = on ? "Pause" : "Play";
    play.setAttribute("aria-pressed", String(on));
    this.before = performance.now();
    if (on) this.ask();
  }

  toggle(): void {
    this.start(!this.playing);
  }

  seek(part: number): void {
    this.start(false);
    this.time = part * this.last;
    this.show();
  }

  turn(left: number, up: number): void {
    this.drawing.camera.turn(left, up);
    this.ask();
  }

  /** Shows all of the motion. */
  fit(): void {
    const [now, box] = [this.time, new THREE.Box3()];
    for (let k = 0; k <= LOOKS; k++) {
      this.time = (this.last * k) / LOOKS;
      this.show();
      box.union(this.drawing.bounds());
    }
    this.time = now;
    this.show();
    this.drawing.fit(box);
  }

  /** The speed at which the motion lasts about six seconds, of those that can be chosen. */
  choose(): void {
    const far = (option: HTMLOptionElement) => Math.abs(Math.log((Number(option.value) * 6) / this.last));
    const options = Array.from(speed.options);
    speed.value = options.reduce((best, option) => (far(option) < far(best) ? option : best)).value;
  }
}

function begin(): void {
  followSystem();
  const player = new Player(JSON.parse(document.getElementById("motion-data")!.textContent!) as Motion);
  player.choose();
  play.addEventListener("click", () => player.toggle());
  slider.addEventListener("input", () => player.seek(Number(slider.value) / 1000));
  other.addEventListener("change", () => {
    key.className = `key thin ${other.value}`;
    player.recolour();
  });
  reset.addEventListener("click", () => player.fit());
  canvas.addEventListener("keydown", (event) => {
    const turns: Record<string, [number, number]> = { ArrowLeft: [TURN, 0], ArrowRight: [-TURN, 0], ArrowUp: [0, TURN], ArrowDown: [0, -TURN] };
    const by = turns[event.key];
    if (!by) return;
    player.turn(...by);
    event.preventDefault();
  });
  addEventListener("resize", () => player.ask());
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => player.recolour());
  player.show();
  player.start(!matchMedia("(prefers-reduced-motion: reduce)").matches);
  // For tests: where it is, and what it shows.
  Object.assign(window, { player });
}

const probe = document.createElement("canvas");
if (probe.getContext("webgl2")) begin();
else canvas.replaceWith("This browser has no WebGL, which only the player needs.");
