"""The site of files that lie all over the repository: those that pages refer to become pages, and links between them are those of the site."""

import ast
import inspect
import os
import pathlib
import re

import pliant
import pliant.gym
from mkdocs.structure.files import File

ROOT = pathlib.Path(__file__).resolve().parents[1]

#: Pages and files outside of this folder.
OTHERS = ["bench/README.md", "crates/pliant-elastic/README.md", "crates/pliant-core/src/expression/README.md"]
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s#]+)(#[^)\s]*)?\)")


def of_site(path):
    """Where a file of the repository is in the site."""
    return {"README.md": "index.md"}.get(path, path.removeprefix("docs/"))


def of_repository(page):
    if page == "index.md":
        return "README.md"
    return f"docs/{page}" if (ROOT / "docs" / page).is_file() else page


def stub_signatures():
    """Of the compiled part, from its stubs: by class and name, as they are written there."""
    found = {}
    stubs = pathlib.Path(pliant.__file__).with_name("_native.pyi").read_text()
    for node in ast.parse(stubs).body:
        inside = node.body if isinstance(node, ast.ClassDef) else [node]
        for part in inside:
            if not isinstance(part, ast.FunctionDef):
                continue
            returns = ast.unparse(part.returns)
            is_property = any(ast.unparse(decorator) == "property" for decorator in part.decorator_list)
            text = f": {returns}" if is_property else f"({ast.unparse(part.args)}) -> {returns}"
            owner = f"{node.name}." if isinstance(node, ast.ClassDef) else ""
            found.setdefault(owner + part.name, f"{owner}{part.name}{text.replace('(self, ', '(').replace('(self)', '()')}")
    return found


def entry(level, path, value, signatures):
    """A heading, the signature and the docstring, whose examples become blocks."""
    lines = [f"{'#' * level} {path}", ""]
    if path in signatures:
        lines += ["```python", signatures[path], "```", ""]
    elif inspect.isroutine(value) or inspect.isclass(value) and "__init__" in vars(value):
        lines += ["```python", f"{path}{str(inspect.signature(value)).replace('(self, ', '(').replace('(self)', '()')}", "```", ""]
    inside = False
    for line in (inspect.getdoc(value) or "").splitlines():
        if line.startswith(">>>") and not inside:
            lines += ["", "```pycon"]
            inside = True
        elif inside and not line.strip():
            lines.append("```")
            inside = False
        lines.append(line)
    return [*lines, *(["```"] if inside else []), ""]


def reference():
    """Everything public, with the docstrings of the module and the signatures of its stubs."""
    signatures = stub_signatures()
    lines = ["# Python reference", "", "SI units and radians; poses are x, y, z and the quaternion w, x, y, z.", ""]
    public = [(name, getattr(pliant, name)) for name in pliant.__all__ if name not in ("__version__", "gallery")]
    others = [(f"{module.__name__[7:]}.{name}", value) for module in (pliant.gallery, pliant.gym) for name, value in vars(module).items()
              if getattr(value, "__module__", "") == module.__name__ and not name.startswith("_")]
    for path, value in [*public, *others]:
        lines += entry(2, path, value, signatures)
        exception = inspect.isclass(value) and issubclass(value, (Exception, Warning))
        for name, member in vars(value).items() if inspect.isclass(value) and not exception else ():
            if not name.startswith("_") and inspect.getdoc(member) and not isinstance(member, (dict, str)):
                lines += entry(3, f"{path}.{name}", member, signatures)
    return "\n".join(lines)


def on_files(files, config):
    others = [*OTHERS, *(str(path.relative_to(ROOT)) for kind in ("notebooks/*.ipynb", "python/*.py") for path in ROOT.glob(f"examples/{kind}"))]
    for path in sorted(others):
        files.append(File.generated(config, path, abs_src_path=str(ROOT / path)))
    files.append(File.generated(config, "index.md", abs_src_path=str(ROOT / "README.md")))
    files.append(File.generated(config, "python-reference.md", content=reference()))
    return files


def on_page_markdown(markdown, page, config, files):
    """Links that lead to files of the site lead there; what is not in it is named without a link."""
    own = of_repository(page.file.src_uri)

    def link(match):
        image, text, target, anchor = match.groups()
        if ":" in target:
            return match.group()
        place = of_site(os.path.normpath(os.path.join(os.path.dirname(own), target)))
        if files.get_file_from_path(place) is None:
            return text
        return f"{image}[{text}]({os.path.relpath(place, os.path.dirname(page.file.src_uri))}{anchor or ''})"

    return LINK.sub(link, markdown)
