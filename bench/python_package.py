"""What the Python package costs over Rust: a step from Python next to a step of `run`, which is in Rust; batches by number of threads, next to those of
`mujoco.rollout`, in turns, with the rests that both come to; its import and its size.

    .venv/bin/python bench/python_package.py     # with the package installed (docs/python.md), and mujoco where there is one
"""

import importlib.metadata
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np

import pliant

DT, STEPS = 0.01, 100_000


def best(run, times=5):
    """The shortest of several, s."""
    found = []
    for _ in range(times):
        start = time.perf_counter()
        run()
        found.append(time.perf_counter() - start)
    return min(found)


def by_hand(sim):
    step = sim.step
    for _ in range(STEPS):
        step(DT)


arm = pliant.gallery.arm()
sim = arm.simulate("articulated")
inside, outside = best(lambda: sim.run(STEPS * DT, DT)) / STEPS, best(lambda: by_hand(sim)) / STEPS
print(f"a step of the arm: {1e6 * inside:.2f} µs in `run`, {1e6 * outside:.2f} µs by `step`: {1e6 * (outside - inside):.2f} µs more")

RUNS, LENGTH = 4096, 50
n = len(arm.coordinates)
states, controls = np.zeros((RUNS, 2 * n)), 0.2 * np.random.default_rng(1).standard_normal((RUNS, n))


def mujoco_arm(mujoco):
    """The same arm as MuJoCo has it in the race, with its set-points as controls: what they add to its springs."""
    sys.path.insert(0, str(pathlib.Path(__file__).parent / "peers" / "python"))
    import mujoco_peer
    import scene

    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "arm.toml"
        arm.save(file)
        spec = mujoco_peer.specification(scene.read(file))
    spec.option.timestep = DT
    for joint in spec.joints:
        actuator = spec.add_actuator(name=joint.name, trntype=mujoco.mjtTrn.mjTRN_JOINT, target=joint.name)
        actuator.gainprm[0] = joint.stiffness[0]
    return spec.compile()


def by_pliant(threads):
    return lambda: pliant.rollout(arm, states, controls, DT, LENGTH, threads=threads)


def by_mujoco(threads):
    """MuJoCo's own pool of threads, with arrays that are there already."""
    data = [mujoco.MjData(model) for _ in range(threads)]
    start = np.zeros((RUNS, mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_FULLPHYSICS)))
    each = np.ascontiguousarray(np.broadcast_to(controls[:, None], (RUNS, LENGTH, n)))
    out = np.zeros((RUNS, LENGTH, start.shape[1]))
    pool = rollout.Rollout(nthread=threads)
    return lambda: pool.rollout(model, data, start, each, state=out)


def rests(few=16, seconds=20.0):
    """How far a few runs of both end from the equilibrium under their set-points, over the largest displacement, and how far apart both are on the way."""
    exact = []
    for own in controls[:few]:
        sim = arm.simulate("full")
        sim.set_targets(own)
        sim.settle()
        exact.append(sim.positions)
    scale, steps = np.abs(exact).max(), round(seconds / DT)
    ours = pliant.rollout(arm, states[:few], controls[:few], DT, steps)[:, :, :n]
    each = np.broadcast_to(controls[:few, None], (few, steps, n))
    start = np.zeros((few, 1 + 2 * n))
    theirs, _ = rollout.rollout(model, [mujoco.MjData(model)], start, np.ascontiguousarray(each))
    theirs = theirs[:, :, 1 : 1 + n]
    off = [np.abs(motion[:, -1] - exact).max() / scale for motion in (ours, theirs)]
    return [*off, np.abs(ours - theirs)[:, :LENGTH].max() / scale]


racers = [("Pliant", by_pliant)]
try:
    import mujoco
    from mujoco import rollout

    model = mujoco_arm(mujoco)
    racers.append(("MuJoCo", by_mujoco))
except ImportError:
    print("MuJoCo is not installed: it does not take part")
else:
    assert [model.joint(i).name for i in range(model.njnt)] == arm.joints
    *off, apart = rests()
    print(f"rest under set-points: Pliant is off by {100 * off[0]:.4f} %, MuJoCo by {100 * off[1]:.4f} %; in the first {LENGTH} steps {100 * apart:.1f} % apart")
    assert max(off) < 0.01
for threads in sorted({1, os.cpu_count() or 1}):
    prepared = [(name, make(threads)) for name, make in racers]
    seconds = {name: float("inf") for name, _ in racers}
    for _ in range(5):  # in turns, so that a slow moment of the machine is everybody's
        for name, run in prepared:
            seconds[name] = min(seconds[name], best(run, 1))
    rates = {name: RUNS * LENGTH / own / 1e6 for name, own in seconds.items()}
    print(f"{RUNS} arms of {LENGTH} steps on {threads} threads, million steps a second: " + ", ".join(f"{name} {rate:.3f}" for name, rate in rates.items()))
    if len(rates) > 1:
        print(f"    Pliant has {rates['Pliant'] / rates['MuJoCo']:.2f} times the rate of MuJoCo")

IMPORT = "import time, numpy; start = time.perf_counter(); import pliant; print(time.perf_counter() - start)"
seconds = min(float(subprocess.run([sys.executable, "-c", IMPORT], capture_output=True, text=True, check=True).stdout) for _ in range(5))
print(f"import: {1000 * seconds:.0f} ms beyond NumPy's")
files = importlib.metadata.files("pliant") or []
print(f"size, unpacked: {sum(file.locate().stat().st_size for file in files if file.locate().is_file()) / 1e6:.1f} MB")
