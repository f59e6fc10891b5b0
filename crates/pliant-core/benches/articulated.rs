//! Speed of the articulated engine, one thread: forward dynamics (kinematics, velocities and both sweeps, from coordinates
//! and rates to accelerations) and a whole step with every link's pose and twist, joint coordinates and constraint
//! forces.
//!
//! `cargo bench -p pliant-core --bench articulated`; `pliant bench` times the same steps with percentiles. Here, on two
//! cores of an EPYC with AVX2 that other builds shared: forward dynamics of chains of 20, 50 and 100 links 3.3, 8.2 and 16.2 µs;
//! a step of helix:400 86 µs, of arm 4.3 µs, of ladder:36 54 µs. Before a step had the inertia of the middle of the turn,
//! medians of `pliant bench` on the same machine were 45, 2.3 and 37 µs (0.113 µs a link, where full takes 0.58): what that
//! inertia costs is to be looked into first.
//!
//! The bound of a hinge link in a step: 20 multiplications for sine and cosine, 75 for its place, 125 for its inertia and
//! momentum, 40 for U and the square, 60 for the shift to the parent, 15 for its speed, 80 for its constraint forces and 35
//! for its twist: some 450, or 65 ns of one fused multiplication a cycle at 3.5 GHz with two units half in use.

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use pliant_core::inputs::Inputs;
use pliant_core::{articulated, gallery};

fn forward_dynamics(c: &mut Criterion) {
    let mut group = c.benchmark_group("forward dynamics");
    for links in [20, 50, 100] {
        let mechanism = gallery::chain(links);
        let model = articulated::Model::new(&mechanism);
        let mut dynamics = model.dynamics();
        let inputs = Inputs::new(&mechanism);
        let forces = vec![0.1; model.speeds()];
        let mut accelerations = vec![0.0; model.speeds()];
        group.bench_function(BenchmarkId::from_parameter(mechanism.name()), |b| {
            b.iter(|| dynamics.accelerations(&inputs, &forces, &mut accelerations).expect("mass everywhere"));
        });
    }
    group.finish();
}

fn steps(c: &mut Criterion) {
    let mut group = c.benchmark_group("articulated step");
    for name in ["chain:100", "chain:1000", "helix:50", "helix:400", "ladder:36", "rungs:48", "arm", "hand"] {
        let mechanism = gallery::build(name).expect("a gallery name");
        let model = articulated::Model::new(&mechanism);
        let mut simulation = model.simulate();
        simulation.inputs_mut().add_scene_loads(&mechanism);
        group.bench_function(BenchmarkId::from_parameter(name), |b| {
            b.iter(|| simulation.step(1.0 / 60.0).expect("a finite step"));
        });
    }
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20).measurement_time(std::time::Duration::from_secs(2))
        .warm_up_time(std::time::Duration::from_millis(500));
    targets = forward_dynamics, steps
}
criterion_main!(benches);
