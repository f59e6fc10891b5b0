//! `<equality>`: `connect` is a loop closed by a ball joint, `weld` one closed by a fixed joint, `joint` a
//! coupling, as is `tendon` where two joints are on its fixed tendons. Loops are closed as the bodies lie at `qpos0`. A free body that is connected or welded to an
//! earlier one closes no loop: it hangs on it.

use pliant_core::joints::JointKind;
use pliant_core::mechanism::CouplingDescription;
use pliant_core::nalgebra::{Quaternion, UnitQuaternion};
use pliant_core::spatial::Pose;

use super::bodies::Bodies;
use super::replicate::Copies;
use super::tendons::{Tendons, leader};
use crate::import::context::Context;
use crate::import::meaning;
use crate::import::parts::{Connection, Joint};
use crate::import::xml::Element;

/// A gap between what should be together at `qpos0` that is reported, m or rad.
const GAP: f64 = 1e-6;

/// Reads all `<equality>` elements.
pub(super) fn read(
    root: &Element,
    bodies: &mut Bodies<'_>,
    copies: &Copies,
    tendons: &Tendons,
    context: &mut Context,
) {
    for element in root.all("equality").flat_map(|section| &section.children) {
        let references = ["body1", "body2", "site1", "site2", "joint1", "joint2"];
        for element in copies.of_reference(element, &references) {
            let element = bodies.defaults.merged_as("equality", &element, None, context);
            if element.flag("active", context) == Some(false) {
                context.warning_of("inactive equality", &element.place, || {
                    format!("{} is not active and was left out", element.what())
                });
                continue;
            }
            match element.name.as_str() {
                "connect" | "weld" => close(&element, bodies, context),
                "joint" => couple(&element, bodies, context),
                "tendon" => couple_lengths(&element, tendons, bodies, context),
                _ => super::left_out(&element, context),
            }
        }
    }
}

/// One of the two bodies that are joined, and the pose in it of what is held together.
fn side(
    number: usize,
    element: &Element,
    bodies: &Bodies<'_>,
    context: &mut Context,
) -> Option<(Option<usize>, Pose)> {
    let (body, site) = (format!("body{number}"), format!("site{number}"));
    if let Some(name) = element.value(&site) {
        let Some((body, pose)) = bodies.sites.get(name).cloned() else {
            let message = format!("{}: there is no site `{name}`", element.what());
            context.error(element.place_of(&site), message, "the name of a site");
            return None;
        };
        return Some((bodies.find(&body, element.place_of(&site), context)?, pose));
    }
    let name = match (element.value(&body), number) {
        (Some(name), _) => name,
        (None, 2) => "world",
        (None, _) => element.required(&body, context)?,
    };
    Some((bodies.find(name, element.place_of(&body), context)?, Pose::identity()))
}

fn close(element: &Element, bodies: &mut Bodies<'_>, context: &mut Context) {
    let weld = element.name == "weld";
    let mut known =
        vec!["active", "anchor", "body1", "body2", "class", "name", "site1", "site2", "solimp", "solref"];
    known.extend(weld.then_some(["relpose", "torquescale"]).into_iter().flatten());
    element.check_attributes(&known, context);
    let first = side(1, element, bodies, context);
    let second = side(2, element, bodies, context);
    let (Some((one, in_one)), Some((two, in_two))) = (first, second) else { return };
    let (pose_one, pose_two) = (bodies.pose(one), bodies.pose(two));
    let sites = element.attribute("site1").is_some();
    let (kind, frame, wanted);
    if weld {
        (kind, frame) = (JointKind::Fixed, pose_two * in_two);
        let relative = element.vector::<7>("relpose", context).filter(|r| r[3..].iter().any(|x| *x != 0.0));
        wanted = match relative {
            Some([x, y, z, w, i, j, k]) if !sites => {
                let rotation = UnitQuaternion::new_normalize(Quaternion::new(w, i, j, k));
                pose_one * Pose::new(rotation, [x, y, z].into())
            }
            _ if sites => pose_one * in_one,
            _ => frame,
        };
    } else {
        let anchor = element.vector::<3>("anchor", context);
        if !sites && anchor.is_none() {
            element.required("anchor", context);
            return;
        }
        let at = if sites { in_one.position } else { anchor.unwrap_or_default().into() };
        let point = pose_one.transform_point(&at);
        (kind, frame) = (JointKind::Ball, Pose::translation(point.into()));
        let other = if sites { (pose_two * in_two).position } else { point };
        wanted = Pose::translation(other.into());
    }
    let off = wanted.inverse_times(&frame);
    let gap = off.position.norm().max(if weld { off.rotation.angle() } else { 0.0 });
    if gap > GAP {
        context.warning(
            &element.place,
            format!(
                "{} is open by {gap:.3e} in the file's pose: the bodies are joined as they are placed there",
                element.what()
            ),
        );
    }
    if one == two {
        context
            .warning(&element.place, format!("{} joins a body to itself; it was left out", element.what()));
        return;
    }
    let name = match element.value("name").filter(|name| !name.is_empty()) {
        Some(name) => name.to_string(),
        None => format!("{}_{}_{}", element.name, bodies.name(one), bodies.name(two)),
    };
    let mut joint = Joint::new(bodies.new_joint(name), kind, element.place.clone());
    joint.description.frame = frame;
    // Bodies come before those that they carry. A free body that is joined to an earlier one hangs on it.
    let (parent, child) = (one.min(two), one.max(two));
    match child.map(|c| &mut bodies.parts.links[c].body).filter(|body| body.free) {
        Some(body) => {
            body.free = false;
            let (parent, child) = (bodies.name(parent), bodies.name(child));
            bodies.parts.connections.push(Connection { parent, child, joints: vec![joint] });
        }
        None => {
            joint.description.parent = bodies.name(parent);
            joint.description.child = bodies.name(child);
            bodies.parts.loops.push(joint);
        }
    }
}

/// y − y0 = a0 + a1 (x − x0) + …, with x0 and y0 at `qpos0`: the zeros of the mechanism's coordinates.
fn couple(element: &Element, bodies: &mut Bodies<'_>, context: &mut Context) {
    element.check_attributes(
        &["active", "class", "joint1", "joint2", "name", "polycoef", "solimp", "solref"],
        context,
    );
    let mut coefficients = [0.0, 1.0, 0.0, 0.0, 0.0];
    for (to, from) in coefficients.iter_mut().zip(element.numbers("polycoef", context).unwrap_or_default()) {
        *to = from;
    }
    let mut found = |name: &str| {
        let joint = element.value(name)?;
        let known = bodies.joints.get(joint).copied();
        if known.is_none() {
            let message = format!("{}: there is no joint `{joint}`", element.what());
            context.error(element.place_of(name), message, "the name of a joint");
        }
        known.map(|place| (joint.to_string(), place))
    };
    let (follower, leader) = (found("joint1"), found("joint2"));
    let Some((joint, (connection, position, _))) = follower else {
        element.required("joint1", context);
        return;
    };
    let [offset, ratio, ..] = coefficients;
    if element.attribute("joint2").is_none() {
        if offset == 0.0 {
            meaning::weld(&mut bodies.parts.connections[connection].joints[position].description);
        } else {
            context.warning(
                &element.place,
                format!("{} holds `{joint}` away from the file's pose; it was left out", element.what()),
            );
        }
        return;
    }
    let Some((of, _)) = leader else { return };
    if coefficients[2..].iter().any(|c| *c != 0.0) {
        context.warning_of("polycoef", element.place_of("polycoef"), || {
            format!("{}: only the linear part of `polycoef` was used", element.what())
        });
    }
    let coupling = CouplingDescription { joint, of, ratio, offset };
    bodies.parts.couplings.push((coupling, element.place.clone()));
}

/// L1 − L1⁰ = a0 + a1 (L2 − L2⁰): with fixed tendons, Σ c q = a0 in the mechanism's coordinates. Of two joints, the later one
/// that does not follow another yet follows.
fn couple_lengths(element: &Element, tendons: &Tendons, bodies: &mut Bodies<'_>, context: &mut Context) {
    element.check_attributes(
        &["active", "class", "tendon1", "tendon2", "name", "polycoef", "solimp", "solref"],
        context,
    );
    let mut coefficients = [0.0, 1.0, 0.0, 0.0, 0.0];
    for (to, from) in coefficients.iter_mut().zip(element.numbers("polycoef", context).unwrap_or_default()) {
        *to = from;
    }
    let [a0, a1, more @ ..] = coefficients;
    let mut terms: Vec<(String, f64)> = Vec::new();
    for (name, share) in [("tendon1", 1.0), ("tendon2", -a1)] {
        let Some(tendon) = element.value(name) else { continue };
        let Some(tendon) = tendons.get(tendon) else {
            super::left_out(element, context);
            return;
        };
        for (joint, factor) in &tendon.terms {
            match terms.iter_mut().find(|(other, _)| other == joint) {
                Some((_, sum)) => *sum += share * factor,
                None => terms.push((joint.clone(), share * factor)),
            }
        }
    }
    terms.retain(|(_, factor)| *factor != 0.0);
    let is_free = |joint: &str| bodies.parts.couplings.iter().all(|(coupling, _)| coupling.joint != joint);
    let couples = |joint: &str, of: &str| {
        bodies.joints.contains_key(of)
            && bodies.joints.contains_key(joint)
            && is_free(joint)
            && leader(of, bodies).is_some_and(|(head, ..)| head != joint)
    };
    let linear = more.iter().all(|a| *a == 0.0) || element.attribute("tendon2").is_none();
    let coupling = match &terms[..] {
        [(one, c1), (two, c2)] if linear && couples(two, one) => Some((two, one, -c1 / c2, a0 / c2)),
        [(one, c1), (two, c2)] if linear && couples(one, two) => Some((one, two, -c2 / c1, a0 / c1)),
        _ => None,
    };
    let Some((joint, of, ratio, offset)) = coupling else {
        context.warning_of("<tendon> of an equality", &element.place, || {
            format!("{}: only two joints can be coupled, linearly; it was left out", element.what())
        });
        return;
    };
    let coupling = CouplingDescription { joint: joint.clone(), of: of.clone(), ratio, offset };
    bodies.parts.couplings.push((coupling, element.place.clone()));
}
