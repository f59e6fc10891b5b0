"""Every answer is that of Rust to the last bit: on the gallery, the command line's JSON (which reads back the same) is the reference."""

import warnings

import numpy as np
import pytest

import pliant

MECHANISMS = [name for name in pliant.gallery.names() if not pliant.gallery.build(name).has_contact]
SCENES = [name for name in pliant.gallery.names() if name not in MECHANISMS]

#: Those whose equilibrium is not unique.
NOT_HELD = ["hexapod"]

pytestmark = pytest.mark.filterwarnings("ignore::pliant.PliantWarning")


def bodies(m, document):
    return np.array([[*document["bodies"][name]["position"], *document["bodies"][name]["quaternion"]] for name in m.bodies])


def along(m, document, key):
    return np.array([x for name in m.joints for x in document["joints"][name][key]])


def same(a, b):
    np.testing.assert_array_equal(np.asarray(a), np.asarray(b))


def test_there_are_mechanisms_and_scenes():
    assert len(MECHANISMS) == 27 and len(SCENES) == 17


@pytest.mark.parametrize("name", MECHANISMS + SCENES)
def test_info(command, name):
    m, info = pliant.gallery.build(name), command("info", name)
    assert [m.name, len(m.bodies), len(m.joints), m.freedoms, m.loops, m.effectors, m.radius, m.mass] == [
        info[key] for key in ("name", "bodies", "joints", "freedoms", "loops", "effectors", "radius", "mass")
    ]


@pytest.mark.parametrize("name", MECHANISMS + ["tray-carries", "hand-grasp"])
def test_equilibrium(command, name):
    m, statics = pliant.gallery.build(name), command("statics", name, "--scene-load")
    assert ("error" in statics) == (name in NOT_HELD)
    if name in NOT_HELD:
        with pytest.raises(pliant.SimulationError) as raised:
            m.equilibrium(scene_loads=True)
        assert str(raised.value) == statics["error"]
        return
    rest = m.equilibrium(scene_loads=True)
    same(rest.poses, bodies(m, statics))
    same(rest.positions, along(m, statics, "position"))
    same(rest.forces, along(m, statics, "force"))
    for effector, pose in statics["effectors"].items():
        same(rest.effectors[effector], [*pose["position"], *pose["quaternion"]])
    assert [rest.residual, rest.iterations] == [statics["residual"], statics["iterations"]]
    assert rest.friction_needed == statics.get("friction_needed")


@pytest.mark.parametrize("name", MECHANISMS)
@pytest.mark.parametrize("options", [[], ["--loaded"]], ids=["unloaded", "loaded"])
def test_compliance(command, name, options):
    m, answer = pliant.gallery.build(name), command("compliance", name, *options)
    assert ("error" in answer) == (name in NOT_HELD and bool(options))
    if "error" in answer:
        with pytest.raises(pliant.SimulationError) as raised:
            m.compliance(loaded=True)
        assert str(raised.value) == answer["error"]
        return
    same(m.compliance(loaded=bool(options)), answer["compliance"])


@pytest.mark.parametrize("engine", ["auto", "full", "articulated", "reduced", "linear"])
@pytest.mark.parametrize("name", ["arm", "hand", "helix:50", "ladder:12", "four-bar", "hexapod", "stewart", "dragged-arm", "windmill"])
def test_simulate(command, name, engine):
    m = pliant.gallery.build(name)
    options = ["--engine", engine, "--duration", 0.25, "--dt", 0.01, "--scene-load"]
    answer = command("simulate", name, *options)
    sim = m.simulate(engine, scene_loads=True)
    sim.run(0.25, 0.01)
    assert (sim.engine, sim.engine_why) == (answer["engine"], answer["engine_why"])
    same(sim.poses, bodies(m, answer))
    same(sim.positions, along(m, answer, "position"))
    same(sim.forces, along(m, answer, "force"))
    assert sim.violation == answer["violation"]


@pytest.mark.parametrize("name", SCENES)
def test_contact(command, name):
    m = pliant.gallery.build(name)
    answer = command("simulate", name, "--duration", 0.2, "--dt", 0.004)
    sim = m.simulate()
    sim.run(0.2, 0.004)
    same(sim.poses, bodies(m, answer))
    assert len(sim.contacts) == len(answer["contacts"])
    for own, contact in zip(sim.contacts, answer["contacts"], strict=True):
        assert (own["first"], own["second"], own["gap"]) == (contact["first"], contact["second"], contact["gap"])
        same(own["force"], contact["force"])
        same(own["point"], contact["point"])
        same(own["normal"], contact["normal"])


@pytest.mark.parametrize("name", ["humanoid-stands", "firefighters-catch"])
def test_linear_keeps_its_modes_where_things_touch(command, name):
    m, dt = pliant.gallery.build(name), 1 / 240
    answer = command("simulate", name, "--engine", "linear", "--duration", 0.5, "--dt", dt)
    assert answer["modes"] > 0 and answer["contacts"]
    kept, bare = m.simulate("linear"), m.simulate("linear", modes=0)
    kept.run(0.5, dt)
    bare.run(0.5, dt)
    same(kept.poses, bodies(m, answer))
    assert np.abs(kept.poses - bare.poses).max() > 1e-5


def test_options_are_those_of_the_command_line(command):
    m = pliant.gallery.arm()
    options = ["--load", "tip=1,2,-20,0.1,0.2,0.3", "--at", "arm2=0.3", "--gravity", "0,1,-3", "--spring", "tip=0.8,0,0.6,200"]
    statics = command("statics", "arm", *options)
    rest = m.equilibrium(
        loads={"tip": [1, 2, -20, 0.1, 0.2, 0.3]}, at={"arm2": 0.3}, gravity=[0, 1, -3], springs={"tip": [0.8, 0, 0.6, 200]}
    )
    same(rest.poses, bodies(m, statics))
    answer = command("compliance", "arm", "--effector", "arm5", "--at", "arm2=0.3", "--spring", "tip=0.8,0,0.6,200")
    same(m.compliance("arm5", at={"arm2": 0.3}, springs={"tip": [0.8, 0, 0.6, 200]}), answer["compliance"])


def test_incremental_compliance_and_its_warning(command):
    m, answer = pliant.gallery.graph(), command("compliance", "graph", "--method", "incremental")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        same(m.compliance(method="incremental"), answer["compliance"])
    assert answer["exact"] == (not caught)
