"""What the tests share: the command line, whose answers are those of Rust to the last bit."""

import json
import os
import signal
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any, Callable, Iterator

import pytest

ROOT = Path(__file__).resolve().parents[3]


def binary() -> Path | None:
    named = os.environ.get("PLIANT_COMMAND")
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    places = [Path(named)] if named else [target / "debug" / "pliant", target / "release" / "pliant"]
    return next((place for place in places if place.is_file()), None)


@pytest.fixture(scope="session")
def command() -> Callable[..., Any]:
    """Runs the command line and gives its JSON document."""
    program = binary()
    if program is None:
        pytest.skip("the command line is not built: `cargo build -p pliant-cli`, or PLIANT_COMMAND")

    def run(*arguments: object) -> Any:
        words = [str(program), *map(str, arguments), "--json"]
        return json.loads(subprocess.run(words, capture_output=True, text=True, check=False).stdout)

    return run


@pytest.fixture(scope="session")
def said(command: Callable[..., Any]) -> Callable[..., str]:
    """The error of the command line."""
    return lambda *arguments: str(command(*arguments)["error"])


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests run in a folder of their own: MuJoCo writes a log where it is."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture(autouse=True)
def interruptible() -> Iterator[None]:
    """A shell starts what runs in the background with interrupts ignored, and Python leaves that so: here they are keyboard interrupts."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def wheel(package: str) -> Path:
    """The files of a package of PyPI, named as `name-version`, from the cache of the tests, or skips."""
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "pliant" / "wheels" / package
    if not folder.is_dir():
        if not os.environ.get("PLIANT_LONG"):
            pytest.skip(f"{package} is not in the cache; PLIANT_LONG=1 fetches it")
        partial = folder.with_name(f"{folder.name}.{os.getpid()}")
        partial.mkdir(parents=True)
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "==".join(package.rsplit("-", 1)), "-d", str(partial)]
        if subprocess.run(pip, check=False).returncode:
            pytest.skip(f"{package} could not be fetched")
        for file in partial.glob("*.whl"):
            zipfile.ZipFile(file).extractall(partial)
        partial.rename(folder)
    return folder
