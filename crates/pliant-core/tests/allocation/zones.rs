//! Claim: once warm, a step with elastic zones allocates no memory, in any engine: a round tip that goes to and fro on a pad, every kind of
//! shape on a pad, and a pad on a pad.

use std::f64::consts::PI;

use crate::common::counting::allocations;
use pliant_core::contact::{Scene, Solver, Surface, Surfaces, Touched, World};
use pliant_core::engine::Simulation as _;
use pliant_core::engines::Engine;
use pliant_core::gallery;
use pliant_core::mechanism::{Body, Geometry, Shape, WORLD, ZoneDescription};
use pliant_core::spatial::{Pose, SpatialInertia, Twist};

#[test]
fn a_tip_on_a_pad_allocates_nothing() {
    let mechanism = gallery::pad();
    let (across, down) = (mechanism.find_joint("across").unwrap(), mechanism.find_joint("down").unwrap());
    for name in ["full", "articulated", "reduced", "linear"] {
        let engine: Engine = name.parse().unwrap();
        let mut scene =
            Scene::new(&mechanism, Surfaces::new(), |held| engine.simulate(held).unwrap()).unwrap();
        // Down, across, back and up again: nodes come and go.
        let mut touched = 0;
        let mut cycle = |scene: &mut Scene| {
            for k in 0..200 {
                let x = 2.0 * PI * f64::from(k) / 200.0;
                let inputs = scene.inputs_mut();
                inputs.set_target(down, &[-1e-3 * (1.0 - x.cos())]).unwrap();
                inputs.set_target(across, &[1e-3 * x.sin()]).unwrap();
                scene.step(2e-3).unwrap();
                touched = touched.max(scene.world().zones().next().unwrap().1.loads().len());
            }
        };
        cycle(&mut scene);
        let counted = allocations(|| cycle(&mut scene));
        assert!(touched > 15, "{name}: {touched}");
        assert_eq!(counted, 0, "{name}");
    }
}

/// The pad of the gallery, coarser.
fn pad() -> ZoneDescription {
    let mut zone = gallery::pad().zones()[0].description.clone();
    zone.resolution = Some(2.5e-3);
    zone
}

/// A cube with edges of 16 mm.
fn cube() -> Surface {
    let points = (0..8).map(|i| [i & 1, (i >> 1) & 1, i >> 2].map(|x| 0.016 * (x as f64 - 0.5))).collect();
    let sides = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    let triangles = sides.iter().flat_map(|[a, b, c, d]| [[*a, *b, *c], [*a, *c, *d]]).collect();
    Surface { points, triangles }
}

#[test]
fn shapes_on_a_pad_allocate_nothing() {
    let (file, scale) = ("cube".to_string(), pliant_core::nalgebra::Vector3::repeat(1.0));
    let kinds = [
        Some(Geometry::Ball { radius: 0.008 }),
        Some(Geometry::Box { size: [0.016; 3].into() }),
        Some(Geometry::Capsule { radius: 0.005, half_length: 0.003 }),
        Some(Geometry::Cylinder { radius: 0.008, half_length: 0.008 }),
        Some(Geometry::Convex { file: file.clone(), scale }),
        Some(Geometry::Mesh { file, scale }),
        // Another pad.
        None,
    ];
    let mut wrong = Vec::new();
    for solver in [Solver::Pgs { sweeps: 50 }, Solver::Exact { tolerance: 1e-9 }] {
        for kind in &kinds {
            let name = kind.as_ref().map_or("zone", Geometry::name);
            let mut world = World::new([0.0, 0.0, -9.81]);
            world.set_solver(solver);
            world.set_surfaces(Surfaces::from([("cube".to_string(), cube())]));
            let below = world.add_zone(Touched::World, &pad(), &[]).unwrap();
            let at = Pose::translation([1e-3, 5e-4, 0.0151]);
            let mut body = Body::new("tool", at).inertia(SpatialInertia::of_box(0.05, [0.016; 3]));
            body.shapes.extend(kind.clone().map(Shape::new));
            let body = world.add_body(&body).unwrap();
            if kind.is_none() {
                let mut upper = pad();
                (upper.name, upper.body) = ("upper".into(), WORLD.into());
                upper.shape.pose = Pose::translation([0.0, 0.0, -2e-3]) * Pose::rotation([1.0, 0.0, 0.0], PI);
                upper.bonded = Some(
                    Shape::new(Geometry::Box { size: [0.04, 0.04, 0.01].into() })
                        .at(Pose::translation([0.0, 0.0, 0.009])),
                );
                world.add_zone(Touched::Free(body), &upper, &[]).unwrap();
            }
            let mut most = 0;
            let mut cycle = |world: &mut World| {
                world.body_mut(body).unwrap().place(at, Twist::ZERO);
                for _ in 0..150 {
                    world.step(1e-3).unwrap();
                    most = most.max(world.zone(below).unwrap().loads().len());
                }
            };
            cycle(&mut world);
            cycle(&mut world);
            let counted = allocations(|| cycle(&mut world));
            assert!(most > 3, "{name}: {most}");
            if counted > 0 {
                wrong.push(format!("{name}, {solver:?}: {counted}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
