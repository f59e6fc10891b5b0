//! Blended models: that of a model file, or one made for this run.

use std::time::Instant;

use pliant::blended::{Limit, Model, Options, Outcome, SampleError, Sampling, Stage};
use pliant::mechanism::Mechanism;

use crate::failure::Failure;
use crate::mechanism::{MechanismArgument, Source};
use crate::output::{Format, count, quantity};
use crate::progress::Bar;

/// A blended model, with what it was made for.
pub struct Blended<'m> {
    /// The model.
    pub model: Model<'m>,
    /// The error that it was made for, over the radius; of a model that nobody sampled, none.
    bound: Option<f64>,
    /// What to tell of it.
    pub warnings: Vec<String>,
}

impl<'m> Blended<'m> {
    /// That of the model file, or one made for this run.
    pub fn of(
        source: &'m Source,
        argument: &MechanismArgument,
        format: Format,
    ) -> Result<Blended<'m>, Failure> {
        if let Some(file) = source.model() {
            let model = file.model().map_err(|error| refused(argument, error))?;
            let bound = file.report.as_ref().map(|(sampling, _)| sampling.max_error);
            return Ok(Blended { model, bound, warnings: Vec::new() });
        }
        let start = Instant::now();
        let sampling = Sampling::default();
        let (model, outcome) = sample(&sampling, source.mechanism(), Options::default(), argument, format)?;
        let mut warnings = vec![format!(
            "the {} of the blend took {} to make: `pliant reduce` makes them once for all, in a file to be named in \
             place of the mechanism",
            count(model.samples().len(), "model"),
            quantity((start.elapsed().as_secs_f64() * 10.0).round() / 10.0, "s")
        )];
        if outcome.limit != Limit::None {
            warnings.push(format!(
                "the blend is off by up to {} under loads that it was not made with, more than the {} that it was \
                 meant for",
                radii(outcome.held_out),
                radii(sampling.max_error)
            ));
        }
        Ok(Blended { model, bound: Some(sampling.max_error), warnings })
    }

    /// What to tell of a pose whose estimate is beyond what the model was made for.
    pub fn beyond(&self, estimate: f64) -> Option<String> {
        let bound = self.bound.filter(|bound| estimate > *bound)?;
        Some(format!(
            "the pose is off by about {}, more than the {} that the model was made for: loads or set-points are beyond \
             those of its samples; make one with a larger --displacement, or use `live`",
            radii(estimate),
            radii(bound)
        ))
    }
}

/// Chooses samples, with a bar for people.
pub fn sample<'m>(
    sampling: &Sampling,
    mechanism: &'m Mechanism,
    options: Options,
    argument: &MechanismArgument,
    format: Format,
) -> Result<(Model<'m>, Outcome), Failure> {
    let mut bar = Bar::of_models(format, sampling.most_samples as u64);
    let told = |Stage { samples, worst }: Stage| {
        bar.update(samples as u64, Instant::now());
        bar.say(|| if worst.is_finite() { format!(", off by {}", radii(worst)) } else { String::new() });
        true
    };
    sampling.run(mechanism, options, told).map_err(|error| refused(argument, error))
}

/// Why there is no blended model.
fn refused(argument: &MechanismArgument, error: SampleError) -> Failure {
    match error {
        SampleError::Reduction(error) => argument.unreduced_to_effectors(error),
        error => Failure::job(format!(
            "there is no blended model, which begins at rest without loads on the effectors: {error}"
        )),
    }
}

/// An error for people.
pub fn radii(error: f64) -> String {
    match error.is_finite() {
        true => quantity(format!("{error:.1e}").parse().unwrap_or(error), "of the radius"),
        false => "an unknown part of the radius".into(),
    }
}

/// A limit's name in JSON, and what it is, with what would help.
pub fn limit(limit: &Limit) -> Option<(&'static str, &'static str)> {
    match limit {
        Limit::None => None,
        Limit::Samples => {
            Some(("models", "the number of models: allow more with --most-models, or a larger --max-error"))
        }
        Limit::Rest => Some((
            "rest",
            "loads at which a model of its own does not help, because the blend does not come to rest there: take a \
             smaller --displacement, or use `live`",
        )),
        Limit::Rounds => Some((
            "rounds",
            "new loads, which kept failing after four rounds of them: take a smaller --displacement or another --seed, or \
             use `live`",
        )),
    }
}
