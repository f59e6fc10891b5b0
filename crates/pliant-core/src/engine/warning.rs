//! What was left out of a run, or done otherwise than asked, and matters in it.

use std::fmt;

use super::{Inputs, JointProperty, State};
use crate::mechanism::{Mechanism, NEARLY_WITHIN, REPEATED_WITHIN};

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

/// How far beyond a limit counts, rad or radii: a weight on a limit turns or moves it by less.
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

    /// Of the most that something free with joints turned in a step, rad, if that is too much. Up to so much, energy did not grow in ten
    /// seconds of the trees in `tests/engines/momentum.rs`; beyond, it grew to 3.9 times in `full` and 1.13 in
    /// `articulated`.
    pub(crate) fn of_turning(turned: f64) -> Option<Warning> {
        const FAR: f64 = 0.2;
        let text = format!(
            "something free turned by {turned:.2} rad in a step: beyond {FAR} rad the energy of its joints can grow by numerical error, \
             up to several times its value; take shorter steps"
        );
        (turned > FAR).then_some(Warning { kind: "fast turning", measure: turned, unit: "rad", text })
    }

    /// Of closures of loops that are neither repeated nor clearly not: what they hold may be held by the rounding of a file alone.
    pub fn of_closures(mechanism: &Mechanism) -> Option<Warning> {
        let near = mechanism.nearly_repeated()?;
        let name = &mechanism[*near.joints.first()?].name;
        let others = match near.joints.len() - 1 {
            0 => String::new(),
            n => format!(" and {n} more loop joints"),
        };
        let text = format!(
            "at joint `{name}`{others}, {} constraints are nearly redundant: the other loops close them up to {:.1e} (rad or sizes, for \
             a motion of 1), above the {REPEATED_WITHIN} below which they count as redundant and below the {NEARLY_WITHIN} above which \
             they count as intended: they may lock or stiffen what should move; write positions and axes with more digits",
            near.directions, near.opened
        );
        Some(Warning { kind: "nearly redundant", measure: near.opened, unit: "rad or sizes", text })
    }

    /// Of dry friction that an equilibrium is found without: how far from it friction can hold the joints, of the worst that turns
    /// and the worst that slides.
    pub fn of_rest_with_friction(mechanism: &Mechanism, inputs: &Inputs) -> Vec<Warning> {
        Warning::of_friction(mechanism, inputs, |name, friction, unit, held| {
            format!(
                "joint `{name}` has dry friction of {friction:.3} {unit}, which this equilibrium leaves out: the mechanism can also rest \
                 {held}"
            )
        })
    }

    /// Of dry friction and torque limits that an engine leaves out.
    pub(super) fn of_left_out(engine: &str, mechanism: &Mechanism, inputs: &Inputs) -> Vec<Warning> {
        let mut found = Warning::of_friction(mechanism, inputs, |name, friction, unit, held| {
            format!(
                "joint `{name}` has dry friction of {friction:.3} {unit}, which the engine `{engine}` leaves out: it could rest {held}; \
                 use `full` or `articulated`"
            )
        });
        let limited = inputs.laws.iter().filter(|law| law.torque_limit < f64::INFINITY).count();
        if limited > 0 {
            let text = format!(
                "{limited} torque limits are left out: the engine `{engine}` has none; use `full` or `articulated`"
            );
            found.push(Warning { kind: "torque limits", measure: limited as f64, unit: "freedoms", text });
        }
        found
    }

    fn of_friction(
        mechanism: &Mechanism,
        inputs: &Inputs,
        text: impl Fn(&str, f64, &str, &str) -> String,
    ) -> Vec<Warning> {
        let mut found = Vec::new();
        for id in mechanism.joint_ids() {
            let joint = &mechanism[id];
            let of = |property| inputs.joint_property(id, property).unwrap_or_default();
            let springs = of(JointProperty::Stiffness);
            for (k, friction) in of(JointProperty::Friction).into_iter().enumerate().filter(|(_, f)| *f > 0.0)
            {
                let slides = k < joint.kind.translations();
                let (unit, way) = if slides { ("N", "m") } else { ("N·m", "rad") };
                let held = match springs[k] > 0.0 {
                    true => {
                        format!("up to {:.2e} {way} from where its spring holds it", friction / springs[k])
                    }
                    false => "wherever that friction is enough to hold it".into(),
                };
                let text = text(&joint.name, friction, unit, &held);
                Warning::keep_worst(&mut found, Warning { kind: "friction", measure: friction, unit, text });
            }
        }
        found
    }

    /// Of steps in which forces of dry friction or motors were not found, by how far they were off relative to their bounds.
    pub(crate) fn of_unsolved_friction(worst: f64) -> Option<Warning> {
        let text = format!(
            "the force of dry friction or of a torque limit was off by up to {worst:.2e} of its bound in a step: take shorter steps"
        );
        (worst > 0.0).then_some(Warning { kind: "friction", measure: worst, unit: "of its bound", text })
    }

    /// Of the joint whose spring is strained farthest beyond what it is linear to, such as a piece of a flexure.
    pub fn of_ranges(mechanism: &Mechanism, state: &State) -> Option<Warning> {
        let mut worst: Option<(f64, &str, f64, &str)> = None;
        for joint in mechanism.joints() {
            let coordinates = &state.coordinates[joint.coordinates()];
            for (k, (freedom, q)) in joint.freedoms.iter().zip(coordinates).enumerate() {
                let part = (q - freedom.rest).abs() / freedom.linear_to;
                if part > 1.0 && worst.is_none_or(|(known, ..)| part > known) {
                    let unit = if k < joint.kind.translations() { "m" } else { "rad" };
                    worst = Some((part, &joint.name, q - freedom.rest, unit));
                }
            }
        }
        let (measure, name, way, unit) = worst?;
        let text = format!(
            "joint `{name}` is {way:.2e} {unit} from where its spring is relaxed, {measure:.2} times the range over which that spring is \
             linear (`linear_to`): forces and motions are off by some percent at the end of that range, and the error grows with the \
             square. Where it is a piece of a flexure, cut that into more `pieces`; if the warning stays, strains are too large for \
             linear material"
        );
        Some(Warning { kind: "beyond range", measure, unit: "of its range", text })
    }

    /// Of the joint that is furthest beyond one of its limits, of those that turn and of those that slide: `linear` and `blended` have
    /// no limits, and those of the other engines yield by force over stiffness.
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
                    let why = match engine {
                        "linear" | "blended" => {
                            format!("the engine `{engine}` has no limits; use `full`, `articulated` or `reduced`")
                        }
                        _ => "its load is large against the stiffness of the limit; check loads, springs and masses".into(),
                    };
                    let text = format!("joint `{name}` is {beyond:.2e} {unit} beyond its limit: {why}");
                    Warning::keep_worst(&mut found, Warning { kind: "limits", measure: beyond, unit, text });
                }
            }
        }
        found
    }
}
