"""A scene file that `pliant export` wrote, as a tree of bodies and the joints that close loops.

Plain Python, because the driver reads it too. Poses are (quaternion [w, x, y, z], position), those of bodies and joints in
the world at rest. The z axis of a joint's frame is its axis.
"""

import dataclasses
import math
import tomllib

DT = 1.0 / 60.0


class Unsupported(Exception):
    """Why an engine does not take a scene."""


@dataclasses.dataclass
class Body:
    name: str
    pose: tuple
    mass: float
    center_of_mass: list
    inertia: list  # about the centre of mass, link axes: 3 rows of 3


@dataclasses.dataclass
class Joint:
    name: str
    kind: str
    parent: int | None  # a body, or the world
    child: int
    frame: tuple
    stiffness: float
    damping: float


@dataclasses.dataclass
class Scene:
    name: str
    gravity: list
    bodies: list
    tree: list  # the first joint of each body, every parent before its children
    loops: list  # all other joints
    tip: int  # the body whose displacement is the answer
    force: list  # on that body at its frame's origin, world axes, dead

    def frame_in_parent(self, joint):
        parent = IDENTITY if joint.parent is None else self.bodies[joint.parent].pose
        return compose(invert(parent), joint.frame)

    def frame_in_child(self, joint):
        return compose(invert(self.bodies[joint.child].pose), joint.frame)


IDENTITY = ([1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0])


def multiply(a, b):
    """The product of two quaternions."""
    (aw, ax, ay, az), (bw, bx, by, bz) = a, b
    return [
        aw * bw - ax * bx - ay * by - az * bz,
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
    ]


def matrix(q):
    """The rotation matrix of a quaternion, as rows."""
    w, x, y, z = q
    return [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]


def rotate(q, v):
    return [sum(row[k] * v[k] for k in range(3)) for row in matrix(q)]


def compose(a, b):
    moved = rotate(a[0], b[1])
    return multiply(a[0], b[0]), [a[1][k] + moved[k] for k in range(3)]


def invert(a):
    back = [a[0][0], -a[0][1], -a[0][2], -a[0][3]]
    return back, [-x for x in rotate(back, a[1])]


def distance(a, b):
    return math.dist(a, b)


def pose_of(entry):
    q = [float(x) for x in entry.get("rotation", IDENTITY[0])]
    size = math.sqrt(sum(x * x for x in q))
    return [x / size for x in q], [float(x) for x in entry.get("position", IDENTITY[1])]


def inertia_of(entry):
    moments = [float(x) for x in entry["inertia"]]
    xx, yy, zz, xy, xz, yz = moments + [0.0] * (6 - len(moments))
    return [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]


def read(path):
    """Reads a scene; `Unsupported` names what the race has no model for in the peers."""
    with open(path, "rb") as file:
        data = tomllib.load(file)
    if "coupling" in data or "target" in data:
        raise Unsupported("the race has no couplings and no targets")
    bodies, index = [], {"world": None}
    for entry in data["body"]:
        if entry.get("free"):
            raise Unsupported("the race has no free bodies")
        com = [float(x) for x in entry.get("center_of_mass", [0.0] * 3)]
        index[entry["name"]] = len(bodies)
        bodies.append(Body(entry["name"], pose_of(entry), float(entry["mass"]), com, inertia_of(entry)))
    tree, loops, held = [], [], set()
    for entry in data["joint"]:
        for key in ("limits", "rest", "armature", "start"):
            if key in entry:
                raise Unsupported(f"the race has no joints with `{key}`")
        number = lambda key: float(entry.get(key, 0.0))
        joint = Joint(
            entry["name"], entry["kind"], index[entry["parent"]], index[entry["child"]], pose_of(entry),
            number("stiffness"), number("damping"),
        )
        if joint.child in held:
            loops.append(joint)
        else:
            held.add(joint.child)
            tree.append(joint)
            if joint.kind != "hinge":
                raise Unsupported(f"a tree joint of kind `{joint.kind}`")
    tree = parents_first(tree)
    effectors = {entry["name"]: entry for entry in data["effector"]}
    loads = data.get("load", [])
    if len(loads) > 1 or any("torque" in load for load in loads):
        raise Unsupported("the race has one force and no torque")
    name = loads[0]["effector"] if loads else data["effector"][0]["name"]
    if pose_of(effectors[name]) != IDENTITY:
        raise Unsupported("the effector must be its body's own frame")
    tip = index[effectors[name]["body"]]
    if any(bodies[tip].center_of_mass):
        raise Unsupported("the centre of mass of the loaded body must be its origin")
    force = [float(x) for x in loads[0]["force"]] if loads else [0.0] * 3
    mechanism = data["mechanism"]
    gravity = [float(x) for x in mechanism.get("gravity", [0.0, 0.0, -9.81])]
    return Scene(mechanism.get("name", ""), gravity, bodies, tree, loops, tip, force)


def parents_first(tree):
    by_parent = {}
    for joint in tree:
        by_parent.setdefault(joint.parent, []).append(joint)
    ordered, front = [], [None]
    while front:
        parent = front.pop(0)
        for joint in by_parent.get(parent, []):
            ordered.append(joint)
            front.append(joint.child)
    return ordered


def closing_point(scene, joint):
    """Where a loop is closed, in the axes of parent and child; for engines whose constraints have no springs."""
    if joint.kind != "ball" or joint.stiffness != 0.0 or joint.damping != 0.0:
        raise Unsupported("its constraints have no spring for a hinge that closes a loop")
    return scene.frame_in_parent(joint)[1], scene.frame_in_child(joint)[1]


def write_numbers(scene, path):
    """The scene as plain numbers in the order of the tree, for a program without a TOML reader."""
    place = {joint.child: n for n, joint in enumerate(scene.tree)}
    lines = [" ".join(map(repr, scene.gravity + scene.force)), f"{len(scene.tree)} {place[scene.tip]}"]
    # Frames are the joint's: its z is the axis, and the body hangs on it.
    for joint in scene.tree:
        body = scene.bodies[joint.child]
        if joint.parent is None:
            outer, parent = IDENTITY, -1
        else:
            parent = place[joint.parent]
            outer = scene.tree[parent].frame
        placement = compose(invert(outer), joint.frame)
        link = compose(invert(joint.frame), body.pose)
        numbers = [*placement[0], *placement[1], *link[0], *link[1], body.mass, *body.center_of_mass]
        numbers += [x for row in body.inertia for x in row] + [joint.stiffness, joint.damping]
        lines.append(f"{parent} " + " ".join(map(repr, numbers)))
    with open(path, "w") as file:
        file.write("\n".join(lines) + "\n")
