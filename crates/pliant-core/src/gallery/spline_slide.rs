//! Spline slide: a carriage on a Bézier curve of seven points, its x along the curve, and five rings that hang from it
//! and roll on each other. A spring holds the carriage; 5 N along the curve at the last ring.

use nalgebra::Vector3;

use super::link::{box_body, effector, finish, load, ready};
use super::torus_chain::{ring, roll, rolling};
use crate::mechanism::{JointDescription, Mechanism, MechanismBuilder, WORLD};
use crate::spatial::Pose;

/// The curve, m.
const POINTS: [[f64; 3]; 7] = [
    [-0.9, 0.0, 0.2],
    [-0.6, 0.3, 0.0],
    [-0.3, -0.3, 0.1],
    [0.0, 0.2, -0.2],
    [0.3, 0.4, 0.1],
    [0.6, -0.2, 0.0],
    [0.9, 0.0, 0.3],
];
/// From one end to the other, m.
const LENGTH: f64 = 2.0;
const RINGS: usize = 5;

/// A carriage with five rings.
pub fn spline_slide() -> Mechanism {
    let mut builder = MechanismBuilder::new("spline-slide");
    let (kind, start) = ready(
        "frame-on-curve",
        [
            ("points", POINTS.into()),
            ("start", 0.5.into()),
            ("scale", LENGTH.into()),
            ("up", [0.0, 0.0, 1.0].into()),
        ],
    );
    builder.body(box_body("carriage", start, 0.5, [0.1, 0.06, 0.04]));
    let joint = JointDescription::new("slide", kind, WORLD, "carriage").frame(start);
    builder.joint(joint.stiffness(200.0).damping(5.0).limits((-0.8, 0.8)));
    // Down from the carriage: x of the rings is −z.
    let mut at = Pose::new(start.rotation, start.position)
        * Pose::rotation([0.0, 1.0, 0.0], std::f64::consts::FRAC_PI_2);
    let rolling = rolling();
    let mut parent = String::from("carriage");
    for i in 0..RINGS {
        let name = format!("ring{i}");
        let joint = roll(&rolling, format!("roll{i}"), parent, name.clone(), at);
        at = Pose::new(at.rotation, joint.frame.position);
        builder.joint(joint);
        builder.body(ring(name.clone(), at));
        parent = name;
    }
    builder.effector(effector("tip", parent, Pose::identity()));
    let force = start.rotation * Vector3::new(5.0, 0.0, 0.0);
    builder.load(load("tip", force.into()));
    finish(builder)
}
