"""Rollouts: the same bits for any number of threads, and those of a simulation step by step."""

import os
import signal
import subprocess
import sys
import threading
import time
import warnings

import numpy as np
import pytest

import pliant


def batch(m, size, seed=1):
    rng = np.random.default_rng(seed)
    n = len(m.coordinates)
    return 0.1 * rng.standard_normal((size, 2 * n)), n, rng


@pytest.mark.parametrize("name", ["arm", "helix:12", "hand"])
def test_the_same_bits_for_any_number_of_threads_and_step_by_step(name):
    m = pliant.gallery.build(name)
    states, n, rng = batch(m, 13)
    controls = 0.1 * rng.standard_normal((13, 8, n))
    found = pliant.rollout(m, states, controls, 0.01, 8, threads=1)
    assert found.shape == (13, 8, 2 * n) and np.isfinite(found).all()
    for threads in (0, 2, 3, 8):
        assert pliant.rollout(m, states, controls, 0.01, 8, threads=threads).tobytes() == found.tobytes()
    for run in range(13):
        sim = m.simulate("articulated")
        sim.restore(m.state(states[run, :n], states[run, n:]))
        for step in range(8):
            sim.set_targets(controls[run, step])
            sim.step(0.01)
            np.testing.assert_array_equal(found[run, step], np.concatenate([sim.positions, sim.velocities]))


def test_runs_go_on_from_their_last_states():
    m = pliant.gallery.arm()
    states, n, rng = batch(m, 6)
    controls = 0.1 * rng.standard_normal((6, n))
    whole = pliant.rollout(m, states, controls, 0.01, 10)
    first, ends = pliant.rollout(m, states, controls, 0.01, 4, final=True)
    second, last = pliant.rollout(m, ends, controls, 0.01, 6, threads=2, final=True)
    assert np.concatenate([first, second], axis=1).tobytes() == whole.tobytes()
    for run in range(6):
        np.testing.assert_array_equal(last[run].positions, whole[run, -1, :n])
        assert last[run].steps == 10
    # By positions and velocities alone they differ by the momenta that links carry: a term of order dt.
    by_rows = pliant.rollout(m, first[:, -1], controls, 0.01, 6)
    apart = np.abs(by_rows - second)[:, :, :n].max() / np.abs(second[:, :, :n]).max()
    assert 0 < apart < 0.05
    with pytest.raises(pliant.InputError, match=r"^states\[0\]: it belongs to another mechanism"):
        pliant.rollout(pliant.gallery.hand(), ends, None, 0.01, 1)


def test_free_bases_by_their_states():
    m = pliant.gallery.hexapod()
    sim = m.simulate("articulated")
    motion, ends = pliant.rollout(m, [m.state()] * 3, None, 0.01, 20, final=True)
    sim.run(0.2, 0.01)
    for run, end in zip(motion, ends, strict=True):
        np.testing.assert_array_equal(run[-1], np.concatenate([sim.positions, sim.velocities]))
        np.testing.assert_array_equal(end.poses, sim.poses)


SCENES = ["gripper-pick", "hexapod-terrain", "hand-grasp", "soft-gripper"]


@pytest.mark.parametrize("name", SCENES)
def test_contact_step_by_step_and_by_any_number_of_threads(name):
    m = pliant.gallery.build(name)
    n = len(m.coordinates)
    rng = np.random.default_rng(4)
    controls = m.state().positions + 0.05 * rng.standard_normal((5, 30, n))
    found, ends = pliant.rollout(m, [m.state()] * 5, controls, 0.004, 30, threads=1, final=True)
    assert found.shape == (5, 30, 2 * n) and np.isfinite(found).all()
    for threads in (2, 5):
        again, last = pliant.rollout(m, [m.state()] * 5, controls, 0.004, 30, threads=threads, final=True)
        assert again.tobytes() == found.tobytes() and last == ends
    for run in range(2):
        sim = m.simulate("articulated")
        for step in range(30):
            sim.set_targets(controls[run, step])
            sim.step(0.004)
            np.testing.assert_array_equal(found[run, step], np.concatenate([sim.positions, sim.velocities]))
        np.testing.assert_array_equal(ends[run].poses, sim.poses)
        assert ends[run] == sim.save()


@pytest.mark.parametrize("name", SCENES)
def test_contact_goes_on_from_last_states(name):
    m = pliant.gallery.build(name)
    starts = [m.state()] * 3
    whole, last = pliant.rollout(m, starts, None, 0.004, 120, final=True)
    first, ends = pliant.rollout(m, starts, None, 0.004, 80, final=True)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message="^states:")
        second, later = pliant.rollout(m, ends, None, 0.004, 40, threads=2, final=True)
    assert np.concatenate([first, second], axis=1).tobytes() == whole.tobytes() and later == last
    if name != "hand-grasp":  # which touches nothing yet
        sim = m.simulate("articulated")
        sim.run(0.32, 0.004)
        with pytest.warns(pliant.PliantWarning, match="^states: some are of another simulation: contact starts without"):
            pliant.rollout(m, [sim.save()], None, 0.004, 2)


def test_warnings_are_those_of_the_worst_run():
    builder = pliant.Builder("door").body("leaf", position=[0.5, 0, 0], mass=1, inertia=[0.01, 0.1, 0.1])
    builder.joint("hinge", kind="hinge", parent="world", child="leaf", position=[0, 0, 0], axis=[0, 0, 1], stiffness=1e6, damping=1e3, limits=[-0.1, 0.1])
    m = builder.build()
    goals = np.array([[0.0], [0.5], [3.0], [1.0]])

    def texts(goals, threads):
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            pliant.rollout(m, np.zeros((len(goals), 2)), goals, 0.01, 100, threads)
        return [str(warning.message) for warning in found]

    alone = [texts(goals[i : i + 1], 1) for i in range(4)]
    assert alone[0] == [] and len(alone[2]) == 1 and alone[2][0].startswith("of all runs: joint `hinge` is")
    for threads in (1, 2, 4):
        assert texts(goals, threads) == alone[2]


def test_a_model_with_contact_is_refused():
    with pytest.warns(pliant.PliantWarning, match="leaves out loose bodies"):
        model = pliant.gallery.gripper_pick().reduce(max_error=0.2)
    with pytest.raises(pliant.InputError, match="^model: it has contact, and a rollout of a Model"):
        pliant.rollout(model, [model.mechanism.state()], None, 0.01, 1)


def test_a_run_does_not_depend_on_the_others():
    m = pliant.gallery.arm()
    states, n, rng = batch(m, 9)
    controls = 0.1 * rng.standard_normal((9, n))
    found = pliant.rollout(m, states, controls, 0.01, 5)
    order = [4, 0, 8, 2]
    assert pliant.rollout(m, states[order], controls[order], 0.01, 5).tobytes() == found[order].tobytes()
    same = np.repeat(controls[:, None], 5, axis=1)
    assert pliant.rollout(m, states, same, 0.01, 5).tobytes() == found.tobytes()


def test_models_and_scenes_of_targets():
    m = pliant.gallery.chain(20)  # it sags
    model = m.reduce(max_error=0.02)
    n = len(m.coordinates)
    states = np.zeros((4, 2 * n))
    fast, exact = (pliant.rollout(of, states, None, 0.01, 50) for of in (model, m))
    assert fast.tobytes() == pliant.rollout(model, states, None, 0.01, 50, threads=1).tobytes()
    assert np.abs(fast[:, -1, :n] - exact[:, -1, :n]).max() < 0.05 * np.abs(exact[:, -1, :n]).max()


@pytest.mark.parametrize("name", ["four-bar", "gripper"])
def test_loops(name):
    m = pliant.gallery.build(name)
    n = len(m.coordinates)
    start = m.state()
    states = np.tile(np.concatenate([start.positions, start.velocities]), (5, 1))
    found = pliant.rollout(m, states, None, 0.01, 20, threads=3)
    sim = m.simulate("articulated")
    motion = sim.run(0.2, 0.01, record=["positions", "velocities"])
    for run in found:
        np.testing.assert_array_equal(run[:, :n], motion["positions"][1:])
        np.testing.assert_array_equal(run[:, n:], motion["velocities"][1:])


@pytest.mark.parametrize(
    ("arguments", "error", "begins"),
    [
        ({"model": 3}, TypeError, "model: expected a Mechanism or a Model, got int"),
        ({"model": pliant.gallery.gripper_pick(), "states": np.zeros((2, 18))}, pliant.InputError, "joint positions do not include the free body"),
        ({"model": pliant.gallery.hexapod(), "states": np.zeros((2, 36))}, pliant.InputError, "joint positions do not include the free body"),
        ({"states": np.zeros((3, 7))}, pliant.InputError, "states: expected positions and velocities of the shape (batch, 40), or States, got the shape (3, 7)"),
        ({"states": np.zeros(40)}, pliant.InputError, "states: expected"),
        ({"states": np.full((3, 40), np.nan)}, pliant.InputError, "states: NaN is not finite"),
        ({"controls": np.zeros((3, 4, 20))}, pliant.InputError, "controls: expected set-points of the shape (3, 5, 20)"),
        ({"controls": "x"}, TypeError, "controls: expected real numbers"),
        ({"dt": 0}, pliant.InputError, "dt: expected a finite number"),
        ({"steps": 2**60}, MemoryError, "3 runs of"),
        ({"steps": -1}, pliant.InputError, "steps: expected a whole number of steps, 0 or above, got -1"),
        ({"steps": 2.0}, TypeError, "steps: expected a whole number of steps, got float"),
        ({"threads": -1}, pliant.InputError, "threads: expected a whole number of threads, from 0 to 1024, got -1"),
        ({"threads": 10**9}, pliant.InputError, "threads: expected a whole number of threads, from 0 to 1024, got 1000000000"),
        ({"errors": "ignore"}, pliant.InputError, 'errors: expected "raise" or "nan", got "ignore"'),
    ],
)
def test_arguments_are_checked(arguments, error, begins):
    given = {"model": pliant.gallery.arm(), "states": np.zeros((3, 40)), "controls": None, "dt": 0.01, "steps": 5}
    with pytest.raises(error) as raised:
        pliant.rollout(**{**given, **arguments})
    assert str(raised.value).startswith(begins), str(raised.value)


def test_the_first_run_that_fails_is_named():
    m = pliant.gallery.arm()
    states = np.zeros((20, 40))
    states[7, 20:] = 1e200
    states[11, 20:] = 1e200
    for threads in (1, 3):
        with pytest.raises(pliant.SimulationError, match="^run 7, step 1: "):
            pliant.rollout(m, states, None, 0.01, 5, threads=threads)
    assert pliant.rollout(m, np.zeros((0, 40)), None, 0.01, 5).shape == (0, 5, 40)


def test_a_run_that_fails_can_be_nan_from_there_on():
    m = pliant.gallery.arm()
    states, n, rng = batch(m, 9)
    controls = np.repeat(0.1 * rng.standard_normal((9, 1, n)), 6, axis=1)
    whole, last = pliant.rollout(m, states, controls, 0.01, 6, final=True)
    controls[4, 3] = 1e308
    found, ends = pliant.rollout(m, states, controls, 0.01, 6, final=True, errors="nan", threads=3)
    others = [0, 1, 2, 3, 5, 6, 7, 8]
    assert found[others].tobytes() == whole[others].tobytes()
    assert found[4, :3].tobytes() == whole[4, :3].tobytes() and np.isnan(found[4, 3:]).all()
    assert ends[4].steps == 3 and np.array_equal(ends[4].positions, whole[4, 2, :n])
    assert [ends[run] == last[run] for run in others] == [True] * 8
    with pytest.raises(pliant.SimulationError, match="^run 4, step 4: "):
        pliant.rollout(m, states, controls, 0.01, 6)


def test_arrays_of_any_layout():
    m = pliant.gallery.arm()
    states, n, rng = batch(m, 6)
    controls = 0.1 * rng.standard_normal((6, 4, n))
    found = pliant.rollout(m, states, controls, 0.01, 4).tobytes()
    wide = np.zeros((12, 80))
    wide[::2, ::2] = states
    for same in (np.asfortranarray(states), wide[::2, ::2], states.tolist()):
        assert pliant.rollout(m, same, np.asfortranarray(controls), 0.01, 4).tobytes() == found
    states.flags.writeable = False
    assert pliant.rollout(m, states, controls, 0.01, 4).tobytes() == found


def test_without_steps_it_ends_where_it_starts():
    m = pliant.gallery.arm()
    states, n, _ = batch(m, 3)
    motion, ends = pliant.rollout(m, states, None, 0.01, 0, final=True)
    assert motion.shape == (3, 0, 2 * n)
    assert [np.array_equal(np.concatenate([end.positions, end.velocities]), row) for end, row in zip(ends, states, strict=True)] == [True] * 3


def test_starts_are_checked():
    m = pliant.gallery.four_bar()
    start = m.state()
    rows = np.tile(np.concatenate([start.positions, start.velocities]), (5, 1))
    rows[3, 0] += 0.2
    for threads in (1, 3):
        with pytest.raises(pliant.InputError, match=r"^states\[3\]: positions: the loop of joint"):
            pliant.rollout(m, rows, None, 0.01, 4, threads=threads)
        with pytest.raises(pliant.InputError, match=r"^states\[3\]: "):
            pliant.rollout(m, rows, None, 0.01, 4, threads=threads, errors="nan")


def test_a_model_starts_from_its_motions_or_says_how_far_it_is():
    m = pliant.gallery.helix(50)
    model = m.reduce(max_error=0.01)
    n = len(m.coordinates)
    assert model.motions < n
    own = np.zeros((3, 2 * n))
    own[:, :n] = 0.1 * model.columns[:, 0] / np.abs(model.columns[:, 0]).max()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        _, ends = pliant.rollout(model, own, None, 0.01, 3, final=True)
        pliant.rollout(model, ends, None, 0.01, 3)
    other = own.copy()
    other[1, :n] = 0.3 * np.random.default_rng(3).standard_normal(n)
    with pytest.warns(pliant.PliantWarning, match=r"^states\[1\]: it is outside the motions of the model; .* in them, [1-9]"):
        pliant.rollout(model, other, None, 0.01, 3)


def test_a_thread_that_cannot_be_started_is_an_error():
    """With stacks that no memory holds, the system refuses every thread."""
    program = """
import numpy as np
import pliant
try:
    pliant.rollout(pliant.gallery.arm(), np.zeros((8, 40)), None, 0.01, 2, threads=2)
except pliant.SimulationError as error:
    print(error)
"""
    words = [sys.executable, "-c", program]
    run = subprocess.run(words, env={**os.environ, "RUST_MIN_STACK": str(2**46)}, capture_output=True, text=True, check=False)
    assert run.returncode == 0 and run.stdout.startswith("threads: cannot start a thread: "), (run.stdout, run.stderr)


def test_a_keyboard_interrupt_stops_a_rollout():
    m = pliant.gallery.helix(50)
    timer = threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        pliant.rollout(m, np.zeros((2, 100)), None, 0.001, 100_000, threads=1)
    assert time.monotonic() - start < 30
