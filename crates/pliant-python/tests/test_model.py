"""Reduced models: those of the command line to the last bit, with their files and pickles; builders."""

import pickle
import warnings

import numpy as np
import pytest

import pliant


def test_a_model_is_that_of_the_command_line(command, tmp_path):
    file = tmp_path / "helix.pliant"
    report = command("reduce", "helix:50", "-o", file)
    model = pliant.gallery.helix(50).reduce()
    assert model.within_bound and model.held_out <= 0.01
    for key, value in model.report.items():
        expected = report[key]
        assert value == (len(expected) if isinstance(expected, list) else expected), key
    again = pliant.load_model(file)
    assert again == model and again.mechanism == model.mechanism
    np.testing.assert_array_equal(again.columns, model.columns)
    own = tmp_path / "own.pliant"
    model.save(own)
    assert own.read_bytes() == file.read_bytes()


@pytest.mark.filterwarnings("ignore::pliant.PliantWarning")
def test_models_move_and_settle_as_the_command_line_has_them(command, tmp_path):
    file = tmp_path / "y.pliant"
    model = pliant.gallery.y().reduce()
    model.save(file)
    answer = command("simulate", file, "--duration", 0.25, "--dt", 0.01, "--scene-load")
    sim = model.simulate(scene_loads=True)
    assert sim.engine == "reduced"
    sim.run(0.25, 0.01)
    for name, pose in zip(model.mechanism.bodies, sim.poses, strict=True):
        assert pose.tolist() == [*answer["bodies"][name]["position"], *answer["bodies"][name]["quaternion"]]
    statics = command("statics", file, "--scene-load")
    rest = model.equilibrium(scene_loads=True)
    assert rest.estimate == statics["estimate"] and rest.residual == statics["residual"]
    for name, pose in zip(model.mechanism.bodies, rest.poses, strict=True):
        assert pose.tolist() == [*statics["bodies"][name]["position"], *statics["bodies"][name]["quaternion"]]


def test_a_pose_beyond_its_bound_is_a_warning_with_the_words_of_the_command_line(command, tmp_path):
    file = tmp_path / "helix.pliant"
    model = pliant.gallery.helix(50).reduce()
    model.save(file)
    for load, kind in [([0, 0, -3000], "beyond"), ([0, 0, -1e-3], None)]:
        statics = command("statics", file, "--load", "tip=" + ",".join(map(str, load)))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            rest = model.equilibrium(loads={"tip": load})
        assert kind in [measure["kind"] for measure in statics.get("measures", [{"kind": None}])]
        said = [text.replace("by `pliant reduce` with a larger `--displacement`", "for a larger displacement") for text in statics["warnings"]]
        assert rest.warnings == said == [str(one.message) for one in caught]


def test_the_error_is_what_it_says():
    m = pliant.gallery.helix(50)
    model = m.reduce(max_error=0.005)
    rng, worst = np.random.default_rng(3), 0.0
    for _ in range(10):
        load = {"tip": rng.standard_normal(3) * 30}
        exact, fast = m.equilibrium(loads=load), model.equilibrium(loads=load)
        worst = max(worst, np.linalg.norm(exact.poses[:, :3] - fast.poses[:, :3], axis=1).max() / m.radius)
    assert 0 < worst < 0.005


def test_models_pickle_and_are_refused_when_damaged(tmp_path):
    model = pliant.gallery.arm().reduce(max_error=0.05)
    again = pickle.loads(pickle.dumps(model))
    assert again == model and hash(again) == hash(model)
    file = tmp_path / "arm.pliant"
    model.save(file)
    data = bytearray(file.read_bytes())
    data[-1] ^= 1
    file.write_bytes(data)
    with pytest.raises(pliant.InputError, match="it is damaged"):
        pliant.load_model(file)
    with pytest.raises(pliant.FileError, match="extension is .pliant"):
        model.save(tmp_path / "arm.toml")


def test_a_bound_that_cannot_be_met_is_a_warning_or_every_motion():
    with pytest.raises(pliant.InputError, match="must be above zero"):
        pliant.gallery.arm().reduce(max_error=-1.0)
    model = pliant.gallery.two_link().reduce(max_error=1e-9)
    assert model.motions == model.freedoms and model.report["every"] == "few"


def test_a_builder_is_a_scene_file():
    b = pliant.Builder("pendulum on a spring")
    b.body("bob", position=[0, 0, -0.5], mass=0.2, inertia=np.array([1e-3, 1e-3, 1e-3])).shape("ball", radius=0.02)
    b.joint("pivot", kind="hinge", parent="world", child="bob", position=[0, 0, 0], axis=[0, 1, 0], stiffness=5.0, limits=[-1.5, 1.5])
    b.effector("tip", body="bob").load(effector="tip", force=[0.1, 0, 0])
    b.target(joint="pivot", time=[0, 1], position=[0, np.float64(0.3)])
    m = b.build()
    assert m.name == "pendulum on a spring" and m.mass == 0.2 and m.joint("pivot").stiffness == [5.0]
    assert pliant.parse(m.to_toml()) == m
    # m g l sin θ + k θ = F l cos θ + k θ₀ … at rest with F alone, small: θ = −F l / (k + m g l).
    angle = m.equilibrium(loads={"tip": [1e-3, 0, 0]}).positions[0]
    assert abs(angle) == pytest.approx(1e-3 * 0.5 / (5.0 + 0.2 * 9.81 * 0.5), rel=1e-6)


def test_a_builder_reports_all_errors():
    b = pliant.Builder("bad", gravity=[0, 0])
    b.body("a", mas=1.0)
    b.joint("j", kind="hing", parent="world", child="b")
    with pytest.raises(pliant.InputError) as raised:
        b.build()
    for what in ("mas", "hing", "gravity"):
        assert what in str(raised.value)
    with pytest.raises(TypeError, match="^mass: expected a number"):
        b.body("c", mass=object())
    with pytest.raises(ValueError, match="^shape: "):
        pliant.Builder().shape("ball", radius=1)
