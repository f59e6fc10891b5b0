"""Equilibrium and compliance against what they mean: finite differences of one give the other, and closed forms."""

import pickle

import numpy as np
import pytest

import pliant

# Trees and loops of hinges, balls, slides and formulas that springs hold, each with an effector.
HELD = ["two-link", "arm", "y", "graph", "four-bar", "gripper", "hand", "stewart", "delta", "fin-ray", "chain", "helix:20", "ladder:12"]


def turned(a, b):
    """The rotation vector from one quaternion (w, x, y, z) to another."""
    w, x, y, z = a
    left = np.array([[w, x, y, z], [-x, w, z, -y], [-y, -z, w, x], [-z, y, -x, w]])
    q = left @ b
    return 2 * np.arctan2(np.linalg.norm(q[1:]), q[0]) * q[1:] / max(np.linalg.norm(q[1:]), 1e-300)


def matrix(q):
    w, x, y, z = q
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def difference(m, effector, still):
    """How far the compliance is from the differences of equilibria, over its largest entry, lengths over the radius."""
    C = m.compliance(effector)
    start = m.equilibrium(**still).effectors[effector]
    R = matrix(start[3:])
    # Steps that move by about 1e-4 radii: the error of a central difference is its square, and that of the search 1e-9.
    largest = np.abs(C[:3, :3]).max() / m.radius
    found = np.zeros((6, 6))
    for k in range(6):
        size = 1e-4 / largest * (1.0 if k < 3 else m.radius)
        load = np.zeros(6)
        load[k] = size
        world = np.concatenate([R @ load[:3], R @ load[3:]])
        there = [m.equilibrium(loads={effector: sign * world}, **still).effectors[effector] for sign in (1, -1)]
        linear = R.T @ (there[0][:3] - there[1][:3])
        angular = turned(start[3:], there[0][3:]) - turned(start[3:], there[1][3:])
        found[:, k] = np.concatenate([linear, angular]) / (2 * size)
    scale = np.diag([1 / m.radius] * 3 + [1.0] * 3)
    return np.abs(scale @ (C - found) @ scale).max() / np.abs(scale @ C @ scale).max()


@pytest.mark.parametrize("name", HELD)
def test_compliance_is_the_derivative_of_the_equilibrium(name):
    m = pliant.gallery.build(name)
    assert difference(m, m.effectors[0], {"gravity": [0, 0, 0]}) < 2e-6


def test_two_hinges_in_closed_form():
    m = pliant.gallery.two_link()
    # C = Σ J Jᵀ / k of each hinge, at the tip (1, 0, 0): hinges about z of 100 N·m/rad at x = 0 and x = 0.5.
    x = [m.joint(name).stiffness[0] for name in m.joints]
    assert x == [100.0, 100.0]
    C = m.compliance("tip")
    assert C[1, 1] == pytest.approx((1.0**2 + 0.5**2) / 100, rel=1e-12)
    assert C[5, 5] == pytest.approx(2 / 100, rel=1e-12)
    assert C[1, 5] == pytest.approx((1.0 + 0.5) / 100, rel=1e-12)
    rest = m.equilibrium(loads={"tip": [0, 0, 0, 0, 0, 10]})
    np.testing.assert_allclose(rest.positions, [0.1, 0.1], rtol=1e-9)
    np.testing.assert_allclose(rest.forces, [-10, -10], rtol=1e-9)


def test_forces_balance_the_loads():
    m = pliant.gallery.arm()
    rest = m.equilibrium(loads={"tip": [0, 0, -20]})
    k = np.concatenate([m.joint(name).stiffness for name in m.joints])
    np.testing.assert_allclose(rest.forces, -k * rest.positions, rtol=1e-12, atol=1e-12)
    assert rest.stable and rest.residual < 1e-6


def test_loads_on_bodies_and_postures():
    m = pliant.gallery.arm()
    bent = m.at({"arm2": 0.3})
    np.testing.assert_array_equal(bent.compliance("tip"), m.compliance("tip", at={"arm2": 0.3}))
    assert bent != m and m == pliant.gallery.arm()
    assert m.equilibrium(loads={"arm7": [0, 0, -20]}).effectors["tip"][2] < m.equilibrium().effectors["tip"][2]


def test_an_overloaded_mechanism_is_refused_with_the_text_of_the_command_line(said):
    m = pliant.gallery.arm()
    with pytest.raises(pliant.SimulationError) as raised:
        m.equilibrium(loads={"tip": [1e4, 1e4, 0, 1e5, 1e5, 1e5]})
    told = said("statics", "arm", "--load", "tip=1e4,1e4,0,1e5,1e5,1e5")
    # The command line names its own command, once.
    assert told.count("see how it moves with `pliant simulate`") == 1
    assert str(raised.value) == told.replace("see how it moves with `pliant simulate`", "simulate it to see how it moves")


@pytest.mark.filterwarnings("ignore::pliant.PliantWarning")
@pytest.mark.parametrize("name", ["arm", "four-bar", "hand-grasp", "helix:50"])
def test_equilibria_pickle(name):
    """To the last bit: of the full statics, of a rest on what it touches, of a model."""
    m = pliant.gallery.build(name)
    rests = [m.equilibrium()]
    if name == "helix:50":
        rests.append(m.reduce().equilibrium(loads={"tip": [0, 0, -30]}))
    if name == "arm":
        rests.append(m.equilibrium(loads={"tip": [0, 0, -200]}, springs={"tip": [0.5, 0, 0.5, 50.0]}, at={"arm2": 0.3}))
    for rest in rests:
        again = pickle.loads(pickle.dumps(rest))
        for key in ("positions", "forces", "poses"):
            one, two = getattr(rest, key), getattr(again, key)
            assert one.tobytes() == two.tobytes() and not two.flags.writeable
        assert list(again.effectors) == list(rest.effectors)
        assert all(again.effectors[key].tobytes() == rest.effectors[key].tobytes() for key in rest.effectors)
        for key in ("residual", "iterations", "stable", "friction_needed", "estimate", "warnings", "state"):
            assert getattr(again, key) == getattr(rest, key), key
        assert repr(again) == repr(rest) and again._repr_html_() == rest._repr_html_()
    function, (state, effectors, *others) = rests[0].__reduce__()
    with pytest.raises(pliant.InputError, match="^effectors:"):
        function(state, [*effectors, effectors[0]], *others)


def settled(load):
    return pliant.gallery.arm().equilibrium(loads={"tip": [0, 0, load]})


def test_a_sweep_in_processes_gives_equilibria():
    (_, here), *_ = pliant.sweep(settled, {"load": [-5.0]})
    (_, there), *_ = pliant.sweep(settled, {"load": [-5.0]}, on="processes", workers=1)
    assert here.positions.tobytes() == there.positions.tobytes() and here.state == there.state
