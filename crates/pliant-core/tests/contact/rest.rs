//! Claim: where a scene rests on what it touches, with what forces, and how much friction it needs is what closed forms say: a block on
//! a slope, a ladder at a wall, a block between two fingers, a table on springs; and it is where the motion comes to rest.

use pliant_core::contact::{Grip, Scene, Surfaces, Touched};
use pliant_core::engine::Simulation;
use pliant_core::joints::JointKind;
use pliant_core::mechanism::{Body, Geometry, JointDescription, Mechanism, MechanismBuilder, Shape};
use pliant_core::nalgebra::{UnitQuaternion, Vector3};
use pliant_core::spatial::{Pose, SpatialInertia};
use pliant_core::{articulated, full, gallery};

const G: f64 = 9.81;

fn cuboid(size: [f64; 3], friction: f64) -> Shape {
    Shape { friction: Some(friction), ..Shape::new(Geometry::Box { size: size.into() }) }
}

fn plane(friction: f64, pose: Pose) -> Shape {
    Shape { friction: Some(friction), ..Shape::new(Geometry::Plane) }.at(pose)
}

fn loose(mechanism: &Mechanism) -> Scene {
    Scene::new(mechanism, Surfaces::new(), |held| articulated::Model::new(held).simulate()).unwrap()
}

/// A block on a plane at an angle needs tan(angle)/µ of its friction, of any size and mass; past that it slides, and says so.
#[test]
fn block_on_a_slope() {
    let friction = 0.6;
    for (size, mass) in [(1e-3, 1e-6), (0.1, 2.0), (10.0, 1e6)] {
        for part in [0.0, 0.3, 0.9, 0.99, 1.01, 1.5] {
            let angle = f64::atan(part * friction);
            let turn = Pose::rotation([0.0, 1.0, 0.0], angle);
            let mut builder = MechanismBuilder::new("slope");
            builder.gravity([0.0, 0.0, -G * size / 0.1]);
            builder.world_shape(plane(friction, turn));
            let start = turn * Pose::translation([0.0, 0.0, 0.26 * size]);
            let edges = [1.2, 0.8, 0.5].map(|edge| edge * size);
            let inertia = SpatialInertia::of_box(mass, edges);
            builder.body(Body::new("block", start).inertia(inertia).shape(cuboid(edges, friction)).free());
            let mut scene = loose(&builder.build().unwrap());
            let rest = scene.rest_with_margin().unwrap();
            assert_eq!(rest.converged, part < 1.0, "{size} m at {part}: {rest:?}");
            if part > 1.0 {
                assert_eq!(rest.unheld, Some(("block".into(), true)), "it slides");
                continue;
            }
            // Bisected to 2⁻¹⁴, and what moves by less than 1e-12 radii a step counts as held.
            let needed = rest.friction_needed.unwrap();
            assert!((needed - part).abs() < 2e-4, "{size} m: {needed} of {part}");
            let weight = mass * G * size / 0.1;
            let force: Vector3<f64> = scene.world().contacts().iter().map(|contact| contact.force).sum();
            assert!((force - Vector3::z() * weight).norm() < 1e-6 * weight, "{force} of {weight}");
            let pushing = scene.world().contacts().iter().filter(|contact| contact.force.norm() > 0.0);
            assert!(pushing.clone().count() >= 3 && pushing.into_iter().all(|c| c.grip() == Grip::Sticks));
        }
    }
}

/// A ladder of length l with round ends of radius r, mass m at its middle, at an angle a to a floor with µ, at a wall without friction:
/// the wall pushes with mg ½l cos a/(l sin a + r), because friction acts r below the lower end's centre, and µ must hold that.
#[test]
fn ladder_at_a_wall() {
    let (length, mass, thick) = (3.0, 12.0, 0.02);
    for (angle, friction, stays) in [(1.2f64, 0.5, true), (1.0, 0.5, true), (0.7, 0.5, false)] {
        let mut builder = MechanismBuilder::new("ladder");
        builder.world_shape(plane(friction, Pose::identity()));
        let wall = Pose::rotation([0.0, 1.0, 0.0], std::f64::consts::FRAC_PI_2);
        builder.world_shape(plane(0.0, wall));
        // It leans to −x, at the wall x = 0; two rails as capsules.
        let along = Vector3::new(-angle.cos(), 0.0, angle.sin());
        let middle =
            Vector3::new(0.5 * length * angle.cos() + thick, 0.0, 0.5 * length * angle.sin() + thick);
        let turn = UnitQuaternion::rotation_between(&Vector3::z(), &along).unwrap();
        let capsule = Geometry::Capsule { radius: thick, half_length: 0.5 * length };
        let rail = |y: f64| {
            let shape = Shape::new(capsule.clone()).at(Pose::translation([0.0, y, 0.0]));
            Shape { friction: Some(friction), ..shape }
        };
        let inertia = SpatialInertia::of_box(mass, [0.1, 0.4, length]);
        let body = Body::new("ladder", Pose::new(turn, middle)).inertia(inertia);
        builder.body(body.shape(rail(-0.2)).shape(rail(0.2)).free());
        let mut scene = loose(&builder.build().unwrap());
        let rest = scene.rest_with_margin().unwrap();
        let needs = 0.5 * length * angle.cos() / (length * angle.sin() + thick);
        assert_eq!(needs < friction, stays);
        if !stays {
            // It slides down until it lies on the floor, or nothing holds it.
            let down = scene.mechanism().find_body("ladder").unwrap();
            assert!(!rest.converged || scene.pose(down).unwrap().position.z < 0.1, "{rest:?}");
            continue;
        }
        assert!(rest.converged, "{rest:?}");
        let needed = rest.friction_needed.unwrap();
        assert!((needed - needs / friction).abs() < 1e-3, "{needed} of {}", needs / friction);
        let pushed: f64 = scene.world().contacts().iter().map(|contact| contact.force.x.max(0.0)).sum();
        assert!((pushed / (mass * G * needs) - 1.0).abs() < 1e-3, "{pushed}");
    }
}

/// A block that two sprung fingers press on: each with the force of its spring, held if that times 2µ is more than its weight.
#[test]
fn block_between_two_fingers() {
    for (stiffness, stays) in [(400.0, true), (2000.0, true), (100.0, false)] {
        let (friction, mass, press) = (0.5, 1.0, 0.05);
        let mut builder = MechanismBuilder::new("grasp");
        for (name, side) in [("left", -1.0), ("right", 1.0)] {
            let start = Pose::translation([side * 0.0701, 0.0, 0.0]);
            let inertia = SpatialInertia::of_box(0.1, [0.04, 0.1, 0.1]);
            builder.body(Body::new(name, start).inertia(inertia).shape(cuboid([0.04, 0.1, 0.1], friction)));
            let mut slide =
                JointDescription::new(format!("{name}_slide"), JointKind::Prismatic, "world", name);
            slide = slide.axis(start.position, Vector3::x());
            slide = slide.stiffness(stiffness).damping(1.0).rest(-side * press);
            builder.joint(slide);
        }
        let block = cuboid([0.1, 0.06, 0.06], friction);
        let inertia = SpatialInertia::of_box(mass, [0.1, 0.06, 0.06]);
        builder.body(Body::new("block", Pose::identity()).inertia(inertia).shape(block).free());
        let whole = builder.build().unwrap();
        for engine in ["full", "articulated"] {
            let mut scene = Scene::new(&whole, Surfaces::new(), |held| -> Box<dyn Simulation> {
                if engine == "full" {
                    full::Model::new(held).simulate().into()
                } else {
                    articulated::Model::new(held).simulate().into()
                }
            })
            .unwrap();
            let rest = scene.rest_with_margin().unwrap();
            // The fingers start 0.1 mm off.
            let force = stiffness * (press - 1e-4);
            let needs = mass * G / (2.0 * friction * force);
            assert_eq!(needs < 1.0, stays);
            assert_eq!(rest.converged, stays, "{engine}: {rest:?}");
            if !stays {
                assert_eq!(rest.unheld.as_ref().map(|(name, _)| name.as_str()), Some("block"), "{engine}");
                continue;
            }
            let needed = rest.friction_needed.unwrap();
            assert!((needed / needs - 1.0).abs() < 1e-3, "{engine}: {needed} of {needs}");
            let block = scene.touched(whole.find_body("block").unwrap()).unwrap();
            assert!((scene.world().force_on(block).unwrap().force.z - mass * G).abs() < 1e-6);
            let left = scene.touched(whole.find_body("left").unwrap()).unwrap();
            let press = scene.world().force_on(left).unwrap().force.x;
            // Contact gives way by up to 7e-4 radii, which the spring feels.
            assert!((press.abs() - force).abs() < 7e-4 * 0.075 * stiffness, "{engine}: {press} of {force}");
        }
    }
}

/// A robot of the gallery that stands on six feet, and would walk as time goes on, carries its weight where it stands, has not gone
/// anywhere, and rests where its motion does once its legs are told to stay.
#[test]
fn hexapod_stands_where_it_comes_to_rest() {
    let whole = gallery::build("hexapod-terrain").expect("a scene of the gallery");
    let mut scene = loose(&whole);
    let start = scene.pose(whole.body_ids().next().unwrap()).unwrap();
    let rest = scene.rest().unwrap();
    assert!(rest.converged, "{rest:?}");
    assert_eq!((scene.time(), scene.state().time), (0.0, 0.0));
    let weight = whole.mass() * G;
    let ground = |scene: &Scene| -> f64 {
        let contacts = scene.world().contacts().iter().filter(|contact| contact.first == Touched::World);
        contacts.map(|contact| contact.force.z).sum()
    };
    assert!((ground(&scene) / weight - 1.0).abs() < 1e-4, "{} of {weight}", ground(&scene));
    let base = scene.pose(whole.body_ids().next().unwrap()).unwrap();
    assert!((base.position - start.position).norm() < 0.1 * whole.radius(), "{base:?}");
    let mut moving = loose(&whole);
    for joint in whole.joint_ids() {
        let count = whole[joint].coordinates().len();
        moving.inputs_mut().set_target(joint, &vec![0.0; count]).unwrap();
    }
    for _ in 0..2400 {
        moving.step(1.0 / 240.0).unwrap();
    }
    // Where feet land friction holds them, so there are many rests; that of the motion is one.
    let before: Vec<Pose> = whole.body_ids().map(|body| moving.pose(body).unwrap()).collect();
    assert!(moving.rest().unwrap().converged);
    for (body, before) in whole.body_ids().zip(before) {
        let moved = (moving.pose(body).unwrap().position - before.position).norm();
        assert!(moved < 1e-5 * whole.radius(), "{}: {moved}", whole[body].name);
    }
}
