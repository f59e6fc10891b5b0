"""Mass, freedoms and link poses of URDF files by Pinocchio: jobs.json answers.json."""

import json
import math
import sys

import numpy as np
import pinocchio as pin


def answer(model, job):
    q = pin.neutral(model)
    for name, value in job["q"].items():
        if not model.existJointName(name):
            continue
        joint = model.joints[model.getJointId(name)]
        if joint.nq == 1:
            q[joint.idx_q] = value[0]
        elif joint.nq == 2:  # continuous: cosine and sine
            q[joint.idx_q : joint.idx_q + 2] = math.cos(value[0]), math.sin(value[0])
    data = model.createData()
    pin.framesForwardKinematics(model, data, q)
    bodies = {
        frame.name: pin.SE3ToXYZQUAT(data.oMf[i]).tolist()
        for i, frame in enumerate(model.frames)
        if frame.type == pin.BODY
    }
    return {
        "mass": sum(inertia.mass for inertia in model.inertias),
        "freedoms": model.nv,
        "joints": {model.names[i]: model.joints[i].nv for i in range(1, model.njoints)},
        "bodies": bodies,
    }


def main():
    jobs = json.load(open(sys.argv[1]))
    models = {}
    answers = []
    for job in jobs:
        file = job["file"]
        if file not in models:
            models[file] = pin.buildModelFromUrdf(file)
        answers.append(answer(models[file], job))
    json.dump(answers, open(sys.argv[2], "w"))


np.seterr(all="raise")
main()
