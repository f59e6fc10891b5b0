//! Pad: a round steel tip goes down on a soft pad, and then sideways, as in a test of indentation and friction.
//!
//! ```text
//!      ━━┯━━   carriage, driven sideways by 1 mm
//!        ┃     slide of the tip, driven down by 1.5 mm
//!        ●     tip, 10 mm in radius
//!     ▒▒▒▒▒▒▒  pad of 20 × 20 × 12 mm, 0.1 MPa, bonded to the world below
//! ```
//!
//! The tip sticks to the pad at first; then it slips from the rim of the contact inward.

use nalgebra::Vector3;

use super::super::link::{box_body, effector, finish};
use super::target;
use crate::joints::JointKind;
use crate::mechanism::{
    Body, Geometry, JointDescription, Mechanism, MechanismBuilder, Shape, WORLD, ZoneDescription,
};
use crate::spatial::{Pose, SpatialInertia};

/// Radius of the tip and edges of the pad, m.
const RADIUS: f64 = 0.01;
const PAD: [f64; 3] = [0.02, 0.02, 0.012];

/// A pad under a round tip.
pub fn pad() -> Mechanism {
    let mut builder = MechanismBuilder::new("pad");
    let above = Pose::translation([0.0, 0.0, 0.5 * PAD[2] + 0.03]);
    let mut carriage = box_body("carriage", above, 0.1, [0.03, 0.02, 0.01]);
    carriage.shapes[0].touches = false;
    builder.body(carriage);
    let ball = Shape { friction: Some(0.5), ..Shape::new(Geometry::Ball { radius: RADIUS }) };
    let tip = Body::new("tip", Pose::translation([0.0, 0.0, 0.5 * PAD[2] + RADIUS + 2e-4])).shape(ball);
    builder.body(tip.inertia(SpatialInertia::of_box(0.03, [0.016; 3])));
    let slide = |name: &str, parent: &str, child: &str, axis: Vector3<f64>| {
        JointDescription::new(name, JointKind::Prismatic, parent, child)
            .axis(Vector3::zeros(), axis)
            .stiffness(5e3)
            .damping(20.0)
    };
    builder.joint(slide("across", WORLD, "carriage", Vector3::x()));
    builder.joint(slide("down", "carriage", "tip", Vector3::z()));
    builder.effector(effector("tip", "tip", Pose::identity()));
    target(&mut builder, "down", &[(0.0, 0.0), (0.05, 0.0), (0.35, -1.5e-3)]);
    target(&mut builder, "across", &[(0.0, 0.0), (0.45, 0.0), (0.75, 1e-3)]);
    let shape = Shape { friction: Some(0.5), ..Shape::new(Geometry::Box { size: PAD.into() }) };
    let mut zone = ZoneDescription::new("pad", WORLD, shape).elasticity(1e5, 0.45);
    (zone.damping, zone.resolution) = (2e-3, Some(1.5e-3));
    let below = Shape::new(Geometry::Box { size: [0.04, 0.04, 0.01].into() });
    zone.bonded = Some(below.at(Pose::translation([0.0, 0.0, -0.5 * PAD[2] - 0.005])));
    builder.zone(zone);
    finish(builder)
}
