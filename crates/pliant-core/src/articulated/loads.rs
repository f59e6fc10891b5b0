//! What acts from outside, in the slots: dead loads and pulls.

use nalgebra::{Matrix3, Vector3};

use super::model::Model;
use super::placing::pose_of;
use super::slot::{Slot, Slots};
use super::small::*;
use crate::inputs::{Inputs, Pull};
use crate::mechanism::{BodyId, EffectorId};
use crate::spatial::{Pose, Wrench, left_jacobian_rotation_inverse, log_rotation, skew};

/// Adds loads and pulls of the inputs to the slots; pulls look ahead by h seconds.
pub(super) fn apply(model: &Model, inputs: &Inputs, h: f64, work: &mut Slots) {
    for (e, load) in inputs.effector_loads.iter().enumerate().filter(|(_, w)| **w != Wrench::ZERO) {
        let effector = model.mechanism.effector(EffectorId::from_index(e));
        dead(model, effector.body, &effector.frame, load, work);
    }
    for (b, load) in inputs.body_loads.iter().enumerate().filter(|(_, w)| **w != Wrench::ZERO) {
        dead(model, BodyId::from_index(b), &Pose::identity(), load, work);
    }
    for pull in &inputs.pulls {
        let (slot, frame) = model.frame_in_slot(pull.body, &pull.frame);
        if slot > 0 {
            pulled(pull, &frame, &inputs.gravity, h, &mut work.slots[slot]);
        }
    }
}

fn dead(model: &Model, body: BodyId, frame: &Pose, load: &Wrench, work: &mut Slots) {
    let (slot, frame) = model.frame_in_slot(body, frame);
    let slot = &mut work.slots[slot];
    let at = add_turn::<false>(&slot.R, v(&frame.position), slot.p);
    push(slot, at, v(&load.force), v(&load.torque));
}

/// A force at a point and a torque, on top of what acts.
fn push(slot: &mut Slot, at: V, force: V, torque: V) {
    slot.f = sub(slot.f, force);
    slot.t = sub(slot.t, add_cross::<false>(sub(at, slot.o), force, torque));
}

/// Force and torque of a pull h seconds ahead, world axes at the pulled frame's origin; and that frame.
pub(super) fn pull_wrench(
    pull: &Pull,
    frame: &Pose,
    slot: &Slot,
    h: f64,
) -> (Vector3<f64>, Vector3<f64>, Pose) {
    let at = pose_of(slot) * *frame;
    let velocity = Vector3::from(add_cross::<false>(slot.w, sub(v(&at.position), slot.o), slot.v));
    let w = Vector3::from(slot.w);
    let e = log_rotation(&(at.rotation * pull.target.rotation.inverse()));
    // R R_tᵀ turned by θ in world axes: ė = Jl(e)⁻¹ θ.
    let ahead = if h > 0.0 { left_jacobian_rotation_inverse(&e) * w * h } else { Vector3::zeros() };
    let force = (pull.target.position - at.position - velocity * h) * pull.stiffness
        + (pull.target_twist.linear - velocity) * pull.damping;
    let torque =
        -(e + ahead) * pull.turning_stiffness + (pull.target_twist.angular - w) * pull.turning_damping;
    (force, torque, at)
}

/// A pull: its force h seconds ahead, and (h²k + h d) on the acceleration of the pulled frame, symmetrised where it
/// turns. As accelerations are less gravity, what that takes is added again.
fn pulled(pull: &Pull, frame: &Pose, gravity: &Vector3<f64>, h: f64, slot: &mut Slot) {
    let (force, torque, at) = pull_wrench(pull, frame, slot, h);
    let k = h * (h * pull.stiffness + pull.damping);
    push(slot, v(&at.position), v(&(force - gravity * k)), v(&torque));
    if h == 0.0 {
        return;
    }
    let B = left_jacobian_rotation_inverse(&log_rotation(&(at.rotation * pull.target.rotation.inverse())));
    let turning = (B + B.transpose()) * (0.5 * h * h * pull.turning_stiffness)
        + Matrix3::identity() * (h * pull.turning_damping);
    // k TᵀT with T = [I, −[r]].
    let r = skew(&(at.position - Vector3::from(slot.o)));
    let (B, C) = (-r * k, sym(&(turning - r * r * k)));
    for i in 0..3 {
        slot.A[[0, 3, 5][i]] += k;
        (0..3).for_each(|j| slot.B[i][j] += B[(i, j)]);
    }
    (0..6).for_each(|i| slot.C[i] += C[i]);
}
