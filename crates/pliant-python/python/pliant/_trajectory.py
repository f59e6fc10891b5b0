"""What a run has recorded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

#: The parts of a pose.
POSE = ("x", "y", "z", "qw", "qx", "qy", "qz")


class Trajectory(Mapping[str, "npt.NDArray[np.float64]"]):
    """Arrays by name, one row for each recorded state, the start included; ``time`` has their times, s.

    >>> motion = pliant.gallery.arm().simulate().run(1.0, 0.01, record=["tip", "energy"])
    >>> motion.time.shape, motion["tip"].shape
    ((101,), (101, 7))
    """

    def __init__(self, time: npt.NDArray[np.float64], columns: dict[str, npt.NDArray[np.float64]]) -> None:
        self.time = time
        self._columns = columns

    def __getitem__(self, name: str) -> npt.NDArray[np.float64]:
        return self._columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def __repr__(self) -> str:
        columns = ", ".join(f"{name} {array.shape}" for name, array in self._columns.items())
        return f"<pliant.Trajectory of {len(self.time)} states: {columns}>"

    def to_frame(self) -> Any:
        """A pandas frame, indexed by time: a column for each number, such as ``tip.x`` or ``positions.0``. Needs pandas.

        >>> frame = sim.run(0.1, 0.01, record=["tip"]).to_frame()
        """
        import pandas  # type: ignore[import-untyped,import-not-found,unused-ignore]

        columns: dict[str, npt.NDArray[np.float64]] = {}
        for name, array in self._columns.items():
            flat = array.reshape(len(self.time), -1)
            for k in range(flat.shape[1]):
                if name == "energy":
                    part = ("kinetic", "elastic", "potential")[k]
                elif array.ndim == 2 and name not in ("positions", "velocities", "forces"):
                    part = POSE[k]
                else:
                    part = str(k)
                columns[f"{name}.{part}"] = flat[:, k]
        return pandas.DataFrame(columns, index=pandas.Index(self.time, name="time"))
