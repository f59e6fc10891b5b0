"""What MuJoCo makes of files: mass, bodies, joints and the poses of all bodies in random
configurations and in the key frame `home`, or else the first.

Usage: oracle.py FILE... ; one block of lines per file on standard output, numbers as they are in memory.
"""

import sys

import mujoco
import numpy as np

CONFIGURATIONS = 3


def numbers(values):
    return " ".join(repr(float(x)) for x in values)


def inertia(model, body):
    """About the centre of mass, in the axes of the body's frame."""
    rotation = np.zeros(9)
    mujoco.mju_quat2Mat(rotation, model.body_iquat[body])
    R = rotation.reshape(3, 3)
    return (R @ np.diag(model.body_inertia[body]) @ R.T).flatten()


def unit(random, n):
    v = random.standard_normal(n)
    return v / np.linalg.norm(v)


def tell(path):
    print("file", path)
    try:
        model = mujoco.MjModel.from_xml_path(path)
    except Exception as error:  # whatever MuJoCo does not like
        print("error", str(error).replace("\n", " "))
        print("end", flush=True)
        return
    data = mujoco.MjData(model)
    random = np.random.default_rng(7)
    print("mass", repr(float(model.body_mass.sum())))
    print("freedoms", model.nv)
    falls = not model.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_GRAVITY
    print("gravity", numbers(model.opt.gravity * falls))
    for b in range(1, model.nbody):
        print("body", numbers([model.body_mass[b], *model.body_ipos[b], *inertia(model, b)]), model.body(b).name)
    for j in range(model.njnt):
        print("joint", model.jnt_bodyid[j], model.jnt_type[j], model.joint(j).name)
    names = [model.key(k).name for k in range(model.nkey)]
    for k in range(model.nkey):
        if k == (names.index("home") if "home" in names else 0):
            data.qpos[:] = model.key_qpos[k]
            mujoco.mj_kinematics(model, data)
            for b in range(1, model.nbody):
                print("home", numbers([*data.xpos[b], *data.xquat[b]]))
    for _ in range(CONFIGURATIONS):
        for j in range(model.njnt):
            at, kind = model.jnt_qposadr[j], model.jnt_type[j]
            if kind == 0:
                values = [*random.uniform(-1, 1, 3), *unit(random, 4)]
            elif kind == 1:
                values = unit(random, 4)
            else:
                values = [random.uniform(-1.5, 1.5)]
            data.qpos[at : at + len(values)] = values
            print("at", numbers([*values, model.qpos0[at]]))
        mujoco.mj_kinematics(model, data)
        for b in range(1, model.nbody):
            print("pose", numbers([*data.xpos[b], *data.xquat[b]]))
    print("end", flush=True)


for name in sys.argv[1:]:
    tell(name)
