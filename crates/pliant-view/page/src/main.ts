// Puts the page together: what comes in is kept, and drawn once for each picture of the browser.

import * as THREE from "three";
import { fillSheet, listen, type Key } from "./keys";
import { connect, type Connection, type Link } from "./link";
import { element, Panels } from "./panels";
import { Picking } from "./picking";
import { quantity } from "./plots";
import { CONTACT, type Frame, type MeshMessage, type SceneMessage, type Status } from "./protocol";
import { download, fileName, Film, picture, Trajectory } from "./recording";
import { Drawing } from "./scene";
import { isDark, setDark } from "./theme";
import { Walking } from "./walking";

const find = <T extends HTMLElement>(id: string): T => document.getElementById(id) as T;
const [canvas, label, force, broken, notes] = [find<HTMLCanvasElement>("view"), find("label"), find("force"), find("broken"), find("notes")];
const [lost, sheet] = [find("lost"), find<HTMLDialogElement>("help")];
document.documentElement.dataset.theme = isDark() ? "dark" : "light";

let link: Link;
let scene: SceneMessage | undefined;
let status: Status | undefined;
let frame: Frame | undefined;
let fresh = false;
const meshes = new Map<number, MeshMessage>();
const [film, trajectory] = [new Film(), new Trajectory()];

const drawing = new Drawing(canvas, () => (innerWidth <= 760 ? [0, 0.12] : [320 / innerWidth, 0.09]));
const picking = new Picking(canvas, drawing, () => link, (picked, x, y) => {
  drawing.hover(picked?.body);
  label.hidden = !picked;
  if (!picked) return;
  label.textContent = picked.name;
  label.style.left = `${x + 14}px`;
  label.style.top = `${y + 12}px`;
});

const walking = new Walking(() => link);

function note(isError: boolean, text: string): void {
  const own = element("div", { class: isError ? "note error" : "note" }, text);
  notes.append(own);
  while (notes.children.length > 4) notes.firstChild!.remove();
  setTimeout(() => own.remove(), isError ? 12_000 : 4_000);
}

const name = () => fileName(scene?.name ?? "scene");
const actions = {
  link: () => link,
  show: (change: Partial<Drawing["shown"]>) => {
    Object.assign(drawing.shown, change);
    if (scene && "touched" in change) drawing.setScene(scene, meshes);
    drawing.recolour();
    fresh = true;
  },
  fit: () => drawing.fit(),
  picture: () => picture(drawing, name()),
  film: () => {
    film.toggle(drawing, name());
    return film.running;
  },
  trajectory: () => {
    if (scene) trajectory.toggle(scene);
    return trajectory.running;
  },
  setStiffness: (stiffness: number) => (picking.stiffness = stiffness),
  theme: () => {
    setDark(!isDark());
    document.documentElement.dataset.theme = isDark() ? "dark" : "light";
    drawing.recolour();
  },
  help: () => (sheet.open ? sheet.close() : sheet.showModal()),
};
const panels = new Panels(find("bar"), find("panel"), actions);

const click = (id: string) => () => find<HTMLButtonElement>(id).click();
const keys: Key[] = [
  { key: " ", shown: "space", does: "play or pause", press: click("play") },
  { key: ".", does: "one step", press: click("step") },
  { key: "r", does: "reset to the file", press: click("reset") },
  ...["full", "articulated", "reduced", "linear", "blended"].map((engine, k) => ({
    key: String(k + 1),
    does: `switch to the engine ${engine}`,
    press: () => link.send("engine", { engine: k }),
  })),
  { key: "g", does: "full as a ghost, or none", press: () => link.send("ghost", { engine: status?.ghost ? 255 : 0 }) },
  { key: "m", does: "add a model to the blend at this pose", press: click("add-model") },
  { key: "f", does: "fit the view", press: actions.fit },
  { key: "c", does: "contact forces", press: click("show-contacts") },
  { key: "s", does: "save this pose", press: click("keep") },
  { key: "l", does: "return to the saved pose", press: click("restore") },
  { key: "p", does: "save a picture", press: actions.picture },
  { key: "v", does: "record a film, and save it", press: click("film") },
  { key: "t", does: "light or dark", press: actions.theme },
  { key: "?", does: "this list", press: actions.help },
];
listen(keys, sheet);
fillSheet(sheet, keys);

link = connect(
  {
    scene: (message) => {
      // A frame that waits is of the scene before.
      if (fresh && frame) link.send("drawn", { frame: frame.number });
      [frame, fresh] = [undefined, false];
      scene = picking.scene = message;
      drawing.setScene(message, meshes);
      panels.setScene(message);
      walking.setScene(message);
      message.warnings.forEach((warning) => note(false, warning));
    },
    mesh: (mesh) => meshes.set(mesh.place, mesh),
    status: (message) => {
      status = message;
      panels.setStatus(message);
      broken.hidden = message.broken === null;
      broken.textContent = message.broken ?? "";
    },
    frame: (message) => {
      if (!scene || message.lists.bodies.length !== 16 * scene.bodies.length) return link.send("drawn", { frame: message.number });
      frame = message;
      fresh = true;
      trajectory.add(message);
      walking.add(message);
    },
    note,
    file: (name, text) => download(name, text),
  },
  showConnection,
);

/** What is wrong with the connection, for as long as it is. */
function showConnection(now: Connection, why = ""): void {
  const texts = {
    open: "",
    lost: "The program does not answer; it may have ended. This page reconnects automatically.",
    replaced: "Another page has taken the mechanism over. ",
    failed: why,
  };
  lost.hidden = now === "open";
  lost.replaceChildren(texts[now]);
  if (now === "replaced") lost.append(element("button", { id: "take-over", click: () => link.open() }, "take over here"));
}

/** How hard all contacts push together, N. */
function contactForce({ lists: { contacts } }: Frame): number {
  let sum = 0;
  for (let k = 0; k < contacts.length; k += CONTACT) sum += Math.hypot(contacts[k + 6]!, contacts[k + 7]!, contacts[k + 8]!);
  return sum;
}

function showForce(shown: Frame): void {
  force.hidden = !shown.held;
  if (!shown.held) return;
  const [held, goal] = [new THREE.Vector3(shown.held_x, shown.held_y, shown.held_z), new THREE.Vector3(shown.goal_x, shown.goal_y, shown.goal_z)];
  const at = drawing.project(goal);
  const newtons = Math.hypot(shown.force_x, shown.force_y, shown.force_z);
  force.textContent = `${quantity(newtons)} N over ${quantity(goal.distanceTo(held))} m`;
  // Beside the pointer, but not over the panels.
  const [right, top] = [panels.left() - force.offsetWidth - 8, panels.bottom() + 8];
  force.style.left = `${Math.max(8, Math.min(at.x + 16, right))}px`;
  force.style.top = `${Math.max(top, Math.min(at.y + 14, innerHeight - force.offsetHeight - 8))}px`;
}

// Scene and robot files are dropped onto a page that has the engine in it.
addEventListener("dragover", (event) => event.preventDefault());
addEventListener("drop", (event) => {
  event.preventDefault();
  const file = event.dataTransfer?.files[0];
  if (!file) return;
  if (!link.load) return note(true, "files can be dropped on pages of `pliant view --html` only; this page shows the file given to the program");
  if (file.size > 4e6) return note(true, `${file.name} is larger than 4 MB`);
  void file.text().then((text) => link.load!(file.name, text));
});

let drawn = 0;
function draw(now: number): void {
  requestAnimationFrame(draw);
  if (fresh && frame) {
    fresh = false;
    // Said first: the next frame comes whatever becomes of this one.
    link.send("drawn", { frame: frame.number });
    drawing.place(frame);
    panels.add(now / 1e3, frame, contactForce(frame), drawing.most);
    showForce(frame);
    drawn += 1;
    if (drawn % 3 === 0) panels.draw();
  }
  drawing.draw(now);
}
requestAnimationFrame(draw);

// For tests and scripts: what the page shows.
Object.assign(window, {
  pliant: {
    get frame() {
      return frame;
    },
    get status() {
      return status;
    },
    get scene() {
      return scene;
    },
    get drawn() {
      return drawn;
    },
    get marks() {
      return drawing.markCounts();
    },
    get acting() {
      return drawing.actingCounts();
    },
    get memory() {
      return drawing.memory();
    },
    project: (x: number, y: number, z: number) => drawing.project(new THREE.Vector3(x, y, z)),
    send: (...command: Parameters<Link["send"]>) => link.send(...command),
  },
});
