//! Speed of the articulated engine, one thread: forward dynamics (kinematics, velocities and both sweeps, from coordinates
//! and rates to accelerations) and a whole step with every link's pose and twist, joint coordinates and constraint
//! forces.
//!
//! `cargo bench -p pliant-core --features compiled --bench articulated`; without the feature, formulas are interpreted.
//! Figures are in `src/articulated/README.md`.
//!
//! The bound of a hinge link in a step: 20 multiplications for sine and cosine, 75 for its place, 125 for its inertia and
//! momentum, 40 for U and the square, 60 for the shift to the parent, 15 for its speed, 80 for its constraint forces and 35
//! for its twist: some 450, or 65 ns of one fused multiplication a cycle at 3.5 GHz with two units half in use. A loop of a ladder
//! adds some 850 for its couplings: 100 for the rung's, 360 for the right rail's, 190 for its own two rows and 200 for the left rail's.

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use pliant_core::engine::Inputs;
use pliant_core::engine::Simulation as _;
use pliant_core::{articulated, gallery};

fn forward_dynamics(c: &mut Criterion) {
    let mut group = c.benchmark_group("forward dynamics");
    let formulas = ["torus-chain:10", "torus-chain:20", "windmill"];
    for name in ["chain:20", "chain:50", "chain:100"].into_iter().chain(formulas) {
        let mechanism = gallery::build(name).expect("a gallery name");
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
    let names = ["chain:100", "chain:1000", "helix:50", "helix:400", "arm", "hand"];
    let loops = ["ladder:36", "ladder:48", "ladder:480", "rungs:48", "rungs:480"];
    for name in names.into_iter().chain(loops).chain(["torus-chain:10", "torus-chain:20", "windmill"]) {
        let mechanism = gallery::build(name).expect("a gallery name");
        let model = articulated::Model::new(&mechanism);
        let mut simulation = model.simulate();
        simulation.inputs_mut().add_scene_loads();
        group.bench_function(BenchmarkId::from_parameter(name), |b| {
            b.iter(|| simulation.step(1.0 / 60.0).expect("a finite step"));
        });
    }
    group.finish();
}

/// Formulas from text to the first accelerations: derivatives, tapes, machine code.
fn formulas(c: &mut Criterion) {
    let mut group = c.benchmark_group("from text to accelerations");
    for name in ["torus-chain:10", "torus-chain:20", "windmill"] {
        group.bench_function(BenchmarkId::from_parameter(name), |b| {
            b.iter(|| {
                let mechanism = gallery::build(name).expect("a gallery name");
                let model = articulated::Model::new(&mechanism);
                let (forces, mut accelerations) = (vec![0.1; model.speeds()], vec![0.0; model.speeds()]);
                let inputs = Inputs::new(&mechanism);
                model
                    .dynamics()
                    .accelerations(&inputs, &forces, &mut accelerations)
                    .expect("mass everywhere");
                accelerations
            });
        });
    }
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20).measurement_time(std::time::Duration::from_secs(2))
        .warm_up_time(std::time::Duration::from_millis(500));
    targets = forward_dynamics, steps, formulas
}
criterion_main!(benches);
