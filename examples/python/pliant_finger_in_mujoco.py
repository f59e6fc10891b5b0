"""A compliant finger of Pliant pushes a block simulated by MuJoCo: a spring in six freedoms between the finger's tip and the block acts on both."""

import sys

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

sim = pliant.gallery.two_link().simulate("articulated")
coupling = pliant.couple_mujoco(sim, "tip", model, data, "block", stiffness=100.0, damping=1.0)  # where both are now
sim.set_target("elbow", 0.3)  # the finger bends, and pushes

for _ in range(5000):
    coupling.step()  # both, by MuJoCo's time step

push = -coupling.wrench[1]
print(f"the finger pushes with {push:.4f} N, and the block's spring holds {20 * data.qpos[0]:.4f} N at {1000 * data.qpos[0]:.2f} mm")
assert abs(push - 20 * data.qpos[0]) < 1e-6 * abs(push) and push > 0.1
