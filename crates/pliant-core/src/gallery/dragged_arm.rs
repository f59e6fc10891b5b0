//! Dragged arm: a human arm whose hand a device drags along a path, over a soft spring, as in Hernandez' experiment with torques
//! that are switched on and off.
//!
//! ```text
//!  S ● shoulder, ball joint          z up, x forward
//!    │ upper arm, 0.30 m
//!  E ●───────────● W ── hand         ∿ spring of the device, to a point that moves
//!  elbow  forearm, 0.26 m   ∿ ○
//! ```
//! Lengths and masses of a grown-up of 75 kg (2.1, 1.3 and 0.5 kg). Springs at the joints stand for muscles that hold the pose; a simulation
//! switches them off by setting their stiffness to 0 ([`JointProperty`](crate::engine::JointProperty)), and the arm hangs on the device. Gravity acts.

use nalgebra::Vector3;

use super::link::{Link, effector, finish, load};
use crate::joints::JointKind;
use crate::mechanism::{
    JointDescription, Mechanism, MechanismBuilder, SpringDescription, SpringEnd, SpringStart, WORLD,
};
use crate::spatial::Pose;

/// Of the device, N/m and N·s/m.
const DEVICE: [f64; 2] = [150.0, 5.0];
/// When the device moves, has moved, and is back, s, and how far, m.
const TIMES: [f64; 4] = [0.0, 0.5, 1.5, 2.5];
const WAY: [f64; 3] = [0.05, 0.1, 0.08];

/// A human arm dragged by a device.
pub fn dragged_arm() -> Mechanism {
    let shoulder = Vector3::new(0.0, 0.0, 1.4);
    let elbow = shoulder - Vector3::z() * 0.3;
    let wrist = elbow + Vector3::x() * 0.26;
    let tip = wrist + Vector3::x() * 0.16;
    let mut builder = MechanismBuilder::new("dragged-arm");
    let hand = Link::new(wrist, tip).mass(0.5).section(0.05);
    builder.body(Link::new(shoulder, elbow).mass(2.1).section(0.08).body("upper_arm"));
    builder.body(Link::new(elbow, wrist).mass(1.3).section(0.06).body("forearm"));
    builder.body(hand.body("hand"));
    let held = |joint: JointDescription, stiffness: f64| joint.stiffness(stiffness).damping(0.1 * stiffness);
    let at = |name: &str, kind, parent: &str, child: &str, point: Vector3<f64>| {
        JointDescription::new(name, kind, parent, child).frame(Pose::translation(point.into()))
    };
    builder.joint(held(at("shoulder", JointKind::Ball, WORLD, "upper_arm", shoulder), 60.0));
    let hinge = JointDescription::new("elbow", JointKind::Hinge, "upper_arm", "forearm");
    builder.joint(held(hinge.axis(elbow, -Vector3::y()), 40.0).limits((-1.5, 0.9)));
    builder
        .joint(held(at("wrist", JointKind::Universal, "forearm", "hand", wrist), 10.0).limits((-1.2, 1.2)));
    builder.effector(effector("hand", "hand", hand.end()));
    builder.load(load("hand", [0.0, 5.0, -10.0]));
    let away = tip + Vector3::from(WAY);
    let [start, moving, moved, back] = TIMES;
    let to = SpringEnd::Path {
        time: vec![start, moving, moved, back],
        point: vec![tip.into(), tip.into(), away.into(), tip.into()],
    };
    let device = SpringDescription::new("device", SpringStart::Effector("hand".into()), to);
    builder.spring(device.stiffness(DEVICE[0]).damping(DEVICE[1]));
    finish(builder)
}
