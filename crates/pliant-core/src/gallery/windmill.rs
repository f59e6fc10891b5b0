//! Windmill: a hub that turns about y, and eight arms on it. An arm's blade rolls on the hub, every second one on a
//! sphere, the others on an ellipsoid, and carries a ring that rolls on the blade's own. 1 + 8·(5 + 4) = 73
//! freedoms, all with springs; 2 N on the tip of arm 0, along y.

use nalgebra::Vector3;

use super::link::{Link, box_body, effector, finish, load, passive_hinge, ready};
use super::torus_chain::{ring, roll, rolling};
use crate::joints::JointKind;
use crate::mechanism::{JointDescription, Mechanism, MechanismBuilder, WORLD};
use crate::spatial::Pose;

const ARMS: usize = 8;
/// Radii of the hub's balls and of the blades' roots, m.
const HUB: [f64; 3] = [0.1, 0.08, 0.09];
const ROOT: [f64; 3] = [0.03, 0.04, 0.03];
/// Length of a blade, m. A ring of the size of those that roll on it is at its end.
const BLADE: f64 = 0.25;
const STIFFNESS: f64 = 60.0;
const DAMPING: f64 = 0.2;

/// A windmill of 17 bodies.
pub fn windmill() -> Mechanism {
    let mut builder = MechanismBuilder::new("windmill");
    builder.body(box_body("hub", Pose::identity(), 1.0, [0.12, 0.12, 0.12]));
    let hinge = passive_hinge("axle", WORLD, "hub", Vector3::zeros(), Vector3::y());
    builder.joint(hinge.stiffness(STIFFNESS).damping(DAMPING));
    let rolling = rolling();
    let roots = [
        ready("sphere-sphere", [("radius1", HUB[0].into()), ("radius2", ROOT[0].into())]),
        ready("ellipsoid-ellipsoid", [("radii1", HUB.into()), ("radii2", ROOT.into())]),
    ];
    for i in 0..ARMS {
        arm(&mut builder, i, &roots[i % 2], &rolling);
    }
    builder.effector(effector("tip", "ring0", Pose::identity()));
    builder.load(load("tip", [0.0, 2.0, 0.0]));
    finish(builder)
}

fn arm(builder: &mut MechanismBuilder, i: usize, root: &(JointKind, Pose), rolling: &(JointKind, Pose)) {
    let (blade, ring_name) = (format!("blade{i}"), format!("ring{i}"));
    // x outward in the plane of the wheel, y along the axle.
    let angle = std::f64::consts::TAU * i as f64 / ARMS as f64;
    let outward = Pose::rotation([0.0, 1.0, 0.0], angle);
    let (kind, start) = root.clone();
    let root = outward * start;
    let joint = JointDescription::new(format!("root{i}"), kind, "hub", &blade).frame(root);
    builder.joint(joint.stiffness(STIFFNESS).damping(DAMPING));
    let along = outward.rotation * Vector3::x();
    let link = Link::new(root.position, root.position + along * BLADE);
    builder.body(link.body(&blade));
    let end = Pose::new(outward.rotation, link.to);
    let joint = roll(rolling, format!("roll{i}"), blade, ring_name.clone(), end);
    builder.body(ring(ring_name, Pose::new(outward.rotation, joint.frame.position)));
    builder.joint(joint);
}
