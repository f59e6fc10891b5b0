//! Blended models, made for a run.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use pliant::blended::{Doing, Limit, Model, Options, Outcome, Progress, SampleError, Sampling};
use pliant::engine::Warning;
use pliant::mechanism::Mechanism;
use pliant::shared::words::RADII;

use crate::failure::Failure;
use crate::mechanism::MechanismArgument;
use crate::output::{Format, count, quantity, radii};
use crate::progress::Bar;

/// Seconds that sampling may take unless something else is said.
pub const SECONDS: f64 = 60.0;

/// The part of the time that is for choosing samples; the rest is for telling their error.
const CHOOSING: f64 = 0.75;

/// A blended model, with what it was made for.
pub struct Blended {
    pub model: Model,
    /// The error that it was made for, over the radius.
    pub bound: f64,
    /// What would serve better.
    pub advice: Option<String>,
    pub warnings: Vec<Warning>,
}

impl Blended {
    /// One made for this run.
    pub fn of(
        mechanism: &Mechanism,
        argument: &MechanismArgument,
        format: Format,
    ) -> Result<Blended, Failure> {
        let start = Instant::now();
        let sampling = Sampling::default();
        let (model, outcome) = sample(&sampling, SECONDS, mechanism, Options::default(), argument, format)?;
        let advice = Some(format!(
            "building the {} of the blend took {}, for this run only: `pliant reduce` builds a reduced model once and saves it to a \
             file, to be given in place of the mechanism",
            count(model.samples().len(), "model"),
            quantity((start.elapsed().as_secs_f64() * 10.0).round() / 10.0, "s")
        ));
        let mut warnings = Vec::new();
        if outcome.limit != Limit::None {
            // Where it ended early the loads that it was tested with may show less than those that it ended at.
            let measure = outcome.held_out.max(outcome.estimate);
            let text = format!(
                "the blend is off by up to {} under the loads of its test, so the bound of {} may not hold: the limit is {}",
                radii(measure),
                radii(sampling.max_error),
                limit(&outcome.limit).map_or("unknown", |(_, what)| what)
            );
            warnings.push(Warning { kind: "samples", measure, unit: RADII, text });
        }
        Ok(Blended { model, bound: sampling.max_error, advice, warnings })
    }
}

/// Chooses samples within so many seconds, with a bar for people.
pub fn sample(
    sampling: &Sampling,
    seconds: f64,
    mechanism: &Mechanism,
    options: Options,
    argument: &MechanismArgument,
    format: Format,
) -> Result<(Model, Outcome), Failure> {
    let clock = Clock::new(seconds);
    let mut bar = Bar::of_time(format, clock.most);
    let told = |progress: Progress| {
        bar.update(clock.start.elapsed().as_millis() as u64, Instant::now());
        bar.say(|| said(&progress));
        clock.allows(&progress)
    };
    sampling.run(mechanism, options, told).map_err(|error| refused(argument, error))
}

/// What goes on, for people.
fn said(progress: &Progress) -> String {
    let doing = match progress.doing {
        Doing::Seeding => "seeding",
        Doing::Searching => "searching",
        Doing::Checking => "checking",
    };
    let off = if progress.worst.is_finite() {
        format!(", off by {}", radii(progress.worst))
    } else {
        String::new()
    };
    format!("{doing}: {}, {}{off}", count(progress.samples, "model"), many_equilibria(progress.searched))
}

fn many_equilibria(n: usize) -> String {
    if n == 1 { "1 equilibrium".into() } else { format!("{n} equilibria") }
}

/// The time that sampling has.
pub struct Clock {
    start: Instant,
    most: Duration,
}

impl Clock {
    /// From now on.
    pub fn new(seconds: f64) -> Clock {
        // More than what a duration holds is for ever.
        Clock { start: Instant::now(), most: Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX) }
    }

    /// Whether there is time for what is being done.
    pub fn allows(&self, progress: &Progress) -> ControlFlow<()> {
        let part = if progress.doing == Doing::Checking { 1.0 } else { CHOOSING };
        match self.start.elapsed().as_secs_f64() < part * self.most.as_secs_f64() {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        }
    }
}

/// Why there is no blended model.
fn refused(argument: &MechanismArgument, error: SampleError) -> Failure {
    match error {
        SampleError::Linearisation(error) => argument.unreduced_to_effectors(error),
        error => Failure::job(format!(
            "there is no blended model, as its first sample is the equilibrium without loads on the effectors: {error}"
        )),
    }
}

/// A limit's name in JSON, and what it is, with what would help.
pub fn limit(limit: &Limit) -> Option<(&'static str, &'static str)> {
    match limit {
        Limit::None => None,
        Limit::Samples => Some(("models", "the number of models")),
        Limit::Stopped => Some(("time", "the time")),
        Limit::Rest => Some((
            "rest",
            "a load at which an additional sample does not help, because the blend or the mechanism has no equilibrium there",
        )),
        Limit::Another => Some((
            "another",
            "a load at which an additional sample does not help, because the mechanism has several equilibria there, and the blend \
             settles at a different one",
        )),
        Limit::Loads => Some((
            "loads",
            "the mechanism: no load that was tried moves an effector that far; it locks, reaches a joint's limit, snaps through or has \
             no equilibrium before",
        )),
    }
}
