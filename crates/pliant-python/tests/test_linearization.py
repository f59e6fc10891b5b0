"""The linearization of a step: closed form of an oscillator, differences taken here, the compliance that it implies, closed loops."""

import pickle

import numpy as np
import pytest

import pliant
from test_statics import matrix


def oscillator(mass, stiffness, damping):
    b = pliant.Builder("oscillator", gravity=[0, 0, 0])
    b.body("mass", mass=mass, inertia=[1.0, 1.0, 1.0])
    b.joint("slide", kind="prismatic", parent="world", child="mass", axis=[1, 0, 0], stiffness=stiffness, damping=damping)
    b.effector("tip", body="mass")
    return b.build()


def test_an_oscillator_in_closed_form():
    m, k, d, dt = 2.0, 300.0, 4.0, 0.01
    step = oscillator(m, k, d).linearize(None, dt)
    # Implicit Euler: m (v' − v) = −dt (k (q + dt v') + d v'), q' = q + dt v'.
    D = m + dt * d + dt * dt * k
    A = np.array([[1 - dt * dt * k / D, dt * m / D], [-dt * k / D, m / D]])
    np.testing.assert_allclose(step.A, A, rtol=0, atol=1e-10 * np.abs(A).max())
    np.testing.assert_allclose(step.B, [[dt * dt * k / D], [dt * k / D]], rtol=1e-9)
    np.testing.assert_allclose(step.B_loads[:, 0], [dt * dt / D, dt / D], rtol=1e-9)
    np.testing.assert_allclose(step.C[:3], [[1, 0], [0, 0], [0, 0]], atol=1e-11)


TREES = ["two-link", "arm", "y", "hand", "chain", "helix:12", "torus-chain:2", "surface-slide"]


@pytest.mark.parametrize("name", TREES)
def test_it_is_the_difference_of_steps(name):
    m, dt = pliant.gallery.build(name), 0.005
    n = len(m.coordinates)
    sim = m.simulate("articulated")
    sim.run(0.05, dt)
    q, v = sim.positions, sim.velocities
    step = m.linearize(m.state(q, v), dt)
    rng = np.random.default_rng(1)

    def after(dq, dv):
        other = sim.copy()
        other.restore(m.state(q + dq, v + dv))
        other.step(dt)
        return np.concatenate([other.positions, other.velocities * dt])

    for _ in range(4):
        # Two points along a random direction: the error is the square of its length, of terms of order one.
        direction = rng.standard_normal(2 * n)
        dq, dv = 1e-5 * direction[:n], 1e-5 * direction[n:] / dt
        found = (after(dq, dv) - after(-dq, -dv)) / 2
        x = step.A @ np.concatenate([dq, dv])
        expected = np.concatenate([x[:n], x[n:] * dt])
        np.testing.assert_allclose(found, expected, atol=3e-8 * np.abs(expected).max())


def off_the_compliance(m, rest, step):
    """How far C (1 − A)⁻¹ B_w is from the compliance under load, relative to it, with the radius as the unit of length."""
    effector = m.effectors[0]
    R = matrix(rest.effectors[effector][3:])
    R = np.block([[R, np.zeros((3, 3))], [np.zeros((3, 3)), R]])
    x = np.linalg.solve(np.eye(len(step.A)) - step.A, step.B_loads)
    implied = R.T @ (step.C @ x)[:6, :6] @ R
    C = m.compliance(effector, loaded=True)
    scale = np.diag([1 / m.radius] * 3 + [1.0] * 3)
    return np.abs(scale @ (implied - C) @ scale).max() / np.abs(scale @ C @ scale).max()


@pytest.mark.parametrize("name", ["two-link", "arm", "y", "chain", "helix:12"])
def test_it_implies_the_compliance(name):
    """At rest x = A x + B_w w, so that C (1 − A)⁻¹ B_w is the compliance under load, which the statics find in another way."""
    m = pliant.gallery.build(name)
    rest = m.equilibrium(scene_loads=True)
    sim = m.simulate("articulated", scene_loads=True)
    sim.restore(rest.state)
    step = m.linearize(sim, 0.05)
    # (1 − A) has the smallness of the softest motion in a step: rounding of 1e-12 grows by about 1e4. An implicit step keeps the geometric
    # stiffness of loads out of its matrix only, not out of its result.
    assert off_the_compliance(m, rest, step) < 1e-6


@pytest.mark.parametrize("name", ["two-link", "arm", "chain"])
def test_about_a_motion_it_is_right_to_first_order(name):
    """Of two motions that set-points a little apart have led to; the engine carries the momenta of links too, whose part is of order dt."""
    m = pliant.gallery.build(name)
    n = len(m.coordinates)

    def error(dt):
        def moved(by):
            sim = m.simulate("articulated")
            sim.set_targets(np.full(n, 0.2 + by))
            sim.run(0.1, dt)
            return sim

        here, there = moved(0.0), moved(1e-6)
        step = m.linearize(here, dt)
        x = np.concatenate([there.positions - here.positions, there.velocities - here.velocities])
        u = np.full(n, 1e-6)
        here.step(dt)
        there.step(dt)
        found = np.concatenate([there.positions - here.positions, there.velocities - here.velocities])
        scale = np.concatenate([np.ones(n), np.full(n, dt)])
        return np.abs((found - step.A @ x - step.B @ u) * scale).max() / np.abs(found * scale).max()

    errors = [error(dt) for dt in (0.004, 0.002, 0.001)]
    assert errors[0] < 2e-2 and errors[2] < 0.6 * errors[0], errors


@pytest.mark.parametrize("name", ["four-bar", "gripper", "delta", "fin-ray"])
def test_loops_along_motions_that_keep_them_closed(name):
    """Two motions that set-points a little apart have led to: their difference is one that the loops allow."""
    m, dt = pliant.gallery.build(name), 0.005
    sprung = next(j for j in m.joints if (m.joint(j).stiffness > 0).any())
    rest = m.joint(sprung).rest

    def moved(by):
        sim = m.simulate("articulated")
        sim.set_target(sprung, rest + by)
        sim.run(0.1, dt)
        sim.set_target(sprung, rest)
        return sim

    here, there = moved(0.0), moved(1e-5)
    step = m.linearize(here, dt)
    x = np.concatenate([there.positions - here.positions, there.velocities - here.velocities])
    here.step(dt)
    there.step(dt)
    n = len(m.coordinates)
    expected = step.A @ x
    tree = np.abs(step.A).max(axis=1)[:n] > 0  # coordinates of loop joints follow from the others
    assert tree.any() and np.abs(x).max() > 1e-9
    found = np.concatenate([there.positions - here.positions, there.velocities - here.velocities])
    scale = np.concatenate([np.ones(n), np.full(n, dt)])
    error = np.abs((found - expected) * scale).max() / np.abs(found * scale).max()
    assert error < 1e-3, error


def test_set_points_move_it_as_B_says():
    m, dt = pliant.gallery.arm(), 0.01
    sim = m.simulate("articulated")
    step = m.linearize(sim, dt)
    ends = []
    for by in (1e-4, -1e-4):
        other = sim.copy()
        other.set_target("arm3", by)
        other.step(dt)
        ends.append(other)
    k = m.joint("arm3").coordinates[0]
    np.testing.assert_allclose(step.B[:20, k], (ends[0].positions - ends[1].positions) / 2e-4, atol=1e-9)
    np.testing.assert_allclose(step.B[20:, k], (ends[0].velocities - ends[1].velocities) / 2e-4, atol=1e-7)


def test_what_cannot_be_linearized_is_refused_or_warned_of():
    with pytest.raises(pliant.InputError, match="free body `base`"):
        pliant.gallery.hexapod().linearize(None, 0.01)
    with pytest.raises(pliant.InputError, match="another mechanism"):
        pliant.gallery.arm().linearize(pliant.gallery.hand().state(), 0.01)
    with pytest.raises(TypeError, match="^state: expected a State or a Simulation, got int"):
        pliant.gallery.arm().linearize(3, 0.01)
    with pytest.raises(pliant.InputError, match="^dt: "):
        pliant.gallery.arm().linearize(None, -1)
    m = pliant.gallery.hand()
    name = next(name for name in m.joints if list(m.joint(name).upper < 3) == [True])
    at_limit = m.state(m.at({name: m.joint(name).upper}).state().positions)
    with pytest.warns(pliant.PliantWarning, match="not smooth"):
        m.linearize(at_limit, 0.01)


def test_states_from_coordinates():
    m = pliant.gallery.arm()
    rng = np.random.default_rng(2)
    q, v = 0.3 * rng.standard_normal(20), rng.standard_normal(20)
    state = m.state(q, v)
    np.testing.assert_array_equal(state.positions, q)
    np.testing.assert_array_equal(state.velocities, v)
    # Twists are what poses do.
    near = [m.state(q + by * v).poses for by in (1e-6, -1e-6)]
    for k in range(len(m.bodies)):
        speed = (near[0][k, :3] - near[1][k, :3]) / 2e-6
        np.testing.assert_allclose(matrix(state.poses[k, 3:]) @ state.twists[k, :3], speed, atol=1e-8)
    np.testing.assert_array_equal(m.pose("arm4", q), state.poses[m.bodies.index("arm4")])
    many = m.pose("tip", [q, 0 * q])
    assert many.shape == (2, 7)
    np.testing.assert_allclose(many[1], m.simulate().pose("tip"), atol=1e-15)
    with pytest.raises(pliant.InputError, match="^positions: expected the shape"):
        m.pose("tip", [1.0, 2.0])
    with pytest.raises(pliant.InputError, match="the loop of joint .* is open by"):
        pliant.gallery.four_bar().state(positions=np.full(len(pliant.gallery.four_bar().coordinates), 0.2))
    with pytest.raises(pliant.InputError, match="^velocities: expected one number for each of 20"):
        m.state(velocities=[1.0])


def test_linearizations_pickle():
    """To the last bit, read-only as before, also from another process."""
    step = pliant.gallery.arm().linearize(None, 0.01)
    again = pickle.loads(pickle.dumps(step))
    for key in ("A", "B", "B_loads", "C"):
        one, two = getattr(step, key), getattr(again, key)
        assert one.tobytes() == two.tobytes() and one.shape == two.shape and not two.flags.writeable
    assert again.dt == step.dt and repr(again) == repr(step)
    function, (A, B, B_loads, C, dt) = step.__reduce__()
    for wrong in ((A[:-1], B, B_loads, C), (A, B_loads, B, C), (A, B, B_loads, C.T)):
        with pytest.raises(pliant.InputError, match="^A, B, B_loads, C:"):
            function(*wrong, dt)
    (point, other), *_ = pliant.sweep(linearized, {"dt": [0.01]}, on="processes", workers=1)
    assert point == {"dt": 0.01} and other.A.tobytes() == step.A.tobytes()


def linearized(dt):
    return pliant.gallery.arm().linearize(None, dt)
