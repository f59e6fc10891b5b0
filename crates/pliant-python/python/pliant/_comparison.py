"""What a comparison of the engines found."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

#: Pages that are larger are not put into a notebook, bytes: it keeps each that it shows.
LARGEST = 2_000_000


class Comparison:
    """A comparison of the engines of a mechanism. Made by ``Mechanism.compare``.

    ``figures`` are the numbers of ``pliant compare --json``, ``html`` is its page, which needs no network, ``warnings`` its warnings.

    >>> comparison = pliant.gallery.four_bar().compare()
    >>> comparison.figures["verdict"]["good"]
    True
    """

    def __init__(self, html: str, figures: str, warnings: list[str]) -> None:
        self.html = html
        self.figures: dict[str, Any] = json.loads(figures)
        self.warnings = warnings

    def save(self, path: str | Path) -> None:
        """Writes its page (.html).

        >>> pliant.gallery.four_bar().compare().save("four-bar.html")
        """
        Path(path).write_text(self.html, encoding="utf-8")

    def rows(self) -> list[tuple[str, str]]:
        """The figures in short, as a notebook shows them where the page is too large.

        >>> pliant.gallery.four_bar().compare().rows()[0]
        ('mechanism', 'four-bar')
        """
        figures = self.figures
        rows = [("mechanism", str(figures["mechanism"])), ("bodies", str(figures["bodies"]))]
        if "contact" in figures:
            for run in figures["contact"]["engines"]:
                step, off = run.get("time_per_step_us"), run.get("max_distance")
                text = str(run["error"]) if step is None or off is None else f"{step:.3g} µs a step, {1000 * off:.3g} mm off at most"
                rows.append((run["engine"], text))
            return rows
        speed, transient = figures["speed"], figures["transient"]
        errors = {"linear": transient["max_error_relative"]}
        errors |= {name: transient[name]["max_error_relative"] for name in ("articulated", "reduced", "blended") if name in transient}
        steps = {"linear": speed["joint_us"]} | {name: speed[f"{name}_us"] for name in ("full", "articulated", "reduced", "blended")}
        for name, step in steps.items():
            if step is not None:
                error = f", {100 * errors[name]:.2g} % of the radius off in motion at most" if name in errors else ""
                rows.append((name, f"{step:.3g} µs a step{error}"))
        return rows

    def _repr_html_(self) -> str:
        from html import escape

        if len(self.html.encode()) <= LARGEST:
            # Without the sandbox's origin it reaches nothing of the notebook.
            return f'<iframe srcdoc="{escape(self.html)}" sandbox="allow-scripts" width="100%" height="640" style="border:0"></iframe>'
        from ._html import table

        return table([*self.rows(), ("page", "too large to show here: save it")])

    def __repr__(self) -> str:
        return f"<pliant.Comparison of {self.figures['mechanism']!r}>"
