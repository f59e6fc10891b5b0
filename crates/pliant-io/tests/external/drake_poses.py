"""Mass, link poses and spring forces of SDF files by Drake: jobs.json answers.json.

Drake takes neither loops nor gearboxes: joints that the job names are left out, as are shapes.
"""

import json
import os
import sys
import tempfile
import xml.etree.ElementTree as ET

from pydrake.multibody.parsing import Parser
from pydrake.multibody.plant import MultibodyPlant
from pydrake.multibody.tree import BodyIndex, MultibodyForces


def stripped(file, dropped):
    tree = ET.parse(file)
    for parent in tree.iter():
        for child in list(parent):
            if child.tag in ("collision", "visual", "plugin"):
                parent.remove(child)
            elif child.tag == "joint" and (child.get("type") == "gearbox" or child.get("name") in dropped):
                parent.remove(child)
    handle, path = tempfile.mkstemp(suffix=".sdf")
    os.close(handle)
    tree.write(path)
    return path


def scoped(plant, element):
    instance = plant.GetModelInstanceName(element.model_instance())
    return "::".join(instance.split("::")[1:] + [element.name()])


def answer(job):
    plant = MultibodyPlant(0.0)
    path = stripped(job["file"], set(job["dropped"]))
    Parser(plant).AddModels(path)
    os.remove(path)
    plant.mutable_gravity_field().set_gravity_vector([0, 0, 0])
    plant.Finalize()
    context = plant.CreateDefaultContext()
    q = plant.GetPositions(context)
    for index in plant.GetJointIndices():
        joint = plant.get_joint(index)
        if joint.num_positions() in (1, 2):
            value = job["q"].get(scoped(plant, joint))
            if value is not None:
                q[joint.position_start() : joint.position_start() + len(value)] = value
    plant.SetPositions(context, q)
    bodies, mass = {}, 0.0
    for i in range(1, plant.num_bodies()):
        body = plant.get_body(BodyIndex(i))
        pose = plant.EvalBodyPoseInWorld(context, body)
        bodies[scoped(plant, body)] = list(pose.translation()) + list(pose.rotation().ToQuaternion().wxyz())
        mass += body.default_mass()
    # Without gravity and at rest, springs are all that acts.
    forces = MultibodyForces(plant)
    plant.CalcForceElementsContribution(context, forces)
    along = {}
    for index in plant.GetJointIndices():
        joint = plant.get_joint(index)
        if joint.num_velocities() in (1, 2):
            start = joint.velocity_start()
            along[scoped(plant, joint)] = list(forces.generalized_forces()[start : start + joint.num_velocities()])
    return {"mass": mass, "bodies": bodies, "forces": along}


json.dump([answer(job) for job in json.load(open(sys.argv[1]))], open(sys.argv[2], "w"))
