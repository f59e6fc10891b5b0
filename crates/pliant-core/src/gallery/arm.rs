//! Arm: eight links, two straight up and six forward, then three fingers of four links at the wrist
//! (after the arm that Andrews 2015 times). Hinges about the links' y and z in turn, counted
//! within the arm and within each finger. Gravity acts; 100 N down at the last finger's last link.

use std::f64::consts::TAU;

use nalgebra::Vector3;

use super::link::{Link, effector, finish, hinge, load};
use crate::mechanism::{Mechanism, MechanismBuilder, WORLD};
use crate::spatial::Pose;

/// An arm with three fingers, 20 links.
pub fn arm() -> Mechanism {
    let mut builder = MechanismBuilder::new("arm");
    let upright = Vector3::new(0.0, 0.0, 0.15);
    let forward = Vector3::new(0.12, 0.0, 0.05);
    let steps: Vec<_> = [upright; 2].into_iter().chain([forward; 6]).collect();
    let wrist = row(&mut builder, "arm", WORLD, Vector3::zeros(), &steps, 1.0, 0.06);
    for finger in 0..3 {
        let (sine, cosine) = (TAU * f64::from(finger) / 3.0).sin_cos();
        let start = wrist + Vector3::new(0.0, 0.04 * cosine, 0.04 * sine);
        let step = Vector3::new(0.04, 0.005 * cosine, 0.005 * sine);
        row(&mut builder, &format!("finger{finger}_"), "arm7", start, &[step; 4], 0.05, 0.015);
    }
    builder.effector(effector("tip", "finger2_3", Pose::identity()));
    builder.load(load("tip", [0.0, 0.0, -100.0]));
    finish(builder)
}

/// Links end to end from a point; gives where they end.
fn row(
    builder: &mut MechanismBuilder,
    row: &str,
    parent: &str,
    start: Vector3<f64>,
    steps: &[Vector3<f64>],
    mass: f64,
    section: f64,
) -> Vector3<f64> {
    let mut parent = parent.to_string();
    let mut from = start;
    for (i, step) in steps.iter().enumerate() {
        let link = Link::new(from, from + step).mass(mass).section(section);
        let name = format!("{row}{i}");
        builder.body(link.body(&name));
        builder.joint(hinge(&name, parent, &name, link.from, link.alternating_axis(i)));
        parent = name;
        from = link.to;
    }
    from
}
