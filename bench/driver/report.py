"""The race as Markdown: what was asked, the tables, and who was left out."""

from .engines import ASKED, ENGINES

READ = """\
Same geometry (one scene file, as `pliant export` writes it), same load, dt = 1/60 s, one thread, no contact. A time is the
median CPU time of a step in µs. A few fast steps are timed together, at least 50 µs of them, so that the clock's own cost
does not count. Engines take turns in short blocks.

Next to its time stands how far from the full statics of Pliant the tip of the mechanism comes to rest, in parts of its
displacement: more than 1 % is *wrong*; *not at rest* did not get there in {rest:g} s of CPU time; *diverges* became infinite, left
the mechanism, or stopped with an error.

`full`, `articulated` and the peers move every freedom. `reduced`, `linear` and `blended` move a few and place
all links by them: modes that these do not have are left out. `linear` is one linear model at the unloaded pose, so that large
displacements are beyond it. `blended` has linear models at rest, gravity included, and along the scene's load, the last of several at
the load itself: there its answer is right by making. How each peer is set up is in
`bench/README.md`.
"""

# Pliant's engines that move every freedom, and those that move few without having been given the answer.
EVERY = ("pliant:full", "pliant:articulated")
FEW = ("pliant:reduced", "pliant:linear:twist", "pliant:linear:joint", "pliant:linear:corrected")


def number(x):
    """Three digits, with commas."""
    if x >= 1000:
        return f"{round(x, -len(str(int(x))) + 3):,.0f}"
    return f"{x:.3g}" if x < 100 else f"{x:.0f}"


def percent(x):
    if x < 1e-5:
        return "<0.001 %"
    if x < 0.1:
        return f"{100 * x:.2g} %"
    return f"{100 * x:.0f} %" if x < 2 else f"{number(x)} times"


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return lines + ["| " + " | ".join(row) + " |" for row in rows]


def best(scene, keys):
    """The fastest of some engines whose answer is right."""
    right = [e for e in scene["engines"] if e["key"] in keys and e["verdict"] == "right"]
    return min(right, key=lambda e: e["median_us"], default=None)


def cell(entry):
    if entry is None:
        return ""
    if "median_us" not in entry:
        return "–"
    time = number(entry["median_us"])
    if entry["verdict"] == "wrong":
        return f"{time} (wrong: {percent(entry['static_error'])})"
    if entry["verdict"] in ("diverges", "not at rest"):
        return f"{time} ({entry['verdict']})"
    return time


def overview(scenes):
    raced = {entry["key"] for scene in scenes for entry in scene["engines"]}
    rows = []
    for key, name in [(engine.key, engine.name) for engine in ENGINES if engine.key in raced]:
        row = [name]
        for scene in scenes:
            entry = next((e for e in scene["engines"] if e["key"] == key), None)
            first = entry is not None and entry in (best(scene, EVERY), best(scene, FEW))
            row.append(f"**{cell(entry)}**" if first else cell(entry))
        rows.append(row)
    return table(["µs a step"] + [scene["scene"] for scene in scenes], rows)


def ratios(scenes, keys):
    """How many times as long as the best of some of Pliant's engines each peer takes."""
    peers = {}
    for scene in scenes:
        for entry in scene["engines"]:
            if entry["maker"] != "Pliant":
                peers[entry["key"]] = entry["engine"]
    names = [b["engine"].removeprefix("Pliant ") if (b := best(scene, keys)) else "none right" for scene in scenes]
    rows = [["Pliant's engine"] + names]
    for key, name in peers.items():
        row = [name]
        for scene in scenes:
            entry = next(e for e in scene["engines"] if e["key"] == key)
            first = best(scene, keys)
            if first is None or "median_us" not in entry:
                row.append("–")
                continue
            ratio = number(entry["median_us"] / first["median_us"])
            row.append(ratio if entry["verdict"] == "right" else f"{ratio} ({entry['verdict']})")
        rows.append(row)
    return table(["times as long"] + [scene["scene"] for scene in scenes], rows)


def asked(results):
    measured = {(s["scene"], e["key"]): e for s in results["scenes"] + results["forward"] for e in s["engines"]}
    rows = []
    for engine, scene, limit in ASKED:
        entry = measured.get((scene, engine))
        if entry is None or "median_us" not in entry:
            continue
        time = entry["median_us"]
        holds = "holds" if time <= limit else f"**missed by {100 * (time / limit - 1):.0f} %**"
        if time > limit >= entry["p10_us"]:
            holds += ", p10 holds"
        name = entry["engine"] + (", forward dynamics" if engine == "pliant:forward" else "")
        rows.append([name, scene, number(limit), number(time), number(entry["p10_us"]), holds])
    missed = any("missed" in row[-1] for row in rows)
    lines = table(["engine", "scene", "asked, µs", "median, µs", "p10, µs", ""], rows) if rows else ["None of their scenes was run."]
    if missed:
        lines += ["", "What a step is made of, and what bounds it, is in the README of each engine under `crates/pliant-core/src/`. "
                  "p10 is what the engine takes in its fastest tenth: where that holds, the machine was busy, and the other engines of "
                  "that scene are slower for it too; where it does not, the README says what it would take."]
    return lines


def details(scene):
    first, rows = best(scene, EVERY), []
    for e in scene["engines"]:
        if "median_us" not in e:
            continue
        rows.append([
            e["engine"], number(e["median_us"]), f"{number(e['p10_us'])}–{number(e['p90_us'])}",
            number(e["p99_us"]) if e.get("p99_us") else "–",
            number(e["median_us"] / first["median_us"]) if first else "–",
            percent(e["static_error"]) if "static_error" in e else "–", e["verdict"], str(e["samples"]), str(e["batch"]),
        ])
    head = ["engine", "median, µs", "p10–p90", "p99", "× Pliant, every freedom", "off at rest", "", "samples", "steps a sample"]
    truth = scene["statics"]
    moved = f"{sum(x * x for x in truth) ** 0.5:.5g} m" if truth else scene["statics_error"]
    return [f"### {scene['scene']}", "", f"Displacement of the tip by the full statics: {moved}.", "", *table(head, rows)]


def left_out(results):
    reasons = {}
    for scene in results["scenes"] + results["forward"]:
        for e in scene["engines"]:
            why = e.get("skipped") or (e.get("stopped") if e["verdict"] == "diverges" else None)
            if why:
                reasons.setdefault((e["engine"], e["verdict"], why), []).append(scene["scene"])
    rows = [[engine, ", ".join(names), verdict, why] for (engine, verdict, why), names in reasons.items()]
    return table(["engine", "scenes", "", "why"], rows) if rows else ["Nobody."]


def forward(results):
    scenes = results["forward"]
    rows = [
        [e["engine"]] + [cell(next((x for x in s["engines"] if x["key"] == e["key"]), None)) for s in scenes]
        for e in scenes[0]["engines"]
    ]
    return table(["µs"] + [s["scene"] for s in scenes], rows)


# The scenes of the README, and the lines there between which their table stands.
HEADLINE = ("helix:50", "helix:400", "ladder:36", "arm")
MARKS = ("<!-- written by bench/race --docs -->", "<!-- end -->")


def headline(results):
    """A few scenes: Pliant's fastest right engines, and all peers."""
    scenes = [scene for scene in results["scenes"] if scene["scene"] in HEADLINE]
    rows = []
    for name, keys in (("Pliant, every freedom", EVERY), ("Pliant, the effectors'", FEW)):
        firsts = [best(scene, keys) for scene in scenes]
        rows.append([name] + [f"**{cell(e)}** `{e['key'].split(':')[1]}`" if e else "–" for e in firsts])
    peers = {e["key"]: e["engine"] for scene in scenes for e in scene["engines"] if e["maker"] != "Pliant"}
    for key, name in peers.items():
        rows.append([name] + [cell(next(e for e in scene["engines"] if e["key"] == key)) for scene in scenes])
    return table(["µs a step"] + [scene["scene"] for scene in scenes], rows)


def into_readme(text, results):
    """The README with this run's headline between its marks."""
    before, rest = text.split(MARKS[0])
    after = rest.split(MARKS[1], 1)[1]
    return "\n".join([before + MARKS[0], "", *headline(results), "", MARKS[1] + after])


def write(results, chart, extra):
    """The whole report; `extra` is Markdown of other races, `chart` the picture's file name."""
    machine, versions = results["machine"], results["versions"]
    named = ", ".join(f"{name} {version}" for name, version in versions.items())
    lines = ["# Results of the race", "", f"Written by `{results['command']}`; every figure is from that run.", ""]
    lines += [f"Machine: {machine['cpu']}, {machine['cores']} cores, {machine['system']}. {named}.", ""]
    lines += [READ.format(rest=results["rest_seconds"])]
    scenes = results["scenes"]
    if chart:
        lines += [f"![Time of a step of each engine on each scene]({chart})", ""]
    if scenes:
        lines += ["## Time of a step", "", "Bold: Pliant's fastest engine whose answer is right, with every freedom and with the effectors' (`blended` left out).", "", *overview(scenes), ""]
        lines += ["## Peers against Pliant", "", "Time over that of Pliant's fastest right engine that moves every freedom:", ""]
        lines += [*ratios(scenes, EVERY), "", "And over that of the fastest right one that moves the effectors' freedoms:", ""]
        lines += [*ratios(scenes, FEW), ""]
    if results["forward"]:
        lines += ["## Forward dynamics alone", "", "From coordinates and rates to accelerations, hinge chains.", "",
                  *forward(results), ""]
    lines += ["## Speeds asked", "", *asked(results), ""]
    if extra:
        lines += [extra.strip(), ""]
    lines += ["## Skipped, or diverged", "", *left_out(results), ""]
    lines += ["## Each scene", ""]
    for scene in scenes:
        lines += [*details(scene), ""]
    return "\n".join(lines)
