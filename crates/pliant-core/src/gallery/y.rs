//! Y: a stem of two links and two arms of two links in the xy plane.
//!
//! ```text
//!   left \     / right     y up the page, x to the right;
//!         \   /            links of 0.15 m and 0.2 kg, arms at 45° to the stem,
//!          \ /             sprung hinges about z, 100 N along x at `left`
//!           |
//!           |
//!         ══╧══
//! ```

use std::f64::consts::FRAC_1_SQRT_2;

use nalgebra::Vector3;

use super::link::{Link, WEIGHTLESS, effector, finish, hinge, load};
use crate::mechanism::{Mechanism, MechanismBuilder, WORLD};
use crate::spatial::Pose;

const LENGTH: f64 = 0.15;
const MASS: f64 = 0.2;

/// A stem that forks into two arms.
pub fn y() -> Mechanism {
    let mut builder = MechanismBuilder::new("y");
    builder.gravity(WEIGHTLESS);
    let fork = branch(&mut builder, "stem", WORLD, Vector3::zeros(), Vector3::y());
    for (side, across) in [("left", -FRAC_1_SQRT_2), ("right", FRAC_1_SQRT_2)] {
        let direction = Vector3::new(across, FRAC_1_SQRT_2, 0.0);
        branch(&mut builder, side, "stem1", fork, direction);
        builder.effector(effector(side, format!("{side}1"), Pose::identity()));
    }
    builder.load(load("left", [100.0, 0.0, 0.0]));
    finish(builder)
}

/// Two links in a row from a point; gives where they end.
fn branch(
    builder: &mut MechanismBuilder,
    branch: &str,
    parent: &str,
    start: Vector3<f64>,
    direction: Vector3<f64>,
) -> Vector3<f64> {
    let mut parent = parent.to_string();
    for i in 0..2 {
        let from = start + direction * (LENGTH * i as f64);
        let link = Link::new(from, from + direction * LENGTH).mass(MASS);
        let name = format!("{branch}{i}");
        builder.body(link.body(&name));
        builder.joint(hinge(&name, parent, &name, link.from, Vector3::z()));
        parent = name;
    }
    start + direction * (2.0 * LENGTH)
}
