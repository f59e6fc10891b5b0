//! Claim: bounces with any restitution up to 1 and any friction never raise the energy of what bounces; and what tumbles fast
//! enters nothing by more than half a millimetre and passes through nothing.

use crate::common::forest::Numbers;
use nalgebra::Vector3;
use pliant_core::contact::{FreeBodyId, Solver, World};
use pliant_core::mechanism::{Body, Geometry, Shape};
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
