//! What contact asks of the live engine: twists at the end of a step as if nothing touched, and how effectors answer to
//! pushes in it.
//!
//! The step is tried with the contact forces of the last one, because geometric stiffness depends on loads; from its small
//! systems, W = J A⁻¹ Jᵀ with J the motion of the ports per coordinate. What those forces did is taken out again by the same A.
//! The step itself is taken with the impulses as loads.

use nalgebra::Vector3;

use super::condensing::{Captured, port_arm};
use super::model::BASE;
use super::simulation::Simulation;
use super::step;
use crate::engine::StepError;
use crate::engine::touch::{Internal, Push, Touch, internal};
use crate::linear::dense::cholesky;
use crate::mechanism::BodyId;
use crate::spatial::{Pose, Twist, Wrench};

/// Memory of contact.
#[derive(Clone, Debug, Default)]
pub(super) struct Answers {
    /// Impulses of the last step, per second, on bodies, world axes at their link frames; and those of the one that is
    /// attempted.
    last: Vec<(usize, Wrench)>,
    coming: Vec<(usize, Wrench)>,
    before: Vec<Wrench>,
    /// What they do to the coordinates of each tree.
    guessed: Vec<Vec<f64>>,
    /// L⁻¹Jᵀ of pushes.
    columns: Vec<f64>,
}

impl Simulation {
    /// A twist at P, as one at a body's link frame.
    fn at_link(&self, body: usize, x: &[f64]) -> Twist {
        let arm = self.touch_pose(body).position - Vector3::from(self.motion.places.point);
        let angular = Vector3::new(x[3], x[4], x[5]);
        Twist { linear: Vector3::new(x[0], x[1], x[2]) + angular.cross(&arm), angular }
    }

    fn captured(&self) -> &[Captured] {
        match &self.work.closed {
            Some(closed) => closed.captured.as_slice(),
            None => self.work.condensed.captured.as_deref().unwrap_or(&[]),
        }
    }

    /// The port that a body is touched by: its tree, its place there, and from its point to the body's link frame.
    fn port(&self, body: usize) -> Option<(usize, usize, Vector3<f64>)> {
        let node = self.model.place(self.model.mechanism.body_id(body)).0?;
        let plan = &self.work.plan;
        let port = plan.ports.iter().position(|port| port.link == node)?;
        let at = Vector3::from(self.motion.places.point)
            + Vector3::from(port_arm(plan, &self.motion.places, port));
        let arm = self.touch_pose(body).position - at;
        if self.work.closed.is_some() {
            return Some((0, port, arm));
        }
        let tree = plan.trees.iter().position(|tree| tree.ports.contains(&port))?;
        Some((tree, port - plan.trees[tree].ports.start, arm))
    }

    /// Jᵀw of a wrench on a body, world axes at its link frame, if it is in a tree.
    fn project(&self, tree: usize, body: usize, w: &Wrench, mut to: impl FnMut(usize, f64)) {
        let Some((own, port, arm)) = self.port(body) else { return };
        if own != tree {
            return;
        }
        let small = &self.captured()[tree];
        let t = w.torque + arm.cross(&w.force);
        let w = [w.force.x, w.force.y, w.force.z, t.x, t.y, t.z];
        for u in 0..small.n {
            to(u, (0..6).map(|k| small.J[(6 * port + k) * small.n + u] * w[k]).sum());
        }
    }
}

internal!(|simulation, body| {
    let model = &simulation.model;
    let (node, offset) = model.place(model.mechanism.body_id(body));
    node.map_or(simulation.motion.base, |n| simulation.motion.places.link(n).pose()) * offset
});

impl Touch for Simulation {
    fn boxed_touch(&self) -> Box<dyn Touch> {
        Box::new(self.clone())
    }

    fn touch_pose(&self, body: usize) -> Pose {
        self.body_pose(body)
    }

    fn touch(&self, body: BodyId) -> Option<usize> {
        let node = self.model.place(body).0?;
        self.work.plan.ports.iter().any(|port| port.link == node).then_some(body.index())
    }

    fn touch_twist(&self, body: usize) -> Twist {
        let (node, _) = self.model.place(self.model.mechanism.body_id(body));
        let Some(n) = node else { return self.motion.base_twist };
        self.at_link(body, &self.motion.places.link(n).twist)
    }

    fn solve_free(&mut self, h: f64) -> Result<(), StepError> {
        self.inputs.follow_targets(self.motion.time + h);
        self.work.plan_for(&self.model, &self.inputs.springs);
        let trees = self.work.plan.trees.len();
        match &mut self.work.closed {
            Some(closed) => {
                closed.captured.get_or_insert_default();
            }
            None => {
                self.work.condensed.captured.get_or_insert_default().resize_with(trees, Captured::default)
            }
        }
        let last = std::mem::take(&mut self.answers.last);
        self.inputs.add_forces(&last, &mut self.answers.before);
        let solved = step::attempt(&self.model, &self.inputs, h, &self.motion, &mut self.work);
        self.inputs.take_forces_off(&last, &self.answers.before);
        if solved.is_ok() {
            let mut guessed = std::mem::take(&mut self.answers.guessed);
            guessed.resize_with(self.captured().len(), Vec::new);
            for (t, (x, small)) in guessed.iter_mut().zip(self.captured()).enumerate() {
                x.clear();
                x.resize(small.n, 0.0);
                for (body, force) in &last {
                    self.project(t, *body, force, |u, g| x[u] += h * g);
                }
                cholesky::solve(&small.A, small.n, x);
            }
            self.answers.guessed = guessed;
        }
        self.answers.last = last;
        solved
    }

    fn free_twist(&self, body: usize, h: f64) -> Twist {
        let base = &self.inputs.base_twist;
        let Some(mut at) = self.model.place(self.model.mechanism.body_id(body)).0 else { return *base };
        let mut sum = [0.0; 6];
        let places = &self.motion.places;
        loop {
            let link = &self.model.links[at];
            if link.joint.is_none() {
                let float = &self.work.condensed.floats[link.float];
                (0..6).for_each(|i| sum[i] += float[i]);
                break;
            }
            for f in link.first..link.first + link.count {
                let rate = self.work.change[f] / h;
                (0..6).for_each(|i| sum[i] += places.axes[f][i] * rate);
            }
            if link.parent == BASE {
                let arm = Vector3::from(places.point) - self.inputs.base.position;
                let linear = base.linear + base.angular.cross(&arm);
                (0..3).for_each(|i| sum[i] += linear[i]);
                (0..3).for_each(|i| sum[3 + i] += base.angular[i]);
                break;
            }
            at = link.parent;
        }
        let twist = self.at_link(body, &sum);
        let Some((tree, port, arm)) = self.port(body) else { return twist };
        let (small, x) = (&self.captured()[tree], &self.answers.guessed[tree]);
        let moved: [f64; 6] = std::array::from_fn(|k| {
            small.J[(6 * port + k) * small.n..][..small.n].iter().zip(x).map(|(j, x)| j * x).sum()
        });
        let angular = Vector3::new(moved[3], moved[4], moved[5]);
        let linear = Vector3::new(moved[0], moved[1], moved[2]) + angular.cross(&arm);
        Twist { linear: twist.linear - linear, angular: twist.angular - angular }
    }

    fn respond(&mut self, _: f64, _: usize, pushes: &[Push], out: &mut [f64]) {
        out.fill(0.0);
        let m = 3 * pushes.len();
        let mut X = std::mem::take(&mut self.answers.columns);
        for t in 0..self.captured().len() {
            let n = self.captured()[t].n;
            X.clear();
            X.resize(n * m, 0.0);
            for (p, push) in pushes.iter().enumerate() {
                for (a, row) in push.rows.iter().enumerate() {
                    let to = |u: usize, x: f64| X[u * m + 3 * p + a] = x;
                    self.project(t, push.touch, &Wrench::from_vector(row), to);
                }
            }
            cholesky::halve(&self.captured()[t].A, n, &mut X, m);
            cholesky::square(&X, m, out);
        }
        self.answers.columns = X;
    }

    fn attempt(&mut self, h: f64, impulses: &[(usize, Wrench)]) -> Result<(), StepError> {
        let Answers { coming, before, .. } = &mut self.answers;
        coming.clear();
        coming.extend(impulses.iter().map(|(body, impulse)| (*body, *impulse * (1.0 / h))));
        self.inputs.add_forces(coming, before);
        let solved = step::attempt(&self.model, &self.inputs, h, &self.motion, &mut self.work);
        self.inputs.take_forces_off(coming, before);
        solved?;
        step::advance(&self.model, &self.inputs, h, &self.motion, &mut self.work)
    }

    fn take(&mut self, _: f64) {
        std::mem::swap(&mut self.answers.last, &mut self.answers.coming);
        step::take(&mut self.motion, &mut self.work);
        self.filled = false;
    }
}
