//! One step of the blend: backward Euler in the motions that it has.
//!
//! ```text
//! (M + hD + κh²) ẏ⁺ = M ẏ + h LᵀB(f − w),   M = YᵀW̄Y, D = YᵀV̄Y over the pivots
//! ξ̄⁺ = ξ̄ + h L ẏ⁺,   H⁺ = H exp(−ξ̄) exp(ξ̄⁺),   φ⁺ = Jr(ξ̄⁺) L ẏ⁺
//! ```
//!
//! κ = 1 but where weights change so fast that the blend is stiffer than its compliance: there it is how much force the last
//! steps met over what C̄ predicted, so that the step stays implicit. f are the loads that act and w those that hold the effectors where they are. (Andrews 2015, eq. 23–24, in exponential
//! coordinates and compliance form.)

use nalgebra::Vector6;

use super::evaluation::Moving;
use super::simulation::Simulation;
use super::spring_couplings;
use crate::engine::StepError;
use crate::spatial::{Twist, exp, right_jacobian};

/// The longest way of an effector from the samples, in radii or rad, beyond which the blend has broken.
const TOO_FAR: f64 = 1e3;

/// A way of the effectors in a step, in radii or rad, of which nothing is learned; and the largest κ.
const STILL: f64 = 1e-9;
const STIFFEST: f64 = 1e3;

impl Simulation {
    /// Advances by h seconds.
    pub(super) fn advance(&mut self, h: f64) -> Result<(), StepError> {
        if !(h.is_finite() && h > 0.0) {
            return Err(StepError::TimeStep { dt: h });
        }
        if self.fading.is_empty() { self.advance_as_it_is(h) } else { self.advance_fading(h) }
    }

    /// The same with samples that count as much as they do.
    pub(super) fn advance_as_it_is(&mut self, h: f64) -> Result<(), StepError> {
        for pull in &self.inputs.springs {
            if spring_couplings::grip(&self.model, pull).is_none() {
                return Err(StepError::Spring {
                    body: self.model.mechanism[pull.body].name.clone(),
                    why: "the engine `blended` needs an effector on its body; add one, or use the engine `reduced`",
                });
            }
        }
        let acceleration = (self.inputs.base_twist - self.base_twist) * (1.0 / h);
        self.evaluate(&acceleration)?;
        for moving in &mut self.groups {
            moving.keep();
            moving.follow_links(self.model.radius);
        }
        self.set_seats();
        (0..self.groups.len()).rev().for_each(|g| self.assemble(g, h));
        if let Err(g) = self.move_groups(h) {
            self.groups.iter_mut().for_each(Moving::go_back);
            return Err(self.broken(g));
        }
        let before = (self.base, self.base_twist);
        (self.base, self.base_twist) = (self.inputs.base, self.inputs.base_twist);
        self.evaluated = false;
        let evaluated = self.evaluate(&acceleration);
        self.groups.iter_mut().for_each(|moving| moving.stiffen(self.model.radius));
        let finite = self.groups.iter().position(|g| !g.anchors.iter().all(|a| a.is_finite()));
        if let Some(error) = evaluated.err().or_else(|| finite.map(|g| self.broken(g))) {
            (self.base, self.base_twist) = before;
            self.groups.iter_mut().for_each(Moving::go_back);
            self.evaluated = false;
            return Err(error);
        }
        self.state.time += h;
        self.state.steps += 1;
        self.filled = false;
        Ok(())
    }

    /// Moves all groups; fails with one whose system is not definite, or that would go too far.
    fn move_groups(&mut self, h: f64) -> Result<(), usize> {
        for tree in &mut self.trees {
            if !tree.solve(&self.model, &mut self.groups, &self.seats, &self.inputs, h) {
                return Err(tree.groups[0]);
            }
        }
        let moved = |moving: &mut Moving| moving.advance(self.model.radius, h);
        match self.groups.iter_mut().position(|moving| !moved(moving)) {
            Some(g) => Err(g),
            None => Ok(()),
        }
    }

    /// The system of a step of one group, `system` and `right`, without pulls if others hang together with it.
    fn assemble(&mut self, g: usize, h: f64) {
        self.gather(g);
        let (m, radius) = (self.model.groups[g].m, self.model.radius);
        let moving = &mut self.groups[g];
        let r = moving.rank;
        moving.measure_rate(radius);
        moving.set_net(radius);
        let (W, V) = moving.matrices[m * m..].split_at(m * m);
        congruence(W, m, &moving.pivots[..r], &moving.Y, &mut moving.product, &mut moving.system);
        for u in 0..r {
            let row = &moving.system[u * r..(u + 1) * r];
            let momentum: f64 = row.iter().zip(&moving.rate).map(|(a, b)| a * b).sum();
            let net: f64 = (0..m).map(|i| moving.L[i * m + u] * moving.net[i]).sum();
            moving.right[u] = momentum + h * net;
        }
        congruence(V, m, &moving.pivots[..r], &moving.Y, &mut moving.product, &mut moving.damping);
        for (a, d) in moving.system[..r * r].iter_mut().zip(&moving.damping) {
            *a += h * d;
        }
        (0..r).for_each(|u| moving.system[u * r + u] += moving.stiffer * h * h);
        let alone = self.trees.iter().any(|tree| tree.groups == [g]);
        for pull in self.inputs.springs.iter().filter(|_| alone) {
            if let Some(grip) = spring_couplings::grip(&self.model, pull).filter(|grip| grip.group == g) {
                let base = (&self.inputs.base, &self.inputs.base_twist);
                spring_couplings::add(moving, pull, &grip, base, radius, h);
            }
        }
    }

    pub(super) fn broken(&self, g: usize) -> StepError {
        let effectors = &self.model.groups[g].layout.effectors;
        let body = effectors.first().map_or(0, |&e| self.model.effectors[e].body.index());
        let body = self.model.mechanism.bodies()[body].name.clone();
        let cause = "a load or target is too large for f64, or dt is too long; try a smaller dt".into();
        StepError::NotFinite { step: self.state.steps + 1, body, cause }
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
    /// Sets `net` to B(f − w).
    pub fn set_net(&mut self, radius: f64) {
        for ((x, f), w) in self.right.iter_mut().zip(&self.outside).zip(&self.load) {
            *x = f - w;
        }
        let mut net = std::mem::take(&mut self.net);
        self.to_own_axes(&self.right, radius, &mut net);
        self.net = net;
    }

    /// Takes the step with the rates in `right`; false if a number is too large.
    fn advance(&mut self, radius: f64, h: f64) -> bool {
        let (m, r) = (self.load.len(), self.rank);
        let rates = |L: &[f64], right: &[f64], k: usize| {
            Vector6::from_fn(|i, _| {
                let row = &L[(6 * k + i) * m..][..r];
                let x: f64 = row.iter().zip(right).map(|(l, y)| l * y).sum();
                if i < 3 { x * radius } else { x }
            })
        };
        for k in 0..self.anchors.len() {
            let rate = rates(&self.L, &self.right, k);
            let away = self.away[k];
            let next = away + Twist::from_vector(&(rate * h));
            if !(next.linear.amax() < TOO_FAR * radius && next.angular.amax() < TOO_FAR) {
                return false;
            }
            let mut anchor = self.anchors[k] * exp(&(away * -1.0)) * exp(&next);
            anchor.settle();
            self.anchors[k] = anchor;
            for i in 0..6 {
                self.moved[6 * k + i] = h * if i < 3 { rate[i] / radius } else { rate[i] };
            }
            self.twists[k] = Twist::from_vector(&(right_jacobian(&next) * rate));
        }
        true
    }

    /// κ of the step that was taken: how far the change of w would move the effectors, |C̄B(w⁺ − w)|, over how far they
    /// moved, |hLẏ⁺|. It comes at once and goes by a tenth a step.
    fn stiffen(&mut self, radius: f64) {
        let m = self.load.len();
        for ((x, w), before) in self.right.iter_mut().zip(&self.load).zip(&self.before.load) {
            *x = w - before;
        }
        let mut net = std::mem::take(&mut self.net);
        self.to_own_axes(&self.right, radius, &mut net);
        self.net = net;
        let (mut felt, mut moved) = (0.0, 0.0);
        for i in 0..m {
            let C = &self.matrices[i * m..(i + 1) * m];
            let x: f64 = C.iter().zip(&self.net).map(|(c, w)| c * w).sum();
            felt += x * x;
            moved += self.moved[i] * self.moved[i];
        }
        if moved > STILL * STILL {
            self.stiffer = (felt / moved).sqrt().max(1.0 + 0.9 * (self.stiffer - 1.0)).min(STIFFEST);
        }
    }

    /// Keeps what [`Moving::go_back`] goes back to.
    fn keep(&mut self) {
        self.before.load.copy_from_slice(&self.load);
        self.before.stiffer = self.stiffer;
        self.before.anchors.copy_from_slice(&self.anchors);
        self.before.twists.copy_from_slice(&self.twists);
    }

    pub(super) fn go_back(&mut self) {
        self.stiffer = self.before.stiffer;
        self.anchors.copy_from_slice(&self.before.anchors);
        self.twists.copy_from_slice(&self.before.twists);
    }
}
