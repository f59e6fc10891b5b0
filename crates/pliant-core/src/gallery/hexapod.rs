//! Hexapod: a box on six legs of three links, standing, with a free base.
//!
//! ```text
//!            femur   coxa  ┌──────┐            z up, x forward
//!              ╱╲__________│ base │___╱╲       coxa turns about z, femur and tibia about the
//!             ╱            └──────┘     ╲      horizontal across the leg
//!       tibia│                           │
//!            ●  foot                     ●
//! ```
//! Instead of a floor, each foot is loaded with a sixth of the weight: the whole is in balance.

use std::f64::consts::FRAC_PI_4;

use nalgebra::Vector3;

use super::link::{Link, box_body, effector, finish, load, passive_hinge};
use crate::mechanism::{Geometry, Mechanism, MechanismBuilder, STANDARD_GRAVITY, Shape};
use crate::spatial::Pose;

const BASE_MASS: f64 = 2.0;
const FOOT_RADIUS: f64 = 0.012;
/// N·m/rad and N·m·s/rad.
const STIFFNESS: f64 = 80.0;
const DAMPING: f64 = 1.0;

/// Along and across the leg's plane: outward and up, m.
pub(super) const COXA: (f64, f64) = (0.05, 0.0);
pub(super) const FEMUR: (f64, f64) = (0.09, 0.05);
pub(super) const TIBIA: (f64, f64) = (0.04, -0.16);
/// Of coxa, femur and tibia, kg.
const LEG_MASSES: [f64; 3] = [0.06, 0.1, 0.09];

/// Name, hip, and the direction of the leg from +x in eighths of a turn.
pub(super) const LEGS: [(&str, [f64; 2], f64); 6] = [
    ("front_left", [0.13, 0.07], 1.0),
    ("front_right", [0.13, -0.07], -1.0),
    ("middle_left", [0.0, 0.08], 2.0),
    ("middle_right", [0.0, -0.08], -2.0),
    ("rear_left", [-0.13, 0.07], 3.0),
    ("rear_right", [-0.13, -0.07], -3.0),
];

/// A six-legged robot on a free base.
pub fn hexapod() -> Mechanism {
    let mut builder = MechanismBuilder::new("hexapod");
    parts(&mut builder);
    let weight = -STANDARD_GRAVITY[2] * (BASE_MASS + 6.0 * LEG_MASSES.iter().sum::<f64>());
    for (name, ..) in LEGS {
        builder.load(load(name, [0.0, 0.0, weight / 6.0]));
    }
    finish(builder)
}

/// Base and legs.
pub(super) fn parts(builder: &mut MechanismBuilder) {
    // The lowest points of the feet are at height 0.
    let height = FOOT_RADIUS - (COXA.1 + FEMUR.1 + TIBIA.1);
    let base = box_body("base", Pose::translation([0.0, 0.0, height]), BASE_MASS, [0.3, 0.16, 0.06]);
    builder.body(base.free());
    for (name, hip, eighths) in LEGS {
        let hip = Vector3::new(hip[0], hip[1], height);
        leg(builder, name, hip, direction(eighths));
    }
}

/// Where a leg points, by eighths of a turn from +x.
pub(super) fn direction(eighths: f64) -> Vector3<f64> {
    let (sine, cosine) = (FRAC_PI_4 * eighths).sin_cos();
    Vector3::new(cosine, sine, 0.0)
}

fn leg(builder: &mut MechanismBuilder, leg: &str, hip: Vector3<f64>, outward: Vector3<f64>) {
    let across = Vector3::z().cross(&outward);
    let parts = [
        ("coxa", COXA, Vector3::z(), 0.03),
        ("femur", FEMUR, across, 0.025),
        ("tibia", TIBIA, across, 0.018),
    ];
    let (mut from, mut parent) = (hip, "base".to_string());
    for (i, (part, (out, up), axis, section)) in parts.into_iter().enumerate() {
        let link =
            Link::new(from, from + outward * out + Vector3::z() * up).mass(LEG_MASSES[i]).section(section);
        let name = format!("{leg}_{part}");
        let mut body = link.body(&name);
        if part == "tibia" {
            body = body.shape(Shape::new(Geometry::Ball { radius: FOOT_RADIUS }).at(link.end()));
            builder.effector(effector(leg, &name, link.end()));
        }
        builder.body(body);
        builder.joint(
            passive_hinge(&name, parent, &name, link.from, axis).stiffness(STIFFNESS).damping(DAMPING),
        );
        (from, parent) = (link.to, name);
    }
}
