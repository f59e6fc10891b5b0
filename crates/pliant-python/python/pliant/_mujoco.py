"""Mechanisms of models that MuJoCo holds in memory."""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from ._errors import InputError
from ._native import Mechanism, parse

#: Arrays of a model by which it is known from another.
KNOWN_BY = (
    *("body_parentid", "body_mass", "body_inertia", "body_ipos", "body_pos", "body_quat", "geom_type", "geom_bodyid", "geom_size", "geom_friction"),
    *("jnt_type", "jnt_axis", "jnt_pos", "jnt_range", "jnt_limited", "jnt_stiffness", "qpos_spring", "dof_damping", "dof_armature", "dof_frictionloss"),
    *("site_bodyid", "site_pos", "eq_type", "eq_data", "tendon_stiffness", "actuator_gear", "actuator_gainprm", "actuator_biasprm"),
)


def from_mujoco(model: Any, path: str | Path = "") -> Mechanism:
    """The mechanism of a ``mujoco.MjModel`` or ``mujoco.MjSpec``, read as its MJCF file would be.

    ``path`` is the file that its meshes lie next to, if it has any. Of an ``MjModel`` MuJoCo keeps the text of the last one that was loaded
    only: it is compared with the model, and another is refused; an ``MjSpec`` has its own.

    >>> m = pliant.from_mujoco(mujoco.MjModel.from_xml_path("hand.xml"), "hand.xml")
    """
    import mujoco  # type: ignore[import-untyped,import-not-found,unused-ignore]

    if isinstance(model, mujoco.MjSpec):
        model.compile()
        return parse(model.to_xml(), "mjcf", str(path))
    if not isinstance(model, mujoco.MjModel):
        raise TypeError(f"model: expected a mujoco.MjModel or mujoco.MjSpec, got {type(model).__name__}")
    other = "model: MuJoCo keeps the text of the model that was loaded last, and that is another: load this one last, or give its MjSpec"
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "model.xml"
        try:
            mujoco.mj_saveLastXML(str(file), model)
            text = file.read_text()
        except (mujoco.FatalError, OSError) as error:
            raise InputError(f"{other} ({error})") from None
    if not _same(mujoco, text, model):
        raise InputError(other)
    return parse(text, "mjcf", str(path))


def _same(mujoco: Any, text: str, model: Any) -> bool:
    """Whether a text is that of a model: whether it compiles to the same numbers, with what the model holds in place of files."""
    try:
        spec = mujoco.MjSpec.from_string(text)
        if not _filled(mujoco, spec, model):
            return False
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the text that MuJoCo has written itself
            again = spec.compile()
    except ValueError:
        return False
    if again.names != model.names:
        return False
    pairs = [(getattr(again, key), getattr(model, key)) for key in KNOWN_BY]
    # A text has six digits, and an inertia of meshes loses some.
    return all(a.shape == b.shape and np.allclose(a, b, rtol=1e-4, atol=1e-7 * np.abs(b).max(initial=0.0)) for a, b in pairs)


def _filled(mujoco: Any, spec: Any, model: Any) -> bool:
    """Puts the meshes and fields of a model in place of the files that a text of it names; whether there are as many."""
    meshes, fields = list(spec.meshes), list(spec.hfields)
    if (len(meshes), len(fields)) != (model.nmesh, model.nhfield):
        return False
    for i, mesh in enumerate(meshes):
        if not mesh.file:
            continue
        first, count = model.mesh_vertadr[i], model.mesh_vertnum[i]
        turned = np.zeros(9)
        mujoco.mju_quat2Mat(turned, model.mesh_quat[i])
        # MuJoCo has moved and scaled them.
        points = model.mesh_vert[first : first + count] @ turned.reshape(3, 3).T + model.mesh_pos[i]
        faces = model.mesh_face[model.mesh_faceadr[i] : model.mesh_faceadr[i] + model.mesh_facenum[i]]
        mesh.file, mesh.scale = "", [1.0, 1.0, 1.0]
        mesh.refpos, mesh.refquat = [0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]
        mesh.uservert, mesh.userface = points.ravel().tolist(), faces.ravel().tolist()
    for i, field in enumerate(fields):
        if field.file:
            rows, columns = int(model.hfield_nrow[i]), int(model.hfield_ncol[i])
            first = model.hfield_adr[i]
            field.file, field.nrow, field.ncol = "", rows, columns
            field.userdata = model.hfield_data[first : first + rows * columns].tolist()
    for texture in spec.textures:  # they weigh nothing
        texture.file, texture.cubefiles = "", [""] * 6
        texture.builtin, texture.width, texture.height = mujoco.mjtBuiltin.mjBUILTIN_FLAT, 1, 1
    return True
