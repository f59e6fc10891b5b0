//! One step of the blend: backward Euler in the motions that it has.
//!
//! Loads w that would hold the effectors are the state: the springs' force is w, and C̄u̇ is how the effectors move,
//! u̇ = Bẇ in their own axes. Virtual work of the loads f that act, for every change of w, with u̇ = E Y ẏ, E the pivots:
//!
//! ```text
//! (M + hD + h²) ẏ⁺ = Yᵀ(W̄u̇)_E + h LᵀB(f − w),   M = YᵀW̄Y, D = YᵀV̄Y over the pivots
//! w⁺ = f + B⁻¹ E Y (hẏ⁺ − LᵀB(f − w))
//! ```
//!
//! in coordinates of unit stiffness. Along what is no motion of the blend the mechanism is rigid: w is f at once.

use super::evaluation::Moving;
use super::pulls;
use super::simulation::Simulation;
use crate::full::StepError;
use crate::reduced::cholesky;
use crate::spatial::Wrench;

/// A load, in N·m, beyond all bounds.
const TOO_LARGE: f64 = 1e100;

impl Simulation<'_> {
    /// Goes on by dt seconds. On an error everything is what it was.
    pub fn step(&mut self, h: f64) -> Result<(), StepError> {
        if !(h.is_finite() && h > 0.0) {
            return Err(StepError::TimeStep { dt: h });
        }
        for pull in &self.inputs.pulls {
            if pulls::grip(self.model, pull).is_none() {
                return Err(StepError::Pull { body: self.model.mechanism.body(pull.body).name.clone() });
            }
        }
        let acceleration = (self.inputs.base_twist - self.base_twist) * (1.0 / h);
        self.evaluate(&acceleration)?;
        for g in 0..self.groups.len() {
            self.assemble(g, h);
            let moving = &mut self.groups[g];
            if !moving.advance(self.model.radius, h) {
                self.groups[..g].iter_mut().for_each(Moving::go_back);
                return Err(self.broken(g));
            }
            moving.move_anchors(self.model.radius, h);
        }
        let before = (self.base, self.base_twist);
        (self.base, self.base_twist) = (self.inputs.base, self.inputs.base_twist);
        self.evaluated = false;
        if let Err(error) = self.evaluate(&acceleration) {
            (self.base, self.base_twist) = before;
            self.groups.iter_mut().for_each(Moving::go_back);
            self.evaluated = false;
            return Err(error);
        }
        self.time += h;
        self.steps += 1;
        self.filled = false;
        Ok(())
    }

    /// Sets `outside` to the loads that act on the effectors of a group.
    pub(super) fn gather(&mut self, g: usize) {
        let (model, turn) = (self.model, self.base.rotation.inverse());
        let moving = &mut self.groups[g];
        for (to, &e) in moving.outside.chunks_exact_mut(6).zip(&model.groups[g].layout.effectors) {
            let w = model.effectors[e].id.map_or(Wrench::ZERO, |id| self.inputs.effector_loads[id.index()]);
            to[..3].copy_from_slice((turn * w.force * model.radius).as_slice());
            to[3..].copy_from_slice((turn * w.torque).as_slice());
        }
    }

    /// The system of a step of one group, `system` and `right`.
    fn assemble(&mut self, g: usize, h: f64) {
        self.gather(g);
        let (m, radius) = (self.model.groups[g].m, self.model.radius);
        let moving = &mut self.groups[g];
        let r = moving.rank;
        moving.take_own_axes(radius);
        let (W, V) = moving.matrices[m * m..].split_at(m * m);
        congruence(W, m, &moving.pivots[..r], &moving.Y, &mut moving.product, &mut moving.system);
        congruence(V, m, &moving.pivots[..r], &moving.Y, &mut moving.product, &mut moving.damping);
        for (a, d) in moving.system[..r * r].iter_mut().zip(&moving.damping) {
            *a += h * d;
        }
        for k in 0..r {
            moving.system[k * r + k] += h * h;
            let row = &W[moving.pivots[k] * m..][..m];
            moving.product[k] = row.iter().zip(&moving.own_rate).map(|(a, b)| a * b).sum();
        }
        for u in 0..r {
            let momentum: f64 = (0..=u).map(|k| moving.Y[k * r + u] * moving.product[k]).sum();
            let net: f64 = (0..m).map(|i| moving.L[i * m + u] * moving.net[i]).sum();
            moving.right[u] = momentum + h * net;
        }
        for pull in &self.inputs.pulls {
            if let Some(grip) = pulls::grip(self.model, pull).filter(|grip| grip.group == g) {
                let base = (&self.inputs.base, &self.inputs.base_twist);
                pulls::add(moving, pull, &grip, base, radius, h);
            }
        }
    }

    pub(super) fn broken(&self, g: usize) -> StepError {
        let effectors = &self.model.groups[g].layout.effectors;
        let body = effectors.first().map_or(0, |&e| self.model.effectors[e].body.index());
        let body = self.model.mechanism.bodies()[body].name.clone();
        let cause = "a load or target is too large for f64, or dt is too long; try a smaller dt".into();
        StepError::NotFinite { step: self.steps + 1, body, cause }
    }
}

/// YᵀAY over the rows and columns of A that were pivots; A is m×m and symmetric, Y an upper triangle.
fn congruence(A: &[f64], m: usize, pivots: &[usize], Y: &[f64], product: &mut [f64], out: &mut [f64]) {
    let r = pivots.len();
    for (k, &row) in pivots.iter().enumerate() {
        let A = &A[row * m..(row + 1) * m];
        for v in 0..r {
            product[k * r + v] = (0..=v).map(|l| A[pivots[l]] * Y[l * r + v]).sum();
        }
    }
    for u in 0..r {
        for v in 0..r {
            out[u * r + v] = (0..=u).map(|k| Y[k * r + u] * product[k * r + v]).sum();
        }
    }
}

impl Moving {
    /// Sets `net` and `own_rate` to B(f − w) and Bẇ.
    fn take_own_axes(&mut self, radius: f64) {
        for ((x, f), w) in self.right.iter_mut().zip(&self.outside).zip(&self.load) {
            *x = f - w;
        }
        let (mut net, mut rate) = (std::mem::take(&mut self.net), std::mem::take(&mut self.own_rate));
        self.to_own_axes(&self.right, radius, &mut net);
        self.to_own_axes(&self.rate, radius, &mut rate);
        (self.net, self.own_rate) = (net, rate);
    }

    /// Takes the step; false if the system is not definite or a number is not finite, and nothing has changed then.
    fn advance(&mut self, radius: f64, h: f64) -> bool {
        let (m, r) = (self.load.len(), self.rank);
        if !cholesky::factor(&mut self.system[..r * r], r) {
            return false;
        }
        cholesky::solve(&self.system[..r * r], r, &mut self.right[..r]);
        self.before.load.copy_from_slice(&self.load);
        self.before.rate.copy_from_slice(&self.rate);
        self.before.anchors.copy_from_slice(&self.anchors);
        // ẏ⁺ is in `right`; hẏ⁺ − LᵀB(f − w) goes to `product`, then E Y of both to `net` and `own_rate`.
        for u in 0..r {
            let y: f64 = (0..m).map(|i| self.L[i * m + u] * self.net[i]).sum();
            self.product[u] = h * self.right[u] - y;
        }
        self.net.fill(0.0);
        self.own_rate.fill(0.0);
        for k in 0..r {
            let p = self.pivots[k];
            for u in k..r {
                self.net[p] += self.Y[k * r + u] * self.product[u];
                self.own_rate[p] += self.Y[k * r + u] * self.right[u];
            }
        }
        let (mut load, mut rate) = (std::mem::take(&mut self.load), std::mem::take(&mut self.rate));
        self.to_base_axes(&self.net, radius, &mut load);
        self.to_base_axes(&self.own_rate, radius, &mut rate);
        load.iter_mut().zip(&self.outside).for_each(|(w, f)| *w += f);
        (self.load, self.rate) = (load, rate);
        let fine = self.load.iter().chain(&self.rate).all(|x| x.abs() < TOO_LARGE);
        if !fine {
            self.go_back();
        }
        fine
    }

    fn go_back(&mut self) {
        self.load.copy_from_slice(&self.before.load);
        self.rate.copy_from_slice(&self.before.rate);
        self.anchors.copy_from_slice(&self.before.anchors);
    }
}
