//! Speed of the live engine, one thread: one step with every link's pose under the scene's load.
//!
//! `cargo bench -p pliant-core --bench live`; `pliant bench` times the same scenes with percentiles. The figures and
//! the bound are in the README of the engine.

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use pliant_core::engine::Simulation as _;
use pliant_core::gallery;
use pliant_core::live::Model;

fn steps(c: &mut Criterion) {
    let mut group = c.benchmark_group("live step");
    for name in ["helix:50", "helix:400", "chain:1000", "arm", "hand", "y", "gripper", "rungs:18", "rungs:48"]
    {
        let mechanism = gallery::build(name).expect("a gallery name");
        let model = Model::new(&mechanism).expect("springs hold it");
        let mut simulation = model.simulate();
        simulation.inputs_mut().add_scene_loads();
        group.bench_function(BenchmarkId::from_parameter(name), |b| {
            b.iter(|| simulation.step(1.0 / 60.0).expect("a finite step"));
        });
    }
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20).measurement_time(std::time::Duration::from_secs(1))
        .warm_up_time(std::time::Duration::from_millis(300));
    targets = steps
}
criterion_main!(benches);
