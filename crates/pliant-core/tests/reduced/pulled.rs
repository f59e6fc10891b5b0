//! Claim: a chain of hinges that a spring to a point pulls hard gains no energy by it: the tension is in the geometric stiffness.

use pliant_core::engine::Simulation;
use pliant_core::joints::JointKind;
use pliant_core::mechanism::*;
use pliant_core::nalgebra::Vector3;
use pliant_core::reduced::Reduction;
use pliant_core::spatial::{Pose, SpatialInertia};

/// Links of 0.1 kg and 0.1 m that hang on each other without weight, turned by 0.3 rad at the first joint; the last one is pulled down by a
/// spring that is stretched by a tenth of the chain.
fn chain(links: usize, joint_spring: f64, force: f64) -> (Mechanism, Vector3<f64>, f64) {
    let mut builder = MechanismBuilder::new("chain");
    builder.gravity([0.0; 3]);
    for i in 0..links {
        let top = -0.1 * i as f64;
        let body = Body::new(format!("link {i}"), Pose::translation([0.0, 0.0, top - 0.05]));
        builder.body(body.inertia(SpatialInertia::of_box(0.1, [0.02, 0.02, 0.1])));
        let parent = if i == 0 { WORLD.to_string() } else { format!("link {}", i - 1) };
        let joint =
            JointDescription::new(format!("joint {i}"), JointKind::Hinge, parent, format!("link {i}"))
                .axis(Vector3::new(0.0, 0.0, top), Vector3::y())
                .stiffness(joint_spring)
                .damping(0.01 * joint_spring)
                .start(if i == 0 { 0.3 } else { 0.0 });
        builder.joint(joint);
    }
    let frame = Pose::translation([0.0, 0.0, -0.05]);
    builder.effector(EffectorDescription { name: "tip".into(), body: format!("link {}", links - 1), frame });
    let length = 0.1 * links as f64;
    let (point, stiffness) = (Vector3::new(0.0, 0.0, -1.1 * length), force / (0.1 * length));
    builder.spring(SpringDescription {
        name: "pull".into(),
        on: SpringStart::Effector("tip".into()),
        to: SpringEnd::Point(point.into()),
        stiffness,
        turning_stiffness: 0.0,
        damping: 0.0,
        turning_damping: 0.0,
    });
    (builder.build().unwrap(), point, stiffness)
}

#[test]
fn what_a_spring_pulls_gains_no_energy() {
    let mut ran = 0;
    for (links, joint_spring) in [(3, 0.0), (3, 1.0), (10, 0.0), (10, 1.0)] {
        for force in [1.0, 30.0, 1000.0] {
            let (mechanism, point, stiffness) = chain(links, joint_spring, force);
            let model = Reduction::at_rest(&mechanism).build().unwrap();
            for h in [1.0 / 60.0, 1.0 / 240.0] {
                let mut simulation = model.simulate();
                let tip = simulation.effector("tip").unwrap();
                let mut energies = || {
                    simulation.step(h).unwrap();
                    let (energy, at) = (simulation.energy(), simulation.effector_pose(tip).unwrap().position);
                    [energy.kinetic, energy.elastic + 0.5 * stiffness * (at - point).norm_squared()]
                };
                let start = energies().iter().sum::<f64>();
                let most = (0..(3.0 / h) as usize).map(|_| energies().iter().sum()).fold(0.0, f64::max);
                // From after the first step: a force in the pose of a step's start is exact to first order in h.
                assert!(
                    most < 1.5 * start,
                    "{links} links, {joint_spring}, {force} N, {h} s: {most} J of {start} J"
                );
                ran += 1;
            }
        }
    }
    assert_eq!(ran, 4 * 3 * 2);
}
