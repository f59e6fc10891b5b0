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

use nalgebra::{Matrix6, UnitQuaternion, Vector3, Vector6};

use super::cholesky;
use super::dynamics;
use super::simulation::Simulation;
use crate::contact::Push;
use crate::full::StepError;
use crate::mechanism::BodyId;
use crate::spatial::{Pose, Twist, Wrench, right_jacobian};

/// Memory of contact.
#[derive(Clone, Debug, Default)]
pub(super) struct Answers {
    effectors: Vec<Reach>,
    /// L⁻¹Gᵀ of all pushes on a component.
    columns: Vec<f64>,
    rigid: Vec<(Vector3<f64>, Vector3<f64>)>,
}

/// How the link of an effector moves at the start of a step: the twist of its link frame, world axes at its origin, per B ż, and
/// per S ż of a base that sways.
#[derive(Clone, Copy, Debug)]
struct Reach {
    origin: Vector3<f64>,
    own: Matrix6<f64>,
    sway: Matrix6<f64>,
}

/// A twist per something in the axes of a frame, at its origin, as one in world axes at a point `arm` from there.
fn in_world(J: &Matrix6<f64>, axes: &UnitQuaternion<f64>, arm: &Vector3<f64>) -> Matrix6<f64> {
    let R = axes.to_rotation_matrix();
    let mut out = Matrix6::zeros();
    for k in 0..6 {
        let angular = R * J.fixed_view::<3, 1>(3, k);
        let linear = R * J.fixed_view::<3, 1>(0, k) + angular.cross(arm);
        out.fixed_view_mut::<3, 1>(0, k).copy_from(&linear);
        out.fixed_view_mut::<3, 1>(3, k).copy_from(&angular);
    }
    out
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

    /// Solves the step as if nothing touched.
    pub(crate) fn solve_free(&mut self, h: f64) -> Result<(), StepError> {
        self.solve_step(h)?;
        let mut reaches = std::mem::take(&mut self.answers.effectors);
        reaches.clear();
        for (e, (effector, pose)) in self.effectors.iter().enumerate() {
            let origin = self.touch_pose(e).position;
            let mut reach = Reach { origin, own: Matrix6::zeros(), sway: Matrix6::zeros() };
            if let Some(part) = self.parts.get(effector.component) {
                let n = part.motion.size();
                let rows = &part.effector_rows[effector.row * n..(effector.row + 6) * n];
                let xi = dynamics::twist(rows, &part.motion.z, None);
                reach.own = in_world(&right_jacobian(&xi), &pose.rotation, &(origin - pose.position));
                if let Some(floating) = &part.floating {
                    let sway = -floating.sway_of(&part.motion.z);
                    let arm = origin - part.base.position;
                    reach.sway = -in_world(&right_jacobian(&sway), &part.base.rotation, &arm);
                }
            }
            reaches.push(reach);
        }
        self.answers.effectors = reaches;
        Ok(())
    }

    /// The twist of an effector's link at the start of the step that was solved for, world axes at the link frame.
    pub(crate) fn touch_twist(&self, touch: usize) -> Twist {
        self.twist_at(touch, false, 0.0)
    }

    /// Its twist at the end of that step of h seconds.
    pub(crate) fn free_twist(&self, touch: usize, h: f64) -> Twist {
        self.twist_at(touch, true, h)
    }

    fn twist_at(&self, touch: usize, ahead: bool, h: f64) -> Twist {
        let effector = &self.effectors[touch].0;
        let (reach, part) = (&self.answers.effectors[touch], &self.parts[effector.component]);
        let n = part.motion.size();
        let rate = if ahead { &part.motion.next } else { &part.motion.rate };
        let rows = &part.effector_rows[effector.row * n..(effector.row + 6) * n];
        let mut twist = reach.own * dynamics::twist(rows, rate, None).to_vector();
        let carried = match &part.floating {
            None => {
                let base = if ahead { self.inputs.base_twist } else { self.base_twist };
                let at = if ahead { self.inputs.base.position } else { self.base.position };
                Twist {
                    linear: base.linear + base.angular.cross(&(reach.origin - at)),
                    angular: base.angular,
                }
            }
            Some(floating) => {
                twist += reach.sway * floating.sway_of(rate).to_vector();
                let (force, torque) = if ahead { part.motion.rigid } else { Default::default() };
                let (mean, center) = floating.after(&(force * h), &(torque * h));
                let linear = mean.linear + mean.angular.cross(&(reach.origin - center));
                Twist { linear, angular: mean.angular }
            }
        };
        Twist::from_vector(&(twist + carried.to_vector()))
    }

    /// A push on an effector: into `into` as it works on z, and on everything as a whole on a free base.
    fn project(
        &self,
        touch: usize,
        w: &Vector6<f64>,
        mut into: impl FnMut(usize, f64),
    ) -> (Vector3<f64>, Vector3<f64>) {
        let effector = &self.effectors[touch].0;
        let (reach, part) = (&self.answers.effectors[touch], &self.parts[effector.component]);
        let n = part.motion.size();
        let rows = &part.effector_rows[effector.row * n..(effector.row + 6) * n];
        let u = reach.own.tr_mul(w);
        for i in 0..n {
            into(i, (0..6).map(|k| rows[k * n + i] * u[k]).sum());
        }
        let Some(floating) = &part.floating else { return Default::default() };
        let u = reach.sway.tr_mul(w);
        for i in 0..n {
            into(i, (0..6).map(|k| floating.sway[k * n + i] * u[k]).sum());
        }
        let w = Wrench::from_vector(w);
        let lever = reach.origin - floating.center();
        (w.force, w.torque + lever.cross(&w.force))
    }

    /// W of pushes on one component, row by row.
    pub(crate) fn respond(&mut self, component: usize, pushes: &[Push], out: &mut [f64]) {
        let n = self.parts[component].motion.size();
        let m = 3 * pushes.len();
        let mut X = std::mem::take(&mut self.answers.columns);
        let mut whole = std::mem::take(&mut self.answers.rigid);
        X.clear();
        X.resize(n * m, 0.0);
        whole.clear();
        for (p, push) in pushes.iter().enumerate() {
            for (a, row) in push.rows.iter().enumerate() {
                let to = |i: usize, x: f64| X[i * m + 3 * p + a] += x;
                whole.push(self.project(push.touch, row, to));
            }
        }
        let part = &self.parts[component];
        // W = XᵀX with L X = Gᵀ.
        cholesky::halve(part.motion.factors(), n, &mut X, m);
        out.fill(0.0);
        cholesky::square(&X, m, out);
        if let Some(floating) = &part.floating {
            for (b, (force, torque)) in whole.iter().enumerate() {
                let (v, w) = floating.answer(force, torque);
                for (a, (force, torque)) in whole.iter().enumerate() {
                    out[a * m + b] += force.dot(&v) + torque.dot(&w);
                }
            }
        }
        (self.answers.columns, self.answers.rigid) = (X, whole);
    }

    /// Adds impulses on effectors, world axes at their link frames, to the step that was solved for; nothing moves.
    pub(crate) fn attempt(&mut self, h: f64, impulses: &[(usize, Wrench)]) -> Result<(), StepError> {
        for c in 0..self.parts.len() {
            let n = self.parts[c].motion.size();
            let mut pushed = std::mem::take(&mut self.answers.columns);
            pushed.clear();
            pushed.resize(n, 0.0);
            let (mut force, mut torque) = (Vector3::zeros(), Vector3::zeros());
            let mut any = false;
            for (touch, impulse) in impulses.iter().filter(|(t, _)| self.effectors[*t].0.component == c) {
                let (f, t) = self.project(*touch, &impulse.to_vector(), |i, x| pushed[i] += x);
                force += f;
                torque += t;
                any = true;
            }
            if any {
                let motion = &mut self.parts[c].motion;
                cholesky::solve(motion.factors(), n, &mut pushed);
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
        Ok(())
    }

    /// Takes the step that was attempted.
    pub(crate) fn take(&mut self, h: f64) {
        self.take_step(h);
        self.rebuild();
    }
}
