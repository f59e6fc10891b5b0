//! Speed of the full engine, one thread, everything included: one step with one Newton iteration, with
//! every link's pose, joint coordinates and forces.
//!
//! `cargo bench -p pliant-core --bench full`; `pliant bench` times the same scenes with percentiles. By that, on two
//! shared cores of an EPYC with AVX2, in µs a link: chains of 100, 1,000 and 10,000 links 0.56, 0.60 and 0.80, hence a
//! slope of 1.08 on log axes; helix:400 0.58; in µs a joint: ladder:48 and rungs:48 0.85, 1.5 times a chain. The bound
//! is in the README of the engine.

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use pliant_core::engine::Simulation as _;
use pliant_core::{full, gallery};

/// Mechanisms in their gravity and under their load.
const SCENES: [&str; 10] = [
    "chain:100",
    "chain:1000",
    "chain:10000",
    "helix:50",
    "helix:400",
    "ladder:36",
    "ladder:48",
    "rungs:48",
    "arm",
    "hand",
];

fn steps(c: &mut Criterion) {
    let mut group = c.benchmark_group("full step, 1 iteration");
    for name in SCENES {
        let mechanism = gallery::build(name).expect("a gallery name");
        let model = full::Model::new(&mechanism);
        let mut simulation = model.simulate();
        simulation.inputs_mut().add_scene_loads();
        simulation.set_iterations(1).expect("at least one");
        group.bench_function(BenchmarkId::from_parameter(name), |b| {
            b.iter(|| simulation.step(1.0 / 60.0).expect("a finite step"));
        });
    }
    group.finish();
}

fn statics(c: &mut Criterion) {
    let mut group = c.benchmark_group("statics from rest");
    for name in ["helix:50", "helix:400", "ladder:36", "rungs:48", "hand", "firefighters"] {
        let mechanism = gallery::build(name).expect("a gallery name");
        let model = full::Model::new(&mechanism);
        let mut simulation = model.simulate();
        simulation.inputs_mut().add_scene_loads();
        let start = simulation.state().clone();
        group.bench_function(BenchmarkId::from_parameter(name), |b| {
            b.iter(|| {
                simulation.set_state(&start).expect("its own state");
                simulation.settle(&Default::default()).expect("held")
            });
        });
    }
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20).measurement_time(std::time::Duration::from_secs(2))
        .warm_up_time(std::time::Duration::from_millis(500));
    targets = steps, statics
}
criterion_main!(benches);
