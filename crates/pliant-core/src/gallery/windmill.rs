//! Windmill: a hub that turns about y, and eight arms on it. An arm's blade rolls on the hub, and carries a ring that rolls on
//! the blade's own. Four pairs of surfaces take turns at the hub: sphere on sphere, on ellipsoid and on torus, torus on
//! ellipsoid; with the rings these are the pairs of Si, Guenter 2010, Fig. 2. 1 + 8·(5 + 4) = 73 freedoms, all with springs; 2 N
//! on the tip of arm 0, along y.

use nalgebra::Vector3;

use super::link::{Link, box_body, effector, finish, load, passive_hinge, ready};
use super::torus_chain::{ring, roll, rolling};
use crate::joints::JointKind;
use crate::mechanism::{JointDescription, Mechanism, MechanismBuilder, WORLD};
use crate::spatial::Pose;

const ARMS: usize = 8;
/// Radius of the hub's ball and radii of the blades' roots, m.
const HUB: f64 = 0.1;
const ROOT: [f64; 3] = [0.03, 0.04, 0.03];
/// Radii of ring and tube of the hub's torus and of the roots', together as large as those.
const HUB_RING: [f64; 2] = [0.085, 0.015];
const ROOT_RING: [f64; 2] = [0.022, 0.008];
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
        ready("sphere-sphere", [("radius1", HUB.into()), ("radius2", ROOT[0].into())]),
        ready("sphere-ellipsoid", [("radius1", HUB.into()), ("radii2", ROOT.into())]),
        ready(
            "sphere-torus",
            [("radius1", HUB.into()), ("ring2", ROOT_RING[0].into()), ("tube2", ROOT_RING[1].into())],
        ),
        ready(
            "torus-ellipsoid",
            [("ring1", HUB_RING[0].into()), ("tube1", HUB_RING[1].into()), ("radii2", ROOT.into())],
        ),
    ];
    for i in 0..ARMS {
        arm(&mut builder, i, &roots[i % roots.len()], &rolling);
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
