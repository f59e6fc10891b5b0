"""Accelerations of URDF robots by Pinocchio's articulated-body algorithm: jobs.json answers.json."""

import json
import math
import sys

import numpy as np
import pinocchio as pin


def answer(model, job):
    q, v, tau = pin.neutral(model), np.zeros(model.nv), np.zeros(model.nv)
    joints = {}
    for name, (position, rate, force) in job["joints"].items():
        joint = model.joints[model.getJointId(name)]
        if joint.nq == 2:  # continuous: cosine and sine
            q[joint.idx_q : joint.idx_q + 2] = math.cos(position), math.sin(position)
        else:
            q[joint.idx_q] = position
        v[joint.idx_v], tau[joint.idx_v] = rate, force
        joints[name] = joint.idx_v
    a = pin.aba(model, model.createData(), q, v, tau)
    return {name: a[i] for name, i in joints.items()}


def main():
    answers = []
    for job in json.load(open(sys.argv[1])):
        answers.append(answer(pin.buildModelFromUrdf(job["file"]), job))
    json.dump(answers, open(sys.argv[2], "w"))


main()
