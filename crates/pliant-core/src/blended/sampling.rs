//! Samples chosen until an error is met.
//!
//! 1. The unloaded equilibrium, and pairs of equal and opposite loads along the softest motions of the effectors.
//! 2. Random loads; where the estimate of the blend is worst, the equilibrium there becomes a sample; until the
//!    estimate is within the bound under all of them.
//! 3. Other random loads, which nothing was trained on, tell the error against the full statics. If it is too large
//!    they join those of 2, and new ones are drawn.
//!
//! A load without an equilibrium, or with one that depends on how the load is put on (the mechanism snaps through), is
//! left out and counted.

use nalgebra::{DMatrix, SymmetricEigen, Vector3};

use super::model::{Model, SampleError, set_loads};
use super::options::Options;
use super::simulation::Simulation;
use crate::full::{self, StaticsSettings};
use crate::gallery::Numbers;
use crate::mechanism::{EffectorId, Mechanism};
use crate::reduced::ReductionError;
use crate::spatial::Wrench;
use crate::state::State;

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sampling {
    /// Largest error of an effector, in radii.
    pub max_error: f64,
    /// Displacement of the effectors that loads go up to, in radii.
    pub displacement: f64,
    /// Samples, at most.
    pub most_samples: usize,
    /// Random loads to train on at first, and to test with.
    pub loads: usize,
    /// Random loads are the same for the same seed.
    pub seed: u64,
}

impl Default for Sampling {
    fn default() -> Sampling {
        Sampling { max_error: 0.01, displacement: 1.0, most_samples: 64, loads: 24, seed: 1 }
    }
}

/// How far it has come.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stage {
    /// Samples so far.
    pub samples: usize,
    /// The worst estimate under the loads trained on, in radii; infinite before there are any.
    pub worst: f64,
}

/// What limits the error.
#[derive(Clone, Debug, PartialEq)]
pub enum Limit {
    /// Nothing: it is within the bound.
    None,
    /// The number of samples.
    Samples,
    /// A load at which a sample of its own did not help: the blend does not come to rest there.
    Rest,
    /// New loads kept failing after the last rounds.
    Rounds,
}

/// What came out.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The worst estimate under the loads trained on, in radii.
    pub estimate: f64,
    /// The worst true error of an effector under loads that nothing was trained on, in radii.
    pub held_out: f64,
    /// The median of these errors.
    pub held_out_median: f64,
    /// The load of the worst.
    pub worst_loads: Vec<Wrench>,
    /// How far that moves the effectors, in radii.
    pub worst_displacement: f64,
    /// How many loads were tested with.
    pub tested: usize,
    /// Loads left out because they have no equilibrium that the statics come to, or lock the mechanism before it has
    /// gone as far as they should take it.
    pub out_of_reach: usize,
    /// Loads left out because the equilibrium depends on how they are put on: the mechanism snaps through.
    pub snapped: usize,
    /// Samples left out because they are no minimum of energy or cannot be reduced.
    pub unusable: usize,
    /// What limits the error.
    pub limit: Limit,
}

/// A load and the equilibrium under it.
#[derive(Clone, Debug)]
struct Case {
    loads: Vec<Wrench>,
    state: State,
    displacement: f64,
}

/// How often held-out loads may join those trained on.
const ROUNDS: usize = 4;

/// Statics tried for a load of a wanted displacement, and how near to it is near enough.
const TRIES: usize = 12;
const NEAR: f64 = 0.1;

/// A mechanism that needs so many times the load of a linear one is locked.
const LOCKED: f64 = 4.0;

/// Two equilibria under the same load that are further apart than this, in radii, are not the same.
const APART: f64 = 1e-3;

/// Displacement of the first pairs, over the largest.
const PAIRS: f64 = 0.8;

impl Sampling {
    /// Chooses samples; `progress` is told after each, and stops it by answering false.
    pub fn run<'m>(
        &self,
        mechanism: &'m Mechanism,
        options: Options,
        mut progress: impl FnMut(Stage) -> bool,
    ) -> Result<(Model<'m>, Outcome), SampleError> {
        let good = self.max_error > 0.0 && self.displacement > 0.0;
        if !good || self.most_samples == 0 || self.loads == 0 {
            return Err(ReductionError::Options(
                "the error and the displacement must be above zero, and samples and loads one or more".into(),
            )
            .into());
        }
        let mut model = Model::new(mechanism, options)?;
        let mut maker = Maker {
            mechanism,
            full: full::Model::new(mechanism),
            rest: model.samples[0].state().clone(),
            random: Numbers(self.seed),
            out_of_reach: 0,
            snapped: 0,
        };
        let mut unusable = 0;
        let mut stop = !progress(Stage { samples: 1, worst: f64::INFINITY });
        for direction in softest(model.whole()?.as_ref().unwrap_or(&model)) {
            for sign in [1.0, -1.0] {
                let unit: Vec<Wrench> = direction.iter().map(|w| *w * sign).collect();
                if model.samples.len() >= self.most_samples || stop {
                    break;
                }
                if let Some(case) = maker.reach(&unit, PAIRS * self.displacement) {
                    unusable += usize::from(model.add_state(&case.state, &case.loads).is_err());
                    stop = !progress(Stage { samples: model.samples.len(), worst: f64::INFINITY });
                }
            }
        }
        let mut training = maker.draw(self.loads, self.displacement);
        let mut outcome = Outcome {
            estimate: f64::INFINITY,
            held_out: f64::INFINITY,
            held_out_median: f64::INFINITY,
            worst_loads: Vec::new(),
            worst_displacement: 0.0,
            tested: 0,
            out_of_reach: 0,
            snapped: 0,
            unusable: 0,
            limit: Limit::Rounds,
        };
        for _ in 0..ROUNDS {
            let limit = self.train(&mut model, &training, &mut outcome, &mut unusable, |stage| {
                stop |= !progress(stage);
                !stop
            });
            let testing = maker.draw(self.loads, self.displacement);
            test(&model, &testing, &mut outcome);
            if let Some(limit) = limit {
                outcome.limit = limit;
                break;
            }
            if outcome.held_out <= self.max_error {
                outcome.limit = Limit::None;
                break;
            }
            training.extend(testing);
        }
        (outcome.out_of_reach, outcome.snapped, outcome.unusable) =
            (maker.out_of_reach, maker.snapped, unusable);
        Ok((model, outcome))
    }

    /// Adds samples where the estimate is worst; what stopped it short of the bound.
    fn train(
        &self,
        model: &mut Model,
        training: &[Case],
        outcome: &mut Outcome,
        unusable: &mut usize,
        mut progress: impl FnMut(Stage) -> bool,
    ) -> Option<Limit> {
        let mut tried = vec![false; training.len()];
        loop {
            let mut worst: Option<(usize, f64)> = None;
            let mut estimate = 0.0f64;
            for (at, case) in training.iter().enumerate() {
                let own = settled(model, &case.loads, |simulation| simulation.estimate());
                estimate = estimate.max(own);
                if !tried[at] && worst.is_none_or(|(_, most)| own > most) {
                    worst = Some((at, own));
                }
            }
            outcome.estimate = estimate;
            let go_on = progress(Stage { samples: model.samples.len(), worst: estimate });
            if estimate <= self.max_error {
                return None;
            }
            if model.samples.len() >= self.most_samples || !go_on {
                return Some(Limit::Samples);
            }
            let Some((at, _)) = worst.filter(|(_, own)| *own > self.max_error) else {
                return Some(Limit::Rest);
            };
            tried[at] = true;
            *unusable += usize::from(model.add_state(&training[at].state, &training[at].loads).is_err());
        }
    }
}

/// The worst and the median error of the effectors.
fn test(model: &Model, cases: &[Case], outcome: &mut Outcome) {
    let mechanism = model.mechanism;
    let mut errors: Vec<f64> = Vec::new();
    outcome.held_out = 0.0;
    for case in cases {
        let error = settled(model, &case.loads, |simulation| {
            let off = |e: EffectorId| {
                let pose = case.state.effector_pose(mechanism, e);
                (simulation.effector_pose(e).position - pose.position).norm() / model.radius
            };
            (0..mechanism.effectors().len()).map(EffectorId::from_index).map(off).fold(0.0, f64::max)
        });
        if errors.is_empty() || error > outcome.held_out {
            outcome.held_out = error;
            (outcome.worst_loads, outcome.worst_displacement) = (case.loads.clone(), case.displacement);
        }
        errors.push(error);
    }
    errors.sort_by(f64::total_cmp);
    outcome.tested = errors.len();
    outcome.held_out_median = errors.get(errors.len() / 2).copied().unwrap_or(0.0);
    if errors.is_empty() {
        outcome.held_out = f64::INFINITY;
    }
}

/// Something of a blend at rest under loads; infinite if it does not come to rest.
fn settled(model: &Model, loads: &[Wrench], of: impl Fn(&mut Simulation) -> f64) -> f64 {
    let mut simulation = model.simulate();
    for (e, load) in loads.iter().enumerate() {
        simulation.set_load(EffectorId::from_index(e), *load).expect("a finite load");
    }
    match simulation.settle() {
        Ok(settled) if settled.converged => of(&mut simulation),
        _ => f64::INFINITY,
    }
}

/// Loads along the three softest motions of the effectors at rest, of each part at the same time.
fn softest(model: &Model) -> Vec<Vec<Wrench>> {
    let most = 3;
    let mut directions = vec![vec![Wrench::ZERO; model.mechanism.effectors().len()]; most];
    let mut some = vec![false; most];
    for group in model.groups.iter().filter(|group| group.m > 0) {
        let m = group.m;
        let C = DMatrix::from_column_slice(m, m, &group.matrices_of(0)[..m * m]);
        let eigen = SymmetricEigen::new(C);
        let mut order: Vec<usize> = (0..m).collect();
        order.sort_by(|&a, &b| eigen.eigenvalues[b].total_cmp(&eigen.eigenvalues[a]));
        let top = eigen.eigenvalues[order[0]];
        for (n, &k) in order.iter().take(most).enumerate() {
            if eigen.eigenvalues[k] <= 1e-6 * top {
                continue;
            }
            some[n] = true;
            for (at, &e) in group.layout.effectors.iter().enumerate() {
                let Some(id) = model.effectors[e].id else { continue };
                // The same displacement along each.
                let u = |i: usize| eigen.eigenvectors[(6 * at + i, k)] * top / eigen.eigenvalues[k];
                let R = group.poses_of(0)[at].rotation;
                directions[n][id.index()] = Wrench {
                    force: R * Vector3::new(u(0), u(1), u(2)) / model.radius,
                    torque: R * Vector3::new(u(3), u(4), u(5)),
                };
            }
        }
    }
    directions.into_iter().zip(some).filter(|(_, some)| *some).map(|(d, _)| d).collect()
}

/// Makes loads with their equilibria.
struct Maker<'m> {
    mechanism: &'m Mechanism,
    full: full::Model<'m>,
    rest: State,
    random: Numbers,
    out_of_reach: usize,
    snapped: usize,
}

impl Maker<'_> {
    /// Random loads, forces and torques, at displacements up to the largest.
    fn draw(&mut self, count: usize, largest: f64) -> Vec<Case> {
        let mut cases = Vec::new();
        for k in 0..2 * count {
            if cases.len() == count {
                break;
            }
            let lever = if k % 2 == 0 { 0.0 } else { 0.3 * self.mechanism.radius() };
            let effectors = self.mechanism.effectors().len();
            let unit: Vec<Wrench> = (0..effectors)
                .map(|_| Wrench::new(direction(&mut self.random), direction(&mut self.random) * lever))
                .collect();
            let wanted = largest * (0.25 + 0.75 * (cases.len() + 1) as f64 / count as f64);
            cases.extend(self.reach(&unit, wanted));
        }
        cases
    }

    /// The load along a direction under which an effector goes as far as wanted, or as far as it can before a joint
    /// meets its limit.
    fn reach(&mut self, unit: &[Wrench], wanted: f64) -> Option<Case> {
        let mut scale = self.first_scale(unit, wanted);
        let most = LOCKED * scale;
        let mut found: Option<Case> = None;
        let mut limited = false;
        for _ in 0..TRIES {
            let loads: Vec<Wrench> = unit.iter().map(|w| *w * scale).collect();
            let Some(state) = self.settle(&self.rest.clone(), &loads) else {
                scale *= 0.7;
                continue;
            };
            let displacement = self.displacement(&state);
            let freedoms = self.mechanism.joints().iter().flat_map(|j| &j.freedoms);
            let inside = freedoms.zip(&state.coordinates).all(|(f, q)| (f.lower..=f.upper).contains(q));
            if !inside {
                scale *= 0.8;
                limited = true;
                continue;
            }
            if limited || (displacement / wanted - 1.0).abs() < NEAR {
                found = Some(Case { loads, state, displacement });
                break;
            }
            scale *= (wanted / displacement).clamp(0.3, 3.0);
            if scale > most {
                break;
            }
        }
        let Some(case) = found else {
            self.out_of_reach += 1;
            return None;
        };
        // The same load, put on in steps.
        let mut state = self.rest.clone();
        for part in [0.25, 0.5, 0.75, 1.0] {
            let loads: Vec<Wrench> = case.loads.iter().map(|w| *w * part).collect();
            state = match self.settle(&state, &loads) {
                Some(state) => state,
                None => {
                    self.snapped += 1;
                    return None;
                }
            };
        }
        let apart = |a: &State, b: &State| {
            let each = a.poses.iter().zip(&b.poses).map(|(a, b)| (a.position - b.position).norm());
            each.fold(0.0, f64::max) / self.mechanism.radius()
        };
        if apart(&state, &case.state) > APART {
            self.snapped += 1;
            return None;
        }
        Some(case)
    }

    /// What a linear mechanism would need.
    fn first_scale(&self, unit: &[Wrench], wanted: f64) -> f64 {
        let mut scale = 1.0;
        for _ in 0..20 {
            let loads: Vec<Wrench> = unit.iter().map(|w| *w * scale).collect();
            match self.settle(&self.rest.clone(), &loads).map(|state| self.displacement(&state)) {
                None => scale *= 0.1,
                Some(x) if x > 0.2 * wanted => scale *= 0.3,
                Some(x) if x < 1e-6 => scale *= 100.0,
                Some(x) => return scale * wanted / x,
            }
        }
        scale
    }

    fn settle(&self, from: &State, loads: &[Wrench]) -> Option<State> {
        let mut simulation = self.full.simulate();
        simulation.set_state(from).ok()?;
        set_loads(&mut simulation, loads);
        let found = simulation.settle(&StaticsSettings::default()).ok()?;
        let torques = loads.iter().any(|w| w.torque.norm() > 0.0);
        (found.converged && (found.stable || torques)).then(|| simulation.state().clone())
    }

    /// The largest displacement of an effector from rest, in radii.
    fn displacement(&self, state: &State) -> f64 {
        let of =
            |state: &State, e: usize| state.effector_pose(self.mechanism, EffectorId::from_index(e)).position;
        let moved = (0..self.mechanism.effectors().len()).map(|e| (of(state, e) - of(&self.rest, e)).norm());
        moved.fold(0.0, f64::max) / self.mechanism.radius()
    }
}

/// A direction, evenly over the sphere.
fn direction(random: &mut Numbers) -> Vector3<f64> {
    loop {
        let x = Vector3::from_fn(|_, _| random.between(-1.0, 1.0));
        let norm = x.norm();
        if (0.1..=1.0).contains(&norm) {
            return x / norm;
        }
    }
}
