"""What every Python peer does: build a simulation, then answer the driver's lines on stdin with one JSON line each.

    block BATCHES SIZE    SIZE steps that do not count, then BATCHES times SIZE steps: µs a step of each batch, CPU time of
                          this thread; a batch is timed as one, so that the clock's own cost does not count
    rest SECONDS          steps until the tip stays, at most so many seconds of CPU time; speeds are put to zero whenever
                          their sum of squares falls (kinetic damping), which changes the way to rest but not the rest
    quit

The peer's engine offers `steps(n)`, `position()` of the tip, `speed()` (sum of squared rates) and `halt()`.
"""

import json
import math
import sys
import time

import scene as scenes


def serve(build):
    """`build(scene, arguments)` makes the engine; arguments follow the scene's path on the command line."""
    start = time.process_time()
    try:
        scene = scenes.read(sys.argv[1])
        engine = build(scene, sys.argv[2:])
    except scenes.Unsupported as why:
        answer({"error": str(why)})
        return
    except MemoryError:
        answer({"error": "out of memory"})
        return
    home = list(scene.bodies[scene.tip].pose[1])
    answer({"ready": True, "build_seconds": time.process_time() - start, "note": getattr(engine, "note", None)})
    for line in sys.stdin:
        words = line.split()
        if not words or words[0] == "quit":
            return
        if words[0] == "block":
            answer(block(engine, home, int(words[1]), int(words[2])))
        elif words[0] == "rest":
            answer(rest(engine, home, float(words[1])))
        else:
            answer({"error": f"no command `{words[0]}`"})


def answer(value):
    print(json.dumps(finite(value)), flush=True)


def finite(value):
    """JSON has no NaN: null."""
    if isinstance(value, dict):
        return {key: finite(x) for key, x in value.items()}
    if isinstance(value, list):
        return [finite(x) for x in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def block(engine, home, batches, size):
    clock, steps = time.thread_time_ns, engine.steps
    steps(size)
    times = []
    for _ in range(batches):
        start = clock()
        steps(size)
        times.append((clock() - start) / (1e3 * size))
    return {"us": times, "displacement": displacement(engine, home)}


def displacement(engine, home):
    return [float(a - b) for a, b in zip(engine.position(), home)]


# At rest: over the second half of all steps the tip stays within this part of its displacement.
STAYS = 1e-3


def rest(engine, home, seconds):
    end = time.thread_time() + seconds
    count, check, last, spread = 0, 256, 0.0, 0.0
    anchor = displacement(engine, home)
    settled = False
    while time.thread_time() < end:
        engine.steps(1)
        count += 1
        now = displacement(engine, home)
        if not all(map(math.isfinite, now)):
            break
        speed = engine.speed()
        if speed < last:
            engine.halt()
            speed = 0.0
        last = speed
        spread = max(spread, math.dist(now, anchor))
        if count == check:
            if spread <= STAYS * math.hypot(*now):
                settled = True
                break
            anchor, spread, check = now, 0.0, 2 * check
    return {"displacement": displacement(engine, home), "settled": settled, "steps": count}
