"""The package as a whole: its gallery is that of Rust, everything is documented, the examples of the documents run."""

import ast
import doctest
import inspect
import json
import re
import runpy
from pathlib import Path

import numpy
import pytest

import pliant
from conftest import ROOT

DOCUMENTS = [ROOT / "README.md", ROOT / "docs" / "python.md"]
BLOCKS = [
    pytest.param(block, id=f"{path.name}-{i}")
    for path in DOCUMENTS
    for i, block in enumerate(re.findall(r"```python\n(.*?)```", path.read_text(), re.S))
]
NOTEBOOKS = sorted((ROOT / "examples" / "notebooks").glob("*.ipynb"))
EXAMPLES = sorted((ROOT / "examples" / "python").glob("*.py"))


def test_every_entry_of_the_gallery_is_a_function():
    from pliant._native import gallery_entries

    for name, about, size in gallery_entries():
        function = getattr(pliant.gallery, name.replace("-", "_"))
        assert inspect.getdoc(function) == about[0].upper() + about[1:] + "."
        assert function() == pliant.gallery.build(name)
        if size is not None:
            assert function(size) == function()


def test_everything_has_a_docstring():
    for name in pliant.__all__:
        value = getattr(pliant, name)
        if name != "__version__":
            assert inspect.getdoc(value), name
        if inspect.isclass(value) and value.__module__ == "pliant":
            for member, of in vars(value).items():
                if not member.startswith("_") and member != "name":
                    assert inspect.getdoc(of), f"{name}.{member}"


def examples_of(value):
    return doctest.DocTestParser().get_examples(inspect.getdoc(value) or "")


def public():
    """Everything public with its path: functions, classes, and members of these."""
    for name in pliant.__all__:
        value = getattr(pliant, name)
        if name == "gallery":
            yield from ((f"gallery.{own}", getattr(value, own)) for own in ("names", "build"))
        elif not isinstance(value, str):
            yield name, value
            members = vars(value).items() if inspect.isclass(value) and not issubclass(value, (Exception, Warning)) else []
            yield from ((f"{name}.{member}", of) for member, of in members if not member.startswith("_"))


DOCUMENTED = [pytest.param(examples_of(value), id=path) for path, value in public() if examples_of(value)]


def test_every_function_has_an_example():
    called = [(path, value) for path, value in public() if callable(value) and not inspect.isclass(value)]
    assert len(called) >= 60
    assert [path for path, value in called if not examples_of(value)] == []


@pytest.mark.parametrize("examples", DOCUMENTED)
def test_examples_of_docstrings(examples):
    """They run; a result that is given is the one that comes."""
    names = {"pliant": pliant, "numpy": numpy, "sim": pliant.gallery.arm().simulate()}
    if any("to_frame" in example.source for example in examples):
        pytest.importorskip("pandas")
    if any("mujoco" in example.source or "coupling" in example.source for example in examples):
        mujoco = pytest.importorskip("mujoco")
        model = mujoco.MjModel.from_xml_string('<mujoco><worldbody><body name="block"><freejoint/><geom size="0.1"/></body></worldbody></mujoco>')
        names |= {"mujoco": mujoco, "model": model, "data": mujoco.MjData(model)}
        sim = pliant.gallery.two_link().simulate()
        names["coupling"] = pliant.couple_mujoco(sim, "tip", model, names["data"], "block", stiffness=1.0)
    for example in examples:
        if ".urdf" in example.source or ".xml" in example.source:
            continue  # a file of the reader's own
        if example.want and not example.source.startswith("def"):
            assert repr(eval(example.source, names)) == example.want.strip()
        else:
            exec(example.source, names)


def test_there_are_examples():
    assert len(BLOCKS) >= 10 and len(EXAMPLES) >= 3 and len(NOTEBOOKS) == 4 and len(DOCUMENTED) >= 60


@pytest.mark.parametrize("block", BLOCKS)
def test_blocks_of_the_documents(block, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for needed in re.findall(r"^import (mujoco|gymnasium|pandas)", block, re.M):
        pytest.importorskip(needed)
    pliant.gallery.hand().save("hand.toml")
    exec(compile(block, "block", "exec"), {})


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: Path(path).name)
def test_examples(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if "import mujoco" in path.read_text():
        pytest.importorskip("mujoco")
    runpy.run_path(str(path), run_name="__main__")


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_notebooks(path, tmp_path, monkeypatch):
    """Their cells in a row, each last expression shown as a notebook shows it; outputs are not kept in the files."""
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for cell in json.loads(path.read_text())["cells"]:
        if cell["cell_type"] != "code":
            continue
        assert cell["outputs"] == []
        body = ast.parse("".join(cell["source"])).body
        last = body.pop() if isinstance(body[-1], ast.Expr) else None
        exec(compile(ast.Module(body, []), path.name, "exec"), names)
        if last is not None:
            shown = eval(compile(ast.Expression(last.value), path.name, "eval"), names)
            getattr(shown, "_repr_html_", shown.__repr__)()
