//! Loop: rings of six links, each a regular hexagon standing on a vertex, stacked in the xz plane.
//!
//! ```text
//!          △ tip →        the next ring's branches start here, on the left branch's last link
//!     2  /   \  2
//!       |     |           a ring goes up both sides in two branches of three links from its
//!     1 |     | 1         bottom vertex, and is closed at its top by one more sprung hinge
//!     0  \   /  0
//!        ══╧══            z up, x to the right; sides of 0.1 m, hinges about y
//! ```
//! 100 N along x at the last link of the top ring's left branch.

use nalgebra::Vector3;

use super::Size;
use super::link::{Link, hinge, staged};
use crate::mechanism::{Mechanism, MechanismBuilder, WORLD};

pub(super) const SIZE: Size = Size { default: 12, multiple: 6 };

const SIDE: f64 = 0.1;

/// Closed rings of six links each, `links` in all; `loop` on the command line.
///
/// # Panics
/// If the number of links is zero, above [`LARGEST_SIZE`](super::LARGEST_SIZE) or not a multiple of 6.
pub fn closed_loop(links: usize) -> Mechanism {
    staged("loop", &SIZE, links, add_ring, |i| format!("ring{i}_left2"))
}

fn add_ring(builder: &mut MechanismBuilder, ring: usize) {
    let below = if ring == 0 { WORLD.to_string() } else { format!("ring{}_left2", ring - 1) };
    let bottom = Vector3::new(0.0, 0.0, 2.0 * SIDE * ring as f64);
    let across = SIDE * 0.75_f64.sqrt();
    for (side, sign) in [("left", -1.0), ("right", 1.0)] {
        let points = [(0.0, 0.0), (across, 0.5 * SIDE), (across, 1.5 * SIDE), (0.0, 2.0 * SIDE)]
            .map(|(x, z)| bottom + Vector3::new(sign * x, 0.0, z));
        let mut parent = below.clone();
        for i in 0..3 {
            let link = Link::new(points[i], points[i + 1]);
            let name = format!("ring{ring}_{side}{i}");
            builder.body(link.body(&name));
            builder.joint(hinge(&name, parent, &name, link.from, Vector3::y()));
            parent = name;
        }
    }
    let top = bottom + Vector3::new(0.0, 0.0, 2.0 * SIDE);
    let (parent, child) = (format!("ring{ring}_right2"), format!("ring{ring}_left2"));
    builder.joint(hinge(format!("ring{ring}_close"), parent, child, top, Vector3::y()));
}
