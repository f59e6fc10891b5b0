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

mod drawing;
mod equilibria;
mod training;

use super::model::Model;
use super::reduction::{Reduction, independent_motions};
use crate::engine::{Simulation as _, State, StaticsError, StaticsSettings};
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

/// Loads that a model with every motion, which is exact, is tested with; with more motions than the second it is not tested.
const LOADS_OF_EVERY: usize = 10;
const MOST_TESTED: usize = 32;

/// With so many motions of the freedoms nothing is gained.
const NEARLY_ALL: f64 = 0.75;

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
}

impl Case {
    fn new(loads: Vec<Wrench>) -> Case {
        Case { loads, state: None, truth: None, off: f64::INFINITY, displacement: 0.0, hopeless: false }
    }
}
