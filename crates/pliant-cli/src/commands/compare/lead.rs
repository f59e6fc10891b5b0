//! The point of a comparison in a few sentences, for a reader who has read nothing else.

use std::fmt::Write as _;

use pliant::engines::Engine;
use pliant::mechanism::Mechanism;
use pliant::nalgebra::Vector3;

use super::measure::{Comparison, Ramp};
use super::verdict::{BAD, GOOD};
use crate::page::text::{count, figure, percent, significant, time};

/// What acts, in words.
pub fn loads(mechanism: &Mechanism) -> String {
    let vector = |v: &Vector3<f64>, unit: &str| {
        // A comma is between two of them.
        let number = |x: f64| significant(x, 4).replace(',', "");
        format!("({}) {unit}", [v.x, v.y, v.z].map(number).join(", "))
    };
    let mut parts: Vec<String> = Vec::new();
    for load in mechanism.loads().iter().take(3) {
        let name = &mechanism[load.effector].name;
        let (force, torque) = (load.wrench.force, load.wrench.torque);
        let mut what = Vec::new();
        if force.norm() > 0.0 {
            what.push(vector(&force, "N"));
        }
        if torque.norm() > 0.0 {
            what.push(vector(&torque, "N·m"));
        }
        if !what.is_empty() {
            parts.push(format!("{} on “{name}”", what.join(" and ")));
        }
    }
    if mechanism.loads().len() > 3 {
        parts.push(format!("{} more", count(mechanism.loads().len() - 3, "load", "loads")));
    }
    let gravity = mechanism.gravity();
    parts.push(if gravity.norm() > 0.0 {
        format!("gravity {}", vector(&gravity, "m/s²"))
    } else {
        "no gravity".into()
    });
    if !mechanism.targets().is_empty() {
        parts.push(count(
            mechanism.targets().len(),
            "joint that follows a target",
            "joints that follow targets",
        ));
    }
    format!("the load is {}", parts.join(", "))
}

/// The point, with the figures just measured.
pub fn lead(mechanism: &Mechanism, comparison: &Comparison) -> String {
    let Comparison { coordinates, speed, ramp, transient, .. } = comparison;
    let base = if comparison.free_base { " in addition to its free base" } else { "" };
    let mut text = format!(
        "The linear model has {}{base} instead of the {} of {}",
        count(*coordinates, "coordinate", "coordinates"),
        6 * mechanism.bodies().len(),
        count(mechanism.bodies().len(), "body", "bodies")
    );
    if let (Some((engine, exact)), Some(linear)) = (speed.exact(), speed.of(Engine::Linear)) {
        let _ = write!(
            text,
            " and steps in {} instead of {}: {} times as fast as `{}`, the fastest engine with every freedom",
            time(linear),
            time(exact),
            significant(exact / linear, 2),
            engine.name()
        );
        if let Some(full) = speed.of(Engine::Full).filter(|_| engine != Engine::Full) {
            let _ = write!(text, " ({} times as fast as `full`)", significant(full / linear, 2));
        }
    }
    let (its, has_it, it) = match mechanism.effectors().len() {
        1 => ("its effector is", "has it", "effector"),
        _ => ("its effectors are", "has them", "worst effector"),
    };
    let load = match (mechanism.loads().is_empty(), mechanism.gravity().norm() > 0.0) {
        (true, true) => "its own weight",
        _ => "the scene's load",
    };
    match (ramp.as_ref().ok(), ramp.as_ref().ok().and_then(Ramp::at_scene)) {
        (Some(ramp), Some(sample)) if !ramp.moves() => {
            let _ = write!(
                text,
                ". At rest under {load}, {its} within {} of where the full simulation {has_it}, but no link moves by more than {} of the \
                 mechanism's radius: apply a load to see more.",
                within(sample.effector),
                within(sample.displacement)
            );
        }
        (Some(ramp), Some(sample)) => {
            let _ = write!(
                text,
                ". At rest under {load}, {its} within {} of where the full simulation {has_it}, after a move of {} (both of the \
                 mechanism's radius). {}",
                within(sample.effector),
                percent(sample.displacement),
                reach(ramp, sample.effector)
            );
        }
        (ramp, _) => {
            let most = transient.max_error();
            let verdict = if most > BAD { ": too fast or too large for one linear model" } else { "" };
            let _ = write!(
                text,
                ". In the motion under {load}, the {it} is at most {} of the mechanism's radius from where the full simulation has \
                 it{verdict}.",
                percent(most)
            );
            if let Some(ramp) = ramp.filter(|ramp| !ramp.samples.is_empty()) {
                let _ = write!(text, " {}", reach(ramp, 0.0));
            }
        }
    }
    text
}

/// A bound: what can be distinguished, if it is below that.
fn within(x: f64) -> String {
    percent(x.max(1e-6))
}

/// Up to which load the model is good.
fn reach(ramp: &Ramp, at_scene: f64) -> String {
    let good = ramp.samples.iter().take_while(|s| s.effector <= GOOD).last();
    let stays = match good {
        None => format!("is above 1 % even under {} of that load", percent(ramp.samples[0].scale)),
        Some(last) if last.scale == 1.0 => "stays below 1 % up to about that load".into(),
        Some(last) => format!("stays below 1 % up to {} times that load", figure(last.scale)),
    };
    match at_scene > BAD {
        true => format!("That load is too large for one linear model, whose error {stays}."),
        false => format!("The error {stays}."),
    }
}
