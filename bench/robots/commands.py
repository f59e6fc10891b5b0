"""Commands of Pliant end to end on forty robots: exit codes, seconds and warnings.

    python3 bench/robots/commands.py [--packages A,B] [--every N] [--keep DIR] [--docs]

Each robot file is given as it is to `info`, `statics`, `compliance`, `simulate` (0.5 s in steps of 4 ms), `compare` and `reduce`. With --keep, all that
they print is kept in DIR, to be read. A warning is *repeated* if a command prints it twice, or for two engines, or if it says what is left out of
the file, which `info` alone lists.
"""

import re
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from packages import arguments, finish, table, wheel

EXAMPLES = "cmeel.prefix/share/example-robot-data/robots"
ROBOTS = {
    "example-robot-data": [
        f"{EXAMPLES}/{path}" for path in [
            "panda_description/urdf/panda.urdf",
            "ur_description/urdf/ur5_robot.urdf",
            "ur_description/urdf/ur3_gripper.urdf",
            "kinova_description/robots/kinova.urdf",
            "xarm_description/urdf/xarm7.urdf",
            "so_arm_description/urdf/so101.urdf",
            "allegro_hand_description/urdf/allegro_right_hand.urdf",
            "finger_edu_description/robots/finger_edu.urdf",
            "g1_description/urdf/g1_29dof_with_hand_rev_1_0.urdf",
            "talos_data/robots/talos_full_v2.urdf",
            "icub_description/robots/icub.urdf",
            "human_description/robots/human.urdf",
            "alex_description/urdf/alex_psyonic_hands.urdf",
            "tiago_description/robots/tiago_dual.urdf",
            "pr2_description/urdf/pr2.urdf",
            "centauro_description/urdf/centauro.urdf",
            "cassie_description/robots/cassie.sdf",
            "cassie_description/robots/cassie_v2.sdf",
            "solo_description/robots/solo12.urdf",
            "anymal_b_simple_description/robots/anymal-kinova.urdf",
        ]
    ],
    "mujoco-mjx": [
        f"mujoco/mjx/test_data/{path}" for path in [
            "shadow_hand/scene_right.xml",
            "humanoid/humanoid.xml",
            "barkour_v0/assets/barkour_v0_mjx.xml",
            "actuator/arm26.xml",
        ]
    ],
    "robosuite": [
        f"robosuite/models/assets/{path}" for path in [
            "robots/baxter/robot.xml",
            "robots/gr1/robot.xml",
            "robots/spot_arm/robot.xml",
            "grippers/robotiq_gripper_85.xml",
            "grippers/inspire_left_hand.xml",
            "grippers/jaco_three_finger_gripper.xml",
        ]
    ],
    "genesis-world": [
        f"genesis/assets/{path}" for path in [
            "xml/franka_emika_panda/panda.xml",
            "xml/universal_robots_ur5e/scene.xml",
            "xml/four_bar_linkage.xml",
            "xml/ant.xml",
            "urdf/shadow_hand/shadow_hand.urdf",
            "urdf/kuka_iiwa/kuka_with_gripper2.sdf",
        ]
    ],
    "pybullet": [
        f"pybullet_data/{path}" for path in [
            "quadruped/minitaur.urdf",
            "gripper/wsg50_one_motor_gripper_new.sdf",
            "pr2_gripper.urdf",
            "racecar/racecar_differential.urdf",
        ]
    ],
}
COMMANDS = {
    "info": [],
    "statics": [],
    "compliance": [],
    "simulate": ["--duration", "0.5", "--dt", "0.004"],
    "compare": [],
    "reduce": [],
}
LIMIT = 600.0


def name_of(path):
    """A name for a table: the file's, and the folder's where files are all called alike."""
    folder = path.parent.name
    return path.name if path.stem not in ("robot", "scene") else f"{folder}/{path.name}"


def run(options, command, path, folder):
    """A command on a file: its exit code (none if it took too long), seconds, and warnings."""
    words = [str(options.pliant), command, str(path), *COMMANDS[command]]
    written = {"compare": "page.html", "reduce": "model.pliant"}
    if command in written:
        words += ["-o", str(folder / written[command])]
    start = time.perf_counter()
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=LIMIT)
        code, out, err = done.returncode, done.stdout, done.stderr
    except subprocess.TimeoutExpired:
        code, out, err = None, "", f"took more than {LIMIT} s\n"
    seconds = time.perf_counter() - start
    (folder / f"{command}.txt").write_text(f"{out}{err}exit code {code}, {seconds:.1f} s\n")
    found = re.findall(r"(?m)^warning: (.*)", err)
    if command == "info":  # part of its answer, which ends with them
        found = [line.strip() for line in out.partition("\nwarnings  ")[2].splitlines() if line.strip() != "none"]
    error = re.search(r"(?m)^error: (.*)", err)
    return {"code": code, "seconds": seconds, "warnings": found, "error": error and error[1]}


def robot(options, package, path):
    folder = options.keep / re.sub(r"[^\w.]+", "_", path)
    folder.mkdir(parents=True, exist_ok=True)
    file = wheel(package) / path
    results = {command: run(options, command, file, folder) for command in COMMANDS}
    of_file = {warning for warning in results["info"]["warnings"] if warning.startswith(str(file.parent))}
    for command, result in results.items():
        counts = Counter(re.sub(r"the engine `\w+`", "the engine", warning) for warning in result["warnings"])
        result["repeated"] = sum(counts.values()) - len(counts)
        if command != "info":
            result["repeated"] += sum(warning in of_file for warning in counts)
    print(f"{name_of(file)}: {sum(one['seconds'] for one in results.values()):.1f} s", file=sys.stderr)
    return results


def cell(result):
    """As `1.2 s`, with the exit code if it is none of success, and the number of warnings if there are any."""
    parts = [f"{result['seconds']:.1f} s"]
    if result["code"] != 0:
        parts.insert(0, f"**exit {result['code']}**")
    if result["warnings"]:
        parts.append(f"{len(result['warnings'])} w")
    if result["repeated"]:
        parts.append(f"**{result['repeated']} repeated**")
    return ", ".join(parts)


def main():
    options = arguments(__doc__, keep={"type": Path, "default": Path("pliant-commands"), "metavar": "DIR", "help": "folder for all that is printed"})
    robots = [(package, path) for package in options.packages for path in ROBOTS[package]][:: options.every]
    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(lambda one: robot(options, *one), robots))
    rows = [["robot", *(f"`{command}`" for command in COMMANDS)]]
    refused = [["robot", "command", "message"]]
    for (package, path), commands in zip(robots, results):
        name = f"`{name_of(Path(path))}`"
        rows.append([name, *map(cell, commands.values())])
        for command, result in commands.items():
            if result["code"] != 0:
                refused.append([name, f"`{command}`", (result["error"] or "no message").replace("|", "/")])
    everything = [result for commands in results for result in commands.values()]
    ended = sum(result["code"] == 0 for result in everything)
    repeated = sum(result["repeated"] for result in everything)
    text = (f"{ended} of {len(everything)} commands on {len(robots)} robots ended well; {repeated} warnings were repeated; "
            f"the slowest took {max(result['seconds'] for result in everything):.0f} s, two at a time. `w`: warnings.\n\n" + table(rows))
    if len(refused) > 1:
        text += "\nThose that did not:\n\n" + table(refused)
    finish(options, "commands", text)


main()
