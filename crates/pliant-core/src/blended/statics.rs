//! Where the blend is at rest: under the loads that act, at the pose whose weights lead there; and the loads that hold
//! given poses.

use nalgebra::{DMatrix, DVector, Vector3, Vector6};

use super::evaluation::Moving;
use super::model::Group;
use super::simulation::Simulation;
use crate::full::StepError;
use crate::reduced::cholesky;
use crate::spatial::{Pose, Twist, exp, log, right_jacobian_inverse};
use crate::state::State;

/// What the search for rest found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settled {
    /// Whether the effectors are at rest.
    pub converged: bool,
    /// How far the effectors are from where the loads would have them, in radii or rad.
    pub residual: f64,
    /// Newton steps taken.
    pub iterations: usize,
}

/// Rest: a way below this, in radii or rad.
const REST: f64 = 1e-10;

/// Newton steps for one part of the loads, and how often a part may be halved.
const ITERATIONS: usize = 20;
const HALVINGS: i32 = 6;

/// Step of the differences that Newton's method takes, in radii or rad: their error is its square.
const DIFFERENCE: f64 = 1e-5;

/// Samples to start from, and an estimate, in radii, with which no other start is tried.
const STARTS: usize = 3;
const GOOD: f64 = 1e-3;

/// The longest Newton step, in radii or rad.
const STRIDE: f64 = 0.5;

/// Iterations towards given poses, and the softness that holds back what the samples cannot tell, relative to the
/// softest motion.
const TOWARDS: usize = 8;
const HELD_BACK: f64 = 1e-4;

impl Simulation<'_> {
    /// Brings the mechanism to rest under the present inputs: the nonlinear equilibrium of the blend. The base stands
    /// still. Pulls are left out.
    ///
    /// A pose of the effectors has weights, and under these the loads lead to a pose: Newton's method finds where both
    /// are the same. That may be so at several poses, most of them far from any sample: it is tried from where the
    /// effectors are and from the samples whose loads are nearest, and the one with the least estimate is taken. If
    /// none converges, everything is as it was, under the loads as far as they could be put on.
    pub fn settle(&mut self) -> Result<Settled, StepError> {
        self.base = self.inputs.base;
        (self.base_twist, self.filled) = (Twist::ZERO, false);
        for g in 0..self.groups.len() {
            self.gather(g);
            self.groups[g].rate.fill(0.0);
        }
        let own: Vec<Start> = self.groups.iter().map(Start::of).collect();
        let mut settled = Settled { converged: false, residual: f64::INFINITY, iterations: 0 };
        let mut best: Option<(f64, Vec<Start>)> = None;
        for attempt in 0..=STARTS {
            for (g, (moving, own)) in self.groups.iter_mut().zip(&own).enumerate() {
                match attempt {
                    0 => own.restore(moving),
                    _ => moving.start_from(&self.model.groups[g], attempt - 1),
                }
            }
            let (converged, residual) = self.put_all_on(&mut settled.iterations)?;
            if !converged {
                settled.residual = settled.residual.min(residual);
                continue;
            }
            let estimate = self.relax();
            if best.as_ref().is_none_or(|(least, _)| estimate < *least) {
                (settled.converged, settled.residual) = (true, residual);
                best = Some((estimate, self.groups.iter().map(Start::of).collect()));
            }
            if estimate < GOOD {
                break;
            }
        }
        let starts = best.map_or(own, |(_, starts)| starts);
        self.groups.iter_mut().zip(&starts).for_each(|(moving, start)| start.restore(moving));
        self.evaluated = false;
        self.evaluate(&Twist::ZERO)?;
        Ok(settled)
    }

    /// Puts the loads on from where everything is, in as few parts as can be; whether all could be put on, and how far
    /// the effectors are from rest.
    fn put_all_on(&mut self, iterations: &mut usize) -> Result<(bool, f64), StepError> {
        let start: Vec<Vec<f64>> = self.groups.iter().map(|moving| moving.load.clone()).collect();
        let (mut reached, mut stride, mut residual) = (0.0, 1.0, f64::INFINITY);
        while reached < 1.0 && stride >= 0.5f64.powi(HALVINGS) {
            let anchors: Vec<Vec<Pose>> = self.groups.iter().map(|moving| moving.anchors.clone()).collect();
            let part = f64::min(1.0, reached + stride);
            self.put_on(&start, part);
            let found = self.newton(iterations)?;
            if found < REST {
                (reached, residual) = (part, found);
                stride *= 2.0;
            } else {
                self.groups.iter_mut().zip(anchors).for_each(|(moving, anchors)| moving.anchors = anchors);
                self.put_on(&start, reached);
                residual = found;
                stride *= 0.5;
            }
        }
        Ok((reached >= 1.0, residual))
    }

    /// Sets a part of the way from the loads of the start to those that act.
    fn put_on(&mut self, start: &[Vec<f64>], part: f64) {
        for (moving, start) in self.groups.iter_mut().zip(start) {
            for ((w, f), s) in moving.load.iter_mut().zip(&moving.outside).zip(start) {
                *w = if part == 1.0 { *f } else { s + part * (f - s) };
            }
        }
    }

    /// Newton's method for anchors that are where the links take the effectors; how far they are in the end.
    fn newton(&mut self, iterations: &mut usize) -> Result<f64, StepError> {
        let radius = self.model.radius;
        let columns = self.groups.iter().map(|moving| moving.load.len()).max().unwrap_or(0);
        let mut last = self.residuals()?;
        for _ in 0..ITERATIONS {
            *iterations += 1;
            if amount(&last) < REST || !amount(&last).is_finite() {
                break;
            }
            let anchors: Vec<Vec<Pose>> = self.groups.iter().map(|moving| moving.anchors.clone()).collect();
            let mut jacobians: Vec<DMatrix<f64>> =
                last.iter().map(|r| DMatrix::zeros(r.len(), r.len())).collect();
            // Groups do not touch each other: one column of all at a time.
            for k in 0..columns {
                for (moving, anchors) in self.groups.iter_mut().zip(&anchors) {
                    moving.anchors.copy_from_slice(anchors);
                    if k < moving.load.len() {
                        let mut step = DVector::zeros(moving.load.len());
                        step[k] = DIFFERENCE;
                        moving.move_anchors_by(&step, radius);
                    }
                }
                for ((jacobian, after), before) in jacobians.iter_mut().zip(self.residuals()?).zip(&last) {
                    if k < before.len() {
                        jacobian.set_column(k, &((after - before) / DIFFERENCE));
                    }
                }
            }
            let mut steps = Vec::new();
            for (jacobian, residual) in jacobians.into_iter().zip(&last) {
                let Some(step) = jacobian.lu().solve(&-residual) else { return Ok(f64::INFINITY) };
                steps.push(step);
            }
            let mut part = (STRIDE / amount(&steps)).min(1.0);
            // Shorter steps until it is nearer.
            loop {
                for ((moving, anchors), step) in self.groups.iter_mut().zip(&anchors).zip(&steps) {
                    moving.anchors.copy_from_slice(anchors);
                    moving.move_anchors_by(&(step * part), radius);
                }
                let next = self.residuals()?;
                if amount(&next) < amount(&last) || amount(&last) < 1e3 * REST {
                    last = next;
                    break;
                }
                part *= 0.5;
                if part < 1e-3 {
                    return Ok(f64::INFINITY);
                }
            }
        }
        Ok(amount(&last))
    }

    /// From the anchors of each group to where the links take its effectors.
    fn residuals(&mut self) -> Result<Vec<DVector<f64>>, StepError> {
        self.evaluated = false;
        if self.evaluate(&Twist::ZERO).is_err() {
            let far = |moving: &Moving| DVector::from_element(moving.load.len(), f64::INFINITY);
            return Ok(self.groups.iter().map(far).collect());
        }
        Ok(self.groups.iter().map(|moving| moving.residual(self.model.radius)).collect())
    }

    /// Takes over poses and twists of the effectors from a state: w ← w + (C̄ + ε)⁻¹ of what is left, a few times.
    pub(super) fn measure(&mut self, state: &State) {
        let (model, base) = (self.model, self.base);
        for (g, moving) in self.groups.iter_mut().enumerate() {
            for (k, &e) in model.groups[g].layout.effectors.iter().enumerate() {
                let effector = &model.effectors[e];
                let pose = base.inverse_times(&(state.pose(effector.body) * effector.frame));
                moving.anchors[k] = pose;
            }
            // The nearest sample is where to start.
            moving.rate.fill(0.0);
            moving.blend(model, g, &self.options, None);
            let nearest = moving.weights.of.first().map_or(0, |w| w.0);
            moving.load.copy_from_slice(model.groups[g].loads_of(nearest));
        }
        for _ in 0..TOWARDS {
            self.evaluated = false;
            if self.evaluate(&Twist::ZERO).is_err() {
                break;
            }
            for moving in &mut self.groups {
                for k in 0..moving.poses.len() {
                    let gap = log(&moving.poses[k].inverse_times(&moving.anchors[k]));
                    moving.set_motion(k, &gap, model.radius);
                }
                moving.solve_for_loads(model.radius);
                moving.load.iter_mut().zip(&moving.net).for_each(|(w, x)| *w += x);
            }
        }
        for (g, moving) in self.groups.iter_mut().enumerate() {
            for (k, &e) in model.groups[g].layout.effectors.iter().enumerate() {
                let effector = &model.effectors[e];
                let twist = effector.frame.twist_to_local(&state.twists[effector.body.index()]);
                let xi = right_jacobian_inverse(&moving.away[k]) * twist.to_vector();
                moving.set_motion(k, &Twist::from_vector(&xi), model.radius);
            }
            moving.solve_for_loads(model.radius);
            moving.rate.copy_from_slice(&moving.net);
            moving.anchors.copy_from_slice(&moving.poses);
        }
        self.evaluated = false;
        let _ = self.evaluate(&Twist::ZERO);
    }
}

/// Where a search starts, or ended.
struct Start {
    load: Vec<f64>,
    anchors: Vec<Pose>,
}

impl Start {
    fn of(moving: &Moving) -> Start {
        Start { load: moving.load.clone(), anchors: moving.anchors.clone() }
    }

    fn restore(&self, moving: &mut Moving) {
        moving.load.copy_from_slice(&self.load);
        moving.anchors.copy_from_slice(&self.anchors);
    }
}

impl Moving {
    /// Goes to the sample from which the loads that act have the n-th shortest way to go, as far as it tells.
    fn start_from(&mut self, group: &Group, n: usize) {
        let m = group.m;
        let way = |sample: usize| -> f64 {
            let (C, w) = (&group.matrices_of(sample)[..m * m], group.loads_of(sample));
            // u of the sample: in its effectors' axes.
            let mut u = DVector::zeros(m);
            for (k, pose) in group.poses_of(sample).iter().enumerate() {
                for part in [6 * k, 6 * k + 3] {
                    let x = Vector3::from_fn(|i, _| self.outside[part + i] - w[part + i]);
                    u.rows_mut(part, 3).copy_from(&(pose.rotation.inverse() * x));
                }
            }
            (DMatrix::from_column_slice(m, m, C) * u).norm()
        };
        let mut order: Vec<(f64, usize)> = (0..group.samples).map(|i| (way(i), i)).collect();
        order.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (_, sample) = order[n.min(order.len() - 1)];
        self.load.copy_from_slice(group.loads_of(sample));
        self.anchors.copy_from_slice(group.poses_of(sample));
    }

    /// log(A⁻¹H) of each effector, lengths in radii.
    fn residual(&self, radius: f64) -> DVector<f64> {
        let of = |k: usize| log(&self.anchors[k].inverse_times(&self.poses[k])).to_vector();
        DVector::from_iterator(
            self.load.len(),
            (0..self.poses.len()).flat_map(|k| {
                of(k).iter().enumerate().map(|(i, x)| if i < 3 { x / radius } else { *x }).collect::<Vec<_>>()
            }),
        )
    }

    /// A ← A exp(δ).
    fn move_anchors_by(&mut self, step: &DVector<f64>, radius: f64) {
        for (k, anchor) in self.anchors.iter_mut().enumerate() {
            let xi = Vector6::from_fn(|i, _| step[6 * k + i] * if i < 3 { radius } else { 1.0 });
            *anchor = *anchor * exp(&Twist::from_vector(&xi));
            anchor.settle();
        }
    }

    /// Puts a motion of effector k, its own axes, in its place of `outside`.
    fn set_motion(&mut self, k: usize, xi: &Twist, radius: f64) {
        let xi = xi.to_vector();
        (0..6).for_each(|i| self.outside[6 * k + i] = if i < 3 { xi[i] / radius } else { xi[i] });
    }

    /// Sets `net` to the loads, base axes, of the motion in `outside`: B⁻¹(C̄ + ε)⁻¹ξ.
    fn solve_for_loads(&mut self, radius: f64) {
        let m = self.load.len();
        self.net.fill(0.0);
        let softest = (0..m).map(|i| self.matrices[i * m + i]).fold(0.0, f64::max);
        if softest == 0.0 {
            return;
        }
        self.system[..m * m].copy_from_slice(&self.matrices[..m * m]);
        (0..m).for_each(|i| self.system[i * m + i] += HELD_BACK * softest);
        if cholesky::factor(&mut self.system[..m * m], m) {
            cholesky::solve(&self.system[..m * m], m, &mut self.outside);
            let mut net = std::mem::take(&mut self.net);
            self.to_base_axes(&self.outside, radius, &mut net);
            self.net = net;
        }
    }
}

/// The largest number.
fn amount(all: &[DVector<f64>]) -> f64 {
    let each = all.iter().flat_map(|x| x.iter());
    each.fold(0.0, |most: f64, x| if x.is_nan() { f64::INFINITY } else { most.max(x.abs()) })
}
