//! The first line of a comparison: good, or what is wrong. It also says which engine is the fastest of those that are right.

use pliant::engines::Engine;
use serde_json::{Value, json};

use super::contact_comparison::ContactComparison;
use super::contact_page::{length, most};
use super::measure::{Comparison, Ramp};
use crate::page::text::{count, escape, listed, percent, percent_cell, prose, significant, time};

/// An error that most uses can live with, over the radius.
pub const GOOD: f64 = 0.01;

/// One that is alarming: a single linear model is no answer there.
pub const BAD: f64 = 0.05;

/// Overlaps beyond this are alarming, m and radii, whichever is more; and residuals, m/s.
const DEEP: f64 = 1e-3;
const PUSHED: f64 = 0.01;

/// What is to be said first.
pub struct Verdict {
    /// What is alarming, each a clause.
    wrong: Vec<String>,
    /// How many warnings the comparison has.
    warnings: usize,
    /// Engines that are right, by the time of a step.
    right: Vec<(&'static str, Option<f64>)>,
    /// Where they are right.
    place: &'static str,
}

impl Verdict {
    pub fn text(&self) -> String {
        format!("{} {}", self.judgement(), self.advice()).trim_end().into()
    }

    pub fn html(&self) -> String {
        let class = if self.wrong.is_empty() { "good" } else { "bad" };
        let [judgement, advice] = [self.judgement(), self.advice()].map(|text| prose(&text));
        format!("<p class=\"verdict {class}\">{judgement} <span>{advice}</span></p>\n")
    }

    /// Good, or what is wrong.
    fn judgement(&self) -> String {
        match self.wrong.as_slice() {
            [] if self.warnings > 0 => {
                format!("Good, except for {}, below.", count(self.warnings, "warning", "warnings"))
            }
            [] => "Good: nothing is alarming.".into(),
            wrong => format!("Not everything is good: {}.", wrong.join("; ")),
        }
    }

    /// Which engines are right, and the fastest of them.
    fn advice(&self) -> String {
        let names: Vec<String> = self.right.iter().map(|(name, _)| format!("`{name}`")).collect();
        let within = format!("within 1 % of the radius of `full` {}", self.place);
        match self.right.as_slice() {
            [] => String::new(),
            [_] => format!("{} is {within}.", names[0]),
            [(_, None), ..] => format!("{} are {within}.", listed(&names)),
            [(_, Some(us)), ..] => {
                let (all, fastest, us) = (listed(&names), &names[0], time(*us));
                format!("{all} are {within}; {fastest} is the fastest of them, {us} a step.")
            }
        }
    }

    pub fn json(&self) -> Value {
        // By name: their order by time is not the same in every run.
        let mut right: Vec<&str> = self.right.iter().map(|(name, _)| *name).collect();
        right.sort_unstable();
        json!({ "good": self.wrong.is_empty(), "wrong": self.wrong, "right": right })
    }

    fn new(place: &'static str, warnings: usize) -> Verdict {
        Verdict { wrong: Vec::new(), warnings, right: Vec::new(), place }
    }

    /// The fastest first.
    fn sorted(mut self) -> Verdict {
        self.right.sort_by(|a, b| a.1.unwrap_or(f64::INFINITY).total_cmp(&b.1.unwrap_or(f64::INFINITY)));
        self
    }

    /// Of the motion, and of rest where there is one.
    pub fn of(comparison: &Comparison) -> Verdict {
        let Comparison { ramp, transient, speed, warnings, .. } = comparison;
        let sample = ramp.as_ref().ok().and_then(Ramp::at_scene);
        let place = if sample.is_some() {
            "in motion and, but for `articulated`, which is not settled here, at rest"
        } else {
            "in motion"
        };
        let mut verdict = Verdict::new(place, warnings.len());
        if let Some(why) = &transient.stopped {
            verdict.wrong.push(format!("the motion ends early ({})", why.trim_end_matches('.')));
        }
        for engine in [Engine::Articulated, Engine::Linear, Engine::Reduced, Engine::Blended] {
            let name = engine.name();
            let (moving, stopped) = match transient.others.iter().find(|other| other.engine == name) {
                Some(other) => (other.max_error(), other.stopped.as_ref()),
                None if engine == Engine::Linear => (transient.max_error(), None),
                None => continue,
            };
            let resting = sample.and_then(|sample| match engine {
                Engine::Linear => Some(sample.effector),
                Engine::Reduced => sample.reduced.map(|at| at.effector),
                Engine::Blended => sample.blended.map(|blended| blended.effector),
                _ => None,
            });
            if let Some(why) = stopped {
                verdict.wrong.push(format!("`{name}` stops ({})", why.trim_end_matches('.')));
            }
            let restless = resting.is_none() && sample.is_some() && engine != Engine::Articulated;
            if restless {
                verdict.wrong.push(format!("`{name}` does not come to rest"));
            }
            let at_rest = resting.unwrap_or(0.0);
            let most = moving.max(at_rest);
            if most > BAD {
                let also =
                    resting.map_or(String::new(), |at_rest| format!(" ({} at rest)", percent(at_rest)));
                verdict
                    .wrong
                    .push(format!("`{name}` is off by {} of the radius in motion{also}", percent(moving)));
            } else if most <= GOOD && stopped.is_none() && !restless {
                verdict.right.push((name, speed.of(engine)));
            }
        }
        verdict.sorted()
    }

    /// Of a scene of contact.
    pub fn of_contact(compared: &ContactComparison, radius: f64) -> Verdict {
        let mut verdict = Verdict::new("throughout", compared.warnings.len());
        for run in &compared.runs {
            let name = run.engine;
            if let Some(why) = &run.stopped {
                verdict.wrong.push(format!("`{name}` ends early ({})", why.trim_end_matches('.')));
            }
            if is_deep(run.worst.penetration, radius) {
                verdict
                    .wrong
                    .push(format!("in `{name}` overlaps are up to {} deep", length(run.worst.penetration)));
            }
            if is_pushed(run.worst.residual) {
                let off = significant(run.worst.residual, 2);
                verdict.wrong.push(format!("forces of contact in `{name}` are {off} m/s from Coulomb's law"));
            }
            let furthest = most(compared.distances(run).into_iter());
            if furthest > BAD * radius {
                verdict.wrong.push(format!("`{name}` is up to {} from `full`", length(furthest)));
            } else if furthest <= GOOD * radius && run.stopped.is_none() && name != "full" {
                verdict.right.push((name, run.taken.map(|[median, _]| median)));
            }
        }
        verdict.sorted()
    }
}

/// Whether an overlap, m, is alarming.
pub fn is_deep(depth: f64, radius: f64) -> bool {
    depth > DEEP * radius.max(1.0)
}

/// Whether a residual of contact, m/s, is.
pub fn is_pushed(residual: f64) -> bool {
    residual > PUSHED
}

/// Text of a page, red where it is alarming.
pub fn red(text: &str, alarming: bool) -> String {
    if alarming { format!("<span class=\"alarm\">{}</span>", escape(text)) } else { escape(text) }
}

/// An error over the radius, for a table.
pub fn error_cell(x: f64) -> String {
    // What is not a number is no better.
    red(&percent_cell(x), x.is_nan() || x > BAD)
}
