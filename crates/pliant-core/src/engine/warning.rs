//! What was left out of a run, or done otherwise than asked, and matters in it.

use std::fmt;

use super::State;
use crate::mechanism::Mechanism;

/// Something left out, with how much that is.
#[derive(Clone, Debug, PartialEq)]
pub struct Warning {
    /// What it is about, one word for each kind: `limits`, `overlap`, `unstable`, …
    pub kind: &'static str,
    /// How much, in `unit`.
    pub measure: f64,
    /// `m`, `rad`, `of the radius`…
    pub unit: &'static str,
    /// A plain sentence, the measure in it.
    pub text: String,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// How far beyond a limit counts, rad or radii: engines with limits give way by less.
const BEYOND: f64 = 1e-3;

impl Warning {
    /// Puts a warning into a list in which there is one of each kind and unit: the worst.
    pub fn keep_worst(list: &mut Vec<Warning>, warning: Warning) {
        let same = |known: &&mut Warning| (known.kind, known.unit) == (warning.kind, warning.unit);
        match list.iter_mut().find(same) {
            Some(known) if known.measure >= warning.measure => {}
            Some(known) => *known = warning,
            None => list.push(warning),
        }
    }

    /// Of steps that an engine cut short, if it did.
    pub(super) fn of_capped(engine: &str, capped: u64, steps: u64) -> Option<Warning> {
        let text = format!(
            "{capped} of {steps} steps were cut short: something turns faster than the engine `{engine}` follows, and is slower here \
             than it should be; take shorter steps, or the engine `full` or `articulated`"
        );
        (capped > 0).then_some(Warning { kind: "capped steps", measure: capped as f64, unit: "steps", text })
    }

    /// Of the most that something free with joints turned in a step, rad, if that is too much. Up to so much, energy did not grow in ten
    /// seconds of the trees in `tests/engines/momentum.rs` (in `live` by 0.5 %); beyond, it grew to 3.9 times in `full` and 1.13 in
    /// `articulated`.
    pub(super) fn of_turning(turned: f64) -> Option<Warning> {
        const FAR: f64 = 0.2;
        let text = format!(
            "something free turned by {turned:.2} rad in a step: beyond {FAR} rad its joints can gain energy that nothing gave them, up \
             to several times what there was; take shorter steps"
        );
        (turned > FAR).then_some(Warning { kind: "fast turning", measure: turned, unit: "rad", text })
    }

    /// Of the joint that is furthest beyond one of its limits, of those that turn and of those that slide.
    pub fn of_limits(mechanism: &Mechanism, engine: &str, state: &State) -> Vec<Warning> {
        let radius = if mechanism.radius() > 0.0 { mechanism.radius() } else { 1.0 };
        let mut found = Vec::new();
        for joint in mechanism.joints() {
            for (k, (freedom, q)) in
                joint.freedoms.iter().zip(&state.coordinates[joint.coordinates()]).enumerate()
            {
                let beyond = (q - freedom.upper).max(freedom.lower - q);
                let (size, unit) = if k < joint.kind.translations() { (radius, "m") } else { (1.0, "rad") };
                if beyond > BEYOND * size {
                    let name = &joint.name;
                    let text = format!(
                        "joint `{name}` goes {beyond:.2e} {unit} beyond its limit: the engine `{engine}` has no limits; use \
                         `full`, `articulated` or `live`"
                    );
                    Warning::keep_worst(&mut found, Warning { kind: "limits", measure: beyond, unit, text });
                }
            }
        }
        found
    }
}
