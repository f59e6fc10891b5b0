//! What contact asks of the reduced engine: twists at the end of a step without contact, and the response to impulses.
//!
//! An impulse F on a body pushes the motions by ΘᵀJᵀF, and with the matrix A = L Lᵀ of the step W = (L⁻¹ΘᵀJᵀF)ᵀ(L⁻¹ΘᵀJᵀF).

use nalgebra::{Vector3, Vector6};

use super::acting::jacobian;
use super::limits::Small;
use super::motion::tangent;
use super::simulation::{Simulation, carried_twist};
use super::step;
use crate::algebra::dense::cholesky;
use crate::algebra::wide::dot;
use crate::engine::Energy;
use crate::engine::StepError;
use crate::engine::touch::{Push, Touch};
use crate::spatial::{Pose, Twist, Wrench};

/// Memory of contact.
#[derive(Clone, Debug, Default)]
pub(super) struct Responses {
    /// Bodies that are touched in this step, and how they move with the motions at P, six rows each.
    bodies: Vec<usize>,
    jacobians: Vec<f64>,
    /// L⁻¹ΘᵀJᵀ of each push.
    halves: Vec<f64>,
}

impl Simulation {
    /// Where a body is among those that are touched; the arm from P to it.
    fn touched(&mut self, body: usize) -> (usize, Vector3<f64>) {
        let (tree, places) = (&self.model.tree, &self.motion.places);
        let basis = tangent(&self.model, &self.motion.closed);
        let (node, offset) = tree.place(tree.mechanism.body_id(body));
        let n = node.expect("a body that moves");
        let arm = (places.pose(n) * offset).position - Vector3::from(places.point);
        let size = 6 * basis.stride;
        let Responses { bodies, jacobians, .. } = &mut self.responses;
        let at = bodies.iter().position(|b| *b == body).unwrap_or_else(|| {
            bodies.push(body);
            jacobians.resize(bodies.len() * size, 0.0);
            jacobian(tree, basis, places, n, &mut jacobians[(bodies.len() - 1) * size..]);
            bodies.len() - 1
        });
        (at, arm)
    }
}

/// g += ΘᵀJᵀw for a wrench at an arm from P.
fn add_push(J: &[f64], stride: usize, arm: &Vector3<f64>, w: &Vector6<f64>, g: &mut [f64]) {
    let (f, t) = (Vector3::new(w[0], w[1], w[2]), Vector3::new(w[3], w[4], w[5]));
    let t = t + arm.cross(&f);
    let at_point = [f.x, f.y, f.z, t.x, t.y, t.z];
    for (row, w) in J.chunks_exact(stride.max(1)).zip(at_point).filter(|(_, w)| *w != 0.0) {
        g.iter_mut().zip(row).for_each(|(g, J)| *g += w * J);
    }
}

impl Touch for Simulation {
    fn touch_twist(&self, body: usize) -> Twist {
        let tree = &self.model.tree;
        let (node, offset) = tree.place(tree.mechanism.body_id(body));
        let n = node.expect("a body that moves");
        let twist = offset.twist_to_local(&carried_twist(&self.model, &self.motion, n));
        twist.turned(&self.touch_pose(body).rotation)
    }

    fn solve_free(&mut self, h: f64) -> Result<(), StepError> {
        self.responses.bodies.clear();
        self.solve(h)?;
        step::spin_end(&self.model, &self.springs, &self.motion, &mut self.work);
        Ok(())
    }

    fn free_twist(&self, body: usize, _: f64) -> Twist {
        let tree = &self.model.tree;
        let (node, _) = tree.place(tree.mechanism.body_id(body));
        let n = node.expect("a body that moves");
        let arm = self.touch_pose(body).position - Vector3::from(self.motion.places.point);
        let twist = step::end_twist(&self.inputs, &self.motion, &self.work, n);
        let own = Twist { linear: twist.linear + twist.angular.cross(&arm), angular: twist.angular };
        own + self.work.floating.lost_at(n, &self.touch_pose(body).position)
    }

    fn respond(&mut self, _: f64, _: usize, pushes: &[Push], out: &mut [f64]) {
        let (n, stride) = (self.model.basis.count, self.model.basis.stride);
        let m = 3 * pushes.len();
        self.responses.halves.clear();
        self.responses.halves.resize(m * n, 0.0);
        for (p, push) in pushes.iter().enumerate() {
            let (at, arm) = self.touched(push.touch);
            let J = &self.responses.jacobians[at * 6 * stride..(at + 1) * 6 * stride];
            for (k, row) in push.rows.iter().enumerate() {
                let own = (3 * p + k) * n;
                let half = &mut self.responses.halves[own..own + n];
                add_push(J, stride, &arm, row, half);
                cholesky::forward(self.work.factored(), n, half);
            }
        }
        let half = |i: usize| &self.responses.halves[i * n..(i + 1) * n];
        for i in 0..m {
            for k in 0..=i {
                let W = dot(half(i), half(k));
                (out[i * m + k], out[k * m + i]) = (W, W);
            }
        }
    }

    fn responds_exactly(&self) -> bool {
        self.inputs.governed.is_empty()
    }

    fn attempt(&mut self, h: f64, impulses: &[(usize, Wrench)]) -> Result<(), StepError> {
        let (n, stride) = (self.model.basis.count, self.model.basis.stride);
        let mut right = std::mem::take(&mut self.work.pushed);
        right.clear();
        right.resize(n, 0.0);
        for (body, impulse) in impulses {
            let (at, arm) = self.touched(*body);
            let J = &self.responses.jacobians[at * 6 * stride..(at + 1) * 6 * stride];
            add_push(J, stride, &arm, &impulse.to_vector(), &mut right);
        }
        self.work.pushed = right;
        Small { model: &self.model, inputs: &self.inputs, h, motion: &self.motion }
            .solve_pushed(&mut self.work)?;
        step::spin_end(&self.model, &self.springs, &self.motion, &mut self.work);
        step::advance(&self.model, &self.springs, &self.inputs, h, &self.motion, &mut self.work)
    }

    fn next_touch_pose(&self, body: usize) -> Option<Pose> {
        let tree = &self.model.tree;
        let (node, offset) = tree.place(tree.mechanism.body_id(body));
        node.map(|n| self.work.next.places.pose(n) * offset)
    }

    fn next_energy(&mut self) -> Option<f64> {
        std::mem::swap(&mut self.motion, &mut self.work.next);
        self.fill();
        std::mem::swap(&mut self.motion, &mut self.work.next);
        self.filled = false;
        Some(Energy::with_loads(&self.state, &self.model.tree.mechanism, &self.inputs))
    }

    fn take(&mut self, _: f64) {
        self.take_step();
    }
}
