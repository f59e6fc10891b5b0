"""Pliant next to others: MuJoCo's models, Gymnasium's environments, parameter studies in processes and on Ray, notebooks."""

import concurrent.futures
import concurrent.futures.process
import os
import signal
import sys
import warnings
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pytest

import pliant

MJCF = """
<mujoco model="two">
  <option gravity="0 0 -9.81"/>
  <worldbody>
    <body name="upper" pos="0 0 1">
      <joint name="shoulder" type="hinge" axis="0 1 0" stiffness="40" damping="4"/>
      <geom type="capsule" fromto="0 0 0 0.4 0 0" size="0.03" mass="1.5" contype="0" conaffinity="0"/>
      <body name="lower" pos="0.4 0 0">
        <joint name="elbow" type="hinge" axis="0 1 0" stiffness="15" damping="2"/>
        <joint name="twist" type="hinge" axis="1 0 0" stiffness="5" damping="1"/>
        <geom type="box" size="0.15 0.02 0.05" pos="0.15 0.02 0" mass="0.6" contype="0" conaffinity="0"/>
        <site name="tip" pos="0.3 0 0"/>
      </body>
    </body>
  </worldbody>
</mujoco>
"""


def test_a_model_of_mujoco_rests_where_mujoco_has_it():
    mujoco = pytest.importorskip("mujoco")
    model = mujoco.MjModel.from_xml_string(MJCF)
    m = pliant.from_mujoco(model)
    assert set(m.bodies) >= {"upper", "lower"}
    assert m.mass == pytest.approx(model.body_mass.sum(), rel=1e-6)
    data = mujoco.MjData(model)
    model.opt.timestep = 0.002
    for _ in range(20_000):
        mujoco.mj_step(model, data)
    assert np.abs(data.qvel).max() < 1e-9
    rest = m.equilibrium()
    found = [*rest.position("shoulder"), *rest.position("elbow+twist")]  # two hinges of a body are one joint
    # MuJoCo has come to rest to 1e-9 rad/s; its text has six digits.
    np.testing.assert_allclose(found, data.qpos, atol=2e-6)
    np.testing.assert_allclose(rest.effectors["tip"][:3], data.site("tip").xpos, atol=2e-6)


def test_specs_and_other_models():
    mujoco = pytest.importorskip("mujoco")
    spec = mujoco.MjSpec.from_string(MJCF)
    first = mujoco.MjModel.from_xml_string(MJCF)
    assert set(pliant.from_mujoco(spec).joints) >= {"shoulder", "elbow+twist"}
    mujoco.MjModel.from_xml_string(MJCF.replace('"elbow"', '"other"').replace('mass="0.6"', 'mass="0.7"'))
    with pytest.raises(pliant.InputError, match="the model that was loaded last"):
        pliant.from_mujoco(first)
    with pytest.raises(TypeError, match="^model: expected a mujoco.MjModel"):
        pliant.from_mujoco("hand.xml")


WITH_MESH = MJCF.replace("<worldbody>", '<asset><mesh name="wedge" file="wedge.obj" scale="2 2 2"/></asset><worldbody>').replace(
    '<site name="tip"', '<geom type="mesh" mesh="wedge" pos="0.1 0 0" euler="10 20 30" contype="0" conaffinity="0"/><site name="tip"'
)
WEDGE = "v 0 0 0\nv 0.1 0 0\nv 0 0.1 0\nv 0 0 0.1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('mass="0.6"', 'mass="0.601"'),
        ('stiffness="15"', 'stiffness="15.02"'),
        ('damping="2"', 'damping="2.01"'),
        ('<body name="lower" pos="0.4 0 0">', '<body name="lower" pos="0.4 0.001 0">'),
        ('name="elbow" type="hinge" axis="0 1 0"', 'name="elbow" type="hinge" axis="0 1 0.01"'),
        ('name="elbow" type="hinge"', 'name="elbow" type="hinge" range="-40 41"'),
        ('size="0.15 0.02 0.05"', 'size="0.15 0.02 0.051"'),
        ('<site name="tip" pos="0.3 0 0"/>', '<site name="tip" pos="0.3 0 0.001"/>'),
    ],
)
@pytest.mark.parametrize("files", [False, True], ids=["alone", "with-files"])
def test_a_model_of_the_same_parts_was_loaded_since(tmp_path, old, new, files):
    """MuJoCo writes the numbers of a model into the text that it has: the mechanism is that of the model, or it is refused."""
    mujoco = pytest.importorskip("mujoco")
    text, assets = (WITH_MESH, {"wedge.obj": WEDGE.encode()}) if files else (MJCF, {})
    (tmp_path / "wedge.obj").write_text(WEDGE)
    first = mujoco.MjModel.from_xml_string(text, assets)
    m = pliant.from_mujoco(first, tmp_path / "two.xml")
    assert m.mass == pytest.approx(first.body_mass.sum(), rel=1e-5)
    assert old in text
    other = mujoco.MjModel.from_xml_string(text.replace(old, new), assets)
    assert other.nbody == first.nbody
    try:
        again = pliant.from_mujoco(first, tmp_path / "two.xml")
    except pliant.InputError as error:
        assert "the model that was loaded last" in str(error)
        return
    for name in m.bodies:
        one, two = m.body(name), again.body(name)
        np.testing.assert_allclose([two.mass, *two.pose, *two.center_of_mass], [one.mass, *one.pose, *one.center_of_mass], rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(two.inertia, one.inertia, rtol=1e-4, atol=1e-5 * one.inertia.max())
    for name in m.joints:
        one, two = m.joint(name), again.joint(name)
        for of in ("stiffness", "damping", "lower", "upper", "rest"):
            np.testing.assert_allclose(getattr(two, of), getattr(one, of), rtol=1e-5)
    np.testing.assert_allclose(again.compliance(), m.compliance(), rtol=1e-4, atol=1e-5 * np.abs(m.compliance()).max())


@pytest.mark.parametrize(
    ("old", "new"), [('scale="2 2 2"', 'scale="2 2 2.01"'), ('name="elbow"', 'name="elbov"'), ('type="mesh" mesh="wedge"', 'type="box" size=".1 .1 .1"')]
)
def test_another_model_cannot_pass_where_files_are_not_at_hand(tmp_path, old, new):
    mujoco = pytest.importorskip("mujoco")
    assets = {"wedge.obj": WEDGE.encode()}
    first = mujoco.MjModel.from_xml_string(WITH_MESH, assets)
    assert old in WITH_MESH
    other = mujoco.MjModel.from_xml_string(WITH_MESH.replace(old, new), assets)
    assert other.nbody == first.nbody
    with pytest.raises(pliant.InputError, match="the model that was loaded last"):
        pliant.from_mujoco(first, tmp_path / "two.xml")


def test_the_environment_is_one_of_gymnasium():
    gymnasium = pytest.importorskip("gymnasium")
    from gymnasium.utils.env_checker import check_env

    import pliant.gym

    env = gymnasium.make("pliant/Reach-v0").unwrapped
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*infinity.*")  # positions have no bounds
        check_env(env, skip_render_check=True)
    observations = []
    for _ in range(2):
        first, _ = env.reset(seed=5)
        actions = np.random.default_rng(6).uniform(-1, 1, (5, *env.action_space.shape)).astype(np.float32)
        observations.append(np.concatenate([first, *(env.step(action)[0] for action in actions)]))
    assert observations[0].tobytes() == observations[1].tobytes()
    assert isinstance(env, pliant.gym.Reach)


def test_the_vector_is_its_environments():
    pytest.importorskip("gymnasium")
    import pliant.gym

    many = pliant.gym.ReachVector(5, horizon=6)
    ones = [pliant.gym.Reach(horizon=6) for _ in range(5)]
    observations, _ = many.reset(seed=11)
    assert many.observation_space.contains(observations)
    np.testing.assert_array_equal(observations[:, -3:], [one.reset(seed=11 + i)[0][-3:] for i, one in enumerate(ones)])
    rng = np.random.default_rng(2)
    for step in range(6):
        actions = rng.uniform(-1, 1, many.action_space.shape).astype(np.float32)
        found, rewards, terminated, truncated, infos = many.step(actions)
        assert ("final_obs" in infos) == (step == 5)
        last = np.stack(infos["final_obs"]) if step == 5 else found
        for i, one in enumerate(ones):
            observation, reward, _, ends, _ = one.step(actions[i])
            # The tip's place rounds otherwise where the chain is placed as a whole.
            np.testing.assert_array_equal(last[i][:-6], observation[:-6])
            np.testing.assert_allclose(last[i], observation, rtol=0, atol=1e-14)
            assert rewards[i] == pytest.approx(reward, abs=1e-13) and truncated[i] == ends and not terminated[i]
    assert truncated.all() and not np.allclose(found, last)
    assert infos["_final_obs"].all() and infos["_final_info"].all() and infos["final_info"]["_distance"].all()
    np.testing.assert_array_equal(infos["final_info"]["distance"], np.linalg.norm(last[:, -6:-3] - last[:, -3:], axis=1))
    np.testing.assert_array_equal(infos["distance"], np.linalg.norm(found[:, -6:-3] - found[:, -3:], axis=1))


def test_a_motion_that_fails_ends_its_own_episode():
    pytest.importorskip("gymnasium")
    import pliant.gym

    many = pliant.gym.ReachVector(4, horizon=5)
    first, _ = many.reset(seed=3)
    actions = np.zeros(many.action_space.shape, dtype=np.float32)
    actions[2] = np.nan
    with pytest.raises(pliant.InputError, match="^controls: NaN is not finite"):
        many.step(actions)
    actions[2] = 0.0
    many.step(actions)
    # One is about to fly apart: no action does that by itself.
    m, n = many.one.mechanism, len(many.one.mechanism.coordinates)
    many._states[2] = m.state(velocities=np.full(n, 1e200))
    before = many._observation()[2]
    found, rewards, terminated, truncated, infos = many.step(actions)
    assert terminated.tolist() == [False, False, True, False] and not truncated.any() and np.isfinite(found).all() and np.isfinite(rewards).all()
    assert infos["_final_obs"].tolist() == terminated.tolist() and infos["final_obs"][0] is None
    np.testing.assert_array_equal(infos["final_obs"][2], before)
    np.testing.assert_array_equal(found[2][: 2 * n], first[2][: 2 * n])
    assert not np.array_equal(found[2][-3:], first[2][-3:])  # another goal
    ends = [many.step(actions)[3].tolist() for _ in range(5)]
    # The others were two steps ahead.
    assert ends == [[False] * 4, [False] * 4, [True, True, False, True], [False] * 4, [False, False, True, False]]


def test_goals_do_not_depend_on_threads_and_some_can_restart():
    pytest.importorskip("gymnasium")
    import pliant.gym

    goals = []
    for threads in (1, 3):
        many = pliant.gym.ReachVector(7, threads=threads)
        observations, _ = many.reset(seed=[4, 5, 6, 7, 8, 9, 10])
        goals.append(observations[:, -3:])
    np.testing.assert_array_equal(goals[0], goals[1])
    np.testing.assert_array_equal(goals[0][2], pliant.gym.Reach().reset(seed=6)[0][-3:])
    mask = np.array([True, False, False, False, False, False, True])
    again, infos = many.reset(seed=[11] * 7, options={"reset_mask": mask})
    np.testing.assert_array_equal(again[1:6, -3:], goals[1][1:6])
    np.testing.assert_array_equal(again[0, -3:], pliant.gym.Reach().reset(seed=11)[0][-3:])
    assert infos["_distance"].tolist() == mask.tolist()
    with pytest.raises(pliant.InputError, match="^seed: expected one for each of 7"):
        many.reset(seed=[1, 2])


def test_a_search_improves_the_reward():
    """The cross-entropy method on set-points that stay: from random ones to a tenth of the distance, on a goal that can be reached."""
    pytest.importorskip("gymnasium")
    import pliant.gym

    env = pliant.gym.ReachVector(64, horizon=10)
    rng = np.random.default_rng(4)
    mean, spread = np.zeros(env.single_action_space.shape), 0.5
    means = []
    for _ in range(8):
        env.reset(seed=[9] * 64)
        actions = np.clip(mean + spread * rng.standard_normal((64, len(mean))), -1, 1)
        for _ in range(9):
            _, rewards, *_ = env.step(actions)
        means.append(rewards.mean())
        best = actions[np.argsort(rewards)[-8:]]
        mean, spread = best.mean(axis=0), best.std(axis=0)
    assert means[-1] > 0.3 * means[0], means


def test_goals_can_be_reached():
    pytest.importorskip("gymnasium")
    import pliant.gym

    env = pliant.gym.Reach(horizon=200)
    env.reset(seed=3)
    # The set-points that the goal was made of: the same draw again.
    again = np.random.Generator(np.random.PCG64(3))
    action = again.uniform(-0.5, 0.5, env.action_space.shape)
    distances = []
    for _ in range(env.horizon):
        _, reward, terminated, truncated, info = env.step(action)
        distances.append(info["distance"])
        assert reward == -info["distance"] / env.mechanism.radius and not terminated
    assert truncated
    assert distances[-1] < 1e-3 * env.mechanism.radius < distances[0]


def tip(stiffness, load):
    m = pliant.gallery.two_link()
    sim = m.simulate("full", loads={"tip": [0, load, 0]})
    sim.set_stiffness("elbow", stiffness)
    sim.settle()
    return sim.pose("tip").tolist()


GRID = {"stiffness": [50.0, 100.0, 200.0], "load": [1.0, 5.0]}


def test_an_environment_without_goals_or_effectors_says_so():
    gym = pytest.importorskip("pliant.gym")
    with pytest.raises(pliant.SimulationError, match="^no goal was found: under none of 100 random set-points"):
        gym.Reach(pliant.gallery.hexapod()).reset(seed=1)
    bare = pliant.Builder("bare").body("bob", mass=1, inertia=[1, 1, 1])
    bare.joint("pivot", kind="hinge", parent="world", child="bob", stiffness=5.0)
    with pytest.raises(pliant.InputError, match="^effector: the mechanism has none of its own"):
        gym.Reach(bare.build())
    assert gym.Reach(bare.build(), "bob").effector == "bob"


def test_keys_of_a_builder_are_keys():
    made = pliant.Builder().body("a", **{"free": True, "mass = 1\n[[body]]\nname": "another"})
    with pytest.raises(pliant.InputError, match="unknown key"):
        made.build()


def test_what_linear_models_leave_out_is_a_warning():
    with pytest.warns(pliant.PliantWarning, match="^loads and gravity change the stiffness by [0-9]+ %"):
        pliant.gallery.helix(100).simulate("linear", scene_loads=True)
    sim = pliant.gallery.arm().simulate("linear", gravity=[0, 0, 0])
    sim.set_load("tip", [0, 0, -2000])
    with pytest.warns(pliant.PliantWarning, match="the error of the linear model of `linear` grows with the square"):
        sim.run(0.5, 0.01)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sim = pliant.gallery.arm().simulate("linear", gravity=[0, 0, 0])
        sim.set_load("tip", [0, 0, -1])
        sim.run(0.5, 0.01)


FINGER = """
[[body]]
name = "upper"
position = [0.4, 0, 0]
mass = 1.0
inertia = [0.01, 0.01, 0.01]
[[body.shape]]
kind = "ball"
radius = 0.05
[[joint]]
name = "to upper"
kind = "hinge"
parent = "world"
child = "upper"
axis = [0, 1, 0]
stiffness = 20.0
damping = 5.0
[[body]]
name = "lower"
position = [0.8, 0, 0]
mass = 1.0
inertia = [0.01, 0.01, 0.01]
[[body.shape]]
kind = "ball"
radius = 0.05
[[joint]]
name = "to lower"
kind = "hinge"
parent = "upper"
child = "lower"
position = [0.5, 0, 0]
axis = [0, 1, 0]
stiffness = 20.0
damping = 5.0
[[effector]]
name = "tip"
body = "lower"
[[world.shape]]
kind = "box"
size = [0.6, 4, 1]
position = [0.3, 0, -0.6]
"""


def test_bodies_that_an_engine_does_not_touch_with_are_a_warning():
    finger = pliant.parse(FINGER)
    with pytest.warns(pliant.PliantWarning, match="`upper` carries no effector, and the engine `linear` touches only with bodies that do"):
        finger.simulate("linear").run(3.0, 0.01)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*carries no effector")
        finger.simulate("articulated").run(3.0, 0.01)


def test_a_sweep_in_processes_is_that_here():
    here = pliant.sweep(tip, GRID)
    assert [point for point, _ in here][1] == {"stiffness": 50.0, "load": 5.0} and len(here) == 6
    assert pliant.sweep(tip, GRID, on="processes", workers=2) == here
    assert pliant.sweep(tip, [point for point, _ in here]) == here
    with pytest.raises(ValueError, match="^on: expected"):
        pliant.sweep(tip, GRID, on="cloud")


def dies_once(folder, k):
    mark = Path(folder) / f"died-{k}"
    if k == 1 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return pliant.gallery.chain(3).equilibrium().positions.tolist(), k


def test_a_killed_worker_loses_nothing_but_time(tmp_path):
    points = [{"folder": str(tmp_path), "k": k} for k in range(4)]
    found = pliant.sweep(dies_once, points, on="processes", workers=2)
    assert (tmp_path / "died-1").exists()
    assert [result for _, result in found] == [dies_once(str(tmp_path), k) for k in range(4)]


def dies_once_each(folder, k):
    mark = Path(folder) / f"died-{k}"
    if not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return k


def test_every_point_may_be_begun_again(tmp_path):
    """More kills than one point may have, but each has one of them."""
    points = [{"folder": str(tmp_path), "k": k} for k in range(6)]
    found = pliant.sweep(dies_once_each, points, on="processes", workers=1)
    assert [result for _, result in found] == list(range(6)) and len(list(tmp_path.glob("died-*"))) == 6


def always_dies(k):
    if k == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return k


def test_a_point_that_always_kills_its_worker_is_named():
    with pytest.raises(concurrent.futures.process.BrokenProcessPool, match=r"killed 4 times at the point \{'k': 1\}"):
        pliant.sweep(always_dies, {"k": [0, 1, 2]}, on="processes", workers=1)


def test_a_pool_that_breaks_while_points_are_submitted(monkeypatch):
    pools = []

    class Breaking(concurrent.futures.ProcessPoolExecutor):
        def __init__(self, *arguments):
            super().__init__(*arguments)
            pools.append(self)

        def submit(self, function, **point):
            if len(pools) == 1 and point["load"] == 5.0:
                raise concurrent.futures.process.BrokenProcessPool("a worker was killed")
            return super().submit(function, **point)

    monkeypatch.setattr(concurrent.futures, "ProcessPoolExecutor", Breaking)
    assert pliant.sweep(tip, GRID, on="processes", workers=2) == pliant.sweep(tip, GRID)
    assert len(pools) == 2


def test_without_ray_processes_take_its_place(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.warns(pliant.PliantWarning, match="^on: Ray is not installed"):
        found = pliant.sweep(tip, GRID, on="ray", workers=2)
    assert found == pliant.sweep(tip, GRID)


def fails(k):
    raise ValueError(f"not {k}")


def test_an_error_of_the_function_ends_a_sweep():
    for on in (None, "processes"):
        with pytest.raises(ValueError, match="not 1"):
            pliant.sweep(fails, {"k": [1, 2]}, on=on)


def test_ray_gives_the_same():
    if not os.environ.get("PLIANT_LONG"):
        pytest.skip("two nodes of Ray take a while: PLIANT_LONG=1 runs them")
    ray = pytest.importorskip("ray")
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    try:
        node = cluster.add_node(num_cpus=1)
        ray.init(address=cluster.address)
        ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])  # workers do not find this file
        here = pliant.sweep(tip, GRID)
        assert pliant.sweep(tip, GRID, on="ray") == here
        cluster.remove_node(node, allow_graceful=False)
        assert pliant.sweep(tip, GRID, on="ray") == here
    finally:
        ray.shutdown()
        cluster.shutdown()


@pytest.mark.parametrize("name", ["arm", "hand", "hexapod", "gripper-pick", "four-bar", "helix:100"])
def test_things_show_themselves(name):
    m = pliant.gallery.build(name)
    sim = m.simulate()
    sim.run(0.02, 0.01)
    shown = [m._repr_html_(), sim._repr_html_()]
    if name not in ("hexapod", "gripper-pick"):
        shown.append(m.equilibrium()._repr_html_())
    for page in shown:
        svg = page[: page.index("</svg>") + 6]
        lines = ElementTree.fromstring(svg)
        assert len(lines) >= len(m.bodies)
        ElementTree.fromstring(page[page.index("</svg>") + 6 :])
        assert "nan" not in svg
    assert sim.mechanism == m
