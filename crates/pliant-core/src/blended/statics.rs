//! Where the blend is at rest under the loads that act.

use nalgebra::{DMatrix, DVector, Vector3, Vector6};

use super::evaluation::Moving;
use super::model::Group;
use super::simulation::Simulation;
use crate::engine::{Equilibrium, StepError};
use crate::spatial::{Pose, Twist, exp};

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

impl Simulation {
    /// Brings the mechanism to rest under the present inputs: the nonlinear equilibrium of the blend. The base stands
    /// still. Spring couplings are left out.
    ///
    /// A pose of the effectors has weights, and under these loads hold it: Newton's method finds where they are those that
    /// act. That may be so at several poses, most of them far from any sample: it is tried from where the
    /// effectors are and from the samples whose loads are nearest, and the one with the least estimate is taken. If
    /// none converges, everything is as it was, under the loads as far as they could be put on.
    pub(super) fn find_rest(&mut self) -> Result<Equilibrium, StepError> {
        let settled = self.search();
        self.part = 1.0;
        settled
    }

    fn search(&mut self) -> Result<Equilibrium, StepError> {
        self.base = self.inputs.base;
        (self.base_twist, self.filled) = (Twist::ZERO, false);
        self.evaluated = false;
        self.evaluate(&Twist::ZERO)?;
        for g in 0..self.groups.len() {
            self.gather(g);
            self.groups[g].twists.fill(Twist::ZERO);
        }
        let own: Vec<Start> = self.groups.iter().map(Start::of).collect();
        let mut settled = Equilibrium::NONE;
        let mut best: Option<(f64, Vec<Start>)> = None;
        for attempt in 0..=STARTS {
            self.part = 1.0;
            for (g, own) in own.iter().enumerate() {
                if attempt == 0 {
                    own.restore(&mut self.groups[g]);
                } else {
                    // Those that others are seated on come first.
                    self.set_seats();
                    self.gather(g);
                    self.groups[g].start_from(&self.model.groups[g], attempt - 1);
                }
            }
            let (converged, residual) = self.put_all_on(&mut settled.iterations)?;
            if !converged {
                settled.residual = settled.residual.min(residual);
                continue;
            }
            let estimate = self.distance();
            if best.as_ref().is_none_or(|(least, _)| estimate < *least) {
                (settled.converged, settled.residual) = (true, residual);
                (settled.stable, settled.load_reached) = (true, 1.0);
                best = Some((estimate, self.groups.iter().map(Start::of).collect()));
            }
            if estimate < GOOD {
                break;
            }
        }
        let starts = best.map_or(own, |(_, starts)| starts);
        self.groups.iter_mut().zip(&starts).for_each(|(moving, start)| start.restore(moving));
        self.part = 1.0;
        self.evaluated = false;
        self.filled = false;
        self.evaluate(&Twist::ZERO)?;
        Ok(settled)
    }

    /// Puts the loads on from where everything is, in as few parts as can be; whether all could be put on, and how far
    /// the effectors are from rest.
    fn put_all_on(&mut self, iterations: &mut usize) -> Result<(bool, f64), StepError> {
        self.groups.iter_mut().for_each(|moving| moving.start.copy_from_slice(&moving.load));
        let (mut reached, mut stride, mut residual) = (0.0, 1.0, f64::INFINITY);
        while reached < 1.0 && stride >= 0.5f64.powi(HALVINGS) {
            let anchors: Vec<Vec<Pose>> = self.groups.iter().map(|moving| moving.anchors.clone()).collect();
            let part = f64::min(1.0, reached + stride);
            self.part = part;
            let found = self.newton(iterations)?;
            if found < REST {
                (reached, residual) = (part, found);
                stride *= 2.0;
            } else {
                self.groups.iter_mut().zip(anchors).for_each(|(moving, anchors)| moving.anchors = anchors);
                self.part = reached;
                residual = found;
                stride *= 0.5;
            }
        }
        Ok((reached >= 1.0, residual))
    }

    /// Newton's method for anchors that are where the links take the effectors; how far they are in the end.
    fn newton(&mut self, iterations: &mut usize) -> Result<f64, StepError> {
        let mut last = self.residuals()?;
        let columns = last.iter().map(DVector::len).max().unwrap_or(0);
        for _ in 0..ITERATIONS {
            *iterations += 1;
            if amount(&last) < REST || !amount(&last).is_finite() {
                break;
            }
            let anchors: Vec<Vec<Pose>> = self.groups.iter().map(|moving| moving.anchors.clone()).collect();
            let mut jacobians: Vec<DMatrix<f64>> =
                last.iter().map(|r| DMatrix::zeros(r.len(), r.len())).collect();
            // Trees do not touch each other: one column of all at a time.
            for k in 0..columns {
                let unit = |r: &DVector<f64>| {
                    DVector::from_fn(r.len(), |i, _| if i == k { DIFFERENCE } else { 0.0 })
                };
                self.move_anchors(&anchors, &last.iter().map(unit).collect::<Vec<_>>());
                for ((jacobian, after), before) in jacobians.iter_mut().zip(self.residuals()?).zip(&last) {
                    if k < before.len() {
                        jacobian.set_column(k, &((after - before) / DIFFERENCE));
                    }
                }
            }
            let mut steps = Vec::new();
            for (jacobian, residual) in jacobians.into_iter().zip(&last) {
                // A tree without effectors has nothing to look for.
                if residual.is_empty() {
                    steps.push(DVector::zeros(0));
                    continue;
                }
                let Some(step) = jacobian.lu().solve(&-residual) else { return Ok(f64::INFINITY) };
                steps.push(step);
            }
            let mut part = (STRIDE / amount(&steps)).min(1.0);
            // Shorter steps until it is nearer.
            loop {
                self.move_anchors(&anchors, &steps.iter().map(|step| step * part).collect::<Vec<_>>());
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

    /// Puts anchors a way from where they were, tree by tree.
    fn move_anchors(&mut self, from: &[Vec<Pose>], ways: &[DVector<f64>]) {
        let radius = self.model.radius;
        for (tree, way) in self.trees.iter().zip(ways) {
            let mut at = 0;
            for &g in &tree.groups {
                let moving = &mut self.groups[g];
                moving.anchors.copy_from_slice(&from[g]);
                let m = moving.load.len();
                moving.move_anchors_by(&way.as_slice()[at..at + m], radius);
                at += m;
            }
        }
    }

    /// How far each tree is from rest under the loads to be held: how far they would move the effectors from where other loads
    /// hold them; and along what is no motion of the blend, from the anchors to the links.
    fn residuals(&mut self) -> Result<Vec<DVector<f64>>, StepError> {
        self.evaluated = false;
        let evaluated = self.evaluate(&Twist::ZERO);
        let mut of = |g: usize| {
            let moving = &mut self.groups[g];
            match &evaluated {
                Ok(()) => moving.residual(self.model.radius),
                Err(_) => vec![f64::INFINITY; moving.load.len()],
            }
        };
        let of_tree = |groups: &Vec<usize>| DVector::from_vec(groups.iter().flat_map(|&g| of(g)).collect());
        Ok(self.trees.iter().map(|tree| &tree.groups).map(of_tree).collect())
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
    /// Goes to the sample from which the loads that act have the n-th shortest way to go, as far as it is known there.
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

    fn residual(&mut self, radius: f64) -> Vec<f64> {
        let (m, r) = (self.load.len(), self.rank);
        self.set_gap(radius);
        let gap = self.gap().to_vec();
        let mut along = vec![0.0; r];
        self.coordinates_of(&gap, &mut along);
        self.set_net(radius);
        for (u, along) in along.iter_mut().enumerate() {
            let y: f64 = (0..m).map(|i| self.L[i * m + u] * self.net[i]).sum();
            *along -= y;
        }
        (0..m).map(|i| gap[i] - (0..r).map(|u| self.L[i * m + u] * along[u]).sum::<f64>()).collect()
    }

    /// A ← A exp(δ).
    fn move_anchors_by(&mut self, step: &[f64], radius: f64) {
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
