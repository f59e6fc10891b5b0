//! Instructions of one step of the full engine with one Newton iteration: a guard that does not depend on
//! how busy the machine is. Fails where a step takes more than its limit, about 8 % above what it took when the
//! limit was set: 7,720 for a link of a chain, 14,100 for a joint of a ladder. Limits are those of AVX2.
//!
//! `.ci/run` runs it. Needs valgrind and `cargo install gungraun-runner --version 0.20.0`; then
//! `cargo bench -p pliant-core --bench full_instructions`.

#![allow(missing_docs)] // of what the macros make

use gungraun::prelude::*;
use gungraun::{Callgrind, EventKind};
use pliant_core::full::{Model, Simulation};
use pliant_core::gallery;

/// A simulation after one step, under its load.
fn simulation(name: &str) -> Simulation<'static> {
    let mechanism = Box::leak(Box::new(gallery::build(name).expect("a gallery name")));
    let model = Box::leak(Box::new(Model::new(mechanism)));
    let mut simulation = model.simulate();
    simulation.inputs_mut().add_scene_loads(mechanism);
    simulation.set_iterations(1).expect("at least one");
    simulation.step(1.0 / 60.0).expect("a finite step");
    simulation
}

#[library_benchmark]
#[bench::chain_1000(args = ("chain:1000"), setup = simulation, config = limit(8_300_000))]
#[bench::helix_400(args = ("helix:400"), setup = simulation, config = limit(3_600_000))]
#[bench::ladder_48(args = ("ladder:48"), setup = simulation, config = limit(970_000))]
#[bench::rungs_48(args = ("rungs:48"), setup = simulation, config = limit(960_000))]
fn step(mut simulation: Simulation<'static>) -> Simulation<'static> {
    simulation.step(1.0 / 60.0).expect("a finite step");
    simulation
}

fn limit(instructions: u64) -> LibraryBenchmarkConfig {
    let mut config = LibraryBenchmarkConfig::default();
    config.tool(Callgrind::default().hard_limits([(EventKind::Ir, instructions)]));
    config
}

library_benchmark_group!(name = full, benchmarks = step);
main!(library_benchmark_groups = full);
