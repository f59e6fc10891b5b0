"""Environments for learning, by Gymnasium (which must be installed): ``gymnasium.make("pliant/Reach-v0")`` after ``import pliant.gym``; also
``pliant/Walk-v0`` and ``pliant/Grasp-v0``. Each has a vector form, many of them at once on all cores by ``pliant.rollout``."""

from __future__ import annotations

import abc
import concurrent.futures
import os
from collections.abc import Sequence
from typing import Any, ClassVar

import gymnasium
import numpy as np
import numpy.typing as npt

from . import gallery
from ._errors import InputError, SimulationError
from ._native import Mechanism, Simulation, State, parse, rollout

Array = npt.NDArray[np.float64]
Actions = npt.NDArray[np.float32]

#: How often a goal is looked for.
TRIES = 100


class Environment(gymnasium.Env[Array, Actions], abc.ABC):
    """What all environments have: set-points of joints as actions, an observation of the state, and a reward of it.

    An episode is ``horizon`` steps of ``skip`` time steps of ``dt`` s. A motion that fails ends it.
    """

    metadata: dict[str, Any] = {"render_modes": []}

    def __init__(self, mechanism: Mechanism, actions: int, engine: str, dt: float, skip: int, horizon: int) -> None:
        self.mechanism, self.actions, self.dt, self.skip, self.horizon = mechanism, actions, dt, skip, horizon
        self.simulation = mechanism.simulate(engine)
        self._start = self.simulation.save()
        self.action_space = gymnasium.spaces.Box(-1.0, 1.0, (actions,), np.float32)
        self.goal = np.zeros(self.goal_size)
        self._steps = 0
        width = self.observe([self._start], self.goal[None]).shape[1]
        self.observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (width,), np.float64)

    #: Numbers of the goal that each episode has.
    goal_size: ClassVar[int] = 0

    @abc.abstractmethod
    def set_points(self, actions: npt.NDArray[Any]) -> Array:
        """Set-points of all coordinates for actions between -1 and 1, a row for each."""

    @abc.abstractmethod
    def observe(self, states: Sequence[State], goals: Array) -> Array:
        """What is seen of states, a row for each."""

    @abc.abstractmethod
    def judge(self, before: Array, after: Array, actions: npt.NDArray[Any]) -> tuple[Array, npt.NDArray[np.bool_], dict[str, Array]]:
        """Of observations before and after a step: rewards, what ended there, and what is reported."""

    def goals(self, randoms: Sequence[np.random.Generator], threads: int) -> Array:
        """A goal for each of some episodes."""
        return np.zeros((len(randoms), 0))

    def first_actions(self, rng: np.random.Generator) -> npt.NDArray[Any] | None:
        """What acts for one step before an episode begins, so that no two are alike; nothing if each begins where the mechanism starts."""
        return None

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Array, dict[str, Any]]:
        """Starts where the mechanism starts."""
        super().reset(seed=seed)
        self.simulation.restore(self._start)
        if self.goal_size:
            self.goal = self.goals([self.np_random], 1)[0]
        first = self.first_actions(self.np_random)
        if first is not None:
            self.simulation.set_targets(self.set_points(first[None])[0])
            self.simulation.run(self.skip * self.dt, self.dt)
        self._steps = 0
        seen = self._observation()
        self._seen = seen
        return seen, self._reported(self.judge(seen[None], seen[None], np.zeros((1, self.actions)))[2])

    def step(self, action: Actions) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        """Takes ``skip`` time steps under new set-points."""
        actions = np.clip(np.asarray(action, dtype=np.float64), -1.0, 1.0)[None]
        self.simulation.set_targets(self.set_points(actions)[0])
        error = None
        try:
            self.simulation.run(self.skip * self.dt, self.dt)
        except SimulationError as failed:
            error = str(failed)
        self._steps += 1
        before, self._seen = self._seen, self._observation()
        rewards, ended, reported = self.judge(before[None], self._seen[None], actions)
        info = self._reported(reported) | ({} if error is None else {"error": error})
        return self._seen, float(rewards[0]), bool(ended[0]) or error is not None, self._steps >= self.horizon, info

    def _reported(self, reported: dict[str, Array]) -> dict[str, Any]:
        return {name: float(values[0]) for name, values in reported.items()}

    def _observation(self) -> Array:
        return np.array(self.observe([self.simulation.save()], self.goal[None])[0])


class Vector(gymnasium.vector.VectorEnv[Array, Actions, npt.NDArray[Any]]):
    """Many environments at once, on all cores, by ``pliant.rollout``.

    An episode that ends restarts in the same step: its observation is that of the new start, and ``infos["final_obs"]`` and
    ``infos["final_info"]`` have the last ones. A motion that fails ends its own episode, where it was before.
    """

    metadata: dict[str, Any] = {"render_modes": [], "autoreset_mode": gymnasium.vector.AutoresetMode.SAME_STEP}

    def __init__(self, one: Environment, num_envs: int, threads: int) -> None:
        self.one, self.num_envs, self.threads = one, num_envs, threads
        self.single_action_space, self.single_observation_space = one.action_space, one.observation_space
        self.action_space = gymnasium.vector.utils.batch_space(self.single_action_space, num_envs)
        self.observation_space = gymnasium.vector.utils.batch_space(self.single_observation_space, num_envs)
        # Of a rollout, so that others go on from it with what touches.
        _, (self._start,) = rollout(one.mechanism, [one.mechanism.state()], None, one.dt, 0, final=True)
        self._states = [self._start] * num_envs
        self._goals = np.zeros((num_envs, len(one.goal)))
        self._steps = np.zeros(num_envs, dtype=int)
        self._random = [gymnasium.utils.seeding.np_random()[0] for _ in range(num_envs)]

    def reset(self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None) -> tuple[Array, dict[str, Any]]:
        """Starts all, or those of ``options["reset_mask"]``: of a seed, as the single environments with seed, seed + 1, …"""
        mask = np.ones(self.num_envs, dtype=bool) if options is None else np.asarray(options.get("reset_mask", np.ones(self.num_envs, dtype=bool)))
        if mask.shape != (self.num_envs,) or mask.dtype != bool:
            raise InputError(f'options["reset_mask"]: expected {self.num_envs} booleans, got {mask.dtype} of the shape {mask.shape}')
        if seed is None or isinstance(seed, (int, np.integer)):
            seed = [None if seed is None else int(seed) + i for i in range(self.num_envs)]
        if len(seed) != self.num_envs:
            raise InputError(f"seed: expected one for each of {self.num_envs} environments, got {len(seed)}")
        for i in np.flatnonzero(mask):
            if seed[i] is not None:
                self._random[i] = gymnasium.utils.seeding.np_random(seed[i])[0]
        self._restart(mask)
        self._seen = self._observation()
        reported = self.one.judge(self._seen, self._seen, np.zeros((self.num_envs, self.one.actions)))[2]
        return self._seen, reported | {f"_{name}": mask for name in reported}

    def step(self, actions: Actions) -> tuple[Array, npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any], dict[str, Any]]:
        """Takes a step of all."""
        one = self.one
        clipped = np.clip(np.asarray(actions, dtype=np.float64), -1.0, 1.0)
        motion, self._states = rollout(
            one.mechanism, self._states, one.set_points(clipped), one.dt, one.skip, self.threads, final=True, errors="nan"
        )
        self._steps += 1
        before, seen = self._seen, self._observation()
        rewards, ended, reported = one.judge(before, seen, clipped)
        failed = np.isnan(motion[:, -1]).any(axis=1)
        terminated, truncated = np.asarray(ended | failed), self._steps >= one.horizon
        over = terminated | truncated
        infos: dict[str, Any] = {**reported, **{f"_{name}": np.ones(self.num_envs, dtype=bool) for name in reported}}
        if over.any():
            last = np.full(self.num_envs, None, dtype=object)
            for i in np.flatnonzero(over):
                last[i] = seen[i]
            final = {name: np.where(over, values, 0.0) for name, values in reported.items()}
            infos["final_obs"], infos["_final_obs"] = last, over
            infos["final_info"], infos["_final_info"] = final | {f"_{name}": over for name in final}, over
            self._restart(over)
            seen = self._observation()
            # What is known of those that go on is of the step, and of the others of their new start.
            infos |= one.judge(seen, seen, clipped)[2]
        self._seen = seen
        return seen, rewards, terminated, truncated, infos

    def _restart(self, mask: npt.NDArray[np.bool_]) -> None:
        """Puts some where they start."""
        one, which = self.one, np.flatnonzero(mask)
        if one.goal_size:
            self._goals[which] = one.goals([self._random[i] for i in which], self.threads)
        firsts = [one.first_actions(self._random[i]) for i in which]
        starts = [self._start] * len(which)
        given = [first for first in firsts if first is not None]
        if given:
            _, starts = rollout(one.mechanism, starts, one.set_points(np.array(given)), one.dt, one.skip, self.threads, final=True)
        for i, start in zip(which, starts, strict=True):
            self._states[i] = start
        self._steps[which] = 0

    def _observation(self) -> Array:
        return self.one.observe(self._states, self._goals)


class Reach(Environment):
    """Bring the effector of a compliant arm to a point, by the set-points of its joints.

    Actions are set-points of all coordinates, -1 to 1 for -``reach`` to ``reach`` (rad or m). Observations are positions, velocities, the position
    of the effector and its goal (m). The reward of a step is minus the distance over the mechanism's radius. Goals are where random
    set-points bring the effector at rest, so that each can be reached. An episode is ``horizon`` steps of ``skip`` time steps of ``dt`` s.
    """

    goal_size = 3

    def __init__(
        self,
        mechanism: Mechanism | None = None,
        effector: str | None = None,
        *,
        engine: str = "articulated",
        dt: float = 0.01,
        skip: int = 5,
        horizon: int = 50,
        reach: float = 0.5,
    ) -> None:
        mechanism = gallery.arm() if mechanism is None else mechanism
        if effector is None and not mechanism.effectors:
            raise InputError("effector: the mechanism has no effector; name one of its bodies")
        self.effector = mechanism.effectors[0] if effector is None else effector
        self.reach = reach
        self._exact = mechanism.simulate("full")
        self._rest = self._exact.save()
        super().__init__(mechanism, len(mechanism.coordinates), engine, dt, skip, horizon)

    def goals(self, randoms: Sequence[np.random.Generator], threads: int) -> Array:
        """Where random set-points bring the effector at rest, m: looked for in threads."""
        workers = min(threads or os.cpu_count() or 1, max(len(randoms), 1))

        def some(part: Sequence[np.random.Generator]) -> list[Array]:
            exact = self._exact.copy()
            return [self._goal(rng, exact) for rng in part]

        with concurrent.futures.ThreadPoolExecutor(workers) as pool:
            parts = [[randoms[i] for i in part] for part in np.array_split(np.arange(len(randoms)), workers)]
            return np.array([goal for part in pool.map(some, parts) for goal in part]).reshape(-1, 3)

    def _goal(self, rng: np.random.Generator, exact: Simulation) -> Array:
        for _ in range(TRIES):
            exact.restore(self._rest)
            exact.set_targets(self.reach * rng.uniform(-0.5, 0.5, len(self.mechanism.coordinates)))
            try:
                exact.settle()
            except SimulationError as error:  # no rest there: another goal
                last = error
                continue
            return np.array(exact.pose(self.effector)[:3])
        raise SimulationError(f"no goal was found: the mechanism has no equilibrium under any of {TRIES} random set-points; the last: {last}")

    def set_points(self, actions: npt.NDArray[Any]) -> Array:
        return np.asarray(self.reach * actions)

    def observe(self, states: Sequence[State], goals: Array) -> Array:
        positions = np.array([state.positions for state in states])
        velocities = np.array([state.velocities for state in states])
        tips = np.array([state.pose(self.effector)[:3] for state in states])
        return np.concatenate([positions, velocities, tips, goals], axis=1)

    def judge(self, before: Array, after: Array, actions: npt.NDArray[Any]) -> tuple[Array, npt.NDArray[np.bool_], dict[str, Array]]:
        distance = np.linalg.norm(after[:, -6:-3] - after[:, -3:], axis=1)
        return -distance / self.mechanism.radius, np.zeros(len(after), dtype=bool), {"distance": distance}


def _on_the_ground() -> Mechanism:
    plane = '\n[[world.shape]]\nkind = "plane"\nfriction = 0.9\n'
    return parse(gallery.hexapod().to_toml() + plane, "toml", "hexapod-on-the-ground.toml")


class Walk(Environment):
    """Walk forward (+x) on six legs, by the set-points of their joints; with contact and friction.

    Actions are set-points of all coordinates, -1 to 1 for -``reach`` to ``reach`` rad. Observations are the height (m), quaternion and twist (body
    axes, m/s, rad/s) of the body ``base``, positions, velocities, and where it is along x and y (m), which a policy may ignore. The
    reward of a step is how far it went along x over the radius, less ``cost`` times the mean square of the actions; falling, which ends the
    episode, costs 1. An episode begins after one step of random set-points.
    """

    def __init__(
        self,
        mechanism: Mechanism | None = None,
        base: str = "base",
        *,
        engine: str = "articulated",
        dt: float = 0.01,
        skip: int = 4,
        horizon: int = 100,
        reach: float = 0.5,
        cost: float = 0.0,
    ) -> None:
        mechanism = _on_the_ground() if mechanism is None else mechanism
        self.base, self.reach, self.cost = mechanism.bodies.index(mechanism.body(base).name), reach, cost
        self._height = mechanism.state().poses[self.base][2]
        super().__init__(mechanism, len(mechanism.coordinates), engine, dt, skip, horizon)

    def first_actions(self, rng: np.random.Generator) -> npt.NDArray[Any]:
        return rng.uniform(-0.2, 0.2, len(self.mechanism.coordinates))

    def set_points(self, actions: npt.NDArray[Any]) -> Array:
        return np.asarray(self.reach * actions)

    def observe(self, states: Sequence[State], goals: Array) -> Array:
        rows = []
        for state in states:
            pose, twist = state.poses[self.base], state.twists[self.base]
            rows.append(np.concatenate([pose[2:], twist, state.positions, state.velocities, pose[:2]]))
        return np.array(rows)

    def judge(self, before: Array, after: Array, actions: npt.NDArray[Any]) -> tuple[Array, npt.NDArray[np.bool_], dict[str, Array]]:
        forward = after[:, -2] - before[:, -2]
        # Its z axis against the world's: 1 − 2 (x² + y²) of the quaternion.
        upright = 1.0 - 2.0 * (after[:, 2] ** 2 + after[:, 3] ** 2)
        fallen = (after[:, 0] < 0.4 * self._height) | (upright < 0.5)
        rewards = forward / self.mechanism.radius - self.cost * np.mean(actions**2, axis=1) - fallen
        return rewards, fallen, {"x": after[:, -2], "upright": upright}


class Grasp(Environment):
    """Close a compliant hand around something, lift it and keep it, by the set-points of its joints; with contact and friction.

    Actions are set-points of all coordinates: -1 to 1 for -``reach`` to ``reach`` rad of what turns, and 0 to ``lift`` m of what slides.
    Observations are positions, velocities, the pose of the object (m, quaternion) and its twist (body axes), and its place in the hand (m). The
    reward of a step is how high the object is over its start, over ``lift``, at most 1; dropping it, which ends the episode, costs 1. An episode
    begins after one step of random set-points.
    """

    def __init__(
        self,
        mechanism: Mechanism | None = None,
        hand: str = "palm",
        thing: str = "ball",
        *,
        engine: str = "articulated",
        dt: float = 0.004,
        skip: int = 10,
        horizon: int = 50,
        reach: float = 0.15,
        lift: float = 0.03,
    ) -> None:
        mechanism = gallery.hand_grasp() if mechanism is None else mechanism
        self.hand, self.thing = (mechanism.bodies.index(mechanism.body(name).name) for name in (hand, thing))
        self._height = mechanism.state().poses[self.thing][2]
        self.lift = lift
        #: Of each coordinate: the middle of its set-points, and how far these go to either side.
        self._middle, self._half = np.zeros(len(mechanism.coordinates)), np.full(len(mechanism.coordinates), reach)
        for name in mechanism.joints:
            joint = mechanism.joint(name)
            if joint.kind == "prismatic":
                first, last = joint.coordinates
                self._middle[first:last] = self._half[first:last] = 0.5 * lift
        super().__init__(mechanism, len(mechanism.coordinates), engine, dt, skip, horizon)

    def first_actions(self, rng: np.random.Generator) -> npt.NDArray[Any]:
        # What slides stays down.
        return np.where(self._middle > 0.0, -1.0, rng.uniform(-0.1, 0.1, len(self._middle)))

    def set_points(self, actions: npt.NDArray[Any]) -> Array:
        return np.asarray(self._middle + self._half * actions)

    def observe(self, states: Sequence[State], goals: Array) -> Array:
        rows = []
        for state in states:
            pose, hand = state.poses[self.thing], state.poses[self.hand]
            rows.append(np.concatenate([state.positions, state.velocities, pose, state.twists[self.thing], pose[:3] - hand[:3]]))
        return np.array(rows)

    def judge(self, before: Array, after: Array, actions: npt.NDArray[Any]) -> tuple[Array, npt.NDArray[np.bool_], dict[str, Array]]:
        height = after[:, -14] - self._height
        dropped = height < -self.lift
        return np.minimum(height / self.lift, 1.0) - dropped, dropped, {"height": height}


class ReachVector(Vector):
    """Many ``Reach`` at once, of mechanisms without a free base; arguments are those of ``Reach``."""

    def __init__(self, num_envs: int, *arguments: Any, threads: int = 0, **options: Any) -> None:
        super().__init__(Reach(*arguments, **options), num_envs, threads)


class WalkVector(Vector):
    """Many ``Walk`` at once; arguments are those of ``Walk``."""

    def __init__(self, num_envs: int, *arguments: Any, threads: int = 0, **options: Any) -> None:
        super().__init__(Walk(*arguments, **options), num_envs, threads)


class GraspVector(Vector):
    """Many ``Grasp`` at once; arguments are those of ``Grasp``."""

    def __init__(self, num_envs: int, *arguments: Any, threads: int = 0, **options: Any) -> None:
        super().__init__(Grasp(*arguments, **options), num_envs, threads)


for _name in ("Reach", "Walk", "Grasp"):
    if f"pliant/{_name}-v0" not in gymnasium.registry:
        gymnasium.register(f"pliant/{_name}-v0", entry_point=f"pliant.gym:{_name}", vector_entry_point=f"pliant.gym:{_name}Vector")
