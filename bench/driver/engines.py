"""Who races, on which scenes."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Engine:
    """One line of the tables. `command(tools, files)` starts its program."""

    key: str
    name: str
    maker: str  # `Pliant`, or the peer
    command: object
    needs: tuple = ()  # what must have been set up
    only: tuple = ()  # scenes, if not all


def pliant(words, name, only=()):
    key = "pliant:" + words
    return Engine(key, f"Pliant {name}", "Pliant", lambda tools, files: [str(tools.peers), key, files.toml], only=only)


def rapier(words, name):
    key = "rapier:" + words
    return Engine(key, f"Rapier {name}", "Rapier", lambda tools, files: [str(tools.peers), key, files.toml])


def python(key, name, maker, package):
    return Engine(key, name, maker, lambda tools, files: tools.peer(key) + [files.toml], needs=(package,))


ENGINES = [
    pliant("full", "full"),
    pliant("articulated", "articulated"),
    pliant("reduced", "reduced"),
    pliant("linear:twist", "linear, twist"),
    pliant("linear:joint", "linear, joint"),
    pliant("linear:corrected", "linear, corrected"),
    pliant("blended:joint:1", "blended, 1 model"),
    pliant("blended:joint:2", "blended, 2 models"),
    pliant("blended:joint:4", "blended, 4 models"),
    pliant("blended:twist:1", "blended by twists, 1 model", only=("helix:200",)),
    pliant("blended:twist:2", "blended by twists, 2 models", only=("helix:200",)),
    pliant("blended:twist:4", "blended by twists, 4 models", only=("helix:200",)),
    Engine("pinocchio", "Pinocchio ABA + armature", "Pinocchio",
           lambda tools, files: [str(tools.pinocchio), files.numbers], needs=("pinocchio",)),
    python("mujoco", "MuJoCo discrete", "MuJoCo", "mujoco"),
    python("dart", "DART", "DART", "dartpy"),
    python("drake", "Drake SAP + PD", "Drake", "drake"),
    rapier("multibody", "multibody springs"),
    rapier("impulse", "impulse joints"),
]

# Forward dynamics alone: coordinates and rates to accelerations.
FORWARD = [
    Engine("pliant:forward", "Pliant articulated", "Pliant",
           lambda tools, files: [str(tools.peers), "pliant:forward", files.toml]),
    Engine("pinocchio", "Pinocchio ABA", "Pinocchio",
           lambda tools, files: [str(tools.pinocchio), files.numbers, "forward"], needs=("pinocchio",)),
    Engine("mujoco", "MuJoCo", "MuJoCo",
           lambda tools, files: tools.peer("mujoco") + [files.toml, "forward"], needs=("mujoco",)),
    Engine("dart", "DART", "DART",
           lambda tools, files: tools.peer("dart") + [files.toml, "forward"], needs=("dartpy",)),
]

SCENES = ["helix:50", "helix:100", "helix:200", "helix:400", "ladder:36", "ladder:48", "rungs:18", "rungs:48", "y",
          "arm", "chain:1000", "chain:10000"]
FORWARD_SCENES = ["chain:20", "chain:50", "chain:100"]

# Scenes that only Pliant takes part in, and why.
ALONE = {"chain:10000": "not entered: the race takes peers to 1,000 links"}

# Most µs a step that each engine is to take: engine, scene, limit.
ASKED = [
    ("pliant:full", "chain:1000", 700.0),
    ("pliant:full", "chain:10000", 12000.0),
    ("pliant:linear:twist", "helix:400", 6.0),
    ("pliant:linear:joint", "helix:400", 10.0),
    ("pliant:linear:twist", "arm", 0.7),
    ("pliant:linear:twist", "rungs:48", 1.2),
    ("pliant:articulated", "helix:400", 60.0),
    ("pliant:articulated", "arm", 3.2),
    ("pliant:forward", "chain:20", 3.0),
    ("pliant:forward", "chain:50", 7.5),
    ("pliant:forward", "chain:100", 15.0),
    ("pliant:reduced", "helix:400", 14.0),
    ("pliant:reduced", "arm", 2.0),
    ("pliant:reduced", "rungs:48", 6.0),
    ("pliant:reduced", "chain:1000", 35.0),
    ("pliant:reduced", "chain:10000", 350.0),
    ("pliant:blended:joint:1", "helix:200", 6.0),
    ("pliant:blended:joint:2", "helix:200", 8.0),
    ("pliant:blended:joint:4", "helix:200", 12.0),
    ("pliant:blended:twist:1", "helix:200", 8.0),
    ("pliant:blended:twist:2", "helix:200", 16.0),
    ("pliant:blended:twist:4", "helix:200", 30.0),
]
