// Builds the page into one file, dist/index.html: markup, style and script together, nothing to load from anywhere; and the player of
// recorded motions into dist/player.js, a script for pages that `pliant compare` writes.
// The same sources and package-lock.json give the same bytes; .ci/viewer compares them.
import { build } from "esbuild";
import { mkdir, readFile, writeFile } from "node:fs/promises";

/** One script of a source and all that it imports; `define` puts values in the place of names. */
async function bundle(file, define) {
  const options = { bundle: true, minify: true, format: "iife", target: "es2022", legalComments: "none", write: false };
  return (await build({ ...options, entryPoints: [file], define })).outputFiles[0].text.trim();
}

const layout = await readFile("src/layout.ts", "utf8");
const drawn = /drawn: \{ kind: (\d+)/.exec(layout)[1];
const worker = await bundle("src/worker.ts", { DRAWN: drawn });
// A script ends at the first `</script`, wherever it stands.
const script = (await bundle("src/main.ts", { WORKER: JSON.stringify(worker) })).replaceAll("</script", "<\\/script");
const [page, style] = await Promise.all(["src/page.html", "src/style.css"].map((file) => readFile(file, "utf8")));
const html = page
  .replace("<!-- style -->", () => `<style>\n${style}</style>`)
  .replace("<!-- script -->", () => `<script>\n${script}\n</script>`);
await mkdir("dist", { recursive: true });
await writeFile("dist/index.html", html);
const player = (await bundle("src/player.ts", {})).replaceAll("</script", "<\\/script");
await writeFile("dist/player.js", `${player}\n`);
console.log(`dist/player.js: ${(player.length / 1024).toFixed(0)} kB`);
console.log(`dist/index.html: ${(html.length / 1024).toFixed(0)} kB`);
