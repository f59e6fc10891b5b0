//! Steps a scene of contact on request, for `bench/contact_scenes.py`: `contact plane|field|hand`, then on each line of the
//! input a number of steps. Answers with the median time of a step, µs, over runs of twenty; all links are rebuilt in each.

use std::io::BufRead;
use std::time::Instant;

use pliant_core::contact::{Scene, Surfaces, World};
use pliant_core::gallery;
use pliant_core::mechanism::{Geometry, Shape};
use pliant_core::nalgebra::Vector3;
use pliant_core::reduced::Reduction;
use pliant_core::spatial::Pose;

const H: f64 = 1.0 / 240.0;

/// Steps before anything is timed, and of a run.
const SETTLE: usize = 1200;
const RUN: usize = 20;

fn serve(mut step: impl FnMut()) {
    (0..SETTLE).for_each(|_| step());
    for line in std::io::stdin().lock().lines() {
        let steps: usize = line.expect("a line").trim().parse().expect("a number of steps");
        let mut times: Vec<u128> = (0..steps.div_ceil(RUN))
            .map(|_| {
                let start = Instant::now();
                (0..RUN).for_each(|_| step());
                start.elapsed().as_nanos()
            })
            .collect();
        times.sort_unstable();
        println!("{}", times[times.len() / 2] as f64 * 1e-3 / RUN as f64);
    }
}

fn hexapod(ground: &Shape) {
    let mechanism = gallery::hexapod();
    let model = Reduction::at_rest(&mechanism).build().expect("it can be reduced");
    let mut world = World::new([0.0, 0.0, -9.81]);
    world.add_shape(ground).expect("a shape");
    world.add(model.simulate()).expect("feet");
    serve(|| {
        world.step(H).expect("a finite step");
    });
}

fn hand() {
    let whole = gallery::hand_grasp(gallery::Grasped::Ball);
    let apart = whole.take_apart();
    let model = Reduction::at_rest(apart.held.as_ref().expect("a hand")).build().expect("it can be reduced");
    let mut scene =
        Scene::new(&whole, &apart, Some(model.simulate().into()), Surfaces::new()).expect("shapes");
    let mut steps = 0;
    serve(|| {
        // The last target is at 1.6 s.
        if steps < SETTLE {
            let time = scene.world().time() + H;
            scene.inputs_mut().follow_targets(&whole, time);
        }
        steps += 1;
        scene.step(H).expect("a finite step");
    });
}

fn main() {
    let plane = Shape::new(Geometry::Box { size: Vector3::new(4.0, 4.0, 0.5) });
    let field = Geometry::Heightfield { size: [4.0, 4.0], heights: vec![vec![0.0; 41]; 41] };
    match std::env::args().nth(1).as_deref() {
        Some("plane") => hexapod(&plane.at(Pose::translation([0.0, 0.0, -0.25]))),
        Some("field") => hexapod(&Shape::new(field)),
        Some("hand") => hand(),
        _ => eprintln!("contact plane|field|hand"),
    }
}
