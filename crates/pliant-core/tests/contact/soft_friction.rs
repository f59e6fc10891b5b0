//! Claim: friction on elastic zones is that of the closed forms: a ball on a pad slips from the rim of its contact inward as Cattaneo and
//! Mindlin have it, and soft fingers hold what weighs less than the friction of both.

use pliant_core::contact::{Grip, Scene, Solver, Surfaces, Touched, World};
use pliant_core::engine::Simulation;
use pliant_core::engines::Engine;
use pliant_core::joints::JointKind;
use pliant_core::mechanism::{
    Body, EffectorDescription, Geometry, JointDescription, Mechanism, MechanismBuilder, Shape, WORLD,
    ZoneDescription,
};
use pliant_core::nalgebra::Vector3;
use pliant_core::spatial::{Pose, SpatialInertia, Twist, Wrench};

fn cuboid(size: [f64; 3]) -> Shape {
    Shape::new(Geometry::Box { size: size.into() })
}

/// A ball that is pressed on a pad with N and then pulled sideways with T sticks inside a circle of radius c, c/a = (1 − T/µN)^(1/3), and
/// comes by δ = 3µN/2k (1 − (1 − T/µN)^(2/3)), where k = 8Ga/(2 − ν) is the stiffness before anything slips (Johnson, Contact Mechanics,
/// §7.2).
///
/// That is for a half space whose two responses are alike. The pad gives way as a whole too, by a part of T that is known from its first steps,
/// where nothing new slips; and pressing it in makes the rim slip outward, so that c/a is 0.76 before T does anything. There are three and
/// a half nodes from the middle of the contact to its rim.
#[test]
fn a_ball_slips_from_the_rim_inward() {
    const EDGE: f64 = 0.8e-3;
    const TOP: f64 = 0.0038;
    const YOUNG: f64 = 1e5;
    const POISSON: f64 = 0.4;
    let friction = 0.4;
    let pad = Shape { friction: Some(friction), ..cuboid([0.014, 0.014, 2.0 * TOP]) };
    let mut zone = ZoneDescription::new("pad", WORLD, pad).elasticity(YOUNG, POISSON);
    zone.resolution = Some(EDGE);
    zone.bonded = Some(cuboid([0.1, 0.1, 0.01]).at(Pose::translation([0.0, 0.0, -TOP - 0.005])));
    let mut world = World::new([0.0; 3]);
    world.set_solver(Solver::Exact { tolerance: 1e-9 });
    let pad = world.add_zone(Touched::World, &zone, &[]).unwrap();
    // So heavy that it goes where it is sent.
    let (radius, mass) = (0.012, 1e6);
    let at = [0.0, 0.0, TOP + radius];
    let ball = Shape { friction: Some(friction), ..Shape::new(Geometry::Ball { radius }) };
    let body = Body::new("ball", Pose::translation(at)).shape(ball);
    let body = world.add_body(&body.inertia(SpatialInertia::of_box(mass, [radius; 3]))).unwrap();
    let h = 0.01;
    let go = |world: &mut World, by: [f64; 3]| {
        let own = world.body_mut(body).unwrap();
        own.place(own.pose(), Twist::new(Vector3::from(by) / h, Vector3::zeros()));
        world.step(h).unwrap();
        world.zone(pad).unwrap().force()
    };
    let pressed = go(&mut world, [0.0, 0.0, -0.55e-3]);
    let N = -pressed.z;
    let inside = |world: &World| -> Vec<(f64, Grip)> {
        let middle = world.body(body).unwrap().pose().position;
        let pushing = world.contacts().iter().filter(|contact| contact.force.norm() > 0.0);
        pushing.map(|c| ((c.point - middle).xy().norm(), c.grip())).collect()
    };
    let a = (world.zone(pad).unwrap().contact_area() / std::f64::consts::PI).sqrt();
    assert!(a > 3.0 * EDGE, "{a:e}");
    let contact = (2.0 - POISSON) * (1.0 + POISSON) / (4.0 * YOUNG * a);
    let (by, mut way, mut whole) = (8e-6, 0.0, 0.0);
    let (mut compared, mut sticking, mut slipping) = (0, 0, 0);
    for step in 0..200 {
        let T = go(&mut world, [by, 0.0, 0.0]).x;
        way += by;
        if step == 0 {
            whole = way / T - contact;
        }
        let part = T / (friction * N);
        if part > 0.9 {
            break;
        }
        if part < 0.2 || step % 3 > 0 {
            continue;
        }
        let expected = whole * T + 1.5 * friction * N * contact * (1.0 - (1.0 - part).powf(2.0 / 3.0));
        assert!((way / expected - 1.0).abs() < 0.025, "{way:e} for {expected:e} at {part}");
        let c = a * (1.0 - part).cbrt();
        let list = inside(&world);
        for (r, grip) in &list {
            match grip {
                Grip::Sticks => assert!(*r < c + EDGE, "{r:e} sticks, c = {c:e} at {part}"),
                Grip::Slips => assert!(*r > c - EDGE, "{r:e} slips, c = {c:e} at {part}"),
            }
        }
        let stick = list.iter().filter(|(_, grip)| *grip == Grip::Sticks).count();
        let by_count = (stick as f64 / list.len() as f64).sqrt();
        if part > 0.55 {
            assert!((by_count - c / a).abs() < 0.08, "{by_count} for {} at {part}", c / a);
        }
        compared += 1;
        sticking += stick;
        slipping += list.len() - stick;
    }
    assert!(compared > 5 && sticking > 50 && slipping > 50, "{compared} {sticking} {slipping}");
}

/// Two fingers on slides, each with a pad on its face, that are pressed on a block between them by loads of N.
fn grasp(mass: f64) -> Mechanism {
    let mut builder = MechanismBuilder::new("grasp");
    builder.gravity([0.0, 0.0, -9.81]);
    for (name, side) in [("left", -1.0), ("right", 1.0)] {
        let at = Pose::translation([side * 0.0171, 0.0, 0.0]);
        let body = Body::new(name, at).shape(Shape { touches: false, ..cuboid([0.004, 0.016, 0.016]) });
        builder.body(body.inertia(SpatialInertia::of_box(0.02, [0.004, 0.016, 0.016])));
        let slide = JointDescription::new(name, JointKind::Prismatic, WORLD, name);
        builder.joint(slide.axis(at.position, Vector3::x()).stiffness(1e-3).damping(2.0));
        let (effector, frame) = (name.to_string(), Pose::identity());
        builder.effector(EffectorDescription { name: effector, body: name.into(), frame });
        let pad = Shape { friction: Some(FRICTION), ..cuboid([0.005, 0.014, 0.014]) };
        let pad = pad.at(Pose::translation([-side * 0.0045, 0.0, 0.0]));
        let mut zone = ZoneDescription::new(format!("{name} pad"), name, pad).elasticity(2e5, 0.45);
        (zone.damping, zone.resolution) = (5e-3, Some(4.7e-3));
        builder.zone(zone);
    }
    let size = [0.02, 0.03, 0.16];
    let block = Shape { friction: Some(FRICTION), ..cuboid(size) };
    builder.body(
        Body::new("block", Pose::identity()).inertia(SpatialInertia::of_box(mass, size)).shape(block).free(),
    );
    builder.build().unwrap()
}

const FRICTION: f64 = 0.6;

/// What weighs less than 2µN is held; what weighs more falls with the difference.
#[test]
fn soft_fingers_hold_up_to_their_friction() {
    let N = 2.0;
    for engine in ["full", "articulated", "reduced", "linear"] {
        for part in [0.9, 0.98, 1.02, 1.3] {
            let mass = part * 2.0 * FRICTION * N / 9.81;
            let mechanism = grasp(mass);
            let engine: Engine = engine.parse().unwrap();
            let mut scene =
                Scene::new(&mechanism, Surfaces::new(), |held| engine.simulate(held).unwrap()).unwrap();
            let block = mechanism.find_body("block").unwrap();
            for (name, side) in [("left", -1.0), ("right", 1.0)] {
                let finger = mechanism.find_effector(name).unwrap();
                scene.inputs_mut().set_load(finger, Wrench::force([-side * N, 0.0, 0.0])).unwrap();
            }
            // The weight comes on slowly, for pads that swing slip.
            let h = 2e-3;
            let mut last = 0.0;
            let mut height = |scene: &mut Scene, steps: usize, weight: &dyn Fn(usize) -> f64| {
                for k in 0..steps {
                    scene.inputs_mut().set_gravity([0.0, 0.0, -9.81 * weight(k)]).unwrap();
                    scene.step(h).unwrap();
                }
                let now = scene.pose(block).unwrap().position.z;
                let way = last - now;
                last = now;
                way
            };
            height(&mut scene, 100, &|_| 0.0);
            height(&mut scene, 200, &|k| k as f64 / 200.0);
            let steps = if part > 1.1 { 25 } else { 50 };
            height(&mut scene, 25, &|_| 1.0);
            let way = height(&mut scene, steps, &|_| 1.0);
            let more = height(&mut scene, steps, &|_| 1.0);
            let what = format!("{engine:?} at {part}: {way:e}, then {more:e}");
            if part < 1.0 {
                assert!(way.abs() < 2e-5 && more.abs() < 1e-7, "{what}");
                let held: Vector3<f64> = scene.world().zones().map(|(_, zone)| zone.force()).sum();
                assert!((held.z + mass * 9.81).abs() < 1e-3 * mass * 9.81, "{what}: {held}");
            } else {
                // Each time t it comes farther by at², a = g − 2µN/m.
                let expected = 9.81 * (1.0 - 1.0 / part) * (steps as f64 * h).powi(2);
                assert!(((more - way) / expected - 1.0).abs() < 0.02, "{what}: {expected:e}");
            }
        }
    }
}
