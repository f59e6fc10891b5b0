//! Free bodies on a static world and among each other: closed forms of Coulomb friction, momentum, energy and restitution.

use nalgebra::Vector3;
use pliant_core::contact::{FreeBodyId, Scene, Solver, Surfaces, World};
use pliant_core::engine::Simulation as _;
use pliant_core::joints::JointKind;
use pliant_core::mechanism::{Body, Geometry, JointDescription, MechanismBuilder, Shape};
use pliant_core::spatial::{Pose, SpatialInertia, Twist};
use pliant_core::{articulated, nalgebra};

const G: f64 = 9.81;
const H: f64 = 1.0 / 240.0;

fn shape(geometry: Geometry, friction: f64) -> Shape {
    Shape { friction: Some(friction), ..Shape::new(geometry) }
}

fn cube(size: [f64; 3]) -> Geometry {
    Geometry::Box { size: size.into() }
}

/// A box of 1 kg at a pose.
fn block(name: &str, pose: Pose, size: [f64; 3], friction: f64) -> Body {
    Body::new(name, pose).inertia(SpatialInertia::of_box(1.0, size)).shape(shape(cube(size), friction)).free()
}

fn ball(name: &str, position: [f64; 3], radius: f64, friction: f64, restitution: f64) -> Body {
    let moment = 0.4 * radius * radius;
    let inertia = SpatialInertia {
        mass: 1.0,
        center_of_mass: Vector3::zeros(),
        inertia: nalgebra::Matrix3::from_diagonal_element(moment),
    };
    let shape = Shape { restitution: Some(restitution), ..shape(Geometry::Ball { radius }, friction) };
    Body::new(name, Pose::translation(position)).inertia(inertia).shape(shape).free()
}

fn floor(friction: f64) -> Shape {
    shape(cube([20.0, 20.0, 1.0]), friction).at(Pose::translation([0.0, 0.0, -0.5]))
}

/// Both ways to solve the equations of contact.
const SOLVERS: [Solver; 2] = [Solver::Pgs { sweeps: 50 }, Solver::Exact { tolerance: 1e-9 }];

fn run(world: &mut World, seconds: f64, h: f64) {
    for _ in 0..(seconds / h).round() as usize {
        world.step(h).unwrap();
    }
}

fn position(world: &World, body: FreeBodyId) -> Vector3<f64> {
    world.body(body).unwrap().pose().position
}

/// A block on a slope sticks below atan µ and slides above with g(sin α − µ cos α).
#[test]
fn slope() {
    let cases = [(0.3f64, 0.35f64), (0.4, 0.3), (0.6, 0.5), (0.5, 0.56)];
    for (solver, (angle, friction)) in SOLVERS.into_iter().flat_map(|s| cases.map(|c| (s, c))) {
        let tilt = Pose::rotation([0.0, 1.0, 0.0], angle);
        let mut world = World::new([0.0, 0.0, -G]);
        world.set_solver(solver);
        let slab = shape(cube([40.0, 4.0, 1.0]), friction);
        world.add_shape(&slab.at(tilt * Pose::translation([0.0, 0.0, -0.5]))).unwrap();
        let start = tilt * Pose::translation([0.0, 0.0, 0.1]);
        let body = world.add_body(&block("block", start, [0.4, 0.3, 0.2], friction)).unwrap();
        run(&mut world, 1.0, H);
        let down = tilt.rotation * Vector3::x();
        let way = (position(&world, body) - start.position).dot(&down);
        let speed = world.body(body).unwrap().twist().linear.dot(&down);
        let expected = G * (angle.sin() - friction * angle.cos());
        if expected > 0.0 {
            assert!((speed / expected - 1.0).abs() < 0.02, "{angle}: {speed} for {expected}");
        } else {
            // 20 sweeps leave a slip of the residual; over a second, that far.
            assert!(way.abs() < 1e-5, "{angle}: it crept {way}");
        }
    }
}

/// A ball that slides first rolls with 5/7 of its speed, whatever the friction.
#[test]
fn rolling() {
    let mut world = World::new([0.0, 0.0, -G]);
    world.add_shape(&floor(0.4)).unwrap();
    let body = world.add_body(&ball("ball", [0.0, 0.0, 0.1], 0.1, 0.4, 0.0)).unwrap();
    let twist = Twist { linear: Vector3::new(2.0, 0.0, 0.0), angular: Vector3::zeros() };
    world.body_mut(body).unwrap().place(Pose::translation([0.0, 0.0, 0.1]), twist);
    run(&mut world, 1.0, H);
    let twist = world.body(body).unwrap().twist();
    assert!((twist.linear.x / (2.0 * 5.0 / 7.0) - 1.0).abs() < 0.005, "{twist:?}");
    // The point of contact is half the overlap, 0.4 µm, inside the ball.
    assert!((twist.angular.y * 0.1 / twist.linear.x - 1.0).abs() < 1e-5, "{twist:?}");
}

/// A stack of ten boxes stands for ten seconds, and its lowest contact carries all of it.
#[test]
fn stack() {
    SOLVERS.into_iter().for_each(stack_stands);
}

fn stack_stands(solver: Solver) {
    let mut world = World::new([0.0, 0.0, -G]);
    world.set_solver(solver);
    world.add_shape(&floor(0.5)).unwrap();
    let bodies: Vec<_> = (0..10)
        .map(|i| {
            let pose = Pose::translation([0.0, 0.0, 0.1 + 0.2 * i as f64]);
            world.add_body(&block(&format!("box{i}"), pose, [0.2; 3], 0.5)).unwrap()
        })
        .collect();
    let mut deepest = 0.0f64;
    for _ in 0..2400 {
        deepest = deepest.max(world.step(H).unwrap().penetration);
    }
    for (i, body) in bodies.iter().enumerate() {
        let at = position(&world, *body);
        assert!(at.xy().norm() < 1e-3, "box {i} went {at:?}");
        assert!((at.z - 0.1 - 0.2 * i as f64).abs() < 5e-3, "box {i} is at {at:?}");
    }
    assert!(deepest < 5e-4, "{deepest}");
    let force = world.force_on(pliant_core::contact::Touched::World).unwrap().force;
    assert!((force.z / (-10.0 * G) - 1.0).abs() < 0.01, "{force:?}");
}

/// Momenta of bodies that meet in free fall are kept.
#[test]
fn momentum() {
    SOLVERS.into_iter().for_each(momentum_is_kept);
}

fn momentum_is_kept(solver: Solver) {
    let mut world = World::new([0.0; 3]);
    world.set_solver(solver);
    let bodies = [
        world.add_body(&block("a", Pose::translation([0.0, 0.0, 0.0]), [0.3, 0.2, 0.4], 0.7)).unwrap(),
        world.add_body(&block("b", Pose::translation([0.5, 0.05, 0.1]), [0.2, 0.2, 0.2], 0.7)).unwrap(),
        world.add_body(&ball("c", [-0.6, 0.1, 0.0], 0.1, 0.3, 0.5)).unwrap(),
    ];
    let twists = [
        ([0.3, 0.0, 0.0], [0.2, 0.1, 0.5]),
        ([-1.0, 0.1, 0.0], [0.0, 2.0, 0.3]),
        ([1.5, -0.1, 0.05], [0.0, 0.0, 4.0]),
    ];
    for (body, (linear, angular)) in bodies.iter().zip(twists) {
        let pose = world.body(*body).unwrap().pose();
        let twist = Twist { linear: linear.into(), angular: angular.into() };
        world.body_mut(*body).unwrap().place(pose, twist);
    }
    let total = |world: &World| {
        let sum = bodies.iter().map(|b| world.body(*b).unwrap().momentum());
        sum.fold((Vector3::zeros(), Vector3::zeros()), |a, b| (a.0 + b.0, a.1 + b.1))
    };
    let before = total(&world);
    let mut met = 0;
    for _ in 0..480 {
        met += world.step(H).unwrap().pushing;
    }
    assert!(met > 5, "they did not meet");
    let after = total(&world);
    assert!((after.0 - before.0).norm() < 1e-12 && (after.1 - before.1).norm() < 1e-12);
}

/// With restitution e a bounce leaves e² of the energy that the ball had over the place where it turned; in flight it keeps it.
#[test]
fn restitution() {
    for (e, h) in [1.0, 0.8, 0.5].into_iter().flat_map(|e| [H, 1.0 / 60.0].map(|h| (e, h))) {
        let mut world = World::new([0.0, 0.0, -G]);
        world.add_shape(&floor(0.5)).unwrap();
        let body = world.add_body(&ball("ball", [0.0, 0.0, 1.1], 0.1, 0.5, e)).unwrap();
        let state = |world: &World| (position(world, body).z, world.body(body).unwrap().twist().linear.z);
        let energy = |(z, v): (f64, f64)| 0.5 * v * v + G * z;
        let (mut before, mut bounces) = (state(&world), 0);
        while bounces < 3 {
            world.step(h).unwrap();
            let now = state(&world);
            // A bounce is where the step began.
            let lost =
                if before.1 < 0.0 && now.1 > 0.0 { 0.5 * before.1 * before.1 * (1.0 - e * e) } else { 0.0 };
            let expected = energy(before) - lost;
            assert!((energy(now) / expected - 1.0).abs() < 1e-9, "{e}, {h}: {now:?} after {before:?}");
            bounces += usize::from(before.1 < 0.0 && now.1 > 0.0);
            before = now;
        }
    }
}

/// The energy that a recovered overlap ends with does not rise as the step is halved, and is no more than the fastest
/// recovery gives.
#[test]
fn recovery() {
    for gravity in [0.0, G] {
        for depth in [1e-4, 2e-3, 2e-2] {
            let mut last = f64::INFINITY;
            for h in [1.0 / 60.0, 1.0 / 120.0, 1.0 / 240.0, 1.0 / 480.0, 1.0 / 960.0] {
                let mut world = World::new([0.0, 0.0, -gravity]);
                world.add_shape(&floor(0.5)).unwrap();
                let pose = Pose::translation([0.0, 0.0, 0.1 - depth]);
                let body = world.add_body(&block("block", pose, [0.2; 3], 0.5)).unwrap();
                let mut energy = 0.0f64;
                for _ in 0..(1.0 / h) as usize {
                    world.step(h).unwrap();
                    let v = world.body(body).unwrap().twist().linear.norm();
                    energy = energy.max(0.5 * v * v);
                }
                assert!(energy <= last * (1.0 + 1e-6), "{gravity} {depth} {h}: {energy} after {last}");
                // 0.6 radii a second.
                assert!(energy < 0.5 * (0.6 * 0.1 * 3f64.sqrt()).powi(2) * 1.001, "{energy}");
                last = energy;
            }
        }
    }
}

/// A ball on a crank that has sunk into what is under it by 50 µm off the crank's axis, at levers from half its radius to none.
/// On the ground without friction it is driven out at little more than ten times the speed at which a free one would be, though
/// a short lever would need any speed. On a plate that carries the crank on a pivot, with friction, nothing makes it fast: links
/// that friction jams are not driven apart.
#[test]
fn recovery_of_what_hardly_parts() {
    let (radius, depth) = (0.1, 5e-5);
    // 1/48 s; below the fastest, 0.6 radii a second.
    let speed = 48.0 * depth;
    let levers = [0.05, 0.02, 0.011, 0.009, 1e-3, 1e-4, 1e-5, 1e-7, 1e-9, 0.0];
    for (lever, carried) in levers.into_iter().flat_map(|lever| [(lever, false), (lever, true)]) {
        let friction = if carried { 0.5 } else { 0.0 };
        let mut builder = MechanismBuilder::new("crank");
        let mut parent = "world";
        let height = radius - depth;
        if carried {
            builder.world_shape(shape(Geometry::Plane, 0.5).at(Pose::translation([0.0, 0.0, -9.0])));
            builder.body(block("plate", Pose::translation([0.0, 0.0, -0.1]), [0.4, 0.4, 0.2], friction));
            let inertia = SpatialInertia::of_box(1.0, [0.1; 3]);
            builder.body(Body::new("pivot", Pose::translation([0.0, 0.0, height])).inertia(inertia));
            builder.joint(JointDescription::new("pivot", JointKind::Hinge, "plate", "pivot"));
            parent = "pivot";
        } else {
            builder.world_shape(shape(Geometry::Plane, friction));
        }
        let ball = ball("ball", [lever, 0.0, height], radius, friction, 0.0);
        builder.body(Body { free: false, ..ball });
        let crank = JointDescription::new("crank", JointKind::Hinge, parent, "ball");
        builder.joint(crank.axis(Vector3::new(0.0, 0.0, height), Vector3::y()));
        builder.gravity([0.0; 3]);
        let mechanism = builder.build().unwrap();
        let mut scene =
            Scene::new(&mechanism, Surfaces::new(), |held| articulated::Model::new(held).simulate()).unwrap();
        let mut fastest = 0.0f64;
        for _ in 0..240 {
            let before = scene.state().poses.clone();
            scene.step(H).unwrap();
            let turns =
                scene.state().poses.iter().zip(&before).map(|(a, b)| a.rotation.angle_to(&b.rotation));
            fastest = turns.fold(fastest, |most, turn| most.max(turn / H));
            assert!(scene.report().penetration < depth * 1.001, "{lever}: {:?}", scene.report());
        }
        // The sliding speed of the lowest point is ω r; a lever that gets shorter as it turns adds a little.
        assert!(fastest * radius < 11.0 * speed, "{lever}, {carried}: {fastest} rad/s");
        if carried && lever < 0.05 {
            assert!(fastest < 1e-9, "{lever}: {fastest} rad/s");
        } else if lever > 0.01 && !carried {
            assert!((fastest * lever / speed - 1.0).abs() < 0.05, "{lever}: {fastest} rad/s");
            assert!(scene.report().penetration < 0.01 * depth, "{lever}: {:?}", scene.report());
        }
    }
}

/// A fast ball does not pass through a thin wall.
#[test]
fn fast() {
    for speed in [10.0, 100.0, 1000.0] {
        let mut world = World::new([0.0; 3]);
        world.add_shape(&shape(cube([0.002, 2.0, 2.0]), 0.5)).unwrap();
        let body = world.add_body(&ball("ball", [-1.013, 0.0, 0.0], 0.01, 0.5, 0.0)).unwrap();
        let twist = Twist { linear: Vector3::new(speed, 0.0, 0.0), angular: Vector3::zeros() };
        world.body_mut(body).unwrap().place(Pose::translation([-1.013, 0.0, 0.0]), twist);
        run(&mut world, 0.3, H);
        let x = position(&world, body).x;
        assert!(x < -0.0105 && x > -0.02, "{speed}: {x}");
    }
}
