// The pictures of the documents: `node test/pictures.mjs PROGRAM BROWSER FOLDER`.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { chromium } from "playwright-core";

const [program, executablePath, folder] = process.argv.slice(2);
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"] });

/** Opens a scene, does something to it and saves what is seen. */
async function picture(name, scene, { dark = false, width = 1280, height = 720 }, does) {
  const child = spawn(program, ["view", ...scene, "--no-open", "--json"], { stdio: ["ignore", "pipe", "inherit"] });
  const address = await new Promise((found) => child.stdout.once("data", (line) => found(JSON.parse(line).address)));
  const page = await browser.newPage({ viewport: { width, height }, colorScheme: dark ? "dark" : "light" });
  await page.goto(`${address}#fine`);
  await page.waitForFunction(() => globalThis.pliant?.drawn > 2);
  await does(page);
  await page.screenshot({ path: join(folder, `${name}.png`) });
  child.kill();
  await page.close();
}

const until = (page, seconds) => page.waitForFunction((seconds) => pliant.frame.time > seconds, seconds, { timeout: 90_000 });

/** Pulls the first effector by so many pixels, and lets it settle. */
async function pull(page, by) {
  await page.click("#play");
  await page.waitForFunction(() => !pliant.status.playing);
  await page.waitForTimeout(1000);
  const [x, y] = await page.evaluate(() => {
    const { body, frame } = pliant.scene.effectors[0];
    const m = pliant.frame.lists.bodies.subarray(16 * body, 16 * body + 16);
    const at = pliant.project(...[0, 1, 2].map((k) => m[k] * frame[0] + m[4 + k] * frame[1] + m[8 + k] * frame[2] + m[12 + k]));
    return [at.x, at.y];
  });
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.waitForFunction(() => pliant.frame.held === 1);
  await page.mouse.move(x + by[0], y + by[1], { steps: 8 });
  await page.keyboard.press(" ");
  await until(page, (await page.evaluate(() => pliant.frame.time)) + 6);
}

await picture("view", ["helix", "--engine", "linear", "--ghost", "full"], {}, (page) => pull(page, [230, -40]));
await picture("view-grasp", ["hand-grasp"], { dark: true }, (page) => until(page, 2));
await picture("view-phone", ["hexapod-terrain"], { width: 390, height: 844 }, (page) => until(page, 3));
await browser.close();
