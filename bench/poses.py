"""Poses (quaternion, position) of a scene's entries, composed by MuJoCo's functions."""

try:
    import mujoco
    import numpy as np
except ImportError:  # the race asks for sections without them
    mujoco = np = None

IDENTITY = ([1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0])


def rotate(q, v):
    out = np.zeros(3)
    mujoco.mju_rotVecQuat(out, np.array(v, dtype=float), np.array(q, dtype=float))
    return out


def compose(a, b):
    turned = np.zeros(4)
    mujoco.mju_mulQuat(turned, np.array(a[0]), np.array(b[0]))
    return turned, np.array(a[1]) + rotate(a[0], b[1])


def inverse(a):
    back = np.array(a[0]) * [1.0, -1.0, -1.0, -1.0]
    return back, -rotate(back, a[1])


def pose_of(entry):
    q = np.array(entry.get("rotation", IDENTITY[0]), dtype=float)
    return q / np.linalg.norm(q), np.array(entry.get("position", IDENTITY[1]), dtype=float)
