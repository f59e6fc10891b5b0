// Colours of the drawing in light and dark; those of the panels are in style.css.

export interface Theme {
  background: number;
  horizon: number;
  ground: number;
  grid: number;
  gridFine: number;
  links: number[];
  loose: number;
  world: number;
  joint: number;
  effector: number;
  ghost: number;
  pull: number;
  load: number;
  contact: number;
  slip: number;
  hover: number;
  ambient: number;
  sun: number;
}

const LIGHT: Theme = {
  background: 0xeef2f6,
  horizon: 0xdfe6ee,
  ground: 0xe4eaf0,
  grid: 0xb4c0cc,
  gridFine: 0xd3dbe3,
  links: [0x3f7fbf, 0x5b95cc, 0x35699f],
  loose: 0xc9923e,
  world: 0xbcc6d0,
  joint: 0x4a5662,
  effector: 0xe07b1a,
  ghost: 0x8e44ad,
  pull: 0xd02f2f,
  load: 0x0b8296,
  contact: 0x138a4b,
  slip: 0xd08a00,
  hover: 0xf0b429,
  ambient: 1.9,
  sun: 2.2,
};

const DARK: Theme = {
  background: 0x14181d,
  horizon: 0x1c232b,
  ground: 0x1b2128,
  grid: 0x3c4855,
  gridFine: 0x28313a,
  links: [0x5fa8e8, 0x7bbcf2, 0x4a8cc9],
  loose: 0xdba84f,
  world: 0x5a6570,
  joint: 0xb8c4d0,
  effector: 0xffa24d,
  ghost: 0xc98be8,
  pull: 0xff6b5e,
  load: 0x4dd0e1,
  contact: 0x3ddc84,
  slip: 0xffc53d,
  hover: 0xffd666,
  ambient: 1.5,
  sun: 2.0,
};

/** What was chosen here: storage may be forbidden, as in a frame of another site. */
let chosen: string | null = null;
try {
  chosen = localStorage.getItem("pliant-theme");
} catch {
  // Then every page is as the system has it.
}

/** What the person chose, or else what the system has. */
export function isDark(): boolean {
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

export function setDark(dark: boolean): void {
  chosen = dark ? "dark" : "light";
  try {
    localStorage.setItem("pliant-theme", chosen);
  } catch {
    // It holds for this page.
  }
}

/** For pages whose own style is as the system has it: what was chosen for others does not count. */
export function followSystem(): void {
  chosen = null;
}

export function theme(): Theme {
  return isDark() ? DARK : LIGHT;
}
