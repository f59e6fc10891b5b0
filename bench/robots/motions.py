"""One second of every robot file that MuJoCo loads, in MuJoCo and in Pliant.

    python3 bench/robots/motions.py [--packages A,B] [--every N] [--docs]

Needs mujoco and numpy. Each file is loaded by both as it is and moves for 1 s under gravity, in steps of 0.5 ms, without contact and
without limits, which are soft in one and hard in the other. Where a file has no springs, Pliant holds joints as by PD control: MuJoCo
then gets the same gains, and starts where Pliant does. The difference is the largest distance between the two positions of a body,
at any of ten moments, over the robot's radius; bodies are matched by name. The mass is compared too.
"""

import re
import tempfile
import tomllib
import xml.etree.ElementTree as ElementTree
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import mujoco
import numpy as np
from packages import arguments, finish, models, pliant, table, wheel

DT, MOMENTS = 5e-4, 10
STEPS = round(1.0 / DT)

# Differences below this, over the radius, need no reason.
SMALL = 0.01

# What goes farther than this, over the radius, moves.
MOVES = 1e-4


def first(values, position=0):
    return float(values[position] if isinstance(values, list) else values)


def load(path):
    """As MuJoCo has it; of a URDF file all links are kept, and shapes are left out where it does not find their meshes."""
    if path.suffix != ".urdf":
        return mujoco.MjModel.from_xml_path(str(path))
    def compiled(spec):
        spec.compiler.fusestatic = False
        return spec.compile()
    try:
        return compiled(mujoco.MjSpec.from_file(str(path)))
    except ValueError as why:
        if "opening file" not in str(why):
            raise
    root = ElementTree.parse(path).getroot()
    for link in root.iter("link"):
        for shape in [child for child in link if child.tag in ("visual", "collision")]:
            link.remove(shape)
    return compiled(mujoco.MjSpec.from_string(ElementTree.tostring(root, encoding="unicode")))


class MuJoCo:
    """A file, with contacts and limits off and equalities as hard as can be."""

    def __init__(self, path):
        self.model = model = load(path)
        off = mujoco.mjtDisableBit
        model.opt.disableflags |= off.mjDSBL_CONTACT | off.mjDSBL_LIMIT | off.mjDSBL_REFSAFE
        model.opt.integrator = mujoco.mjtIntegrator.mjINT_DISCRETE
        model.opt.solver = mujoco.mjtSolver.mjSOL_NEWTON
        model.opt.iterations, model.opt.tolerance, model.opt.timestep = 100, 0, DT
        model.body_gravcomp[:] = 0
        model.eq_solref[:] = [4 * DT, 1]
        model.eq_solimp[:] = [0.9999, 0.9999, 0.001, 0.5, 2]
        self.data = mujoco.MjData(model)
        keys = [k for k in range(model.nkey) if model.key(k).name == "home"] or list(range(min(model.nkey, 1)))
        if keys:
            mujoco.mj_resetDataKeyframe(model, self.data, keys[0])
            self.data.qvel[:] = 0
            self.data.time = 0

    def body_name(self, b):
        return self.model.body(b).name or f"body_{b}"

    def joint_names(self):
        """As Pliant names them: unnamed ones after their bodies."""
        names = {}
        for j in range(self.model.njnt):
            b = self.model.jnt_bodyid[j]
            place = j - self.model.body_jntadr[b]
            unnamed = f"{self.body_name(b)}_joint{place + 1 if place else ''}"
            names[self.model.joint(j).name or unnamed] = j
        return names

    def hold(self, joints, gains):
        """Where Pliant's joints start and, if asked, their gains, by name; how many freedoms were found, and of how many."""
        model, names, found, count = self.model, self.joint_names(), 0, 0
        if gains:
            model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_ACTUATION
        for joint in joints:
            freedoms = joint["name"].split("+")
            count += len(freedoms)
            for f, name in enumerate(freedoms):
                j = names.get(name, -1)
                if j < 0 or model.jnt_type[j] < 2:
                    continue
                q, v = model.jnt_qposadr[j], model.jnt_dofadr[j]
                value = lambda key: first(joint.get(key, 0.0), f)
                self.data.qpos[q] = model.qpos0[q] + value("start")
                if not gains:
                    continue
                model.jnt_stiffness[j] = value("stiffness")
                model.dof_damping[v] = value("damping")
                model.dof_armature[v] = value("armature")
                model.dof_frictionloss[v] = value("friction")
                model.qpos_spring[q] = model.qpos0[q] + value("rest")
                found += 1
        return found, count

    def run(self):
        """Names of bodies, and their positions at the start and at each moment."""
        names = [self.body_name(b) for b in range(1, self.model.nbody)]
        mujoco.mj_forward(self.model, self.data)
        places = [self.data.xpos[1:].copy()]
        for _ in range(MOMENTS):
            mujoco.mj_step(self.model, self.data, STEPS // MOMENTS)
            mujoco.mj_kinematics(self.model, self.data)
            places.append(self.data.xpos[1:].copy())
        return names, np.array(places)


def without_limits(text):
    return re.sub(r"(?m)^limits = .*\n", "", text)


def run(options, path):
    """A dictionary of what came of a file; nothing if MuJoCo refuses it."""
    try:
        theirs = MuJoCo(path)
    except ValueError:
        return None
    result = {"path": path}
    with tempfile.TemporaryDirectory() as name:
        scene, motion = Path(name) / "scene.toml", Path(name) / "motion.npz"
        info = pliant(options, "info", path, "--verbose")
        made = pliant(options, "export", path, "-o", scene)
        if info["code"] != 0 or made["code"] != 0:
            result["error"] = info.get("error") or made.get("error")
            return result
        result["mass"] = (info["mass"], float(theirs.model.body_mass.sum()))
        result["warnings"] = info["warnings"]
        text = scene.read_text()
        scene.write_text(without_limits(text))
        data = tomllib.loads(text)
        held = [joint for joint in data.get("joint", []) if joint["kind"] != "fixed"]
        notes = " ".join(info.get("notes", []))
        gains = "held as by PD" in notes
        matched = theirs.hold(held, gains) if gains or theirs.model.nkey == 0 else (0, 0)
        if gains:
            result["matched"] = matched
        answer = pliant(options, "simulate", scene, "--duration", 1, "--dt", DT, "--no-contact", "--engine", "articulated", "-o", motion)
        if answer["code"] != 0:
            result["error"] = answer["error"]
            return result
        saved = np.load(motion)
        ours, names = saved["poses"][:: STEPS // MOMENTS, :, :3], [str(name) for name in saved["body_names"]]
    their_names, places = theirs.run()
    common = [(names.index(name), b) for b, name in enumerate(their_names) if name in names]
    if not common or not np.isfinite(places).all():
        result["error"] = "no body has the same name" if not common else "MuJoCo diverges"
        return result
    a, b = map(list, zip(*common))
    apart = np.linalg.norm(ours[:, a] - places[:, b], axis=2)
    radius = info["radius"] or 1.0
    result["start"], result["difference"] = apart[0].max() / radius, apart.max() / radius
    result["way"] = np.linalg.norm(places - places[0], axis=2).max() / radius
    result["worst"] = their_names[b[int(apart.max(axis=0).argmax())]]
    return result


def main():
    options = arguments(__doc__)
    rows = [["package", "MuJoCo loads", "Pliant too", "mass to 1e-6", "median difference of those that move", "below 1 %", "worst"]]
    outliers = [["file", "difference", "body", "moved by", "why"]]
    for package in options.packages:
        with ThreadPoolExecutor(2) as pool:
            results = [one for one in pool.map(lambda path: run(options, path), models(package)[::options.every]) if one]
        loaded = [one for one in results if "mass" in one]
        same = [one for one in loaded if abs(one["mass"][0] - one["mass"][1]) <= 1e-6 * one["mass"][1]]
        moved = [one for one in loaded if "difference" in one]
        differences = np.array([one["difference"] for one in moved])
        moving = [one["difference"] for one in moved if one["way"] > MOVES]
        rows.append([package, len(results), len(loaded), len(same), f"{np.median(moving):.1e} of {len(moving)}",
                     f"{(differences < SMALL).sum()} of {len(moved)}", f"{differences.max():.1e}"])
        for one in results:
            name = f"`{one['path'].relative_to(wheel(package))}`"
            if "error" in one:
                outliers.append([name, "–", "", "", one["error"].splitlines()[0].removeprefix("error: ").replace("|", "/")])
            elif one["difference"] >= SMALL:
                of_file = [warning for warning in one["warnings"] if re.match(r"\S+:\d+: ", warning)]
                why = "; ".join(warning.split(": ", 1)[-1] for warning in of_file) or "not known"
                if one["start"] > 1e-6:
                    why = f"starts {one['start']:.1e} apart; {why}"
                if "matched" in one and one["matched"][0] != one["matched"][1]:
                    why = f"MuJoCo has no spring for {one['matched'][1] - one['matched'][0]} of {one['matched'][1]} joints; {why}"
                outliers.append([name, f"{one['difference']:.1e}", one["worst"], f"{one['way']:.1e}", why.replace("|", "/")])
            if "mass" in one and one not in same:
                outliers.append([name, "mass", "", "", f"{one['mass'][0]:.6g} kg instead of {one['mass'][1]:.6g}"])
    text = (f"MuJoCo {mujoco.__version__}. Differences are over the radius.\n\n" + table(rows)
            + "\nFiles that differ by more than 1 % of the radius, or could not be compared:\n\n" + table(outliers))
    finish(options, "motions", text)


main()
