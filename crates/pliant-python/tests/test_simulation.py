"""Simulations: what is saved comes back, a run is its steps, inputs act as they say, threads and interrupts are safe."""

import copy
import os
import pickle
import signal
import threading
import time
import warnings

import numpy as np
import pytest

import pliant

ENGINES = ["full", "articulated", "reduced", "linear", "blended"]


def same(a, b):
    np.testing.assert_array_equal(np.asarray(a), np.asarray(b))


def everything(sim):
    return [sim.time, sim.steps, *(getattr(sim, of).tobytes() for of in ("positions", "velocities", "forces", "poses", "twists"))]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_saved_state_comes_back_to_the_last_bit(engine):
    sim = pliant.gallery.y().simulate(engine, scene_loads=True)
    sim.run(0.1, 0.01)
    saved = sim.save()
    here = everything(sim)
    sim.run(0.1, 0.01)
    later = everything(sim)
    sim.restore(saved)
    assert everything(sim) == here and saved.time == sim.time
    sim.run(0.1, 0.01)
    assert everything(sim) == later and here != later


@pytest.mark.parametrize("engine", ENGINES)
def test_states_pickle_to_the_last_bit(engine):
    m = pickle.loads(pickle.dumps(pliant.gallery.y()))
    sim, other = pliant.gallery.y().simulate(engine, scene_loads=True), m.simulate(engine, scene_loads=True)
    sim.run(0.1, 0.01)
    saved = sim.save()
    again = pickle.loads(pickle.dumps(saved))
    assert again == saved
    other.restore(again)
    sim.run(0.1, 0.01)
    other.run(0.1, 0.01)
    assert everything(other) == everything(sim)


def test_numbers_that_are_no_state_are_refused():
    _, (m, time, steps, lists) = pliant.gallery.arm().state().__reduce__()
    from pliant._native import state_from_numbers

    assert state_from_numbers(m, time, steps, lists) == pliant.gallery.arm().state()
    for bad in (lists[:-1], [*lists[:2], [1.0], *lists[3:]], [[float("nan")] * len(lists[0]), *lists[1:]], [[], *lists[1:]]):
        with pytest.raises(pliant.InputError, match="^lists: "):
            state_from_numbers(m, time, steps, bad)


def test_a_scene_of_contact_comes_back_too():
    sim = pliant.gallery.gripper_pick().simulate()
    sim.run(0.4, 0.008)
    saved, forces = sim.save(), [c["force"].tolist() for c in sim.contacts]
    assert forces
    sim.run(0.2, 0.008)
    later = everything(sim)
    sim.restore(saved)
    sim.run(0.2, 0.008)
    assert everything(sim) == later
    assert np.linalg.norm(sim.contact_force("block")) > 0


def test_states_of_contact_are_the_same_only_with_what_pushes():
    m = pliant.gallery.gripper_pick()
    sim = m.simulate()
    sim.run(0.4, 0.008)
    saved = sim.save()
    assert saved == sim.save() and saved == sim.copy().save()
    with pytest.warns(pliant.PliantWarning, match="^a state in a pickle: contact starts without"):
        again = pickle.loads(pickle.dumps(saved))
    assert again != saved and again.poses.tobytes() == saved.poses.tobytes()
    with pytest.warns(pliant.PliantWarning, match="^a state of another simulation: contact starts without"):
        m.simulate().restore(saved)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sim.copy().restore(saved)
        fresh = m.simulate()
        fresh.restore(m.simulate().save())  # nothing pushes at the start
        assert pickle.loads(pickle.dumps(fresh.save())) == fresh.save()


@pytest.mark.filterwarnings("ignore::pliant.PliantWarning")  # one is pressed in deep
def test_zones_are_those_of_the_command_line(command):
    answer = command("simulate", "soft-gripper", "--duration", 0.6, "--dt", 0.002)
    sim = pliant.gallery.soft_gripper().simulate()
    sim.run(0.6, 0.002)
    assert len(sim.zones) == len(answer["zones"]) == 2
    for zone, expected in zip(sim.zones, answer["zones"], strict=True):
        assert zone["name"] == expected["name"] and len(zone["nodes"]) == expected["touched"] > 0
        assert [zone[key] for key in ("area", "largest_pressure", "largest_displacement")] == [
            expected[key] for key in ("area", "largest_pressure", "largest_displacement")
        ]
        same(zone["force"], expected["force"])
        assert zone["loads"].shape == zone["points"].shape == (len(zone["nodes"]), 3)
        np.testing.assert_allclose(zone["loads"].sum(axis=0), zone["force"], rtol=1e-12, atol=1e-12)
        with pytest.raises(ValueError, match="read-only"):
            zone["loads"][0, 0] = 1.0
    assert pliant.gallery.arm().simulate().zones == []


def test_a_pad_carries_a_plate():
    b = pliant.Builder("plate on a pad")
    b.body("plate", position=[0, 0, 0.012], free=True).shape("box", size=[0.03, 0.03, 0.004], density=2700)
    b.zone(
        *("pad",), body="plate", kind="box", size=[0.02, 0.02, 0.01], position=[0, 0, -0.006], young=2e5, poisson=0.45, damping=0.002,
        resolution=0.004, bonded={"kind": "box", "size": [0.03, 0.03, 0.0045]},
    )  # fmt: skip
    b.world_shape("plane")
    m = b.build()
    sim = m.simulate()
    sim.run(1.0, 0.002)
    (pad,) = sim.zones
    np.testing.assert_allclose(pad["force"], [0, 0, 9.81 * m.mass], atol=1e-3 * 9.81 * m.mass)
    # The pad's lower side, 20 mm by 20 mm at the height of the floor.
    assert 1e-4 < pad["area"] <= 4.2e-4 and np.abs(pad["points"][:, :2]).max() < 0.0101
    assert pad["largest_pressure"] > pad["force"][2] / pad["area"] * 0.99
    assert np.abs(pad["points"][:, 2]).max() < 1e-3 and 0 < pad["largest_displacement"] < 1e-4


def test_a_run_is_its_steps():
    m = pliant.gallery.hand()
    one, other = m.simulate(), m.simulate()
    motion = one.run(0.2, 0.01, record=["positions", "velocities", "forces", "poses", "twists", "energy", "index"], every=2)
    assert motion.time.shape == (11,) and motion["poses"].shape == (11, len(m.bodies), 7)
    for step in range(21):
        if step % 2 == 0:
            for of in ("positions", "velocities", "forces", "poses", "twists"):
                same(motion[of][step // 2], getattr(other, of))
            same(motion["energy"][step // 2], list(other.energy.values()))
            same(motion["index"][step // 2], other.pose("index"))
        other.step(0.01)
    assert len(motion) == 7 and "energy" in motion


def test_arrays_cannot_be_written_to():
    sim = pliant.gallery.arm().simulate()
    for array in (sim.positions, sim.velocities, sim.forces, sim.poses, sim.twists, sim.targets, sim.pose("tip"), sim.save().poses):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 1.0
        for own in (array, array.base):
            if isinstance(own, np.ndarray):
                with pytest.raises(ValueError, match="WRITEABLE"):
                    own.flags.writeable = True


def test_matrices_are_kept_and_cannot_be_written_to():
    step = pliant.gallery.two_link().linearize(None, 0.01)
    model = pliant.gallery.two_link().reduce()
    for of, name in [(step, "A"), (step, "B"), (step, "B_loads"), (step, "C"), (model, "columns")]:
        matrix = getattr(of, name)
        assert matrix is getattr(of, name)
        with pytest.raises(ValueError, match="read-only"):
            matrix[0, 0] = 7.0
        with pytest.raises(ValueError, match="WRITEABLE"):
            matrix.flags.writeable = True


def test_set_points_and_loads_settle_where_they_say():
    sim = pliant.gallery.two_link().simulate("full")
    sim.set_target("elbow", 0.5)
    sim.settle()
    assert sim.position("elbow")[0] == pytest.approx(0.5, abs=1e-9)
    sim.set_load("tip", [0, 0, 0, 0, 0, 10])  # turns a hinge of 100 N·m/rad by 0.1 rad
    sim.settle()
    assert sim.position("elbow")[0] == pytest.approx(0.6, abs=1e-9)
    sim.set_targets(sim.targets - [0, 0.5])
    sim.settle()
    assert sim.position("elbow")[0] == pytest.approx(0.1, abs=1e-9)


def test_stiffness_changes_while_it_runs():
    sim = pliant.gallery.two_link().simulate("full")
    sim.set_load("tip", [0, 0, 0, 0, 0, 10])
    sim.set_stiffness("elbow", 50.0)
    assert sim.stiffness("elbow") == [50.0]
    sim.settle()
    assert sim.position("elbow")[0] == pytest.approx(0.2, abs=1e-9)
    sim.set_damping("elbow", [3.0])
    assert sim.damping("elbow") == [3.0]
    with pytest.raises(pliant.InputError, match="the engine `linear` has no change of joint stiffness"):
        pliant.gallery.two_link().simulate("linear").set_stiffness("elbow", 50.0)


def test_a_spring_pulls_with_its_stiffness():
    m = pliant.gallery.two_link()
    sim = m.simulate("full")
    spring = sim.add_spring("tip", [1.0, 0.02, 0.0], 80.0)
    sim.settle()
    force = sim.spring_force(spring)
    tip = sim.pose("tip")
    same(force[:3], 80.0 * (np.array([1.0, 0.02, 0.0]) - tip[:3]))
    # The tip is as stiff as the spring, 1/0.0125 N/m: half of the way, to first order in 0.02.
    assert force[1] == pytest.approx(0.8, rel=1e-2)
    sim.move_spring(spring, tip[:3])
    assert np.abs(sim.spring_force(spring)).max() == 0
    sim.remove_spring(spring)
    with pytest.raises(pliant.InputError, match="^spring: "):
        sim.spring_force(spring)


def test_gravity_and_a_base_that_moves():
    m = pliant.gallery.arm()
    sim = m.simulate("full", gravity=[0, 0, 0])
    sim.run(0.1, 0.01)
    assert np.abs(sim.positions).max() < 1e-14  # what rounding leaves
    sim.set_gravity([0, 0, -9.81])
    sim.step(0.01)
    assert np.abs(sim.positions).max() > 1e-6
    sim.set_base([0.1, 0, 0], [1, 0, 0, 0, 0, 0])
    sim.step(0.01)
    assert sim.pose("arm0")[0] > m.body("arm0").pose[0] + 0.09
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # rounding is no energy from nowhere, nor is what a base puts in
        m.simulate("full", gravity=[0, 0, 0]).run(0.1, 0.01)
        pulled = m.simulate("articulated", gravity=[0, 0, 0])
        pulled.set_base([0.1, 0, 0], [3, 0, 0, 0, 0, 2])
        pulled.run(0.1, 0.01)


def test_copies_are_their_own():
    sim = pliant.gallery.arm().simulate()
    sim.run(0.1, 0.01)
    for other in (sim.copy(), copy.copy(sim), copy.deepcopy(sim)):
        assert everything(other) == everything(sim)
        other.step(0.01)
        assert other.time > sim.time


def test_states_of_other_mechanisms_are_refused():
    sim, other = pliant.gallery.arm().simulate(), pliant.gallery.hand().simulate()
    with pytest.raises(pliant.InputError, match="another mechanism"):
        sim.restore(other.save())
    spring = other.add_spring("index", [0, 0, 0], 1.0)
    assert spring.name == "index"
    with pytest.raises(pliant.InputError, match="^spring: "):
        sim.move_spring(spring, [0, 0, 0])


def test_a_step_that_fails_leaves_the_state():
    sim = pliant.gallery.arm().simulate("full")
    sim.run(0.05, 0.01)
    before = everything(sim)
    sim.set_load("tip", [0, 0, 1e300])
    with pytest.raises(pliant.SimulationError, match="step 6"):
        sim.step(0.01)
    assert everything(sim) == before


def test_runs_in_threads_have_the_lock_released():
    m = pliant.gallery.helix(50)
    sims = [m.simulate() for _ in range(3)]
    done = []
    threads = [threading.Thread(target=lambda sim=sim: done.append(sim.run(2.0, 0.001))) for sim in sims]
    ticks = 0
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        ticks += 1  # this thread goes on meanwhile
        time.sleep(0)
    assert len(done) == 3 and ticks > 10
    assert everything(sims[0]) == everything(sims[1]) == everything(sims[2])


def test_one_simulation_in_two_threads_is_an_error_not_a_crash():
    sim = pliant.gallery.helix(100).simulate()
    thread = threading.Thread(target=lambda: sim.run(3.0, 0.001))
    thread.start()
    refused = 0
    while thread.is_alive():
        try:
            sim.step(0.001)
        except pliant.InputError as error:
            assert "in use in another thread" in str(error)
            refused += 1
    thread.join()
    assert refused > 0


def test_a_simulation_that_another_thread_runs_shows_itself():
    sim = pliant.gallery.helix(100).simulate()
    assert "at 0 s" in repr(sim)
    thread = threading.Thread(target=lambda: sim.run(3.0, 0.001))
    thread.start()
    shown, pages, refused = set(), set(), 0
    while thread.is_alive():
        shown.add("in use in another thread" in repr(sim))
        pages.add("in use in another thread" in sim._repr_html_())
        assert sim.engine == "articulated"
        try:
            assert sim.time >= 0
        except pliant.InputError:
            refused += 1
    thread.join()
    assert True in shown and True in pages and refused > 0
    assert "at 3" in repr(sim) or "at 2.99" in repr(sim)


def test_a_run_of_long_steps_looks_for_interrupts_by_the_clock():
    sim = pliant.gallery.helix(8000).simulate("full")
    sim.step(0.01)
    start = time.monotonic()
    sim.step(0.01)
    one = time.monotonic() - start
    threading.Timer(0.5 * one, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    steps = sim.steps
    with pytest.raises(KeyboardInterrupt):
        sim.run(100.0, 0.01)
    # Of about 10 ms each: sixteen of them are three times as long as it waits for.
    assert sim.steps - steps <= 1 + 0.1 / one


def test_a_keyboard_interrupt_stops_a_run():
    sim = pliant.gallery.helix(50).simulate()
    timer = threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        sim.run(10_000.0, 0.001)
    assert time.monotonic() - start < 30
    assert sim.steps > 0
    sim.step(0.001)


def test_trajectories_as_frames():
    pandas = pytest.importorskip("pandas")
    motion = pliant.gallery.arm().simulate().run(0.1, 0.01, record=["tip", "positions", "energy"])
    frame = motion.to_frame()
    assert isinstance(frame, pandas.DataFrame) and len(frame) == 11
    same(frame["tip.z"], motion["tip"][:, 2])
    same(frame["positions.3"], motion["positions"][:, 3])
    same(frame["energy.elastic"], motion["energy"][:, 1])
