"""Builds what races: the Rust program with Pliant and Rapier, a Python environment of its own, and Pinocchio's C++ program.

Every part that cannot be had is a reason, not a failure: its engines are skipped with it.
"""

import json
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

BENCH = Path(__file__).resolve().parent.parent
ROOT = BENCH.parent
VENV = BENCH / ".venv"
PYTHON = VENV / "bin" / "python"


def say(text):
    print(text, file=sys.stderr, flush=True)


def section(tools, title, script, options):
    """A section of the report that a script makes in MuJoCo's environment: data and Markdown."""
    why = tools.missing.get("mujoco")
    if why is None:
        say(title.lower())
        command = [str(PYTHON), script, "--peers", str(tools.peers), *options]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode == 0:
            answer = json.loads(done.stdout)
            return answer["data"], answer["markdown"]
        why = (done.stderr.strip().splitlines() or ["nothing was said"])[-1]
    return {"skipped": why}, f"## {title}\n\nSkipped: {why}\n"


def attempt(command, what, **options):
    """Runs a command; `None`, or why it failed in one line."""
    say(f"  {what}")
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    except OSError as why:
        return f"{what} failed: {why.strerror}"
    if done.returncode == 0:
        return None
    lines = [line.strip() for line in done.stdout.splitlines() if line.strip()]
    telling = [line for line in lines if "error" in line.lower()] or lines or ["nothing was said"]
    return f"{what} failed: {telling[0]}"[:300]


class Tools:
    """Where the programs are, and why some are not."""

    def __init__(self):
        target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).absolute()
        self.peers = target / "release" / "peers"
        self.pinocchio = target / "release" / "pinocchio"
        self.missing = {}
        say("building:")
        manifest = str(BENCH / "peers" / "Cargo.toml")
        build = ["cargo", "build", "--release", "--locked", "--manifest-path", manifest]
        why = attempt(build, "Pliant and Rapier", env={**os.environ, "CARGO_TARGET_DIR": str(target)})
        if why:
            sys.exit(f"race: {why}")
        self.versions = {"Pliant": version(ROOT / "Cargo.toml"), "Rapier": locked("rapier3d")}
        self.python()
        self.cpp()

    def python(self):
        """One environment; each package for itself, so that one that cannot be had takes no other with it."""
        if not PYTHON.exists():
            why = attempt([sys.executable, "-m", "venv", str(VENV)], "a Python environment in bench/.venv")
            if why:
                self.missing = {name: why for name in ("mujoco", "pin", "cmeel-eigen", "dartpy", "drake")}
                return
        for line in (BENCH / "requirements.txt").read_text().splitlines():
            if not line or line.startswith("#"):
                continue
            name, wanted = line.split("==")
            have = found(name)
            if have != wanted:
                pip = [str(PYTHON), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", line]
                why = attempt(pip, f"pip install {line}")
                if why:
                    self.missing[name] = why
                    continue
                have = found(name)
            label = {"mujoco": "MuJoCo", "pin": "Pinocchio", "dartpy": "DART", "drake": "Drake"}.get(name)
            if label:
                self.versions[label] = have

    def cpp(self):
        """Pinocchio's program, against the headers and libraries inside its wheel."""
        why = self.missing.get("pin") or self.missing.get("cmeel-eigen")
        if why is None and not shutil.which("g++"):
            why = "there is no g++"
        if why is None:
            lib = next(VENV.glob("lib/python3*/site-packages/cmeel.prefix"), None)
            if lib is None:
                why = "the wheel `pin` has no cmeel.prefix"
            else:
                source = BENCH / "peers" / "pinocchio.cpp"
                if not self.pinocchio.exists() or self.pinocchio.stat().st_mtime < source.stat().st_mtime:
                    self.pinocchio.parent.mkdir(parents=True, exist_ok=True)
                    why = attempt(compiler(source, lib, self.pinocchio), "Pinocchio's C++ program")
        if why:
            self.missing["pinocchio"] = why

    def peer(self, name):
        return [str(PYTHON), str(BENCH / "peers" / "python" / f"{name}_peer.py")]


def compiler(source, prefix, program):
    """Headers alone, so that every line is compiled for this processor; the definitions are those of the wheel's CMake files."""
    return [
        "g++", "-std=c++17", "-O3", "-march=native", "-DNDEBUG", "-DBOOST_MPL_LIMIT_LIST_SIZE=30",
        "-DBOOST_MPL_LIMIT_VECTOR_SIZE=30", "-DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS", f"-I{prefix / 'include'}",
        f"-I{prefix / 'include' / 'eigen3'}", "-o", str(program), str(source),
    ]


def found(name):
    """The version of a package in the environment, or `None`."""
    ask = f"import importlib.metadata as m; print(m.version({name!r}))"
    done = subprocess.run([str(PYTHON), "-c", ask], capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else None


def version(manifest):
    import tomllib

    return tomllib.loads(manifest.read_text())["workspace"]["package"]["version"]


def locked(name):
    import tomllib

    packages = tomllib.loads((BENCH / "peers" / "Cargo.lock").read_text())["package"]
    return next(package["version"] for package in packages if package["name"] == name)


def machine():
    """The processor's model, and how many cores there are: nothing else of the machine."""
    model = platform.processor() or platform.machine()
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    except OSError:
        pass
    return {"cpu": model, "cores": os.cpu_count(), "system": platform.system()}
