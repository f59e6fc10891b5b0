//! What acts from outside, in the slots: dead loads and spring couplings, as forces now or as impulses of a step.

use nalgebra::{Matrix3, Vector3};

use super::model::Constants;
use super::placing::pose_of;
use super::slot::{Slot, Slots};
use super::small::*;
use crate::engine::{Inputs, Spring};
use crate::mechanism::BodyId;
use crate::spatial::{Pose, Twist, Wrench, skew};

/// Adds the forces of loads and spring couplings to moving slots.
pub(super) fn apply_now(model: &Constants, inputs: &Inputs, work: &mut Slots) {
    dead_loads(model, inputs, 1.0, work);
    for spring in &inputs.springs {
        let (slot, frame) = model.frame_in_slot(spring.body, &spring.frame);
        if slot > 0 {
            let slot = &mut work.slots[slot];
            let at = pose_of(slot) * frame;
            let velocity = add_cross::<false>(slot.w, minus(v(&at.position), slot.o), slot.v);
            let twist = Twist::new(velocity.into(), slot.w.into());
            let Wrench { force, torque } = spring.wrench(&at, &twist);
            push(slot, v(&at.position), v(&force), v(&torque));
        }
    }
}

/// Adds the impulses of loads and spring couplings in a step of h seconds to placed slots. These are taken at the end of it.
pub(super) fn apply_step(model: &Constants, inputs: &Inputs, h: f64, work: &mut Slots) {
    dead_loads(model, inputs, h, work);
    for spring in &inputs.springs {
        let (slot, frame) = model.frame_in_slot(spring.body, &spring.frame);
        if slot > 0 {
            spring_step(spring, &frame, h, &mut work.slots[slot]);
        }
    }
}

/// Dead loads, times a factor.
fn dead_loads(model: &Constants, inputs: &Inputs, factor: f64, work: &mut Slots) {
    let mut dead = |body: BodyId, frame: &Pose, load: &Wrench| {
        let (slot, frame) = model.frame_in_slot(body, frame);
        let slot = &mut work.slots[slot];
        let at = add_turn::<false>(&slot.R, v(&frame.position), slot.p);
        push(slot, at, scale(v(&load.force), factor), scale(v(&load.torque), factor));
    };
    for (e, load) in inputs.effector_loads.iter().enumerate().filter(|(_, w)| **w != Wrench::ZERO) {
        let effector = &model.mechanism.effectors()[e];
        dead(effector.body, &effector.frame, load);
    }
    for (b, load) in inputs.body_loads.iter().enumerate().filter(|(_, w)| **w != Wrench::ZERO) {
        dead(model.mechanism.body_id(b), &Pose::identity(), load);
    }
}

/// A force at a point and a torque, on top of what acts.
fn push(slot: &mut Slot, at: V, force: V, torque: V) {
    slot.f = minus(slot.f, force);
    slot.t = minus(slot.t, add_cross::<false>(minus(at, slot.o), force, torque));
}

/// A spring coupling in a step: the impulse on a frame at rest where it is now, and h²k + h d on its velocity.
fn spring_step(spring: &Spring, frame: &Pose, h: f64, slot: &mut Slot) {
    let at = pose_of(slot) * *frame;
    let Wrench { force, torque } = spring.wrench(&at, &Twist::ZERO);
    push(slot, v(&at.position), v(&(force * h)), v(&(torque * h)));
    let turning = spring.turning(&at) * (h * h) + Matrix3::identity() * (h * spring.turning_damping);
    // k TᵀT with T = [I, −[r]].
    let k = h * (h * spring.stiffness + spring.damping);
    let r = skew(&(at.position - Vector3::from(slot.o)));
    let (B, C) = (-r * k, sym(&(turning - r * r * k)));
    for i in 0..3 {
        slot.A[[0, 3, 5][i]] += k;
        (0..3).for_each(|j| slot.B[i][j] += B[(i, j)]);
    }
    (0..6).for_each(|i| slot.C[i] += C[i]);
}
