//! What contact asks of the articulated engine: twists at the end of a step as if nothing touched, and how bodies answer
//! to pushes in it.
//!
//! A push F on a slot is reduced inward along its fronts as the forces of a step are ([`super::closures`]), to u at each node
//! and z at each closure between it and the base, and
//!
//! ```text
//! W_ij = Σ_nodes u_iᵀD⁻¹u_j − Σ_closures z_iᵀz_j
//! ```
//!
//! The step itself is that without contact and what the impulses add to it by the same
//! factors; where these are not the step's (loops, dry friction, a limit that is met), it is taken again with the impulses as loads.

use nalgebra::Vector3;

use super::closures::{self, Unknown};
use super::model::{Constants, Motion};
use super::placing::pose_of;
use super::simulation::{Integrator, Simulation};
use super::slot::{Six, Slots};
use super::small::{add_cross, minus, v};
use super::step;
use super::sweeps::{dot6, outward_step};
use crate::algebra::lanes::{LANES, add_scaled};
use crate::algebra::wide::{padded, symmetric_products, wide};
use crate::engine::touch::{Push, Touch, internal};
use crate::engine::{Energy, StepError};
use crate::spatial::{Pose, Twist, Wrench};

/// Memory of contact.
#[derive(Clone, Debug, Default)]
pub(super) struct Answers {
    wrenches: Vec<Six>,
    /// u and z of pushes, and D⁻¹u and −z: a row each, by speed and by six numbers of each closure.
    pushed: Vec<f64>,
    moved: Vec<f64>,
    /// Impulses of the step that is attempted and of the last one, per second.
    forces: Vec<(usize, Wrench)>,
    last: Vec<(usize, Wrench)>,
    before: Vec<Wrench>,
}

internal! {
    name: "articulated",
    mechanism: model.mechanism,
    touch: Some,
    bounded: [state, work.next],
    fill: [],
    pose: |simulation, body| simulation.state.poses[body],
}

impl Touch for Simulation {
    fn solve_free(&mut self, h: f64) -> Result<(), StepError> {
        self.inputs.begin(&self.model.mechanism, self.state.time + h)?;
        if self.inputs.governed.is_empty() || self.answers.last.is_empty() {
            // Constraint forces are those with contact.
            self.work.constrained = false;
            let solved = step::solve_only(&self.model, &self.inputs, h, &mut self.state, &mut self.work);
            self.work.constrained = true;
            return solved;
        }
        // What sticks and slips is found with the contact forces of the last step, and stays so without them.
        self.inputs.add_forces(&self.answers.last, &mut self.answers.before);
        let solved = step::solve_only(&self.model, &self.inputs, h, &mut self.state, &mut self.work);
        self.inputs.take_forces_off(&self.answers.last, &self.answers.before);
        solved?;
        step::sweep_again(&self.model, &self.inputs, h, &self.state, &mut self.work)
    }

    fn free_twist(&self, body: usize, _: f64) -> Twist {
        let Some(n) = self.model.mechanism.order().node_of(self.model.mechanism.body_id(body)) else {
            return self.inputs.base_twist;
        };
        let slot = &self.work.slots.slots[n + 1];
        let (linear, angular) = (Vector3::from(slot.av), Vector3::from(slot.aw));
        let at = self.state.poses[body].position;
        let twist = Twist { linear: linear + angular.cross(&(at - Vector3::from(slot.o))), angular };
        twist + self.work.floating.lost_at(&self.model, n, &at)
    }

    fn respond(&mut self, _: f64, _: usize, pushes: &[Push], out: &mut [f64]) {
        let (model, slots) = (&*self.model, &self.work.slots);
        if model.closures.is_empty() {
            return respond_in_tree(model, slots, &self.state.poses, pushes, &mut self.answers, out);
        }
        let (closures, closing) = (&model.closures, &mut self.work.closing);
        let (n, m) = (model.speeds + 6 * closures.len(), 3 * pushes.len());
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
            let F = [w.force.x, w.force.y, w.force.z, torque.x, torque.y, torque.z];
            answers.wrenches[slot] = F.map(|x| -x);
            let (y, x) = (&mut answers.pushed[r * n..(r + 1) * n], &mut answers.moved[r * n..(r + 1) * n]);
            let mut at = slot.checked_sub(1).map(|n| closures.schedule.front_of_node[n]);
            while let Some(front) = at.map(|at| &closures.schedule.fronts[at]) {
                let (own, d) = closures::reduce(model, slots, closing, front, &mut answers.wrenches);
                match front.unknown {
                    Unknown::Slot(s) => {
                        let speed = model.nodes[s - 1].speed;
                        y[speed..speed + d].copy_from_slice(&own[..d]);
                        weigh(model, slots, s - 1, &own[..d], &mut x[speed..]);
                    }
                    Unknown::Rows(c) => {
                        let first = model.speeds + 6 * c;
                        y[first..first + d].copy_from_slice(&own[..d]);
                        (0..d).for_each(|k| x[first + k] = -own[k]);
                    }
                }
                at = front.next;
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
    }

    fn responds_exactly(&self) -> bool {
        let implicit = self.integrator == Integrator::SemiImplicit;
        implicit && self.work.once && self.model.closures.is_empty() && self.inputs.governed.is_empty()
    }

    fn attempt(&mut self, h: f64, impulses: &[(usize, Wrench)]) -> Result<(), StepError> {
        let mut forces = std::mem::take(&mut self.answers.forces);
        forces.clear();
        forces.extend(impulses.iter().map(|(body, impulse)| (*body, *impulse * (1.0 / h))));
        let solved = if self.push(h, impulses) {
            step::conclude(&self.model, &self.inputs, h, &self.state, &mut self.work)
        } else {
            self.inputs.add_forces(&forces, &mut self.answers.before);
            let solved = self.attempt_step(h);
            self.inputs.take_forces_off(&forces, &self.answers.before);
            solved
        };
        self.answers.forces = forces;
        solved
    }

    fn next_touch_pose(&self, body: usize) -> Option<Pose> {
        Some(self.work.next.poses[body])
    }

    fn next_energy(&mut self) -> Option<f64> {
        Some(Energy::with_loads(&self.work.next, &self.model.mechanism, &self.inputs))
    }

    fn take(&mut self, _: f64) {
        std::mem::swap(&mut self.answers.last, &mut self.answers.forces);
        self.take_step();
    }
}

impl Simulation {
    /// Adds impulses on bodies, world axes at their link frames, to the step that was solved without them: F − U D⁻¹y passes inward
    /// with y = SᵀF, as in [`closures`], and an outward sweep gives twists and speeds. `false` where that is not the step with these
    /// impulses: with closures, friction or torque limits, and where limits act that did not.
    fn push(&mut self, h: f64, impulses: &[(usize, Wrench)]) -> bool {
        if !self.responds_exactly() {
            return false;
        }
        let (model, state, work) = (&*self.model, &self.state, &mut self.work);
        let wrenches = &mut self.answers.wrenches;
        wrenches.clear();
        wrenches.resize(model.nodes.len() + 1, [0.0; 6]);
        for (body, w) in impulses {
            let Some(n) = model.mechanism.order().node_of(model.mechanism.body_id(*body)) else { continue };
            let arm = state.poses[*body].position - Vector3::from(work.slots.slots[n + 1].o);
            let (f, t) = (w.force, w.torque + arm.cross(&w.force));
            let six = [f.x, f.y, f.z, t.x, t.y, t.z];
            (0..6).for_each(|i| wrenches[n + 1][i] += six[i]);
        }
        for n in (0..model.nodes.len()).rev() {
            if wrenches[n + 1] == [0.0; 6] {
                continue;
            }
            let mut y = [0.0; 6];
            let (d, F) = pass_inward(model, &work.slots, n, wrenches, &mut y);
            match model.nodes[n].motion {
                Motion::Hinge => work.slots.slots[n + 1].u += y[0],
                Motion::General(g) | Motion::Free(g) => {
                    (0..d).for_each(|k| work.slots.general[g].u[k] += y[k]);
                }
            }
            let slot = &mut work.slots.slots[n + 1];
            (0..3).for_each(|i| (slot.f[i], slot.t[i]) = (slot.f[i] - F[i], slot.t[i] - F[3 + i]));
        }
        outward_step(&mut work.slots, model, h, &mut work.next.multipliers);
        !step::look_ahead(model, h, state, work)
    }
}

wide! {
    /// Y and D⁻¹Y of pushes, and W = YᵀD⁻¹Y into `out`, as if there were no closures.
    fn respond_in_tree, respond_lanes(
        model: &Constants, slots: &Slots, poses: &[Pose], pushes: &[Push], answers: &mut Answers, out: &mut [f64]
    )
}

#[inline(always)]
fn respond_lanes<const FUSED: bool>(
    model: &Constants,
    slots: &Slots,
    poses: &[Pose],
    pushes: &[Push],
    answers: &mut Answers,
    out: &mut [f64],
) {
    let (stride, m) = (padded(model.speeds), 3 * pushes.len());
    let Answers { pushed, moved, .. } = answers;
    for list in [&mut *pushed, &mut *moved] {
        list.clear();
        list.resize(m * stride, 0.0);
    }
    let order = model.mechanism.order();
    for (k, push) in pushes.iter().enumerate() {
        let mut at = order.node_of(model.mechanism.body_id(push.touch)).map_or(0, |n| n + 1);
        // The three wrenches at the slot's point, side by side.
        let arm = minus(v(&poses[push.touch].position), slots.slots[at].o);
        let mut F = [[0.0; LANES]; 6];
        for (a, row) in push.rows.iter().enumerate() {
            let f = [row[0], row[1], row[2]];
            let t = add_cross::<FUSED>(arm, f, [row[3], row[4], row[5]]);
            (0..3).for_each(|i| (F[i][a], F[3 + i][a]) = (f[i], t[i]));
        }
        while at > 0 {
            let (node, slot) = (&model.nodes[at - 1], &slots.slots[at]);
            let mut put = |freedom: usize, y: [f64; LANES], x: [f64; LANES]| {
                for a in 0..3 {
                    let to = (3 * k + a) * stride + node.speed + freedom;
                    (pushed[to], moved[to]) = (y[a], x[a]);
                }
            };
            match node.motion {
                Motion::Hinge => {
                    let y = along::<FUSED>(&slot.axis, &[F[3], F[4], F[5]]);
                    let x = y.map(|y| y * slot.inverse);
                    put(0, y, x);
                    if node.parent == 0 {
                        break;
                    }
                    for i in 0..3 {
                        F[i] = add_scaled::<FUSED>(-slot.Uf[i], x, F[i]);
                        F[3 + i] = add_scaled::<FUSED>(-slot.Ut[i], x, F[3 + i]);
                    }
                }
                Motion::General(g) | Motion::Free(g) => {
                    let (own, d) = (&slots.general[g], model.general[g].freedoms);
                    let mut y = [[0.0; LANES]; 6];
                    (0..d).for_each(|k| y[k] = along::<FUSED>(&own.S[k], &F));
                    for k in 0..d {
                        let x = along::<FUSED>(&own.inverse[k], &y);
                        put(k, y[k], x);
                        (0..6).for_each(|i| F[i] = add_scaled::<FUSED>(-own.U[k][i], x, F[i]));
                    }
                }
            }
            at = node.parent;
            for i in 0..3 {
                let (j, l) = ((i + 1) % 3, (i + 2) % 3);
                F[3 + i] = add_scaled::<FUSED>(slot.r[j], F[l], F[3 + i]);
                F[3 + i] = add_scaled::<FUSED>(-slot.r[l], F[j], F[3 + i]);
            }
        }
    }
    symmetric_products::<FUSED>(pushed, moved, out, m);
}

/// Σ a_i F_i.
#[inline(always)]
fn along<const FUSED: bool>(a: &[f64], F: &[[f64; LANES]]) -> [f64; LANES] {
    a.iter().zip(F).fold([0.0; LANES], |sum, (a, F)| add_scaled::<FUSED>(*a, *F, sum))
}

/// Takes the wrench on a node's slot: y = SᵀF; F − U D⁻¹y goes to the parent. Returns the number of freedoms, and what went to
/// the parent, at the slot's own point.
#[inline]
fn pass_inward(model: &Constants, work: &Slots, n: usize, wrenches: &mut [Six], y: &mut Six) -> (usize, Six) {
    let (node, slot) = (&model.nodes[n], &work.slots[n + 1]);
    let mut F = std::mem::replace(&mut wrenches[n + 1], [0.0; 6]);
    let d = match node.motion {
        Motion::Hinge => {
            y[0] = slot.axis[0] * F[3] + slot.axis[1] * F[4] + slot.axis[2] * F[5];
            let x = y[0] * slot.inverse;
            for i in 0..3 {
                F[i] -= slot.Uf[i] * x;
                F[3 + i] -= slot.Ut[i] * x;
            }
            1
        }
        Motion::General(g) | Motion::Free(g) => {
            let (own, d) = (&work.general[g], model.general[g].freedoms);
            (0..d).for_each(|k| y[k] = dot6(&own.S[k], &F));
            for k in 0..d {
                let x: f64 = (0..d).map(|l| own.inverse[k][l] * y[l]).sum();
                (0..6).for_each(|i| F[i] -= own.U[k][i] * x);
            }
            d
        }
    };
    let f = [F[0], F[1], F[2]];
    let t = add_cross::<false>(slot.r, f, [F[3], F[4], F[5]]);
    let parent = &mut wrenches[node.parent];
    for i in 0..3 {
        parent[i] += f[i];
        parent[3 + i] += t[i];
    }
    (d, F)
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
