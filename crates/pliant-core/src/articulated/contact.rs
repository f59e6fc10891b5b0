//! What contact asks of the articulated engine: twists at the end of a step as if nothing touched, and how bodies answer
//! to pushes in it.
//!
//! For a push F on a slot, a sweep inward along the path to the base gives y = SᵀF at each node, as for a row that closes
//! a loop ([`super::closures`]), and
//!
//! ```text
//! W = YᵀD⁻¹Y − h Y_lᵀD⁻¹Y (h W_l + E)⁻¹ (…)ᵀ
//! ```
//!
//! with the rows l of loops and couplings. The step itself is taken with the impulses as loads.

use nalgebra::Vector3;

use super::closures;
use super::model::{Constants, Motion};
use super::placing::pose_of;
use super::simulation::Simulation;
use super::slot::{Six, Slots};
use super::step;
use crate::engine::StepError;
use crate::engine::touch::{Push, Touch, internal};
use crate::mechanism::BodyId;
use crate::spatial::{Pose, Twist, Wrench};

/// Memory of contact.
#[derive(Clone, Debug, Default)]
pub(super) struct Answers {
    wrenches: Vec<Six>,
    /// Y and D⁻¹Y of pushes, a row of all speeds each, and Y of closing rows.
    pushed: Vec<f64>,
    moved: Vec<f64>,
    closing: Vec<f64>,
    /// h W_l· of a push, and the same solved.
    held: Vec<f64>,
    solved: Vec<f64>,
    /// Impulses of the step that is attempted and of the last one, per second.
    forces: Vec<(usize, Wrench)>,
    last: Vec<(usize, Wrench)>,
    before: Vec<Wrench>,
}

internal!(|simulation, body| simulation.state.poses[body]);

impl Touch for Simulation {
    fn boxed_touch(&self) -> Box<dyn Touch> {
        Box::new(self.clone())
    }

    fn touch(&self, body: BodyId) -> Option<usize> {
        self.model.mechanism.order().node_of(body).map(|_| body.index())
    }

    fn touch_pose(&self, body: usize) -> Pose {
        self.state.poses[body]
    }

    fn touch_twist(&self, body: usize) -> Twist {
        self.state.world_twist_at(body)
    }

    fn solve_free(&mut self, h: f64) -> Result<(), StepError> {
        self.inputs.follow_targets(self.state.time + h);
        if self.inputs.governed.is_empty() || self.answers.last.is_empty() {
            return step::solve_only(&self.model, &self.inputs, h, &mut self.state, &mut self.work);
        }
        // What sticks and slips is found with the contact forces of the last step, and stays so without them.
        self.inputs.add_forces(&self.answers.last, &mut self.answers.before);
        let solved = step::solve_only(&self.model, &self.inputs, h, &mut self.state, &mut self.work);
        self.inputs.take_forces_off(&self.answers.last, &self.answers.before);
        solved?;
        step::sweep_again(&self.model, &self.inputs, h, &self.state, &mut self.work)
    }

    fn free_twist(&self, body: usize, _: f64) -> Twist {
        let (n, frame) = self.model.frame_in_slot(self.model.mechanism.body_id(body), &Pose::identity());
        let slot = &self.work.slots.slots[n];
        let (linear, angular) = (Vector3::from(slot.av), Vector3::from(slot.aw));
        let at = (pose_of(slot) * frame).position;
        let twist = Twist { linear: linear + angular.cross(&(at - Vector3::from(slot.o))), angular };
        n.checked_sub(1).map_or(twist, |n| twist + self.work.floating.lost_at(&self.model, n, &at))
    }

    fn respond(&mut self, h: f64, _: usize, pushes: &[Push], out: &mut [f64]) {
        let (model, slots) = (&*self.model, &self.work.slots);
        let (n, m) = (model.speeds, 3 * pushes.len());
        let answers = &mut self.answers;
        answers.wrenches.resize(model.nodes.len() + 1, [0.0; 6]);
        for list in [&mut answers.pushed, &mut answers.moved] {
            list.clear();
            list.resize(m * n, 0.0);
        }
        for (r, (push, row)) in pushes.iter().flat_map(|p| p.rows.iter().map(move |r| (p, r))).enumerate() {
            let (slot, frame) = model.frame_in_slot(model.mechanism.body_id(push.touch), &Pose::identity());
            let own = &slots.slots[slot];
            let w = Wrench::from_vector(row);
            let arm = (pose_of(own) * frame).position - Vector3::from(own.o);
            let torque = w.torque + arm.cross(&w.force);
            answers.wrenches[slot] = [w.force.x, w.force.y, w.force.z, torque.x, torque.y, torque.z];
            let mut at = slot;
            while at > 0 {
                let y = &mut answers.pushed[r * n..(r + 1) * n];
                let d = closures::pass(model, slots, at - 1, &[], &mut answers.wrenches, y);
                let speed = model.nodes[at - 1].speed;
                weigh(model, slots, at - 1, &y[speed..speed + d], &mut answers.moved[r * n + speed..]);
                at = model.nodes[at - 1].parent;
            }
            answers.wrenches[0] = [0.0; 6];
        }
        let dot = |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
        for i in 0..m {
            for k in 0..=i {
                let w = dot(&answers.pushed[i * n..(i + 1) * n], &answers.moved[k * n..(k + 1) * n]);
                (out[i * m + k], out[k * m + i]) = (w, w);
            }
        }
        if model.closures.is_empty() {
            return;
        }
        let closing = &self.work.closing;
        let rows = closing.row_count();
        answers.closing.clear();
        answers.closing.resize(rows * n, 0.0);
        for l in 0..rows {
            let y = &mut answers.closing[l * n..(l + 1) * n];
            closing.sweep(model, slots, l, &mut answers.wrenches, y);
        }
        answers.held.resize(m * rows, 0.0);
        answers.solved.resize(m * rows, 0.0);
        for i in 0..m {
            let moved = &answers.moved[i * n..(i + 1) * n];
            for l in 0..rows {
                answers.held[i * rows + l] = dot(&answers.closing[l * n..(l + 1) * n], moved);
            }
            let solved = &mut answers.solved[i * rows..(i + 1) * rows];
            solved.copy_from_slice(&answers.held[i * rows..(i + 1) * rows]);
            closing.solve(solved);
        }
        for i in 0..m {
            for k in 0..m {
                let held = &answers.held[i * rows..(i + 1) * rows];
                out[i * m + k] -= h * dot(held, &answers.solved[k * rows..(k + 1) * rows]);
            }
        }
    }

    fn attempt(&mut self, h: f64, impulses: &[(usize, Wrench)]) -> Result<(), StepError> {
        let mut forces = std::mem::take(&mut self.answers.forces);
        forces.clear();
        forces.extend(impulses.iter().map(|(body, impulse)| (*body, *impulse * (1.0 / h))));
        self.inputs.add_forces(&forces, &mut self.answers.before);
        let solved = self.attempt_step(h);
        self.inputs.take_forces_off(&forces, &self.answers.before);
        self.answers.forces = forces;
        solved
    }

    fn next_touch_pose(&self, body: usize) -> Option<Pose> {
        Some(self.work.next.poses[body])
    }

    fn take(&mut self, _: f64) {
        std::mem::swap(&mut self.answers.last, &mut self.answers.forces);
        self.take_step();
    }
}

/// D⁻¹y of a node.
fn weigh(model: &Constants, slots: &Slots, n: usize, y: &[f64], out: &mut [f64]) {
    match model.nodes[n].motion {
        Motion::Hinge => out[0] = y[0] * slots.slots[n + 1].inverse,
        Motion::General(g) | Motion::Free(g) => {
            let inverse = &slots.general[g].inverse;
            for k in 0..y.len() {
                out[k] = y.iter().enumerate().map(|(l, y)| inverse[k][l] * y).sum();
            }
        }
    }
}
