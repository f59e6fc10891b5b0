// Runs commands on the WebAssembly engine: `node test/module.mjs MODULE PARCEL COMMANDS`, the last a JSON list of messages in hexadecimal,
// an empty one for a frame. Prints these frames in hexadecimal, the last file that was sent (JSON), and the bytes of memory.
import { readFileSync } from "node:fs";

const [module, parcel, commands] = process.argv.slice(2).map((file) => readFileSync(file));
const { instance } = await WebAssembly.instantiate(module, { page: { now: () => performance.now() / 1e3, failed: () => {} } });
const engine = instance.exports;
const write = (bytes) => {
  const at = engine.input(bytes.length);
  new Uint8Array(engine.memory.buffer, at, bytes.length).set(bytes);
};
const read = (length) => Buffer.from(engine.memory.buffer.slice(engine.output(), engine.output() + length));

write(parcel);
const wrong = engine.open();
if (wrong > 0) throw new Error(read(wrong).toString());
const frames = [];
let file = null;
for (const message of JSON.parse(commands)) {
  if (message === "") frames.push(read(engine.frame()).toString("hex"));
  else {
    write(Buffer.from(message, "hex"));
    engine.take();
    for (let length = engine.next(); length > 0; length = engine.next()) {
      const said = read(length);
      if (said[0] === 5) file = JSON.parse(said.subarray(1).toString());
    }
  }
}
console.log(JSON.stringify({ frames, file, memory: engine.memory.buffer.byteLength }));
