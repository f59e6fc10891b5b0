//! Fin-ray: a finger of two flanks that meet at the tip, with ribs between them, that bends toward what pushes it.
//!
//! ```text
//!            tip
//!            ╱╲             z up, x to the right, hinges about y: the joints of the flanks are
//!           ╱──╲            sprung, those of the ribs and the tip are passive
//!   push → ╱────╲
//!         ╱──────╲          pushed on one flank, that one bows in and gets shorter, the ribs push the other
//!        ╱═base═══╲         one out, which gets longer, and the tip comes over the push
//! ```
//! The tail fin's effect that Kniese found, as in soft grippers: 100 mm high, 40 mm wide at its base, five
//! segments to a flank, the flanks 3 mm hollow. 2 N on the third joint of the left flank; no gravity.

use nalgebra::Vector3;

use super::link::{Link, WEIGHTLESS, effector, finish, load, passive_hinge};
use crate::mechanism::{Mechanism, MechanismBuilder, WORLD};
use crate::spatial::Pose;

const HEIGHT: f64 = 0.1;
const HALF_WIDTH: f64 = 0.02;
/// How far the flanks bow in as drawn: between straight ones the tip is fixed to first order, by two lengths.
const HOLLOW: f64 = 0.003;
const SEGMENTS: usize = 5;
/// Of a flank's joint, N·m/rad and N·m·s/rad.
const STIFFNESS: f64 = 0.1;
const DAMPING: f64 = 4e-3;

/// A finger that bends toward its contact.
pub fn fin_ray() -> Mechanism {
    let mut builder = MechanismBuilder::new("fin-ray");
    builder.gravity(WEIGHTLESS);
    parts(&mut builder, WORLD);
    builder.load(load("flank", [2.0, 0.0, 0.0]));
    finish(builder)
}

/// The finger on a body or the world.
pub(super) fn parts(builder: &mut MechanismBuilder, base: &str) {
    let node = |sign: f64, i: usize| {
        let up = i as f64 / SEGMENTS as f64;
        let out = HALF_WIDTH * (1.0 - up) - HOLLOW * 4.0 * up * (1.0 - up);
        Vector3::new(sign * out, 0.0, HEIGHT * up)
    };
    let part = |from: Vector3<f64>, to: Vector3<f64>| Link::new(from, to).mass(2e-3).section(4e-3);
    let name = |side: &str, i: usize| format!("{side}{i}");
    for (side, sign) in [("left", -1.0), ("right", 1.0)] {
        for i in 0..SEGMENTS {
            let segment = part(node(sign, i), node(sign, i + 1));
            let parent = if i == 0 { base.into() } else { name(side, i - 1) };
            builder.body(segment.body(name(side, i)));
            builder.joint(
                passive_hinge(name(side, i), parent, name(side, i), segment.from, Vector3::y())
                    .stiffness(STIFFNESS)
                    .damping(DAMPING),
            );
        }
    }
    for i in 1..SEGMENTS {
        let rib = part(node(-1.0, i), node(1.0, i));
        builder.body(rib.body(name("rib", i)));
        for (side, at) in [("left", rib.from), ("right", rib.to)] {
            let joint = format!("rib{i}_{side}");
            builder.joint(passive_hinge(joint, name(side, i), name("rib", i), at, Vector3::y()));
        }
    }
    let (left, right) = (name("left", SEGMENTS - 1), name("right", SEGMENTS - 1));
    let end = part(node(-1.0, SEGMENTS - 1), node(-1.0, SEGMENTS)).end();
    builder.joint(passive_hinge("tip", right, &left, node(1.0, SEGMENTS), Vector3::y()));
    builder.effector(effector("tip", left, end));
    let half = part(node(-1.0, 2), node(-1.0, 3)).length() * 0.5;
    builder.effector(effector("flank", name("left", 2), Pose::translation([-half, 0.0, 0.0])));
}
