//! Peg-in-hole: a peg on a soft wrist goes down into a square hole that is 2 mm off its axis, along a chamfer.
//!
//! ```text
//!      ┃ slide, driven down by 60 mm
//!      ▒ wrist: a bushing, soft sideways and in tilt
//!      █
//!      █ peg, 18 mm thick      ╲   ╱  chamfer
//!                            ███   ███
//!                            ███   ███  hole, 20 mm wide
//! ```

use nalgebra::Vector3;

use super::super::link::{box_body, effector, finish};
use super::{lift, target};
use crate::joints::JointKind;
use crate::mechanism::{Geometry, JointDescription, Mechanism, MechanismBuilder, Shape};
use crate::spatial::Pose;

/// Thickness of the peg, width of the hole, and how far off its axis the peg starts, m.
const PEG: f64 = 0.018;
const HOLE: f64 = 0.02;
const BESIDE: f64 = 0.002;
const FRICTION: f64 = 0.2;

/// A peg that finds its hole.
pub fn peg_in_hole() -> Mechanism {
    let mut builder = MechanismBuilder::new("peg-in-hole");
    builder.body(box_body("slide", Pose::translation([BESIDE, 0.0, 0.16]), 0.3, [0.05, 0.05, 0.03]));
    lift(&mut builder, "slide");
    let peg = Pose::translation([BESIDE, 0.0, 0.06]);
    let mut body = box_body("peg", peg, 0.1, [PEG, PEG, 0.08]);
    body.shapes[0].friction = Some(FRICTION);
    builder.body(body);
    builder.joint(
        JointDescription::new("wrist", JointKind::Bushing, "slide", "peg")
            .frame(Pose::translation([BESIDE, 0.0, 0.1]))
            .stiffness([500.0, 500.0, 2e4, 2.0, 2.0, 2.0])
            .damping([5.0, 5.0, 100.0, 0.02, 0.02, 0.02]),
    );
    builder.effector(effector("peg", "peg", Pose::translation([0.0, 0.0, -0.04])));
    target(&mut builder, "lift", &[(0.0, 0.0), (0.1, 0.0), (1.1, -0.06)]);
    // Four blocks around the hole, their tops at height 0, and a slope of 45° on the inner edge of each.
    for turn in 0..4 {
        let around = Pose::rotation([0.0, 0.0, 1.0], 0.5 * std::f64::consts::PI * turn as f64);
        let (block, depth) = (Vector3::new(0.04, 0.12, 0.06), 0.01);
        let wall = Pose::translation([0.5 * HOLE + 0.5 * block.x, 0.0, -depth - 0.5 * block.z]);
        // Its upper face goes from the wall's edge outward and up.
        let slope = Pose::translation([0.5 * HOLE, 0.0, -depth])
            * Pose::rotation([0.0, 1.0, 0.0], -std::f64::consts::FRAC_PI_4)
            * Pose::translation([0.02, 0.0, -0.005]);
        let boxes = [(block, wall), (Vector3::new(0.04, 0.12, 0.01), slope)];
        for (size, at) in boxes {
            let shape = Shape::new(Geometry::Box { size }).at(around * at);
            builder.world_shape(Shape { friction: Some(FRICTION), ..shape });
        }
    }
    finish(builder)
}
