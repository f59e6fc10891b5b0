"""Contact against MuJoCo: the same scenes, the same step, at rest and from their start, in one run.

    bench/race does this last. Alone, once `bench/race` has built its programs:
    bench/.venv/bin/python bench/contact_scenes.py --peers target/release/peers [--blocks 9] [--steps 24000]

Scenes are what `pliant export` writes: the hexapod with six feet on a plane and on a height field, and the hand that holds a
ball with its palm and five fingertips. Pliant races with `articulated`, which `--engine auto` takes and in which every link can
touch, and with `linear`. For MuJoCo they are built body by body: the same masses, frames, springs and dampers (joint
stiffness and damping, which its integrator `discrete` takes implicitly), the same shapes on the same bodies, which are those of
the effectors, and the same friction of each pair. Its plane is a plane (Pliant's is a box). Joint limits are left out: the
linear engine has none.

MuJoCo races twice: as it comes, and made to hold what Coulomb friction holds: elliptic cones, impratio 10, 20 noslip
iterations, contacts as hard as the step allows. As it comes, feet creep until nothing pulls at them, and the ball is lost.

Blocks alternate. A block is the median CPU time of a step at rest: for MuJoCo of calls of mj_step with twenty steps each, for
Pliant of twenty steps with all links. Reported are the median over blocks, the tenth and ninetieth percentiles, and where all
came to rest: heights, and the forces of contact, which must carry the weight.

Then the whole scene, from its start: approach, impact, slip and grasp, the first three seconds, set-points that move included. A block is the
mean CPU time of a step over all of them; of MuJoCo, whose set-points are set from Python, that of the calls of mj_step less
that of as many calls that take no step. Reported is also how far the body is from where Pliant's articulated engine has it, at most.
Prints one JSON document with the data and a Markdown table.
"""

import argparse
import json
import math
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time
import tomllib

try:
    import mujoco
    import numpy as np
except ImportError:  # run() below is called without them
    mujoco = np = None
from poses import IDENTITY, compose, inverse, pose_of, rotate

DT = 1.0 / 240.0
SETTLE = 5.0  # s, more than the scenes need
FRICTION = 0.5  # Pliant's, of a shape that says nothing of it
CALL = 20  # steps of a timed call of MuJoCo
WHOLE = 720  # steps of a whole scene
EVERY = 24  # after so many of them it is seen where the body is

GROUND = {
    "plane": "[[world.shape]]\nkind = \"box\"\nsize = [4.0, 4.0, 0.5]\nposition = [0.0, 0.0, -0.25]\n",
    "height field": "[[world.shape]]\nkind = \"heightfield\"\nsize = [4.0, 4.0]\nheights = "
                    + json.dumps([[0.0] * 41] * 41) + "\n",
}
# Name, what is exported, ground, the body whose height is compared, and the time asked of Pliant's articulated engine, µs.
SCENES = [
    ("hexapod, six feet on a plane", "hexapod", "plane", "base", 4.0),
    ("hexapod, six feet on a height field", "hexapod", "height field", "base", 6.0),
    ("hand, palm and fingertips on a ball", "hand-grasp", None, "ball", 5.0),
]
OWN = "Pliant articulated"


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

    def whole(self, body):
        data, spent, idle, path = mujoco.MjData(self.model), 0, 0, []
        for step in range(WHOLE):
            self.follow(data.time + DT)
            start = time.thread_time_ns()
            mujoco.mj_step(self.model, data, nstep=1)
            spent += time.thread_time_ns() - start
            start = time.thread_time_ns()
            mujoco.mj_step(self.model, data, nstep=0)
            idle += time.thread_time_ns() - start
            if (step + 1) % EVERY == 0:
                path.append(data.body(body).xpos.copy())
        self.follow(SETTLE)
        return (spent - idle) * 1e-3 / WHOLE, np.array(path)

    def block(self, steps):
        times = []
        for _ in range(steps // CALL):
            start = time.thread_time_ns()
            mujoco.mj_step(self.model, self.data, nstep=CALL)
            times.append(time.thread_time_ns() - start)
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
    """The same by an engine of Pliant, in a program of its own."""

    def __init__(self, peers, path, engine):
        self.program = subprocess.Popen([str(peers), "contact", str(path), engine], text=True, bufsize=1,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self, line):
        self.program.stdin.write(line + "\n")
        measured_by_engine = json.loads(self.program.stdout.readline())
        if "error" in measured_by_engine:
            sys.exit(f"Pliant: {measured_by_engine['error']}")
        return measured_by_engine

    def block(self, steps):
        return self.ask(f"block {steps}")["us"]

    def whole(self, body):
        measured_by_engine = self.ask(f"whole {WHOLE} {EVERY} {body}")
        return measured_by_engine["us"], np.array(measured_by_engine["path"])

    def answer(self, body):
        measured_by_engine = self.ask(f"rest {body}")
        forces = {name: np.array(force) for name, force in measured_by_engine["forces"].items()}
        return measured_by_engine | {"forces": tidy(forces)}


def export(peers, name, ground, folder):
    path = folder / f"{name}-{(ground or 'own').replace(' ', '-')}.toml"
    subprocess.run([str(peers), "scene", name, str(path)], check=True, capture_output=True)
    if ground:
        path.write_text(path.read_text() + "\n" + GROUND[ground])
    return path


def spread(times):
    low, high = np.percentile(times, [10, 90])
    return {"median": statistics.median(times), "p10": float(low), "p90": float(high), "blocks": times}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--peers", type=pathlib.Path, required=True, help="the race's program")
    parser.add_argument("--blocks", type=int, default=9)
    parser.add_argument("--steps", type=int, default=24000, help="of a block")
    arguments = parser.parse_args()
    results = []
    with tempfile.TemporaryDirectory() as folder:
        for title, name, ground, body, _ in SCENES:
            path = export(arguments.peers, name, ground, pathlib.Path(folder))
            racers = {OWN: Pliant(arguments.peers, path, "articulated"), "Pliant linear": Pliant(arguments.peers, path, "linear"),
                      "MuJoCo": MuJoCo(path, ground == "plane", False), "MuJoCo, holding": MuJoCo(path, ground == "plane", True)}
            times, wholes, paths = ({racer: [] for racer in racers} for _ in range(3))
            for _ in range(arguments.blocks):
                for racer, own in racers.items():
                    times[racer].append(own.block(arguments.steps))
            for _ in range(arguments.blocks):
                for racer, own in racers.items():
                    spent, paths[racer] = own.whole(body)
                    wholes[racer].append(spent)
            engines = {racer: spread(times[racer]) | own.answer(body) for racer, own in racers.items()}
            for racer, measured_by_engine in engines.items():
                apart = float(np.linalg.norm(paths[racer] - paths[OWN], axis=1).max())
                measured_by_engine["whole"] = spread(wholes[racer]) | {"apart": apart}
            results.append({"scene": title, "engines": engines})
            for racer in (OWN, "Pliant linear"):
                racers[racer].program.stdin.close()
    data = {"mujoco": mujoco.__version__, "dt": DT, "scenes": results}
    print(json.dumps({"data": data, "markdown": "\n".join(lines(results))}))


def lines(results):
    yield "## Contact"
    yield ""
    yield ("dt = 1/240 s, at rest, median CPU time of a step over blocks (p10–p90). MuJoCo races as it comes, and made to hold"
           " what Coulomb friction holds: elliptic cones, impratio 10, 20 noslip iterations, contacts as hard as the step"
           " allows. How the scenes are made is at the head of `bench/contact_scenes.py`.")
    yield ""
    yield "| scene | engine | µs a step | asked, µs | times Pliant | height, mm | weight carried, N |"
    yield "|---|---|---|---|---|---|---|"
    limits = {scene[0]: scene[-1] for scene in SCENES}
    for result in results:
        limit = limits[result["scene"]]
        own = result["engines"][OWN]["median"]
        for racer, measured_by_engine in result["engines"].items():
            # What contact lifts: the loose ball where there is one, else what stands on the world.
            lifted = abs(measured_by_engine["forces"].get("ball", measured_by_engine["forces"].get("world", [0.0] * 3))[2])
            rest = f"{1e3 * measured_by_engine['height']:.2f} | {lifted:.3f}" if lifted else "lost | 0"
            asked = ""
            if racer == OWN:
                over = 100 * (own / limit - 1)
                asked = f"{limit:g}: " + ("holds" if over <= 0 else f"**missed by {over:.0f} %**")
            yield (f"| {result['scene']} | {racer} | {measured_by_engine['median']:.1f} ({measured_by_engine['p10']:.1f}–{measured_by_engine['p90']:.1f})"
                   f" | {asked} | {measured_by_engine['median'] / own:.2f} | {rest} |")
    yield ""
    yield ("The same scenes from their start, three seconds of approach, impact, slip and rest, mean CPU time of a step, median over"
           f" blocks (p10–p90); asked is that MuJoCo set up to hold takes at least twice as long as `{OWN.split()[1]}`. Apart is how far"
           " the body is from where that engine has it, at most.")
    yield ""
    yield "| scene | engine | µs a step | times Pliant | asked | apart, mm |"
    yield "|---|---|---|---|---|---|"
    for result in results:
        own = result["engines"][OWN]["whole"]["median"]
        for racer, measured_by_engine in result["engines"].items():
            measured_by_engine = measured_by_engine["whole"]
            times = measured_by_engine["median"] / own
            asked = ("holds" if times >= 2.0 else "**missed**") if racer == "MuJoCo, holding" else ""
            yield (f"| {result['scene']} | {racer} | {measured_by_engine['median']:.1f} ({measured_by_engine['p10']:.1f}–{measured_by_engine['p90']:.1f})"
                   f" | {times:.2f} | {asked} | {1e3 * measured_by_engine['apart']:.2f} |")
    yield ""
    yield "What a step of contact is made of, and what bounds it, is in `crates/pliant-core/src/contact/README.md`."


def run(tools, quick):
    """For the race: data and Markdown, by MuJoCo's environment."""
    from driver import setup

    return setup.section(tools, "Contact", __file__, ["--blocks", "5", "--steps", "4000"] if quick else [])


if __name__ == "__main__":
    main()
