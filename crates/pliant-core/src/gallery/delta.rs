//! Delta: a platform below three motors, on three arms that each end in a parallelogram of two rods.
//!
//! ```text
//!        ●──── base ────●           ● motor, sprung hinge           z up, motors on a circle,
//!   arm ╱                ╲          ◦ universal joint, passive      the first along +x
//!      ◦                  ◦         • ball joint, passive
//!       ╲╲  two rods     ╱╱
//!        ••── platform ─••          the platform hangs on one rod; five ball joints close it
//! ```
//! Clavel's robot in the size of ABB's FlexPicker, as Williams gives it for his closed forms: motors 164 mm from
//! the middle, arms of 524 mm, rods of 1244 mm, their ends 44 mm from the middle of the platform. Rods of a
//! pair stay parallel, so that the platform cannot turn. Gravity acts; a load pulls it down and aside.

use std::f64::consts::{FRAC_PI_3, FRAC_PI_6};

use nalgebra::Vector3;

use super::link::{Link, ball, box_body, effector, finish, load, passive_hinge, universal};
use crate::mechanism::{Mechanism, MechanismBuilder, WORLD};
use crate::spatial::Pose;

const BASE: f64 = 0.164;
const ARM: f64 = 0.524;
const ROD: f64 = 1.244;
const PLATFORM: f64 = 0.044;
/// Half the distance between the rods of a pair.
const ASIDE: f64 = 0.03;
/// How far the arms point down as drawn.
const DOWN: f64 = FRAC_PI_6;

/// A delta robot: three motors move a platform that does not turn.
pub fn delta() -> Mechanism {
    let mut builder = MechanismBuilder::new("delta");
    let inward = BASE + ARM * DOWN.cos() - PLATFORM;
    let center = -Vector3::z() * (ARM * DOWN.sin() + (ROD * ROD - inward * inward).sqrt());
    let pose = Pose::translation(center.into());
    builder.body(box_body("platform", pose, 0.2, [0.08, 0.08, 0.01]));
    for leg in 0..3 {
        let (sine, cosine) = (2.0 * FRAC_PI_3 * leg as f64).sin_cos();
        let (out, along) = (Vector3::new(cosine, sine, 0.0), Vector3::new(-sine, cosine, 0.0));
        let hip = out * BASE;
        let elbow = hip + (out * DOWN.cos() - Vector3::z() * DOWN.sin()) * ARM;
        let arm = format!("arm{leg}");
        builder.body(Link::new(hip, elbow).mass(1.0).section(0.04).body(&arm));
        // Turning about `along` lowers the arm.
        builder.joint(passive_hinge(&arm, WORLD, &arm, hip, along).stiffness(500.0).damping(15.0));
        for (side, sign) in [("left", -1.0), ("right", 1.0)] {
            let shift = along * (sign * ASIDE);
            let rod = Link::new(elbow + shift, center + out * PLATFORM + shift).mass(0.1).section(0.01);
            let name = format!("rod{leg}_{side}");
            builder.body(rod.body(&name));
            builder.joint(universal(&name, &arm, &name, &rod));
            builder.joint(ball(format!("{name}_end"), &name, "platform", rod.to));
        }
    }
    builder.effector(effector("platform", "platform", Pose::identity()));
    builder.load(load("platform", [15.0, 5.0, -20.0]));
    finish(builder)
}
