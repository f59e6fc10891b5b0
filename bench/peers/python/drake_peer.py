"""Drake: discrete plant with the SAP solver; each spring and damper is the PD control of a joint's actuator, which SAP takes
implicitly; loops by its ball constraints. A
step is one update of the plant by Drake's simulator.
"""

import numpy as np
from pydrake.common.value import Value
from pydrake.math import RigidTransform, RotationMatrix
from pydrake.multibody.math import SpatialForce
from pydrake.multibody.plant import (
    DiscreteContactApproximation, ExternallyAppliedSpatialForce, MultibodyPlant)
from pydrake.multibody.tree import (
    FixedOffsetFrame, PdControllerGains, RevoluteJoint, RotationalInertia, SpatialInertia)
from pydrake.systems.analysis import Simulator
from pydrake.systems.framework import DiagramBuilder

import peer
import scene as scenes


def transform(pose):
    return RigidTransform(RotationMatrix(np.array(scenes.matrix(pose[0]))), np.array(pose[1]))


class Engine:
    def __init__(self, scene, _arguments):
        builder = DiagramBuilder()
        self.plant = plant = builder.AddSystem(MultibodyPlant(time_step=scenes.DT))
        plant.set_discrete_contact_approximation(DiscreteContactApproximation.kSap)
        plant.mutable_gravity_field().set_gravity_vector(np.array(scene.gravity))
        bodies = {None: plant.world_body()}
        for joint in scene.tree:
            body = scene.bodies[joint.child]
            i = body.inertia
            about = RotationalInertia(i[0][0], i[1][1], i[2][2], i[0][1], i[0][2], i[1][2])
            inertia = SpatialInertia.MakeFromCentralInertia(body.mass, np.array(body.center_of_mass), about)
            bodies[joint.child] = plant.AddRigidBody(body.name, inertia)
            above = frame(plant, joint.name + " above", bodies[joint.parent], scene.frame_in_parent(joint))
            below = frame(plant, joint.name + " below", bodies[joint.child], scene.frame_in_child(joint))
            hinge = plant.AddJoint(RevoluteJoint(joint.name, above, below, np.array([0.0, 0.0, 1.0])))
            actuator = plant.AddJointActuator(joint.name, hinge)
            actuator.set_controller_gains(PdControllerGains(p=joint.stiffness, d=joint.damping))
        for joint in scene.loops:
            above, below = scenes.closing_point(scene, joint)
            plant.AddBallConstraint(bodies[joint.parent], np.array(above), bodies[joint.child], np.array(below))
        plant.Finalize()
        diagram = builder.Build()
        self.simulator = Simulator(diagram)
        self.context = context = plant.GetMyMutableContextFromRoot(self.simulator.get_mutable_context())
        (instance,) = {plant.get_joint_actuator(i).model_instance() for i in plant.GetJointActuatorIndices()}
        rest = np.zeros(2 * plant.num_actuators())
        plant.get_desired_state_input_port(instance).FixValue(context, rest)
        self.tip = bodies[scene.tip]
        load = ExternallyAppliedSpatialForce()
        load.body_index = self.tip.index()
        load.p_BoBq_B = np.zeros(3)
        load.F_Bq_W = SpatialForce(tau=np.zeros(3), f=np.array(scene.force))
        plant.get_applied_spatial_force_input_port().FixValue(
            context, Value[list[ExternallyAppliedSpatialForce]]([load]))
        self.simulator.Initialize()
        self.count = 0

    def steps(self, n):
        self.count += n
        self.simulator.AdvanceTo(self.count * scenes.DT)

    def position(self):
        return self.plant.EvalBodyPoseInWorld(self.context, self.tip).translation()

    def speed(self):
        v = self.plant.GetVelocities(self.context)
        return float(np.dot(v, v))

    def halt(self):
        self.plant.SetVelocities(self.context, np.zeros(self.plant.num_velocities()))


def frame(plant, name, body, pose):
    return plant.AddFrame(FixedOffsetFrame(name, body.body_frame(), transform(pose)))


peer.serve(Engine)
