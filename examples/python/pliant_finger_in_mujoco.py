"""A compliant finger of Pliant pushes a block that MuJoCo moves: each step, the finger's tip is coupled to the block by a spring, and the block feels
the force of it."""

import sys

import numpy as np

import pliant

try:
    import mujoco  # type: ignore[import-untyped,import-not-found,unused-ignore]
except ImportError:
    sys.exit(print("skipped: MuJoCo is not installed"))

BLOCK = """
<mujoco><option timestep="0.002" gravity="0 0 0"/>
  <worldbody><body name="block" pos="0 0 0"><joint name="slide" type="slide" axis="0 1 0" stiffness="20" damping="2"/>
    <geom type="box" size="0.05 0.05 0.05" mass="0.3"/></body></worldbody></mujoco>
"""
model = mujoco.MjModel.from_xml_string(BLOCK)
data = mujoco.MjData(model)

finger = pliant.gallery.two_link()
sim = finger.simulate("articulated")
start = sim.pose("tip")[:3]
coupling = sim.add_spring("tip", start, 100.0, damping=1.0)
sim.set_target("elbow", 0.3)  # the finger bends, and pushes

for _ in range(5000):
    moved = np.array([0.0, data.qpos[0], 0.0])
    velocity = np.array([0.0, data.qvel[0], 0.0, 0.0, 0.0, 0.0])
    sim.move_spring(coupling, start + moved, velocity)
    sim.step(model.opt.timestep)
    data.qfrc_applied[0] = -sim.spring_force(coupling)[1]  # what pulls the finger to the block pushes the block
    mujoco.mj_step(model, data)

push = -sim.spring_force(coupling)[1]
print(f"the finger pushes with {push:.4f} N, and the block's spring holds {20 * data.qpos[0]:.4f} N at {1000 * data.qpos[0]:.2f} mm")
assert abs(push - 20 * data.qpos[0]) < 1e-6 * abs(push) and push > 0.1
