// The link to what simulates: a WebSocket to the server, which opens again when it closes; or, in a page that has the engine in it, a
// worker, which is started again when it fails.

import { REPLACED } from "./layout";
import { decode, encode, type CommandName, type Receiver, type Values } from "./protocol";

export interface Link {
  send<N extends CommandName>(name: N, values: Values<N>): void;
  /** The scene of a file, by its name and text; only where the engine is in the page. */
  load?(name: string, text: string): void;
  /** Connects again: after another page took over. */
  open(): void;
}

/** Open; lost, and tried again; taken over by a later page, and not tried again; without an engine that starts. */
export type Connection = "open" | "lost" | "replaced" | "failed";

/** What the worker sends that is no message: it is ready; what is wrong with the first scene; why it ended. */
export type Said = { ready: true } | { wrong: string } | { ended: string };

/** The script of the worker, put in when the page is built. */
declare const WORKER: string;

/** Milliseconds before a lost connection is tried again: at first, and at most. */
const AGAIN = [500, 8000] as const;
/** So often the engine of the page is started again, and after so many milliseconds it may fail as often once more. */
const MOST_STARTS = 3;
const LASTING = 20_000;

/** Connects to the engine: to that of the page, or to the server that the page came from. */
export function connect(receiver: Receiver, onChange: (now: Connection, why?: string) => void): Link {
  const module = document.getElementById("engine-module");
  return module ? employ(module.textContent!, receiver, onChange) : dial(receiver, onChange);
}

/** Starts the engine of the page in a worker. */
function employ(module: string, receiver: Receiver, onChange: (now: Connection, why?: string) => void): Link {
  let worker: Worker | undefined;
  let starts: number[] = [];
  // The scene that moves, and one that was given after it.
  let [good, tried]: [string, string | undefined] = ["", undefined];
  const hears: Receiver = {
    ...receiver,
    scene: (scene) => {
      [good, tried] = [tried ?? good, undefined];
      receiver.scene(scene);
    },
  };
  const parcel = document.getElementById("scene-parcel")!.textContent!;
  const send = <N extends CommandName>(name: N, values: Values<N>): void => {
    const message = encode(name, values);
    worker?.postMessage(message, [message]);
  };
  const failed = (why: string): void => {
    worker?.terminate();
    worker = undefined;
    starts = starts.filter((at) => at > performance.now() - LASTING);
    const ofScene = tried !== undefined;
    tried = undefined;
    if (good === "" || starts.length >= MOST_STARTS) return onChange("failed", why);
    receiver.note(true, `${why}; the ${ofScene ? "last good scene" : "scene"} starts again`);
    start();
  };
  const start = (): void => {
    starts.push(performance.now());
    const own = new Worker(URL.createObjectURL(new Blob([WORKER], { type: "text/javascript" })));
    worker = own;
    own.onmessage = ({ data }: MessageEvent<ArrayBuffer | Said>) => {
      if (own !== worker) return;
      if (data instanceof ArrayBuffer) decode(data, hears);
      else if ("ready" in data) {
        onChange("open");
        send("hello", {});
      } else if ("ended" in data) failed(data.ended);
      else {
        own.terminate();
        worker = undefined;
        onChange("failed", data.wrong);
      }
    };
    own.onerror = (event) => {
      event.preventDefault();
      if (own === worker) failed(`the engine of this page failed: ${event.message}`);
    };
    own.onmessageerror = () => own === worker && failed("the engine of this page sent an unreadable message");
    void unpacked(module).then(
      (engine) => own.postMessage({ module: engine, scene: good }, [engine]),
      (error: unknown) => failed(`the engine of this page cannot be unpacked: ${String(error)}`),
    );
  };
  void unpacked(parcel).then(
    (bytes) => {
      good = new TextDecoder().decode(bytes);
      start();
    },
    (error: unknown) => failed(`the scene of this page cannot be unpacked: ${String(error)}`),
  );
  const load = (name: string, text: string): void => {
    const scene = JSON.stringify({ file: name, text });
    if (worker) {
      tried = scene;
      worker.postMessage(scene);
    } else {
      [good, starts] = [scene, []];
      start();
    }
  };
  return { send, load, open: () => {} };
}

/** Bytes of a text in base 64, which are compressed as gzip. */
async function unpacked(text: string): Promise<ArrayBuffer> {
  const bytes = Uint8Array.from(atob(text.trim()), (letter) => letter.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
}

function dial(receiver: Receiver, onChange: (now: Connection) => void): Link {
  let socket: WebSocket | undefined;
  let wait: number = AGAIN[0];
  const send = <N extends CommandName>(name: N, values: Values<N>): void => {
    if (socket?.readyState === WebSocket.OPEN) socket.send(encode(name, values));
  };
  const open = (): void => {
    socket = new WebSocket(`ws://${location.host}/socket${location.search}`);
    socket.binaryType = "arraybuffer";
    socket.onopen = () => {
      wait = AGAIN[0];
      onChange("open");
      send("hello", {});
    };
    socket.onmessage = (event: MessageEvent<ArrayBuffer>) => decode(event.data, receiver);
    socket.onclose = ({ code }) => {
      // Another page that took over would be taken over from in its turn.
      if (code === REPLACED) return onChange("replaced");
      onChange("lost");
      setTimeout(open, wait);
      wait = Math.min(2 * wait, AGAIN[1]);
    };
  };
  open();
  return { send, open };
}
