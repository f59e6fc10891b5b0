//! Samples chosen until an error is met.
//!
//! 1. The unloaded equilibrium, and pairs of equal and opposite loads along the softest motions of the effectors.
//! 2. Random loads; where the blend is worst, by its estimate or by the full statics, the equilibrium there becomes a
//!    sample; until both are within the bound under all of them.
//! 3. Other random loads, which nothing was trained on, show the error against the full statics. If it is too large
//!    they join those of 2, and new ones are drawn, until the bound is met, there are as many samples as there may be, a
//!    sample does not help, or somebody stops it.
//!
//! A load without an equilibrium, or with one that depends on how the load is put on (the mechanism snaps through), is
//! left out and counted.

use std::ops::ControlFlow;

use nalgebra::{DMatrix, DVector, SymmetricEigen, Vector3};

use super::model::{Model, SampleError, set_loads};
use super::options::Options;
use crate::algebra::dense::eigen;
use crate::engine::State;
use crate::engine::{Simulation as _, StaticsSettings};
use crate::full;
use crate::linear::ReductionError;
use crate::mechanism::{Effector, Mechanism};
use crate::numbers::Numbers;
use crate::spatial::Wrench;

/// What is asked for.
///
/// ```
/// use pliant_core::blended::{Limit, Options, Sampling};
/// use pliant_core::gallery;
/// use std::ops::ControlFlow;
///
/// let mechanism = gallery::two_link();
/// let sampling = Sampling { max_error: 0.02, ..Sampling::default() };
/// let (model, outcome) = sampling.run(&mechanism, Options::default(), |_| ControlFlow::Continue(()))?;
/// assert_eq!(outcome.limit, Limit::None); // the bound was met
/// assert!(outcome.held_out <= 0.02); // in radii, under loads that it was not made with
/// assert!(model.samples().len() < 20);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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
        Sampling { max_error: 0.05, displacement: 0.5, most_samples: 16, loads: 12, seed: 1 }
    }
}

/// What is being done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doing {
    /// The first samples are placed.
    Seeding,
    /// Loads are drawn, and samples added where the blend is worst.
    Searching,
    /// Other loads are drawn, and show the error.
    Checking,
}

/// How far it has come: reported before every search for an equilibrium, be it of the mechanism or of the blend.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// What is being done.
    pub doing: Doing,
    /// Samples so far.
    pub samples: usize,
    /// Equilibria searched for so far.
    pub searched: usize,
    /// The worst error that is known under the loads trained on, in radii; infinite before there are any.
    pub worst: f64,
}

/// What limits the error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Nothing: it is within the bound.
    None,
    /// The number of samples.
    Samples,
    /// It was stopped before it was done.
    Stopped,
    /// A load at which a sample of its own did not help: the blend does not come to rest there, or where nothing is in
    /// balance.
    Rest,
    /// A load at which a sample of its own did not help: the blend comes to rest at another equilibrium of the
    /// mechanism than the one that the load leads to from rest.
    Another,
    /// No load could be found to train or to check with.
    Loads,
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
    /// The load of the worst, or the one that limits the error.
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
    /// What the blend was off by when it was last asked.
    off: Off,
    /// Whether it was made a sample, or could not be.
    tried: bool,
}

/// How far the blend is off under a load, in radii: the worst effector, and by its own estimate. Infinite where it does
/// not come to rest.
#[derive(Clone, Copy, Debug)]
struct Off {
    error: f64,
    estimate: f64,
}

impl Off {
    const UNKNOWN: Off = Off { error: f64::INFINITY, estimate: f64::INFINITY };

    fn most(&self) -> f64 {
        self.error.max(self.estimate)
    }
}

/// Statics tried for a load of a wanted displacement, how many of these may fail, and how near to it is near enough.
const TRIES: usize = 12;
const FAILURES: usize = 3;
const NEAR: f64 = 0.1;

/// A mechanism that needs so many times the load of a linear one is locked.
const LOCKED: f64 = 4.0;

/// Two equilibria under the same load that are further apart than this, in radii, are not the same.
const APART: f64 = 1e-3;

/// Displacement of the first pairs, over the largest.
const PAIRS: f64 = 0.8;

impl Sampling {
    /// Chooses samples. `progress` is called before every search for an equilibrium and ends what is being done by
    /// answering `Break`: seeding and searching go over to checking, and checking to its end. The model is then the best
    /// so far.
    pub fn run(
        &self,
        mechanism: &Mechanism,
        options: Options,
        mut progress: impl FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<(Model, Outcome), SampleError> {
        let good = self.max_error > 0.0 && self.displacement > 0.0;
        if !good || self.most_samples == 0 || self.loads == 0 {
            return Err(ReductionError::Options(
                "the error and the displacement must be above zero, and samples and loads one or more".into(),
            )
            .into());
        }
        let mut model = Model::new(mechanism, options)?;
        let mut search = Search {
            sampling: *self,
            mechanism: mechanism.clone(),
            radius: model.constants.radius,
            full: full::Model::new(mechanism),
            rest: model.samples()[0].state().clone(),
            random: Numbers(self.seed),
            now: Progress { doing: Doing::Seeding, samples: 1, searched: 0, worst: f64::INFINITY },
            progress: &mut progress,
            out_of_reach: 0,
            snapped: 0,
            unusable: 0,
        };
        let mut outcome = search.choose(&mut model);
        (outcome.out_of_reach, outcome.snapped, outcome.unusable) =
            (search.out_of_reach, search.snapped, search.unusable);
        Ok((model, outcome))
    }
}

/// It was stopped.
struct Stopped;

impl From<Stopped> for Limit {
    fn from(_: Stopped) -> Limit {
        Limit::Stopped
    }
}

/// The search for samples.
struct Search<'a> {
    sampling: Sampling,
    mechanism: Mechanism,
    radius: f64,
    full: full::Model,
    rest: State,
    random: Numbers,
    now: Progress,
    progress: &'a mut dyn FnMut(Progress) -> ControlFlow<()>,
    out_of_reach: usize,
    snapped: usize,
    unusable: usize,
}

impl Search<'_> {
    fn choose(&mut self, model: &mut Model) -> Outcome {
        let Sampling { max_error, loads, .. } = self.sampling;
        let _ = self.seed(model);
        self.now.doing = Doing::Searching;
        let mut training = Vec::new();
        let mut limit = self.draw(model, loads, &mut training, false).err().map(|Stopped| Limit::Stopped);
        // The best model so far is made of the first so many samples.
        let mut best: Option<(usize, Outcome)> = None;
        let limit = loop {
            let before = model.samples().len();
            if limit.is_none() {
                self.now.doing = Doing::Searching;
                limit = self.train(model, &mut training).err();
            }
            let hopeless = training.iter().find(|case| case.tried && case.off.most() > max_error);
            let hopeless = hopeless.map(|case| match case.off.estimate <= max_error {
                true => Limit::Another,
                false => Limit::Rest,
            });
            if best.is_some() && model.samples().len() == before {
                break limit.or(hopeless).unwrap_or(Limit::Loads);
            }
            self.now.doing = Doing::Checking;
            let mut testing = Vec::new();
            let checked = self.draw(model, loads, &mut testing, true);
            let outcome = report(&training, &testing);
            let met = outcome.held_out <= max_error;
            if best
                .as_ref()
                .is_none_or(|(_, least)| !testing.is_empty() && outcome.held_out <= least.held_out)
            {
                best = Some((model.samples().len(), outcome));
            }
            match (limit, checked) {
                (Some(limit), _) => break limit,
                (None, Err(Stopped)) => break Limit::Stopped,
                (None, Ok(())) if testing.is_empty() => break Limit::Loads,
                (None, Ok(())) if met => break hopeless.unwrap_or(Limit::None),
                (None, Ok(())) => training.extend(testing),
            }
        };
        let (samples, mut outcome) = best.expect("it was checked");
        if samples < model.samples().len() {
            *model = first(model, samples);
        }
        outcome.limit = limit;
        if matches!(limit, Limit::Rest | Limit::Another) {
            let hopeless = |case: &&Case| case.tried && case.off.most() > max_error;
            let case = training.iter().find(hopeless).expect("it is the limit");
            (outcome.worst_loads, outcome.worst_displacement) = (case.loads.clone(), case.displacement);
        }
        outcome
    }

    /// Pairs of equal and opposite loads along the softest motions.
    fn seed(&mut self, model: &mut Model) -> Result<(), Stopped> {
        // Of all effectors together: a branch alone does not know what its stem gives.
        let whole = model.whole().ok().flatten();
        let directions = softest(whole.as_ref().unwrap_or(model));
        for direction in directions {
            for sign in [1.0, -1.0] {
                let unit: Vec<Wrench> = direction.iter().map(|w| *w * sign).collect();
                if model.samples().len() >= self.sampling.most_samples {
                    return Ok(());
                }
                if let Some(case) = self.reach(model, &unit, PAIRS * self.sampling.displacement)? {
                    self.unusable += usize::from(model.add_state(&case.state, &case.loads).is_err());
                    self.now.samples = model.samples().len();
                }
            }
        }
        Ok(())
    }

    /// Adds samples where the blend is worst; what stopped it short of that.
    ///
    /// The indicator of a load is the one last computed for it: only the worst is asked for again before it
    /// becomes a sample, and all when none seems to be left. A sample that does not help under its own load is dropped.
    fn train(&mut self, model: &mut Model, training: &mut [Case]) -> Result<(), Limit> {
        let bound = self.sampling.max_error;
        if training.is_empty() {
            return Err(Limit::Loads);
        }
        // Whether all are known as they are now.
        let mut known = false;
        loop {
            let left = (0..training.len()).filter(|&i| !training[i].tried && training[i].off.most() > bound);
            let by_error = |a: &usize, b: &usize| {
                training[*a].off.most().total_cmp(&training[*b].off.most()).then(b.cmp(a))
            };
            let Some(at) = left.max_by(by_error) else {
                if known {
                    return Ok(());
                }
                for case in training.iter_mut() {
                    case.off = self.off(model, case)?;
                }
                self.now.worst = training.iter().map(|case| case.off.most()).fold(0.0, f64::max);
                known = true;
                continue;
            };
            if !known {
                let before = training[at].off.most();
                training[at].off = self.off(model, &training[at])?;
                if training[at].off.most() < before {
                    continue;
                }
                self.now.worst = training[at].off.most();
            }
            let samples = model.samples().len();
            if samples >= self.sampling.most_samples {
                return Err(Limit::Samples);
            }
            training[at].tried = true;
            let added = model.add_state(&training[at].state, &training[at].loads).is_ok();
            self.unusable += usize::from(!added);
            training[at].off = self.off(model, &training[at])?;
            if added && training[at].off.most() > bound {
                *model = first(model, samples);
            } else {
                known = false;
            }
            self.now.samples = model.samples().len();
        }
    }

    /// Before an equilibrium is searched for.
    fn tell(&mut self) -> Result<(), Stopped> {
        let answer = (self.progress)(self.now);
        self.now.searched += 1;
        if answer.is_break() { Err(Stopped) } else { Ok(()) }
    }

    /// How far the blend is off under the load of a case.
    fn off(&mut self, model: &Model, case: &Case) -> Result<Off, Stopped> {
        self.tell()?;
        let mut simulation = model.simulate();
        for (effector, load) in self.mechanism.effector_ids().zip(&case.loads) {
            simulation.set_load(effector, *load).expect("a finite load");
        }
        if !simulation.settle(&StaticsSettings::default()).is_ok_and(|settled| settled.converged) {
            return Ok(Off::UNKNOWN);
        }
        let each = self.mechanism.effectors().iter().map(|Effector { body, frame, .. }| {
            let [one, two] = [simulation.link_pose(body.index()), case.state.poses[body.index()]];
            ((one * *frame).position - (two * *frame).position).norm() / model.constants.radius
        });
        let error = each.fold(0.0, f64::max);
        Ok(Off { error, estimate: simulation.estimate().expect("this engine has one") })
    }

    /// Random loads, forces and torques, at displacements up to the largest; what the blend is off by under each, if that
    /// is asked for. Those that were found before it was stopped are there.
    fn draw(
        &mut self,
        model: &Model,
        count: usize,
        cases: &mut Vec<Case>,
        asked: bool,
    ) -> Result<(), Stopped> {
        for k in 0..2 * count {
            if cases.len() == count {
                break;
            }
            let lever = if k % 2 == 0 { 0.0 } else { 0.3 * self.radius };
            let effectors = self.mechanism.effectors().len();
            let unit: Vec<Wrench> = (0..effectors)
                .map(|_| Wrench::new(direction(&mut self.random), direction(&mut self.random) * lever))
                .collect();
            let wanted = self.sampling.displacement * (0.25 + 0.75 * (cases.len() + 1) as f64 / count as f64);
            if let Some(mut case) = self.reach(model, &unit, wanted)? {
                if asked {
                    case.off = self.off(model, &case)?;
                }
                cases.push(case);
            }
        }
        Ok(())
    }

    /// The load along a direction under which an effector goes as far as wanted, or as far as it can before a joint
    /// meets its limit.
    fn reach(&mut self, model: &Model, unit: &[Wrench], wanted: f64) -> Result<Option<Case>, Stopped> {
        let Some(case) = self.find(model, unit, wanted)? else {
            self.out_of_reach += 1;
            return Ok(None);
        };
        // The same load, put on in steps.
        let mut state = self.rest.clone();
        for part in [0.25, 0.5, 0.75, 1.0] {
            let loads: Vec<Wrench> = case.loads.iter().map(|w| *w * part).collect();
            state = match self.settle(&state, &loads)? {
                Some(state) => state,
                None => {
                    self.snapped += 1;
                    return Ok(None);
                }
            };
        }
        let apart = |a: &State, b: &State| {
            let each = a.poses.iter().zip(&b.poses).map(|(a, b)| (a.position - b.position).norm());
            each.fold(0.0, f64::max) / self.radius
        };
        if apart(&state, &case.state) > APART {
            self.snapped += 1;
            return Ok(None);
        }
        Ok(Some(case))
    }

    fn find(&mut self, model: &Model, unit: &[Wrench], wanted: f64) -> Result<Option<Case>, Stopped> {
        let per_load = linear_displacement(model, unit);
        if per_load <= 0.0 {
            return Ok(None);
        }
        let mut scale = wanted / per_load;
        let most = LOCKED * scale;
        let (mut limited, mut failures) = (false, 0);
        for _ in 0..TRIES {
            let loads: Vec<Wrench> = unit.iter().map(|w| *w * scale).collect();
            let Some(state) = self.settle(&self.rest.clone(), &loads)? else {
                scale *= 0.7;
                failures += 1;
                if failures > FAILURES {
                    return Ok(None);
                }
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
                return Ok(Some(Case { loads, state, displacement, off: Off::UNKNOWN, tried: false }));
            }
            scale *= (wanted / displacement).clamp(0.3, 3.0);
            if scale > most {
                break;
            }
        }
        Ok(None)
    }

    /// The equilibrium of the mechanism under loads, from a state.
    fn settle(&mut self, from: &State, loads: &[Wrench]) -> Result<Option<State>, Stopped> {
        self.tell()?;
        let mut simulation = self.full.simulate();
        simulation.set_state(from).expect("it is a state of this mechanism");
        set_loads(&mut simulation, loads);
        let torques = loads.iter().any(|w| w.torque.norm() > 0.0);
        let found = simulation.settle(&StaticsSettings::default());
        let good = found.is_ok_and(|found| found.converged && (found.stable || torques));
        Ok(good.then(|| simulation.state().clone()))
    }

    /// The largest displacement of an effector from rest, in radii.
    fn displacement(&self, state: &State) -> f64 {
        let moved = self.mechanism.effectors().iter().map(|Effector { body, frame, .. }| {
            let [one, two] = [state, &self.rest].map(|state| state.poses[body.index()] * *frame);
            (one.position - two.position).norm()
        });
        moved.fold(0.0, f64::max) / self.radius
    }
}

/// The model with its first so many samples alone.
fn first(model: &Model, samples: usize) -> Model {
    let kept = model.samples()[..samples].iter().map(|s| (s.state().clone(), s.loads().to_vec()));
    Model::from_samples(model.mechanism(), *model.options(), kept).expect("they were samples before")
}

/// The errors under loads that were trained on and under others.
fn report(training: &[Case], testing: &[Case]) -> Outcome {
    let mut errors: Vec<f64> = testing.iter().map(|case| case.off.error).collect();
    errors.sort_by(f64::total_cmp);
    let worst = testing.iter().max_by(|a, b| a.off.error.total_cmp(&b.off.error));
    Outcome {
        estimate: match training {
            [] => f64::INFINITY,
            _ => training.iter().map(|case| case.off.estimate).fold(0.0, f64::max),
        },
        held_out: errors.last().copied().unwrap_or(f64::INFINITY),
        held_out_median: errors.get(errors.len() / 2).copied().unwrap_or(f64::INFINITY),
        worst_loads: worst.map_or(Vec::new(), |case| case.loads.clone()),
        worst_displacement: worst.map_or(0.0, |case| case.displacement),
        tested: errors.len(),
        out_of_reach: 0,
        snapped: 0,
        unusable: 0,
        limit: Limit::None,
    }
}

/// Loads along the three softest motions of the effectors at rest, of each part at the same time.
fn softest(model: &Model) -> Vec<Vec<Wrench>> {
    let most = 3;
    let mut directions = vec![vec![Wrench::ZERO; model.mechanism().effectors().len()]; most];
    let mut some = vec![false; most];
    for group in model.constants.groups.iter().filter(|group| group.m > 0) {
        let m = group.m;
        let C = DMatrix::from_column_slice(m, m, &group.matrices_of(0)[..m * m]);
        let SymmetricEigen { eigenvalues, eigenvectors } = eigen::sorted(C);
        let top = eigenvalues[0];
        for n in (0..m.min(most)).filter(|&n| eigenvalues[n] > 1e-6 * top) {
            some[n] = true;
            for (at, &e) in group.layout.effectors.iter().enumerate() {
                let Some(id) = model.effectors()[e].id else { continue };
                // The same displacement along each.
                let u = |i: usize| eigenvectors[(6 * at + i, n)] * top / eigenvalues[n];
                let R = group.poses_of(0)[at].rotation;
                directions[n][id.index()] = Wrench {
                    force: R * Vector3::new(u(0), u(1), u(2)) / model.constants.radius,
                    torque: R * Vector3::new(u(3), u(4), u(5)),
                };
            }
        }
    }
    directions.into_iter().zip(some).filter(|(_, some)| *some).map(|(d, _)| d).collect()
}

/// How far loads move an effector at most by the linear model of the first sample, in radii.
fn linear_displacement(model: &Model, loads: &[Wrench]) -> f64 {
    let mut furthest = 0.0f64;
    for group in &model.constants.groups {
        let m = group.m;
        let C = DMatrix::from_column_slice(m, m, &group.matrices_of(0)[..m * m]);
        let mut u = DVector::zeros(m);
        for (at, &e) in group.layout.effectors.iter().enumerate() {
            let Some(id) = model.effectors()[e].id else { continue };
            let turn = group.poses_of(0)[at].rotation.inverse();
            u.fixed_rows_mut::<3>(6 * at)
                .copy_from(&(turn * loads[id.index()].force * model.constants.radius));
            u.fixed_rows_mut::<3>(6 * at + 3).copy_from(&(turn * loads[id.index()].torque));
        }
        let moved = C * u;
        let each = (0..m / 6).map(|k| moved.fixed_rows::<3>(6 * k).norm());
        furthest = each.fold(furthest, f64::max);
    }
    furthest
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
