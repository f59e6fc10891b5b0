"""Random misuse: whatever is called with whatever, in any order, there is an answer or an exception, never a crash, a panic, or a state that is not
finite; and memory does not grow. The same calls every time; PLIANT_MISUSES=100000 makes more of them, PLIANT_LONG=1 more simulations."""

import gc
import os
import random
import threading

import numpy as np
import pytest

import pliant

CALLS = int(os.environ.get("PLIANT_MISUSES", "10000"))

pytestmark = [
    pytest.mark.filterwarnings("ignore::pliant.PliantWarning"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
]

MECHANISMS = [pliant.gallery.build(name) for name in ("two-link", "arm", "four-bar", "gripper", "hexapod", "gripper-pick", "chain:3")]
VALUES = [
    *(0, 1, -1, 0.01, 0.3, 1e300, -1e300, 1e-300, float("nan"), float("inf"), True, 2**80, 1j),
    *(None, "", "tip", "elbow", "world", "arm2", "no such name", "\0", "é" * 50, b"tip", object(), [], {}, ()),
    *([0, 0, 0], [0, 0, -1], [0, 0, -1, 0, 0, 0.1], [1, 2], [[1, 2], [3]], ["a"], [None] * 3, range(3), [1e308] * 6),
    *(np.zeros(3), np.zeros((3, 3)), np.zeros(0), np.array(1.0), np.zeros(3, dtype=np.float32), np.zeros(3, dtype=int)),
    *(np.zeros(3, dtype=complex), np.zeros(3, dtype=object), np.array(["a"]), np.zeros(6)[::-2], np.zeros(20), np.zeros((2, 40))),
    *({"tip": [0, 0, -1]}, {"tip": 1}, {"elbow": 0.1}, {"arm2": 0.2}, {1: 2}, {"tip": [0, 0, 1, 20]}, {"tip": [np.nan] * 3}),
    *("full", "articulated", "reduced", "linear", "blended", "auto", ["positions"], ["tip", "energy"], ["nobody"], ["tip", "tip"]),
]
# Runs of such lengths end soon, or are refused.
SECONDS = [0, 0.02, -1, float("nan"), float("inf"), 1e300, "x", None, True and 0.01, np.float64(0.03)]
STEPS = [0.01, 0.004, 1, 0, -0.01, float("nan"), 1e-300, 1e300, "x", None, np.float32(0.01)]
METHODS = [
    *("set_load", "set_target", "set_targets", "set_gravity", "set_base", "set_stiffness", "set_damping", "set_friction", "set_torque_limit"),
    *("add_spring", "move_spring", "spring_force", "remove_spring", "restore", "pose", "position", "contact_force", "stiffness", "damping"),
]


def finite(sim):
    return all(np.isfinite(array).all() for array in (sim.positions, sim.velocities, sim.forces, sim.poses, sim.twists))


def test_random_misuse():
    rng = random.Random(24)
    sims, things = [MECHANISMS[0].simulate()], [MECHANISMS[0].state()]
    answers = errors = 0

    def pick():
        return rng.choice(things) if rng.random() < 0.2 else rng.choice(VALUES)

    def call():
        m, sim = rng.choice(MECHANISMS), rng.choice(sims)
        few = [pick() for _ in range(rng.randrange(4))]
        what = rng.randrange(14)
        if what == 0:
            return m.equilibrium(**{rng.choice(["loads", "at", "gravity", "springs"]): pick()})
        if what == 1:
            return m.compliance(*few[:1], **{rng.choice(["at", "loads", "springs", "method", "loaded"]): pick()})
        if what == 2:
            return m.simulate(rng.choice(["full", "articulated", "linear", "auto", "nothing", pick()]), **{rng.choice(["at", "loads"]): pick()})
        if what == 3:
            return m.linearize(rng.choice([None, sim, pick()]), rng.choice(STEPS))
        if what == 4:
            return m.state(*few[:2])
        if what == 5:
            steps = rng.choice([0, 1, 3, -1, None, 2**62])
            return pliant.rollout(rng.choice([m, sim, pick()]), pick(), pick(), rng.choice(STEPS), steps, rng.choice([0, 1, 5]))
        if what == 6:
            return sim.step(rng.choice(STEPS))
        if what == 7:
            return sim.run(rng.choice(SECONDS), rng.choice(STEPS), rng.choice([[], ["positions"], pick()]), rng.choice([1, 2, 0, -3]))
        if what == 8:
            return rng.choice([sim.save, sim.copy, sim.estimate, sim.settle, lambda: sim.contacts, lambda: sim.warnings])()
        if what == 9:
            return rng.choice([pliant.load, pliant.load_model, pliant.parse, pliant.gallery.build, pliant.gallery.helix])(*few[:1])
        return getattr(sim, rng.choice(METHODS))(*few)

    for _ in range(CALLS):
        try:
            answer = call()
            answers += 1
        except pliant.InternalError:
            raise  # a panic
        except Exception:  # what is none of these, such as a panic outside, ends the test too
            errors += 1
            continue
        if isinstance(answer, pliant.Simulation):
            sims = [*sims[-5:], answer]
        elif isinstance(answer, (pliant.State, pliant.Spring)):
            things = [*things[-8:], answer]
        if not finite(sims[-1]):
            raise AssertionError("a state is not finite")
    assert answers > CALLS / 20 and errors > CALLS / 4, (answers, errors)


def test_misuse_from_threads():
    sim, state = MECHANISMS[1].simulate(), MECHANISMS[1].state()
    done = []

    def work(seed):
        rng = random.Random(seed)
        for _ in range(300):
            try:
                rng.choice([lambda: sim.step(0.001), lambda: sim.run(0.01, 0.001), lambda: sim.restore(state), sim.copy, lambda: sim.poses])()
            except pliant.InputError as error:
                assert "in use in another thread" in str(error)
        done.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(done) == 6 and finite(sim)


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="there is no /proc to read the memory of")
def test_memory_is_flat():
    m = pliant.gallery.arm()
    rounds = 100_000 if os.environ.get("PLIANT_LONG") else 10_000

    def once():
        sim = m.simulate("articulated")
        sim.run(0.01, 0.005, record=["positions", "tip"])
        sim.restore(sim.save())
        sim.add_spring("tip", [0, 0, 0], 1.0)
        try:
            sim.set_load("tip", [1])
        except pliant.InputError:
            pass

    for _ in range(500):
        once()
    gc.collect()
    before = resident()
    for _ in range(rounds):
        once()
    gc.collect()
    # One leaked state of an arm is more than 3 kB, so that a leak is 30 MB; what is left are pages of the allocator.
    assert resident() - before < 2_000_000
