"""Coupling of a mechanism of Pliant to a body that MuJoCo moves."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ._native import Simulation

_Array = npt.NDArray[np.float64]


class MujocoCoupling:
    """A spring with damper between an effector or body of a simulation and a body of MuJoCo, in translation and rotation.

    Made by ``pliant.couple_mujoco``. Its forces on the two are equal and opposite, at the same point: ``wrench`` is its force (N) and torque
    (N·m) on the effector, world axes, in the last step.
    """

    def __init__(self, sim: Simulation, name: str, model: Any, data: Any, body: str | int, at: Any, **strength: float) -> None:
        import mujoco  # type: ignore[import-untyped,import-not-found,unused-ignore]

        self._mujoco, self.sim, self.name, self.model, self.data = mujoco, sim, name, model, data
        self.body = int(model.body(body).id)
        self._applied = np.zeros(model.nv)
        self.wrench: _Array = np.zeros(6)
        # The frame that the effector goes to, on the body: where the effector is, or as asked.
        place, (position, turned) = np.array(sim.pose(name)), self._frame()
        self._offset, self._turn = np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0])
        if at is None:
            back = self._conjugate(turned)
            self._offset, self._turn = self._rotated(place[:3] - position, back), self._product(back, place[3:])
        else:
            at = np.asarray(at, dtype=float)
            if at.shape not in ((3,), (7,)):
                raise ValueError(f"at: expected a point (3 numbers, m) or a pose (7 numbers) on the body, got the shape {at.shape}")
            self._offset = at[:3]
            self._turn = at[3:] if at.shape == (7,) else self._product(self._conjugate(turned), place[3:])
        self.spring = sim.add_spring(name, self.target(), **strength)

    def target(self) -> _Array:
        """The frame on MuJoCo's body that the effector is pulled to: x, y, z (m), quaternion w, x, y, z.

        >>> coupling.target()[:3]
        """
        position, turned = self._frame()
        return np.concatenate([position + self._rotated(self._offset, turned), self._product(turned, self._turn)])

    def step(self) -> None:
        """Advances both by MuJoCo's time step: Pliant with the spring to the body's pose, then MuJoCo with the force of the spring.

        >>> coupling.step()
        >>> coupling.wrench[:3]
        """
        self.before()
        self.sim.step(self.model.opt.timestep)
        self.after()
        self._mujoco.mj_step(self.model, self.data)

    def before(self) -> None:
        """Moves the spring to the body's pose in MuJoCo; then step Pliant. For several couplings of one simulation, or your own step loop.

        >>> coupling.before()
        >>> coupling.sim.step(0.002)
        >>> coupling.after()
        >>> mujoco.mj_step(coupling.model, coupling.data)
        """
        mujoco, model, data = self._mujoco, self.model, self.data
        # After a step of MuJoCo poses are those before it.
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        target = self.target()
        linear, angular = np.zeros((3, model.nv)), np.zeros((3, model.nv))
        mujoco.mj_jac(model, data, linear, angular, target[:3], self.body)
        self.sim.move_spring(self.spring, target, np.concatenate([linear @ data.qvel, angular @ data.qvel]))

    def after(self) -> None:
        """Applies the opposite force of the spring to the body, in place of that of the last step; then step MuJoCo.

        >>> coupling.after()
        """
        self.wrench = np.array(self.sim.spring_force(self.spring))
        point = np.array(self.sim.pose(self.name)[:3])
        now = np.zeros(self.model.nv)
        self._mujoco.mj_applyFT(self.model, self.data, -self.wrench[:3], -self.wrench[3:], point, self.body, now)
        self.data.qfrc_applied += now - self._applied
        self._applied = now

    def remove(self) -> None:
        """Removes the coupling from both.

        >>> coupling.remove()
        """
        self.sim.remove_spring(self.spring)
        self.data.qfrc_applied -= self._applied
        self._applied = np.zeros(self.model.nv)

    def _frame(self) -> tuple[_Array, _Array]:
        self._mujoco.mj_kinematics(self.model, self.data)
        return np.array(self.data.xpos[self.body]), np.array(self.data.xquat[self.body])

    def _rotated(self, vector: _Array, quaternion: _Array) -> _Array:
        found = np.zeros(3)
        self._mujoco.mju_rotVecQuat(found, np.ascontiguousarray(vector), np.ascontiguousarray(quaternion))
        return found

    def _product(self, one: _Array, two: _Array) -> _Array:
        found = np.zeros(4)
        self._mujoco.mju_mulQuat(found, np.ascontiguousarray(one), np.ascontiguousarray(two))
        return found

    def _conjugate(self, quaternion: _Array) -> _Array:
        return quaternion * [1.0, -1.0, -1.0, -1.0]


def couple_mujoco(
    sim: Simulation,
    name: str,
    model: Any,
    data: Any,
    body: str | int,
    *,
    stiffness: float,
    turning_stiffness: float = 0.0,
    damping: float = 0.0,
    turning_damping: float = 0.0,
    at: npt.ArrayLike | None = None,
) -> MujocoCoupling:
    """Couples an effector or body of a simulation to a body of MuJoCo by a spring with damper in six freedoms; ``step()`` advances both.

    model, data, body: MuJoCo's; a name or number of a body that moves.
    stiffness, damping: N/m and N·s/m. turning_stiffness, turning_damping: N·m/rad and N·m·s/rad.
    at: the point (m) or pose on MuJoCo's body that the effector is pulled to; by default the present pose of the effector.

    In Pliant the spring is implicit, like all its springs; in MuJoCo it is a force that is constant over a step: use a stiffness of at most about m/dt² and a damping of at most about m/dt of the body there. To let a soft pad press on a body of MuJoCo, give Pliant's
    scene a body with the shape that the pad touches, on a joint of the kind ``bushing`` without stiffness, and couple that.

    >>> sim = pliant.gallery.two_link().simulate()
    >>> model = mujoco.MjModel.from_xml_path("block.xml")
    >>> data = mujoco.MjData(model)
    >>> coupling = pliant.couple_mujoco(sim, "tip", model, data, "block", stiffness=200.0, damping=2.0)
    >>> coupling.step()
    """
    strength = {"stiffness": stiffness, "damping": damping, "turning_stiffness": turning_stiffness, "turning_damping": turning_damping}
    return MujocoCoupling(sim, name, model, data, body, at, **strength)
