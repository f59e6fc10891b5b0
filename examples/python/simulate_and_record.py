"""The motion of a hand that follows set-points, recorded, by two engines; and back to a saved state."""

import numpy as np

import pliant

hand = pliant.gallery.hand()
fast = hand.simulate("auto")
exact = hand.simulate("full")
print("engine:", fast.engine, "because", fast.engine_why)

saved = fast.save()
joint = next(name for name in hand.joints if hand.joint(name).kind == "hinge")
for sim in (fast, exact):
    sim.set_target(joint, 0.4)
    sim.set_load("index", [0.0, 0.0, -2.0])
motions = [sim.run(1.0, 0.005, record=["index", "positions", "energy"]) for sim in (fast, exact)]
apart = np.linalg.norm(motions[0]["index"][:, :3] - motions[1]["index"][:, :3], axis=1).max()
print(f"{len(motions[0].time)} states; the two engines are at most {1000 * apart:.3f} mm apart at the index")

fast.restore(saved)
print("back at", fast.time, "s")
