"""Real robots: equilibrium, compliance and linearization against finite differences and against MuJoCo. They are those of example-robot-data on PyPI, from the
cache that the tests in Rust fill; where that is empty, PLIANT_LONG=1 fetches them."""

import pickle
import warnings
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pytest

import pliant
from conftest import wheel
from test_linearization import off_the_compliance
from test_statics import difference

PACKAGE = "example-robot-data-5.0.0"
ROBOTS = [
    "panda_description/urdf/panda.urdf",
    "ur_description/urdf/ur5_robot.urdf",
    "ur_description/urdf/ur10_robot.urdf",
    "kinova_description/robots/kinova.urdf",
    "xarm_description/urdf/xarm7.urdf",
    "so_arm_description/urdf/so101.urdf",
    "allegro_hand_description/urdf/allegro_right_hand.urdf",
    "finger_edu_description/robots/finger_edu.urdf",
    "solo_description/robots/solo12.urdf",
    "anymal_b_simple_description/robots/anymal.urdf",
    "g1_description/urdf/g1_29dof_with_hand_rev_1_0.urdf",
    "icub_description/robots/icub.urdf",
]

#: Dry friction holds it, or fingers are at their limits, so that a step is not smooth.
NOT_SMOOTH = ["xarm_description/urdf/xarm7.urdf", "g1_description/urdf/g1_29dof_with_hand_rev_1_0.urdf"]

pytestmark = pytest.mark.filterwarnings("ignore::pliant.PliantWarning")


@pytest.fixture(scope="module")
def robots():
    return wheel(PACKAGE) / "cmeel.prefix" / "share" / "example-robot-data" / "robots"


def load(robots, name):
    if not (robots / name).is_file():
        pytest.fail(f"{name} is not in the package")
    return pliant.load(robots / name)


@pytest.mark.parametrize("name", ROBOTS, ids=lambda name: Path(name).stem)
def test_robots_pickle_with_what_was_said_of_them(robots, name):
    m = load(robots, name)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # what was said once is not said again
        again = pickle.loads(pickle.dumps(m))
    assert again == m and again.notes == m.notes and again.warnings == m.warnings and m.notes


@pytest.mark.parametrize("name", ROBOTS, ids=lambda name: Path(name).stem)
def test_compliance_is_the_derivative_of_the_equilibrium(robots, name):
    m = load(robots, name)
    assert difference(m, m.effectors[0], {"gravity": [0, 0, 0]}) < 2e-6


@pytest.mark.parametrize("name", ROBOTS, ids=lambda name: Path(name).stem)
def test_the_linearization_implies_the_compliance(robots, name):
    m = load(robots, name)
    rest = m.equilibrium()
    sim = m.simulate("articulated")
    sim.restore(rest.state)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        step = m.linearize(sim, 0.05)
    if name in NOT_SMOOTH:
        assert any("not smooth" in str(warning.message) for warning in caught)
        return
    assert not caught
    assert off_the_compliance(m, rest, step) < 1e-5


@pytest.mark.parametrize("name", ROBOTS, ids=lambda name: Path(name).stem)
def test_springs_hold_what_mujoco_says_gravity_takes(robots, name):
    """At rest the springs apply MuJoCo's bias force of that posture, whatever their stiffness."""
    mujoco = pytest.importorskip("mujoco")
    m = load(robots, name)
    tree = ElementTree.parse(robots / name).getroot()
    for link in tree.iter("link"):
        for shape in [*link.findall("visual"), *link.findall("collision")]:
            link.remove(shape)
    tree.append(ElementTree.fromstring('<mujoco><compiler fusestatic="false" balanceinertia="true" boundmass="1e-9" boundinertia="1e-9"/></mujoco>'))
    model = mujoco.MjModel.from_xml_string(ElementTree.tostring(tree, encoding="unicode"))
    data = mujoco.MjData(model)
    rest = m.equilibrium()
    held, joints = [], [model.joint(i).name for i in range(model.njnt)]
    assert len(joints) >= 2
    for joint in joints:
        assert m.joint(joint).kind in ("hinge", "prismatic")
        data.joint(joint).qpos[0] = rest.position(joint)[0]
        held.append(rest.forces[m.joint(joint).coordinates[0]])
    if tree.find("joint/mimic") is not None:
        pytest.skip("its couplings hold a part of it, which MuJoCo does not read")
    mujoco.mj_forward(model, data)
    # Equal but for the search's residual, and for masses that MuJoCo changes: it needs some.
    scale = max(np.abs(data.qfrc_bias).max(), 1e-6)
    np.testing.assert_allclose(held, data.qfrc_bias, atol=1e-6 * scale)
