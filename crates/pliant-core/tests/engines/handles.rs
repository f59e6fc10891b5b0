//! Claim: a handle of another mechanism, simulation or world, or of something that was removed, is an error in every
//! function that takes one: never a panic, never the answer of another element; and nothing changes.

use pliant_core::contact::{Scene, Touched, World};
use pliant_core::engine::{Inputs, Simulation, Spring, State};
use pliant_core::linear::{Linearisation, Reference};
use pliant_core::mechanism::{Body, BodyId, EffectorId, JointId, Mechanism, STANDARD_GRAVITY};
use pliant_core::spatial::{Pose, SpatialInertia, Twist, Wrench};
use pliant_core::{articulated, blended, full, gallery};

use super::Kind;
use crate::common::{FRAME, bits};

/// Handles of mechanisms that look alike: as long, longer and shorter, with the same names.
struct Foreign {
    bodies: Vec<BodyId>,
    joints: Vec<JointId>,
    effectors: Vec<EffectorId>,
}

fn foreign(mechanism: &Mechanism) -> Foreign {
    let mut renamed = mechanism.to_builder();
    renamed.joint_mut(&mechanism.joints()[0].name).unwrap().name = "another".into();
    let mut others = vec![renamed.build().unwrap()];
    others.extend(["chain:400", "two-link", "hand"].map(|name| gallery::build(name).unwrap()));
    Foreign {
        bodies: others.iter().flat_map(|m| m.body_ids()).collect(),
        joints: others.iter().flat_map(|m| m.joint_ids()).collect(),
        effectors: others.iter().flat_map(|m| m.effector_ids()).collect(),
    }
}

fn spring(body: BodyId) -> Spring {
    Spring {
        body,
        frame: Pose::identity(),
        target: Pose::identity(),
        target_twist: Twist::ZERO,
        stiffness: 10.0,
        turning_stiffness: 0.0,
        damping: 0.0,
        turning_damping: 0.0,
    }
}

#[test]
fn of_another_mechanism() {
    let mechanism = gallery::arm();
    let Foreign { bodies, joints, effectors } = foreign(&mechanism);
    assert!(bodies.len() > 400 && joints.len() > 400 && effectors.len() > 5);
    let state = State::at_rest(&mechanism);
    for kind in Kind::ALL {
        let mut simulation = kind.simulate(&mechanism);
        simulation.step(FRAME).unwrap();
        let (before, inputs) = (bits(simulation.state()), simulation.inputs().clone());
        for &body in &bodies {
            assert!(simulation.pose(body).is_err());
            assert!(simulation.inputs_mut().set_body_load(body, Wrench::ZERO).is_err());
            assert!(simulation.inputs_mut().add_spring(spring(body)).is_err());
        }
        for &effector in &effectors {
            assert!(simulation.effector_pose(effector).is_err());
            assert!(simulation.set_load(effector, Wrench::ZERO).is_err());
            assert!(simulation.inputs().load(effector).is_err());
        }
        for &joint in &joints {
            assert!(simulation.inputs_mut().set_target(joint, &[0.0]).is_err());
            assert!(simulation.joint_positions(joint).is_err());
            assert!(simulation.joint_forces(joint).is_err());
        }
        assert!(*simulation.inputs() == inputs);
        assert!(bits(simulation.state()) == before, "{kind:?}");
        simulation.step(FRAME).unwrap();
    }
    let model = articulated::Model::new(&mechanism);
    let dynamics = model.dynamics();
    let reference = Reference::at_rest(&mechanism);
    let mut equilibrium = full::Model::new(&mechanism).simulate();
    equilibrium.settle(&Default::default()).unwrap();
    let mut tangent = equilibrium.tangent().unwrap();
    let mut blend = blended::Model::new(&mechanism, Default::default()).unwrap().simulate();
    let mut linear = Linearisation::at_rest(&mechanism).build().unwrap().simulate();
    for &body in &bodies {
        assert!(mechanism.body(body).is_err());
        assert!(state.pose(body).is_err() && state.world_twist(body).is_err());
        assert!(model.speeds_of(body).is_err());
        assert!(dynamics.jacobian(body, &Pose::identity()).is_err());
        assert!(reference.pose(body).is_err());
        assert!(tangent.displacement(&[(body, Wrench::ZERO)]).is_err());
        assert!(linear.rebuild_only(&[body]).is_err());
    }
    for &joint in &joints {
        assert!(mechanism.joint(joint).is_err());
        assert!(state.coordinates_of(&mechanism, joint).is_err());
        assert!(Reference::at_positions(&mechanism, &[(joint, vec![0.0])]).is_err());
    }
    for &effector in &effectors {
        assert!(mechanism.effector(effector).is_err());
        assert!(state.effector_pose(&mechanism, effector).is_err());
        assert!(dynamics.effector_jacobian(effector).is_err());
        assert!(blend.weights(effector).is_err());
    }
}

/// Handles stay good for the same structure: another file with the same names, other springs.
#[test]
fn of_the_same_structure() {
    let arm = gallery::arm();
    let tip = arm.find_effector("tip").unwrap();
    let mut softer = arm.to_builder();
    softer.joint_mut(&arm.joints()[0].name).unwrap().stiffness = Some(1.0.into());
    let softer = softer.build().unwrap();
    assert_eq!(softer.effector(tip).unwrap().name, "tip");
    assert!(gallery::arm().effector(tip).is_ok());
    assert!(State::at_rest(&arm).belongs_to(&softer));
}

#[test]
fn of_springs_that_were_removed_or_are_elsewhere() {
    for kind in Kind::ALL {
        let mechanism = gallery::arm();
        let mut simulation = kind.simulate(&mechanism);
        let mut other = kind.simulate(&mechanism);
        let tip = mechanism.effectors()[0].body;
        let first = simulation.inputs_mut().add_spring(spring(tip)).unwrap();
        let second = simulation.inputs_mut().add_spring(spring(tip)).unwrap();
        let elsewhere = other.inputs_mut().add_spring(spring(tip)).unwrap();
        simulation.inputs_mut().remove_spring(first).unwrap();
        let kept = *simulation.inputs().spring(second).unwrap();
        for id in [first, elsewhere] {
            assert!(simulation.inputs().spring(id).is_err());
            assert!(simulation.inputs_mut().remove_spring(id).is_err());
            assert!(simulation.spring_force(id).is_err());
            let moved = Pose::translation([1.0, 0.0, 0.0]);
            assert!(simulation.inputs_mut().set_spring_target(id, moved, Twist::ZERO).is_err());
        }
        assert_eq!(*simulation.inputs().spring(second).unwrap(), kept, "{kind:?}");
        simulation.inputs_mut().clear_springs();
        let third = simulation.inputs_mut().add_spring(spring(tip)).unwrap();
        assert!(simulation.inputs_mut().set_spring_target(second, Pose::identity(), Twist::ZERO).is_err());
        assert!(simulation.spring_force(third).is_ok());
        // A copy has the same springs.
        assert!(simulation.clone().inputs().spring(third).is_ok());
    }
    assert!(Inputs::new(&gallery::arm()).load(gallery::y().effector_ids().next().unwrap()).is_err());
}

#[test]
fn of_another_world() {
    let mechanism = gallery::two_link();
    let ball = Body::new("ball", Pose::identity()).inertia(SpatialInertia::of_box(1.0, [0.1; 3]));
    let world = || {
        let mut world = World::new(STANDARD_GRAVITY);
        let bodies = [world.add_body(&ball).unwrap(), world.add_body(&ball).unwrap()];
        (world, bodies)
    };
    let (mut one, [body, _]) = world();
    let (mut two, [_, foreign]) = world();
    let shaped = gallery::gripper_pick();
    let held = shaped.take_apart().held.unwrap();
    let arm = two.add(full::Model::new(&held).simulate()).unwrap();
    let tip = mechanism.effector_ids().next().unwrap();
    assert!(one.body(foreign).is_err() && one.body_mut(foreign).is_err());
    assert!(one.simulation(arm).is_err() && one.simulation_mut(arm).is_err());
    assert!(one.is_attached(foreign).is_err() && one.detach(foreign).is_err());
    assert!(one.attach(foreign, arm, &[tip]).is_err() && one.attach(body, arm, &[tip]).is_err());
    for touched in [Touched::Free(foreign), Touched::Mechanism(arm, held.body_ids().next().unwrap())] {
        assert!(one.force_on(touched).is_err() && one.name(touched).is_err());
    }
    // Of another mechanism in the right world.
    assert!(two.attach(foreign, arm, &[tip]).is_err());
    assert!(two.name(Touched::Mechanism(arm, mechanism.body_ids().next().unwrap())).is_err());
    assert!(one.restore(&two.save()).is_err());
    one.step(0.01).unwrap();
    two.step(0.01).unwrap();

    let mut scene =
        Scene::new(&shaped, Default::default(), |held| articulated::Model::new(held).simulate()).unwrap();
    let foreign = mechanism.body_ids().next().unwrap();
    assert!(scene.touched(foreign).is_err() && scene.pose(foreign).is_err());
    assert!(scene.effector_pose(tip).is_err() && scene.set_load(tip, Wrench::ZERO).is_err());
    scene.step(0.01).unwrap();
}
