//! Claim: a handle of another mechanism, simulation or world, or of something that was removed, is an error in every
//! function that takes one: never a panic, never the answer of another element; and nothing changes.

use pliant_core::contact::{Scene, Touched, World};
use pliant_core::engine::{Inputs, Simulation, Spring, State};
use pliant_core::linear::{Linearisation, Reference};
use pliant_core::mechanism::{
    Body, BodyId, EffectorId, JointId, Mechanism, STANDARD_GRAVITY, SpringDescription, SpringEnd, SpringStart,
};
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
    let linearisation = Linearisation::at_rest(&mechanism);
    let projection = linearisation.project().unwrap();
    let mut linear = linearisation.build().unwrap().simulate();
    for &body in &bodies {
        assert!(projection.twist_map(&reference, body).is_err() && mechanism.shapes_of(Some(body)).is_err());
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
        assert!(projection.wrench_map(&reference, joint).is_err());
        assert!(projection.coordinate_map(&reference, joint).is_err());
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

/// A spring of a scene has the same handle where the same spring is in the same place, and no other's.
#[test]
fn of_springs_of_other_scenes() {
    let scene = |names: [&str; 2]| {
        let mut arm = gallery::arm().to_builder();
        for (i, name) in names.into_iter().enumerate() {
            let end = SpringEnd::Point([i as f64, 0.0, 0.0]);
            arm.spring(
                SpringDescription::new(name, SpringStart::Effector("tip".into()), end).stiffness(10.0),
            );
        }
        Inputs::new(&arm.build().unwrap())
    };
    let (one, same, mut turned) =
        (scene(["left", "right"]), scene(["left", "right"]), scene(["right", "left"]));
    assert_eq!(one.scene_springs().count(), 2);
    for (at, (name, id)) in one.scene_springs().enumerate() {
        assert!(same.scene_springs().any(|other| other == (name, id)) && same.spring(id).is_ok());
        assert!(turned.scene_springs().all(|(_, other)| other != id));
        let error = turned.remove_spring(id).unwrap_err();
        assert!(error.to_string().contains(&format!("spring coupling number {at} ")), "{error}");
    }
}

/// Inputs of another mechanism, put in the place of a simulation's, stop it with an error, until they are its own again.
#[test]
fn inputs_of_another_mechanism() {
    let arm = gallery::arm();
    let mut others = vec![gallery::two_link(), gallery::chain(400), gallery::hand()];
    let mut renamed = arm.to_builder();
    renamed.joint_mut(&arm.joints()[0].name).unwrap().name = "another".into();
    others.push(renamed.build().unwrap());
    for kind in Kind::ALL {
        for other in &others {
            let mut simulation = kind.simulate(&arm);
            simulation.step(FRAME).unwrap();
            let (own, before) = (simulation.inputs().clone(), bits(simulation.state()));
            *simulation.inputs_mut() = Inputs::new(other);
            let body = other.body_ids().last().unwrap();
            let foreign = simulation.inputs_mut().add_spring(spring(body)).unwrap();
            let error = simulation.step(FRAME).unwrap_err().to_string();
            assert!(error.contains(other.name()) && error.contains(arm.name()), "{error}");
            assert!(simulation.settle(&Default::default()).is_err(), "{kind:?}");
            assert!(simulation.estimate().is_err() && simulation.spring_force(foreign).is_err(), "{kind:?}");
            assert!(bits(simulation.state()) == before, "{kind:?}");
            assert!(simulation.energy().total().is_finite());
            *simulation.inputs_mut() = own;
            simulation.step(FRAME).unwrap();
        }
    }
    // In a scene, of the whole and of what joints hold together.
    for at in 0..2 {
        let grasp = gallery::gripper_pick();
        let mut scene =
            Scene::new(&grasp, Default::default(), |held| full::Model::new(held).simulate()).unwrap();
        scene.step(0.002).unwrap();
        let before = bits(scene.state());
        let mut touched = grasp.body_ids().map(|body| scene.touched(body).unwrap());
        let held = touched.find_map(|at| if let Touched::Mechanism(id, _) = at { Some(id) } else { None });
        let held = held.unwrap();
        match at {
            0 => *scene.inputs_mut() = Inputs::new(&arm),
            _ => *scene.world_mut().simulation_mut(held).unwrap().inputs_mut() = Inputs::new(&arm),
        }
        assert!(scene.step(0.002).is_err());
        assert!(scene.settle(&Default::default()).is_err());
        assert!(bits(scene.state()) == before, "{at}");
    }
    // Parts of another mechanism.
    let (one, two) = (gallery::gripper_pick(), gallery::hexapod_terrain());
    let held = two.take_apart().held.map(|held| full::Model::new(&held).simulate().into());
    assert!(Scene::of(&one, two.take_apart(), Default::default(), held).is_err());
}

/// What is removed by going back, and what is added to a copy, is not taken for anything else.
#[test]
fn of_what_a_world_had_or_its_copy_has() {
    let body = |name: &str| Body::new(name, Pose::identity()).inertia(SpatialInertia::of_box(1.0, [0.1; 3]));
    let held = gallery::gripper_pick().take_apart().held.unwrap();
    let mut world = World::new(STANDARD_GRAVITY);
    let kept = world.add_body(&body("kept")).unwrap();
    let saved = world.save();
    let removed = world.add_body(&body("removed")).unwrap();
    let arm = world.add(full::Model::new(&held).simulate()).unwrap();
    world.restore(&saved).unwrap();
    let mut copy = world.clone();
    for (world, name) in [(&mut world, "new"), (&mut copy, "of the copy")] {
        let new = world.add_body(&body(name)).unwrap();
        let other = world.add(full::Model::new(&held).simulate()).unwrap();
        assert!(world.body(removed).is_err() && world.simulation(arm).is_err());
        assert!(world.name(Touched::Free(removed)).is_err());
        assert_eq!(world.body(kept).unwrap().name(), "kept");
        assert_eq!(world.body(new).unwrap().name(), name);
        assert!(world.simulation(other).is_ok());
        assert!(world.bodies().map(|(id, _)| id).eq([kept, new]));
    }
    let [new, of_copy] = [&world, &copy].map(|world| world.bodies().last().unwrap().0);
    assert!(world.body(of_copy).is_err() && copy.body(new).is_err());
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
