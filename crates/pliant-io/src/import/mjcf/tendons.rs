//! `<tendon>`: a fixed tendon is a sum of coordinates, L = Σ c_i q_i. One whose joints are all coupled moves as
//! one of them does, so that an actuator on it can act there: the common way to drive two fingers alike.

use std::collections::HashMap;

use super::bodies::Bodies;
use crate::import::context::Context;
use crate::import::xml::Element;

/// The joints and coefficients of each fixed tendon.
pub(super) type Tendons = HashMap<String, Vec<(String, f64)>>;

/// A length that moves with one joint: L = slope q + offset, q being the mechanism's coordinate.
pub(super) struct Length {
    /// The joint.
    pub(super) joint: String,
    /// dL/dq.
    pub(super) slope: f64,
    /// L in the file's pose.
    pub(super) offset: f64,
}

/// Reads all `<tendon>` elements; what they do themselves is a warning.
pub(super) fn read(root: &Element, bodies: &Bodies<'_>, context: &mut Context) -> Tendons {
    let mut tendons = Tendons::new();
    for element in root.all("tendon").flat_map(|section| &section.children) {
        if element.name != "fixed" {
            super::left_out(element, context);
            continue;
        }
        let merged = bodies.defaults.merged_as("tendon", element, None, context);
        let acts = ["stiffness", "damping", "frictionloss", "range", "armature"];
        if acts.iter().any(|name| merged.attribute(name).is_some()) {
            context.warning_of("<fixed>", &element.place, || {
                "springs, dampers, friction and limits of a <fixed> tendon were left out".into()
            });
        }
        let mut terms = Vec::new();
        for term in element.all("joint") {
            if let (Some(joint), Some(factor)) = (term.value("joint"), term.number("coef", context)) {
                terms.push((joint.to_string(), factor));
            }
        }
        tendons.insert(element.value("name").unwrap_or_default().to_string(), terms);
    }
    tendons
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
fn leader(joint: &str, bodies: &Bodies<'_>) -> Option<(String, f64, f64)> {
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
