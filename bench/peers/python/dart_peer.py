"""DART: joint springs and dampers, which its recursion takes implicitly; loops by its ball constraints.

The load is given to the body again in every step, because DART keeps it in the body's axes: a call from Python of about a
microsecond that is part of the time.
"""

import dartpy as dart
import numpy as np

import peer
import scene as scenes


def transform(pose):
    at = dart.math.Isometry3()
    at.set_rotation(np.array(scenes.matrix(pose[0])))
    at.set_translation(np.array(pose[1]))
    return at


class Engine:
    def __init__(self, scene, arguments):
        self.world = world = dart.simulation.World()
        world.setTimeStep(scenes.DT)
        world.setGravity(np.array(scene.gravity))
        self.skeleton = skeleton = dart.dynamics.Skeleton("scene")
        self.bodies = {None: None}
        for joint in scene.tree:
            self.link(scene, joint, scene.bodies[joint.child], joint.child)
        world.addSkeleton(skeleton)
        for joint in scene.loops:
            self.close(scene, joint)
        self.tip = self.bodies[scene.tip]
        self.force = np.array(scene.force)
        self.offset = np.zeros(3)
        if "forward" in arguments:
            self.steps = self.forward

    def forward(self, n):
        """Forward dynamics alone, at places that change: DART keeps what it has computed of the one before."""
        skeleton = self.skeleton
        rates = np.zeros(skeleton.getNumDofs())
        places = [rates + 1e-3, rates - 1e-3]
        for k in range(n):
            skeleton.setPositions(places[k % 2])
            skeleton.setVelocities(rates)
            skeleton.computeForwardDynamics()

    def link(self, scene, joint, body, key):
        frame = dart.dynamics.RevoluteJointProperties()
        frame.mName = joint.name
        frame.mAxis = np.array([0.0, 0.0, 1.0])
        frame.mT_ParentBodyToJoint = transform(scene.frame_in_parent(joint))
        frame.mT_ChildBodyToJoint = transform(scene.frame_in_child(joint))
        name = dart.dynamics.BodyNodeAspectProperties(body.name)
        hinge, node = self.skeleton.createRevoluteJointAndBodyNodePair(
            self.bodies[joint.parent], frame, dart.dynamics.BodyNodeProperties(name))
        node.setInertia(dart.dynamics.Inertia(body.mass, np.array(body.center_of_mass), np.array(body.inertia)))
        hinge.setSpringStiffness(0, joint.stiffness)
        hinge.setDampingCoefficient(0, joint.damping)
        hinge.setRestPosition(0, 0.0)
        self.bodies[key] = node

    def close(self, scene, joint):
        scenes.closing_point(scene, joint)
        child, parent = self.bodies[joint.child], self.bodies[joint.parent]
        constraint = dart.constraint.BallJointConstraint(child, parent, np.array(joint.frame[1]))
        self.world.getConstraintSolver().addConstraint(constraint)

    def steps(self, n):
        step, push, force, offset = self.world.step, self.tip.addExtForce, self.force, self.offset
        for _ in range(n):
            push(force, offset, False, True)
            step()

    def position(self):
        return self.tip.getWorldTransform().translation()

    def speed(self):
        v = self.skeleton.getVelocities()
        return float(np.dot(v, v))

    def halt(self):
        self.skeleton.setVelocities(np.zeros(self.skeleton.getNumDofs()))


peer.serve(Engine)
