"""A model of MuJoCo as the text of an MJCF file: what its arrays hold, with all digits, for Pliant's own reader."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np
import numpy.typing as npt

#: What two bodies are joined at may be as far apart before it is warned of, m or rad.
GAP = 1e-6

#: Flags of MuJoCo that the reader knows.
FLAGS = ("gravity", "limit", "spring", "damper", "equality", "constraint", "actuation")


class Text:
    """The text of a model, line by line, and what has no place in it."""

    def __init__(self, mujoco: Any, model: Any) -> None:
        self.mujoco, self.model = mujoco, model
        self.lines: list[str] = []
        self.warnings: list[str] = []
        obj = mujoco.mjtObj
        self.bodies = self._names(obj.mjOBJ_BODY, model.nbody, lambda i: f"body_{i}")
        self.joints = self._names(obj.mjOBJ_JOINT, model.njnt, self._joint_name)
        self.geoms = self._names(obj.mjOBJ_GEOM, model.ngeom, lambda i: f"geom_{i}")
        self.sites = self._names(obj.mjOBJ_SITE, model.nsite, lambda i: f"site_{i + 1}")
        self.tendons = self._names(obj.mjOBJ_TENDON, model.ntendon, lambda i: f"tendon_{i}")
        #: Names are in the model's first text, that of the model itself before all.
        name = bytes(model.names).split(b"\0", 1)[0].decode()
        self.name = "" if name == "MuJoCo Model" else name
        self.touching = not model.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_CONTACT

    def _joint_name(self, i: int) -> str:
        body = self.model.jnt_bodyid[i]
        number = i - self.model.body_jntadr[body] + 1
        return f"{self.bodies[body]}_joint" + (str(number) if number > 1 else "")

    def _names(self, kind: Any, count: int, made: Callable[[int], str]) -> list[str]:
        """Names of all of a kind; what has none gets one that is not taken, the reader's own where it has such."""
        names: list[str] = [self.mujoco.mj_id2name(self.model, int(kind), i) or "" for i in range(count)]
        taken = set(names)
        for i in range(count):
            if not names[i]:
                name, number = made(i), 2
                while name in taken:
                    name, number = f"{made(i)}_{number}", number + 1
                names[i] = name
                taken.add(name)
        return names

    def _own(self, kind: Any, i: int) -> str | None:
        """The name that something has itself."""
        return self.mujoco.mj_id2name(self.model, int(kind), i) or None

    def add(self, tag: str, /, **attributes: object) -> None:
        """A line with an element; numbers with all digits, None left out."""
        self.begin(tag, **attributes)
        self.lines[-1] = self.lines[-1][:-1] + "/>"

    def begin(self, tag: str, /, **attributes: object) -> None:
        """The same of one that has others inside."""
        given = "".join(f" {key}={quoteattr(_value(value))}" for key, value in attributes.items() if value is not None)
        self.lines.append(f"<{tag}{given}>")

    def write(self, meshes: dict[int, str]) -> str:
        """The text, with the files of the meshes."""
        model, opt = self.model, self.model.opt
        self.begin("mujoco", model=self.name)
        self.add("compiler", angle="radian", autolimits="false", inertiafromgeom="false")
        fluid = {key: getattr(opt, key) for key in ("density", "viscosity", "wind") if np.any(getattr(opt, key))}
        self.begin("option", gravity=opt.gravity, **fluid)
        off = [name for name in FLAGS if opt.disableflags & getattr(self.mujoco.mjtDisableBit, f"mjDSBL_{name.upper()}")]
        self.add("flag", **dict.fromkeys(off, "disable"))
        self.lines.append("</option>")
        self._assets(meshes)
        self._bodies(meshes)
        for section, part in [("contact", self._contact), ("tendon", self._tendons), ("equality", self._equalities), ("actuator", self._actuators)]:
            self.begin(section)
            part()
            self.lines.append(f"</{section}>")
        self._left_out()
        self._key()
        self.lines.append("</mujoco>")
        return "\n".join(self.lines) + "\n"

    def _assets(self, meshes: dict[int, str]) -> None:
        model = self.model
        self.begin("asset")
        for i, file in meshes.items():
            self.add("mesh", name=f"mesh_{i}", file=file)
        for i in range(model.nhfield):
            rows, columns, first = int(model.hfield_nrow[i]), int(model.hfield_ncol[i]), int(model.hfield_adr[i])
            heights = model.hfield_data[first : first + rows * columns].astype(float).reshape(rows, columns)
            x, y, top, base = model.hfield_size[i]
            # The reader scales them from zero to one again, and has the first row at +y.
            self.add("hfield", name=f"field_{i}", nrow=rows, ncol=columns, size=[x, y, top * np.ptp(heights), base], elevation=heights[::-1])
        self.lines.append("</asset>")

    def _bodies(self, meshes: dict[int, str]) -> None:
        model = self.model
        self.begin("worldbody")
        opened: list[Any] = []
        self._content(0, meshes)
        for body in range(1, model.nbody):
            while opened and opened[-1] != model.body_parentid[body]:
                opened.pop()
                self.lines.append("</body>")
            opened.append(body)
            pose = self._pose(body)
            gravcomp = model.body_gravcomp[body] or None
            mocap = "true" if model.body_mocapid[body] >= 0 else None
            self.begin("body", name=self.bodies[body], pos=pose[:3], quat=pose[3:], gravcomp=gravcomp, mocap=mocap)
            if model.body_mass[body] or np.any(model.body_inertia[body]):
                self.add(
                    "inertial",
                    pos=model.body_ipos[body],
                    quat=model.body_iquat[body],
                    mass=model.body_mass[body],
                    diaginertia=model.body_inertia[body],
                )
            first = model.body_jntadr[body]
            for joint in range(first, first + model.body_jntnum[body]):
                self._joint(joint)
            self._content(body, meshes)
        self.lines.extend(["</body>"] * len(opened))
        self.lines.append("</worldbody>")

    def _pose(self, body: int) -> npt.NDArray[np.float64]:
        """Where a body is in its parent at ``qpos0``: what moves freely is where that has it."""
        model = self.model
        joint = model.body_jntadr[body]
        if model.body_jntnum[body] and model.jnt_type[joint] == self.mujoco.mjtJoint.mjJNT_FREE:
            at = model.jnt_qposadr[joint]
            return np.array(model.qpos0[at : at + 7])
        return np.concatenate([model.body_pos[body], model.body_quat[body]])

    def _joint(self, i: int) -> None:
        model, kinds = self.model, self.mujoco.mjtJoint
        kind, at, dof = model.jnt_type[i], model.jnt_qposadr[i], model.jnt_dofadr[i]
        names = {kinds.mjJNT_FREE: ("free", 6), kinds.mjJNT_BALL: ("ball", 3), kinds.mjJNT_SLIDE: ("slide", 1), kinds.mjJNT_HINGE: ("hinge", 1)}
        name, freedoms = names[kinds(kind)]
        each = {"damping": model.dof_damping, "armature": model.dof_armature, "frictionloss": model.dof_frictionloss}
        own = {key: values[dof : dof + freedoms] for key, values in each.items()}
        for key, values in own.items():
            if freedoms == 3 and np.ptp(values):
                self.warnings.append(f"joint `{self.joints[i]}`: its {key} is not the same about all axes; the mean was taken")
        attributes: dict[str, object] = {
            "stiffness": [model.jnt_stiffness[i], *_poly(model, "jnt_stiffnesspoly", i)],
            "damping": [np.mean(own["damping"]), *_poly(model, "dof_dampingpoly", dof)],
            **{key: np.mean(own[key]) for key in ("armature", "frictionloss")},
        }
        attributes = {key: value for key, value in attributes.items() if np.any(np.asarray(value))}
        if name == "free":
            self.add("joint", name=self.joints[i], type=name, **attributes)
            return
        if name == "ball":
            for of, values in (("qpos0", model.qpos0), ("qpos_spring", model.qpos_spring)):
                if abs(values[at]) < 1 - 1e-12:
                    self.warnings.append(f"joint `{self.joints[i]}`: a ball joint that is turned in `{of}` is not supported; it was taken as not turned")
        else:
            attributes |= {"axis": model.jnt_axis[i], "ref": model.qpos0[at], "springref": model.qpos_spring[at]}
        if np.any(getattr(model, "jnt_springyield", np.zeros(model.njnt))[i]):
            attributes["springyield"] = model.jnt_springyield[i]
        if model.jnt_actfrclimited[i]:
            attributes |= {"actuatorfrclimited": "true", "actuatorfrcrange": model.jnt_actfrcrange[i]}
        limits = {"limited": "true", "range": model.jnt_range[i]} if model.jnt_limited[i] else {}
        self.add("joint", name=self.joints[i], type=name, pos=model.jnt_pos[i], **attributes, **limits)

    def _content(self, body: int, meshes: dict[int, str]) -> None:
        """Geoms and sites."""
        model, kinds = self.model, self.mujoco.mjtGeom
        first = model.body_geomadr[body]
        for i in range(first, first + model.body_geomnum[body]):
            kind, data = kinds(model.geom_type[i]), int(model.geom_dataid[i])
            shape: dict[str, object]
            pos = np.array(model.geom_pos[i])
            if kind in (kinds.mjGEOM_MESH, kinds.mjGEOM_SDF):
                if data not in meshes:
                    continue
                shape = {"type": "mesh", "mesh": f"mesh_{data}"}
            elif kind == kinds.mjGEOM_HFIELD:
                shape = {"type": "hfield", "hfield": f"field_{data}"}
                # The reader's lowest point is at zero.
                adr, count = model.hfield_adr[data], model.hfield_nrow[data] * model.hfield_ncol[data]
                low = float(model.hfield_data[adr : adr + count].min()) * model.hfield_size[data, 2]
                pos += low * _turned(self.mujoco, model.geom_quat[i], [0.0, 0.0, 1.0])
            else:
                shape = {"type": kind.name[len("mjGEOM_") :].lower(), "size": model.geom_size[i]}
            bits = (int(model.geom_contype[i]), int(model.geom_conaffinity[i])) if self.touching else (0, 0)
            self.add(
                "geom",
                name=self.geoms[i],
                **shape,
                pos=pos,
                quat=model.geom_quat[i],
                contype=bits[0],
                conaffinity=bits[1],
                condim=int(model.geom_condim[i]),
                friction=model.geom_friction[i],
                group=int(model.geom_group[i]),
            )
        for i in np.flatnonzero(np.asarray(model.site_bodyid) == body).tolist():
            self.add("site", name=self.sites[i], pos=model.site_pos[i], quat=model.site_quat[i])

    def _contact(self) -> None:
        model = self.model
        if not self.touching:
            return
        for signature in model.exclude_signature:
            self.add("exclude", body1=self.bodies[int(signature) >> 16], body2=self.bodies[int(signature) & 0xFFFF])
        for i in range(model.npair):
            one, two = int(model.pair_geom1[i]), int(model.pair_geom2[i])
            # A friction of its own is that which its geoms do not give.
            of_geoms = np.maximum(model.geom_friction[one], model.geom_friction[two])
            first, second = model.geom_priority[one], model.geom_priority[two]
            if first != second:
                of_geoms = model.geom_friction[one if first > second else two]
            same = np.allclose(model.pair_friction[i], of_geoms[[0, 0, 1, 2, 2]], rtol=1e-12)
            self.add("pair", geom1=self.geoms[one], geom2=self.geoms[two], friction=None if same else model.pair_friction[i])

    def _tendons(self) -> None:
        model, kinds = self.model, self.mujoco.mjtWrap
        for i in range(model.ntendon):
            first = model.tendon_adr[i]
            parts = range(first, first + model.tendon_num[i])
            if any(model.wrap_type[k] != kinds.mjWRAP_JOINT for k in parts):
                self.add("spatial", name=self.tendons[i])
                continue
            limits = {"limited": "true", "range": model.tendon_range[i]} if model.tendon_limited[i] else {}
            self.begin(
                "fixed",
                name=self.tendons[i],
                stiffness=model.tendon_stiffness[i],
                damping=model.tendon_damping[i],
                armature=getattr(model, "tendon_armature", np.zeros(model.ntendon))[i],
                frictionloss=model.tendon_frictionloss[i] or None,
                springlength=model.tendon_lengthspring[i],
                **limits,
            )
            for k in parts:
                self.add("joint", joint=self.joints[model.wrap_objid[k]], coef=model.wrap_prm[k])
            self.lines.append("</fixed>")

    def _equalities(self) -> None:
        mujoco, model = self.mujoco, self.model
        kinds, data = mujoco.mjtEq, mujoco.MjData(model)
        data.qpos[:] = model.qpos0
        mujoco.mj_kinematics(model, data)
        for i in range(model.neq):
            kind, numbers = kinds(model.eq_type[i]), model.eq_data[i]
            one, two = int(model.eq_obj1id[i]), int(model.eq_obj2id[i])
            name, active = self._own(mujoco.mjtObj.mjOBJ_EQUALITY, i), "true" if model.eq_active0[i] else "false"
            tag = kind.name[len("mjEQ_") :].lower()
            if kind in (kinds.mjEQ_CONNECT, kinds.mjEQ_WELD):
                if model.eq_objtype[i] == mujoco.mjtObj.mjOBJ_SITE:
                    self.add(tag, name=name, active=active, site1=self.sites[one], site2=self.sites[two])
                    continue
                bodies = {"body1": self.bodies[one], "body2": self.bodies[two]}
                if kind == kinds.mjEQ_WELD:
                    # Where the second is in the first: MuJoCo holds a point of it where the first has it.
                    at = numbers[3:6] - _turned(mujoco, numbers[6:10], numbers[:3])
                    self.add(tag, name=name, active=active, **bodies, relpose=[*at, *numbers[6:10]])
                    continue
                here, there = (data.xpos[b] + _turned(mujoco, data.xquat[b], p) for b, p in ((one, numbers[:3]), (two, numbers[3:6])))
                if (gap := float(np.linalg.norm(there - here))) > GAP:
                    self.warnings.append(
                        f"equality {name or i} does not hold in `qpos0`, by {gap:.3e} m: the bodies are joined as they lie there"
                    )
                self.add(tag, name=name, active=active, **bodies, anchor=numbers[:3])
            elif kind in (kinds.mjEQ_JOINT, kinds.mjEQ_TENDON):
                names = self.joints if kind == kinds.mjEQ_JOINT else self.tendons
                both = {f"{tag}1": names[one], f"{tag}2": names[two] if two >= 0 else None}
                self.add(tag, name=name, active=active, **both, polycoef=numbers[:5])
            else:
                self.add(tag, name=name)

    def _actuators(self) -> None:
        mujoco, model = self.mujoco, self.model
        for i in self._acting():
            transmissions = {"JOINT": self.joints, "JOINTINPARENT": self.joints, "TENDON": self.tendons, "SITE": self.sites, "BODY": self.bodies}
            way = mujoco.mjtTrn(model.actuator_trntype[i]).name[len("mjTRN_") :]
            on: dict[str, object] = {"cranksite": self.sites[model.actuator_trnid[i, 0]]} if way == "SLIDERCRANK" else {}
            if way in transmissions:
                on = {way.lower(): transmissions[way][model.actuator_trnid[i, 0]]}
            for key in ("armature", "damping"):
                values = getattr(model, f"actuator_{key}", np.zeros(len(model.actuator_trntype)))
                if values[i]:
                    on[key] = [values[i], *_poly(model, "actuator_dampingpoly", i)] if key == "damping" else values[i]
            for key in ("ctrl", "force"):
                limited = getattr(model, f"actuator_{key}limited")[i]
                on[f"{key}limited"] = "true" if limited else "false"
                on[f"{key}range"] = getattr(model, f"actuator_{key}range")[i] if limited else None
            self.add(
                "general",
                name=self._own(mujoco.mjtObj.mjOBJ_ACTUATOR, i),
                **on,
                gear=model.actuator_gear[i],
                gaintype=mujoco.mjtGain(model.actuator_gaintype[i]).name[len("mjGAIN_") :].lower(),
                gainprm=model.actuator_gainprm[i],
                biastype=mujoco.mjtBias(model.actuator_biastype[i]).name[len("mjBIAS_") :].lower(),
                biasprm=model.actuator_biasprm[i],
                dyntype=mujoco.mjtDyn(model.actuator_dyntype[i]).name[len("mjDYN_") :].lower(),
                dynprm=model.actuator_dynprm[i],
            )

    def _acting(self) -> list[int]:
        """Actuators whose group is not disabled."""
        model = self.model
        groups, off = np.asarray(model.actuator_group), model.opt.disableactuator
        disabled = [0 <= group < 31 and bool(off >> int(group) & 1) for group in groups]
        if any(disabled):
            self.warnings.append(f"{sum(disabled)} actuators of groups that are disabled were left out")
        return [i for i in range(len(groups)) if not disabled[i]]

    def _left_out(self) -> None:
        """What has no counterpart, for the reader to warn of."""
        model, obj = self.model, self.mujoco.mjtObj
        self.begin("deformable")
        for i in range(model.nflex):
            self.add("flex", name=self._own(obj.mjOBJ_FLEX, i))
        self.lines.append("</deformable>")
        if model.nplugin:
            self.lines += ["<extension>", "<plugin/>", "</extension>"]
        if model.nsensor:
            self.lines += ["<sensor>", "<sensor/>", "</sensor>"]

    def _key(self) -> None:
        """The key frame in which it starts: `home`, or the first."""
        model = self.model
        if not model.nkey:
            return
        names = [self._own(self.mujoco.mjtObj.mjOBJ_KEY, i) for i in range(model.nkey)]
        i = names.index("home") if "home" in names else 0
        more = {key: values[i] for key, values in (("qvel", model.key_qvel), ("act", model.key_act)) if np.any(values[i])}
        mocap = np.flatnonzero(np.asarray(model.body_mocapid) >= 0)
        order = mocap[np.argsort(np.asarray(model.body_mocapid)[mocap])]
        for key, values, own in (("mpos", model.key_mpos, model.body_pos), ("mquat", model.key_mquat, model.body_quat)):
            if len(order) and np.any(np.ravel(values[i]) != np.ravel(own[order])):
                more[key] = values[i]
        acting = self._acting()
        at = getattr(model, "actuator_ctrladr", np.arange(len(model.actuator_trntype)))[acting]
        controls = model.key_ctrl[i][at] if len(at) else None
        self.begin("keyframe")
        self.add("key", name=names[i], qpos=model.key_qpos[i], ctrl=controls, **more)
        self.lines.append("</keyframe>")


def write_meshes(mujoco: Any, model: Any, folder: Path) -> dict[int, Path]:
    """Writes the meshes that something touches with, and those of bodies that touch with nothing, as STL files; by their numbers."""
    kinds = mujoco.mjtGeom
    off = bool(model.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_CONTACT)
    collides = (np.asarray(model.geom_contype) != 0) | (np.asarray(model.geom_conaffinity) != 0)
    collides[model.pair_geom1] = True
    collides[model.pair_geom2] = True
    collides &= not off
    solid = np.isin(model.geom_type, [kinds.mjGEOM_MESH, kinds.mjGEOM_SDF]) & (np.asarray(model.geom_dataid) >= 0)
    touches = np.zeros(model.nbody, dtype=bool)
    touches[np.asarray(model.geom_bodyid)[collides]] = True
    needed = solid & (collides | ~touches[model.geom_bodyid])
    written = {}
    for i in np.unique(np.asarray(model.geom_dataid)[needed]).tolist():
        points = model.mesh_vert[model.mesh_vertadr[i] : model.mesh_vertadr[i] + model.mesh_vertnum[i]]
        faces = model.mesh_face[model.mesh_faceadr[i] : model.mesh_faceadr[i] + model.mesh_facenum[i]]
        # Binary STL: 80 bytes, a count, and of each triangle normal, corners and two bytes more.
        triangles = np.zeros(len(faces), dtype=np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("more", "<u2")]))
        triangles["corners"] = points[faces]
        name = "".join(c if c.isalnum() or c in "-_" else "_" for c in model.mesh(i).name) or "mesh"
        file = folder / f"{name}_{i}.stl"
        file.write_bytes(bytes(80) + np.uint32(len(faces)).tobytes() + triangles.tobytes())
        written[i] = file
    return written


def _value(value: object) -> str:
    if isinstance(value, (str, int)):
        return str(value)
    numbers = np.asarray(value, dtype=float).ravel().tolist()
    return " ".join(map(repr, numbers))


def _poly(model: Any, key: str, i: int) -> Sequence[float]:
    """The higher terms of a polynomial, where this MuJoCo has such and they are not zero."""
    more = getattr(model, key, None)
    return [] if more is None or not np.any(more[i]) else [float(x) for x in more[i]]


def _turned(mujoco: Any, quat: Any, vector: Any) -> npt.NDArray[np.float64]:
    turned = np.zeros(3)
    mujoco.mju_rotVecQuat(turned, np.asarray(vector, dtype=float), np.asarray(quat, dtype=float))
    return turned
