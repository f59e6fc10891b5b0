"""Built-in mechanisms and scenes, one function each; sizes are numbers of links."""

from ._native import Mechanism, from_gallery, gallery_entries


def names() -> list[str]:
    """The names of all, as the command line has them.

    >>> "helix" in pliant.gallery.names()
    True
    """
    return [name for name, _, _ in gallery_entries()]


def build(name: str) -> Mechanism:
    """By its name with optional size, such as ``helix:400``.

    >>> pliant.gallery.build("helix:40").freedoms
    40
    """
    return from_gallery(name)


def chain(size: int | None = None) -> Mechanism:
    """Links in a row along x, sagging under gravity."""
    return from_gallery("chain", size)


def helix(size: int | None = None) -> Mechanism:
    """Links wound into a helix, pulled down at the tip."""
    return from_gallery("helix", size)


def ladder(size: int | None = None) -> Mechanism:
    """Two rails and rungs closed by passive ball joints, pushed sideways."""
    return from_gallery("ladder", size)


def rungs(size: int | None = None) -> Mechanism:
    """Stages of two rails between rungs, every hinge sprung, pushed sideways."""
    return from_gallery("rungs", size)


def loop(size: int | None = None) -> Mechanism:
    """Hexagonal rings stacked on their vertices, pushed sideways."""
    return from_gallery("loop", size)


def two_link() -> Mechanism:
    """Two links in a plane, the smallest compliant arm."""
    return from_gallery("two-link")


def y() -> Mechanism:
    """A stem with two arms, pulled at one of them."""
    return from_gallery("y")


def graph() -> Mechanism:
    """Nine bodies with branches and a loop, two effectors."""
    return from_gallery("graph")


def four_bar() -> Mechanism:
    """Crank, coupler and rocker: one spring holds the loop."""
    return from_gallery("four-bar")


def arm() -> Mechanism:
    """An arm of eight links with three fingers of four, loaded at a fingertip."""
    return from_gallery("arm")


def gripper() -> Mechanism:
    """Two parallelogram fingers that move as mirror images."""
    return from_gallery("gripper")


def hand() -> Mechanism:
    """Sixteen bones with limits, pressing with the index finger."""
    return from_gallery("hand")


def hexapod() -> Mechanism:
    """A six-legged robot standing on a free base."""
    return from_gallery("hexapod")


def firefighters() -> Mechanism:
    """Two people hold a trampoline, and something lands on it."""
    return from_gallery("firefighters")


def torus_chain(size: int | None = None) -> Mechanism:
    """Rings that roll on each other, four freedoms each, pulled at the tip."""
    return from_gallery("torus-chain", size)


def windmill() -> Mechanism:
    """Spheres, ellipsoids and tori roll on a turning hub."""
    return from_gallery("windmill")


def spline_slide() -> Mechanism:
    """Rings hang from a carriage on a curve of seven points."""
    return from_gallery("spline-slide")


def surface_slide() -> Mechanism:
    """A board with a mast slides on a patch of 25 points."""
    return from_gallery("surface-slide")


def adaptive_gripper() -> Mechanism:
    """Two fingers of four links and two freedoms that pinch or envelop."""
    return from_gallery("adaptive-gripper")


def delta() -> Mechanism:
    """Three arms with parallelograms move a platform that does not turn."""
    return from_gallery("delta")


def stewart() -> Mechanism:
    """A platform on six sprung legs."""
    return from_gallery("stewart")


def excavator() -> Mechanism:
    """Boom, stick and bucket, each moved by a cylinder."""
    return from_gallery("excavator")


def fin_ray() -> Mechanism:
    """A finger of flanks and ribs that bends toward what pushes it."""
    return from_gallery("fin-ray")


def spring_leg() -> Mechanism:
    """A runner's leg with leaf springs at shin and heel."""
    return from_gallery("spring-leg")


def tendon_finger() -> Mechanism:
    """Three phalanges pulled by one tendon."""
    return from_gallery("tendon-finger")


def flexure() -> Mechanism:
    """A stage on two leaves, cut from one plate, pushed sideways."""
    return from_gallery("flexure")


def dragged_arm() -> Mechanism:
    """A human arm whose hand a device drags along a path."""
    return from_gallery("dragged-arm")


def hexapod_terrain() -> Mechanism:
    """The hexapod walks over uneven ground."""
    return from_gallery("hexapod-terrain")


def firefighters_catch() -> Mechanism:
    """Somebody falls on the trampoline."""
    return from_gallery("firefighters-catch")


def hand_grasp() -> Mechanism:
    """The hand grasps a ball and lifts it."""
    return from_gallery("hand-grasp")


def hand_grasp_box() -> Mechanism:
    """The hand grasps a box and lifts it."""
    return from_gallery("hand-grasp-box")


def gripper_pick() -> Mechanism:
    """The gripper picks up a block."""
    return from_gallery("gripper-pick")


def peg_in_hole() -> Mechanism:
    """A peg on a soft wrist finds its hole."""
    return from_gallery("peg-in-hole")


def bridge_heap() -> Mechanism:
    """Bodies fall on a bridge of rungs."""
    return from_gallery("bridge-heap")


def adaptive_thin() -> Mechanism:
    """The adaptive gripper pinches a plate and lifts it."""
    return from_gallery("adaptive-thin")


def adaptive_thick() -> Mechanism:
    """The adaptive gripper envelops a round bar and lifts it."""
    return from_gallery("adaptive-thick")


def fin_ray_post() -> Mechanism:
    """The fin-ray finger bends around a post."""
    return from_gallery("fin-ray-post")


def tendon_wrap() -> Mechanism:
    """The tendon finger wraps around a post."""
    return from_gallery("tendon-wrap")


def humanoid_stands() -> Mechanism:
    """A humanoid robot stands on two flat feet."""
    return from_gallery("humanoid-stands")


def tray_carries() -> Mechanism:
    """An arm carries a block in a bowl, its only effector."""
    return from_gallery("tray-carries")


def pad() -> Mechanism:
    """A round tip presses on a soft pad, and then slides."""
    return from_gallery("pad")


def soft_gripper() -> Mechanism:
    """The gripper with soft fingertips holds a bar off its middle."""
    return from_gallery("soft-gripper")


def finger() -> Mechanism:
    """Three bones in soft pads bend around a bar."""
    return from_gallery("finger")


def soft_hand() -> Mechanism:
    """The hand with soft fingertips grasps a ball and lifts it."""
    return from_gallery("soft-hand")
