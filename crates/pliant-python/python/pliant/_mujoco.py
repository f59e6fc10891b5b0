"""Mechanisms of models that MuJoCo holds in memory."""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ._errors import PliantWarning
from ._native import Mechanism, mechanism_from_text, parse

if TYPE_CHECKING:
    from ._mjcf import Text


def from_mujoco(model: Any, meshes: str | Path | None = None) -> Mechanism:
    """The mechanism of a ``mujoco.MjModel`` or ``mujoco.MjSpec``, from its arrays: also of a model that was changed in memory.

    It is read like an MJCF file with these numbers; a feature without counterpart is a ``PliantWarning``. Surfaces of meshes are kept with
    the mechanism, also in pickles; ``meshes`` is a folder to write them to, so that scene files of it (``save``) find them there.

    >>> model = mujoco.MjModel.from_xml_path("hand.xml")
    >>> model.body_mass[1] *= 2
    >>> m = pliant.from_mujoco(model)
    """
    import mujoco  # type: ignore[import-untyped,import-not-found,unused-ignore]

    from ._mjcf import Text  # not needed by those who have no MuJoCo

    if isinstance(model, mujoco.MjSpec):
        model = model.compile()
    if not isinstance(model, mujoco.MjModel):
        raise TypeError(f"model: expected a mujoco.MjModel or mujoco.MjSpec, got {type(model).__name__}")
    text = Text(mujoco, model)
    if meshes is not None:
        Path(meshes).mkdir(parents=True, exist_ok=True)
        return _read(text, Path(meshes).absolute(), kept=True)
    with tempfile.TemporaryDirectory(prefix="pliant-") as folder:
        return _read(text, Path(folder).resolve(), kept=False)


def _read(text: Text, folder: Path, kept: bool) -> Mechanism:
    from ._mjcf import write_meshes

    files = write_meshes(text.mujoco, text.model, folder)
    written = text.write({i: str(file) for i, file in files.items()})
    m = parse(written, "mjcf", f"{text.name or 'model'}.xml", [folder] if files else [])
    for warning in text.warnings:
        warnings.warn(warning, PliantWarning, stacklevel=4)
    if not text.warnings and (kept or not files):
        return m
    # With its own warnings, and with the surfaces instead of their files.
    _, (scene, (origin, packages, surfaces), (said, notes)) = m.__reduce__()
    if not kept:
        scene = scene.replace(f"{folder}/", "")
        surfaces = {name.removeprefix(f"{folder}/"): surface for name, surface in surfaces.items()}
        packages = []
    return mechanism_from_text(scene, (origin, packages, surfaces), ([*said, *text.warnings], notes))
