//! Claim: mass that is kept over several steps leaves an error of first order in the step: with every motion, places and energy come to
//! those of the articulated engine as steps get shorter, on passive and hardly sprung chains and loops that swing through large angles.

use pliant_core::articulated;
use pliant_core::engine::Simulation;
use pliant_core::gallery::build;
use pliant_core::joints::JointKind;
use pliant_core::mechanism::{
    Body, EffectorDescription, JointDescription, Mechanism, MechanismBuilder, STANDARD_GRAVITY, WORLD,
};
use pliant_core::nalgebra::{DMatrix, Vector3};
use pliant_core::reduced::Model;
use pliant_core::spatial::{Pose, SpatialInertia};

/// Every motion of the tree, in the order of its joints.
pub fn all_motions(mechanism: &Mechanism) -> Model {
    let carries = mechanism.order().nodes().iter().filter_map(|node| node.joint);
    let n = carries.map(|joint| mechanism[joint].freedoms.len()).sum::<usize>();
    Model::with_motions(mechanism, &DMatrix::identity(n, n))
}

/// A chain that hangs from the world, its links of 0.1 m, started far from rest.
fn chain(links: usize, kind: &JointKind, stiffness: f64, armature: f64) -> Mechanism {
    let mut builder = MechanismBuilder::new("chain");
    builder.gravity(STANDARD_GRAVITY);
    for i in 0..links {
        let z = -0.1 * i as f64;
        let name = format!("link {i}");
        let center = Pose::translation([0.0, 0.0, z - 0.05]);
        builder.body(Body::new(&name, center).inertia(SpatialInertia::of_box(0.1, [0.03, 0.02, 0.1])));
        let parent = if i == 0 { WORLD.to_string() } else { format!("link {}", i - 1) };
        let lean = 0.4 * i as f64;
        let mut joint = JointDescription::new(format!("joint {i}"), kind.clone(), parent, &name)
            .axis(Vector3::new(0.0, 0.0, z), Vector3::new(lean.sin(), lean.cos(), 0.0))
            .stiffness(stiffness)
            .armature(armature);
        joint = match kind {
            JointKind::Ball => joint.start(vec![0.7, 0.5, 0.3]),
            _ => joint.start(1.2),
        };
        builder.joint(joint);
    }
    let tip = Pose::translation([0.0, 0.0, -0.05]);
    let body = format!("link {}", links - 1);
    builder.effector(EffectorDescription { name: "tip".into(), body, frame: tip });
    builder.build().unwrap()
}

/// A linkage of the gallery that falls, hardly sprung.
fn falling(name: &str) -> Mechanism {
    let mechanism = build(name).unwrap();
    let mut builder = mechanism.to_builder();
    builder.gravity(STANDARD_GRAVITY);
    for joint in mechanism.joints() {
        let own = builder.joint_mut(&joint.name).unwrap();
        (own.damping, own.limits, own.friction, own.torque_limit) = (None, None, None, None);
        own.stiffness = (!joint.freedoms.is_empty()).then(|| 0.01.into());
    }
    builder.build().unwrap()
}

/// How far effectors end from the articulated engine after 0.4 s, in radii, or energy, over the largest kinetic energy.
fn apart(mechanism: &Mechanism, dt: f64) -> f64 {
    let mut few = all_motions(mechanism).simulate();
    let mut all = articulated::Model::new(mechanism).simulate();
    let mut most = 0.0f64;
    for _ in 0..(0.4 / dt).round() as usize {
        few.step(dt).unwrap();
        all.step(dt).unwrap();
        most = most.max(all.energy().kinetic);
    }
    let off = |e| (few.effector_pose(e).unwrap().position - all.effector_pose(e).unwrap().position).norm();
    let places = mechanism.effector_ids().map(off).fold(0.0, f64::max) / mechanism.radius();
    places.max((few.energy().total() - all.energy().total()).abs() / most)
}

#[test]
fn shorter_steps_come_to_the_articulated_engine() {
    let mut family = Vec::new();
    for links in [2, 3, 6] {
        for (stiffness, armature) in [(0.0, 0.0), (0.01, 0.0), (0.01, 1e-5)] {
            let hinges = chain(links, &JointKind::Hinge, stiffness, armature);
            family.push((format!("{links} hinges, {stiffness}, {armature}"), hinges));
            // The articulated engine has rotors of balls on their speeds.
            if armature == 0.0 {
                let balls = chain(links, &JointKind::Ball, stiffness, armature);
                family.push((format!("{links} balls, {stiffness}"), balls));
            }
        }
    }
    for name in ["four-bar", "excavator", "tendon-finger", "adaptive-gripper"] {
        family.push((name.to_string(), falling(name)));
    }
    for (name, mechanism) in &family {
        let steps = [5e-4, 2.5e-4, 1.25e-4, 6.25e-5];
        let errors = steps.map(|dt| apart(mechanism, dt));
        // At most 9 dt with hinges that nothing or hardly anything holds; without what steps leave 10 to 1000 times as much.
        for (dt, error) in steps.iter().zip(errors) {
            assert!(error < 14.0 * dt, "{name}: {errors:?}");
        }
        // Of a long chain of hinges it is small, and changes with how often mass is made.
        if !name.starts_with("6 hinges") {
            assert!(errors.windows(2).all(|e| e[1] < 0.9 * e[0]), "{name}: {errors:?}");
            assert!(errors[3] < 0.2 * errors[0], "{name}: {errors:?}");
        }
    }
}

/// What a step leaves is saved with a state.
#[test]
fn a_restored_state_goes_on_with_the_same_bits() {
    let mut simulation = all_motions(&chain(3, &JointKind::Ball, 0.0, 0.0)).simulate();
    (0..333).for_each(|_| simulation.step(1e-3).unwrap());
    let saved = simulation.state().clone();
    let mut other = simulation.model().simulate();
    other.set_state(&saved).unwrap();
    for _ in 0..100 {
        simulation.step(1e-3).unwrap();
        other.step(1e-3).unwrap();
    }
    assert_eq!(simulation.state(), other.state());
}
