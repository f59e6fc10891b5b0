"""A mechanism by its parts, with the keys of the scene file."""

from __future__ import annotations

import json
import math
import re
from typing import Any

import numpy as np

from ._native import Mechanism, parse


def _value(key: str, value: object) -> str:
    """A value as TOML writes it."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, int):
        # Numbers of a scene are floating; more digits than these have are refused there.
        return str(value)
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else {math.inf: "inf", -math.inf: "-inf"}.get(value, "nan")
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_value(key, x) for x in value) + "]"
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(str(k))} = {_value(key, x)}" for k, x in value.items()) + " }"
    raise TypeError(f"{key}: expected a number, a text, or a list of them, got {type(value).__name__}")


def _key(key: str) -> str:
    """A key as a scene file has it: quoted where it is not plain."""
    return key if re.fullmatch("[A-Za-z0-9_-]+", key) else json.dumps(key)


class Builder:
    """Builds a mechanism from its parts. Keys, units and defaults are those of the scene file; ``build`` reports all errors at once.

    >>> b = pliant.Builder("pendulum on a spring")
    >>> b.body("bob", position=[0, 0, -0.5], mass=0.2, inertia=[1e-3, 1e-3, 1e-3])
    >>> b.joint("pivot", kind="hinge", parent="world", child="bob", position=[0, 0, 0], axis=[0, 1, 0], stiffness=5.0, damping=0.1)
    >>> b.effector("tip", body="bob")
    >>> m = b.build()
    """

    def __init__(self, name: str = "", **keys: Any) -> None:
        """``name`` and other keys of ``[mechanism]``, such as ``gravity``."""
        self._mechanism = {"name": name, **keys}
        self._parts: list[tuple[str, dict[str, Any]]] = []

    def _add(self, kind: str, keys: dict[str, Any]) -> Builder:
        for key, value in keys.items():
            _value(key, value)  # what cannot be written is an error here
        self._parts.append((kind, keys))
        return self

    def body(self, name: str, **keys: Any) -> Builder:
        """A body: position (m), rotation or rpy, mass (kg), center_of_mass (m), inertia (kg·m²), free, passes.

        >>> b = pliant.Builder().body("bob", position=[0, 0, -0.5], mass=0.2, inertia=[1e-3, 1e-3, 1e-3])
        """
        return self._add("body", {"name": name, **keys})

    def shape(self, kind: str, **keys: Any) -> Builder:
        """A shape of the body that was added last: size, radius, half_length (m), position, friction, density…

        >>> b = pliant.Builder().body("bob", free=True).shape("ball", radius=0.02, density=7800)
        >>> b.build().has_contact
        False
        """
        if not any(part == "body" for part, _ in self._parts):
            raise ValueError("shape: it belongs to a body, and there is none yet; a shape of the world is world_shape")
        if self._parts[-1][0] not in ("body", "body.shape"):
            raise ValueError("shape: add it right after its body")
        return self._add("body.shape", {"kind": kind, **keys})

    def world_shape(self, kind: str, **keys: Any) -> Builder:
        """A shape of the world.

        >>> b = pliant.Builder().body("bob", free=True, position=[0, 0, 1]).shape("ball", radius=0.02, density=7800).world_shape("plane")
        >>> b.build().has_contact
        True
        """
        return self._add("world.shape", {"kind": kind, **keys})

    def joint(self, name: str, **keys: Any) -> Builder:
        """A joint: kind, parent, child, position (m), axis or rotation, stiffness, damping, limits, rest, armature, friction…

        >>> b = pliant.Builder().body("bob", mass=0.2, inertia=[1e-3, 1e-3, 1e-3])
        >>> b.joint("pivot", kind="hinge", parent="world", child="bob", axis=[0, 1, 0], stiffness=5.0).build().freedoms
        1
        """
        return self._add("joint", {"name": name, **keys})

    def effector(self, name: str, **keys: Any) -> Builder:
        """An effector: body, position (m) in its link frame.

        >>> b = pliant.Builder().body("bob", mass=0.2, inertia=[1e-3, 1e-3, 1e-3]).effector("tip", body="bob", position=[0, 0, -0.1])
        """
        return self._add("effector", {"name": name, **keys})

    def coupling(self, **keys: Any) -> Builder:
        """A coupling of two joints: joint, of, ratio, offset.

        >>> b = pliant.Builder().coupling(joint="right", of="left", ratio=-1.0)
        """
        return self._add("coupling", keys)

    def load(self, **keys: Any) -> Builder:
        """A load of the scene: effector, force (N), torque (N·m).

        >>> b = pliant.Builder().load(effector="tip", force=[0, 0, -1])
        """
        return self._add("load", keys)

    def target(self, **keys: Any) -> Builder:
        """A set-point over time: joint, time (s), position.

        >>> b = pliant.Builder().target(joint="pivot", time=[0, 1], position=[0, 0.3])
        """
        return self._add("target", keys)

    def spring(self, name: str, **keys: Any) -> Builder:
        """A spring to a point of the world or to a body.

        >>> b = pliant.Builder().spring("device", effector="tip", point=[0, 0, 1], stiffness=200.0)
        """
        return self._add("spring", {"name": name, **keys})

    def zone(self, name: str, **keys: Any) -> Builder:
        """An elastic zone: body (its bone), kind and size of its shape, young (Pa), poisson, damping (s), friction, resolution (m), bonded…

        >>> b = pliant.Builder("plate on a pad")
        >>> b.body("plate", position=[0, 0, 0.012], free=True).shape("box", size=[0.03, 0.03, 0.004], density=2700)
        >>> b.zone("pad", body="plate", kind="box", size=[0.02, 0.02, 0.01], position=[0, 0, -0.006], young=2e5, poisson=0.45, resolution=0.004)
        >>> b.world_shape("plane")
        >>> m = b.build()
        """
        return self._add("zone", {"name": name, **keys})

    def to_toml(self) -> str:
        """The text of its scene file.

        >>> print(pliant.Builder("empty").to_toml())
        """
        lines = ["[mechanism]", *(f"{_key(key)} = {_value(key, value)}" for key, value in self._mechanism.items())]
        for kind, keys in self._parts:
            lines += [f"[[{kind}]]", *(f"{_key(key)} = {_value(key, value)}" for key, value in keys.items())]
        return "\n".join(lines) + "\n"

    def build(self) -> Mechanism:
        """The mechanism; all its errors are one ``InputError``.

        >>> b = pliant.Builder("bob").body("bob", free=True, mass=0.2, inertia=[1e-3, 1e-3, 1e-3])
        >>> b.build().mass
        0.2
        """
        return parse(self.to_toml(), "toml", "builder.toml")
