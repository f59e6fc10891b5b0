// The engine as WebAssembly, in a worker: the same messages as those of the server. The first message that it gets is the module and the
// scene, later ones are commands (an ArrayBuffer) or another scene (a text).

import type { Said } from "./link";

interface Engine {
  memory: WebAssembly.Memory;
  input(length: number): number;
  output(): number;
  open(): number;
  take(): void;
  advance(most: number): void;
  next(): number;
  frame(): number;
}

/** Milliseconds between two looks at the clock, and how long steps may go on between commands, s. */
const LOOK = 8;
const BURST = 0.012;
/** Milliseconds that the page may take to draw a frame before it is sent another one all the same. */
const IMPATIENT = 500;
/** The command that says which frame was drawn: its byte. */
declare const DRAWN: number;

// Of a worker, not of a page.
const post = postMessage as unknown as (message: ArrayBuffer | Said, transfer?: Transferable[]) => void;
let engine: Engine | undefined;
/** A scene that came before the engine was there. */
let early: string | undefined;
let [sent, drawn, sentAt] = [0, 0, 0];
let timer = 0;
/** What the engine said before it gave up. */
let last = "";

function write(to: Engine, bytes: Uint8Array): void {
  const at = to.input(bytes.length);
  new Uint8Array(to.memory.buffer, at, bytes.length).set(bytes);
}

function read(from: Engine, length: number): ArrayBuffer {
  const at = from.output();
  return from.memory.buffer.slice(at, at + length) as ArrayBuffer;
}

/** Hands everything over that waits. */
function flush(from: Engine): void {
  for (let length = from.next(); length > 0; length = from.next()) {
    const message = read(from, length);
    post(message, [message]);
  }
}

function tick(): void {
  if (!engine) return;
  engine.advance(BURST);
  flush(engine);
  // The next frame is made when the last one was drawn, so that it shows what is then.
  if (sent !== drawn && performance.now() - sentAt < IMPATIENT) return;
  const frame = read(engine, engine.frame());
  [sent, sentAt] = [new DataView(frame).getUint32(4, true), performance.now()];
  post(frame, [frame]);
}

/** Does something; where that fails, the engine is in no state to go on, and the page starts another. */
function attempt(does: () => void): void {
  try {
    does();
  } catch (error) {
    clearInterval(timer);
    engine = undefined;
    post({ ended: `the engine of this page failed: ${last || String(error)}` });
  }
}

function load(to: Engine, scene: string): void {
  write(to, new TextEncoder().encode(scene));
  to.open();
  flush(to);
}

async function start(module: ArrayBuffer, scene: string): Promise<void> {
  let made: Engine | undefined;
  const failed = (at: number, length: number) => {
    last = new TextDecoder().decode(new Uint8Array(made!.memory.buffer, at, length));
  };
  const { instance } = await WebAssembly.instantiate(module, { page: { now: () => performance.now() / 1e3, failed } });
  const own = (made = instance.exports as unknown as Engine);
  attempt(() => {
    write(own, new TextEncoder().encode(scene));
    const wrong = own.open();
    if (wrong > 0) return post({ wrong: new TextDecoder().decode(read(own, wrong)) });
    engine = own;
    post({ ready: true });
    if (early !== undefined) load(own, early);
    timer = setInterval(() => attempt(tick), LOOK) as unknown as number;
  });
}

onmessage = ({ data }: MessageEvent<{ module: ArrayBuffer; scene: string } | ArrayBuffer | string>) => {
  if (data instanceof ArrayBuffer) {
    // Before there is an engine nothing can be asked of it.
    if (!engine) return;
    const own = engine;
    const view = new DataView(data);
    if (view.getUint8(0) === DRAWN) drawn = view.getUint32(1, true);
    attempt(() => {
      write(own, new Uint8Array(data));
      own.take();
      if (sent === drawn) tick();
      else flush(own);
    });
  } else if (typeof data === "string") {
    const own = engine;
    if (own) attempt(() => load(own, data));
    else early = data;
  } else {
    start(data.module, data.scene).catch((error: unknown) => post({ ended: `the engine of this page does not start: ${String(error)}` }));
  }
};
