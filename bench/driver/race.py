"""The race itself: for each scene all engines are built, then timed in turn, block by block, then brought to rest."""

import dataclasses
import json
import math
import subprocess
import sys
from pathlib import Path

from .engines import ALONE
from .process import Failed, Peer
from .setup import BENCH, say

sys.path.insert(0, str(BENCH / "peers" / "python"))
import scene as scenes  # noqa: E402

# A static answer further off than this part of the displacement is wrong.
RIGHT = 0.01
# A tip further off than this many radii of the mechanism has left it.
GROWN = 10.0


@dataclasses.dataclass(frozen=True)
class Plan:
    """How long a run takes."""

    rounds: int  # blocks of each engine
    block_us: float  # CPU time of a block
    batch_us: float  # least time between two looks at the clock
    timing_s: float  # CPU time of an engine's blocks on one scene, at most
    rest_s: float  # CPU time on the way to rest, at most
    build_s: float  # wall time to be ready, at most
    answer_s: float  # wall time of any other answer, at most


FULL = Plan(rounds=10, block_us=30e3, batch_us=50.0, timing_s=3.0, rest_s=6.0, build_s=60.0, answer_s=60.0)
QUICK = Plan(rounds=4, block_us=8e3, batch_us=50.0, timing_s=0.8, rest_s=1.0, build_s=20.0, answer_s=20.0)


@dataclasses.dataclass
class Files:
    """A scene as the programs read it."""

    toml: str
    numbers: str


def reference(tools, name, folder):
    """Writes a scene; gives its files, radius and what the full statics say of the tip's displacement."""
    stem = Path(name).stem.replace(":", "-")
    toml, numbers = folder / f"{stem}.toml", folder / f"{stem}.txt"
    done = subprocess.run([str(tools.peers), "scene", name, str(toml)], capture_output=True, text=True)
    told = json.loads(done.stdout)
    if "error" in told:
        sys.exit(f"race: {name}: {told['error']}")
    try:
        scene = scenes.read(toml)
    except scenes.Unsupported as why:
        sys.exit(f"race: {name}: {why}")
    scenes.write_numbers(scene, numbers)
    about = {
        "scene": name, "links": len(scene.bodies), "loops": len(scene.loops), "radius": told["radius"],
        "statics": told["displacement"], "statics_error": told["why"],
    }
    return Files(str(toml), str(numbers)), about, scene


def run(tools, name, engines, plan, folder, still=False):
    """All engines on one scene; `still` times something that does not move, so that there is no rest to come to."""
    files, about, scene = reference(tools, name, folder)
    say(f"{name}: {about['links']} links, {about['loops']} loops")
    entries, racing = [], []
    for engine in engines:
        if engine.only and name not in engine.only:
            continue
        entry = {"key": engine.key, "engine": engine.name, "maker": engine.maker, "us": []}
        entries.append(entry)
        why = skipped(tools, engine, name, scene)
        if why:
            entry["skipped"] = why
            continue
        try:
            peer = Peer(engine.command(tools, files), plan.build_s)
            entry["build_seconds"] = peer.ready["build_seconds"]
            # Three steps tell how many make a batch and a block; those of the first round are warm.
            first = peer.ask("block 3 1", plan.answer_s)
            step = max(min(first["us"]), 1e-3)
            size = max(1, math.ceil(plan.batch_us / step))
            batches = max(1, round(plan.block_us / (step * size)))
            entry.update(batch=size)
            racing.append((peer, entry, batches, size))
        except Failed as why:
            entry["skipped"] = str(why)
    for _ in range(plan.rounds):
        for peer, entry, batches, size in racing:
            if "skipped" in entry or "stopped" in entry or entry.get("cpu_us", 0.0) > 1e6 * plan.timing_s:
                continue
            try:
                block = peer.ask(f"block {batches} {size}", plan.answer_s)
            except Failed as why:
                entry["skipped"] = str(why)
                continue
            entry["us"] += block["us"]
            entry["cpu_us"] = entry.get("cpu_us", 0.0) + size * (sum(block["us"]) + (block["us"] or [0.0])[-1])
            if block.get("stopped"):
                entry["stopped"] = block["stopped"]
            elif gone(block["displacement"], about["radius"]):
                entry["stopped"] = "the tip left the mechanism"
    for peer, entry, _, _ in racing:
        if "skipped" not in entry and "stopped" not in entry and not still:
            try:
                entry["rest"] = peer.ask(f"rest {plan.rest_s}", 3 * plan.rest_s + plan.answer_s)
            except Failed as why:
                entry["stopped"] = str(why)
        if "skipped" not in entry or peer.process.poll() is None:
            peer.close()
    for entry in entries:
        judge(entry, about, still)
        say(f"  {line(entry)}")
    return {**about, "engines": entries}


def skipped(tools, engine, name, scene):
    for need in engine.needs:
        if need in tools.missing:
            return tools.missing[need]
    if engine.maker != "Pliant" and name in ALONE:
        return ALONE[name]
    if engine.key == "pinocchio" and scene.loops:
        return "its recursion takes trees"
    return None


def gone(displacement, radius):
    return any(x is None for x in displacement) or math.hypot(*displacement) > GROWN * radius


def judge(entry, about, still):
    """Percentiles, static error and verdict of an engine."""
    times = sorted(entry.pop("us"))
    entry["samples"] = len(times)
    if times:
        at = lambda part: times[min(len(times) - 1, int(part * len(times)))]
        entry.update(median_us=at(0.5), p10_us=at(0.1), p90_us=at(0.9))
        entry["p99_us"] = at(0.99) if len(times) >= 100 else None
    entry.pop("cpu_us", None)
    rest = entry.get("rest")
    if "skipped" in entry:
        entry["verdict"] = "skipped"
    elif "stopped" in entry or (rest and (rest.get("stopped") or gone(rest["displacement"], about["radius"]))):
        entry["verdict"] = "diverges"
        entry.setdefault("stopped", (rest or {}).get("stopped") or "the tip left the mechanism")
    elif still:
        entry["verdict"] = "timed"
    else:
        truth = about["statics"]
        if truth is None:
            entry["verdict"] = "no statics"
        else:
            entry["static_error"] = math.dist(rest["displacement"], truth) / math.hypot(*truth)
            if entry["static_error"] <= RIGHT:
                entry["verdict"] = "right"
            else:
                entry["verdict"] = "wrong" if rest["settled"] else "not at rest"


def line(entry):
    if "median_us" not in entry:
        return f"{entry['engine']}: skipped: {entry['skipped']}"
    error = f", {100 * entry['static_error']:.3g} % off" if "static_error" in entry else ""
    return f"{entry['engine']}: {entry['median_us']:.4g} µs, {entry['verdict']}{error}"
