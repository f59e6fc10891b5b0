// Keys, and the sheet that lists them.

import { element } from "./panels";

export interface Key {
  key: string;
  shown?: string;
  does: string;
  press: () => void;
}

const MOUSE = [
  ["drag a body", "pull it with a spring; its force is shown"],
  ["drag an orange ball", "pull an effector at its origin"],
  ["drag elsewhere", "turn the view (with shift also on a body)"],
  ["right drag", "move the view"],
  ["wheel, pinch", "zoom to the pointer"],
  ["arrow keys", "walk, if the scene has legs: forward, back, left, right"],
  ["double click", "follow a body; elsewhere: stop following"],
] as const;

/** Keys that controls take themselves. */
const OWN = [" ", "Enter"];
const CONTROLS = "button, select, summary, input";

export function listen(keys: Key[], sheet: HTMLDialogElement): void {
  // Whether what is in focus was last come to with the mouse.
  let pointed = false;
  addEventListener("pointerdown", () => (pointed = true), true);
  addEventListener("keydown", (event) => (pointed &&= event.key !== "Tab"), true);
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const target = event.target as HTMLElement;
    if (target instanceof HTMLInputElement && ["text", "number"].includes(target.type)) return;
    const key = keys.find((one) => one.key === event.key);
    // Over the sheet, a key would change what is not seen; what closes it is left.
    if (!key || (sheet.open && key.key !== "?")) return;
    const control = target.closest<HTMLElement>(CONTROLS);
    // A control that was come to by the keyboard is pressed by it.
    if (control && !pointed && OWN.includes(event.key)) return;
    event.preventDefault();
    // One that was pressed with the mouse does not also take the key.
    control?.blur();
    key.press();
  });
}

export function fillSheet(sheet: HTMLDialogElement, keys: Key[]): void {
  const row = (key: string, does: string) => element("div", {}, element("kbd", {}, key), element("span", {}, does));
  sheet.replaceChildren(
    element("h2", {}, "Keys and mouse"),
    element("div", { class: "keys" }, ...MOUSE.map(([key, does]) => row(key, does)), ...keys.map((key) => row(key.shown ?? key.key, key.does))),
    element("p", { class: "buttons" }, element("button", { click: () => sheet.close() }, "close")),
  );
}
