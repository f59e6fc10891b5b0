"""Pliant: compliant articulated mechanisms, grippers, hands, arms, legs, linkages held by springs or PD control.

From the robot file that you have: its equilibrium under loads, its compliance at the points that touch the world, and its motion.

>>> import pliant
>>> arm = pliant.gallery.arm()                                  # or pliant.load("arm.urdf")
>>> rest = arm.equilibrium(loads={"tip": [0, 0, -20]})          # 20 N down, world axes
>>> rest.effectors["tip"][:3]                                   # where the tip is, m
>>> arm.compliance("tip", at={"arm2": 0.3})                     # 6×6, m/N and rad/(N·m)
>>> sim = arm.simulate(engine="auto")
>>> sim.set_load("tip", [0, 0, -20])
>>> motion = sim.run(2.0, 0.01, record=["positions", "tip"])    # without the interpreter lock
>>> motion["tip"][-1]

SI units and radians; the linear part first in every twist and wrench; quaternions are w, x, y, z. Names are those of the command line.
"""

from . import gallery
from ._builder import Builder
from ._comparison import Comparison
from ._coupling import MujocoCoupling, couple_mujoco
from ._errors import Error, FileError, InputError, InternalError, PliantWarning, SimulationError
from ._mujoco import from_mujoco
from ._native import (
    Body,
    Equilibrium,
    Joint,
    Linearization,
    Mechanism,
    Model,
    Simulation,
    Spring,
    State,
    __version__,
    load,
    load_model,
    parse,
    rollout,
)
from ._sweep import sweep
from ._trajectory import Trajectory

__all__ = [
    "Body",
    "Builder",
    "Comparison",
    "Equilibrium",
    "Error",
    "FileError",
    "InputError",
    "InternalError",
    "Joint",
    "Linearization",
    "Mechanism",
    "Model",
    "MujocoCoupling",
    "PliantWarning",
    "Simulation",
    "SimulationError",
    "Spring",
    "State",
    "Trajectory",
    "__version__",
    "couple_mujoco",
    "from_mujoco",
    "gallery",
    "load",
    "load_model",
    "parse",
    "rollout",
    "sweep",
]
