"""The race as one picture: scenes from top to bottom, µs a step to the right on a log axis, one marker an engine."""

import html
import math

# Three lanes a scene: engines of Pliant that move every freedom, those that move the effectors', the peers. Marker shapes are the lanes'.
LANES = [
    ("Pliant, every freedom", [
        ("pliant:full", "full", "#0b3c5d"),
        ("pliant:articulated", "articulated", "#1d7fc4"),
    ]),
    ("Pliant, effectors' freedoms", [
        ("pliant:reduced", "reduced", "#17a398"),
        ("pliant:linear:twist", "linear: twist", "#5e3aa6"),
        ("pliant:linear:joint", "joint", "#8f6bd6"),
        ("pliant:linear:corrected", "corrected", "#c3a6f2"),
        ("pliant:blended:joint:1", "blended: 1 model", "#f29ec4"),
        ("pliant:blended:joint:2", "2 models", "#d9589a"),
        ("pliant:blended:joint:4", "4 models", "#9c1f63"),
    ]),
    ("Peers", [
        ("pinocchio", "Pinocchio ABA", "#2f8f3a"),
        ("mujoco", "MuJoCo discrete", "#e07b00"),
        ("dart", "DART", "#8a6d1b"),
        ("drake", "Drake SAP + PD", "#c8102e"),
        ("rapier:multibody", "Rapier multibody", "#6b4a3a"),
        ("rapier:impulse", "Rapier impulse", "#a89080"),
    ]),
]
SHAPES = ["circle", "diamond", "square"]

WIDTH, LEFT, RIGHT, ROW, LANE = 1180, 118, 40, 60, 17
GRAY, INK = "#d5dae1", "#1f2933"


def marker(shape, x, y, color, verdict):
    """Filled if the static answer is right, hollow if not, a cross if it diverges."""
    if verdict == "diverges":
        r = 4.5
        return (f'<path d="M{x - r:.1f} {y - r:.1f}l{2 * r} {2 * r}m0 {-2 * r}l{-2 * r} {2 * r}" '
                f'stroke="{color}" stroke-width="2.2" fill="none"/>')
    fill = color if verdict == "right" else "#ffffff"
    style = f'fill="{fill}" stroke="{color}" stroke-width="1.8"'
    if shape == "circle":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.9" {style}/>'
    if shape == "diamond":
        return f'<path d="M{x:.1f} {y - 5.8:.1f}l5.8 5.8l-5.8 5.8l-5.8 -5.8z" {style}/>'
    return f'<rect x="{x - 4.4:.1f}" y="{y - 4.4:.1f}" width="8.8" height="8.8" {style}/>'


def text(x, y, words, size=12, anchor="start", color=INK, weight="400"):
    words = html.escape(words)
    return (f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" fill="{color}" '
            f'font-weight="{weight}">{words}</text>')


def number(x):
    return f"{x:,.0f}" if x >= 1 else f"{x:g}"


def draw(results):
    scenes = results["scenes"]
    shown = {key for _, engines in LANES for key, _, _ in engines}
    timed = [e for s in scenes for e in s["engines"] if e["key"] in shown and "median_us" in e]
    if not timed:
        return None
    low = math.floor(math.log10(min(e["median_us"] for e in timed)))
    high = math.ceil(math.log10(max(e["median_us"] for e in timed)) + 0.02)
    present = {e["key"] for e in timed}
    lines = [text(LEFT, 30, "Time of a step, all links, dt = 1/60 s", 19, weight="600")]
    lines.append(text(LEFT, 50, "CPU time of one thread, median; the bar is p10 to p90. Further left is faster.", 12.5, color="#52606d"))
    y = 76
    for lane, (title, engines) in enumerate(LANES):
        engines = [engine for engine in engines if engine[0] in present]
        if not engines:
            continue
        lines.append(text(LEFT, y + 4, title, 12, weight="600"))
        x = LEFT + 206
        for _, name, color in engines:
            if x + 16 + 6.6 * len(name) > WIDTH - RIGHT:
                x, y = LEFT + 206, y + 20
            lines.append(marker(SHAPES[lane], x, y, color, "right"))
            lines.append(text(x + 11, y + 4, name))
            x += 27 + 6.6 * len(name)
        y += 24
    lines.append(text(LEFT, y + 4, "Answer at rest", 12, weight="600"))
    x = LEFT + 206
    legend = [("right", "within 1 % of the full statics"), ("wrong", "not within 1 %, or not reached"), ("diverges", "diverges")]
    for verdict, words in legend:
        lines.append(marker("circle", x, y, "#52606d", verdict))
        lines.append(text(x + 11, y + 4, words))
        x += 40 + 6.7 * len(words)
    top = y + 30
    bottom = top + ROW * len(scenes)
    scale = (WIDTH - LEFT - RIGHT) / (high - low)
    at = lambda us: LEFT + (math.log10(us) - low) * scale
    for power in range(low, high + 1):
        x = at(10.0**power)
        lines.append(f'<line x1="{x:.1f}" y1="{top}" x2="{x:.1f}" y2="{bottom}" stroke="{GRAY}"/>')
        lines.append(text(x, bottom + 18, number(10.0**power), anchor="middle"))
        if power < high:
            for k in range(2, 10):
                x = at(k * 10.0**power)
                lines.append(f'<line x1="{x:.1f}" y1="{bottom}" x2="{x:.1f}" y2="{bottom + 4}" stroke="#9aa5b1"/>')
    lines.append(text((LEFT + WIDTH - RIGHT) / 2, bottom + 40, "µs a step (log axis)", 13, "middle"))
    for row, scene in enumerate(scenes):
        y0 = top + ROW * row
        if row % 2 == 0:
            width = WIDTH - LEFT - RIGHT
            lines.insert(0, f'<rect x="{LEFT}" y="{y0}" width="{width}" height="{ROW}" fill="#f5f7fa"/>')
        lines.append(text(LEFT - 12, y0 + ROW / 2 - 2, scene["scene"], 13, "end", weight="600"))
        lines.append(text(LEFT - 12, y0 + ROW / 2 + 13, f"{scene['links']:,} links", 11, "end", "#52606d"))
        by_key = {e["key"]: e for e in scene["engines"]}
        for lane, (_, engines) in enumerate(LANES):
            y = y0 + ROW / 2 + (lane - 1) * LANE
            for key, name, color in engines:
                e = by_key.get(key, {})
                if "median_us" not in e:
                    continue
                a, b = at(e["p10_us"]), at(e["p90_us"])
                told = f"{e['engine']}, {scene['scene']}: {e['median_us']:.3g} µs, {e['verdict']}"
                lines.append(f"<g><title>{html.escape(told)}</title>")
                lines.append(f'<line x1="{a:.1f}" y1="{y}" x2="{b:.1f}" y2="{y}" stroke="{color}" stroke-width="1.6"/>')
                lines.append(marker(SHAPES[lane], at(e["median_us"]), y, color, e["verdict"]))
                lines.append("</g>")
    lines.append(f'<line x1="{LEFT}" y1="{bottom}" x2="{WIDTH - RIGHT}" y2="{bottom}" stroke="#52606d"/>')
    height = bottom + 56
    head = (f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" '
            'font-family="system-ui, sans-serif" role="img" aria-label="Time of a step of each engine on each scene">')
    return "\n".join([head, f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>', *lines, "</svg>", ""])
