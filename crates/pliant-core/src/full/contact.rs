//! What contact asks of the full engine: twists at the end of a step as if nothing touched, and how bodies answer to
//! pushes in it.
//!
//! The step is tried on a copy of the state; the matrix of its last iterate is factored once more, and solved for every push:
//! W = G A⁻¹ Gᵀ, rows of joints and couplings included, as soft against changes as in the step. The step itself is taken with
//! the impulses as loads.

use nalgebra::Vector3;

use super::assembly::{Geometric, Scene};
use super::simulation::Simulation;
use super::step::{self, scheme};
use crate::contact::Push;
use crate::mechanism::BodyId;
use crate::spatial::{Pose, Twist, Wrench};
use crate::state::State;

use super::StepError;

/// Memory of contact.
#[derive(Clone, Debug, Default)]
pub(super) struct Answers {
    trial: Option<State>,
    column: Vec<f64>,
    before: Vec<Wrench>,
}

impl Simulation<'_> {
    /// The link frame of a body.
    pub(crate) fn touch_pose(&self, body: usize) -> Pose {
        self.state.poses[body]
    }

    /// Its twist, world axes at the link frame.
    pub(crate) fn touch_twist(&self, body: usize) -> Twist {
        self.state.world_twist(BodyId::from_index(body))
    }

    /// Takes the step as if nothing touched, on a copy of the state.
    pub(crate) fn solve_free(&mut self, h: f64) -> Result<(), StepError> {
        let trial = self.answers.trial.get_or_insert_with(|| self.state.clone());
        trial.clone_from(&self.state);
        step::step(self.model, &self.inputs, self.iterations, h, trial, &mut self.work)
    }

    /// The twist of a body in that step, world axes at where its link frame is now: what takes its centre of mass and its
    /// axes to where they end.
    pub(crate) fn free_twist(&self, body: usize) -> Twist {
        let Some((node, _)) = self.model.frame_in_node(BodyId::from_index(body), Pose::identity()) else {
            return self.inputs.base_twist;
        };
        let frame = &self.work.frames[node];
        let arm = self.state.poses[body].position - frame.center0;
        Twist { linear: frame.v + frame.w.cross(&arm), angular: frame.w }
    }

    /// W of pushes on bodies, row by row.
    pub(crate) fn respond(&mut self, h: f64, pushes: &[Push], out: &mut [f64]) {
        out.fill(0.0);
        let (model, work) = (self.model, &mut self.work);
        let Some(trial) = &self.answers.trial else { return };
        let scheme = scheme(h);
        for geometric in [Geometric::WhereNeeded, Geometric::Nowhere] {
            let scene = Scene {
                model,
                frames: &work.frames,
                inputs: &self.inputs,
                loads: &work.loads,
                state: &self.state,
                multipliers: &trial.multipliers,
                scheme: &super::assembly::Scheme { geometric, ..scheme },
                load_scale: 1.0,
                ahead: &[],
            };
            let solved = work.numeric.factor_and_solve(&model.plan, &mut work.solution, scene);
            if solved.is_ok() && work.numeric.negative_pivots() == model.rows {
                break;
            }
        }
        let m = 3 * pushes.len();
        // A push as the node of its body feels it, at the centre of mass.
        let place = |push: &Push, row: usize| {
            let (node, _) = model.frame_in_node(BodyId::from_index(push.touch), Pose::identity())?;
            let w = Wrench::from_vector(&push.rows[row]);
            let arm = self.state.poses[push.touch].position - work.frames[node].center0;
            let t: Vector3<f64> = w.torque + arm.cross(&w.force);
            Some((model.nodes[node].unknown, [w.force.x, w.force.y, w.force.z, t.x, t.y, t.z]))
        };
        let x = &mut self.answers.column;
        for (k, push) in pushes.iter().enumerate() {
            for b in 0..3 {
                let Some((unknown, w)) = place(push, b) else { continue };
                x.clear();
                x.resize(model.plan.unknowns(), 0.0);
                x[unknown..unknown + 6].copy_from_slice(&w);
                work.numeric.solve(&model.plan, x);
                for (i, other) in pushes.iter().enumerate() {
                    for a in 0..3 {
                        let Some((unknown, w)) = place(other, a) else { continue };
                        let moved = x[unknown..unknown + 6].iter().zip(&w).map(|(x, w)| x * w).sum::<f64>();
                        out[(3 * i + a) * m + 3 * k + b] = moved;
                    }
                }
            }
        }
    }

    /// Takes the step with impulses on bodies, world axes at their link frames. On an error nothing has moved.
    pub(crate) fn finish(&mut self, h: f64, impulses: &[(usize, Wrench)]) -> Result<(), StepError> {
        self.answers.before.clear();
        for (body, impulse) in impulses {
            let load = &mut self.inputs.body_loads[*body];
            self.answers.before.push(*load);
            *load = *load + *impulse * (1.0 / h);
        }
        let stepped = self.step(h);
        for ((body, _), before) in impulses.iter().zip(&self.answers.before) {
            self.inputs.body_loads[*body] = *before;
        }
        stepped
    }
}
