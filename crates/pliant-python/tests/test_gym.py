"""Claims: the environments are what Gymnasium checks for, the same for the same seed; each vector is its environments, to the last bit; their rewards
are those of what they ask for, and a search, or an algorithm of others (PLIANT_LONG=1), improves them."""

import os
import warnings

import numpy as np
import pytest

import pliant

gymnasium = pytest.importorskip("gymnasium")

import pliant.gym  # noqa: E402

KINDS = {"Reach": pliant.gym.ReachVector, "Walk": pliant.gym.WalkVector, "Grasp": pliant.gym.GraspVector}


@pytest.mark.parametrize("name", KINDS)
def test_the_environment_is_one_of_gymnasium(name):
    from gymnasium.utils.env_checker import check_env

    env = gymnasium.make(f"pliant/{name}-v0").unwrapped
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*infinity.*")  # positions have no bounds
        check_env(env, skip_render_check=True)
    observations = []
    for _ in range(2):
        first, _ = env.reset(seed=5)
        actions = np.random.default_rng(6).uniform(-1, 1, (5, *env.action_space.shape)).astype(np.float32)
        observations.append(np.concatenate([first, *(env.step(action)[0] for action in actions)]))
    assert observations[0].tobytes() == observations[1].tobytes()
    assert not np.array_equal(env.reset(seed=6)[0], first)
    assert isinstance(env, getattr(pliant.gym, name))


@pytest.mark.parametrize("name", KINDS)
def test_the_vector_is_its_environments(name):
    count, horizon = (5, 6) if name == "Reach" else (2, 4)
    many = gymnasium.make_vec(f"pliant/{name}-v0", num_envs=count, horizon=horizon)
    assert isinstance(many, KINDS[name])
    ones = [getattr(pliant.gym, name)(horizon=horizon) for _ in range(count)]
    observations, reported = many.reset(seed=11)
    assert many.observation_space.contains(observations)
    firsts = [one.reset(seed=11 + i) for i, one in enumerate(ones)]
    np.testing.assert_array_equal(observations, [first for first, _ in firsts])
    for key in firsts[0][1]:
        np.testing.assert_array_equal(reported[key], [info[key] for _, info in firsts])
    rng = np.random.default_rng(2)
    for step in range(horizon):
        most = 0.1 if name == "Grasp" else 1.0  # so that none is dropped
        actions = rng.uniform(-most, most, many.action_space.shape).astype(np.float32)
        found, rewards, terminated, truncated, infos = many.step(actions)
        over = step == horizon - 1
        assert ("final_obs" in infos) == over
        last, of = (np.stack(infos["final_obs"]), infos["final_info"]) if over else (found, infos)
        for i, one in enumerate(ones):
            observation, reward, _, ends, info = one.step(actions[i])
            np.testing.assert_array_equal(last[i], observation)
            assert (rewards[i], truncated[i], terminated[i]) == (reward, ends, False)
            assert {key: of[key][i] for key in info} == info
    assert truncated.all() and not np.allclose(found, last)
    assert infos["_final_obs"].all() and infos["_final_info"].all()
    many.close()


def test_a_motion_that_fails_ends_its_own_episode():
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


def test_an_environment_without_goals_or_effectors_says_so():
    gym = pliant.gym
    with pytest.raises(pliant.SimulationError, match="^no goal was found: the mechanism has no equilibrium under any of 100 random set-points"):
        gym.Reach(pliant.gallery.hexapod()).reset(seed=1)
    bare = pliant.Builder("bare").body("bob", mass=1, inertia=[1, 1, 1])
    bare.joint("pivot", kind="hinge", parent="world", child="bob", stiffness=5.0)
    with pytest.raises(pliant.InputError, match="^effector: the mechanism has no effector"):
        gym.Reach(bare.build())
    assert gym.Reach(bare.build(), "bob").effector == "bob"




def gait(step):
    """Set-points of a walk, three legs at a time: a leg that swings is lifted and goes forward, the others go back."""
    actions = np.zeros(18)
    for leg, (side, late) in enumerate([(1, 0), (-1, 1), (1, 1), (-1, 0), (1, 0), (-1, 1)]):
        phase = (step / 20 + 0.5 * late) % 1.0
        swing = 0.35 * np.cos(2 * np.pi * phase)
        lift = 0.5 * max(np.sin(2 * np.pi * phase), 0.0)
        actions[3 * leg : 3 * leg + 3] = [side * swing, -lift, lift]
    return actions


def test_walking_is_rewarded_and_falling_ends():
    env = pliant.gym.Walk(horizon=60)
    assert [name.rsplit("_", 1)[1] for name in env.mechanism.coordinates[:3]] == ["coxa", "femur", "tibia"]
    returns, forward = [], []
    for policy in (lambda step: np.zeros(18), gait):
        env.reset(seed=4)
        start = env.step(np.zeros(18))[4]["x"]
        total, info = 0.0, {}
        for step in range(59):
            _, reward, terminated, _, info = env.step(policy(step))
            assert not terminated and info["upright"] > 0.9
            total += reward
        returns.append(total)
        forward.append(info["x"] - start)
    assert abs(forward[0]) < 0.02 and forward[1] > 0.1, forward
    # Rewards add up to the way.
    np.testing.assert_allclose(returns, np.array(forward) / env.mechanism.radius, atol=1e-12)
    # All legs folded away: it lies on the ground.
    env.reset(seed=4)
    flat = np.tile([0.0, -3.0, 0.0], 6) / 1.0
    env.reach = 2.0
    ended = [env.step(flat)[1:3] for _ in range(40)]
    assert any(terminated for _, terminated in ended)
    assert min(reward for reward, _ in ended) < -0.9


def test_a_grasp_that_lifts_is_rewarded():
    env = pliant.gym.Grasp(horizon=60)
    slides = np.array([env.mechanism.joint(name.split("[")[0]).kind == "prismatic" for name in env.mechanism.coordinates])
    assert slides.sum() == 1
    best = {}
    for close in (0.0, 0.7):
        _, info = env.reset(seed=4)
        assert abs(info["height"]) < 1e-3
        for step in range(60):
            action = np.where(slides, -1.0 if step < 20 else min(1.0, (step - 20) / 10 - 1.0), close)
            _, reward, terminated, _, info = env.step(action)
            if terminated:
                break
        best[close] = (info["height"], reward)
    assert best[0.7][0] > 0.8 * env.lift and best[0.7][1] == pytest.approx(min(best[0.7][0] / env.lift, 1.0)), best
    assert best[0.0][0] < 0.3 * env.lift, best


@pytest.mark.skipif(not os.environ.get("PLIANT_LONG"), reason="training takes minutes: PLIANT_LONG=1")
def test_an_algorithm_of_others_improves_the_reward():
    """PPO of stable-baselines3, out of the box, on Reach with a two-link arm: from random set-points to near the goal."""
    stable = pytest.importorskip("stable_baselines3")

    def mean(policy):
        env = pliant.gym.Reach(pliant.gallery.two_link(), horizon=20)
        total = []
        for episode in range(20):
            seen, _ = env.reset(seed=1000 + episode)
            done = False
            while not done:
                action = policy.predict(seen, deterministic=True)[0]
                seen, reward, terminated, truncated, _ = env.step(action)
                done = terminated or truncated
                total.append(reward)
        return float(np.mean(total))

    env = pliant.gym.Reach(pliant.gallery.two_link(), horizon=20)
    policy = stable.PPO("MlpPolicy", env, seed=1, n_steps=1024, batch_size=128, learning_rate=1e-3, gamma=0.9, device="cpu")
    before = mean(policy)
    policy.learn(60_000)
    after = mean(policy)
    print(f"mean reward of a step {before:.4f} before, {after:.4f} after")
    assert after > 0.5 * before
