"""Linkages and grippers of the gallery against MuJoCo: loop gaps, deflection at three steps, time.

    bench/race does this after contact. Alone, once `bench/race` has built its programs:
    bench/.venv/bin/python bench/linkages.py --peers target/release/peers

Each mechanism starts in its file's pose and takes its scene's loads and gravity; after some seconds it is asked where its effectors are.
The answer is compared with the full statics, at dt 1/60, 1/240 and 1/1000 s: the largest error of an effector, over the largest
displacement. A gap is the sum over all joints of how far their two attachment points are apart, the most on the way, in runs of
twenty steps, and at the end. Time is the median CPU time of a step over runs of twenty.

MuJoCo has the same masses, frames, springs, dampers, rotors and limits, integrator `discrete`; loops by `connect`, one where all
hinges are about one direction, else two along the axis of a hinge, as hard as it takes them; closing springs and couplings by
fixed tendons and `equality joint`. Prints one JSON document with the data and a Markdown table.
"""

import argparse
import json
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
from poses import compose, inverse, pose_of, rotate

LINKAGES = ["adaptive-gripper", "delta", "stewart", "excavator", "fin-ray", "spring-leg", "tendon-finger"]
STEPS = {"1/60": 1.0 / 60.0, "1/240": 1.0 / 240.0, "1/1000": 1.0 / 1000.0}
SECONDS = 10.0
CALL = 20
HARDEST = [0.9999, 0.9999]  # MuJoCo takes no more
AXES = {"hinge": "z", "universal": "xy", "prismatic": "z", "fixed": "", "ball": "b"}
RIGHT = 0.01


class Unsupported(Exception):
    """What MuJoCo's model here has nothing for."""


def number(entry, key):
    x = entry.get(key, 0.0)
    return [float(v) for v in x] if isinstance(x, list) else [float(x)] * max(1, len(AXES.get(entry["kind"], "z")))


class MuJoCo:
    """A mechanism of a file, with a step."""

    def __init__(self, data, dt):
        self.spec = spec = mujoco.MjSpec()
        spec.compiler.degree = False
        spec.option.timestep = dt
        spec.option.integrator = mujoco.mjtIntegrator.mjINT_DISCRETE
        spec.option.gravity = data["mechanism"].get("gravity", [0.0, 0.0, -9.81])
        self.dt = dt
        self.bodies = {body["name"]: body for body in data["body"]}
        self.above, self.loops = {}, []
        for joint in data["joint"]:
            if joint["child"] in self.above:
                self.loops.append(joint)
            else:
                self.above[joint["child"]] = joint
        self.nodes = {"world": spec.worldbody}
        self.poses = {"world": (np.array([1.0, 0.0, 0.0, 0.0]), np.zeros(3))}
        self.poses |= {name: pose_of(body) for name, body in self.bodies.items()}
        for name in self.bodies:
            self.body(name)
        for joint in self.loops:
            self.close(joint)
        for coupling in data.get("coupling", []):
            same = spec.add_equality(type=mujoco.mjtEq.mjEQ_JOINT, objtype=mujoco.mjtObj.mjOBJ_JOINT)
            same.name1, same.name2 = coupling["joint"], coupling["of"]
            same.data[:5] = [coupling.get("offset", 0.0), coupling.get("ratio", 1.0), 0.0, 0.0, 0.0]
            self.harden(same)
        self.model = model = spec.compile()
        self.data = mujoco.MjData(model)
        mujoco.mj_forward(model, self.data)
        self.effectors = {effector["name"]: (effector["body"], pose_of(effector)[1]) for effector in data["effector"]}
        self.loads = [(*self.effectors[load["effector"]], np.array(load.get("force", [0.0] * 3)),
                       np.array(load.get("torque", [0.0] * 3))) for load in data.get("load", [])]

    def harden(self, equality):
        equality.solimp[:2] = HARDEST
        equality.solref[0] = 2.0 * self.dt

    def body(self, name):
        if name in self.nodes:
            return
        joint, entry = self.above[name], self.bodies[name]
        self.body(joint["parent"])
        q, p = compose(inverse(self.poses[joint["parent"]]), self.poses[name])
        node = self.nodes[joint["parent"]].add_body(name=name, pos=p, quat=q)
        self.nodes[name] = node
        node.explicitinertial, node.mass = True, entry["mass"]
        node.ipos = entry.get("center_of_mass", [0.0] * 3)
        node.fullinertia = (entry["inertia"] + [0.0] * 3)[:6]
        q, p = compose(inverse(self.poses[name]), pose_of(joint))
        if joint["kind"] not in AXES or "start" in joint:
            raise Unsupported(f"joint `{joint['name']}`")
        axes = AXES[joint["kind"]]
        kinds = mujoco.mjtJoint
        for k, axis in enumerate(axes):
            kind = {"prismatic": kinds.mjJNT_SLIDE, "ball": kinds.mjJNT_BALL}.get(joint["kind"], kinds.mjJNT_HINGE)
            own = joint["name"] if len(axes) == 1 else f"{joint['name']}.{k}"
            made = node.add_joint(name=own, type=kind, pos=p, axis=rotate(q, [float(axis == x) for x in "xyz"]) if axis != "b" else [0, 0, 1])
            if axis == "b":
                if any(number(joint, "stiffness")) or any(number(joint, "damping")):
                    raise Unsupported(f"the spring of ball `{joint['name']}`")
                continue
            made.stiffness[0], made.damping[0] = number(joint, "stiffness")[k], number(joint, "damping")[k]
            made.armature, made.springref = number(joint, "armature")[k], number(joint, "rest")[k]
            if "limits" in joint:
                made.limited, made.range = mujoco.mjtLimited.mjLIMITED_TRUE, joint["limits"]
                made.solref_limit[0] = 2.0 * self.dt

    def way(self, joint):
        """Tree joints on the way to its child, and with a minus on the way to its parent."""
        signs = {}
        for body, sign in ((joint["child"], 1.0), (joint["parent"], -1.0)):
            while body != "world":
                above = self.above[body]
                signs[above["name"]] = signs.get(above["name"], 0.0) + sign
                body = above["parent"]
        named = {entry["name"]: entry for entry in self.above.values()}
        return [(named[name], sign) for name, sign in signs.items() if sign and named[name]["kind"] != "fixed"]

    def close(self, joint):
        axis, at = rotate(pose_of(joint)[0], [0.0, 0.0, 1.0]), pose_of(joint)[1]
        along = [(entry, sign, float(np.dot(axis, rotate(pose_of(entry)[0], [0.0, 0.0, 1.0]))))
                 for entry, sign in self.way(joint)]
        kind = joint["kind"]
        flat = all(entry["kind"] in ("hinge", "prismatic") for entry, *_ in along)
        parallel = all(abs(abs(c) - 1.0) < 1e-9 for entry, _, c in along if entry["kind"] == "hinge") and flat
        if kind not in ("ball", "hinge", "prismatic"):
            raise Unsupported(f"a loop closed by `{kind}`")
        if kind == "prismatic" and not all(e["kind"] == "prismatic" and abs(abs(c) - 1.0) < 1e-9 for e, _, c in along):
            raise Unsupported("a loop closed by a slide")
        if kind != "prismatic":
            points = [at] if kind == "ball" or parallel else [at, at + 0.1 * axis]
            for point in points:
                connect = self.spec.add_equality(type=mujoco.mjtEq.mjEQ_CONNECT, objtype=mujoco.mjtObj.mjOBJ_BODY)
                connect.name1, connect.name2 = joint["child"], joint["parent"]
                connect.data[:3] = compose(inverse(self.poses[joint["child"]]), (np.array([1.0, 0, 0, 0]), point))[1]
                self.harden(connect)
        if any(number(joint, "stiffness")) or any(number(joint, "damping")) or any(number(joint, "armature")):
            if kind == "ball" or not parallel and kind == "hinge":
                raise Unsupported(f"the spring of closing joint `{joint['name']}`")
            tendon = self.spec.add_tendon(name=joint["name"])
            tendon.stiffness[0], tendon.damping[0] = number(joint, "stiffness")[0], number(joint, "damping")[0]
            tendon.armature = number(joint, "armature")[0]
            tendon.springlength = [number(joint, "rest")[0]] * 2
            for entry, sign, c in along:
                if entry["kind"] == kind:
                    tendon.wrap_joint(entry["name"], sign * round(c))

    def gap(self):
        mujoco.mj_kinematics(self.model, self.data)
        total = 0.0
        for joint in self.loops:
            if joint["kind"] == "prismatic":
                continue
            ends = []
            for body in (joint["parent"], joint["child"]):
                local = compose(inverse(self.poses[body]), (np.array([1.0, 0, 0, 0]), pose_of(joint)[1]))[1]
                now = self.data.body(body)
                ends.append(now.xpos + now.xmat.reshape(3, 3) @ local)
            total += float(np.linalg.norm(ends[0] - ends[1]))
        return total

    def places(self):
        mujoco.mj_kinematics(self.model, self.data)
        return {name: [float(x) for x in self.data.body(body).xpos + self.data.body(body).xmat.reshape(3, 3) @ at]
                for name, (body, at) in self.effectors.items()}

    def run(self):
        times, gap, data = [], 0.0, self.data
        while data.time < SECONDS:
            # Dead loads at points that turn with their bodies: set for each run of steps.
            data.qfrc_applied[:] = 0.0
            mujoco.mj_kinematics(self.model, data)
            mujoco.mj_comPos(self.model, data)
            for body, at, force, torque in self.loads:
                now = data.body(body)
                point = now.xpos + now.xmat.reshape(3, 3) @ at
                mujoco.mj_applyFT(self.model, data, force, torque, point, now.id, data.qfrc_applied)
            start = time.thread_time_ns()
            mujoco.mj_step(self.model, data, nstep=CALL)
            times.append((time.thread_time_ns() - start) * 1e-3 / CALL)
            gap = max(gap, self.gap())
        return {"us": statistics.median(times), "at": self.places(), "gap": gap, "gap_at_rest": self.gap()}


class Pliant:
    """The same by an engine of Pliant, in a program of its own."""

    def __init__(self, peers, path, engine):
        self.program = subprocess.Popen([str(peers), "linkage", str(path), engine], text=True, bufsize=1,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self, line):
        self.program.stdin.write(line + "\n")
        return json.loads(self.program.stdout.readline() or '{"error": "it stopped"}')


def measure(peers, path):
    own = {engine: Pliant(peers, path, engine) for engine in ("articulated", "full")}
    exact = own["full"].ask("exact")
    data = tomllib.loads(path.read_text())
    moved = max(np.linalg.norm(np.subtract(exact["at"][name], at)) for name, at in exact["home"].items())
    rows = []
    for label, dt in STEPS.items():
        racers = {f"Pliant {engine}": (lambda engine=engine: own[engine].ask(f"run {dt} {SECONDS}")) for engine in own}
        racers["MuJoCo discrete"] = lambda: MuJoCo(data, dt).run()
        for racer, run in racers.items():
            try:
                measured_by_engine = run()
            except Unsupported as why:
                measured_by_engine = {"error": f"no model of it here: {why}"}
            if "error" not in measured_by_engine:
                error = max(np.linalg.norm(np.subtract(measured_by_engine["at"][name], at)) for name, at in exact["at"].items())
                measured_by_engine["off"] = float(error / moved)
            rows.append({"dt": label, "engine": racer} | measured_by_engine)
    for program in own.values():
        program.program.stdin.close()
    return {"radius": exact["radius"], "moved": float(moved), "rows": rows}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--peers", type=pathlib.Path, required=True, help="the race's program")
    parser.add_argument("--mechanisms", default=",".join(LINKAGES))
    arguments = parser.parse_args()
    results = []
    with tempfile.TemporaryDirectory() as folder:
        for name in arguments.mechanisms.split(","):
            path = pathlib.Path(folder) / f"{name}.toml"
            subprocess.run([str(arguments.peers), "scene", name, str(path)], check=True, capture_output=True)
            results.append({"mechanism": name} | measure(arguments.peers, path))
    data = {"mujoco": mujoco.__version__, "seconds": SECONDS, "mechanisms": results}
    print(json.dumps({"data": data, "markdown": "\n".join(lines(results))}))


def millimetres(x):
    return f"{1e3 * x:.2g}" if x >= 1e-9 else "<1e-6"


def lines(results):
    yield "## Linkages"
    yield ""
    yield (f"Linkages and grippers of the gallery under their loads, from the file's pose, after {SECONDS:g} s; off is the largest error of an"
           " effector against the full statics, over the largest displacement; a gap is the sum over joints of how far attachment points are"
           " apart, on the way and at the end. The fastest of those that are right within 1 % is bold: where that is a peer, it wins."
           " How it is done is at the head of `bench/linkages.py`.")
    yield ""
    yield "| mechanism | dt, s | engine | off | gap, mm | gap at the end, mm | µs a step |"
    yield "|---|---|---|---|---|---|---|"
    for result in results:
        for label in STEPS:
            rows = [row for row in result["rows"] if row["dt"] == label]
            right = [row for row in rows if row.get("off", np.inf) < RIGHT]
            best = min(right, key=lambda row: row["us"], default=None)
            for row in rows:
                if "error" in row:
                    yield f"| {result['mechanism']} | {label} | {row['engine']} | {row['error']} | | | |"
                    continue
                off = f"{100 * row['off']:.2g} %" if np.isfinite(row["off"]) else "diverges"
                off = off if row["off"] > 1e-8 else "<1e-6 %"
                fast = f"**{row['us']:.3g}**" if row is best else f"{row['us']:.3g}"
                yield (f"| {result['mechanism']} | {label} | {row['engine']} | {off}{'' if row in right else ' (wrong)'}"
                       f" | {millimetres(row['gap'])} | {millimetres(row['gap_at_rest'])} | {fast} |")


def run(tools, quick):
    """For the race: data and Markdown, by MuJoCo's environment."""
    from driver import setup

    return setup.section(tools, "Linkages", __file__, ["--mechanisms", "delta,spring-leg"] if quick else [])


if __name__ == "__main__":
    main()
