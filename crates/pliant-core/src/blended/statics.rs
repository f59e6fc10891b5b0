//! Where the blend is at rest under the loads that act.

use nalgebra::{DMatrix, DVector, Vector3, Vector6};

use super::evaluation::Moving;
use super::model::Group;
use super::options::Force;
use super::simulation::Simulation;
use crate::full::StepError;
use crate::spatial::{Pose, Twist, exp};

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

impl Simulation<'_> {
    /// Brings the mechanism to rest under the present inputs: the nonlinear equilibrium of the blend. The base stands
    /// still. Pulls are left out.
    ///
    /// A pose of the effectors has weights, and under these the loads lead to a pose: Newton's method finds where both
    /// are the same. That may be so at several poses, most of them far from any sample: it is tried from where the
    /// effectors are and from the samples whose loads are nearest, and the one with the least estimate is taken. If
    /// none converges, everything is as it was, under the loads as far as they could be put on.
    pub fn settle(&mut self) -> Result<Settled, StepError> {
        let settled = self.search();
        self.settling = false;
        settled
    }

    fn search(&mut self) -> Result<Settled, StepError> {
        self.base = self.inputs.base;
        (self.base_twist, self.filled) = (Twist::ZERO, false);
        if self.options.force == Force::Live {
            // Effectors where they are, with the loads that hold them there.
            let state = self.state().clone();
            self.take_over(&state);
        }
        self.evaluated = false;
        self.evaluate(&Twist::ZERO, false)?;
        for g in 0..self.groups.len() {
            self.gather(g);
            self.groups[g].twists.fill(Twist::ZERO);
        }
        self.settling = true;
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
            self.groups.iter_mut().for_each(|moving| moving.load.copy_from_slice(&moving.wanted));
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
        self.settling = false;
        self.evaluated = false;
        self.evaluate(&Twist::ZERO, self.options.force == Force::Live)?;
        self.hand_over();
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

    /// Sets the loads to be held to a part of the way from those of the start to those that act.
    fn put_on(&mut self, start: &[Vec<f64>], part: f64) {
        for (moving, start) in self.groups.iter_mut().zip(start) {
            for ((w, f), s) in moving.wanted.iter_mut().zip(&moving.outside).zip(start) {
                *w = if part == 1.0 { *f } else { s + part * (f - s) };
            }
            moving.load.copy_from_slice(&moving.wanted);
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

    /// How far each group is from rest under the loads to be held. With forces from the live engine: from the anchors to
    /// where these loads take the links. From the blend alone: how far they would move the effectors from where other
    /// loads hold them; and along what is no motion of the blend, from the anchors to the links.
    fn residuals(&mut self) -> Result<Vec<DVector<f64>>, StepError> {
        self.evaluated = false;
        let live = self.options.force == Force::Live;
        if live {
            self.groups.iter_mut().for_each(|moving| moving.load.copy_from_slice(&moving.wanted));
        }
        // What is held in parts of the loads stands for what acts.
        let swap = |groups: &mut [Moving]| {
            groups.iter_mut().for_each(|moving| std::mem::swap(&mut moving.outside, &mut moving.wanted));
        };
        swap(&mut self.groups);
        let evaluated = self.evaluate(&Twist::ZERO, live);
        swap(&mut self.groups);
        if evaluated.is_err() {
            let far = |moving: &Moving| DVector::from_element(moving.load.len(), f64::INFINITY);
            return Ok(self.groups.iter().map(far).collect());
        }
        Ok(self.groups.iter_mut().map(|moving| moving.residual(self.model.radius, live)).collect())
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

    fn residual(&mut self, radius: f64, live: bool) -> DVector<f64> {
        let (m, r) = (self.load.len(), self.rank);
        self.set_gap(radius);
        let gap = DVector::from_column_slice(self.gap());
        if live {
            return gap;
        }
        let mut along = vec![0.0; r];
        self.coordinates_of(gap.as_slice(), &mut along);
        std::mem::swap(&mut self.outside, &mut self.wanted);
        self.set_net(radius);
        std::mem::swap(&mut self.outside, &mut self.wanted);
        for (u, along) in along.iter_mut().enumerate() {
            let y: f64 = (0..m).map(|i| self.L[i * m + u] * self.net[i]).sum();
            *along -= y;
        }
        DVector::from_fn(m, |i, _| gap[i] - (0..r).map(|u| self.L[i * m + u] * along[u]).sum::<f64>())
    }

    /// A ← A exp(δ).
    fn move_anchors_by(&mut self, step: &DVector<f64>, radius: f64) {
        for (k, anchor) in self.anchors.iter_mut().enumerate() {
            let xi = Vector6::from_fn(|i, _| step[6 * k + i] * if i < 3 { radius } else { 1.0 });
            *anchor = *anchor * exp(&Twist::from_vector(&xi));
            anchor.settle();
        }
    }
}

/// The largest number.
fn amount(all: &[DVector<f64>]) -> f64 {
    let each = all.iter().flat_map(|x| x.iter());
    each.fold(0.0, |most: f64, x| if x.is_nan() { f64::INFINITY } else { most.max(x.abs()) })
}
