//! What acts from outside, in the slots: dead loads and pulls, as forces now or as impulses of a step.

use nalgebra::{Matrix3, Vector3};

use super::model::Model;
use super::placing::pose_of;
use super::slot::{Slot, Slots};
use super::small::*;
use crate::inputs::{Inputs, Pull};
use crate::mechanism::{BodyId, EffectorId};
use crate::spatial::{Pose, Wrench, left_jacobian_rotation_inverse, log_rotation, skew};

/// Adds the forces of loads and pulls to moving slots.
pub(super) fn apply_now(model: &Model, inputs: &Inputs, work: &mut Slots) {
    dead_loads(model, inputs, 1.0, work);
    for pull in &inputs.pulls {
        let (slot, frame) = model.frame_in_slot(pull.body, &pull.frame);
        if slot > 0 {
            let slot = &mut work.slots[slot];
            let at = pose_of(slot) * frame;
            let velocity = add_cross::<false>(slot.w, sub(v(&at.position), slot.o), slot.v);
            let (force, torque) = pull_wrench(pull, &at, &velocity.into(), &slot.w.into());
            push(slot, v(&at.position), v(&force), v(&torque));
        }
    }
}

/// Adds the impulses of loads and pulls in a step of h seconds to placed slots. Pulls are taken at the end of it.
pub(super) fn apply_step(model: &Model, inputs: &Inputs, h: f64, work: &mut Slots) {
    dead_loads(model, inputs, h, work);
    for pull in &inputs.pulls {
        let (slot, frame) = model.frame_in_slot(pull.body, &pull.frame);
        if slot > 0 {
            pull_step(pull, &frame, h, &mut work.slots[slot]);
        }
    }
}

/// Dead loads, times a factor.
fn dead_loads(model: &Model, inputs: &Inputs, factor: f64, work: &mut Slots) {
    let mut dead = |body: BodyId, frame: &Pose, load: &Wrench| {
        let (slot, frame) = model.frame_in_slot(body, frame);
        let slot = &mut work.slots[slot];
        let at = add_turn::<false>(&slot.R, v(&frame.position), slot.p);
        push(slot, at, scale(v(&load.force), factor), scale(v(&load.torque), factor));
    };
    for (e, load) in inputs.effector_loads.iter().enumerate().filter(|(_, w)| **w != Wrench::ZERO) {
        let effector = model.mechanism.effector(EffectorId::from_index(e));
        dead(effector.body, &effector.frame, load);
    }
    for (b, load) in inputs.body_loads.iter().enumerate().filter(|(_, w)| **w != Wrench::ZERO) {
        dead(BodyId::from_index(b), &Pose::identity(), load);
    }
}

/// A force at a point and a torque, on top of what acts.
fn push(slot: &mut Slot, at: V, force: V, torque: V) {
    slot.f = sub(slot.f, force);
    slot.t = sub(slot.t, add_cross::<false>(sub(at, slot.o), force, torque));
}

/// Force and torque of a pull on a frame that moves with a velocity and a turn; all in world axes at its origin.
pub(super) fn pull_wrench(
    pull: &Pull,
    at: &Pose,
    velocity: &Vector3<f64>,
    w: &Vector3<f64>,
) -> (Vector3<f64>, Vector3<f64>) {
    let e = log_rotation(&(at.rotation * pull.target.rotation.inverse()));
    let force = (pull.target.position - at.position) * pull.stiffness
        + (pull.target_twist.linear - velocity) * pull.damping;
    let torque = -e * pull.turning_stiffness + (pull.target_twist.angular - w) * pull.turning_damping;
    (force, torque)
}

/// A pull in a step: the impulse on a frame at rest where it is now, and h²k + h d on its velocity, symmetrised where it
/// turns: R R_tᵀ turned by θ in world axes has ė = Jl(e)⁻¹ θ.
fn pull_step(pull: &Pull, frame: &Pose, h: f64, slot: &mut Slot) {
    let at = pose_of(slot) * *frame;
    let (force, torque) = pull_wrench(pull, &at, &Vector3::zeros(), &Vector3::zeros());
    push(slot, v(&at.position), v(&(force * h)), v(&(torque * h)));
    let B = left_jacobian_rotation_inverse(&log_rotation(&(at.rotation * pull.target.rotation.inverse())));
    let turning = (B + B.transpose()) * (0.5 * h * h * pull.turning_stiffness)
        + Matrix3::identity() * (h * pull.turning_damping);
    // k TᵀT with T = [I, −[r]].
    let k = h * (h * pull.stiffness + pull.damping);
    let r = skew(&(at.position - Vector3::from(slot.o)));
    let (B, C) = (-r * k, sym(&(turning - r * r * k)));
    for i in 0..3 {
        slot.A[[0, 3, 5][i]] += k;
        (0..3).for_each(|j| slot.B[i][j] += B[(i, j)]);
    }
    (0..6).for_each(|i| slot.C[i] += C[i]);
}
