"""Environments for learning, by Gymnasium (which must be installed): ``gymnasium.make("pliant/Reach-v0")`` after ``import pliant.gym``."""

from __future__ import annotations

import concurrent.futures
import os
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt

from . import gallery
from ._errors import InputError, SimulationError
from ._native import Mechanism, Simulation, rollout


#: How often a goal is looked for.
TRIES = 100


class Reach(gymnasium.Env[npt.NDArray[np.float64], npt.NDArray[np.float32]]):
    """Bring the effector of a compliant arm to a point, by the set-points of its joints.

    Actions are set-points of all coordinates, -1 to 1 for -``reach`` to ``reach`` (rad or m). Observations are positions, velocities, where the
    effector is and where it shall be (m). The reward of a step is minus the distance over the mechanism's radius. Goals are where random
    set-points bring the effector at rest, so that each can be reached. An episode is ``horizon`` steps of ``skip`` time steps of ``dt`` s.
    """

    metadata: dict[str, Any] = {"render_modes": []}

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
        self.mechanism = gallery.arm() if mechanism is None else mechanism
        if effector is None and not self.mechanism.effectors:
            raise InputError("effector: the mechanism has none of its own; name one of its bodies")
        self.effector = self.mechanism.effectors[0] if effector is None else effector
        self.dt, self.skip, self.horizon, self.reach = dt, skip, horizon, reach
        self.simulation = self.mechanism.simulate(engine)
        self._start = self.simulation.save()
        self._exact = self.mechanism.simulate("full")
        self._rest = self._exact.save()
        n = len(self.mechanism.coordinates)
        self.action_space = gymnasium.spaces.Box(-1.0, 1.0, (n,), np.float32)
        self.observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (2 * n + 6,), np.float64)
        self.goal = np.zeros(3)
        self._steps = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[npt.NDArray[np.float64], dict[str, Any]]:
        """Starts where the mechanism starts, with another goal."""
        super().reset(seed=seed)
        self.simulation.restore(self._start)
        self.goal = self.another_goal(self.np_random, self._exact)
        self._steps = 0
        return self._observation(), {"distance": self._distance()}

    def another_goal(self, rng: np.random.Generator, exact: Simulation) -> npt.NDArray[np.float64]:
        """Where random set-points bring the effector at rest, m; ``exact`` is a simulation that looks for it."""
        for _ in range(TRIES):
            exact.restore(self._rest)
            exact.set_targets(self.reach * rng.uniform(-0.5, 0.5, len(self.mechanism.coordinates)))
            try:
                exact.settle()
            except SimulationError as error:  # no rest there: another goal
                last = error
                continue
            return np.array(exact.pose(self.effector)[:3])
        raise SimulationError(f"no goal was found: under none of {TRIES} random set-points does the mechanism come to rest; the last: {last}")

    def step(
        self, action: npt.NDArray[np.float32]
    ) -> tuple[npt.NDArray[np.float64], float, bool, bool, dict[str, Any]]:
        """Takes ``skip`` time steps under new set-points; a motion that fails ends the episode."""
        self.simulation.set_targets(self.reach * np.clip(np.asarray(action, dtype=np.float64), -1.0, 1.0))
        info: dict[str, Any] = {}
        try:
            self.simulation.run(self.skip * self.dt, self.dt)
        except SimulationError as error:
            info["error"] = str(error)
        self._steps += 1
        info["distance"] = self._distance()
        reward = -info["distance"] / self.mechanism.radius
        return self._observation(), reward, "error" in info, self._steps >= self.horizon, info

    def _distance(self) -> float:
        return float(np.linalg.norm(self.simulation.pose(self.effector)[:3] - self.goal))

    def _observation(self) -> npt.NDArray[np.float64]:
        sim = self.simulation
        return np.concatenate([sim.positions, sim.velocities, sim.pose(self.effector)[:3], self.goal])


class ReachVector(gymnasium.vector.VectorEnv[npt.NDArray[np.float64], npt.NDArray[np.float32], npt.NDArray[Any]]):
    """Many ``Reach`` at once, on all cores, by ``pliant.rollout``; of mechanisms without a free base. Arguments are those of ``Reach``.

    An episode that ends restarts in the same step: its observation is that of the new start, and ``infos["final_obs"]`` and
    ``infos["final_info"]`` have the last ones. A motion that fails ends its own episode, where it was before.
    """

    metadata: dict[str, Any] = {"render_modes": [], "autoreset_mode": gymnasium.vector.AutoresetMode.SAME_STEP}

    def __init__(self, num_envs: int, *arguments: Any, threads: int = 0, **options: Any) -> None:
        self.one = Reach(*arguments, **options)
        self.num_envs, self.threads = num_envs, threads
        self.single_action_space, self.single_observation_space = self.one.action_space, self.one.observation_space
        self.action_space = gymnasium.vector.utils.batch_space(self.single_action_space, num_envs)
        self.observation_space = gymnasium.vector.utils.batch_space(self.single_observation_space, num_envs)
        self._start = self.one.mechanism.state()
        self._states = [self._start] * num_envs
        self._goals = np.zeros((num_envs, 3))
        self._steps = np.zeros(num_envs, dtype=int)
        self._random = [gymnasium.utils.seeding.np_random()[0] for _ in range(num_envs)]

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[npt.NDArray[np.float64], dict[str, Any]]:
        """Starts all, or those of ``options["reset_mask"]``, each with a goal of its own: of a seed, those of ``Reach`` with seed, seed + 1, …"""
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
        observation = self._observation()
        return observation, {"distance": self._distance(observation), "_distance": mask}

    def step(
        self, actions: npt.NDArray[np.float32]
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any], dict[str, Any]]:
        """Takes a step of all."""
        one = self.one
        controls = one.reach * np.clip(np.asarray(actions, dtype=np.float64), -1.0, 1.0)
        motion, self._states = rollout(
            one.mechanism, self._states, controls, one.dt, one.skip, self.threads, final=True, errors="nan"
        )
        self._steps += 1
        observation = self._observation()
        distance = self._distance(observation)
        terminated, truncated = np.asarray(np.isnan(motion[:, -1]).any(axis=1)), self._steps >= one.horizon
        over = terminated | truncated
        infos: dict[str, Any] = {"distance": distance, "_distance": np.ones(self.num_envs, dtype=bool)}
        if over.any():
            last = np.full(self.num_envs, None, dtype=object)
            for i in np.flatnonzero(over):
                last[i] = observation[i]
            infos["final_obs"], infos["_final_obs"] = last, over
            infos["final_info"], infos["_final_info"] = {"distance": np.where(over, distance, 0.0), "_distance": over}, over
            self._restart(over)
            observation = self._observation()
            # What is known of those that go on is of the step, and of the others of their new start.
            infos["distance"] = self._distance(observation)
        return observation, -distance / one.mechanism.radius, terminated, truncated, infos

    def _restart(self, mask: npt.NDArray[np.bool_]) -> None:
        """Puts some where they start, with new goals, which are looked for in threads."""
        which = np.flatnonzero(mask)
        workers = min(self.threads or os.cpu_count() or 1, max(len(which), 1))

        def goals(part: npt.NDArray[Any]) -> None:
            exact = self.one.mechanism.simulate("full")
            for i in part:
                self._goals[i] = self.one.another_goal(self._random[i], exact)

        with concurrent.futures.ThreadPoolExecutor(workers) as pool:
            list(pool.map(goals, np.array_split(which, workers)))
        for i in which:
            self._states[i] = self._start
        self._steps[which] = 0

    def _distance(self, observation: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        return np.asarray(np.linalg.norm(observation[:, -6:-3] - observation[:, -3:], axis=1))

    def _observation(self) -> npt.NDArray[np.float64]:
        positions = np.array([state.positions for state in self._states])
        velocities = np.array([state.velocities for state in self._states])
        tips = self.one.mechanism.pose(self.one.effector, positions)[:, :3]
        return np.concatenate([positions, velocities, tips, self._goals], axis=1)


if "pliant/Reach-v0" not in gymnasium.registry:
    gymnasium.register("pliant/Reach-v0", entry_point="pliant.gym:Reach", vector_entry_point="pliant.gym:ReachVector")
