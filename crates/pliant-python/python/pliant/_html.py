"""How things show themselves in a notebook: a drawing of the links, and a table."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np
import numpy.typing as npt

from ._errors import InputError

WIDTH, HEIGHT, MARGIN = 420, 300, 24

#: From the world to the page: x to the right, z up, y into it.
VIEW = np.array([[0.92, -0.38, 0.0], [-0.13, -0.30, 0.94]])


def _lines(mechanism: Any, poses: npt.NDArray[np.float64]) -> list[npt.NDArray[np.float64]]:
    """From parent to child of each joint, by their link frames."""
    at = {name: poses[i, :3] for i, name in enumerate(mechanism.bodies)}
    lines = []
    for name in mechanism.joints:
        joint = mechanism.joint(name)
        if joint.parent in at:
            lines.append(np.array([at[joint.parent], at[joint.child]]))
    return lines


def drawing(mechanism: Any, drawn: list[tuple[str, npt.NDArray[np.float64]]]) -> str:
    """An SVG of a mechanism in several poses, each in its colour."""
    shown = [(colour, poses, _lines(mechanism, poses)) for colour, poses in drawn]
    points = np.concatenate([poses[:, :3] @ VIEW.T for _, poses, _ in shown])
    low, high = points.min(axis=0), points.max(axis=0)
    size = max((high - low).max(), 1e-9)
    scale = min((WIDTH - 2 * MARGIN) / max(high[0] - low[0], 0.1 * size), (HEIGHT - 2 * MARGIN) / max(high[1] - low[1], 0.1 * size))
    middle = (low + high) / 2

    def place(point: npt.NDArray[np.float64]) -> str:
        x, y = (VIEW @ point - middle) * scale
        return f"{WIDTH / 2 + x:.1f},{HEIGHT / 2 - y:.1f}"

    parts = []
    for colour, poses, lines in shown:
        parts += [
            f'<polyline points="{place(a)} {place(b)}" fill="none" stroke="{colour}" stroke-width="3" stroke-linecap="round"/>'
            for a, b in lines
        ]
        for pose in poses:
            x, y = place(pose[:3]).split(",")
            parts.append(f'<circle cx="{x}" cy="{y}" r="2.5" fill="{colour}"/>')
    return f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" role="img">{"".join(parts)}</svg>'


def table(rows: list[tuple[str, str]]) -> str:
    cells = "".join(f"<tr><th style='text-align:left'>{escape(a)}</th><td style='text-align:left'>{escape(b)}</td></tr>" for a, b in rows)
    return f"<table>{cells}</table>"


def _few(names: list[str]) -> str:
    return ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")


def mechanism(m: Any) -> str:
    rows = [
        ("mechanism", m.name or "-"),
        ("bodies, joints", f"{len(m.bodies)}, {len(m.joints)}"),
        ("freedoms, loops", f"{m.freedoms}, {m.loops}"),
        ("effectors", _few(m.effectors) or "none"),
        ("mass, radius", f"{m.mass:.6g} kg, {m.radius:.6g} m"),
        *(("warning", text) for text in m.warnings[:5]),
    ]
    return drawing(m, [("#1f77b4", m.state().poses)]) + table(rows)


def simulation(sim: Any, m: Any) -> str:
    known = [("simulation of", m.name or "-"), ("engine", sim.engine)]
    try:
        sim = sim.copy()
    except InputError:  # another thread has it
        return drawing(m, [("#cccccc", m.state().poses)]) + table([*known, ("time", "in use in another thread")])
    energy = sum(sim.energy.values())
    rows = [
        *known,
        ("time", f"{sim.time:.6g} s, {sim.steps} steps"),
        ("energy", f"{energy:.6g} J"),
        *((f"effector {name}", ", ".join(f"{x:.6g}" for x in sim.pose(name)[:3]) + " m") for name in m.effectors[:8]),
        *(("warning", text) for text in sim.warnings[:5]),
    ]
    return drawing(m, [("#cccccc", m.state().poses), ("#1f77b4", sim.poses)]) + table(rows)


def equilibrium(rest: Any, m: Any) -> str:
    rows = [
        ("equilibrium of", m.name or "-"),
        ("residual", f"{rest.residual:.3g} after {rest.iterations} iterations"),
        ("stable", "yes" if rest.stable else "no"),
        *((f"effector {name}", ", ".join(f"{x:.6g}" for x in pose[:3]) + " m") for name, pose in list(rest.effectors.items())[:8]),
        *([("estimate of its error", f"{rest.estimate:.3g} radii")] if rest.estimate is not None else []),
        *(("warning", text) for text in rest.warnings[:5]),
    ]
    return drawing(m, [("#cccccc", m.state().poses), ("#1f77b4", rest.poses)]) + table(rows)
