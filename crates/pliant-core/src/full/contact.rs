//! What contact asks of the full engine: twists at the end of a step as if nothing touched, and how bodies answer to
//! pushes in it.
//!
//! The step is tried with the contact forces of the last one, so that the iterate is near where the step will end; its
//! matrix A is factored once more and solved for every push: W = G A⁻¹ Gᵀ, rows of joints and couplings included, as
//! soft against changes as in the step. What the forces of the last step did is taken out again by the same A. The step
//! itself is taken with the impulses as loads.

use nalgebra::Vector3;

use super::assembly::{Geometric, Scene, Scheme};
use super::model::Constants;
use super::simulation::Simulation;
use super::step::{self, Workspace, scheme};
use crate::engine::touch::{Push, Touch, internal};
use crate::engine::{Energy, State, StepError};
use crate::spatial::{Pose, Twist, Wrench};

/// Memory of contact.
#[derive(Clone, Debug, Default)]
pub(super) struct Answers {
    /// Impulses of the last step, per second, on bodies, world axes at their link frames; those of the one that is
    /// attempted; and what the former do.
    last: Vec<(usize, Wrench)>,
    coming: Vec<(usize, Wrench)>,
    guessed: Vec<f64>,
    column: Vec<f64>,
    before: Vec<Wrench>,
}

impl Simulation {
    /// Factors the matrix of the last iterate.
    fn factor(&mut self, h: f64) {
        let (model, work) = (&self.model, &mut self.work);
        for geometric in [Geometric::WhereNeeded, Geometric::Nowhere] {
            let scene = Scene {
                model,
                frames: &work.frames,
                inputs: &self.inputs,
                laws: work.pieces.laws(&self.inputs),
                loads: &work.loads,
                state: &self.state,
                multipliers: &work.next.multipliers,
                scheme: &Scheme { geometric, ..scheme(h) },
                load_scale: 1.0,
                ahead: &[],
            };
            let solved = work.numeric.factor_and_solve(&model.plan, &mut work.solution, scene);
            if solved.is_ok() && work.numeric.negative_pivots() == model.rows {
                return;
            }
        }
    }
}

internal! {
    name: "full",
    mechanism: model.mechanism,
    touch: Some,
    bounded: [state, work.next],
    fill: [],
    pose: |simulation, body| simulation.state.poses[body],
}

impl Touch for Simulation {
    fn solve_free(&mut self, h: f64) -> Result<(), StepError> {
        self.inputs.begin(&self.model.mechanism, self.state.time + h)?;
        let last = std::mem::take(&mut self.answers.last);
        self.inputs.add_forces(&last, &mut self.answers.before);
        let (inputs, state, work) = (&self.inputs, &self.state, &mut self.work);
        let solved = step::attempt(&self.model, inputs, self.iterations, h, state, work);
        self.inputs.take_forces_off(&last, &self.answers.before);
        if solved.is_ok() {
            self.factor(h);
            let x = &mut self.answers.guessed;
            x.clear();
            x.resize(self.model.plan.unknowns(), 0.0);
            for (body, force) in &last {
                if let Some((unknown, w)) = place(&self.model, &self.state, &self.work, *body, force) {
                    x[unknown..unknown + 6].iter_mut().zip(&w).for_each(|(x, w)| *x += h * w);
                }
            }
            if !last.is_empty() {
                self.work.numeric.solve(&self.model.plan, x);
            }
        }
        self.answers.last = last;
        solved
    }

    fn free_twist(&self, body: usize, _: f64) -> Twist {
        let Some((node, _)) = self.model.frame_in_node(self.model.mechanism.body_id(body), Pose::identity())
        else {
            return self.inputs.base_twist;
        };
        let frame = &self.work.frames[node];
        let arm = self.state.poses[body].position - frame.center0;
        let x = &self.answers.guessed[self.model.nodes[node].unknown..];
        let angular = frame.w - Vector3::new(x[3], x[4], x[5]);
        let twist = Twist { linear: frame.v - Vector3::new(x[0], x[1], x[2]) + angular.cross(&arm), angular };
        twist + self.work.floating.lost_at(&self.model, node, &self.state.poses[body].position)
    }

    fn respond(&mut self, _: f64, _: usize, pushes: &[Push], out: &mut [f64]) {
        out.fill(0.0);
        let (model, work) = (&self.model, &mut self.work);
        let m = 3 * pushes.len();
        let x = &mut self.answers.column;
        for (k, push) in pushes.iter().enumerate() {
            for b in 0..3 {
                let row = Wrench::from_vector(&push.rows[b]);
                let Some((unknown, w)) = place(model, &self.state, work, push.touch, &row) else { continue };
                x.clear();
                x.resize(model.plan.unknowns(), 0.0);
                x[unknown..unknown + 6].copy_from_slice(&w);
                work.numeric.solve(&model.plan, x);
                for (i, other) in pushes.iter().enumerate() {
                    for a in 0..3 {
                        let row = Wrench::from_vector(&other.rows[a]);
                        let Some((unknown, w)) = place(model, &self.state, work, other.touch, &row) else {
                            continue;
                        };
                        let moved = x[unknown..unknown + 6].iter().zip(&w).map(|(x, w)| x * w).sum::<f64>();
                        out[(3 * i + a) * m + 3 * k + b] = moved;
                    }
                }
            }
        }
    }

    fn attempt(&mut self, h: f64, impulses: &[(usize, Wrench)]) -> Result<(), StepError> {
        let Answers { coming, before, .. } = &mut self.answers;
        coming.clear();
        coming.extend(impulses.iter().map(|(body, impulse)| (*body, *impulse * (1.0 / h))));
        self.inputs.add_forces(coming, before);
        let (inputs, state, work) = (&self.inputs, &self.state, &mut self.work);
        let solved = step::attempt(&self.model, inputs, self.iterations, h, state, work);
        self.inputs.take_forces_off(coming, before);
        solved
    }

    fn next_touch_pose(&self, body: usize) -> Option<Pose> {
        Some(self.work.next.poses[body])
    }

    fn next_energy(&mut self) -> Option<f64> {
        Some(Energy::with_loads(&self.work.next, &self.model.mechanism, &self.inputs))
    }

    fn take(&mut self, _: f64) {
        std::mem::swap(&mut self.answers.last, &mut self.answers.coming);
        std::mem::swap(&mut self.state, &mut self.work.next);
    }
}

/// A wrench on a body, world axes at its link frame, as its node feels it, at the centre of mass: the first unknown of
/// that, and the six numbers.
fn place(
    model: &Constants,
    state: &State,
    work: &Workspace,
    body: usize,
    w: &Wrench,
) -> Option<(usize, [f64; 6])> {
    let (node, _) = model.frame_in_node(model.mechanism.body_id(body), Pose::identity())?;
    let arm = state.poses[body].position - work.frames[node].center0;
    let t: Vector3<f64> = w.torque + arm.cross(&w.force);
    Some((model.nodes[node].unknown, [w.force.x, w.force.y, w.force.z, t.x, t.y, t.z]))
}
