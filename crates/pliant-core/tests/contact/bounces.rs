//! Claim: bounces with any restitution up to 1 and any friction never raise the energy of free bodies; no step in which links touch raises theirs
//! by more than 2 % of the largest energy of motion so far; and what tumbles fast enters nothing by more than half a millimetre and passes
//! through nothing.

use crate::common::forest::Numbers;
use nalgebra::Vector3;
use pliant_core::contact::{FreeBodyId, Scene, Solver, World};
use pliant_core::engine::Simulation as _;
use pliant_core::engines::Engine;
use pliant_core::joints::JointKind;
use pliant_core::mechanism::{Body, Geometry, JointDescription, Mechanism, MechanismBuilder, Shape, WORLD};
use pliant_core::nalgebra;
use pliant_core::spatial::{Pose, SpatialInertia, Twist};

const G: f64 = 9.81;

/// A box, ball, capsule or cylinder of a size, m.
fn geometry(kind: usize, size: f64) -> Geometry {
    match kind % 4 {
        0 => Geometry::Box { size: Vector3::new(1.0, 0.7, 0.4) * size },
        1 => Geometry::Capsule { radius: 0.2 * size, half_length: 0.3 * size },
        2 => Geometry::Cylinder { radius: 0.4 * size, half_length: 0.2 * size },
        _ => Geometry::Ball { radius: 0.5 * size },
    }
}

fn thing(kind: usize, size: f64, mass: f64, friction: f64, restitution: f64) -> Body {
    let shape = Shape {
        friction: Some(friction),
        restitution: Some(restitution),
        ..Shape::new(geometry(kind, size))
    };
    let inertia = SpatialInertia::of_box(mass, [size, 0.7 * size, 0.5 * size]);
    Body::new("thing", Pose::identity()).inertia(inertia).shape(shape).free()
}

fn energy(world: &World, id: FreeBodyId) -> f64 {
    let body = world.body(id).unwrap();
    let (pose, twist, inertia) = (body.pose(), body.twist(), body.inertia());
    let own = pose.rotation.inverse() * twist.angular;
    let height = pose.transform_point(&inertia.center_of_mass).z;
    inertia.mass * (0.5 * twist.linear.norm_squared() + G * height) + 0.5 * own.dot(&(inertia.inertia * own))
}

/// Drops of all shapes, spinning, on a floor and into a corner of two walls.
#[test]
fn energy_never_rises() {
    let (mut drops, mut bounces, mut rise) = (0, 0, 0.0f64);
    for seed in 0..64u64 {
        let mut numbers = Numbers(seed * 7 + 1);
        let restitution = [0.0, 0.5, 0.9, 0.95, 1.0][seed as usize % 5];
        let friction = [0.0, 0.3, 0.8, 1.5][(seed as usize / 5) % 4];
        let h = [1.0 / 60.0, 1.0 / 240.0][seed as usize % 2];
        let mass = 10f64.powi((seed % 9) as i32 - 4);
        let mut world = World::new([0.0, 0.0, -G]);
        if seed % 3 == 0 {
            world.set_solver(Solver::Exact { tolerance: 1e-9 });
        }
        let wall = |at: [f64; 3], size: [f64; 3]| {
            let solid = Shape::new(Geometry::Box { size: size.into() });
            Shape { friction: Some(friction), restitution: Some(restitution), ..solid }
                .at(Pose::translation(at))
        };
        world.add_shape(&wall([0.0, 0.0, -0.5], [20.0, 20.0, 1.0])).unwrap();
        world.add_shape(&wall([-1.5, 0.0, 5.0], [1.0, 20.0, 10.0])).unwrap();
        world.add_shape(&wall([0.0, -1.5, 5.0], [20.0, 1.0, 10.0])).unwrap();
        let id = world.add_body(&thing(seed as usize / 2, 0.3, mass, friction, restitution)).unwrap();
        let turn = numbers.vector() * 3.0;
        let pose = Pose::translation([0.0, 0.0, 1.5]) * Pose::rotation([0.6, 0.0, 0.8], turn.x);
        let twist = Twist { linear: numbers.vector() * 3.0, angular: numbers.vector() * 12.0 };
        world.body_mut(id).unwrap().place(pose, twist);
        let start = energy(&world, id);
        let mut before = start;
        for step in 0..(3.0 / h) as usize {
            let report = world.step(h).unwrap();
            bounces += report.pushing.min(1);
            let now = energy(&world, id);
            assert!(now <= start * (1.0 + 1e-9), "seed {seed}, step {step}: {now} J, from {start} J");
            // In one step no more than what moving out of overlaps of µm lifts.
            rise = rise.max((now - before) / start);
            before = now;
        }
        drops += 1;
    }
    assert!(drops == 64 && bounces > 640, "{drops} {bounces}");
    assert!(rise < 1e-3, "{rise}");
}

/// At 1/60 s, up to 20 m/s and 50 rad/s, at sheets of 1 and 2 mm and at a floor.
#[test]
fn nothing_fast_gets_through() {
    let (mut hits, mut deepest) = (0, (0.0f64, 0));
    for seed in 0..96u64 {
        let mut numbers = Numbers(seed * 13 + 5);
        let size = [0.05, 0.1, 0.3, 1.0][seed as usize % 4];
        let thickness = [1e-3, 2e-3, 1.0][(seed as usize / 4) % 3];
        let mut world = World::new([0.0, 0.0, -G]);
        let sheet = Shape::new(Geometry::Box { size: [200.0, 200.0, thickness].into() });
        world.add_shape(&sheet.at(Pose::translation([0.0, 0.0, -0.5 * thickness]))).unwrap();
        let id = world.add_body(&thing(seed as usize / 12, size, 1.0, 0.5, 0.0)).unwrap();
        let turn = numbers.vector() * 3.0;
        let height = 1.0 + 0.5 * (numbers.next() + 1.0);
        let pose = Pose::translation([0.0, 0.0, height]) * Pose::rotation([0.48, 0.6, 0.64], turn.x);
        let linear =
            Vector3::new(5.0 * numbers.next(), 5.0 * numbers.next(), -10.0 - 5.0 * (numbers.next() + 1.0));
        let angular = numbers.vector().normalize() * 50.0;
        world.body_mut(id).unwrap().place(pose, Twist { linear, angular });
        for _ in 0..90 {
            let report = world.step(1.0 / 60.0).unwrap();
            hits += report.pushing.min(1);
            if report.penetration > deepest.0 {
                deepest = (report.penetration, seed);
            }
        }
        let z = world.body(id).unwrap().pose().position.z;
        assert!(z > 0.0, "seed {seed}: it is {z} m below a sheet of {thickness} m");
    }
    assert!(hits > 96, "{hits}");
    assert!(deepest.0 < 5e-4, "{deepest:?}");
}

/// An arm of so many links that falls on a floor and on a wall, each with a ball at its end; springs and dampers hold some.
fn arm(numbers: &mut Numbers, links: usize, friction: f64, restitution: f64) -> Mechanism {
    let mut builder = MechanismBuilder::new("arm");
    let touch = |shape: Shape| Shape { friction: Some(friction), restitution: Some(restitution), ..shape };
    builder.world_shape(touch(Shape::new(Geometry::Plane)));
    let wall = Shape::new(Geometry::Box { size: [0.2, 10.0, 10.0].into() });
    builder.world_shape(touch(wall.at(Pose::translation([1.1 * links as f64, 0.0, 5.0]))));
    let height = 0.5 * links as f64 + 0.2 * numbers.next();
    for i in 0..links {
        let (name, at) = (format!("link{i}"), [i as f64, 0.0, height]);
        let mut inertia = SpatialInertia::of_box(1.0 + 0.5 * numbers.next(), [1.0, 0.1, 0.1]);
        inertia.center_of_mass.x = 0.5;
        let ball = Shape::new(Geometry::Ball { radius: 0.05 }).at(Pose::translation([0.95, 0.0, 0.0]));
        builder.body(Body::new(&name, Pose::translation(at)).inertia(inertia).shape(touch(ball)));
        let parent = if i == 0 { WORLD.into() } else { format!("link{}", i - 1) };
        let axis = (Vector3::y() + numbers.vector() * 0.3).normalize();
        let joint = JointDescription::new(&name, JointKind::Hinge, parent, &name).axis(at.into(), axis);
        let stiffness = if numbers.next() > 0.3 { 5.0 } else { 0.0 };
        builder.joint(joint.stiffness(stiffness).damping(0.02 * stiffness));
    }
    builder.build().unwrap()
}

/// Of links, step by step, in every engine that can touch, at steps in which they turn far. Not over whole runs: `full` gains energy between
/// contacts too, where links turn fast.
#[test]
fn links_gain_no_energy() {
    let (mut runs, mut bounces, mut worst) = (0, 0, (0.0f64, Engine::Full, 0, 0));
    for seed in 0..48u64 {
        let numbers = &mut Numbers(seed * 11 + 3);
        let restitution = [0.3, 0.8, 1.0][seed as usize % 3];
        let friction = [0.0, 0.5, 1.5][(seed as usize / 3) % 3];
        let mechanism = arm(numbers, 1 + seed as usize % 4, friction, restitution);
        let h = [1.0 / 60.0, 1.0 / 240.0][(seed as usize / 4) % 2];
        for engine in [Engine::Full, Engine::Articulated, Engine::Reduced] {
            let mut scene = engine.scene(&mechanism, Default::default()).unwrap();
            let energy = |scene: &mut Scene| {
                let energy = scene.energy();
                (energy.total(), energy.kinetic)
            };
            let (mut before, mut most) = (energy(&mut scene).0, 0.0f64);
            for step in 0..(1.0 / h) as usize {
                scene.step(h).unwrap();
                let (now, kinetic) = energy(&mut scene);
                most = most.max(kinetic);
                if scene.report().pushing > 0 {
                    bounces += 1;
                    let gained = (now - before) / most;
                    if gained > 0.005 {
                        println!("{engine:?} seed {seed} step {step}: {gained:.4} of {most:.3} J");
                    }
                    if gained > worst.0 {
                        worst = (gained, engine, seed, step);
                    }
                }
                before = now;
            }
            runs += 1;
        }
    }
    assert!(runs == 144 && bounces > 1440, "{runs} {bounces}");
    // Of the energy of motion: what a plain impact may gain before a step is taken in pieces.
    assert!(worst.0 < 0.02, "{worst:?}");
}

/// A pendulum without friction that hits a floor from above, over its closed form: at e = 1 it comes back with all its energy but for what the
/// step loses, to first order in it.
#[test]
fn a_pendulum_comes_back() {
    let mut compared = 0;
    for height in [0.3, 0.6, 0.9] {
        for engine in [Engine::Full, Engine::Articulated, Engine::Reduced] {
            let mut lost = Vec::new();
            for h in [1.0 / 60.0, 1.0 / 240.0, 1.0 / 960.0] {
                let mut builder = MechanismBuilder::new("pendulum");
                let touch = |shape: Shape| Shape { friction: Some(0.0), restitution: Some(1.0), ..shape };
                builder.world_shape(touch(Shape::new(Geometry::Plane)));
                let mut inertia = SpatialInertia::of_box(1.0, [1.0, 0.05, 0.05]);
                inertia.center_of_mass.x = 0.5;
                let ball =
                    Shape::new(Geometry::Ball { radius: 0.03 }).at(Pose::translation([0.95, 0.0, 0.0]));
                let at = [0.0, 0.0, height];
                builder.body(Body::new("rod", Pose::translation(at)).inertia(inertia).shape(touch(ball)));
                let joint = JointDescription::new("pivot", JointKind::Hinge, WORLD, "rod");
                builder.joint(joint.axis(at.into(), Vector3::y()));
                let mut scene = engine.scene(&builder.build().unwrap(), Default::default()).unwrap();
                let start = scene.energy().total();
                let (mut fell, mut after) = (0.0f64, None);
                while after.is_none() {
                    scene.step(h).unwrap();
                    fell = fell.max(scene.energy().kinetic);
                    if scene.report().pushing > 0 {
                        after = Some(scene.energy().total() - start);
                    }
                }
                lost.push(-after.unwrap() / fell);
            }
            assert!(lost.iter().all(|x| (-1e-9..0.2).contains(x)), "{engine:?} {height}: {lost:?}");
            assert!(lost[2] < 0.02, "{engine:?} {height}: {lost:?}");
            compared += 1;
        }
    }
    assert_eq!(compared, 9);
}
