"""The compliance of an arm at its tip, at several postures, and how far a load moves it: the linear response and the exact one."""

import numpy as np

import pliant

arm = pliant.gallery.arm()
print(arm)
for angle in (0.0, 0.3, 0.6):
    compliance = arm.compliance("tip", at={"arm2": angle})
    softest, direction = (values[..., -1] for values in np.linalg.eigh(compliance[:3, :3]))
    print(f"arm2 at {angle} rad: largest compliance {1000 * softest:.2f} mm/N along {np.round(direction, 2)}")

force = np.array([0.0, 0.0, -1.0])
unloaded = arm.equilibrium().effectors["tip"]
for newton in (1.0, 10.0, 100.0):
    moved = arm.equilibrium(loads={"tip": newton * force}).effectors["tip"][:3] - unloaded[:3]
    print(f"{newton:5.0f} N down moves the tip by {1000 * np.linalg.norm(moved):7.2f} mm")
