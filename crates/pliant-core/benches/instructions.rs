//! Instructions of one step of each engine, by a trait object, of the full one with one Newton iteration, of others with all links: a
//! guard that does not depend on how busy the machine is. Fails where a step takes more than its limit, about 8 %
//! above what it took when the limit was set: in full, 7,710 for a link of a chain and 14,100 for a joint of a
//! ladder; articulated, 1,390 for a link of a chain and 343,000 for rungs:48; linear, 27,800 for helix:400 by
//! twists and 43,200 by joints; motions, in a step that makes mass again, 772,000 for helix:400 and 109,000 for the arm;
//! contact, whose sweeps are not always as many, with 13 % instead, 81,400 for the hexapod on
//! a plane and 106,400 on a height field. Limits are those of AVX2; they were set for calls without a trait object, which
//! adds nothing to them.
//!
//! `.ci/run` runs it. Needs valgrind and `cargo install gungraun-runner --version 0.20.0`; then
//! `cargo bench -p pliant-core --bench instructions`.

#![allow(missing_docs)] // of what the macros make

use gungraun::prelude::*;
use gungraun::{Callgrind, EventKind};
use pliant_core::contact::World;
use pliant_core::engine::Simulation;
use pliant_core::linear::{Linearisation, Reconstruction};
use pliant_core::mechanism::{Geometry, Mechanism, Shape};
use pliant_core::nalgebra::Vector3;
use pliant_core::spatial::Pose;
use pliant_core::{articulated, full, gallery, reduced};

const DT: f64 = 1.0 / 60.0;

fn limit(instructions: u64) -> LibraryBenchmarkConfig {
    let mut config = LibraryBenchmarkConfig::default();
    config.tool(Callgrind::default().hard_limits([(EventKind::Ir, instructions)]));
    config
}

fn mechanism(name: &str) -> Mechanism {
    gallery::build(name).expect("a gallery name")
}

/// After one step, under its load.
fn started(simulation: impl Into<Box<dyn Simulation>>) -> Box<dyn Simulation> {
    let mut simulation = simulation.into();
    simulation.inputs_mut().add_scene_loads();
    simulation.step(DT).expect("a finite step");
    simulation
}

fn by_full(name: &str) -> Box<dyn Simulation> {
    let mut simulation = full::Model::new(&mechanism(name)).simulate();
    simulation.set_iterations(1).expect("at least one");
    started(simulation)
}

fn by_articulated(name: &str) -> Box<dyn Simulation> {
    started(articulated::Model::new(&mechanism(name)).simulate())
}

fn by_linear(name: &str, how: Reconstruction) -> Box<dyn Simulation> {
    let mut simulation =
        Linearisation::at_rest(&mechanism(name)).build().expect("it can be reduced").simulate();
    simulation.set_reconstruction(how);
    started(simulation)
}

fn by_reduced(name: &str) -> Box<dyn Simulation> {
    started(reduced::Reduction::at_rest(&mechanism(name)).build().expect("reduced").simulate())
}

#[library_benchmark]
#[bench::full_chain_1000(args = ("chain:1000"), setup = by_full, config = limit(8_300_000))]
#[bench::full_helix_400(args = ("helix:400"), setup = by_full, config = limit(3_640_000))]
#[bench::full_ladder_48(args = ("ladder:48"), setup = by_full, config = limit(970_000))]
#[bench::full_rungs_48(args = ("rungs:48"), setup = by_full, config = limit(960_000))]
#[bench::articulated_chain_1000(args = ("chain:1000"), setup = by_articulated, config = limit(1_500_000))]
#[bench::articulated_helix_400(args = ("helix:400"), setup = by_articulated, config = limit(602_000))]
#[bench::articulated_arm(args = ("arm"), setup = by_articulated, config = limit(31_700))]
#[bench::articulated_rungs_48(args = ("rungs:48"), setup = by_articulated, config = limit(371_000))]
#[bench::linear_helix_400_twist(args = ("helix:400", Reconstruction::Twist), setup = by_linear, config = limit(30_000))]
#[bench::linear_helix_400_joint(args = ("helix:400", Reconstruction::Joint), setup = by_linear, config = limit(46_600))]
#[bench::linear_arm_joint(args = ("arm", Reconstruction::Joint), setup = by_linear, config = limit(6_640))]
#[bench::linear_rungs_48_joint(args = ("rungs:48", Reconstruction::Joint), setup = by_linear, config = limit(9_700))]
#[bench::reduced_helix_400(args = ("helix:400"), setup = by_reduced, config = limit(833_000))]
#[bench::reduced_arm(args = ("arm"), setup = by_reduced, config = limit(117_500))]
#[bench::reduced_rungs_48(args = ("rungs:48"), setup = by_reduced, config = limit(34_500))]
fn step(mut simulation: Box<dyn Simulation>) -> Box<dyn Simulation> {
    simulation.step(DT).expect("a finite step");
    simulation
}

/// The linear hexapod after two seconds, with six feet on a plane or a flat height field.
fn standing(ground: &str) -> World {
    let model = Linearisation::at_rest(&gallery::hexapod()).build().expect("it can be reduced");
    let shape = match ground {
        "plane" => Shape::new(Geometry::Box { size: Vector3::new(4.0, 4.0, 0.5) })
            .at(Pose::translation([0.0, 0.0, -0.25])),
        _ => Shape::new(Geometry::Heightfield { size: [4.0, 4.0], heights: vec![vec![0.0; 41]; 41] }),
    };
    let mut world = World::new([0.0, 0.0, -9.81]);
    world.add_shape(&shape).expect("a shape");
    world.add(model.simulate()).expect("feet");
    for _ in 0..480 {
        world.step(1.0 / 240.0).expect("a finite step");
    }
    assert_eq!(world.report().pushing, 6);
    world
}

#[library_benchmark]
#[bench::hexapod_plane(args = ("plane"), setup = standing, config = limit(92_000))]
#[bench::hexapod_field(args = ("height field"), setup = standing, config = limit(120_000))]
fn contact_step(mut world: World) -> World {
    world.step(1.0 / 240.0).expect("a finite step");
    world
}

library_benchmark_group!(name = engines, benchmarks = step);
library_benchmark_group!(name = touching, benchmarks = contact_step);
main!(library_benchmark_groups = engines, touching);
