//! Motions chosen until an error is met.
//!
//! 1. Those of [`Reduction`]: shapes of the effectors, the sag, modes.
//! 2. Loads to choose by: those of the scene, pairs of equal and opposite ones along the principal compliances of every
//!    effector, and random ones on all. Where the equilibrium on the motions is furthest from that of the mechanism, by one
//!    Newton step of the full statics, what the full statics find there beyond the motions, θ − θ_ref − Θy, is one motion
//!    more; until the step is short under all of them.
//! 3. Other random loads, which nothing was chosen by, show the error against the full statics. Those that are beyond the
//!    bound join those of 2, and new ones are drawn, until all are within it.
//!
//! A mechanism whose few freedoms leave nothing to reduce keeps every motion, and so does one without an equilibrium to choose
//! at. There is nothing to choose then: a few loads show that it is exact. Loads that the full statics do not solve, or that have several equilibria, are left out and listed.

use nalgebra::{DMatrix, SymmetricEigen, Vector3};

use super::model::Model;
use super::reduction::{Reduction, independent_motions};
use super::simulation::Simulation;
use crate::algebra::dense::eigen;
use crate::engine::{Inputs, Simulation as _, State, StaticsError, StaticsSettings};
use crate::full;
use crate::joints::JointKind;
use crate::linear::ReductionError;
use crate::mechanism::{JointDescription, Mechanism};
use crate::numbers::Numbers;
use crate::spatial::Wrench;

/// What is asked for.
///
/// ```
/// use pliant_core::gallery;
/// use pliant_core::reduced::{Limit, Sampling};
///
/// let mechanism = gallery::helix(50);
/// let sampling = Sampling { max_error: 0.001, ..Sampling::default() };
/// let (model, outcome) = sampling.run(&mechanism, |_| ())?;
/// assert_eq!(outcome.limit, Limit::None); // the bound was met
/// assert!(outcome.held_out <= 0.001); // in radii, under loads that nothing was chosen by
/// assert!(model.motions() < model.freedoms());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sampling {
    /// Largest error of a link or an effector at rest, in radii.
    pub max_error: f64,
    /// Displacement of the effectors that loads go up to, in radii.
    pub displacement: f64,
    /// Modes with the effectors held are kept up to this frequency, Hz; `None`: the eight slowest.
    pub frequency: Option<f64>,
    /// Random loads to choose by at first, and to test with.
    pub loads: usize,
    /// Searches for an equilibrium, of the mechanism or on the motions, at most.
    pub most_equilibria: usize,
    /// Random loads are the same for the same seed.
    pub seed: u64,
}

impl Default for Sampling {
    fn default() -> Sampling {
        Sampling {
            max_error: 0.01,
            displacement: 1.0,
            frequency: None,
            loads: 50,
            most_equilibria: 20_000,
            seed: 1,
        }
    }
}

/// What is being done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doing {
    /// Loads are drawn to choose by.
    Drawing,
    /// Motions are added.
    Choosing,
    /// Other loads show the error.
    Testing,
}

/// How far it has come: reported before every search for an equilibrium.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// What is being done.
    pub doing: Doing,
    /// Motions so far.
    pub motions: usize,
    /// Equilibria searched for so far.
    pub searched: usize,
    /// The worst error that is known under the loads chosen by, in radii; infinite before there is any.
    pub worst: f64,
}

/// What limits the error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Nothing: it is within the bound.
    None,
    /// The number of equilibria that may be searched for.
    Equilibria,
    /// A load under which a motion of its own did not help.
    Stalled,
}

/// Why every motion is kept.
#[derive(Clone, Debug, PartialEq)]
pub enum Every {
    /// The freedoms are so few that nothing is reduced.
    Few,
    /// Without loads the mechanism has no equilibrium to choose at, for this reason.
    Restless(String),
    /// Under no load could an error be found: none that was tried moves an effector as far as asked and has an equilibrium, or
    /// too few equilibria could be searched for.
    Untested,
}

/// What came out.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The loads on the effectors whose equilibria gave motions, world axes, dead.
    pub samples: Vec<Vec<Wrench>>,
    /// The worst estimate of the error under the loads chosen by, in radii. Zero if none could be tried; every motion is
    /// kept then.
    pub error: f64,
    /// The worst true error under loads that nothing was chosen by, in radii. Zero if there were none, or so many motions
    /// that they are not tested; every motion is kept then.
    pub held_out: f64,
    /// The median of these errors.
    pub held_out_median: f64,
    /// How many loads were tested with, and under how many of these the error is within the bound.
    pub tested: usize,
    /// See `tested`.
    pub within: usize,
    /// The load of the worst, and how far it moves an effector, in radii.
    pub worst_loads: Vec<Wrench>,
    /// See `worst_loads`.
    pub worst_displacement: f64,
    /// Loads left out because the full statics do not converge under them.
    pub unsolved: Vec<Vec<Wrench>>,
    /// Loads left out because the search for an equilibrium on the motions does not converge under them, where that of the
    /// mechanism does.
    pub unsettled: Vec<Vec<Wrench>>,
    /// Loads left out because they have several equilibria, and the motions lead to another than the full statics.
    pub several: Vec<Vec<Wrench>>,
    /// Directions left out because no load along them moves an effector as far as it should.
    pub out_of_reach: usize,
    /// Equilibria searched for.
    pub searched: usize,
    /// Why every motion is kept, if it is.
    pub every: Option<Every>,
    /// What limits the error.
    pub limit: Limit,
}

/// Modes that are kept where no frequency is given.
const MODES: usize = 8;

/// Motions are chosen to this part of the bound, so that loads between are within it.
const AIM: f64 = 0.5;

/// Displacement of the pairs, over the largest, and how much stiffer than the softest direction the stiffest is.
const PAIRS: [f64; 2] = [0.5, 1.0];
const STIFFEST: f64 = 40.0;

/// How often the load of a pair is halved.
const HALVES: usize = 4;

/// Random loads move an effector by this part of the largest displacement at least.
const LEAST: f64 = 0.2;

/// Loads tried for a wanted displacement, and how near to it is near enough; so many times the load of a linear mechanism are
/// too many.
const TRIES: usize = 12;
const NEAR: f64 = 0.1;
const LOCKED: f64 = 40.0;

/// Newton iterations of an equilibrium on the motions.
const ITERATIONS: usize = 40;

/// Torques of random loads over their forces, in radii.
const LEVER: f64 = 0.3;

/// The part of the equilibria that is for choosing motions; the rest shows their error.
const CHOOSING: f64 = 0.75;

/// Loads that a model with every motion, which is exact, is tested with; with more motions than the second it is not tested. Where there is no
/// equilibrium under a load, this part of it is tried next, and this for other models, whose largest loads count.
const LOADS_OF_EVERY: usize = 10;
const MOST_TESTED: usize = 32;
const LESS_OF_EVERY: f64 = 0.3;
const LESS: f64 = 0.7;

/// A joint that rests as near to a limit, rad or radii, rests on it; the limit then does not bound loads.
const ON_LIMIT: f64 = 1e-3;

/// With so many motions of the freedoms nothing is gained.
const NEARLY_ALL: f64 = 0.75;

/// A motion that leaves more than this of the error does not help.
const HELPS: f64 = 0.9;

/// The number of independent motions of a mechanism's joints, if it is so small, or its effectors are so many, that nothing is
/// reduced: the articulated engine is faster then, and exact.
pub fn too_few_to_reduce(mechanism: &Mechanism) -> Option<usize> {
    independent_motions(mechanism).ok().filter(|motions| *motions <= 6 * mechanism.effectors().len())
}

impl Sampling {
    /// Chooses motions. `progress` is called before every search for an equilibrium. A free base is held where it starts.
    pub fn run(
        &self,
        mechanism: &Mechanism,
        mut progress: impl FnMut(Progress),
    ) -> Result<(Model, Outcome), ReductionError> {
        let positive = |x: f64| x > 0.0 && x.is_finite();
        let good = positive(self.max_error) && positive(self.displacement);
        if !good || !self.frequency.is_none_or(|f| f >= 0.0 && f.is_finite()) || self.loads == 0 {
            return Err(ReductionError::Options(
                "the error and the displacement must be above zero, the frequency zero or above, and loads one or more"
                    .into(),
            ));
        }
        if mechanism.effectors().is_empty() {
            return Err(ReductionError::NoEffector { mechanism: mechanism.name().into() });
        }
        let held = held(mechanism)?;
        let all = independent_motions(&held)?;
        let too_few = too_few_to_reduce(mechanism).is_some();
        let mut model = match too_few {
            true => Model::every_motion(&held)?,
            false => {
                let choice = Reduction::at_rest(&held).unloaded();
                self.frequency.map_or(choice.clone().modes(MODES), |f| choice.modes_below(f)).build()?
            }
        };
        // Motions are only added: what is nearly all from the start is so at the end.
        let small = too_few || model.motions() as f64 > NEARLY_ALL * all as f64;
        if small && !too_few {
            model = Model::every_motion(&held)?;
        }
        if small && all > MOST_TESTED {
            let outcome = Outcome { every: Some(Every::Few), ..Outcome::none() };
            return Ok((Model::from_columns(mechanism, &model.columns())?, outcome));
        }
        let mut search = Search {
            sampling: *self,
            radius: if held.radius() > 0.0 { held.radius() } else { 1.0 },
            all,
            full: full::Model::new(&held),
            rest: State::at_rest(&held),
            tangent: None,
            random: Numbers(self.seed),
            now: Progress {
                doing: Doing::Drawing,
                motions: model.motions(),
                searched: 0,
                worst: f64::INFINITY,
            },
            progress: &mut progress,
            outcome: Outcome::none(),
            mechanism: held,
            model,
        };
        search.outcome.every = small.then_some(Every::Few);
        match search.come_to_rest() {
            Ok(()) => search.choose()?,
            Err(error) => search.keep_every(Every::Restless(error.to_string()))?,
        }
        let Search { model, mut outcome, now, .. } = search;
        outcome.searched = now.searched;
        // The same coordinates, whether the base is held or not.
        let model = Model::from_columns(mechanism, &model.columns())?;
        Ok((model, outcome))
    }
}

impl Outcome {
    fn none() -> Outcome {
        Outcome {
            samples: Vec::new(),
            error: 0.0,
            held_out: 0.0,
            held_out_median: 0.0,
            tested: 0,
            within: 0,
            worst_loads: Vec::new(),
            worst_displacement: 0.0,
            unsolved: Vec::new(),
            unsettled: Vec::new(),
            several: Vec::new(),
            out_of_reach: 0,
            searched: 0,
            every: None,
            limit: Limit::None,
        }
    }
}

/// The mechanism with its free bases held where they are. Coordinates are the same: a joint without any comes last.
fn held(mechanism: &Mechanism) -> Result<Mechanism, ReductionError> {
    let free: Vec<_> = mechanism.bodies().iter().filter(|body| body.free).collect();
    if free.is_empty() {
        return Ok(mechanism.clone());
    }
    let mut builder = mechanism.to_builder();
    for body in free {
        let mut name = format!("base {}", body.name);
        while mechanism.find_joint(&name).is_some() {
            name.push('\'');
        }
        let mut joint = JointDescription::new(name, JointKind::Fixed, "world", body.name.as_str());
        joint.frame = body.pose;
        builder.joint(joint);
        builder.body_mut(&body.name).expect("a body of this mechanism").free = false;
    }
    builder.build().map_err(|error| ReductionError::Options(format!("its base cannot be held: {error}")))
}

/// A load, and the equilibria under it.
struct Case {
    loads: Vec<Wrench>,
    /// On the motions.
    state: Option<State>,
    /// Of the mechanism, where it is known.
    truth: Option<State>,
    /// How far these are apart, or how long the Newton step is, in radii; infinite where the motions find no rest.
    off: f64,
    displacement: f64,
    /// Whether a motion of its own does not help.
    hopeless: bool,
}

/// There were as many equilibria as there may be.
struct Spent;

struct Search<'a> {
    sampling: Sampling,
    mechanism: Mechanism,
    radius: f64,
    /// Independent motions.
    all: usize,
    full: full::Model,
    /// The equilibrium without loads.
    rest: State,
    tangent: Option<full::Tangent>,
    model: Model,
    random: Numbers,
    now: Progress,
    progress: &'a mut dyn FnMut(Progress),
    outcome: Outcome,
}

impl Search<'_> {
    /// Finds the equilibrium without loads, and the tangent there.
    fn come_to_rest(&mut self) -> Result<(), StaticsError> {
        let _ = self.count();
        let mut full = self.full.simulate();
        if !full.settle(&StaticsSettings::default())?.converged {
            return Err(StaticsError::Failed("the search for it does not converge".into()));
        }
        self.tangent = Some(full.tangent()?);
        self.rest = full.state().clone();
        Ok(())
    }

    fn choose(&mut self) -> Result<(), ReductionError> {
        let mut cases = Vec::new();
        let mut spent = false;
        if self.outcome.every.is_some() {
            self.sampling.loads = self.sampling.loads.min(LOADS_OF_EVERY);
        } else {
            spent |= self.first_loads(&mut cases).is_err();
            spent |= self.draw(self.sampling.loads, &mut cases).is_err();
        }
        loop {
            let before = self.model.motions();
            self.now.doing = Doing::Choosing;
            spent |= self.train(&mut cases).is_err();
            if self.outcome.every.is_none() && self.model.motions() as f64 > NEARLY_ALL * self.all as f64 {
                self.model = Model::every_motion(&self.mechanism)?;
                self.outcome.every = Some(Every::Few);
                self.now.motions = self.model.motions();
                spent |= self.ask_all(&mut cases).is_err();
            }
            self.now.doing = Doing::Testing;
            let mut others = Vec::new();
            spent |= self.test(&mut others).is_err();
            self.report(&mut cases, &others);
            let bound = self.sampling.max_error;
            let beyond = others.iter().any(|case| case.off > bound)
                || self.outcome.error > bound
                || (self.outcome.every.is_none() && !self.outcome.unsettled.is_empty());
            if self.outcome.tested == 0 {
                return self.keep_every(Every::Untested);
            }
            self.outcome.limit = match (beyond, spent) {
                (false, _) => Limit::None,
                (true, true) => Limit::Equilibria,
                (true, false) => Limit::Stalled,
            };
            let stalled = self.model.motions() == before
                && !others.iter().any(|case| !case.hopeless && case.off > AIM * bound);
            if !beyond || spent || stalled || self.outcome.every.is_some() {
                return Ok(());
            }
            cases.extend(others);
        }
    }

    /// Keeps every motion: exact, whatever acts.
    fn keep_every(&mut self, why: Every) -> Result<(), ReductionError> {
        self.model = Model::every_motion(&self.mechanism)?;
        let Outcome { unsolved, unsettled, several, out_of_reach, .. } = self.outcome.clone();
        let every = Some(why);
        self.outcome = Outcome { unsolved, unsettled, several, out_of_reach, every, ..Outcome::none() };
        self.now.motions = self.model.motions();
        Ok(())
    }

    /// The loads of the scene, and pairs along the principal compliances of every effector.
    fn first_loads(&mut self, cases: &mut Vec<Case>) -> Result<(), Spent> {
        let none = vec![Wrench::ZERO; self.mechanism.effectors().len()];
        if !self.mechanism.loads().is_empty() {
            let mut inputs = Inputs::new(&self.mechanism);
            inputs.add_scene_loads();
            cases.push(Case::new(inputs.effector_loads));
        }
        for e in 0..none.len() {
            // Translations in radii: C of forces times the radius and torques.
            let Some(C) = self.compliance(e) else { continue };
            let SymmetricEigen { eigenvalues, eigenvectors } = eigen::sorted(C);
            let softest = eigenvalues[0];
            for k in (0..6).filter(|&k| eigenvalues[k] * STIFFEST > softest && eigenvalues[k] > 0.0) {
                let u = eigenvectors.column(k);
                let unit =
                    Wrench::new(Vector3::new(u[0], u[1], u[2]) / self.radius, Vector3::new(u[3], u[4], u[5]));
                for part in PAIRS.into_iter().flat_map(|part| [part, -part]) {
                    let mut loads = none.clone();
                    loads[e] = unit * (part * self.sampling.displacement / eigenvalues[k]);
                    cases.extend(self.within_reach(loads)?);
                }
            }
        }
        Ok(())
    }

    /// A load, or half, a quarter or an eighth of it: as much as does not move an effector further than asked, on the motions.
    fn within_reach(&mut self, mut loads: Vec<Wrench>) -> Result<Option<Case>, Spent> {
        for _ in 0..HALVES {
            if let Some(state) = self.rest_from(&self.rest.clone(), &loads)? {
                let displacement = self.displacement(&state);
                if displacement < (1.0 + NEAR) * self.sampling.displacement {
                    return Ok(Some(Case { state: Some(state), displacement, ..Case::new(loads) }));
                }
            }
            loads.iter_mut().for_each(|load| *load = *load * 0.5);
        }
        Ok(None)
    }

    /// The compliance of an effector at rest, world axes, translations in radii.
    fn compliance(&mut self, e: usize) -> Option<DMatrix<f64>> {
        let effector = &self.mechanism.effectors()[e];
        let pose = self.rest.poses[effector.body.index()];
        let arm = (pose * effector.frame).position - pose.position;
        let r = self.radius;
        let tangent = self.tangent.as_mut()?;
        let mut C = DMatrix::zeros(6, 6);
        for k in 0..6 {
            let unit = Vector3::from_fn(|i, _| f64::from(i == k % 3));
            let load = match k < 3 {
                true => Wrench::new(unit / r, arm.cross(&unit) / r),
                false => Wrench::new(Vector3::zeros(), unit),
            };
            let moved = tangent.displacement(&[(effector.body, load)]).ok()?[effector.body.index()];
            let v = (moved.linear + moved.angular.cross(&arm)) / r;
            C.fixed_view_mut::<3, 1>(0, k).copy_from(&v);
            C.fixed_view_mut::<3, 1>(3, k).copy_from(&moved.angular);
        }
        let C = (&C + C.transpose()) * 0.5;
        C.iter().all(|x| x.is_finite()).then_some(C)
    }

    /// How far loads move an effector at most by the tangent at rest, in radii.
    fn linear_displacement(&mut self, loads: &[Wrench]) -> f64 {
        let Some(tangent) = self.tangent.as_mut() else { return 0.0 };
        let effectors = self.mechanism.effectors();
        let arm = |e: &crate::mechanism::Effector| {
            let pose = self.rest.poses[e.body.index()];
            (pose * e.frame).position - pose.position
        };
        let on_bodies: Vec<_> = (effectors.iter().zip(loads))
            .map(|(e, w)| (e.body, Wrench::new(w.force, w.torque + arm(e).cross(&w.force))))
            .collect();
        let Ok(moved) = tangent.displacement(&on_bodies) else { return 0.0 };
        let each = effectors.iter().map(|e| {
            let twist = moved[e.body.index()];
            (twist.linear + twist.angular.cross(&arm(e))).norm()
        });
        each.fold(0.0, f64::max) / self.radius
    }

    /// Random loads, forces and torques on all effectors.
    fn draw(&mut self, count: usize, cases: &mut Vec<Case>) -> Result<(), Spent> {
        let (mut found, effectors) = (0, self.mechanism.effectors().len());
        for k in 0..2 * count {
            if found == count {
                break;
            }
            let lever = if k % 2 == 0 { 0.0 } else { LEVER * self.radius };
            let unit: Vec<Wrench> = (0..effectors)
                .map(|_| Wrench::new(self.random.direction(), self.random.direction() * lever))
                .collect();
            let part = LEAST + (1.0 - LEAST) * (found + 1) as f64 / count as f64;
            match self.reach(&unit, part * self.sampling.displacement)? {
                Some(case) => {
                    cases.push(case);
                    found += 1;
                }
                None => self.outcome.out_of_reach += 1,
            }
        }
        Ok(())
    }

    /// The load along a direction under which an effector goes as far as wanted on the motions, or as far as it can before a
    /// joint meets its limit, it locks, or the search for an equilibrium fails.
    fn reach(&mut self, unit: &[Wrench], wanted: f64) -> Result<Option<Case>, Spent> {
        let per_load = self.linear_displacement(unit);
        if !(per_load > 0.0 && per_load.is_finite()) {
            return Ok(None);
        }
        let mut scale = wanted / per_load;
        let most = LOCKED * scale;
        let (mut limited, mut last) = (false, self.rest.clone());
        let mut furthest: Option<Case> = None;
        for _ in 0..TRIES {
            let loads: Vec<Wrench> = unit.iter().map(|w| *w * scale).collect();
            let Some(state) = self.rest_on_motions(&last, &loads)? else {
                scale *= if self.outcome.every.is_some() { LESS_OF_EVERY } else { LESS };
                continue;
            };
            last.clone_from(&state);
            let displacement = self.displacement(&state);
            if !self.within_limits(&state) {
                scale *= 0.8;
                limited = true;
                continue;
            }
            let case = Case { state: Some(state), displacement, ..Case::new(loads) };
            if limited || (displacement / wanted - 1.0).abs() < NEAR {
                return Ok(Some(case));
            }
            let before = furthest.as_ref().map_or(LEAST * wanted, |case| case.displacement);
            if displacement > before && displacement < wanted {
                furthest = Some(case);
            }
            scale *= (wanted / displacement).clamp(0.3, 3.0);
            if scale > most {
                break;
            }
        }
        Ok(furthest)
    }

    /// Whether no joint has passed a limit that it does not rest on.
    fn within_limits(&self, state: &State) -> bool {
        self.mechanism.joints().iter().all(|joint| {
            joint.coordinates().zip(&joint.freedoms).enumerate().all(|(k, (at, f))| {
                let near = if k < joint.kind.translations() { ON_LIMIT * self.radius } else { ON_LIMIT };
                let (q, rest) = (state.coordinates[at], self.rest.coordinates[at]);
                (q >= f.lower || rest <= f.lower + near) && (q <= f.upper || rest >= f.upper - near)
            })
        })
    }

    /// Adds motions where the error is largest, until it is within the aim under all loads.
    ///
    /// What is known of a load is what it was when it was last asked for: only the worst is asked for again before it gives a
    /// motion, and all when none seems to be left.
    fn train(&mut self, cases: &mut Vec<Case>) -> Result<(), Spent> {
        let aim = AIM * self.sampling.max_error;
        let mut known = false;
        loop {
            let left = (0..cases.len()).filter(|&i| !cases[i].hopeless && cases[i].off > aim);
            let worst = left.max_by(|a, b| cases[*a].off.total_cmp(&cases[*b].off).then(b.cmp(a)));
            let Some(at) = worst else {
                if known {
                    return Ok(());
                }
                self.ask_all(cases)?;
                known = true;
                continue;
            };
            if !known {
                let before = cases[at].off;
                self.ask(&mut cases[at])?;
                if cases[at].off < before {
                    continue;
                }
            }
            self.now.worst = cases[at].off;
            if cases[at].truth.is_none() {
                let near = cases[at].state.clone();
                let loads = cases[at].loads.clone();
                let truth = match near {
                    Some(near) => self.rest_of_mechanism(&near, &loads)?,
                    None => None,
                };
                cases[at].truth = match truth {
                    Some(truth) => Some(truth),
                    None => self.rest_of_mechanism(&self.rest.clone(), &loads)?,
                };
            }
            let Some(truth) = &cases[at].truth else {
                let case = cases.remove(at);
                self.outcome.unsolved.push(case.loads);
                continue;
            };
            let from = cases[at].state.as_ref().unwrap_or(&self.rest);
            let beyond: Vec<f64> =
                truth.coordinates.iter().zip(&from.coordinates).map(|(a, b)| a - b).collect();
            let before = cases[at].off;
            match self.model.with_motion(&beyond) {
                Some(model) => {
                    self.model = model;
                    self.now.motions = self.model.motions();
                    self.outcome.samples.push(cases[at].loads.clone());
                    self.ask(&mut cases[at])?;
                    cases[at].hopeless = cases[at].off.is_infinite() || cases[at].off > HELPS * before;
                    known = false;
                }
                None => cases[at].hopeless = true,
            }
        }
    }

    fn ask_all(&mut self, cases: &mut [Case]) -> Result<(), Spent> {
        cases.iter_mut().try_for_each(|case| self.ask(case))?;
        self.now.worst = cases.iter().map(|case| case.off).fold(0.0, f64::max);
        Ok(())
    }

    /// How far the motions are off under the load of a case.
    fn ask(&mut self, case: &mut Case) -> Result<(), Spent> {
        let last = case.state.as_ref().unwrap_or(&self.rest).clone();
        case.state = self.rest_on_motions(&last, &case.loads)?;
        if let (None, Some(truth)) = (&case.state, &case.truth) {
            case.state = self.rest_from(truth, &case.loads)?;
        }
        let Some(state) = &case.state else {
            case.off = f64::INFINITY;
            return Ok(());
        };
        let mut inputs = Inputs::new(&self.mechanism);
        inputs.effector_loads.clone_from(&case.loads);
        case.off = self.full.distance(state, &inputs).unwrap_or(f64::INFINITY);
        if let Some(truth) = &case.truth {
            case.off = case.off.max(self.apart(state, truth));
        }
        Ok(())
    }

    /// Loads that nothing was chosen by, with how far the motions are from the full statics.
    fn test(&mut self, others: &mut Vec<Case>) -> Result<(), Spent> {
        let mut drawn = Vec::new();
        let ended = self.draw(self.sampling.loads, &mut drawn);
        for mut case in drawn {
            let own = case.state.clone().expect("it was drawn with it");
            let Some(truth) = self.rest_of_mechanism(&self.rest.clone(), &case.loads)? else {
                self.outcome.unsolved.push(case.loads);
                continue;
            };
            case.off = self.apart(&own, &truth);
            if case.off > self.sampling.max_error {
                // Another equilibrium than that of the start is no error of the motions, if it is one of the mechanism.
                let near = self.rest_of_mechanism(&own, &case.loads)?;
                if near.is_some_and(|near| self.apart(&own, &near) < 0.1 * case.off) {
                    self.outcome.several.push(case.loads);
                    continue;
                }
            }
            case.displacement = self.displacement(&truth);
            case.truth = Some(truth);
            others.push(case);
        }
        ended
    }

    fn report(&mut self, cases: &mut Vec<Case>, others: &[Case]) {
        let outcome = &mut self.outcome;
        let (restless, known) = std::mem::take(cases).into_iter().partition(|case| case.off.is_infinite());
        *cases = known;
        outcome.unsettled.extend(restless.into_iter().map(|case: Case| case.loads));
        let mut errors: Vec<f64> = others.iter().map(|case| case.off).collect();
        errors.sort_by(f64::total_cmp);
        outcome.error = cases.iter().map(|case| case.off).fold(0.0, f64::max);
        outcome.held_out = errors.last().copied().unwrap_or(0.0);
        outcome.held_out_median = errors.get(errors.len() / 2).copied().unwrap_or(0.0);
        outcome.tested = errors.len();
        outcome.within = errors.iter().filter(|error| **error <= self.sampling.max_error).count();
        if let Some(worst) = others.iter().max_by(|a, b| a.off.total_cmp(&b.off)) {
            (outcome.worst_loads, outcome.worst_displacement) = (worst.loads.clone(), worst.displacement);
        }
    }

    /// Before an equilibrium is searched for.
    fn count(&mut self) -> Result<(), Spent> {
        (self.progress)(self.now);
        let part = if self.now.doing == Doing::Testing { 1.0 } else { CHOOSING };
        if self.now.searched as f64 >= part * self.sampling.most_equilibria as f64 {
            return Err(Spent);
        }
        self.now.searched += 1;
        Ok(())
    }

    /// The equilibrium on the motions, from the nearest that they have to a state.
    fn rest_from(&mut self, from: &State, loads: &[Wrench]) -> Result<Option<State>, Spent> {
        self.count()?;
        let mut simulation = self.model.simulate();
        let mut from = from.clone();
        from.private.clear(); // of other motions
        simulation.set_state(&from).expect("it is a state of this mechanism");
        Ok(settle(&mut simulation, loads))
    }

    /// The same, or from the start.
    fn rest_on_motions(&mut self, from: &State, loads: &[Wrench]) -> Result<Option<State>, Spent> {
        if let Some(state) = self.rest_from(from, loads)? {
            return Ok(Some(state));
        }
        self.count()?;
        Ok(settle(&mut self.model.simulate(), loads))
    }

    /// The equilibrium of the mechanism under loads, from a state.
    fn rest_of_mechanism(&mut self, from: &State, loads: &[Wrench]) -> Result<Option<State>, Spent> {
        self.count()?;
        let mut simulation = self.full.simulate();
        let mut from = from.clone();
        from.private.clear();
        if simulation.set_state(&from).is_err() {
            return Ok(None);
        }
        simulation.inputs_mut().effector_loads.copy_from_slice(loads);
        let found = simulation.settle(&StaticsSettings::default());
        Ok(found.is_ok_and(|found| found.converged).then(|| simulation.state().clone()))
    }

    /// How far links and effectors of two states are apart at most, in radii.
    fn apart(&self, a: &State, b: &State) -> f64 {
        let links = a.poses.iter().zip(&b.poses).map(|(a, b)| (a.position - b.position).norm());
        let effectors = self.mechanism.effectors().iter().map(|e| {
            let [a, b] = [a, b].map(|state| (state.poses[e.body.index()] * e.frame).position);
            (a - b).norm()
        });
        links.chain(effectors).fold(0.0, f64::max) / self.radius
    }

    /// The largest displacement of an effector from rest, in radii.
    fn displacement(&self, state: &State) -> f64 {
        let moved = self.mechanism.effectors().iter().map(|e| {
            let [a, b] = [state, &self.rest].map(|state| (state.poses[e.body.index()] * e.frame).position);
            (a - b).norm()
        });
        moved.fold(0.0, f64::max) / self.radius
    }
}

/// The equilibrium under loads.
fn settle(simulation: &mut Simulation, loads: &[Wrench]) -> Option<State> {
    simulation.inputs_mut().effector_loads.copy_from_slice(loads);
    let settings = StaticsSettings { iterations: ITERATIONS, ..StaticsSettings::default() };
    let found = simulation.settle(&settings);
    found.is_ok_and(|found| found.converged).then(|| simulation.state().clone())
}

impl Case {
    fn new(loads: Vec<Wrench>) -> Case {
        Case { loads, state: None, truth: None, off: f64::INFINITY, displacement: 0.0, hopeless: false }
    }
}
