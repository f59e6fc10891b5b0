//! `<tendon>`: a fixed tendon is a sum of coordinates, L = Σ c_i q_i. One whose joints are all coupled moves as
//! one of them does: an actuator, a spring, a damper and limits on it act there. It is the common way to drive two fingers alike.

use std::collections::BTreeMap;

use pliant_core::mechanism::PerFreedom;

use super::actuators::{add, add_spring};
use super::bodies::Bodies;
use crate::import::context::Context;
use crate::import::xml::Element;

/// A fixed tendon.
pub(super) struct Tendon {
    /// Joints and coefficients.
    pub(super) terms: Vec<(String, f64)>,
    /// Its element, with its defaults.
    element: Element,
}

/// The fixed tendons by name.
pub(super) type Tendons = BTreeMap<String, Tendon>;

/// A length that moves with one joint: L = slope q + offset, q being the mechanism's coordinate.
pub(super) struct Length {
    /// The joint.
    pub(super) joint: String,
    /// dL/dq.
    pub(super) slope: f64,
    /// L in the file's pose.
    pub(super) offset: f64,
}

/// Reads all `<tendon>` elements.
pub(super) fn read(root: &Element, bodies: &Bodies<'_>, context: &mut Context) -> Tendons {
    let mut tendons = Tendons::new();
    for (number, element) in root.all("tendon").flat_map(|section| &section.children).enumerate() {
        if element.name != "fixed" {
            super::left_out(element, context);
            continue;
        }
        let merged = bodies.defaults.merged_as("tendon", element, None, context);
        let mut terms = Vec::new();
        for term in element.all("joint") {
            if let (Some(joint), Some(factor)) = (term.value("joint"), term.number("coef", context)) {
                terms.push((joint.to_string(), factor));
            }
        }
        let name = element.value("name").map_or_else(|| format!("\0{number}"), str::to_string);
        tendons.insert(name, Tendon { terms, element: merged });
    }
    tendons
}

/// Springs, dampers, armature and limits of tendons that move with one joint act there: of a length L = s q + L0 they are
/// s² of their own. What pulls at several joints that move apart is a warning.
pub(super) fn act(tendons: &Tendons, bodies: &mut Bodies<'_>, context: &mut Context) {
    for Tendon { terms, element } in tendons.values() {
        let number = |name: &str, context: &mut Context| {
            element.numbers(name, context).and_then(|list| list.first().copied()).unwrap_or(0.0)
        };
        let [stiffness, damping, armature] =
            ["stiffness", "damping", "armature"].map(|name| number(name, context).max(0.0));
        let range = element.vector::<2>("range", context);
        let limited = match element.value("limited").map(str::trim) {
            None | Some("auto") => bodies.compiler.auto_limits && range.is_some(),
            Some(_) => element.flag("limited", context) == Some(true),
        };
        let range = range.filter(|_| limited);
        if element.attribute("frictionloss").is_some() {
            context.warning_of("tendon friction", element.place_of("frictionloss"), || {
                format!("{}: friction of a tendon is not supported and was left out", element.what())
            });
        }
        if stiffness == 0.0 && damping == 0.0 && armature == 0.0 && range.is_none() {
            continue;
        }
        let found = length(terms, bodies).and_then(|length| {
            let at = bodies.joints.get(&length.joint)?;
            Some((*at, length)).filter(|(_, length)| length.slope != 0.0)
        });
        let Some(((connection, position, _), Length { slope, offset, .. })) = found else {
            if !is_held(terms, bodies) {
                context.warning_of("<fixed>", &element.place, || {
                    format!(
                        "{}: spring, damper and limits of a tendon across joints that no coupling ties together are not \
                         supported and were left out",
                        element.what()
                    )
                });
            }
            continue;
        };
        // Without a length of its own, which -1 says too, the spring is relaxed where all joints are at their `springref`; between two
        // lengths there is no force.
        let at_rest: f64 = terms
            .iter()
            .map(|(joint, c)| c * bodies.spring_references.get(joint).copied().unwrap_or(0.0))
            .sum();
        let given = element.numbers("springlength", context).unwrap_or_default();
        let rest = match given[..] {
            [-1.0] | [-1.0, -1.0, ..] => at_rest,
            [low, high, ..] if high > low => {
                context.warning_of("springlength", element.place_of("springlength"), || {
                    format!(
                        "{}: a spring that is slack between two lengths was read as relaxed halfway between them",
                        element.what()
                    )
                });
                0.5 * (low + high)
            }
            [length, ..] => length,
            [] => at_rest,
        };
        let joint = &mut bodies.parts.connections[connection].joints[position];
        let description = &mut joint.description;
        let g2 = slope * slope;
        if stiffness > 0.0 {
            add_spring(description, stiffness * g2, (rest - offset) / slope);
            joint.default_spring = false;
        }
        add(&mut description.damping, damping * g2);
        add(&mut description.armature, armature * g2);
        if let Some(range) = range {
            let [a, b] = range.map(|length| (length - offset) / slope);
            let (lower, upper) = match description.limits {
                Some(PerFreedom::All(limits)) => limits,
                _ => (f64::NEG_INFINITY, f64::INFINITY),
            };
            description.limits = Some(PerFreedom::All((lower.max(a.min(b)), upper.min(a.max(b)))));
        }
    }
}

/// Whether couplings keep a tendon's length as it is: then it does nothing.
fn is_held(terms: &[(String, f64)], bodies: &Bodies<'_>) -> bool {
    length(terms, bodies).is_some_and(|length| {
        let scale: f64 = terms.iter().map(|(_, factor)| factor.abs()).sum();
        length.slope.abs() <= 1e-12 * scale
    })
}

/// The length of a tendon, if all its joints follow one.
pub(super) fn length(terms: &[(String, f64)], bodies: &Bodies<'_>) -> Option<Length> {
    let mut sum: Option<Length> = None;
    for (joint, factor) in terms {
        let reference = bodies.joints.get(joint)?.2;
        let (leader, ratio, offset) = leader(joint, bodies)?;
        let (slope, offset) = (factor * ratio, factor * (offset + reference));
        match &mut sum {
            None => sum = Some(Length { joint: leader, slope, offset }),
            Some(sum) if sum.joint == leader => {
                sum.slope += slope;
                sum.offset += offset;
            }
            Some(_) => return None,
        }
    }
    sum
}

/// The joint that another follows in the end: q = ratio q_leader + offset.
pub(super) fn leader(joint: &str, bodies: &Bodies<'_>) -> Option<(String, f64, f64)> {
    let (mut name, mut ratio, mut offset) = (joint.to_string(), 1.0, 0.0);
    for _ in 0..64 {
        match bodies.parts.couplings.iter().find(|(coupling, _)| coupling.joint == name) {
            None => return Some((name, ratio, offset)),
            Some((coupling, _)) => {
                offset += ratio * coupling.offset;
                ratio *= coupling.ratio;
                name = coupling.of.clone();
            }
        }
    }
    None
}
