"""Contact against MuJoCo: the same scenes, the same step, at rest, in one run.

    cargo build --release && cargo build --release -p pliant-core --example contact
    pip install mujoco==4.0.0
    python bench/contact_scenes.py [--programs target/release] [--blocks 9] [--steps 24000] [-o bench/results]

Scenes are what `pliant export` writes: the hexapod with six feet on a plane and on a height field, and the hand that holds a
ball with its palm and five fingertips. For MuJoCo they are built body by body: the same masses, frames, springs and dampers (joint
stiffness and damping, which its integrator `discrete` takes implicitly), the same shapes on the same bodies, which are those of
the effectors, and the same friction of each pair. Its plane is a plane (Pliant's is a box). Joint limits are left out of both: the
reduced engine has none.

MuJoCo races twice: as it comes, and made to hold what Coulomb friction holds: elliptic cones, impratio 10, 20 noslip
iterations, contacts as hard as the step allows. As it comes, feet creep until nothing pulls at them, and the ball is lost.

Blocks alternate. A block is the median time of a step at rest: for MuJoCo of calls of mj_step with twenty steps each, for
Pliant of twenty steps with all links, by the example program. Told are the median over blocks, the tenth and ninetieth
percentiles, and where all came to rest: heights, and the forces of contact, which must carry the weight. Writes
contact.json and contact.md.
"""

import argparse
import csv
import json
import math
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time
import tomllib

import mujoco
import numpy as np

DT = 1.0 / 240.0
SETTLE = 5.0  # s, more than the scenes need
FRICTION = 0.5  # Pliant's, of a shape that says nothing of it
CALL = 20  # steps of a timed call of MuJoCo
IDENTITY = ([1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0])

GROUND = {
    "plane": "[[world.shape]]\nkind = \"box\"\nsize = [4.0, 4.0, 0.5]\nposition = [0.0, 0.0, -0.25]\n",
    "height field": "[[world.shape]]\nkind = \"heightfield\"\nsize = [4.0, 4.0]\nheights = "
                    + json.dumps([[0.0] * 41] * 41) + "\n",
}
# Name, the example's name for it, what is exported, ground, the body whose height is compared.
SCENES = [
    ("hexapod, six feet on a plane", "plane", "hexapod", "plane", "base"),
    ("hexapod, six feet on a height field", "field", "hexapod", "height field", "base"),
    ("hand, palm and fingertips on a ball", "hand", "hand-grasp", None, "ball"),
]


def rotate(q, v):
    out = np.zeros(3)
    mujoco.mju_rotVecQuat(out, np.array(v, dtype=float), np.array(q, dtype=float))
    return out


def compose(a, b):
    turned = np.zeros(4)
    mujoco.mju_mulQuat(turned, np.array(a[0]), np.array(b[0]))
    return turned, np.array(a[1]) + rotate(a[0], b[1])


def inverse(a):
    back = np.array(a[0]) * [1.0, -1.0, -1.0, -1.0]
    return back, -rotate(back, a[1])


def pose_of(entry):
    q = np.array(entry.get("rotation", IDENTITY[0]), dtype=float)
    return q / np.linalg.norm(q), np.array(entry.get("position", IDENTITY[1]), dtype=float)


def values(entry, key, count):  # one for each freedom
    x = entry.get(key, 0.0)
    return [float(v) for v in x] if isinstance(x, list) else [float(x)] * count


class MuJoCo:
    """The scene of a file."""

    AXES = {"hinge": "z", "universal": "xy", "prismatic": "z"}

    def __init__(self, path, plane, holds):
        data = tomllib.loads(path.read_text())
        spec = mujoco.MjSpec()
        spec.option.timestep = DT
        spec.option.integrator = mujoco.mjtIntegrator.mjINT_DISCRETE
        spec.option.gravity = data.get("mechanism", {}).get("gravity", [0.0, 0.0, -9.81])
        self.spec, self.nodes, self.poses = spec, {"world": spec.worldbody}, {"world": IDENTITY}
        self.joints = {joint["child"]: joint for joint in data.get("joint", [])}
        self.touching = {effector["body"] for effector in data["effector"]} | {
            body["name"] for body in data["body"] if body["name"] not in self.joints}
        self.names = {}
        frictions = {shape.get("friction", FRICTION) for body in data["body"] for shape in body.get("shape", [])}
        self.mixed = len(frictions) > 1
        for shape in data.get("world", {}).get("shape", []):
            self.shape(self.nodes["world"], shape, plane)
        for body in data["body"]:
            self.body(data, body)
        # Bodies of one mechanism that overlap where it starts do not touch in Pliant.
        model = spec.compile()
        start = mujoco.MjData(model)
        mujoco.mj_forward(model, start)
        for contact in start.contact:
            names = [model.body(model.geom_bodyid[geom]).name for geom in contact.geom]
            if contact.dist < -1e-4 and all(name in self.joints for name in names):
                spec.add_exclude(bodyname1=names[0], bodyname2=names[1])
        if holds:
            spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
            spec.option.impratio = 10.0
            spec.option.noslip_iterations = 20
            for geom in spec.geoms:
                geom.solref[0] = 2.0 * DT
                geom.solimp[:2] = [0.99, 0.99]
        self.model = spec.compile()
        self.data = mujoco.MjData(self.model)
        self.targets = data.get("target", [])
        while self.data.time < SETTLE:
            self.follow(self.data.time + DT)
            mujoco.mj_step(self.model, self.data)

    def body(self, data, entry):
        name = entry["name"]
        if name in self.nodes:
            return
        pose, joint = pose_of(entry), self.joints.get(name)
        parent = joint["parent"] if joint else "world"
        for other in data["body"]:
            if other["name"] == parent:
                self.body(data, other)
        q, p = compose(inverse(self.poses[parent]), pose)
        node = self.nodes[parent].add_body(name=name, pos=p, quat=q)
        self.nodes[name], self.poses[name] = node, pose
        node.explicitinertial, node.mass = True, entry["mass"]
        node.ipos = entry.get("center_of_mass", [0.0] * 3)
        node.fullinertia = (entry["inertia"] + [0.0] * 3)[:6]
        if joint is None:
            node.add_freejoint()
        elif joint["kind"] != "fixed":
            self.joint(node, joint, compose(inverse(pose), pose_of(joint)))
        if name in self.touching:
            for shape in entry.get("shape", []):
                self.shape(node, shape, False)

    def joint(self, node, entry, frame):
        axes = self.AXES[entry["kind"]]
        kind = mujoco.mjtJoint.mjJNT_SLIDE if entry["kind"] == "prismatic" else mujoco.mjtJoint.mjJNT_HINGE
        stiffness, damping = values(entry, "stiffness", len(axes)), values(entry, "damping", len(axes))
        self.names[entry["name"]] = [f"{entry['name']}.{k}" for k in range(len(axes))]
        for k, axis in enumerate(axes):
            along = rotate(frame[0], [float(axis == x) for x in "xyz"])
            joint = node.add_joint(name=self.names[entry["name"]][k], type=kind, pos=frame[1], axis=along)
            joint.stiffness[0], joint.damping[0] = stiffness[k], damping[k]

    def shape(self, node, entry, plane):
        if entry.get("touches") is False:
            return
        q, p = pose_of(entry)
        kinds, kind = mujoco.mjtGeom, entry["kind"]
        # The geometric mean of a pair, by rank: the fingers' own friction is that of the pair with the ball.
        friction, rank = entry.get("friction", FRICTION), 0
        if self.mixed and "friction" not in entry:
            friction, rank = math.sqrt(FRICTION * 0.8), 1
        geom = node.add_geom(pos=p, quat=q, friction=[friction, 0.005, 0.0001], priority=rank)
        if plane and kind == "box":
            geom.type, geom.size, geom.pos = kinds.mjGEOM_PLANE, [2.0, 2.0, 1.0], [0.0, 0.0, 0.0]
        elif kind == "box":
            geom.type, geom.size = kinds.mjGEOM_BOX, [0.5 * x for x in entry["size"]]
        elif kind == "ball":
            geom.type, geom.size = kinds.mjGEOM_SPHERE, [entry["radius"], 0.0, 0.0]
        elif kind in ("capsule", "cylinder"):
            geom.type = kinds.mjGEOM_CAPSULE if kind == "capsule" else kinds.mjGEOM_CYLINDER
            geom.size = [entry["radius"], entry["half_length"], 0.0]
        elif kind == "heightfield":
            rows, columns = len(entry["heights"]), len(entry["heights"][0])
            size = [0.5 * entry["size"][0], 0.5 * entry["size"][1], 1.0, 0.1]
            flat = [x for row in entry["heights"] for x in row]
            self.spec.add_hfield(name="ground", nrow=rows, ncol=columns, size=size, userdata=flat)
            geom.type, geom.hfieldname = kinds.mjGEOM_HFIELD, "ground"
        else:
            sys.exit(f"no {kind} for MuJoCo here")

    def follow(self, now):
        for target in self.targets:
            for k, name in enumerate(self.names[target["joint"]]):
                path = [x[k] if isinstance(x, list) else x for x in target["position"]]
                at = self.model.joint(name).qposadr[0]
                self.model.qpos_spring[at] = np.interp(now, target["time"], path)

    def block(self, steps):
        times = []
        for _ in range(steps // CALL):
            start = time.perf_counter_ns()
            mujoco.mj_step(self.model, self.data, nstep=CALL)
            times.append(time.perf_counter_ns() - start)
        return statistics.median(times) * 1e-3 / CALL

    def answer(self, body):
        model, data, wrench, forces = self.model, self.data, np.zeros(6), {}
        mujoco.mj_forward(model, data)
        for c in range(data.ncon):
            mujoco.mj_contactForce(model, data, c, wrench)
            force = data.contact[c].frame.reshape(3, 3).T @ wrench[:3]
            for side, sign in ((0, -1.0), (1, 1.0)):
                name = model.body(model.geom_bodyid[data.contact[c].geom[side]]).name
                forces[name] = forces.get(name, np.zeros(3)) + sign * force
        return {"height": float(data.body(body).xpos[2]), "forces": tidy(forces)}


def tidy(forces):
    """Of what is pushed at all."""
    return {name: [float(x) for x in force] for name, force in sorted(forces.items()) if np.linalg.norm(force) > 1e-6}


class Pliant:
    """The same by the program."""

    def __init__(self, programs, path, word):
        self.program, self.path = str(programs / "pliant"), path
        self.steps = subprocess.Popen([str(programs / "examples" / "contact"), word], text=True, bufsize=1,
                                      stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def block(self, steps):
        self.steps.stdin.write(f"{steps}\n")
        return float(self.steps.stdout.readline())

    def answer(self, body):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "rest.csv"
            command = [self.program, "simulate", str(self.path), "--engine", "reduced", "--duration", repr(SETTLE),
                       "--dt", repr(DT), "--json", "-o", str(file)]
            told = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
            last = list(csv.DictReader(file.open()))[-1]
        forces = {}
        for contact in told["contacts"]:
            for side, sign in (("first", -1.0), ("second", 1.0)):
                name = contact[side]
                forces[name] = forces.get(name, np.zeros(3)) + sign * np.array(contact["force"])
        return {"height": float(last[f"{body}.pz"]), "forces": tidy(forces), "residual": told["residual"]}


def export(program, name, ground, folder):
    path = folder / f"{name}-{(ground or 'own').replace(' ', '-')}.toml"
    subprocess.run([program, "export", name, "-o", str(path)], check=True, capture_output=True)
    if ground:
        path.write_text(path.read_text() + "\n" + GROUND[ground])
    return path


def spread(times):
    low, high = np.percentile(times, [10, 90])
    return {"median": statistics.median(times), "p10": float(low), "p90": float(high), "blocks": times}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--programs", type=pathlib.Path, default=pathlib.Path("target/release"))
    parser.add_argument("--blocks", type=int, default=9)
    parser.add_argument("--steps", type=int, default=24000, help="of a block")
    parser.add_argument("-o", "--output", type=pathlib.Path, default=pathlib.Path("bench/results"))
    arguments = parser.parse_args()
    arguments.output.mkdir(parents=True, exist_ok=True)
    results = []
    with tempfile.TemporaryDirectory() as folder:
        for title, word, name, ground, body in SCENES:
            path = export(str(arguments.programs / "pliant"), name, ground, pathlib.Path(folder))
            racers = {"pliant": Pliant(arguments.programs, path, word), "mujoco": MuJoCo(path, ground == "plane", False),
                      "mujoco, holding": MuJoCo(path, ground == "plane", True)}
            times = {racer: [] for racer in racers}
            for _ in range(arguments.blocks):
                for racer, own in racers.items():
                    times[racer].append(own.block(arguments.steps))
            result = {"scene": title}
            for racer, own in racers.items():
                result[racer] = spread(times[racer]) | own.answer(body)
            racers["pliant"].steps.stdin.close()
            results.append(result)
    told = json.dumps({"mujoco": mujoco.__version__, "dt": DT, "scenes": results}, indent=1)
    (arguments.output / "contact.json").write_text(told + "\n")
    lines = ["| scene | engine | µs a step (p10–p90) | times Pliant | height, mm | weight carried, N |",
             "|---|---|---|---|---|---|"]
    for result in results:
        for racer in racers:
            own = result[racer]
            ratio = own["median"] / result["pliant"]["median"]
            # What contact lifts: the loose ball where there is one, else what stands on the world.
            lifted = abs(own["forces"].get("ball", own["forces"].get("world", [0.0] * 3))[2])
            lines.append(f"| {result['scene']} | {racer} | {own['median']:.1f} ({own['p10']:.1f}–{own['p90']:.1f}) | {ratio:.2f}"
                         + (f" | {1e3 * own['height']:.2f} | {lifted:.3f} |" if lifted else " | lost | 0 |"))
    (arguments.output / "contact.md").write_text("\n".join(lines) + "\n")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
