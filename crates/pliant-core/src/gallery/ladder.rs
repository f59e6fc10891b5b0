//! Ladder: two rails of links standing on the world, and a rung at the top of each pair.
//!
//! ```text
//!        tip →
//!    ┌────────────○      rung 1, child of the left rail link below it (sprung hinge), closed to
//!    │            │      the right one by a passive ball joint ○
//!    ├────────────○      rung 0
//!    │            │
//!  ══╧════════════╧══    z up, x to the right
//! ```
//! Rail links are 0.1 m, rungs 0.2 m; all hinges turn about world y. 100 N along x at the last rung
//! (after the ladders that Andrews 2015 times).

use nalgebra::Vector3;

use super::Size;
use super::link::{Link, hinge, staged};
use crate::joints::JointKind;
use crate::mechanism::{JointDescription, Mechanism, MechanismBuilder, WORLD};

pub(super) const SIZE: Size = Size { default: 36, multiple: 3 };

const STEP: f64 = 0.1;
const WIDTH: f64 = 0.2;

/// A ladder of `links` links: a third of them rungs.
///
/// # Panics
/// If the number of links is zero, above [`LARGEST_SIZE`](super::LARGEST_SIZE) or not a multiple of 3.
pub fn ladder(links: usize) -> Mechanism {
    staged("ladder", &SIZE, links, stage, |i| format!("rung{i}"))
}

fn stage(builder: &mut MechanismBuilder, i: usize) {
    let point = |x: f64, level: usize| Vector3::new(x, 0.0, STEP * level as f64);
    let carrier = |rail: &str| if i == 0 { WORLD.to_string() } else { format!("{rail}{}", i - 1) };
    for (rail, x) in [("left", 0.0), ("right", WIDTH)] {
        let link = Link::new(point(x, i), point(x, i + 1));
        let name = format!("{rail}{i}");
        builder.body(link.body(&name));
        builder.joint(hinge(&name, carrier(rail), &name, link.from, Vector3::y()));
    }
    let link = Link::new(point(0.0, i + 1), point(WIDTH, i + 1));
    let name = format!("rung{i}");
    builder.body(link.body(&name));
    builder.joint(hinge(&name, format!("left{i}"), &name, link.from, Vector3::y()));
    builder.joint(
        JointDescription::new(format!("close{i}"), JointKind::Ball, format!("right{i}"), &name)
            .axis(link.to, Vector3::z()),
    );
}
