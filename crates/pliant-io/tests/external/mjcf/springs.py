"""How MuJoCo settles and moves: statics and motion of one file, contacts, friction and limits left out.

Usage: springs.py FILE SITE (or body) f1 ... f6 [OLD NEW]... ; the six are sizes of a force (world axes, at the
site) and a torque; zero leaves one out; words of the file are replaced first. Prints the settled pose of the site, then the pose's change per unit of each
component, world axes, and the poses of all bodies twenty times in one second from rest in the key frame `home` or at
qpos0.
"""

import os
import sys

import mujoco
import numpy as np

path, site = sys.argv[1:3]
sizes = [float(x) for x in sys.argv[3:9]]
changes = list(zip(sys.argv[9::2], sys.argv[10::2]))


def numbers(values):
    return " ".join(repr(float(x)) for x in values)


def load():
    with open(path) as file:
        text = file.read()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    # Meshes lie beside the file; MuJoCo's log must not.
    here = os.getcwd()
    os.chdir(os.path.dirname(os.path.abspath(path)))
    model = mujoco.MjModel.from_xml_string(text)
    os.chdir(here)
    off = mujoco.mjtDisableBit
    model.opt.disableflags |= off.mjDSBL_CONTACT | off.mjDSBL_FRICTIONLOSS | off.mjDSBL_LIMIT | off.mjDSBL_REFSAFE
    model.opt.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    model.opt.solver = mujoco.mjtSolver.mjSOL_NEWTON
    model.opt.iterations, model.opt.tolerance = 100, 0
    model.body_gravcomp[:] = 0
    model.actuator_forcelimited[:] = 0
    model.jnt_actfrclimited[:] = 0
    model.tendon_stiffness[:] = 0
    model.tendon_damping[:] = 0
    # Equalities as stiff as can be.
    model.eq_solimp[:] = [0.9999, 0.9999, 0.001, 0.5, 2]
    data = mujoco.MjData(model)
    for k in range(model.nkey):
        if model.key(k).name == "home":
            data.ctrl[:] = model.key_ctrl[k]
            data.qpos[:] = model.key_qpos[k]
    return model, data


def place(model, data):
    try:
        s = model.site(site).id
        return model.site_bodyid[s], data.site_xpos[s].copy(), data.site_xmat[s].copy()
    except KeyError:
        b = model.body(site).id
        return b, data.xpos[b].copy(), data.xmat[b].copy()


def run(model, data, seconds, wrench=None):
    for _ in range(int(round(seconds / model.opt.timestep))):
        data.qfrc_applied[:] = 0
        if wrench is not None:
            mujoco.mj_kinematics(model, data)
            mujoco.mj_comPos(model, data)
            body, point, _ = place(model, data)
            mujoco.mj_applyFT(model, data, wrench[:3], wrench[3:], point, body, data.qfrc_applied)
        mujoco.mj_step(model, data)


def quaternion(matrix):
    q = np.zeros(4)
    mujoco.mju_mat2Quat(q, matrix)
    return q


model, data = load()
model.opt.timestep = 1e-4
model.eq_solref[:] = [4e-4, 1]
for _ in range(20):
    run(model, data, 0.05)
    mujoco.mj_kinematics(model, data)
    for b in range(1, model.nbody):
        print("pose", numbers([*data.xpos[b], *data.xquat[b]]))

# Statics: heavy damping, small steps in a pose that has settled.
model, data = load()
model.opt.timestep = 1e-3
model.eq_solref[:] = [2e-3, 1]
run(model, data, 20.0)
for _ in range(3):
    data.qvel[:] = 0
    run(model, data, 3.0)
mujoco.mj_forward(model, data)
body, point, matrix = place(model, data)
print("site", numbers([*point, *quaternion(matrix)]))
print("speed", float(np.abs(data.qvel).max()))
settled = (data.qpos.copy(), data.qvel.copy(), data.qacc_warmstart.copy())
for i, size in enumerate(sizes):
    ends = []
    for sign in (1, -1):
        data.qpos[:], data.qvel[:], data.qacc_warmstart[:] = settled
        wrench = np.zeros(6)
        wrench[i] = sign * size
        if size > 0:
            run(model, data, 8.0, wrench)
        mujoco.mj_forward(model, data)
        ends.append(place(model, data)[1:])
    if size == 0:
        print("column", numbers([0] * 6))
        continue
    turn = ends[0][1].reshape(3, 3) @ ends[1][1].reshape(3, 3).T
    angle = np.array([turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]]) / 2
    print("column", numbers([*((ends[0][0] - ends[1][0]) / (2 * size)), *(angle / (2 * size))]))
