"""Pliant next to others: parameter studies in processes and on Ray, notebooks."""

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

def tip(stiffness, load):
    m = pliant.gallery.two_link()
    sim = m.simulate("full", loads={"tip": [0, load, 0]})
    sim.set_stiffness("elbow", stiffness)
    sim.settle()
    return sim.pose("tip").tolist()


GRID = {"stiffness": [50.0, 100.0, 200.0], "load": [1.0, 5.0]}


def test_keys_of_a_builder_are_keys():
    made = pliant.Builder().body("a", **{"free": True, "mass = 1\n[[body]]\nname": "another"})
    with pytest.raises(pliant.InputError, match="unknown key"):
        made.build()


def test_what_linear_models_leave_out_is_a_warning():
    with pytest.warns(pliant.PliantWarning, match="^loads and gravity change the stiffness by [0-9]+ %"):
        pliant.gallery.helix(100).simulate("linear", scene_loads=True)
    with pytest.warns(pliant.PliantWarning, match="^modes from 14 Hz up, the first of `link30`, are truncated, and take about 19 %"):
        pliant.gallery.helix(50).simulate("linear")
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
    with pytest.warns(pliant.PliantWarning, match="`upper` has no effector, and in the engine `linear` only bodies with an effector have contact"):
        finger.simulate("linear").run(3.0, 0.01)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*has no effector")
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


def numbers(figures):
    """Figures without what is measured in time, or follows from that."""
    if isinstance(figures, dict):
        timed = ("speed", "verdict", "page", "times_as_fast", "exact_engine")
        return {key: numbers(value) for key, value in figures.items() if key not in timed and not key.endswith("_us")}
    return [numbers(value) for value in figures] if isinstance(figures, list) else figures


@pytest.mark.filterwarnings("ignore::pliant.PliantWarning")
@pytest.mark.parametrize(
    ("name", "given", "options"),
    [
        ("four-bar", {}, []),
        ("two-link", {"dt": 0.01, "loads": {"tip": [0, 1, 0]}, "gravity": [0, 0, 0]}, ["--dt", 0.01, "--load", "tip=0,1,0", "--gravity", "0,0,0"]),
        ("peg-in-hole", {}, []),
    ],
)
def test_a_comparison_is_that_of_the_command_line(command, tmp_path, name, given, options):
    comparison = pliant.gallery.build(name).compare(**given)
    document = command("compare", name, *options, "-o", tmp_path / "page.html")
    said = {key: document.pop(key, []) for key in ("warnings", "measures")}
    assert comparison.warnings == said["warnings"] and len(comparison.warnings) == len(said["measures"])
    assert numbers(comparison.figures) == numbers(document)
    assert comparison.figures.keys() == document.keys() - {"page"}
    comparison.save(tmp_path / "own.html")
    assert (tmp_path / "own.html").read_text() == comparison.html
    # The same page but for what is timed.
    assert comparison.html[:200] == (tmp_path / "page.html").read_text()[:200]
    shown = comparison._repr_html_()
    assert shown.startswith("<iframe srcdoc=") and "</html>" not in shown
    assert len(comparison.rows()) >= 4 and comparison.rows()[0] == ("mechanism", name)
    comparison.html += " " * 2_000_000
    assert ElementTree.fromstring(comparison._repr_html_()).tag == "table"


def test_what_cannot_be_compared_says_so():
    m = pliant.gallery.two_link()
    with pytest.raises(pliant.InputError, match=f"^loads: here loads act on effectors, and `{m.bodies[0]}` is a body"):
        m.compare(loads={m.bodies[0]: [0, 0, 1]})
    for wrong in ({"dt": 0.0}, {"dt": float("nan")}, {"loads": {"nowhere": [0, 0, 1]}}):
        with pytest.raises(pliant.InputError):
            m.compare(**wrong)
    bare = pliant.Builder("bare").body("bob", mass=1, inertia=[1, 1, 1]).joint("pivot", kind="hinge", parent="world", child="bob", stiffness=5.0).build()
    with pytest.raises(pliant.InputError, match="has no effector"):
        bare.compare()
    assert bare.compare("bob").figures["effectors"] == ["bob"]
