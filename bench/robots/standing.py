"""Legged robots that stand on a plane for 10 s under PD control, in Pliant and in MuJoCo.

    python3 bench/robots/standing.py [--every N] [--docs]

Needs mujoco, numpy, trimesh and pycollada. Each robot is read by `pliant export` with a free base and the gains that Pliant gives it, and put with its
lowest point on a plane with friction 1 (with that of a link, 0.5, the geometric mean counts: 0.71). Pliant's engines `articulated` and `full` take steps of 1/240 s. For MuJoCo the same scene is built body by body:
masses, frames, springs, dampers and collision shapes; its integrator is `discrete`, its steps are 1 ms, its contacts as hard as these allow,
with elliptic cones. Links touch the plane alone. The height is that of the base after 10 s.
"""

import sys
import tempfile
import tomllib
from pathlib import Path

import mujoco
import numpy as np
import trimesh
from packages import arguments, finish, pliant, table, wheel

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from poses import compose, inverse, pose_of, rotate

SECONDS, DT, THEIR_DT, FRICTION = 10.0, 1.0 / 240.0, 1e-3, 1.0
ROBOTS = Path(__file__).with_name("standing.txt").read_text().split()


def one(value, default=0.0):
    value = default if value is None else value
    return float(value[0] if isinstance(value, list) else value)


class MuJoCo:
    """The scene of an exported file."""

    def __init__(self, data):
        self.spec = spec = mujoco.MjSpec()
        spec.compiler.degree = False
        spec.option.timestep = THEIR_DT
        spec.option.integrator = mujoco.mjtIntegrator.mjINT_DISCRETE
        spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
        spec.option.impratio = 10
        spec.memory = 1 << 28
        spec.compiler.balanceinertia = True  # repaired inertias meet the bound but for rounding
        self.poses = {body["name"]: pose_of(body) for body in data["body"]}
        self.bodies = {body["name"]: body for body in data["body"]}
        self.joints = {joint["child"]: joint for joint in data["joint"]}
        self.nodes, self.meshes = {}, {}
        for name in self.bodies:
            self.add(name)
        self.floor = spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 1], name="floor")
        self.floor.contype, self.floor.conaffinity = 0, 1
        self.floor.friction[0] = 0.0
        self.hard(self.floor)

    def hard(self, geom):
        geom.solref[:2] = [2 * THEIR_DT, 1.0]
        geom.solimp[:3] = [0.99, 0.999, 1e-4]

    def add(self, name):
        if name in self.nodes:
            return self.nodes[name]
        body, joint = self.bodies[name], self.joints.get(name)
        if joint is None:
            node, frame = self.spec.worldbody.add_body(name=name), self.poses[name]
            node.add_freejoint()
        else:
            node = self.add(joint["parent"]).add_body(name=name)
            frame = compose(inverse(self.poses[joint["parent"]]), self.poses[name])
        node.quat, node.pos = frame
        inertia = body.get("inertia", [0.0, 0.0, 0.0])
        if body.get("mass", 0.0) > 0.0 and any(inertia):
            node.explicitinertial, node.mass = True, body["mass"]
            node.ipos = body.get("center_of_mass", [0.0, 0.0, 0.0])
            xx, yy, zz, xy, xz, yz = inertia if len(inertia) == 6 else [*inertia, 0.0, 0.0, 0.0]
            least = np.linalg.eigvalsh([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])[0]
            more = max(1e-9 * max(xx, yy, zz) - least, 1e-12 - least, 0.0)  # of a flat link, which is welded to others
            node.fullinertia = [xx + more, yy + more, zz + more, xy, xz, yz]
        if joint is not None and joint["kind"] != "fixed":
            at = compose(inverse(self.poses[name]), pose_of(joint))
            kind = {"hinge": mujoco.mjtJoint.mjJNT_HINGE, "prismatic": mujoco.mjtJoint.mjJNT_SLIDE}[joint["kind"]]
            made = node.add_joint(name=joint["name"], type=kind, axis=rotate(at[0], [0, 0, 1]), pos=at[1])
            made.stiffness[0], made.damping[0] = one(joint.get("stiffness")), one(joint.get("damping"))
            made.springref, made.armature = one(joint.get("rest")), one(joint.get("armature"))
            made.frictionloss = one(joint.get("friction"))
        for shape in body.get("shape", []):
            if shape.get("touches", True):
                self.shape(node, shape)
        self.nodes[name] = node
        return node

    def shape(self, node, shape):
        kinds = mujoco.mjtGeom
        q, p = pose_of(shape)
        geom = node.add_geom(quat=q, pos=p)
        geom.contype, geom.conaffinity, geom.mass = 1, 0, 0.0
        # MuJoCo takes the larger of two, Pliant the geometric mean.
        geom.friction[0] = (FRICTION * shape.get("friction", 0.5)) ** 0.5
        self.hard(geom)
        kind = shape["kind"]
        if kind == "box":
            geom.type, geom.size = kinds.mjGEOM_BOX, np.array(shape["size"]) / 2
        elif kind == "ball":
            geom.type, geom.size = kinds.mjGEOM_SPHERE, [shape["radius"], 0, 0]
        elif kind in ("capsule", "cylinder"):
            geom.type = kinds.mjGEOM_CAPSULE if kind == "capsule" else kinds.mjGEOM_CYLINDER
            geom.size = [shape["radius"], shape["half_length"], 0]
        else:
            key = (shape["file"], tuple(shape.get("scale", [1.0, 1.0, 1.0])))
            if key not in self.meshes:
                self.meshes[key] = f"mesh{len(self.meshes)}"
                mesh = self.spec.add_mesh(name=self.meshes[key], scale=key[1], inertia=mujoco.mjtMeshInertia.mjMESH_INERTIA_CONVEX)
                if key[0].lower().endswith(".dae"):  # which MuJoCo does not read
                    mesh.uservert = trimesh.load(key[0], force="mesh").vertices.flatten()
                else:
                    mesh.file = key[0]
            geom.type, geom.meshname = kinds.mjGEOM_MESH, self.meshes[key]

    def start(self, data, floor=0.0):
        """Compiles it and puts it where it starts; the lowest point of all that touches, m."""
        self.floor.pos = [0.0, 0.0, floor]
        self.model = model = self.spec.compile()
        self.data = mujoco.MjData(model)
        for joint in data["joint"]:
            if joint["kind"] != "fixed":
                self.data.qpos[model.jnt_qposadr[model.joint(joint["name"]).id]] = one(joint.get("start"))
        mujoco.mj_forward(model, self.data)
        return min(self.lowest(g) for g in range(model.ngeom) if model.geom(g).name != "floor")

    def lowest(self, g):
        model, kinds = self.model, mujoco.mjtGeom
        R, p, size = self.data.geom_xmat[g].reshape(3, 3), self.data.geom_xpos[g], model.geom_size[g]
        up, kind = R[2], model.geom_type[g]
        if kind == kinds.mjGEOM_BOX:
            return p[2] - np.abs(up) @ size
        if kind == kinds.mjGEOM_SPHERE:
            return p[2] - size[0]
        if kind == kinds.mjGEOM_CAPSULE:
            return p[2] - size[0] - abs(up[2]) * size[1]
        if kind == kinds.mjGEOM_CYLINDER:
            return p[2] - np.hypot(up[0], up[1]) * size[0] - abs(up[2]) * size[1]
        mesh = model.geom_dataid[g]
        first, count = model.mesh_vertadr[mesh], model.mesh_vertnum[mesh]
        return p[2] + (model.mesh_vert[first:first + count] @ up).min()

    def stand(self, base):
        """Height of the base after the time, and how far it goes in the last second, m."""
        before = None
        for step in range(round(SECONDS / THEIR_DT)):
            if step == round((SECONDS - 1) / THEIR_DT):
                before = self.data.body(base).xpos.copy()
            mujoco.mj_step(self.model, self.data)
        now = self.data.body(base).xpos
        return now[2], np.linalg.norm(now - before)


def ours(options, scene, engine, base, weight):
    """Height, creep in the last second, deepest overlap (m), weight on the plane over the robot's; or why not."""
    motion = scene.with_suffix(".npz")
    answer = pliant(options, "simulate", scene, "--engine", engine, "--duration", SECONDS, "--dt", DT, "-o", motion)
    if answer["code"] != 0:
        return answer["error"]
    saved = np.load(motion)
    place = saved["poses"][:, [str(name) for name in saved["body_names"]].index(base), :3]
    carried = sum(c["force"][2] for c in answer["contacts"] if c["first"] == "world")
    creep = np.linalg.norm(place[-1] - place[-1 - round(1 / DT)])
    return place[-1][2], creep, answer["penetration"], carried / weight


def run(options, path):
    with tempfile.TemporaryDirectory() as name:
        scene = Path(name) / "scene.toml"
        made = pliant(options, "export", path, "--free-base", "-o", scene)
        if made["code"] != 0:
            return made["error"]
        text = scene.read_text()
        data = tomllib.loads(text)
        theirs = MuJoCo(data)
        low = theirs.start(data)
        theirs.start(data, low)
        plane = f'[[world.shape]]\nkind = "plane"\nposition = [0.0, 0.0, {float(low)}]\nfriction = {FRICTION}\n'
        scene.write_text(text + "\n" + plane)
        base = next(body for body in theirs.bodies if body not in theirs.joints)
        weight = 9.81 * sum(body.get("mass", 0.0) for body in data["body"])
        engines = [ours(options, scene, engine, base, weight) for engine in ("articulated", "full")]
        return engines, theirs.stand(base), theirs.model.nv


def main():
    options = arguments(__doc__)
    folder = wheel("example-robot-data") / "cmeel.prefix/share/example-robot-data/robots"
    rows = [["robot", "freedoms", "weight on the plane, `articulated`, `full`", "deepest, mm", "creep in the last second, mm",
             "`full` higher than `articulated`, mm", "MuJoCo higher, mm", "MuJoCo's creep, mm"]]
    for name in ROBOTS[::options.every]:
        try:
            result = run(options, folder / name)
        except ValueError as why:
            result = f"MuJoCo: {why}"
        if isinstance(result, str) or any(isinstance(one, str) for one in result[0]):
            why = result if isinstance(result, str) else next(one for one in result[0] if isinstance(one, str))
            rows.append([f"`{name}`", why.replace("\n", " ")[:200], *[""] * 6])
            continue
        (a, f), (height, creep), freedoms = result
        mm = lambda x: f"{1e3 * x:.3f}"
        rows.append([f"`{name}`", freedoms, f"{a[3]:.5f}, {f[3]:.5f}", f"{mm(a[2])}, {mm(f[2])}", f"{mm(a[1])}, {mm(f[1])}",
                     mm(f[0] - a[0]), mm(height - a[0]), mm(creep)])
        print(rows[-1], file=sys.stderr, flush=True)
    finish(options, "standing", f"MuJoCo {mujoco.__version__}.\n\n" + table(rows))


main()
