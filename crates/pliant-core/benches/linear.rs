//! Speed of linear models, one thread, no modes: one step with every link's pose under the scene's load, its
//! dynamics alone, and building the model.
//!
//! `cargo bench -p pliant-core --bench linear`; `pliant bench` times the same scenes with percentiles. The figures
//! and the bound are in the README of the engine.

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use pliant_core::engine::Simulation as _;
use pliant_core::gallery;
use pliant_core::linear::{Linearisation, Reconstruction};

/// Mechanisms under their load.
const SCENES: [&str; 5] = ["helix:50", "helix:400", "arm", "rungs:48", "hand"];

fn steps(c: &mut Criterion) {
    let kinds = [
        ("twist", Reconstruction::Twist),
        ("joint", Reconstruction::Joint),
        ("corrected", Reconstruction::Corrected),
    ];
    for (word, kind) in kinds {
        let mut group = c.benchmark_group(format!("linear step, {word}"));
        for name in SCENES {
            let mechanism = gallery::build(name).expect("a gallery name");
            let model = Linearisation::at_rest(&mechanism).build().expect("it can be reduced");
            let mut simulation = model.simulate();
            simulation.set_reconstruction(kind);
            simulation.inputs_mut().add_scene_loads();
            group.bench_function(BenchmarkId::from_parameter(name), |b| {
                b.iter(|| simulation.step(1.0 / 60.0).expect("a finite step"));
            });
        }
        group.finish();
    }
    let mut group = c.benchmark_group("linear step, effectors alone");
    for name in SCENES {
        let mechanism = gallery::build(name).expect("a gallery name");
        let model = Linearisation::at_rest(&mechanism).build().expect("it can be reduced");
        let mut simulation = model.simulate();
        simulation.inputs_mut().add_scene_loads();
        group.bench_function(BenchmarkId::from_parameter(name), |b| {
            b.iter(|| simulation.step_effectors(1.0 / 60.0).expect("a finite step"));
        });
    }
    group.finish();
}

fn building(c: &mut Criterion) {
    let mut group = c.benchmark_group("building a linear model");
    for name in ["helix:400", "chain:10000", "rungs:48", "ladder:3000", "hand"] {
        let mechanism = gallery::build(name).expect("a gallery name");
        group.bench_function(BenchmarkId::from_parameter(name), |b| {
            b.iter_with_large_drop(|| Linearisation::at_rest(&mechanism).build().expect("it can be reduced"));
        });
    }
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20).measurement_time(std::time::Duration::from_secs(2))
        .warm_up_time(std::time::Duration::from_millis(500));
    targets = steps, building
}
criterion_main!(benches);
