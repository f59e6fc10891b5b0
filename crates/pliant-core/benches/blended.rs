//! Speed of the blended engine, one thread: one step with every link's pose under the scene's load, of
//! 1, 2, 4 and 8 models, and of 64 of which 8 count.
//!
//! `cargo bench -p pliant-core --bench blended`. The figures and the bound are in the README of the engine.

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use pliant_core::blended::{Links, Model, Options};
use pliant_core::engine::Simulation as _;
use pliant_core::gallery;
use pliant_core::mechanism::Mechanism;
use pliant_core::spatial::Wrench;

/// Samples under parts of the scene's load, turned about z from one to the next.
fn sampled(mechanism: &Mechanism, samples: usize) -> Model {
    let mut model = Model::new(mechanism, Options::default()).expect("springs hold it");
    let mut k = 0;
    while model.samples().len() < samples {
        k += 1;
        let (size, angle) = (0.2 + 0.8 * (k as f64 * 0.618) % 1.0, 2.4 * k as f64);
        let mut loads = vec![Wrench::ZERO; mechanism.effectors().len()];
        for load in mechanism.loads() {
            let f = load.wrench.force.norm() * size;
            loads[load.effector.index()] = Wrench::force([f * angle.cos(), f * angle.sin(), -0.3 * f]);
        }
        let _ = model.add(&loads);
    }
    model
}

fn steps(c: &mut Criterion) {
    let mut group = c.benchmark_group("blended step");
    let cases: [(&str, &str, usize, Links); 10] = [
        ("helix:200", "joint", 1, Links::Joint),
        ("helix:200", "joint", 2, Links::Joint),
        ("helix:200", "joint", 4, Links::Joint),
        ("helix:200", "joint", 8, Links::Joint),
        ("helix:200", "joint", 64, Links::Joint),
        ("helix:200", "twist", 1, Links::Twist),
        ("helix:200", "twist", 2, Links::Twist),
        ("helix:200", "twist", 4, Links::Twist),
        ("arm", "joint", 4, Links::Joint),
        ("y", "joint", 4, Links::Joint),
    ];
    for (name, what, samples, links) in cases {
        let mechanism = gallery::build(name).expect("a gallery name");
        let model = sampled(&mechanism, samples);
        let mut simulation = model.simulate();
        simulation.set_options(Options { links, ..Options::default() });
        simulation.inputs_mut().add_scene_loads();
        group.bench_function(BenchmarkId::new(format!("{name} {what}"), samples), |b| {
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
