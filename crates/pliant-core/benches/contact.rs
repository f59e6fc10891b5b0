//! Times steps of contact with every link's pose: the linear hexapod with six feet down, on a plane and on a height field, and the
//! linear hand with its fingers on a ball, and with the ball attached to fingers and palm; and free balls that lie on a plane,
//! 250 to 1,000 of them, whose time for each does not grow; and a pad under a round tip. Figures are in `src/contact/README.md`.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use nalgebra::Vector3;
use pliant_core::contact::{Scene, Surfaces, Touched, World};
use pliant_core::engine::Simulation as _;
use pliant_core::engines::Engine;
use pliant_core::gallery;
use pliant_core::linear::Linearisation;
use pliant_core::mechanism::{Body, Geometry, Mechanism, Shape};
use pliant_core::nalgebra;
use pliant_core::spatial::{Pose, SpatialInertia};

const H: f64 = 1.0 / 240.0;

fn hexapod(criterion: &mut Criterion) {
    let mechanism = gallery::hexapod();
    let model = Linearisation::at_rest(&mechanism).modes_for_contact(H).build().unwrap();
    let plane = Shape::new(Geometry::Box { size: Vector3::new(4.0, 4.0, 0.5) });
    let heights = (0..41).map(|_| vec![0.0; 41]).collect();
    let field = Shape::new(Geometry::Heightfield { size: [4.0, 4.0], heights });
    for (name, ground) in [("plane", plane.at(Pose::translation([0.0, 0.0, -0.25]))), ("height field", field)]
    {
        let mut world = World::new([0.0, 0.0, -9.81]);
        world.add_shape(&ground).unwrap();
        world.add(model.simulate()).unwrap();
        for _ in 0..480 {
            world.step(H).unwrap();
        }
        assert_eq!(world.report().pushing, 6);
        criterion.bench_function(&format!("hexapod/{name}"), |bencher| {
            bencher.iter(|| black_box(&mut world).step(H).unwrap());
        });
    }
}

fn hand(criterion: &mut Criterion) {
    let whole: Mechanism = gallery::hand_grasp(gallery::Grasped::Ball);
    let simulate =
        |held: &Mechanism| Linearisation::at_rest(held).modes_for_contact(H).build().unwrap().simulate();
    let mut scene = Scene::new(&whole, Surfaces::new(), simulate).unwrap();
    (0..600).for_each(|_| scene.step(H).unwrap());
    assert!(scene.report().pushing >= 5);
    let mut attached = scene.clone();
    criterion.bench_function("hand/ball", |bencher| {
        bencher.iter(|| black_box(&mut scene).step(H).unwrap());
    });
    let touched = ["ball", "palm"].map(|body| attached.touched(whole.find_body(body).unwrap()).unwrap());
    let [Touched::Free(ball), Touched::Mechanism(hand, _)] = touched else { unreachable!() };
    let effectors: Vec<_> = attached.world().simulation(hand).unwrap().mechanism().effector_ids().collect();
    attached.world_mut().attach(ball, hand, &effectors).unwrap();
    criterion.bench_function("hand/attached ball", |bencher| {
        bencher.iter(|| black_box(&mut attached).step(H).unwrap());
    });
}

/// A round tip that is pressed on a pad of 865 nodes and moves sideways: by how many nodes it touches.
fn zone(criterion: &mut Criterion) {
    let mut builder = gallery::pad().to_builder();
    builder.zone_mut("pad").expect("the pad").resolution = Some(1.25e-3);
    let mechanism = builder.build().unwrap();
    let mut scene =
        Scene::new(&mechanism, Surfaces::new(), |held| Engine::Articulated.simulate(held).unwrap()).unwrap();
    let (across, down) = (mechanism.find_joint("across").unwrap(), mechanism.find_joint("down").unwrap());
    for depth in [0.35e-3, 0.9e-3, 1.6e-3, 3e-3] {
        let inputs = scene.inputs_mut();
        inputs.set_target(down, &[-2e-4 - depth]).unwrap();
        inputs.set_target(across, &[0.0]).unwrap();
        (0..400).for_each(|_| scene.step(1e-3).unwrap());
        let (pushing, mut step) = (scene.report().pushing, 0);
        criterion.bench_function(&format!("zone/{pushing} nodes"), |bencher| {
            bencher.iter(|| {
                step += 1;
                let swing = 1e-4 * (0.01 * f64::from(step)).sin();
                scene.inputs_mut().set_target(across, &[swing]).unwrap();
                black_box(&mut scene).step(1e-3).unwrap();
            });
        });
    }
    let (_, state) = scene.world().zones().next().expect("the pad");
    let mut surface = vec![Vector3::zeros(); state.solid().points().len()];
    criterion.bench_function(&format!("zone/surface of {} loads", state.loads().len()), |bencher| {
        bencher.iter(|| state.displacements(black_box(&mut surface)));
    });
}

/// Balls on a grid, which roll a little.
fn balls(criterion: &mut Criterion) {
    for count in [250, 500, 1000] {
        let mut world = World::new([0.0, 0.0, -9.81]);
        let plane = Shape::new(Geometry::Box { size: Vector3::new(20.0, 20.0, 0.5) });
        world.add_shape(&plane.at(Pose::translation([0.0, 0.0, -0.25]))).unwrap();
        for k in 0..count {
            let at = [0.12 * f64::from(k % 32) - 2.0, 0.12 * f64::from(k / 32) - 2.0, 0.0501];
            let ball = Body::new(format!("ball{k}"), Pose::translation(at));
            let ball = ball.inertia(SpatialInertia::of_box(0.1, [0.08; 3]));
            world.add_body(&ball.shape(Shape::new(Geometry::Ball { radius: 0.05 })).free()).unwrap();
        }
        for _ in 0..60 {
            world.step(H).unwrap();
        }
        assert_eq!(world.report().pushing, count as usize);
        criterion.bench_function(&format!("balls/{count}"), |bencher| {
            bencher.iter(|| black_box(&mut world).step(H).unwrap());
        });
    }
}

criterion_group!(benches, hexapod, hand, balls, zone);
criterion_main!(benches);
