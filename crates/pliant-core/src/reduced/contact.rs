//! What contact asks of a reduced model: where its effectors are, how they would move, and how they answer to impulses.
//!
//! A push w on an effector works through Gᵀ = BᵀJr(ξ)ᵀ, and on a free base also on everything as a whole:
//!
//! ```text
//! G_z = Jr(ξ)B − Ad(e,b)Jr(−Sz)S,   W = G_z A⁻¹ G_zᵀ + G_m M_bb⁻¹ G_mᵀ
//! ```
//!
//! A is the matrix of the step, factored once per h. Components are answers of their own: fingers of one hand do not feel
//! each other. Pulls on a free base are not in A.

use nalgebra::Vector3;

use super::dynamics;
use super::simulation::{Moving, Simulation};
use crate::contact::Push;
use crate::full::StepError;
use crate::mechanism::BodyId;
use crate::spatial::{Pose, Twist, Wrench, right_jacobian};

/// Memory of contact: L⁻¹Gᵀ of all pushes on a component.
#[derive(Clone, Debug, Default)]
pub(super) struct Answers {
    columns: Vec<f64>,
    rigid: Vec<(Vector3<f64>, Vector3<f64>)>,
}

impl Simulation<'_> {
    /// The first effector on a body, if it moves: what contact touches the body by.
    pub(crate) fn touch(&self, body: BodyId) -> Option<usize> {
        let on =
            |e: &(super::model::Effector, Pose)| e.0.frame.body == body && e.0.component < self.parts.len();
        self.effectors.iter().position(on)
    }

    /// The component of an effector.
    pub(crate) fn part_of(&self, touch: usize) -> usize {
        self.effectors[touch].0.component
    }

    /// How many components there are.
    pub(crate) fn part_count(&self) -> usize {
        self.parts.len()
    }

    /// The link frame of an effector's body.
    pub(crate) fn touch_pose(&self, touch: usize) -> Pose {
        let (effector, pose) = &self.effectors[touch];
        *pose * effector.frame.frame.inverse()
    }

    /// Its twist now, world axes at the link frame.
    pub(crate) fn touch_twist(&self, touch: usize) -> Twist {
        self.twist_at(touch, false, 0.0)
    }

    /// Its twist at the end of the step of h seconds that was solved for.
    pub(crate) fn free_twist(&self, touch: usize, h: f64) -> Twist {
        self.twist_at(touch, true, h)
    }

    fn twist_at(&self, touch: usize, ahead: bool, h: f64) -> Twist {
        let (effector, pose) = &self.effectors[touch];
        let part = &self.parts[effector.component];
        let n = part.motion.size();
        let rate = if ahead { &part.motion.next } else { &part.motion.rate };
        let rows = &part.effector_rows[effector.row * n..(effector.row + 6) * n];
        let xi = dynamics::twist(rows, &part.motion.z, None);
        let own = right_jacobian(&xi) * dynamics::twist(rows, rate, None).to_vector();
        let own = Twist::from_vector(&own);
        let origin = self.touch_pose(touch).position;
        let arm = origin - pose.position;
        let turned = pose.rotation * own.angular;
        let mut twist = Twist { linear: pose.rotation * own.linear + turned.cross(&arm), angular: turned };
        let carried = match &part.floating {
            None => {
                let base = if ahead { self.inputs.base_twist } else { self.base_twist };
                let at = if ahead { self.inputs.base.position } else { self.base.position };
                Twist { linear: base.linear + base.angular.cross(&(origin - at)), angular: base.angular }
            }
            Some(floating) => {
                let (force, torque) = if ahead { part.motion.rigid } else { Default::default() };
                let (mean, center) = floating.after(&(force * h), &(torque * h));
                let sway = -floating.sway_of(&part.motion.z);
                let swaying = right_jacobian(&sway) * (-floating.sway_of(rate)).to_vector();
                let swaying = Twist::from_vector(&swaying);
                let (v, w) = (part.base.rotation * swaying.linear, part.base.rotation * swaying.angular);
                Twist {
                    linear: mean.linear
                        + mean.angular.cross(&(origin - center))
                        + v
                        + w.cross(&(origin - part.base.position)),
                    angular: mean.angular + w,
                }
            }
        };
        twist.linear += carried.linear;
        twist.angular += carried.angular;
        twist
    }

    /// Solves the step as if nothing touched.
    pub(crate) fn solve_free(&mut self, h: f64) -> Result<(), StepError> {
        self.solve_step(h)
    }

    /// A push on an effector: into `into` as it works on z, and on everything as a whole on a free base.
    fn project(
        &self,
        touch: usize,
        w: &Wrench,
        mut into: impl FnMut(usize, f64),
    ) -> (Vector3<f64>, Vector3<f64>) {
        let (effector, pose) = &self.effectors[touch];
        let part: &Moving = &self.parts[effector.component];
        let n = part.motion.size();
        let rows = &part.effector_rows[effector.row * n..(effector.row + 6) * n];
        let xi = dynamics::twist(rows, &part.motion.z, None);
        // From the link frame's origin to that of the effector, and into its axes.
        let arm = self.touch_pose(touch).position - pose.position;
        let back = pose.rotation.inverse();
        let local = Wrench { force: back * w.force, torque: back * (w.torque + arm.cross(&w.force)) };
        let u = right_jacobian(&xi).transpose() * local.to_vector();
        for i in 0..n {
            into(i, (0..6).map(|k| rows[k * n + i] * u[k]).sum());
        }
        let Some(floating) = &part.floating else { return Default::default() };
        let on_base = part.base.inverse_times(pose).wrench_to_outer(&local);
        let sway = -floating.sway_of(&part.motion.z);
        let u = right_jacobian(&sway).transpose() * on_base.to_vector();
        for i in 0..n {
            into(i, -(0..6).map(|k| floating.sway[k * n + i] * u[k]).sum::<f64>());
        }
        let lever = self.touch_pose(touch).position - floating.center();
        (w.force, w.torque + lever.cross(&w.force))
    }

    /// W of pushes on one component, row by row.
    pub(crate) fn respond(&mut self, component: usize, pushes: &[Push], out: &mut [f64]) {
        let n = self.parts[component].motion.size();
        let m = 3 * pushes.len();
        let mut answers = std::mem::take(&mut self.answers);
        answers.columns.clear();
        answers.columns.resize(n * m, 0.0);
        answers.rigid.clear();
        let X = &mut answers.columns;
        for (p, push) in pushes.iter().enumerate() {
            for (a, row) in push.rows.iter().enumerate() {
                let to = |i: usize, x: f64| X[i * m + 3 * p + a] += x;
                let rigid = self.project(push.touch, &Wrench::from_vector(row), to);
                answers.rigid.push(rigid);
            }
        }
        let part = &self.parts[component];
        // W = XᵀX with L X = Gᵀ.
        super::cholesky::halve(part.motion.factors(), n, X, m);
        out.fill(0.0);
        super::cholesky::square(X, m, out);
        if let Some(floating) = &part.floating {
            for (b, (force, torque)) in answers.rigid.iter().enumerate() {
                let (v, w) = floating.answer(force, torque);
                for (a, (force, torque)) in answers.rigid.iter().enumerate() {
                    out[a * m + b] += force.dot(&v) + torque.dot(&w);
                }
            }
        }
        self.answers = answers;
    }

    /// Adds impulses on effectors, world axes at their link frames, to the step that was solved for, and takes it. On
    /// an error nothing has moved.
    pub(crate) fn finish(&mut self, h: f64, impulses: &[(usize, Wrench)]) -> Result<(), StepError> {
        for c in 0..self.parts.len() {
            let n = self.parts[c].motion.size();
            let mut pushed = std::mem::take(&mut self.answers.columns);
            pushed.clear();
            pushed.resize(n, 0.0);
            let (mut force, mut torque) = (Vector3::zeros(), Vector3::zeros());
            let mut any = false;
            for (touch, impulse) in impulses.iter().filter(|(t, _)| self.effectors[*t].0.component == c) {
                let (f, t) = self.project(*touch, impulse, |i, x| pushed[i] += x);
                force += f;
                torque += t;
                any = true;
            }
            if any {
                let motion = &mut self.parts[c].motion;
                super::cholesky::solve(motion.factors(), n, &mut pushed);
                motion.next.iter_mut().zip(&pushed).for_each(|(v, x)| *v += x);
                motion.rigid.0 += force / h;
                motion.rigid.1 += torque / h;
            }
            self.answers.columns = pushed;
            let motion = &self.parts[c].motion;
            let finite = motion.rigid.0.iter().chain(&motion.rigid.1).all(|x| x.is_finite());
            if !finite || !motion.within_bounds(h) {
                return Err(self.too_large(c, h));
            }
        }
        self.take_step(h);
        self.rebuild();
        Ok(())
    }
}
