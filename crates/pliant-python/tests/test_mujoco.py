"""Claims: a model that MuJoCo holds in memory is the mechanism that its arrays say, also after a change in memory: that of its file where it has
one, and one that MuJoCo itself reads back to the same arrays. Robots are those of PyPI, from the cache that the tests in Rust fill; where that is
empty, PLIANT_LONG=1 fetches them. A coupling to a body of MuJoCo takes from the one what it gives to the other."""

import pickle
import warnings

import numpy as np
import pytest

import pliant
from conftest import ROOT, wheel

mujoco = pytest.importorskip("mujoco")

from pliant._mjcf import Text, write_meshes  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::pliant.PliantWarning")

FILES = ROOT / "crates" / "pliant-io" / "tests" / "mjcf" / "files"
SMALL = sorted(path.name for path in FILES.glob("*.xml"))

#: Packages with MJCF files, and how many of these MuJoCo reads.
PACKAGES = {"mujoco-mjx-3.17.0": 30, "genesis-world-1.4.5": 40, "robosuite-1.5.2": 40}

#: MuJoCo locks a ball joint that is `limited` without a range, and the reader of files lets it go.
OTHERWISE = ["three_joint_link.xml"]

#: Arrays that a text must give back.
KEPT = (
    *("body_parentid", "body_mass", "body_ipos", "body_inertia", "body_pos", "body_quat", "jnt_type", "jnt_pos", "jnt_axis", "jnt_stiffness"),
    *("jnt_limited", "qpos0", "qpos_spring", "dof_damping", "dof_armature", "dof_frictionloss", "site_pos", "site_quat", "eq_type", "exclude_signature"),
    *("actuator_gear", "actuator_gainprm", "actuator_biasprm", "actuator_ctrlrange", "actuator_trnid", "actuator_trntype", "jnt_actfrcrange"),
)


def opened(path):
    """What MuJoCo makes of a file, if it reads it."""
    try:
        return mujoco.MjModel.from_xml_path(str(path))
    except ValueError:
        return None


def moves(m):
    return any(m.joint(name).kind != "fixed" for name in m.joints)


def compare(one, two, close=1e-9):
    """Two mechanisms are alike: bodies, joints and effectors by name, where they start, rest, and how soft they are."""
    for of in ("bodies", "joints", "effectors"):
        assert sorted(getattr(one, of)) == sorted(getattr(two, of)), of
    assert two.mass == pytest.approx(one.mass, rel=close)
    radius = max(one.radius, 1e-9)
    states = one.state(), two.state()
    for name in one.bodies:
        a, b = (state.pose(name) for state in states)
        np.testing.assert_allclose(a[:3], b[:3], atol=1e-9 * radius)
        assert abs(a[3:] @ b[3:]) > 1 - 1e-12
        a, b = one.body(name), two.body(name)
        assert (a.mass, a.free) == (pytest.approx(b.mass, rel=close, abs=close * one.mass), b.free)
        np.testing.assert_allclose(a.inertia, b.inertia, atol=max(close, 1e-9) * max(a.inertia.max(), 1e-12))
    for name in one.joints:
        a, b = one.joint(name), two.joint(name)
        assert (a.kind, a.parent, a.child) == (b.kind, b.parent, b.child)
        for of in ("stiffness", "damping", "lower", "upper", "rest"):
            np.testing.assert_allclose(getattr(a, of), getattr(b, of), rtol=max(close, 1e-9), atol=1e-9, err_msg=f"{name} {of}")
    np.testing.assert_array_equal(one.gravity, two.gravity)
    if not moves(one):
        return
    if one.effectors:
        Cs = []
        for m in (one, two):
            try:
                Cs.append(m.compliance(one.effectors[0]))
            except pliant.InputError as error:  # nothing holds it, or all does
                Cs.append(str(error))
        if isinstance(Cs[0], str):
            assert Cs[1] == Cs[0]
        else:
            np.testing.assert_allclose(Cs[1], Cs[0], atol=10 * close * np.abs(Cs[0]).max())
    if not (one.has_contact or one.loops):
        try:
            rest = one.equilibrium()
        except pliant.SimulationError:
            return
        again = two.equilibrium()
        for name in one.joints:
            np.testing.assert_allclose(again.position(name), rest.position(name), atol=100 * close * (1 + radius))


@pytest.mark.parametrize("name", SMALL)
def test_small_files(name):
    model = opened(FILES / name)
    if model is None:
        pytest.skip("MuJoCo does not read it")
    m = pliant.from_mujoco(model)
    assert m.mass == pytest.approx(model.body_mass[1:].sum(), rel=1e-12)
    compare(pliant.load(FILES / name), m)


def test_most_small_files_are_read():
    assert sum(opened(FILES / name) is not None for name in SMALL) >= 12


def of_meshes(model):
    """Whether inertias may be those of meshes: MuJoCo keeps their points in single precision."""
    return model.nmesh > 0


@pytest.mark.parametrize("package", PACKAGES)
def test_robots_are_those_of_their_files(package):
    read = 0
    for path in sorted(wheel(package).rglob("*.xml")):
        model = opened(path)
        if model is None or model.nbody == 1 or model.nflex:
            continue
        read += 1
        m = pliant.from_mujoco(model)
        # The reader gives mass to some that have none, and takes it from others.
        assert m.mass == pytest.approx(model.body_mass[1:].sum(), rel=1e-12), path
        try:
            text = pliant.load(path)
        except pliant.InputError:
            continue
        if path.name in OTHERWISE:
            continue
        try:
            compare(text, m, 1e-5 if of_meshes(model) else 1e-9)
        except AssertionError as error:
            raise AssertionError(f"{path}: {error}") from None
    assert read >= PACKAGES[package]


@pytest.mark.parametrize("name", SMALL)
def test_mujoco_reads_the_same_arrays_back(name, tmp_path):
    model = opened(FILES / name)
    if model is None or name == "left_out.xml":  # what is left out stands there as elements that only Pliant's reader takes
        pytest.skip("MuJoCo does not read it")
    text = Text(mujoco, model)
    written = text.write({i: str(file) for i, file in write_meshes(mujoco, model, tmp_path).items()})
    for section in ("deformable", "sensor", "extension"):
        start, end = f"<{section}>", f"</{section}>"
        if start in written:
            written = written[: written.index(start)] + written[written.index(end) + len(end) :]
    again = mujoco.MjModel.from_xml_string(written)
    for key in KEPT:
        a, b = getattr(model, key), getattr(again, key)
        assert a.shape == b.shape, key
        np.testing.assert_allclose(b, a, rtol=1e-12, atol=1e-12, err_msg=key)


ARM = """
<mujoco model="two">
  <worldbody>
    <body name="upper" pos="0 0 1">
      <joint name="shoulder" axis="0 1 0" stiffness="40" damping="4"/>
      <geom name="rod" type="capsule" fromto="0 0 0 0.4 0 0" size="0.03" mass="1.5" contype="0" conaffinity="0"/>
      <body name="lower" pos="0.4 0 0">
        <joint name="elbow" axis="0 1 0" stiffness="15" damping="2" range="-40 40"/>
        <geom type="box" size="0.15 0.02 0.05" pos="0.15 0.02 0" mass="0.6" contype="0" conaffinity="0"/>
        <geom type="mesh" mesh="wedge" pos="0.1 0 0" euler="10 20 30"/>
        <site name="tip" pos="0.3 0 0"/>
      </body>
    </body>
    <geom type="plane" size="1 1 1"/>
  </worldbody>
  <asset><mesh name="wedge" file="wedge.obj" scale="2 2 2"/></asset>
  <actuator><position joint="elbow" kp="3" kv="0.1"/></actuator>
  <keyframe><key name="home" qpos="0.1 0.2" ctrl="0.3"/></keyframe>
</mujoco>
"""
WEDGE = "v 0 0 0\nv 0.1 0 0\nv 0 0.1 0\nv 0 0 0.1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
FILE = {"wedge.obj": WEDGE.encode()}


@pytest.fixture
def arm():
    return mujoco.MjModel.from_xml_string(ARM, FILE)


def test_any_model_in_memory(arm, tmp_path):
    """Not only the one that was loaded last; a MjSpec gives the same."""
    m = pliant.from_mujoco(arm)
    mujoco.MjModel.from_xml_string(ARM.replace('mass="1.5"', 'mass="2"'), FILE)
    assert pliant.from_mujoco(arm) == m
    spec = mujoco.MjSpec.from_string(ARM)
    spec.assets = FILE
    assert pliant.from_mujoco(spec) == m
    (tmp_path / "wedge.obj").write_text(WEDGE)
    (tmp_path / "two.xml").write_text(ARM)
    compare(pliant.load(tmp_path / "two.xml"), m, 1e-6)
    assert m.name == "two" and m.has_contact
    for wrong in ("hand.xml", None, 3):
        with pytest.raises(TypeError, match="^model: expected a mujoco.MjModel"):
            pliant.from_mujoco(wrong)


CHANGES = {
    "body_mass": (lambda model: model.body_mass.__imul__(2), lambda m, n: n.mass == pytest.approx(2 * m.mass, rel=1e-12)),
    "jnt_stiffness": (
        lambda model: model.jnt_stiffness.__setitem__(0, 70.0),
        lambda m, n: n.joint("shoulder").stiffness[0] == 70.0 and n.joint("elbow").stiffness[0] == 18.0,
    ),
    "actuator": (
        lambda model: (model.actuator_gainprm.__setitem__((0, 0), 5.0), model.actuator_biasprm.__setitem__((0, 1), -5.0)),
        lambda m, n: n.joint("elbow").stiffness[0] == 20.0,
    ),
    "dof_damping": (lambda model: model.dof_damping.__setitem__(0, 0.7), lambda m, n: n.joint("shoulder").damping[0] == 0.7),
    "jnt_range": (lambda model: model.jnt_range.__setitem__(1, [-0.5, 0.9]), lambda m, n: n.joint("elbow").upper[0] == 0.9),
    "body_pos": (lambda model: model.body_pos.__setitem__(1, [0, 0, 3.0]), lambda m, n: abs(n.body("upper").pose[2] - 3) < 1e-12),
    "site_pos": (
        lambda model: model.site_pos.__setitem__(0, [0.3, 0.1, 0]),
        lambda m, n: abs(np.linalg.norm(n.state().pose("tip")[:3] - m.state().pose("tip")[:3]) - 0.1) < 1e-12,
    ),
    "key_qpos": (lambda model: model.key_qpos.__setitem__((0, 0), 0.4), lambda m, n: sorted(n.state().positions.round(15)) == [0.2, 0.4]),
    "qpos_spring": (lambda model: model.qpos_spring.__setitem__(0, -0.2), lambda m, n: n.joint("shoulder").rest[0] == -0.2),
    "gravity": (lambda model: model.opt.gravity.__setitem__(2, -1.6), lambda m, n: n.gravity[2] == -1.6),
    "contact": (
        lambda model: setattr(model.opt, "disableflags", int(mujoco.mjtDisableBit.mjDSBL_CONTACT)),
        lambda m, n: m.has_contact and not n.has_contact,
    ),
}


@pytest.mark.parametrize("what", CHANGES)
def test_a_model_that_was_changed_in_memory(arm, what):
    change, holds = CHANGES[what]
    before = pliant.from_mujoco(arm)
    change(arm)
    after = pliant.from_mujoco(arm)
    assert holds(before, after) and after != before


def test_a_changed_model_rests_where_mujoco_has_it(arm):
    arm.body_mass[:] *= 2
    arm.body_inertia[:] *= 2
    arm.jnt_stiffness[0] = 70.0
    arm.opt.disableflags = int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
    data = mujoco.MjData(arm)
    mujoco.mj_resetDataKeyframe(arm, data, 0)
    for _ in range(30_000):
        mujoco.mj_step(arm, data)
    assert np.abs(data.qvel).max() < 1e-9
    rest = pliant.from_mujoco(arm).equilibrium()
    found = [rest.position(name)[0] for name in ("shoulder", "elbow")]
    np.testing.assert_allclose(found, data.qpos, atol=1e-7)  # MuJoCo is at rest to 1e-9 rad/s
    mujoco.mj_forward(arm, data)
    np.testing.assert_allclose(rest.effectors["tip"][:3], data.site("tip").xpos, atol=1e-7)


def test_meshes_are_kept_or_written(arm, tmp_path):
    m = pliant.from_mujoco(arm)
    sim = m.simulate()
    sim.run(0.01, 0.005)
    again = pickle.loads(pickle.dumps(m))
    assert again == m and again.simulate().run(0.01, 0.005, record=["positions"])["positions"][-1].tobytes() == sim.positions.tobytes()
    kept = pliant.from_mujoco(arm, meshes=tmp_path / "meshes")
    assert [path.name for path in (tmp_path / "meshes").iterdir()] == ["wedge_0.stl"]
    kept.save(tmp_path / "arm.toml")
    loaded = pliant.load(tmp_path / "arm.toml")
    loaded.simulate().run(0.01, 0.005)
    assert loaded.to_toml() == kept.to_toml()
    assert m.warnings == [] and kept.warnings == []


FIELD = """<mujoco><asset><hfield name="f" nrow="2" ncol="3" size="1 2 0.5 0.1" elevation="0 1 2 3 4 5"/></asset>
<worldbody><geom type="hfield" hfield="f" pos="0 0 1"/><body name="ball" pos="0 0 3"><freejoint/><geom size="0.1"/></body></worldbody></mujoco>"""


def test_height_fields_that_do_not_begin_at_zero():
    """The height of a body that rests there, from its corner heights."""
    model = mujoco.MjModel.from_xml_string(FIELD)
    text = pliant.parse(FIELD, "mjcf").to_toml()
    assert pliant.from_mujoco(model).to_toml().split("[[body]]")[0].count("heights") == text.split("[[body]]")[0].count("heights")
    heights = {}
    for scale, shift in ((1.0, 0.0), (0.5, 0.25)):
        model.hfield_data[:] = scale * np.arange(6) / 5 + shift
        m = pliant.from_mujoco(model)
        sim = m.simulate()
        sim.set_gravity([0, 0, -9.81])
        toml = m.to_toml()
        heights[scale] = toml
    assert heights[1.0] != heights[0.5]
    model.hfield_data[:] = 0.6
    m = pliant.from_mujoco(model)
    sim = m.simulate()
    sim.run(2.0, 0.005)
    assert sim.pose("ball")[2] == pytest.approx(1 + 0.6 * 0.5 + 0.1, abs=2e-3)


def test_what_has_no_counterpart_is_named():
    text = """<mujoco><option viscosity="0.1"/><worldbody><body name="a"><joint name="b" type="ball" stiffness="1"/><geom size="0.1"/><site name="s"/></body>
    <body name="c" gravcomp="1"><joint name="d" stiffness="1 2 3" range="-1 1"/><geom size="0.1"/><site name="t" pos="0 0 1"/></body></worldbody>
    <tendon><spatial name="cable"><site site="s"/><site site="t"/></spatial></tendon>
    <actuator><motor joint="d"/></actuator><sensor><jointpos joint="d"/></sensor></mujoco>"""
    model = mujoco.MjModel.from_xml_string(text)
    model.dof_damping[:3] = [1, 2, 3]
    model.qpos_spring[:4] = [0.6, 0.8, 0, 0]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        m = pliant.from_mujoco(model)
    said = [str(warning.message) for warning in caught]
    for what in ("viscosity", "gravcomp", "linear part of `stiffness`", "<spatial>", "commands a force", "sensors", "damping is not the same", "turned in `qpos_spring`"):
        assert any(what in text for text in said), (what, said)
    assert sorted(m.warnings) == sorted(said)
    assert m.joint("b").damping.tolist() == [2.0] * 3


TWO = """
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
    model = mujoco.MjModel.from_xml_string(TWO)
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


BLOCKS = """<mujoco><option timestep="{dt}" gravity="0 0 0"/><worldbody><body name="block" pos="0.02 0.01 0" quat="0.98 0.1 0.1 0.05"><freejoint/>
<geom type="box" size="0.05 0.04 0.03" mass="0.3" contype="0" conaffinity="0"/></body></worldbody></mujoco>"""


def free_pair(dt, **strength):
    """A free body of Pliant and one of MuJoCo, apart and turned, at rest."""
    b = pliant.Builder("puck", gravity=[0, 0, 0]).body("puck", free=True, mass=0.2, inertia=[2e-4, 3e-4, 4e-4])
    b.effector("grip", body="puck", position=[0.03, 0.0, 0.01])
    sim = b.build().simulate("articulated")
    model = mujoco.MjModel.from_xml_string(BLOCKS.format(dt=dt))
    data = mujoco.MjData(model)
    return sim, model, data, pliant.couple_mujoco(sim, "grip", model, data, "block", **strength)


def momenta(sim, model, data):
    """Linear and angular about the origin, of both together and of Pliant's alone."""
    pose, twist = sim.poses[0], sim.twists[0]
    R = rotation(pose[3:])
    p = 0.2 * R @ twist[:3]
    L = np.cross(pose[:3], p) + R @ (np.diag([2e-4, 3e-4, 4e-4]) @ twist[3:])
    q, v = data.qpos, data.qvel
    Q = rotation(q[3:7])
    other = model.body_mass[1] * v[:3]
    inertial = rotation(model.body_iquat[1])
    spin = Q @ (inertial @ np.diag(model.body_inertia[1]) @ inertial.T) @ v[3:]
    return np.concatenate([p + other, L + np.cross(q[:3], other) + spin]), np.concatenate([p, L])


def rotation(quaternion):
    matrix = np.zeros(9)
    mujoco.mju_quat2Mat(matrix, np.ascontiguousarray(quaternion))
    return matrix.reshape(3, 3)


def test_a_coupling_gives_what_it_takes():
    """The wrench on the effector, and its opposite at the same point on the block, to rounding."""
    sim, model, data, coupling = free_pair(0.001, stiffness=200.0, damping=0.5, turning_stiffness=0.3, turning_damping=1e-3, at=[0.01, 0, 0.02])
    for _ in range(50):
        coupling.before()
        sim.step(0.001)
        coupling.after()
        force, torque = coupling.wrench[:3], coupling.wrench[3:]
        arm = sim.pose("grip")[:3] - data.xpos[1]
        turned = rotation(data.qpos[3:7])
        np.testing.assert_allclose(data.qfrc_applied[:3], -force, atol=1e-13)
        np.testing.assert_allclose(turned @ data.qfrc_applied[3:], -torque - np.cross(arm, force), atol=1e-13)
        mujoco.mj_step(model, data)
    assert np.abs(coupling.wrench).max() > 0.1
    coupling.remove()
    assert not data.qfrc_applied.any()
    sim.step(0.001)
    with pytest.raises(pliant.InputError):
        coupling.after()


def test_momentum_of_both_is_kept():
    """Of two bodies in space: what both have together stays where it was, the better the shorter the steps."""
    lost = []
    for dt in (2e-3, 1e-3, 5e-4):
        sim, model, data, coupling = free_pair(
            dt, stiffness=100.0, damping=0.3, turning_stiffness=0.3, turning_damping=3e-3, at=[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]
        )
        largest = worst = np.zeros(2)
        for _ in range(round(0.5 / dt)):
            coupling.step()
            both, own = momenta(sim, model, data)
            worst = np.maximum(worst, np.linalg.norm(both.reshape(2, 3), axis=1))
            largest = np.maximum(largest, np.linalg.norm(own.reshape(2, 3), axis=1))
        lost.append(worst / largest)
    assert (lost[2] < 0.3 * np.array(lost[0]) + 1e-9).all() and max(lost[2]) < 0.02, lost


PLATE = """<mujoco><option timestep="0.001" gravity="0 0 0"/><worldbody><body name="plate" pos="0 0 0.036">
<joint type="slide" axis="0 0 1" stiffness="50" damping="2"/><geom type="box" size="0.025 0.025 0.0025" mass="0.2"/></body></worldbody></mujoco>"""


def test_a_soft_pad_presses_on_a_body_of_mujoco():
    """By a body of Pliant's scene that has the shape of MuJoCo's: at rest the pad, the coupling and MuJoCo's spring have the same force."""
    b = pliant.Builder("pad", gravity=[0, 0, 0])
    b.body("finger", position=[0, 0, 0.05], mass=0.1, inertia=[1e-4] * 3).shape("box", size=[0.02, 0.02, 0.004])
    b.zone("pad", body="finger", kind="box", size=[0.02, 0.02, 0.01], position=[0, 0, -0.006], young=2e5, poisson=0.45, resolution=0.004)
    b.joint("slide", kind="prismatic", parent="world", child="finger", position=[0, 0, 0.05], axis=[0, 0, 1], stiffness=500.0, damping=5.0)
    b.body("plate", position=[0, 0, 0.036]).shape("box", size=[0.05, 0.05, 0.005], density=2000)
    b.joint("free", kind="bushing", parent="world", child="plate", position=[0, 0, 0.036])
    b.effector("tip", body="finger").world_shape("box", size=[0.01] * 3, position=[0, 0, -1])
    sim = b.build().simulate()
    model = mujoco.MjModel.from_xml_string(PLATE)
    data = mujoco.MjData(model)
    strength = {"stiffness": 2000.0, "damping": 5.0, "turning_stiffness": 1.0, "turning_damping": 0.01}
    coupling = pliant.couple_mujoco(sim, "plate", model, data, "plate", **strength)
    sim.set_target("slide", -0.02)
    for _ in range(2500):
        coupling.step()
    (zone,) = sim.zones
    assert zone["force"][2] > 0.5 and abs(data.qvel[0]) < 1e-9
    assert coupling.wrench[2] == pytest.approx(zone["force"][2], rel=1e-6)
    assert -50 * data.qpos[0] == pytest.approx(zone["force"][2], rel=1e-6)


def test_what_cannot_be_coupled():
    sim = pliant.gallery.two_link().simulate()
    model = mujoco.MjModel.from_xml_string(BLOCKS.format(dt=0.001))
    data = mujoco.MjData(model)
    with pytest.raises(KeyError):
        pliant.couple_mujoco(sim, "tip", model, data, "nothing", stiffness=1.0)
    for wrong in ({"stiffness": -1.0}, {"stiffness": 1.0, "damping": float("nan")}):
        with pytest.raises(pliant.InputError):
            pliant.couple_mujoco(sim, "tip", model, data, "block", **wrong)
    with pytest.raises(pliant.InputError):
        pliant.couple_mujoco(sim, "nowhere", model, data, "block", stiffness=1.0)
    with pytest.raises(ValueError, match="^at: expected a point"):
        pliant.couple_mujoco(sim, "tip", model, data, "block", stiffness=1.0, at=[1, 2])
