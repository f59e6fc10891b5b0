//! Small mechanisms that are hard on an engine's stability.

#![allow(dead_code)] // every test file uses a part of it

use pliant_core::joints::JointKind;
use pliant_core::mechanism::{
    Body, EffectorDescription, JointDescription, Mechanism, MechanismBuilder, WORLD,
};
use pliant_core::nalgebra::Vector3;
use pliant_core::spatial::{Pose, SpatialInertia};

/// Of a link of [`ball_chain`], m.
pub const LENGTH: f64 = 0.1;

/// Links of 0.1 m and 0.1 kg along x on passive ball joints, held at the origin.
pub fn ball_chain(links: usize) -> Mechanism {
    let mut builder = MechanismBuilder::new("ball chain");
    let mut parent = WORLD.to_string();
    for i in 0..links {
        let name = format!("link{i}");
        let at = Vector3::new(LENGTH * i as f64, 0.0, 0.0);
        let pose = Pose::translation([at.x + 0.5 * LENGTH, 0.0, 0.0]);
        builder.body(Body::new(&name, pose).inertia(SpatialInertia::of_box(0.1, [LENGTH, 0.02, 0.02])));
        builder.joint(JointDescription::new(&name, JointKind::Ball, parent, &name).axis(at, Vector3::z()));
        parent = name;
    }
    builder.build().unwrap()
}

/// A passive four-bar with all bars on one line, and the effector `coupler`.
pub fn flat_four_bar() -> Mechanism {
    let mut builder = MechanismBuilder::new("flat four-bar");
    builder.gravity([0.0; 3]);
    for (name, from, to) in [("crank", 0.0, 0.1), ("coupler", 0.1, 0.4), ("rocker", 0.3, 0.4)] {
        let (middle, length) = (0.5 * (from + to), to - from);
        let inertia = SpatialInertia::of_box(length, [length, 0.02, 0.02]);
        builder.body(Body::new(name, Pose::translation([middle, 0.0, 0.0])).inertia(inertia));
    }
    for (name, parent, child, at) in [
        ("A", WORLD, "crank", 0.0),
        ("B", "crank", "coupler", 0.1),
        ("C", "rocker", "coupler", 0.4),
        ("D", WORLD, "rocker", 0.3),
    ] {
        let joint = JointDescription::new(name, JointKind::Hinge, parent, child);
        builder.joint(joint.axis(Vector3::new(at, 0.0, 0.0), Vector3::y()));
    }
    let coupler = "coupler".to_string();
    builder.effector(EffectorDescription { name: coupler.clone(), body: coupler, frame: Pose::identity() });
    builder.build().unwrap()
}

/// A door on a hinge with limits, its inertia about it a third of a kg·m².
pub fn door(limit: f64) -> Mechanism {
    let mut builder = MechanismBuilder::new("door");
    builder.gravity([0.0; 3]);
    let inertia = SpatialInertia::of_box(1.0, [1.0, 0.05, 0.5]);
    builder.body(Body::new("door", Pose::translation([0.5, 0.0, 0.0])).inertia(inertia));
    let joint = JointDescription::new("hinge", JointKind::Hinge, WORLD, "door");
    builder.joint(joint.damping(0.01).limits((-limit, limit)));
    builder.build().unwrap()
}
