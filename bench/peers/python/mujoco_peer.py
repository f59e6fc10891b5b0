"""MuJoCo: integrator `discrete`, joint springs and dampers implicit, loops by `connect`, as hard as
MuJoCo allows (by default they give way); everything else as it comes.

A hinge that closes a loop has a spring too: where all hinges of the loop turn about one direction, its angle is a sum of
the others, which is a fixed tendon.
"""

import mujoco
import numpy as np

import peer
import scene as scenes

# The constraint's impedance; MuJoCo takes no more.
HARDEST = [0.9999, 0.9999]


def specification(scene):
    """A scene as MuJoCo has it, to be compiled."""
    spec = mujoco.MjSpec()
    spec.option.timestep = scenes.DT
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_DISCRETE
    spec.option.gravity = scene.gravity
    nodes = {None: spec.worldbody}
    for joint in scene.tree:
        body = scene.bodies[joint.child]
        outer = scenes.IDENTITY if joint.parent is None else scene.bodies[joint.parent].pose
        q, p = scenes.compose(scenes.invert(outer), body.pose)
        node = nodes[joint.parent].add_body(name=body.name, pos=p, quat=q)
        node.explicitinertial = True
        node.mass = body.mass
        node.ipos = body.center_of_mass
        i = body.inertia
        node.fullinertia = [i[0][0], i[1][1], i[2][2], i[0][1], i[0][2], i[1][2]]
        q, p = scene.frame_in_child(joint)
        axis = scenes.rotate(q, [0.0, 0.0, 1.0])
        hinge = node.add_joint(name=joint.name, type=mujoco.mjtJoint.mjJNT_HINGE, pos=p, axis=axis)
        hinge.stiffness[0] = joint.stiffness
        hinge.damping[0] = joint.damping
        nodes[joint.child] = node
    for joint in scene.loops:
        close(spec, scene, joint)
    return spec


class Engine:
    def __init__(self, scene, arguments):
        self.model = model = specification(scene).compile()
        self.data = data = mujoco.MjData(model)
        self.tip = model.body(scene.bodies[scene.tip].name).id
        data.xfrc_applied[self.tip, :3] = scene.force
        mujoco.mj_forward(model, data)
        if "forward" in arguments:
            self.steps = self.forward

    def forward(self, n):
        """Forward dynamics alone, one call from Python each."""
        forward, model, data = mujoco.mj_forward, self.model, self.data
        for _ in range(n):
            forward(model, data)

    def steps(self, n):
        mujoco.mj_step(self.model, self.data, nstep=n)

    def position(self):
        mujoco.mj_kinematics(self.model, self.data)
        return self.data.xpos[self.tip]

    def speed(self):
        return float(np.dot(self.data.qvel, self.data.qvel))

    def halt(self):
        self.data.qvel[:] = 0.0


def close(spec, scene, joint):
    q, p = scene.frame_in_child(joint)
    connect = spec.add_equality(type=mujoco.mjtEq.mjEQ_CONNECT, objtype=mujoco.mjtObj.mjOBJ_BODY)
    connect.name1 = scene.bodies[joint.child].name
    connect.name2 = scene.bodies[joint.parent].name if joint.parent is not None else "world"
    connect.data[:3] = p
    connect.solimp[:2] = HARDEST
    if joint.kind == "ball" and joint.stiffness == 0.0 and joint.damping == 0.0:
        return
    if joint.kind != "hinge":
        raise scenes.Unsupported(f"a loop closed by `{joint.kind}` with a spring")
    # The angle of the closing hinge: turns on the way to its child less those on the way to its parent.
    by_child = {tree.child: tree for tree in scene.tree}
    axis = scenes.rotate(joint.frame[0], [0.0, 0.0, 1.0])
    sign = {}
    for body, direction in ((joint.child, 1.0), (joint.parent, -1.0)):
        while body is not None:
            above = by_child[body]
            along = sum(a * b for a, b in zip(axis, scenes.rotate(above.frame[0], [0.0, 0.0, 1.0])))
            if abs(abs(along) - 1.0) > 1e-9:
                raise scenes.Unsupported("a sprung closing hinge whose loop has hinges about other axes")
            sign[above.name] = sign.get(above.name, 0.0) + direction * round(along)
            body = above.parent
    tendon = spec.add_tendon(name=joint.name)
    tendon.stiffness[0] = joint.stiffness
    tendon.damping[0] = joint.damping
    tendon.springlength = [0.0, 0.0]
    for name, factor in sign.items():
        if factor != 0.0:
            tendon.wrap_joint(name, factor)


if __name__ == "__main__":
    peer.serve(Engine)
