// Settings and plots next to the drawing. Each control shows what the simulation has, not what was asked for.

import type { Link } from "./link";
import { Plot, quantity } from "./plots";
import type { Frame, Joint, SceneMessage, Status } from "./protocol";
import type { Shown } from "./scene";

/** Freedoms that are listed at once; the rest is found by the name of its joint. */
const MOST_LISTED = 24;
/** How far a slider without limits goes, m of the radius or rad. */
const WITHOUT_LIMITS = { slides: 0.5, turns: Math.PI };

type Attributes = Record<string, string | boolean | ((event: Event) => void)>;

export function element<K extends keyof HTMLElementTagNameMap>(tag: K, attributes: Attributes = {}, ...children: (Node | string)[]): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") made.addEventListener(name, value);
    else if (typeof value === "boolean") made.toggleAttribute(name, value);
    else made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

export interface Actions {
  link(): Link;
  show(change: Partial<Shown>): void;
  fit(): void;
  picture(): void;
  film(): boolean;
  trajectory(): boolean;
  setStiffness(newtonsPerMetre: number): void;
  theme(): void;
  help(): void;
}

export class Panels {
  private readonly plots = {
    time: new Plot("time of a step", "µs", [{ name: "step", colour: "--first" }]),
    energy: new Plot("energy", "J", [
      { name: "kinetic", colour: "--first" },
      { name: "elastic", colour: "--second" },
      { name: "weight", colour: "--third" },
    ]),
    force: new Plot("force", "N", [
      { name: "pull", colour: "--first" },
      { name: "contacts", colour: "--second" },
    ]),
    distance: new Plot("ghost's distance", "of the radius", [{ name: "distance", colour: "--second" }]),
  };
  private readonly phone = matchMedia("(max-width: 760px)");
  private readonly title = element("h1", { id: "name" });
  private readonly play = element("button", { id: "play", title: "space", click: () => this.actions.link().send("play", { on: this.status?.playing ? 0 : 1 }) });
  private readonly engine = element("select", { id: "engine", title: "engine: keys 1 to 5", change: () => this.actions.link().send("engine", { engine: this.engine.selectedIndex }) });
  private readonly ghost = element("select", {
    id: "ghost",
    title: "a second engine next to the first",
    change: () => this.actions.link().send("ghost", { engine: this.ghost.selectedIndex === 0 ? 255 : this.ghost.selectedIndex - 1 }),
  });
  private readonly clock = element("output", { id: "clock" });
  private readonly stiffness = element("output", { id: "grab-stiffness" });
  private readonly joints = element("div");
  private readonly find = element("input", { type: "text", id: "find-joint", placeholder: "find a joint", "aria-label": "find a joint", input: () => this.listJoints() });
  private readonly models = element("div", { class: "models", id: "models" });
  private readonly gravity = [0, 1, 2].map((k) =>
    element("input", { type: "number", step: "any", id: `gravity-${"xyz"[k]}`, "aria-label": `gravity along ${"xyz"[k]}, m/s²`, change: () => this.setGravity() }),
  );
  private readonly torques = element("input", { type: "checkbox", id: "torques", change: () => this.actions.link().send("torques", { on: this.torques.checked ? 1 : 0 }) });
  private readonly step = element("input", { type: "number", step: "any", id: "time-step", "aria-label": "time step, ms", change: () => this.actions.link().send("timeStep", { dt: Number(this.step.value) / 1e3 }) });
  private readonly speed = element(
    "select",
    { id: "speed", title: "speed", change: () => this.actions.link().send("speed", { factor: Number(this.speed.value) }) },
    ...[["1", "real time"], ["0.5", "½ ×"], ["0.1", "⅒ ×"], ["2", "2 ×"], ["0", "as fast as possible"]].map(([value, text]) => element("option", { value: value! }, text!)),
  );
  private readonly scales = (["stiffness", "damping"] as const).map((name) => {
    const input = element("input", { type: "range", min: "-2", max: "2", step: "0.05", id: `${name}-scale`, "aria-label": `${name} scale`, input: () => this.setScales() });
    const value = element("output");
    return { name, input, value, row: element("label", { class: "line" }, element("span", {}, `${name} of joints`), input, value) };
  });
  private readonly ellipsoids = element("input", { type: "checkbox", id: "ellipsoids", change: () => this.actions.link().send("ellipsoids", { on: this.ellipsoids.checked ? 1 : 0 }) });
  private readonly most = element("p", { class: "muted", id: "most" });
  private readonly restore = element("button", { id: "restore", click: () => this.actions.link().send("restore", {}) }, "return to it");
  private readonly film = element("button", { id: "film", click: () => this.pressed(this.film, this.actions.film()) }, "film");
  private readonly trajectory = element("button", { id: "trajectory", click: () => this.pressed(this.trajectory, this.actions.trajectory()) }, "trajectory");
  private scene: SceneMessage | undefined;
  private status: Status | undefined;
  private sliders: { coordinate: number; input: HTMLInputElement; value: HTMLOutputElement; unit: string }[] = [];

  constructor(
    private readonly bar: HTMLElement,
    private readonly panel: HTMLElement,
    private readonly actions: Actions,
  ) {
    const send = (name: "step" | "reset" | "addModel" | "forgetModels" | "save" | "sceneFile") => () => actions.link().send(name, {});
    const button = (id: string, text: string, title: string, click: () => void) => element("button", { id, title, click }, text);
    bar.append(
      this.title,
      this.play,
      button("step", "step", "one step: .", send("step")),
      button("reset", "reset", "reset to the file: r", send("reset")),
      this.clock,
      button("fit", "fit", "fit the view: f", actions.fit),
      button("theme", "◐", "light or dark: t", actions.theme),
      button("help-button", "?", "keys: ?", actions.help),
      element("button", { class: "only-phone", id: "fold", click: () => panel.classList.toggle("folded") }, "☰"),
    );
    const section = (name: string, open: boolean, ...content: Node[]) => {
      const own = element("details", { open, id: `section-${name}`, toggle: () => own.open && own.scrollIntoView({ block: "nearest" }) }, element("summary", {}, name), element("div", {}, ...content));
      return own;
    };
    const check = (key: keyof Shown, text: string, on: boolean) => {
      const input = element("input", { type: "checkbox", id: `show-${key}`, change: () => actions.show({ [key]: input.checked }) });
      input.checked = on;
      return element("label", { class: "check" }, input, text);
    };
    const pull = element("input", { type: "range", min: "-1", max: "6", step: "0.1", value: "-1", id: "pull-stiffness", "aria-label": "stiffness of the mouse spring", input: () => {
      const value = Number(pull.value) <= -1 ? 0 : 10 ** Number(pull.value);
      actions.setStiffness(value);
      this.stiffness.textContent = value === 0 ? "that of the mechanism" : `${quantity(value)} N/m`;
    } });
    this.stiffness.textContent = "that of the mechanism";
    const colour = element("select", { id: "colour", change: () => actions.show({ colour: colour.value as Shown["colour"] }) }, element("option", { value: "plain" }, "plain"), element("option", { value: "torque" }, "by torque"), element("option", { value: "gap" }, "by gap of joints"));
    panel.append(
      section("plots", true, ...Object.values(this.plots).map((plot) => plot.element)),
      section(
        "physics",
        !this.isPhone(),
        element("label", { class: "row" }, element("span", {}, "stiffness of the mouse spring"), this.stiffness, pull),
        element("div", { class: "three" }, element("span", {}, "gravity"), ...this.gravity),
        ...this.scales.map((scale) => scale.row),
        element("label", { class: "check" }, this.torques, "joint springs on"),
        element("div", { class: "line" }, element("span", {}, "step, ms"), this.step, this.speed),
      ),
      section("joints", false, this.find, this.joints),
      section("models", false, element("p", { class: "muted" }, "Linear models of the engine blended, with their weights while it runs. A new model is built at the present pose, by any engine, or at the pose of the blend's ghost."), this.models, element("div", { class: "buttons" }, button("add-model", "add a model here", "m", send("addModel")), button("forget-models", "remove models", "all but the one at rest", send("forgetModels")))),
      section(
        "show",
        false,
        check("contacts", "contact forces (slipping: yellow)", true),
        check("cones", "friction cones", false),
        element("label", { class: "check", title: "displacement of each effector under a force of constant magnitude, in every direction: at this pose, unloaded" }, this.ellipsoids, "compliance of the effectors"),
        check("joints", "joint springs, red where the torque is largest", true),
        check("effectors", "effectors", true),
        check("acting", "loads, and springs to points", true),
        check("touched", "contact shapes", false),
        element("label", { class: "row" }, element("span", {}, "colour of links"), colour),
        this.most,
      ),
      section(
        "save",
        false,
        element("div", { class: "buttons" }, button("keep", "save this pose", "s", send("save")), this.restore),
        element("div", { class: "buttons" }, button("picture", "picture", "p", actions.picture), this.film, this.trajectory, button("scene-file", "scene file", "", send("sceneFile"))),
        element("p", { class: "muted" }, "Press again to save the film (WebM) or the trajectory (CSV, drawn frames)."),
      ),
    );
    if (this.isPhone()) panel.classList.add("folded");
    // The bar of a phone has no room for them.
    const engines = element("div", { id: "engines" }, element("label", {}, element("span", {}, "engine"), this.engine), element("label", {}, element("span", {}, "ghost"), this.ghost));
    const place = () => (this.isPhone() ? panel.prepend(engines) : this.clock.before(engines));
    place();
    this.phone.addEventListener("change", place);
    new ResizeObserver(() => document.documentElement.style.setProperty("--bar", `${this.bottom()}px`)).observe(bar);
  }

  isPhone(): boolean {
    return this.phone.matches;
  }

  private pressed(button: HTMLButtonElement, on: boolean): void {
    button.setAttribute("aria-pressed", String(on));
  }

  private setGravity(): void {
    const [x, y, z] = this.gravity.map((input) => Number(input.value) || 0) as [number, number, number];
    this.actions.link().send("gravity", { x, y, z });
  }

  private setScales(): void {
    const [stiffness, damping] = this.scales.map(({ input }) => 10 ** Number(input.value)) as [number, number];
    this.actions.link().send("scale", { stiffness, damping });
  }

  setScene(scene: SceneMessage): void {
    this.scene = scene;
    this.title.textContent = scene.name || "scene";
    this.title.title = `${scene.bodies.length} bodies, ${scene.joints.length} joints, ${quantity(scene.mass)} kg`;
    document.title = `${scene.name || "scene"} – Pliant`;
    const options = (names: string[]) => names.map((name) => element("option", { value: name }, name));
    this.engine.replaceChildren(...options(scene.engines));
    this.ghost.replaceChildren(...options(["none", ...scene.engines]));
    this.listJoints();
    Object.values(this.plots).forEach((plot) => plot.clear());
  }

  /** A slider for each freedom that a spring holds: its set-point. */
  private listJoints(): void {
    const { scene } = this;
    if (!scene) return;
    this.sliders = [];
    const wanted = this.find.value.toLowerCase();
    const rows: Node[] = [];
    let left = 0;
    const sprung = (joint: Joint) => joint.freedoms.filter((freedom) => freedom.stiffness > 0).length;
    this.find.hidden = scene.joints.reduce((sum, joint) => sum + sprung(joint), 0) <= MOST_LISTED;
    scene.joints.forEach((joint, at) => {
      if (!joint.name.toLowerCase().includes(wanted)) return;
      joint.freedoms.forEach((freedom, k) => {
        if (freedom.stiffness <= 0) return;
        if (rows.length >= MOST_LISTED) {
          left += 1;
          return;
        }
        const reach = freedom.slides ? WITHOUT_LIMITS.slides * scene.radius : WITHOUT_LIMITS.turns;
        const [low, high] = [freedom.lower ?? -reach, freedom.upper ?? reach];
        const name = joint.freedoms.length > 1 ? `${joint.name}.${k}` : joint.name;
        const input = element("input", {
          type: "range", min: String(low), max: String(high), step: "any", "aria-label": `set-point of ${name}`, "data-joint": name,
          input: () => this.actions.link().send("target", { joint: at, freedom: k, value: Number(input.value) }),
        });
        const value = element("output");
        this.sliders.push({ coordinate: joint.coordinate + k, input, value, unit: freedom.slides ? "m" : "rad" });
        rows.push(element("label", { class: "row" }, element("span", { title: name }, name), value, input));
      });
    });
    if (rows.length === 0) rows.push(element("p", { class: "muted" }, "no joint with a spring"));
    if (left > 0) rows.push(element("p", { class: "muted" }, `and ${left} more: find them by name`));
    this.joints.replaceChildren(...rows);
  }

  setStatus(status: Status): void {
    this.status = status;
    this.play.textContent = status.playing ? "pause" : "play";
    this.play.setAttribute("aria-pressed", String(!status.playing));
    this.engine.value = status.engine;
    this.ghost.value = status.ghost ?? "none";
    this.torques.checked = status.torques;
    this.ellipsoids.checked = status.ellipsoids;
    if (document.activeElement !== this.step) this.step.value = String(Number((status.dt * 1e3).toPrecision(4)));
    this.speed.value = String(status.speed);
    this.gravity.forEach((input, k) => {
      if (document.activeElement !== input) input.value = String(Number(status.gravity[k]!.toPrecision(6)));
    });
    for (const { name, input, value } of this.scales) {
      const scale = name === "stiffness" ? status.stiffnessScale : status.dampingScale;
      if (document.activeElement !== input) input.value = String(Math.log10(scale));
      value.textContent = `${quantity(scale)} ×`;
    }
    this.restore.disabled = !status.saved;
  }

  /** Shows what a frame has, at a time of the clock, s; `most` is what is coloured red. */
  add(at: number, frame: Frame, contactForce: number, most: string | undefined): void {
    this.most.hidden = most === undefined;
    this.most.textContent = `blue: 0; red: ${most}`;
    this.clock.textContent = `${frame.time.toFixed(2)} s · ${this.status?.playing ? `${quantity(Math.round(100 * frame.rate) / 100)} ×` : "paused"}`;
    const behind = this.status?.playing && this.status.speed > 0 && frame.rate > 0 && frame.rate < 0.9 * this.status.speed;
    this.clock.classList.toggle("slow", Boolean(behind));
    this.clock.title = behind ? "slower than real time: a step takes too long" : "time and speed";
    const pull = Math.hypot(frame.force_x, frame.force_y, frame.force_z);
    this.plots.time.add(at, [frame.step_time]);
    this.plots.energy.add(at, [frame.kinetic, frame.elastic, frame.potential]);
    this.plots.force.add(at, [pull, contactForce]);
    this.plots.distance.element.hidden = frame.lists.ghosts.length === 0;
    this.plots.distance.add(at, [frame.distance]);
    for (const { coordinate, input, value, unit } of this.sliders) {
      if (document.activeElement !== input) input.value = String(frame.lists.targets[coordinate]);
      value.textContent = `${quantity(Number(frame.lists.coordinates[coordinate]!.toFixed(3)))} ${unit}`;
    }
    this.showModels(frame.lists.weights, this.status?.models ?? 0);
  }

  /** Weights are those of a blend that runs; models are there without one too. */
  private showModels(weights: Float32Array, count: number): void {
    const rows = Math.max(weights.length, count);
    while (this.models.children.length > rows) this.models.lastChild!.remove();
    while (this.models.children.length < rows)
      this.models.append(element("div", {}, `model ${this.models.children.length + 1}`, element("i"), element("span")));
    [...this.models.children].forEach((row, k) => {
      const [bar, value] = [...row.children] as [HTMLElement, HTMLElement];
      bar.style.width = `${100 * (weights[k] ?? 0)}%`;
      value.textContent = weights[k]?.toFixed(2) ?? "–";
    });
  }

  /** Where the settings begin, px; the width of the page where they are folded or below. */
  left(): number {
    const { left, width } = this.panel.getBoundingClientRect();
    return this.isPhone() || width === 0 ? innerWidth : left;
  }

  /** Where the bar ends, px. */
  bottom(): number {
    return this.bar.getBoundingClientRect().bottom;
  }

  draw(): void {
    if (!this.panel.classList.contains("folded")) Object.values(this.plots).forEach((plot) => plot.draw());
  }
}
