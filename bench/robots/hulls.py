"""Hulls of robots' links dropped from 6 cm, in Pliant and in MuJoCo.

    python3 bench/robots/hulls.py [--packages A,B] [--every N] [--docs]

Needs mujoco, numpy and scipy. The hull of each distinct mesh file (STL and OBJ) is dropped on a plane, a box and a height field,
with that of its sides down on which it is hardest to tip over, at dt 1/240 s, and watched for 10 s after 2 s. It lies still if it is
nowhere deeper than 0.5 mm and drifts by less than 0.5 mm and 0.5° in these 10 s. Both programs take the same file with the hull's
corners, mass 500 kg/m³, friction 0.5 (MuJoCo: sliding friction 0.5). MuJoCo stands twice: as it comes, and set up to hold: elliptic cones, impratio 10, 20
noslip iterations, contacts as hard as the step allows.
"""

import hashlib
import struct
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import mujoco
import numpy as np
from packages import arguments, finish, pliant, table, wheel
from scipy.spatial import ConvexHull, QhullError

DT = 1.0 / 240.0
SETTLE, WATCH = 2.0, 10.0
DENSITY, FRICTION = 500.0, 0.5
DEPTH, WAY, TURN = 0.5e-3, 0.5e-3, np.radians(0.5)
GROUNDS = ("plane", "box", "field")

# Below this angle, rad, a body on its steadiest side is round there: it rolls before it tips.
ROUND = np.radians(2.0)


def stl(data):
    """Corners of a binary or text STL."""
    if len(data) >= 84 and len(data) == 84 + 50 * struct.unpack_from("<I", data, 80)[0]:
        kind = np.dtype([("normal", "<f4", 3), ("points", "<f4", (3, 3)), ("more", "<u2")])
        return np.frombuffer(data, kind, offset=84)["points"].reshape(-1, 3).astype(float)
    words = data.decode(errors="replace").split()
    at = [i for i, word in enumerate(words) if word == "vertex"]
    return np.array([[float(x) for x in words[i + 1:i + 4]] for i in at])


def obj(data):
    lines = (line.split() for line in data.decode(errors="replace").splitlines() if line.startswith("v "))
    return np.array([[float(x) for x in words[1:4]] for words in lines])


class Hull:
    """A convex hull about its centre of mass, and how it is turned to lie on its steadiest side."""

    def __init__(self, points):
        if np.ptp(points, axis=0).max() > 5.0:
            points = points * 1e-3  # some files are in mm
        hull = ConvexHull(points)
        self.points = points[hull.vertices]
        index = np.full(len(points), -1)
        index[hull.vertices] = np.arange(len(hull.vertices))
        triangles = index[hull.simplices]
        a, b, c = (self.points[triangles[:, k]] for k in range(3))
        inward = np.einsum("ij,ij->i", np.cross(b - a, c - a), hull.equations[:, :3]) < 0
        triangles[inward] = triangles[inward][:, [0, 2, 1]]
        self.triangles = triangles
        middle = self.points.mean(axis=0)
        a, b, c = (self.points[triangles[:, k]] - middle for k in range(3))
        volume = np.einsum("ij,ij->i", a, np.cross(b, c)) / 6
        center = (volume[:, None] * (a + b + c) / 4).sum(axis=0) / volume.sum()
        self.points = self.points - middle - center
        # Second moments of a tetrahedron with one corner at the centre.
        a, b, c = (self.points[triangles[:, k]] for k in range(3))
        volume = np.einsum("ij,ij->i", a, np.cross(b, c)) / 6
        total = a + b + c
        moments = sum(np.einsum("i,ij,ik->jk", volume, x, x) for x in (a, b, c, total)) / 20
        self.mass = DENSITY * volume.sum()
        self.inertia = DENSITY * (np.trace(moments) * np.eye(3) - moments)
        self.side(hull.equations[:, :3])

    def side(self, normals):
        size = np.linalg.norm(self.points, axis=1).max()
        self.tip, down = 0.0, np.array([0.0, 0.0, -1.0])
        angles = np.linspace(0, 2 * np.pi, 48, endpoint=False)
        for normal in np.unique(normals.round(6), axis=0):
            normal = normal / np.linalg.norm(normal)
            heights = self.points @ normal
            on = self.points[heights > heights.max() - 1e-4 * size]
            across = np.cross(normal, [0.3, 0.5, 0.8])
            across /= np.linalg.norm(across)
            other = np.cross(normal, across)
            reach = (on @ (np.outer(across, np.cos(angles)) + np.outer(other, np.sin(angles)))).max(axis=0).min()
            tip = np.arctan2(reach, heights.max())
            if tip > self.tip:
                self.tip, down = tip, normal
        axis = np.cross(down, [0.0, 0.0, -1.0])
        turn = np.array([1.0 - down[2], *axis])
        self.turn = turn / np.linalg.norm(turn) if np.linalg.norm(turn) > 1e-9 else np.array([0.0, 1.0, 0.0, 0.0])
        turned = np.zeros(3)
        mujoco.mju_rotVecQuat(turned, down, self.turn)
        self.height = 0.06 + (self.points @ down).max()

    def write(self, path):
        kind = np.dtype([("normal", "<f4", 3), ("points", "<f4", (3, 3)), ("more", "<u2")])
        faces = np.zeros(len(self.triangles), kind)
        faces["points"] = self.points[self.triangles]
        path.write_bytes(bytes(80) + struct.pack("<I", len(faces)) + faces.tobytes())

    def start(self):
        return np.array([0.0137, -0.0221, self.height, *self.turn])


def drift(poses):
    """Way and turn between two poses."""
    a, b = poses
    angle = 2 * np.arctan2(np.linalg.norm(quarter(a[3:], b[3:])), abs(np.dot(a[3:], b[3:])))
    return np.linalg.norm(a[:3] - b[:3]), angle


def quarter(a, b):
    conjugate = a * np.array([1, -1, -1, -1])
    out = np.zeros(4)
    mujoco.mju_mulQuat(out, conjugate, b)
    return out[1:]


SCENE = """[[body]]
name = "hull"
free = true
position = {position}
rotation = {turn}
mass = {mass!r}
inertia = {inertia}
[[body.shape]]
kind = "convex"
file = "hull.stl"
friction = {friction}
[[world.shape]]
{ground}
friction = {friction}
"""
OURS = {
    "plane": 'kind = "plane"',
    "box": 'kind = "box"\nsize = [40.0, 40.0, 1.0]\nposition = [0.0, 0.0, -0.5]',
    "field": f'kind = "heightfield"\nsize = [20.0, 20.0]\nheights = {[[0.0] * 101] * 101}',
}


def ours(options, hull, folder, ground, *more, settle=SETTLE):
    """Depth, way and turn after a time, and depth after it; or why not."""
    tensor = hull.inertia
    six = [tensor[0, 0], tensor[1, 1], tensor[2, 2], tensor[0, 1], tensor[0, 2], tensor[1, 2]]
    start = hull.start()
    text = SCENE.format(
        position=[float(x) for x in start[:3]], turn=[float(x) for x in start[3:]], mass=float(hull.mass),
        inertia=[float(x) for x in six], friction=FRICTION, ground=OURS[ground])
    (folder / f"{ground}.toml").write_text(text)
    path = folder / f"{ground}.npz"
    answer = pliant(options, "simulate", folder / f"{ground}.toml", "--engine", options.engine, "--duration",
                    settle + WATCH, "--dt", DT, "-o", path, *more)
    if answer["code"] != 0:
        return answer["error"]
    run = np.load(path)
    poses, after = run["poses"][:, 0], run["penetration"][round(settle / DT):].max()
    return answer["penetration"], *drift(poses[[round(settle / DT), -1]]), after


THEIRS = {
    "plane": '<geom type="plane" size="0 0 1" {friction}/>',
    "box": '<geom type="box" size="20 20 0.5" pos="0 0 -0.5" {friction}/>',
    "field": '<geom type="hfield" hfield="field" {friction}/>',
}
MODEL = """<mujoco><option timestep="{dt}" {option}/><size memory="64M"/>
<asset><mesh name="hull" file="{file}" inertia="convex"/><hfield name="field" nrow="101" ncol="101" size="10 10 0.1 1"/></asset>
<worldbody>{ground}<body pos="{position}" quat="{turn}"><freejoint/>
<inertial pos="0 0 0" mass="{mass}" fullinertia="{inertia}"/><geom type="mesh" mesh="hull" {friction}/></body></worldbody></mujoco>"""
HOLDS = 'cone="elliptic" impratio="10" noslip_iterations="20"'
HARD = f'solref="{2 * DT} 1" solimp="0.99 0.999 0.001"'


def theirs(hull, folder, ground, holds):
    friction = f'friction="{FRICTION} 0.005 0.0001" ' + (HARD if holds else "")
    words = lambda values: " ".join(repr(float(x)) for x in values)
    start = hull.start()
    tensor = hull.inertia
    text = MODEL.format(
        dt=DT, option=HOLDS if holds else "", file=folder / "hull.stl", ground=THEIRS[ground].format(friction=friction),
        position=words(start[:3]), turn=words(start[3:]), mass=float(hull.mass), friction=friction,
        inertia=words([tensor[0, 0], tensor[1, 1], tensor[2, 2], tensor[0, 1], tensor[0, 2], tensor[1, 2]]))
    try:
        model = mujoco.MjModel.from_xml_string(text)
    except ValueError as why:
        return str(why).splitlines()[0]
    data = mujoco.MjData(model)
    depth, after, kept = 0.0, 0.0, []
    for step in range(round((SETTLE + WATCH) / DT)):
        if step == round(SETTLE / DT):
            kept.append(data.qpos.copy())
        mujoco.mj_step(model, data)
        if data.ncon:
            deep = -data.contact.dist.min()
            depth = max(depth, deep)
            after = max(after, deep) if kept else after
    return depth, *drift((kept[0], data.qpos)), after


def judge(outcome):
    """What is wrong with an outcome; nothing where it lies still."""
    if isinstance(outcome, str):
        return ["fails"]
    depth, way, turn, _ = outcome
    return [word for word, good in (("sinks", depth < DEPTH), ("drifts", way < WAY), ("turns", turn < TURN)) if not good]


def meshes(options):
    """Distinct mesh files of all packages."""
    seen = set()
    for package in options.packages:
        folder = wheel(package)
        paths = [path for path in sorted(folder.rglob("*")) if path.suffix.lower() in (".stl", ".obj")]
        for path in paths:
            data = path.read_bytes()
            digest = hashlib.sha256(data).digest()
            if "random_urdfs" not in path.parts and digest not in seen:
                seen.add(digest)
                yield package, path.relative_to(folder), path.suffix.lower(), data


def run(options, case):
    """One mesh: nothing where it has no hull with a volume."""
    package, path, suffix, data = case
    try:
        points = (stl if suffix == ".stl" else obj)(data)
        hull = Hull(points)
    except (QhullError, ValueError, IndexError) as why:
        return package, path, None, str(why).splitlines()[0]
    results = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        hull.write(folder / "hull.stl")
        for ground in GROUNDS:
            results[ground] = (ours(options, hull, folder, ground), theirs(hull, folder, ground, False),
                               theirs(hull, folder, ground, True))
            if judge(results[ground][0]):
                results[ground] += (cause(options, hull, folder, ground, results[ground][0]),)
    return package, path, hull, results


def cause(options, hull, folder, ground, outcome):
    """Why a hull does not lie still in Pliant."""
    if isinstance(outcome, str):
        return outcome
    if hull.tip < ROUND:
        return f"round: its steadiest side tips at {np.degrees(hull.tip):.1f}°, it rolls"
    if not judge(ours(options, hull, folder, ground, "--solver", "exact")):
        return f"creeps at {1e3 * outcome[1] / WATCH:.2f} mm/s: the sweeps end too early; it lies still with `--solver exact`"
    if not judge(ours(options, hull, folder, ground, settle=3 * SETTLE)):
        return f"rocks on a rounded side, which tips at {np.degrees(hull.tip):.1f}°, for more than 2 s; it lies still after 6 s"
    return "not known"


def main():
    options = arguments(__doc__, engine={"default": "auto", "help": "Pliant's engine"})
    cases = list(meshes(options))[::options.every]
    with ThreadPoolExecutor(2) as pool:
        done = list(pool.map(lambda case: run(options, case), cases))
    flat = [one for one in done if one[2] is None]
    hulls = [one for one in done if one[2] is not None]
    names = ("Pliant", "MuJoCo as it comes", "MuJoCo set up to hold")
    rows = [["on the", "program", "lie still", "stay where they are", "deepest, mm: median, worst", "after 2 s"]]
    for ground in GROUNDS:
        for k, name in enumerate(names):
            outcomes = [results[ground][k] for _, _, _, results in hulls]
            figures = np.array([outcome for outcome in outcomes if not isinstance(outcome, str)])
            part = lambda count: f"{count} ({100 * count / len(outcomes):.1f} %)"
            spread = lambda depths: f"{1e3 * np.median(depths):.3f}, {1e3 * depths.max():.3f}"
            still = sum(not judge(outcome) for outcome in outcomes)
            stay = int(((figures[:, 1] < WAY) & (figures[:, 2] < TURN)).sum())
            rows.append([ground, name, part(still), part(stay), spread(figures[:, 0]), spread(figures[:, 3])])
    text = (f"{len(cases)} mesh files, {len(flat)} of them without a volume; {len(hulls)} hulls, {3 * len(hulls)} drops in each "
            f"program; MuJoCo {mujoco.__version__}.\n\n" + table(rows))
    bad = [["mesh", "on the", "Pliant", "deepest, mm", "way, mm", "turn, °", "cause", "MuJoCo as it comes", "set up to hold"]]
    for package, path, hull, results in hulls:
        for ground in GROUNDS:
            outcomes = results[ground]
            if judge(outcomes[0]):
                words = [", ".join(judge(outcome)) or "lies still" for outcome in outcomes[:3]]
                figures = ["", "", ""]
                if not isinstance(outcomes[0], str):
                    depth, way, turn, _ = outcomes[0]
                    figures = [f"{1e3 * depth:.3f}", f"{1e3 * way:.2f}", f"{np.degrees(turn):.2f}"]
                bad.append([f"{package}: `{path}`", ground, words[0], *figures, outcomes[3], *words[1:]])
    text += "\nThose that do not lie still in Pliant:\n\n" + table(bad) if len(bad) > 1 else "\nAll lie still in Pliant.\n"
    finish(options, "hulls", text)


main()
