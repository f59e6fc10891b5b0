//! `pliant reduce`: motions of the joints, chosen to a bound, as a file.

use std::io::Write as _;
use std::path::Path;
use std::time::Instant;

use pliant::io::{ModelFile, SaveError};
use pliant::mechanism::{BodyId, Mechanism};
use pliant::reduced::{Doing, Every, Limit, Model, Outcome, Progress, Sampling, too_few_to_reduce};
use pliant::spatial::Wrench;
use serde_json::{Map, Value, json};

use crate::args::{Common, Reduce};
use crate::failure::Failure;
use crate::output::{Answer, Format, count, first_few, listing, quantity, radii, writable};
use crate::progress::Bar;
use crate::setup;

/// Chooses motions until the error is within the bound, or a limit is met, and writes the file.
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
    let at_once = too_few_to_reduce(&mechanism).map(|motions| nothing_reduced(&mechanism, motions));
    if let (Some(why), Format::Text) = (&at_once, common.format()) {
        // Nothing can be done about a standard error that is closed.
        let _ = writeln!(std::io::stderr(), "warning: {why}");
    }
    let start = Instant::now();
    let sampling = Sampling {
        max_error: arguments.max_error,
        displacement: arguments.displacement,
        frequency: arguments.frequency,
        seed: arguments.seed,
        ..Sampling::default()
    };
    let mut bar = Bar::of_search(common.format());
    let chosen = sampling.run(&mechanism, |progress| {
        bar.update(progress.searched as u64, Instant::now());
        bar.say(|| said(&progress));
    });
    drop(bar);
    let (model, outcome) = chosen.map_err(|error| arguments.mechanism.unreduced_to_effectors(error))?;
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
        model: &model,
        bytes: std::fs::metadata(path).map_or(0, |about| about.len()),
        seconds: start.elapsed().as_secs_f64(),
        path,
    };
    let mut warnings = mechanism.warnings();
    warnings.extend(loose);
    warnings.extend(held_bases(&mechanism));
    // That few freedoms leave nothing to reduce was said at once.
    let few = matches!(outcome.every, Some(Every::Few));
    warnings.extend(made.every().filter(|_| at_once.is_none() || !few));
    warnings.extend(made.left_out());
    warnings.extend(beyond.iter().map(|warning| warning.text.clone()));
    let all: Vec<String> = at_once.into_iter().chain(warnings.iter().cloned()).collect();
    let json = made.document(&all);
    if let Some((_, what)) = limit(&outcome.limit) {
        return Err(Failure { details: json, ..Failure::job(made.short_of_it(what)) });
    }
    Ok(Answer { text: made.text(), warnings, counted: beyond, json: json.into() })
}

/// What goes on, for people.
fn said(progress: &Progress) -> String {
    let doing = match progress.doing {
        Doing::Drawing => "drawing loads",
        Doing::Choosing => "choosing motions",
        Doing::Testing => "testing with other loads",
    };
    let off = match progress.worst.is_finite() {
        true => format!(", off by {}", radii(progress.worst)),
        false => String::new(),
    };
    format!("{doing}: {}, {} equilibria{off}", count(progress.motions, "motion"), progress.searched)
}

/// What limits the error: its name in JSON, and what it is, with what would help.
fn limit(limit: &Limit) -> Option<(&'static str, &'static str)> {
    match limit {
        Limit::None => None,
        Limit::Equilibria => {
            Some(("equilibria", "the number of equilibria searched for: take a larger --max-error"))
        }
        Limit::Stalled => Some((
            "stalled",
            "a load for which an additional motion does not help: take a smaller --displacement or a larger --max-error, or \
             use `articulated`",
        )),
    }
}

/// What to report of a mechanism with no more freedoms than its effectors can have.
fn nothing_reduced(mechanism: &Mechanism, motions: usize) -> String {
    format!(
        "with {} and {} nothing is reduced: `simulate --engine articulated` computes all of them, exactly, and needs no model; the model \
         has every motion",
        count(motions, "independent motion"),
        count(mechanism.effectors().len(), "effector")
    )
}

/// What to report of loose bodies, which no model has.
fn left_to_contact(mechanism: &Mechanism, loose: &[BodyId]) -> String {
    let names: Vec<&str> = loose.iter().map(|body| mechanism[*body].name.as_str()).collect();
    format!("the model leaves out loose bodies, which only contact moves: {}", first_few(&names))
}

/// What to report of free bases.
fn held_bases(mechanism: &Mechanism) -> Option<String> {
    let free = mechanism.bodies().iter().filter(|body| body.free);
    let names: Vec<&str> = free.map(|body| body.name.as_str()).collect();
    (!names.is_empty()).then(|| {
        format!(
            "motions are chosen, and errors found, with the free base held where it starts: {}",
            first_few(&names)
        )
    })
}

/// What came of it.
struct Made<'a> {
    mechanism: &'a Mechanism,
    sampling: &'a Sampling,
    outcome: &'a Outcome,
    model: &'a Model,
    bytes: u64,
    seconds: f64,
    path: &'a Path,
}

impl Made<'_> {
    /// Why every motion is kept.
    fn every(&self) -> Option<String> {
        let kept = format!("the model has every one of {}", count(self.model.freedoms(), "motion"));
        Some(match self.outcome.every.as_ref()? {
            Every::Few => format!(
                "the bound needs nearly all of {}: {kept}, and `simulate --engine articulated` is faster and needs no model",
                count(self.model.freedoms(), "motion")
            ),
            Every::Restless(why) => {
                format!(
                    "there is no equilibrium to choose motions at: {why}; {kept}, and so no error, but that was not tested"
                )
            }
            Every::Untested => format!(
                "no load that was tried moves an effector that far with an equilibrium: {kept}, and so no error, but that was not tested"
            ),
        })
    }

    /// Loads that were left out, each kind with the first.
    fn left_out(&self) -> Vec<String> {
        let outcome = self.outcome;
        let kinds = [
            (&outcome.unsolved, "the full statics find no equilibrium"),
            (&outcome.unsettled, "the statics of the motions find no equilibrium"),
            (
                &outcome.several,
                "there are several equilibria, and the statics of the motions find a different one",
            ),
        ];
        let some = kinds.into_iter().filter(|(loads, _)| !loads.is_empty());
        some.map(|(loads, what)| {
            format!(
                "{what} under {}, which {} left out; the first is{}",
                count(loads.len(), "load"),
                if loads.len() == 1 { "is" } else { "are" },
                self.options(&loads[0])
            )
        })
        .collect()
    }

    /// Loads as options.
    fn options(&self, loads: &[Wrench]) -> String {
        let each = self.mechanism.effectors().iter().zip(loads).map(|(effector, w)| {
            let numbers = w.to_vector().iter().map(|x| format!("{x:.4}")).collect::<Vec<_>>().join(",");
            format!("\n  --load {}={numbers}", effector.name)
        });
        each.collect()
    }

    /// Loads by effector.
    fn by_effector(&self, loads: &[Wrench]) -> Map<String, Value> {
        let numbers = |w: &Wrench| Value::from(w.to_vector().as_slice());
        let effectors = self.mechanism.effectors().iter().zip(loads);
        effectors.map(|(e, w)| (e.name.clone(), numbers(w))).collect()
    }

    fn document(&self, warnings: &[String]) -> Map<String, Value> {
        let Made { sampling, outcome, .. } = self;
        let list =
            |loads: &[Vec<Wrench>]| loads.iter().map(|loads| self.by_effector(loads)).collect::<Vec<_>>();
        let every = outcome.every.as_ref().map(|every| match every {
            Every::Few => "few",
            Every::Restless(_) => "restless",
            Every::Untested => "untested",
        });
        let document = json!({
            "coordinates": self.model.motions(),
            "freedoms": self.model.freedoms(),
            "samples": outcome.samples.len(),
            // A failure puts its message in place of `error`.
            "error": outcome.error,
            "estimate": outcome.error,
            "held_out": outcome.held_out,
            "held_out_median": outcome.held_out_median,
            "bound": sampling.max_error,
            "displacement": sampling.displacement,
            "frequency": sampling.frequency,
            "seed": sampling.seed,
            "tested": outcome.tested,
            "within": outcome.within,
            "out_of_reach": outcome.out_of_reach,
            "unsolved": list(&outcome.unsolved),
            "unsettled": list(&outcome.unsettled),
            "several": list(&outcome.several),
            "equilibria": outcome.searched,
            "every": every,
            "limit": limit(&outcome.limit).map(|(name, _)| name),
            "worst": json!({
                "loads": self.by_effector(&outcome.worst_loads), "displacement": outcome.worst_displacement,
            }),
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

    fn text(&self) -> String {
        let Made { sampling, outcome, model, .. } = self;
        let samples = count(outcome.samples.len(), "sampled load");
        let held_out = match outcome.tested {
            0 => "nothing was tested: every motion is kept".into(),
            n => format!(
                "{} at most and {} in the median of {} not used to choose motions",
                radii(outcome.held_out),
                radii(outcome.held_out_median),
                count(n, "load")
            ),
        };
        let error = match (&outcome.every, outcome.samples.len()) {
            (Some(_), 0) => "none: every motion is kept".into(),
            _ => format!("{} where motions were chosen, by its estimate", radii(outcome.error)),
        };
        let left_out = [
            (outcome.out_of_reach, "out of reach"),
            (outcome.unsolved.len() + outcome.unsettled.len(), "without an equilibrium"),
            (outcome.several.len(), "with several"),
        ];
        let left_out: Vec<String> =
            left_out.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}")).collect();
        let rows = [
            ("coordinates", format!("{} of {}", model.motions(), count(model.freedoms(), "freedom"))),
            ("samples", samples),
            ("error", error),
            ("held out", held_out),
            (
                "bound",
                format!("{} up to a displacement of {}", radii(sampling.max_error), sampling.displacement),
            ),
            ("loads left out", if left_out.is_empty() { "none".into() } else { left_out.join(", ") }),
            ("time", quantity((self.seconds * 100.0).round() / 100.0, "s")),
        ];
        format!("{}\nwrote {} ({} bytes)\n", listing(rows), self.path.display(), self.bytes)
    }

    /// A model that is not as good as was asked for.
    fn short_of_it(&self, what: &str) -> String {
        let Made { sampling, outcome, .. } = self;
        let worst = format!(
            "the worst of {} not used to choose motions (N, N·m) moves an effector by {}:{}",
            count(outcome.tested, "load"),
            radii(outcome.worst_displacement),
            self.options(&outcome.worst_loads)
        );
        let left_out: String = self.left_out().iter().map(|line| format!("\n{line}")).collect();
        format!(
            "the error is not within the bound: the best model has {} and an error of {} (by its own estimate {}), above the bound of \
             {}; it is written to `{}`\nthe limit is {what}\n{worst}{left_out}",
            count(self.model.motions(), "motion"),
            radii(outcome.held_out),
            radii(outcome.error),
            radii(sampling.max_error),
            self.path.display()
        )
    }
}
