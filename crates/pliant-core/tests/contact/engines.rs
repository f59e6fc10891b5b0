//! Contact in every engine: the impulse of a ball that hits an effector is v₀/(1/m + w), with w measured by two steps of
//! the engine alone, one of them with a load; and a ball that lies on an effector weighs on it what it weighs.

use crate::common::models::Models;
use nalgebra::{Matrix3, Vector3};
use pliant_core::articulated;
use pliant_core::contact::{FreeBodyId, Touched, World};
use pliant_core::engine::Simulation;
use pliant_core::gallery;
use pliant_core::mechanism::{Body, BodyId, Geometry, Shape};
use pliant_core::nalgebra;
use pliant_core::spatial::{Pose, SpatialInertia, Twist, Wrench};

const H: f64 = 1.0 / 240.0;

fn ball(position: Vector3<f64>, radius: f64, mass: f64) -> Body {
    let inertia = SpatialInertia {
        mass,
        center_of_mass: Vector3::zeros(),
        inertia: Matrix3::from_diagonal_element(0.4 * mass * radius * radius),
    };
    let shape = Shape { friction: Some(0.0), ..Shape::new(Geometry::Ball { radius }) };
    Body::new("ball", Pose::translation(position.into())).inertia(inertia).shape(shape).free()
}

/// Velocity of a point of a body at the end of one step, by the poses before and after.
fn velocity(
    mut actor: Box<dyn Simulation>,
    body: BodyId,
    point: &Vector3<f64>,
    load: &Wrench,
) -> Vector3<f64> {
    actor.inputs_mut().set_body_load(body, *load).unwrap();
    let before = actor.state().pose(body).unwrap();
    actor.step(H).unwrap();
    let after = actor.state().pose(body).unwrap();
    (after.transform_point(&(before.inverse() * Pose::translation((*point).into())).position) - point) / H
}

/// A ball flies at the body of the first effector, along each axis that it can be hit along from outside.
#[test]
fn first_impulse() {
    let mut hits = Vec::new();
    for mechanism in [
        gallery::arm(),
        gallery::chain(6),
        gallery::y(),
        gallery::ladder(6),
        gallery::four_bar(),
        gallery::hand(),
        gallery::gripper(),
        gallery::hexapod(),
    ] {
        let models = Models::new(&mechanism);
        let body = mechanism.effectors()[0].body;
        let mut hit = 0;
        for mut actor in models.simulations() {
            actor.inputs_mut().set_gravity([0.0; 3]).unwrap();
            let pose = mechanism[body].pose;
            for direction in [Vector3::x(), -Vector3::y(), Vector3::z()] {
                let (v0, mass, radius) = (0.3, 0.2, 0.01);
                let mut world = World::new([0.0; 3]);
                world.add(actor.clone()).unwrap();
                // From outside, at a place where it first touches this body.
                let start = pose.position - direction * 1.0;
                let free: FreeBodyId = world.add_body(&ball(start, radius, mass)).unwrap();
                let twist = Twist { linear: direction * v0, angular: Vector3::zeros() };
                world.body_mut(free).unwrap().place(Pose::translation(start.into()), twist);
                let mut touched = None;
                for _ in 0..1500 {
                    if world.step(H).unwrap().pushing > 0 {
                        touched = world.contacts().iter().find(|c| c.force != Vector3::zeros()).copied();
                        break;
                    }
                }
                let Some(contact) = touched else { continue };
                let Touched::Mechanism(_, struck) = contact.first else { continue };
                // One point only, on the wanted body, squarely.
                if struck != body || world.report().pushing != 1 {
                    continue;
                }
                hit += 1;
                let (n, p) = (contact.normal, contact.point);
                let force = 1e-3; // small, so that second order is 1e-3 of the first
                let arm = p - pose.position;
                let load = Wrench { force: n * -force, torque: arm.cross(&n) * -force };
                let with = velocity(actor.clone(), body, &p, &load);
                let without = velocity(actor.clone(), body, &p, &Wrench::ZERO);
                let w = -n.dot(&(with - without)) / (force * H);
                // The ball stops at the surface, which recedes; the gap it may still close is part of its speed.
                let speed = v0 * n.dot(&direction).abs();
                let expected = (speed - contact.gap / H) / (1.0 / mass + w);
                let found = contact.force.norm() * H;
                let error = (found / expected - 1.0).abs();
                // Differences of poses are of first order in the load, and loops close to 1e-6 of a step.
                assert!(
                    error < 1e-4,
                    "{} {} {direction:?}: {found} for {expected} ({w})",
                    mechanism.name(),
                    actor.engine()
                );
            }
        }
        hits.push((mechanism.name().to_string(), hit));
    }
    let hits: Vec<(&str, i32)> = hits.iter().map(|(name, hit)| (name.as_str(), *hit)).collect();
    // Of three directions in four engines.
    let expected = [
        ("arm", 9),
        ("chain:6", 9),
        ("y", 12),
        ("ladder:6", 6),
        ("four-bar", 12),
        ("hand", 9),
        ("gripper", 12),
        ("hexapod", 8),
    ];
    assert_eq!(hits, expected);
}

/// A hexapod stands on the ground: its feet carry what it weighs, in every engine, and it sags as far in all of them.
#[test]
fn standing() {
    let mechanism = gallery::hexapod();
    let models = Models::new(&mechanism);
    let lowest = mechanism.effectors().iter().map(|e| mechanism[e.body].pose.position.z).fold(1e9, f64::min);
    let weight: f64 = mechanism.bodies().iter().map(|b| b.inertia.mass).sum::<f64>() * 9.81;
    let mut heights = Vec::new();
    for actor in models.simulations() {
        let engine = actor.engine();
        let mut world = World::new([0.0, 0.0, -9.81]);
        let ground = Shape::new(Geometry::Box { size: Vector3::new(4.0, 4.0, 0.5) });
        world.add_shape(&ground.at(Pose::translation([0.0, 0.0, lowest - 0.25 - 0.1]))).unwrap();
        let id = world.add(actor).unwrap();
        for _ in 0..1200 {
            world.step(H).unwrap();
        }
        let force = world.force_on(Touched::World).unwrap().force;
        let height = world.simulation_mut(id).unwrap().state().poses[0].position.z;
        heights.push(height);
        assert!((force.z / -weight - 1.0).abs() < 1e-4, "{engine}: {force:?} of {weight}");
        assert!(world.report().penetration < 5e-4, "{engine}");
    }
    // The base sags by 6 mm; steps of first order and the linear model differ by less than 1 % of that.
    let (low, high) = heights.iter().fold((1e9f64, 0.0f64), |(a, b), z| (a.min(*z), b.max(*z)));
    assert!(high - low < 5e-5, "{heights:?}");
}

/// A step of the articulated engine with contact is its step alone under the forces that contact reports, though it is not computed
/// so: a hexapod that falls on its feet, and a hand from where it opens to where it holds a ball.
#[test]
fn contact_is_a_load() {
    let floor =
        Shape::new(Geometry::Box { size: [4.0, 4.0, 0.5].into() }).at(Pose::translation([0.0, 0.0, -0.27]));
    for whole in [gallery::hexapod(), gallery::hand_grasp(gallery::Grasped::Ball)] {
        let apart = whole.take_apart();
        let held = apart.held.as_ref().unwrap();
        let mut alone = articulated::Model::new(held).simulate();
        let mut world = World::new(whole.gravity().into());
        world.add_shape(&floor).unwrap();
        let id = world.add(articulated::Model::new(held).simulate()).unwrap();
        for body in &apart.loose {
            world.add_body(body).unwrap();
        }
        let (mut worst, mut forces, mut compared) = (0.0f64, 0.0f64, 0);
        for _ in 0..240 {
            let before = world.simulation_mut(id).unwrap().state().clone();
            let report = world.step(H).unwrap();
            if report.pushing == 0 || report.pieces > 1 {
                continue;
            }
            alone.set_state(&before).unwrap();
            for body in held.body_ids() {
                let touched = world.force_on(Touched::Mechanism(id, body)).unwrap();
                let torque = touched.torque - before.pose(body).unwrap().position.cross(&touched.force);
                alone.inputs_mut().set_body_load(body, Wrench { force: touched.force, torque }).unwrap();
            }
            alone.step(H).unwrap();
            let with = world.simulation_mut(id).unwrap().state();
            for body in held.body_ids() {
                let (one, two) = (with.pose(body).unwrap(), alone.state().pose(body).unwrap());
                worst = worst.max((one.position - two.position).norm());
                worst = worst.max(one.rotation.angle_to(&two.rotation));
            }
            let both = with.multipliers.iter().zip(&alone.state().multipliers);
            let largest = with.multipliers.iter().fold(1.0f64, |most, x| most.max(x.abs()));
            forces = both.fold(forces, |most, (one, two)| most.max((one - two).abs() / largest));
            compared += 1;
        }
        println!("{}: {worst:.1e}, {forces:.1e} in {compared} steps", whole.name());
        // Rounding: of poses of about 1 m and 1 rad, and of constraint forces, which are momenta over H.
        assert!(compared > 100 && worst < 1e-12, "{}: {worst} in {compared}", whole.name());
        assert!(forces < 1e-9, "{}: {forces}", whole.name());
    }
}
