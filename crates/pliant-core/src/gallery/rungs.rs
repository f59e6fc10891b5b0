//! Rungs: stages of two rail links between rungs. Both rail links of a stage stand on the rung below
//! and carry the rung above, so that every path goes through every rung.
//!
//! ```text
//!    ├────────┤  rung1, tip →
//!    │        │  left1, right1
//!    ├────────┤  rung0
//!    │        │  left0, right0
//!  ══╧════════╧══   the world; y up the page, x to the right
//! ```
//! Links of 0.15 m and 0.2 kg, sprung hinges about z. 100 N along x at the last rung.

use nalgebra::Vector3;

use super::Size;
use super::link::{Link, hinge, staged};
use crate::mechanism::{Mechanism, MechanismBuilder, WORLD};

pub(super) const SIZE: Size = Size { default: 48, multiple: 3 };

const LENGTH: f64 = 0.15;
const MASS: f64 = 0.2;

/// A ladder of `links` links, a third of them rungs, on which every rung carries the next stage.
///
/// # Panics
/// If the number of links is zero, above [`LARGEST_SIZE`](super::LARGEST_SIZE) or not a multiple of 3.
pub fn rungs(links: usize) -> Mechanism {
    staged("rungs", &SIZE, links, stage, |i| format!("rung{i}"))
}

fn stage(builder: &mut MechanismBuilder, i: usize) {
    let point = |x: f64, level: usize| Vector3::new(x, LENGTH * level as f64, 0.0);
    let below = if i == 0 { WORLD.to_string() } else { format!("rung{}", i - 1) };
    let rung = format!("rung{i}");
    let sides = [("left", 0.0), ("right", LENGTH)];
    for (side, x) in sides {
        let link = Link::new(point(x, i), point(x, i + 1)).mass(MASS);
        let name = format!("{side}{i}");
        builder.body(link.body(&name));
        builder.joint(hinge(format!("{name}_foot"), &below, &name, link.from, Vector3::z()));
    }
    let link = Link::new(point(0.0, i + 1), point(LENGTH, i + 1)).mass(MASS);
    builder.body(link.body(&rung));
    for (side, x) in sides {
        let name = format!("{side}{i}");
        builder.joint(hinge(format!("{name}_head"), &name, &rung, point(x, i + 1), Vector3::z()));
    }
}
