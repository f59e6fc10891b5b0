"use strict";
// Plays the motion: decoded points, an orthographic view that can be turned, two mechanisms over each other.
(() => {
  const data = JSON.parse(document.getElementById("motion-data").textContent);
  const canvas = document.getElementById("motion-canvas");
  const draw = canvas.getContext("2d");
  const [play, slider, speed, links, reset, clock] =
    ["play", "time", "speed", "links", "reset", "clock"].map((id) => document.getElementById("motion-" + id));

  // Sixteen-bit numbers, three a point, frame by frame.
  const decode = (text) => {
    const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
    return new Int16Array(bytes.buffer);
  };
  const sets = Object.fromEntries(Object.entries(data.sets).map(([name, text]) => [name, decode(text)]));
  const frames = data.times.length;
  const last = data.times[frames - 1];

  const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
  const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
  const unit = (a) => { const n = Math.sqrt(dot(a, a)) || 1; return a.map((x) => x / n); };
  const rotate = (v, axis, angle) => {
    const c = Math.cos(angle), s = Math.sin(angle), k = cross(axis, v), d = dot(axis, v) * (1 - c);
    return v.map((x, i) => x * c + k[i] * s + axis[i] * d);
  };
  let right = data.right, up = data.up;

  // The largest extent of all frames in this view, so that nothing leaves the picture.
  let scale = 1, middle = [0, 0];
  const fit = () => {
    const low = [Infinity, Infinity], high = [-Infinity, -Infinity];
    for (const set of [...Object.values(sets), data.world.flat(2)]) {
      const step = Math.max(3, 3 * Math.floor(set.length / 30000));
      for (let i = 0; i + 2 < set.length; i += step) {
        const p = [set[i], set[i + 1], set[i + 2]], q = [dot(p, right), dot(p, up)];
        for (let k = 0; k < 2; k++) {
          low[k] = Math.min(low[k], q[k]);
          high[k] = Math.max(high[k], q[k]);
        }
      }
    }
    middle = [(low[0] + high[0]) / 2, (low[1] + high[1]) / 2];
    const box = canvas.getBoundingClientRect(), margin = data.arrows.length ? 64 : 32;
    scale = Math.min(
      (box.width - 2 * margin) / Math.max(high[0] - low[0], 1),
      (box.height - 2 * margin) / Math.max(high[1] - low[1], 1));
  };

  let time = 0, playing = false, before = 0;
  const color = (name) => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();

  // A point of a set between two frames.
  const place = (set, point) => {
    let a = Math.min(frames - 1, Math.floor((time / last) * (frames - 1)) || 0);
    while (a + 1 < frames && data.times[a + 1] <= time) a++;
    while (a > 0 && data.times[a] > time) a--;
    const b = Math.min(frames - 1, a + 1);
    const span = data.times[b] - data.times[a], t = span > 0 ? (time - data.times[a]) / span : 0;
    const i = 3 * (a * data.points + point), k = 3 * (b * data.points + point);
    return [0, 1, 2].map((c) => set[i + c] * (1 - t) + set[k + c] * t);
  };

  const show = () => {
    const box = canvas.getBoundingClientRect(), ratio = window.devicePixelRatio || 1;
    const [w, h] = [Math.round(box.width * ratio), Math.round(box.height * ratio)];
    if (canvas.width !== w || canvas.height !== h) {
      canvas.width = w;
      canvas.height = h;
      fit();
    }
    draw.setTransform(ratio, 0, 0, ratio, 0, 0);
    draw.clearRect(0, 0, box.width, box.height);
    const flat = (p) => [
      box.width / 2 + (dot(p, right) - middle[0]) * scale,
      box.height / 2 - (dot(p, up) - middle[1]) * scale,
    ];
    // Shapes as triangles, the farthest first, lighter where they look at the light.
    const rgb = (name) => {
      draw.fillStyle = color(name);
      const text = draw.fillStyle;
      return [1, 3, 5].map((k) => parseInt(text.slice(k, k + 2), 16));
    };
    const shaded = (set, name, alpha) => {
      const viewer = cross(right, up), light = unit([0, 1, 2].map((k) => 0.5 * up[k] + 0.3 * right[k] + 0.8 * viewer[k]));
      const base = rgb(name), all = [];
      for (const { frame, vertices, triangles } of data.solids) {
        const [o, ...ends] = frame.map((p) => place(set, p));
        const axes = ends.map((e) => e.map((x, k) => (x - o[k]) / 1000));
        const at = vertices.map((v) => o.map((x, k) => x + axes[0][k] * v[0] + axes[1][k] * v[1] + axes[2][k] * v[2]));
        for (const [a, b, c] of triangles) {
          const n = unit(cross(at[b].map((x, k) => x - at[a][k]), at[c].map((x, k) => x - at[a][k])));
          const depth = dot(at[a], viewer) + dot(at[b], viewer) + dot(at[c], viewer);
          all.push([depth, Math.abs(dot(n, light)), at[a], at[b], at[c]]);
        }
      }
      all.sort((a, b) => a[0] - b[0]);
      draw.globalAlpha = alpha;
      draw.lineWidth = 0.6;
      draw.lineJoin = "round";
      for (const [, bright, ...corners] of all) {
        const mixed = base.map((x) => Math.round((0.25 * x + 0.75 * 235) * (0.55 + 0.6 * bright)));
        draw.fillStyle = draw.strokeStyle = `rgb(${mixed.map((x) => Math.min(255, x)).join(",")})`;
        draw.beginPath();
        corners.forEach((p, k) => draw[k ? "lineTo" : "moveTo"](...flat(p)));
        draw.closePath();
        draw.fill();
        if (alpha === 1) draw.stroke();
      }
      draw.globalAlpha = 1;
    };
    const mechanism = (set, stroke, width, dash) => {
      const points = Array.from({ length: data.points }, (_, p) => flat(place(set, p)));
      draw.strokeStyle = draw.fillStyle = stroke;
      draw.lineWidth = width;
      draw.lineCap = "round";
      draw.setLineDash(dash);
      draw.beginPath();
      for (const [p, q] of data.segments) {
        draw.moveTo(...points[p]);
        draw.lineTo(...points[q]);
      }
      draw.stroke();
      draw.setLineDash([]);
      draw.lineWidth = width / 2.5;
      for (const line of data.solids.length ? [] : data.wires) {
        draw.beginPath();
        line.forEach((p, k) => draw[k ? "lineTo" : "moveTo"](...points[p]));
        draw.stroke();
      }
      const radius = data.joints.length > 60 ? 1.8 : 2.8;
      for (const p of data.joints) {
        draw.beginPath();
        draw.arc(points[p][0], points[p][1], radius, 0, 7);
        draw.fill();
      }
      draw.lineWidth = 2;
      for (const p of data.effectors) {
        draw.beginPath();
        draw.arc(points[p][0], points[p][1], 6, 0, 7);
        draw.stroke();
      }
      return points;
    };
    draw.strokeStyle = draw.fillStyle = color("muted");
    draw.lineWidth = 0.8;
    for (const line of data.outlines) {
      draw.beginPath();
      line.forEach((p, k) => draw[k ? "lineTo" : "moveTo"](...flat(place(sets.full, p))));
      draw.stroke();
    }
    for (const line of data.world) {
      draw.beginPath();
      line.forEach((p, k) => draw[k ? "lineTo" : "moveTo"](...flat(p)));
      draw.stroke();
    }
    for (const p of data.anchors) {
      const [x, y] = flat(place(sets.full, p));
      draw.beginPath();
      draw.moveTo(x, y);
      draw.lineTo(x - 7, y + 11);
      draw.lineTo(x + 7, y + 11);
      draw.fill();
    }
    const reduced = links.value;
    shaded(sets.full, "full", 1);
    if (reduced) shaded(sets[reduced], reduced, 0.35);
    const points = mechanism(sets.full, color("full"), data.solids.length ? 1.5 : 3.5, []);
    if (reduced) mechanism(sets[reduced], color(reduced), 2, [7, 4]);
    draw.strokeStyle = draw.fillStyle = color("load");
    for (const arrow of data.arrows) {
      const [x, y] = points[arrow.at];
      const by = [dot(arrow.direction, right) * 55, -dot(arrow.direction, up) * 55];
      const n = Math.hypot(...by);
      if (n < 3) continue;
      const e = [by[0] / n, by[1] / n], [tx, ty] = [x + by[0], y + by[1]];
      draw.lineWidth = 2;
      draw.setLineDash(arrow.torque ? [4, 3] : []);
      draw.beginPath();
      draw.moveTo(x, y);
      draw.lineTo(tx - 7 * e[0], ty - 7 * e[1]);
      draw.stroke();
      draw.setLineDash([]);
      draw.beginPath();
      draw.moveTo(tx, ty);
      draw.lineTo(tx - 9 * e[0] + 4 * e[1], ty - 9 * e[1] - 4 * e[0]);
      draw.lineTo(tx - 9 * e[0] - 4 * e[1], ty - 9 * e[1] + 4 * e[0]);
      draw.fill();
    }
    // A round length in metres.
    const metres = (() => {
      const x = 90 / scale * data.unit, power = 10 ** Math.floor(Math.log10(x)), m = x / power;
      return power * (m < 1.5 ? 1 : m < 3.5 ? 2 : m < 7.5 ? 5 : 10);
    })();
    const length = metres / data.unit * scale, y = box.height - 16;
    draw.strokeStyle = draw.fillStyle = color("muted");
    draw.lineWidth = 1.5;
    draw.beginPath();
    draw.moveTo(14, y - 4);
    draw.lineTo(14, y + 4);
    draw.moveTo(14, y);
    draw.lineTo(14 + length, y);
    draw.moveTo(14 + length, y - 4);
    draw.lineTo(14 + length, y + 4);
    draw.stroke();
    draw.font = "12px system-ui, sans-serif";
    draw.fillText(Number(metres.toPrecision(2)) + " m", 22 + length, y + 4);
    clock.textContent = time.toFixed(last < 0.2 ? 4 : last < 2 ? 3 : 2) + " s";
    if (document.activeElement !== slider || playing) slider.value = String(Math.round(1000 * time / (last || 1)));
  };

  const tick = (now) => {
    if (!playing) return;
    // The clock of frames may lie behind that of the page.
    time += Math.min(0.1, Math.max(0, now - before) / 1000) * Number(speed.value);
    before = Math.max(before, now);
    if (time > last) time = 0;
    show();
    requestAnimationFrame(tick);
  };
  const start = (on) => {
    playing = on;
    play.textContent = on ? "Pause" : "Play";
    play.setAttribute("aria-pressed", String(on));
    before = performance.now();
    if (on) requestAnimationFrame(tick);
  };

  // Speeds are of real time; the one chosen at first lets the motion last about six seconds.
  const wanted = last / 6;
  let best = speed.options[0];
  for (const option of speed.options) {
    if (Math.abs(Math.log(option.value / wanted)) < Math.abs(Math.log(best.value / wanted))) best = option;
  }
  speed.value = best.value;

  play.addEventListener("click", () => start(!playing));
  slider.addEventListener("input", () => {
    start(false);
    time = Number(slider.value) / 1000 * last;
    show();
  });
  links.addEventListener("change", () => {
    document.getElementById("motion-key").className = "key thin " + links.value;
    show();
  });
  reset.addEventListener("click", () => {
    [right, up] = [data.right, data.up];
    fit();
    show();
  });
  const turn = (dx, dy) => {
    // About the world's vertical, then about the picture's horizontal.
    right = unit(rotate(right, [0, 0, 1], -dx));
    up = unit(rotate(rotate(up, [0, 0, 1], -dx), right, -dy));
    up = unit(up.map((x, i) => x - dot(up, right) * right[i]));
    fit();
    show();
  };
  let held = null;
  canvas.addEventListener("pointerdown", (event) => {
    held = [event.clientX, event.clientY];
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!held) return;
    turn((event.clientX - held[0]) * 0.01, (event.clientY - held[1]) * 0.01);
    held = [event.clientX, event.clientY];
  });
  for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, () => { held = null; });
  canvas.addEventListener("keydown", (event) => {
    const by = { ArrowLeft: [-0.1, 0], ArrowRight: [0.1, 0], ArrowUp: [0, -0.1], ArrowDown: [0, 0.1] }[event.key];
    if (by) {
      turn(...by);
      event.preventDefault();
    }
  });
  window.addEventListener("resize", () => { canvas.width = 0; show(); });
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", show);
  window.addEventListener("beforeprint", show);

  show();
  start(!window.matchMedia("(prefers-reduced-motion: reduce)").matches);
})();
