// Curves over the last seconds, each on a canvas of its own.

/** Seconds that are shown. */
const SPAN = 10;

export interface Curve {
  name: string;
  /** A variable of style.css. */
  colour: string;
}

export class Plot {
  readonly element = document.createElement("figure");
  private readonly canvas = document.createElement("canvas");
  /** What each curve is at now. */
  private readonly values: HTMLOutputElement[];
  private points: { at: number; values: number[] }[] = [];

  constructor(
    private readonly title: string,
    private readonly unit: string,
    private readonly curves: Curve[],
  ) {
    this.element.className = "plot";
    const caption = document.createElement("figcaption");
    const several = curves.length > 1;
    const name = document.createElement("span");
    name.textContent = several ? `${title}, ${unit}` : title;
    caption.append(name);
    this.values = curves.map((curve) => {
      const value = document.createElement("output");
      const one = document.createElement("span");
      one.append(value);
      // One curve alone is what the title says.
      if (several) {
        const key = document.createElement("span");
        key.textContent = `${curve.name} `;
        key.style.color = `var(${curve.colour})`;
        one.prepend(key);
      }
      caption.append(one);
      return value;
    });
    // Three do not fit into one row.
    caption.classList.toggle("columns", curves.length > 2);
    this.element.append(caption, this.canvas);
  }

  /** Adds what is now, at a time of the clock, s. */
  add(at: number, values: number[]): void {
    this.points.push({ at, values });
    const first = this.points.findIndex((point) => point.at >= at - SPAN);
    if (first > 0) this.points.splice(0, first);
    this.values.forEach((value, k) => (value.textContent = `${quantity(values[k] ?? 0)}${this.curves.length > 1 ? "" : ` ${this.unit}`}`));
  }

  clear(): void {
    this.points = [];
  }

  draw(): void {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    if (width === 0 || this.points.length === 0) return;
    const ratio = Math.min(devicePixelRatio, 2);
    if (this.canvas.width !== Math.round(width * ratio)) {
      this.canvas.width = Math.round(width * ratio);
      this.canvas.height = Math.round(height * ratio);
    }
    const context = this.canvas.getContext("2d")!;
    const style = getComputedStyle(document.documentElement);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    const all = this.points.flatMap((point) => point.values).filter(Number.isFinite);
    let [low, high] = [Math.min(0, ...all), Math.max(0, ...all)];
    if (high - low < 1e-12) high = low + 1;
    const last = this.points[this.points.length - 1]!.at;
    const x = (at: number) => width * (1 - (last - at) / SPAN);
    const y = (value: number) => height - 3 - ((height - 6) * (value - low)) / (high - low);
    context.strokeStyle = style.getPropertyValue("--edge");
    context.beginPath();
    context.moveTo(0, y(0));
    context.lineTo(width, y(0));
    context.stroke();
    this.curves.forEach((curve, k) => {
      context.strokeStyle = style.getPropertyValue(curve.colour);
      context.lineWidth = 1.5;
      context.beginPath();
      this.points.forEach((point, i) => context[i === 0 ? "moveTo" : "lineTo"](x(point.at), y(point.values[k] ?? 0)));
      context.stroke();
    });
    context.fillStyle = style.getPropertyValue("--muted");
    context.font = "10px system-ui, sans-serif";
    context.fillText(quantity(high), 2, 10);
    const said = this.curves.map(({ name }, k) => `${name} ${this.values[k]!.textContent}`);
    this.canvas.setAttribute("aria-label", `${this.title}, ${this.unit}: ${said.join(", ")}`);
  }
}

/** A number for people: three digits. */
export function quantity(x: number): string {
  if (!Number.isFinite(x)) return "–";
  const size = Math.abs(x);
  if (size === 0) return "0";
  if (size < 1e-9) return "0";
  if (size >= 1e6 || size < 1e-4) {
    const [digits, exponent] = x.toExponential(1).split("e") as [string, string];
    return `${digits}·10${[...exponent.replace("+", "")].map((c) => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(c)]).join("")}`;
  }
  if (size >= 100) return Math.round(x).toLocaleString("en-US");
  return Number(x.toPrecision(3)).toString();
}
