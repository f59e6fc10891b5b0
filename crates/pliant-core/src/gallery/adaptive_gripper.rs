//! Adaptive gripper: a palm that points down with two mirrored fingers of four links and two freedoms each.
//!
//! ```text
//!    ═══════ palm ═══════      A driver, sprung: both are coupled       z up, x to the right,
//!       D   A──B               B coupler on the driver: passive, with   hinges about y, one finger
//!        ╲      │                a stop that keeps A B C as drawn       shown; turning closes
//!         ╲     │coupler       D spring link: a weak spring holds the
//!   spring ╲    │                coupler on its stop
//!      link  E──C              C and E: passive hinges of the follower
//!           [│ follower
//!        pad[│
//! ```
//! On its stop, A C and D E are a parallelogram: the pads close without turning (pinch). When something
//! between the spring links stops these first, the coupler leaves its stop and the pads turn in around it
//! (enveloping). Distances between the hinges are those of Robotiq's description of its 2F-85: 31.5 mm and 4.1 mm
//! from A to B, 37.3 mm and 43 mm from A to C, pads 85 mm apart as drawn that meet at 0.8 rad. Gravity acts; the
//! pads are pushed apart with 5 N each.

use std::f64::consts::FRAC_PI_2;

use nalgebra::Vector3;

use super::link::{Link, box_body, box_shape, effector, finish, load, passive_hinge, weld};
use crate::mechanism::{CouplingDescription, Mechanism, MechanismBuilder};
use crate::spatial::Pose;

/// Of a driver, N·m/rad and N·m·s/rad.
const STIFFNESS: f64 = 5.0;
const DAMPING: f64 = 0.2;
/// Of a spring link, with the angle at which it is relaxed, rad.
const WEAK: f64 = 0.05;
const RELAXED: f64 = 2.62;

/// A gripper whose fingers pinch or envelop.
pub fn adaptive_gripper() -> Mechanism {
    let mut builder = MechanismBuilder::new("adaptive-gripper");
    builder.joint(weld("palm", Vector3::zeros()));
    parts(&mut builder);
    builder.load(load("left", [-5.0, 0.0, 0.0]));
    builder.load(load("right", [5.0, 0.0, 0.0]));
    finish(builder)
}

/// Palm and fingers, without what holds the palm.
pub(super) fn parts(builder: &mut MechanismBuilder) {
    let palm = box_body("palm", Pose::translation([0.0, 0.0, -0.025]), 0.78, [0.08, 0.05, 0.05]);
    builder.body(palm);
    finger(builder, "left", -1.0);
    finger(builder, "right", 1.0);
    builder.coupling(CouplingDescription {
        joint: "right_driver".into(),
        of: "left_driver".into(),
        ratio: 1.0,
        offset: 0.0,
    });
}

/// A finger on the side of `sign` along x. All its hinges close in the positive sense.
fn finger(builder: &mut MechanismBuilder, side: &str, sign: f64) {
    let point = |x: f64, z: f64| Vector3::new(sign * x, 0.0, z);
    let named = |part: &str| format!("{side}_{part}");
    let axis = Vector3::y() * sign;
    let reach = point(0.0373, -0.043);
    let (A, D) = (point(0.0306, -0.0549), point(0.0127, -0.0614));
    let (B, C, E) = (A + point(0.0315, 0.0041), A + reach, D + reach);

    builder.body(Link::new(A, B).mass(0.009).section(0.01).body(named("driver")));
    builder.body(Link::new(B, C).mass(0.014).section(0.01).body(named("coupler")));
    builder.body(Link::new(D, E).mass(0.022).section(0.01).body(named("spring_link")));
    // The follower: a beam down, a foot that reaches both hinges, and the pad on the inner face.
    let center = point(0.0565, -0.128);
    let within = |p: Vector3<f64>| Pose::translation((p - center).into());
    let pad = [0.007, 0.022, 0.0375];
    let pad_center = point(0.046, -0.1345);
    builder.body(
        box_body(named("follower"), Pose::translation(center.into()), 0.03, [0.014, 0.02, 0.052])
            .shape(Link::new(E, C).section(0.012).on(&Pose::translation(center.into())))
            .shape(box_shape(pad).at(within(pad_center))),
    );
    for (joint, parent, child, at) in [
        ("driver", "palm".into(), "driver", A),
        ("coupler", named("driver"), "coupler", B),
        ("spring_link", "palm".into(), "spring_link", D),
        ("follower", named("spring_link"), "follower", E),
        ("closing", named("coupler"), "follower", C),
    ] {
        let hinge = passive_hinge(named(joint), parent, named(child), at, axis);
        builder.joint(match joint {
            "driver" => hinge.stiffness(STIFFNESS).damping(DAMPING).limits((-0.1, 0.8)).armature(0.005),
            "coupler" => hinge.damping(1e-3).limits((-FRAC_PI_2, 0.0)).armature(0.001),
            "spring_link" => hinge.stiffness(WEAK).rest(RELAXED).damping(1.25e-3),
            _ => hinge,
        });
    }
    let face = pad_center - point(0.5 * pad[0], 0.0);
    builder.effector(effector(side, named("follower"), within(face)));
}
