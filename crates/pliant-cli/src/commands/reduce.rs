//! `pliant reduce`: a blended model, chosen automatically, as a file.

use std::io::Write as _;
use std::path::Path;
use std::time::Instant;

use pliant::blended::{Limit, Options, Outcome, Sampling};
use pliant::engines::articulated_model;
use pliant::io::{ModelFile, SaveError};
use pliant::mechanism::{BodyId, Mechanism};
use pliant::spatial::Wrench;
use serde_json::{Map, Value, json};

use crate::args::{Common, Reduce};
use crate::blending::{limit, radii, sample};
use crate::failure::Failure;
use crate::output::{Answer, Format, count, first_few, listing, quantity, writable};
use crate::setup;

/// With more models than this, the engine that needs none is to be thought of.
const MANY: usize = 16;

/// Samples until the error is within the bound, or a limit is met, and writes the file.
pub fn run(arguments: &Reduce, common: &Common) -> Result<Answer, Failure> {
    let path = arguments.output.as_path();
    if !pliant::io::model::is_model(path) {
        return Err(Failure::input(SaveError::NotAModel { path: path.to_path_buf() }));
    }
    writable(path)?;
    let (source, beyond) = arguments.setup.open(&arguments.mechanism, common, |_| false)?;
    if let (Some(_), Some(option)) = (&source.model, arguments.gravity.option()) {
        return Err(setup::of_a_model(option));
    }
    if source.model.is_some() && arguments.setup.has_springs() {
        return Err(setup::of_a_model("--spring"));
    }
    let whole = arguments.gravity.of(source.mechanism)?;
    // Loose bodies are left to contact, as in every engine; they are no free base.
    let (mechanism, loose) = match whole.loose().as_slice() {
        [] => (whole, None),
        loose => {
            (whole.take_apart().held.unwrap_or_else(|| whole.clone()), Some(left_to_contact(&whole, loose)))
        }
    };
    let nothing = nothing_reduced(&mechanism);
    if let (Some(why), Format::Text) = (&nothing, common.format()) {
        // At once: the search may take a minute. Nothing can be done about a standard error that is closed.
        let _ = writeln!(std::io::stderr(), "warning: {why}");
    }
    let start = Instant::now();
    let sampling = Sampling {
        max_error: arguments.max_error,
        displacement: arguments.displacement,
        most_samples: arguments.most_models.get(),
        seed: arguments.seed,
        ..Sampling::default()
    };
    let options = Options { force: arguments.force, ..Options::default() };
    let (model, outcome) =
        sample(&sampling, arguments.max_seconds, &mechanism, options, &arguments.mechanism, common.format())?;
    let file = ModelFile::new(&model, Some((sampling, outcome.clone())));
    file.save(path).map_err(|error| match error {
        SaveError::Unwritable { .. } => Failure::job(error),
        _ => Failure::input(error),
    })?;
    // A file that cannot be read back is of no use to anybody, and this is the time to say so.
    ModelFile::load(path).map_err(Failure::job)?;
    let made = Made {
        mechanism: &mechanism,
        sampling: &sampling,
        outcome: &outcome,
        models: model.samples().len(),
        bytes: std::fs::metadata(path).map_or(0, |about| about.len()),
        seconds: start.elapsed().as_secs_f64(),
        path,
    };
    let mut warnings = mechanism.warnings();
    warnings.extend(loose);
    warnings.extend(made.advice());
    warnings.extend(beyond.iter().map(|warning| warning.text.clone()));
    let all: Vec<String> = nothing.into_iter().chain(warnings.iter().cloned()).collect();
    let json = made.document(&all);
    if let Some((_, what)) = limit(&outcome.limit) {
        return Err(Failure { details: json, ..Failure::job(made.short_of_it(what)) });
    }
    Ok(Answer { text: made.text(), warnings, counted: beyond, json: json.into() })
}

/// What to tell of a mechanism with no more freedoms than its effectors can have: that is known before any model is made.
fn nothing_reduced(mechanism: &Mechanism) -> Option<String> {
    let (freedoms, effectors) = (mechanism.summary().freedoms, mechanism.effectors().len());
    // A free base is refused before anything is made.
    let free = mechanism.bodies().iter().any(|body| body.free);
    let nothing = !free && freedoms <= 6 * effectors && articulated_model(mechanism).is_ok();
    nothing.then(|| {
        format!(
            "with {} and {} nothing is reduced: `simulate --engine articulated` computes every one of them, exactly, and needs \
             no model",
            count(freedoms, "freedom"),
            count(effectors, "effector")
        )
    })
}

/// What to tell of loose bodies, which no model has.
fn left_to_contact(mechanism: &Mechanism, loose: &[BodyId]) -> String {
    let names: Vec<&str> = loose.iter().map(|body| mechanism[*body].name.as_str()).collect();
    format!("the model leaves out what no joint holds, which only contact moves: {}", first_few(&names))
}

/// What came of it.
struct Made<'a> {
    mechanism: &'a Mechanism,
    sampling: &'a Sampling,
    outcome: &'a Outcome,
    models: usize,
    bytes: u64,
    seconds: f64,
    path: &'a Path,
}

impl Made<'_> {
    /// Which engine would serve better.
    fn advice(&self) -> Option<String> {
        (self.models > MANY).then(|| {
            format!(
                "{} were needed: `simulate --engine live` needs none and is exact at rest",
                count(self.models, "model")
            )
        })
    }

    fn document(&self, warnings: &[String]) -> Map<String, Value> {
        let Made { sampling, outcome, .. } = self;
        let document = json!({
            "models": self.models,
            // A failure puts its message in place of `error`.
            "error": outcome.estimate,
            "estimate": outcome.estimate,
            "held_out": outcome.held_out,
            "held_out_median": outcome.held_out_median,
            "bound": sampling.max_error,
            "displacement": sampling.displacement,
            "seed": sampling.seed,
            "tested": outcome.tested,
            "out_of_reach": outcome.out_of_reach,
            "snapped": outcome.snapped,
            "unusable": outcome.unusable,
            "limit": limit(&outcome.limit).map(|(name, _)| name),
            "worst": json!({ "loads": self.worst(), "displacement": outcome.worst_displacement }),
            "seconds": self.seconds,
            "bytes": self.bytes,
            "file": self.path.display().to_string(),
            "warnings": warnings,
        });
        match document {
            Value::Object(map) => map,
            _ => unreachable!("it is an object"),
        }
    }

    /// The load of the worst case, by effector.
    fn worst(&self) -> Map<String, Value> {
        let numbers = |w: &Wrench| Value::from(w.to_vector().as_slice());
        let effectors = self.mechanism.effectors().iter().zip(&self.outcome.worst_loads);
        effectors.map(|(e, w)| (e.name.clone(), numbers(w))).collect()
    }

    /// Loads left out, and why.
    fn left_out(&self) -> String {
        let left_out = [
            (self.outcome.out_of_reach, "out of reach"),
            (self.outcome.snapped, "snapping through"),
            (self.outcome.unusable, "no minimum of energy"),
        ];
        let left_out: Vec<String> =
            left_out.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}")).collect();
        if left_out.is_empty() { "none".into() } else { left_out.join(", ") }
    }

    fn text(&self) -> String {
        let Made { sampling, outcome, .. } = self;
        let rows = [
            ("models", self.models.to_string()),
            ("error", format!("{} where it was trained, by its own estimate", radii(outcome.estimate))),
            (
                "held out",
                format!(
                    "{} at most and {} in the median of {} it did not see",
                    radii(outcome.held_out),
                    radii(outcome.held_out_median),
                    count(outcome.tested, "load")
                ),
            ),
            (
                "bound",
                format!("{} up to a displacement of {}", radii(sampling.max_error), sampling.displacement),
            ),
            ("loads left out", self.left_out()),
            ("time", quantity((self.seconds * 100.0).round() / 100.0, "s")),
        ];
        format!("{}\nwrote {} ({} bytes)\n", listing(rows), self.path.display(), self.bytes)
    }

    /// A model that is not as good as was asked for.
    fn short_of_it(&self, what: &str) -> String {
        let Made { sampling, outcome, .. } = self;
        let loads = self.mechanism.effectors().iter().zip(&outcome.worst_loads).map(|(effector, w)| {
            let numbers = w.to_vector().iter().map(|x| format!("{x:.4}")).collect::<Vec<_>>().join(",");
            format!("\n  --load {}={numbers}", effector.name)
        });
        let loads: String = loads.collect();
        let far = radii(outcome.worst_displacement);
        let worst = match outcome.limit {
            Limit::Rest | Limit::Another => format!("that load (N, N·m) moves an effector by {far}:{loads}"),
            _ if outcome.tested == 0 => "no load was found to test it with".into(),
            _ => format!(
                "the worst of {} it did not see (N, N·m) moves an effector by {far}:{loads}",
                count(outcome.tested, "load")
            ),
        };
        let left_out = self.left_out();
        let advice = self.advice().map(|advice| format!("\n{advice}")).unwrap_or_default();
        let own = match outcome.estimate.is_finite() {
            true => format!(" (by its own estimate {})", radii(outcome.estimate)),
            false => String::new(),
        };
        let off = match (outcome.held_out.is_finite(), outcome.tested) {
            (true, _) => format!("is off by {}{own}", radii(outcome.held_out)),
            (false, 0) => "could not be tested".into(),
            (false, _) => {
                format!("does not come to rest under one of the loads that it was tested with{own}")
            }
        };
        format!(
            "the error is not within the bound: the best model has {} and {off}; {} was asked for; it is \
             written to `{}`\nwhat limits it is {what}\n{worst}\nloads left out: {left_out}{advice}",
            count(self.models, "model"),
            radii(sampling.max_error),
            self.path.display()
        )
    }
}
