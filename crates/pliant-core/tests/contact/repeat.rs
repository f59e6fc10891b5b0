//! Claim: a world gives the same bits twice and from a clone taken on the way, and once warm its steps allocate no memory,
//! whatever shapes touch and whatever solves.

use super::{H, bits_of_bodies, run};
use crate::common::counting::allocations;
use pliant_core::contact::{Change, Solver, Surface, Surfaces, Touched, World};
use pliant_core::joints::JointKind;
use pliant_core::linear::{Linearisation, Simulation};
use pliant_core::mechanism::{
    Body, EffectorDescription, Geometry, JointDescription, Mechanism, MechanismBuilder, Shape, WORLD,
};
use pliant_core::nalgebra::Vector3;
use pliant_core::spatial::{Pose, SpatialInertia};

const SOLVERS: [Solver; 2] = [Solver::Pgs { sweeps: 20 }, Solver::Exact { tolerance: 1e-8 }];

/// A plate on a spring, 0.5 m up.
fn plate() -> Mechanism {
    let size = [0.5, 0.5, 0.05];
    let mut builder = MechanismBuilder::new("spring");
    let body = Body::new("plate", Pose::translation([0.0, 0.0, 0.5]));
    let shape = Shape::new(Geometry::Box { size: size.into() });
    builder.body(body.inertia(SpatialInertia::of_box(1.0, size)).shape(shape));
    let mut joint = JointDescription::new("post", JointKind::Ball, WORLD, "plate");
    joint.frame = Pose::translation([0.0, 0.0, 0.1]);
    joint.stiffness = Some(500.0.into());
    joint.damping = Some(5.0.into());
    builder.joint(joint).effector(EffectorDescription {
        name: "top".into(),
        body: "plate".into(),
        frame: Pose::identity(),
    });
    builder.build().unwrap()
}

fn geometries() -> Vec<Geometry> {
    let (file, scale) = ("cube".to_string(), Vector3::repeat(0.05));
    vec![
        Geometry::Box { size: [0.1, 0.12, 0.08].into() },
        Geometry::Ball { radius: 0.05 },
        Geometry::Capsule { radius: 0.04, half_length: 0.05 },
        Geometry::Cylinder { radius: 0.05, half_length: 0.05 },
        Geometry::Convex { file: file.clone(), scale },
        Geometry::Mesh { file, scale },
    ]
}

fn cube() -> Surface {
    let corner = |i: u32| [i & 1, (i >> 1) & 1, i >> 2].map(|x| f64::from(x) * 2.0 - 1.0);
    let faces = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    let triangles = faces.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect();
    Surface { points: (0..8).map(corner).collect(), triangles }
}

/// Twelve bodies of all kinds that fall on the plate and on rough ground next to it.
fn heap(simulation: Simulation, solver: Solver) -> World {
    let mut world = World::new([0.0, 0.0, -9.81]);
    world.set_solver(solver);
    world.set_surfaces(Surfaces::from([("cube".to_string(), cube())]));
    let heights = (0..21).map(|i| (0..21).map(|k| 0.02 * f64::from((i * 7 + k * 3) % 5)).collect()).collect();
    world.add_shape(&Shape::new(Geometry::Heightfield { size: [4.0; 2], heights })).unwrap();
    world.add(simulation).unwrap();
    for (i, geometry) in geometries().into_iter().chain(geometries()).enumerate() {
        let (i, angle) = (i as f64, 0.4 * i as f64);
        let at = [0.25 * (1.7 * i).sin(), 0.25 * (2.3 * i).cos(), 0.7 + 0.11 * i];
        let pose = Pose::translation(at) * Pose::rotation([0.6, 0.8, 0.0], angle);
        let body = Body::new(format!("{i}"), pose).inertia(SpatialInertia::of_box(0.2, [0.1; 3]));
        world.add_body(&body.shape(Shape::new(geometry)).free()).unwrap();
    }
    world
}

#[test]
fn the_same_bits_twice_and_from_a_clone() {
    let mechanism = plate();
    let model = Linearisation::at_rest(&mechanism).build().unwrap();
    for solver in SOLVERS {
        let (mut one, mut two) = (heap(model.simulate(), solver), heap(model.simulate(), solver));
        let mut pushing = 0;
        for _ in 0..240 {
            pushing = pushing.max(one.step(H).unwrap().pushing);
            two.step(H).unwrap();
        }
        assert_eq!(bits_of_bodies(&one), bits_of_bodies(&two), "two runs");
        assert!(pushing > 10, "they do not touch: {pushing}");
        let mut cloned = one.clone();
        for _ in 0..60 {
            one.step(H).unwrap();
            cloned.step(H).unwrap();
            assert_eq!(bits_of_bodies(&one), bits_of_bodies(&cloned), "a clone");
        }
    }
}

/// Events of a falling heap are what the contacts of two steps differ by, each pair of things once, and in one order.
#[test]
fn events_are_what_changed() {
    let mechanism = plate();
    let model = Linearisation::at_rest(&mechanism).build().unwrap();
    let mut world = heap(model.simulate(), SOLVERS[0]);
    let mut touching: Vec<(Touched, Touched)> = Vec::new();
    let (mut began, mut ended, mut on_plate) = (0, 0, false);
    for _ in 0..480 {
        world.step(H).unwrap();
        let mut now: Vec<(Touched, Touched)> = Vec::new();
        for contact in world.contacts().iter().filter(|c| c.force.dot(&c.normal) > 0.0) {
            let pair = (contact.first, contact.second);
            if !now.contains(&pair) {
                now.push(pair);
            }
        }
        let of = |change: Change| -> Vec<(Touched, Touched)> {
            let events = world.events().iter().filter(|event| event.change == change);
            events.map(|event| (event.first, event.second)).collect()
        };
        let new: Vec<_> = now.iter().filter(|pair| !touching.contains(pair)).copied().collect();
        let gone: Vec<_> = touching.iter().filter(|pair| !now.contains(pair)).copied().collect();
        assert_eq!(of(Change::Began), new);
        assert_eq!(of(Change::Ended), gone);
        (began, ended) = (began + new.len(), ended + gone.len());
        on_plate |= new.iter().any(|(first, _)| matches!(first, Touched::Mechanism(..)));
        touching = now;
    }
    assert!(began > 20 && ended > 5 && began - ended == touching.len(), "{began} {ended}");
    assert!(on_plate, "nothing touched the plate");
}

/// A heap on a mechanism and on rough ground, once it has come to lie; by the exact solver nothing sinks in it then.
#[test]
fn steps_of_a_heap_allocate_nothing() {
    let mechanism = plate();
    let model = Linearisation::at_rest(&mechanism).build().unwrap();
    for solver in SOLVERS {
        let mut world = heap(model.simulate(), solver);
        run(&mut world, 3600);
        if matches!(solver, Solver::Exact { .. }) {
            let residual = world.report().residual;
            // Cylinders still roll, by µm/s.
            assert!(residual < 1e-4, "{residual}");
        }
        assert!(world.report().pushing > 30, "they do not touch: {:?}", world.report());
        assert_eq!(allocations(|| run(&mut world, 600)), 0, "{solver:?}");
    }
}

/// Every kind of shape on every kind of ground, pressed on and slid about.
#[test]
fn steps_allocate_nothing() {
    let (file, scale) = ("cube".to_string(), Vector3::new(1.0, 1.0, 0.5));
    let grounds = [
        Shape::new(Geometry::Box { size: [2.0, 2.0, 1.0].into() }).at(Pose::translation([0.0, 0.0, -0.5])),
        Shape::new(Geometry::Mesh { file: file.clone(), scale }).at(Pose::translation([0.0, 0.0, -0.5])),
        Shape::new(Geometry::Convex { file, scale }).at(Pose::translation([0.0, 0.0, -0.5])),
        Shape::new(Geometry::Heightfield { size: [2.0; 2], heights: vec![vec![0.0; 9]; 9] }),
    ];
    let mut wrong = Vec::new();
    for solver in SOLVERS {
        for ground in &grounds {
            for geometry in geometries() {
                let mut world = World::new([0.7, 0.2, -9.81]);
                world.set_solver(solver);
                world.set_surfaces(Surfaces::from([("cube".to_string(), cube())]));
                world.add_shape(ground).unwrap();
                let name = format!("{} on {}", geometry.name(), ground.geometry.name());
                for z in [0.05, 0.16] {
                    let body = Body::new(format!("{z}"), Pose::translation([0.01, 0.02, z]))
                        .inertia(SpatialInertia::of_box(0.2, [0.1; 3]))
                        .shape(Shape::new(geometry.clone()))
                        .free();
                    world.add_body(&body).unwrap();
                }
                run(&mut world, 480);
                let counted = allocations(|| run(&mut world, 60));
                if counted > 0 {
                    wrong.push(format!("{name}: {counted}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
