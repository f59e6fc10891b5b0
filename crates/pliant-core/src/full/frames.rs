//! Where the nodes are and how they move during an iteration.

use nalgebra::{Matrix3, UnitQuaternion, Vector3};

use super::floating::Floating;
use super::model::{Constants, Node};
use crate::engine::{Inputs, State};
use crate::spatial::{Pose, Twist, Wrench, exp_rotation};

/// A node during a step. World axes; velocities are those of the centre of mass.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    /// At the present iterate; R is the rotation of the pose.
    pub pose: Pose,
    pub R: Matrix3<f64>,
    pub center: Vector3<f64>,
    pub v: Vector3<f64>,
    pub w: Vector3<f64>,
    /// At the start of the step.
    pub center0: Vector3<f64>,
    pub rotation0: UnitQuaternion<f64>,
    pub v0: Vector3<f64>,
    pub w0: Vector3<f64>,
    /// How the axes in which it is stepped move: those of a tree on a free base ([`super::floating`]).
    pub drift: Twist,
    /// Angular momentum at the start, and the inertia it is measured with: that of the middle.
    pub momentum: Vector3<f64>,
    pub inertia: Matrix3<f64>,
    /// External force and torque at the centre of mass.
    pub force: Vector3<f64>,
    pub torque: Vector3<f64>,
}

impl Frame {
    /// A frame that does not move: memory to be filled.
    pub fn empty() -> Frame {
        let zero = Vector3::zeros();
        Frame {
            pose: Pose::identity(),
            R: Matrix3::identity(),
            center: zero,
            v: zero,
            w: zero,
            center0: zero,
            rotation0: UnitQuaternion::identity(),
            v0: zero,
            w0: zero,
            drift: Twist::ZERO,
            momentum: zero,
            inertia: Matrix3::zeros(),
            force: zero,
            torque: zero,
        }
    }

    /// Puts the node at the start of a step.
    #[inline]
    fn start(&mut self, node: &Node, pose: &Pose, twist: &Twist) {
        let R = pose.rotation_matrix();
        let arm = R * node.center;
        self.w0 = R * twist.angular;
        self.v0 = R * twist.linear + self.w0.cross(&arm);
        self.center0 = pose.position + arm;
        self.rotation0 = pose.rotation;
        self.drift = Twist::ZERO;
        // L = I(R) ω.
        self.momentum = R * (node.inertia * twist.angular);
        (self.pose, self.R, self.center) = (*pose, R, self.center0);
    }

    /// Starts a step of h seconds (0 in statics) there, or where the present velocities lead in that step. Its inertia is
    /// that half-way along the present turn.
    #[inline]
    fn aim(&mut self, node: &Node, h: f64, predict: bool) {
        let half = exp_rotation(&((self.w0 - self.drift.angular) * (0.5 * h)));
        let middle = half * self.rotation0;
        let Rm = if h == 0.0 { self.R } else { middle.to_rotation_matrix().into_inner() };
        self.inertia = Rm * node.inertia * Rm.transpose();
        if predict {
            (self.v, self.w) = (self.v0, self.w0);
            self.put(node, self.center0 + (self.v0 - self.drift.linear) * h, half * middle);
        } else {
            (self.v, self.w) = (Vector3::zeros(), Vector3::zeros());
        }
    }

    /// Moves the iterate to where the start gets with velocity (v, w) in h seconds.
    #[inline]
    pub fn advance(&mut self, node: &Node, h: f64) {
        let turn = exp_rotation(&((self.w - self.drift.angular) * h));
        self.put(node, self.center0 + (self.v - self.drift.linear) * h, turn * self.rotation0);
    }

    /// Sets centre of mass and rotation, a product of unit quaternions.
    #[inline]
    fn put(&mut self, node: &Node, center: Vector3<f64>, rotation: UnitQuaternion<f64>) {
        self.center = center;
        self.pose.rotation = rotation;
        self.pose.rotation.renormalize_fast();
        self.R = self.pose.rotation_matrix();
        self.pose.position = center - self.R * node.center;
    }

    /// Body twist at the end of a step: L⁺ = I_m ω_m, ω⁺ = I(R⁺)⁻¹ L⁺.
    #[inline]
    pub fn final_twist(&self, node: &Node) -> Twist {
        let Rt = self.R.transpose();
        let angular = node.inverse * (Rt * (self.inertia * self.w));
        Twist { linear: Rt * self.v - angular.cross(&node.center), angular }
    }

    /// A frame at an arm from the centre of mass, where the axes in which the node is stepped are in the world after h seconds.
    pub fn in_world(&self, at: &Pose, arm: &Vector3<f64>, h: f64) -> Pose {
        let Twist { linear, angular } = &self.drift;
        Pose {
            position: at.position + (linear + angular.cross(arm)) * h,
            rotation: exp_rotation(&(angular * h)) * at.rotation,
        }
    }

    /// Velocity of a point (world axes).
    #[inline]
    pub fn velocity_at(&self, point: &Vector3<f64>) -> Vector3<f64> {
        self.v + self.w.cross(&(point - self.center))
    }
}

/// Largest turn of a body in a step, rad, for which its present velocity predicts where it ends.
const PREDICTABLE: f64 = 0.5;

/// Sets every frame to the state, at the start of a step, and the one after the nodes' to the base at the end of it.
pub(super) fn start(model: &Constants, inputs: &Inputs, state: &State, frames: &mut [Frame]) {
    frames[model.nodes.len()] = Frame {
        pose: inputs.base,
        R: inputs.base.rotation_matrix(),
        center: inputs.base.position,
        v: inputs.base_twist.linear,
        w: inputs.base_twist.angular,
        ..Frame::empty()
    };
    for (node, frame) in model.nodes.iter().zip(frames) {
        let head = node.head.index();
        frame.start(node, &state.poses[head], &state.twists[head]);
    }
}

/// Aims at the end of a step of h seconds (0 in statics). If no body turns far in a step, frames move on to where the
/// velocities take them: an iterate that much closer to the end. Else that would be no guess at all.
pub(super) fn aim(model: &Constants, h: f64, frames: &mut [Frame]) {
    let far = (PREDICTABLE / h).powi(2);
    let nodes = &frames[..model.nodes.len()];
    let predict = h > 0.0 && !nodes.iter().any(|frame| (frame.w0 - frame.drift.angular).norm_squared() > far);
    for (node, frame) in model.nodes.iter().zip(frames) {
        frame.aim(node, h, predict);
    }
}

/// Both, in world axes.
pub(super) fn load(model: &Constants, inputs: &Inputs, state: &State, h: f64, frames: &mut [Frame]) {
    start(model, inputs, state, frames);
    aim(model, h, frames);
}

/// A dead load on a node: world axes, at a point of the node's frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct NodeLoad {
    pub node: usize,
    pub point: Vector3<f64>,
    pub wrench: Wrench,
}

/// Lists every dead load that is not zero.
pub(super) fn collect_loads(model: &Constants, inputs: &Inputs, list: &mut Vec<NodeLoad>) {
    list.clear();
    let mut add = |place: Option<(usize, Pose)>, wrench: &Wrench| {
        if let Some((node, at)) = place {
            list.push(NodeLoad { node, point: at.position, wrench: *wrench });
        }
    };
    for (e, load) in inputs.effector_loads.iter().enumerate().filter(|(_, w)| **w != Wrench::ZERO) {
        add(model.effector_in_node(model.mechanism.effector_id(e)), load);
    }
    for (b, load) in inputs.body_loads.iter().enumerate().filter(|(_, w)| **w != Wrench::ZERO) {
        add(model.frame_in_node(model.mechanism.body_id(b), Pose::identity()), load);
    }
}

/// Sets gravity and dead loads, scaled, at the present iterate.
pub(super) fn apply_loads(
    model: &Constants,
    gravity: &Vector3<f64>,
    loads: &[NodeLoad],
    scale: f64,
    frames: &mut [Frame],
) {
    for (node, frame) in model.nodes.iter().zip(frames.iter_mut()) {
        frame.force = gravity * (node.mass * scale);
        frame.torque = Vector3::zeros();
    }
    for load in loads {
        let frame = &mut frames[load.node];
        let force = load.wrench.force * scale;
        let arm = frame.pose.transform_point(&load.point) - frame.center;
        frame.force += force;
        frame.torque += load.wrench.torque * scale + arm.cross(&force);
    }
}

/// Writes poses and twists of all bodies back to the state; at rest where nothing is `floating`.
pub(super) fn store(
    model: &Constants,
    frames: &[Frame],
    base: &Pose,
    base_twist: &Twist,
    floating: Option<&Floating>,
    state: &mut State,
) {
    let still = floating.is_none();
    for (node, frame) in model.nodes.iter().zip(frames) {
        state.poses[node.head.index()] = frame.pose;
        state.twists[node.head.index()] = if still { Twist::ZERO } else { frame.final_twist(node) };
    }
    if let Some(floating) = floating {
        floating.end(model, frames, state);
    }
    for (body, node, offset) in &model.followers {
        let (outer, twist) = match node {
            Some(n) => {
                let head = model.nodes[*n].head.index();
                (state.poses[head], state.twists[head])
            }
            // The base's twist is given in world axes at its origin.
            None => {
                let Rt = base.rotation.inverse();
                (*base, Twist { linear: Rt * base_twist.linear, angular: Rt * base_twist.angular })
            }
        };
        state.poses[body.index()] = outer * *offset;
        state.twists[body.index()] = if still { Twist::ZERO } else { offset.twist_to_local(&twist) };
    }
    state.base = *base;
}
