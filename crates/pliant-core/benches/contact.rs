//! Times steps of contact with every link's pose: the reduced hexapod with six feet down, on a plane and on a height field, and the
//! reduced hand with its fingers on a ball, and with the ball attached to fingers and palm. Figures are in `src/contact/README.md`.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use nalgebra::Vector3;
use pliant_core::contact::{Scene, Surfaces, Touched, World};
use pliant_core::engine::Simulation as _;
use pliant_core::gallery;
use pliant_core::mechanism::{Geometry, Mechanism, Shape};
use pliant_core::nalgebra;
use pliant_core::reduced::Reduction;
use pliant_core::spatial::Pose;

const H: f64 = 1.0 / 240.0;

fn hexapod(criterion: &mut Criterion) {
    let mechanism = gallery::hexapod();
    let model = Reduction::at_rest(&mechanism).modes_for_contact(H).build().unwrap();
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
        |held: &Mechanism| Reduction::at_rest(held).modes_for_contact(H).build().unwrap().simulate();
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

criterion_group!(benches, hexapod, hand);
criterion_main!(benches);
