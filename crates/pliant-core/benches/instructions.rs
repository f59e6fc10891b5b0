//! Instructions of one step of each engine, of the full one with one Newton iteration, of others with all links: a
//! guard that does not depend on how busy the machine is. Fails where a step takes more than its limit, about 8 %
//! above what it took when the limit was set: in full, 7,710 for a link of a chain and 14,100 for a joint of a
//! ladder; articulated, 1,390 for a link of a chain and 547,000 for ladder:36; reduced, 27,800 for helix:400 by
//! twists and 43,200 by joints; live, 423,000 for helix:400 and 35,700 for the arm (with loops, valgrind 3.19 stops at
//! a move that it does not know); contact, whose sweeps are not always as many, with 13 % instead, 81,400 for the hexapod on
//! a plane and 106,400 on a height field. Limits are those of AVX2.
//!
//! `.ci/run` runs it. Needs valgrind and `cargo install gungraun-runner --version 0.20.0`; then
//! `cargo bench -p pliant-core --bench instructions`.

#![allow(missing_docs)] // of what the macros make

use gungraun::prelude::*;
use gungraun::{Callgrind, EventKind};
use pliant_core::contact::World;
use pliant_core::full::{Model, Simulation};
use pliant_core::mechanism::{Geometry, Shape};
use pliant_core::nalgebra::Vector3;
use pliant_core::reduced::{self, Reconstruction, Reduction};
use pliant_core::spatial::Pose;
use pliant_core::{articulated, gallery, live};

/// A simulation after one step, under its load.
fn simulation(name: &str) -> Simulation {
    let mechanism = Box::leak(Box::new(gallery::build(name).expect("a gallery name")));
    let model = Box::leak(Box::new(Model::new(mechanism)));
    let mut simulation = model.simulate();
    simulation.inputs_mut().add_scene_loads();
    simulation.set_iterations(1).expect("at least one");
    simulation.step(1.0 / 60.0).expect("a finite step");
    simulation
}

#[library_benchmark]
#[bench::chain_1000(args = ("chain:1000"), setup = simulation, config = limit(8_300_000))]
#[bench::helix_400(args = ("helix:400"), setup = simulation, config = limit(3_600_000))]
#[bench::ladder_48(args = ("ladder:48"), setup = simulation, config = limit(970_000))]
#[bench::rungs_48(args = ("rungs:48"), setup = simulation, config = limit(960_000))]
fn step(mut simulation: Simulation) -> Simulation {
    simulation.step(1.0 / 60.0).expect("a finite step");
    simulation
}

fn limit(instructions: u64) -> LibraryBenchmarkConfig {
    let mut config = LibraryBenchmarkConfig::default();
    config.tool(Callgrind::default().hard_limits([(EventKind::Ir, instructions)]));
    config
}

/// A reduced simulation after one step, under its load, and how its links are rebuilt.
fn reduced_simulation(name: &str, how: Reconstruction) -> reduced::Simulation {
    let mechanism = Box::leak(Box::new(gallery::build(name).expect("a gallery name")));
    let model = Box::leak(Box::new(Reduction::at_rest(mechanism).build().expect("it can be reduced")));
    let mut simulation = model.simulate();
    simulation.set_reconstruction(how);
    simulation.inputs_mut().add_scene_loads();
    simulation.step(1.0 / 60.0).expect("a finite step");
    simulation
}

#[library_benchmark]
#[bench::helix_400_twist(args = ("helix:400", Reconstruction::Twist), setup = reduced_simulation, config = limit(30_000))]
#[bench::helix_400_joint(args = ("helix:400", Reconstruction::Joint), setup = reduced_simulation, config = limit(46_600))]
#[bench::arm_joint(args = ("arm", Reconstruction::Joint), setup = reduced_simulation, config = limit(6_640))]
#[bench::rungs_48_joint(args = ("rungs:48", Reconstruction::Joint), setup = reduced_simulation, config = limit(9_700))]
fn reduced_step(mut simulation: reduced::Simulation) -> reduced::Simulation {
    simulation.step(1.0 / 60.0).expect("a finite step");
    simulation
}

/// An articulated simulation after one step, under its load.
fn articulated_simulation(name: &str) -> articulated::Simulation {
    let mechanism = Box::leak(Box::new(gallery::build(name).expect("a gallery name")));
    let model = Box::leak(Box::new(articulated::Model::new(mechanism)));
    let mut simulation = model.simulate();
    simulation.inputs_mut().add_scene_loads();
    simulation.step(1.0 / 60.0).expect("a finite step");
    simulation
}

#[library_benchmark]
#[bench::chain_1000(args = ("chain:1000"), setup = articulated_simulation, config = limit(1_500_000))]
#[bench::helix_400(args = ("helix:400"), setup = articulated_simulation, config = limit(602_000))]
#[bench::arm(args = ("arm"), setup = articulated_simulation, config = limit(31_700))]
#[bench::ladder_36(args = ("ladder:36"), setup = articulated_simulation, config = limit(591_000))]
fn articulated_step(mut simulation: articulated::Simulation) -> articulated::Simulation {
    simulation.step(1.0 / 60.0).expect("a finite step");
    simulation
}

/// A live simulation after one step, under its load.
fn live_simulation(name: &str) -> live::Simulation {
    let mechanism = Box::leak(Box::new(gallery::build(name).expect("a gallery name")));
    let model = Box::leak(Box::new(live::Model::new(mechanism).expect("springs hold it")));
    let mut simulation = model.simulate();
    simulation.inputs_mut().add_scene_loads();
    simulation.step(1.0 / 60.0).expect("a finite step");
    simulation
}

#[library_benchmark]
#[bench::helix_400(args = ("helix:400"), setup = live_simulation, config = limit(457_000))]
#[bench::arm(args = ("arm"), setup = live_simulation, config = limit(38_500))]
fn live_step(mut simulation: live::Simulation) -> live::Simulation {
    simulation.step(1.0 / 60.0).expect("a finite step");
    simulation
}

/// The reduced hexapod after two seconds, with six feet on a plane or a flat height field.
fn standing(ground: &str) -> World {
    let mechanism = Box::leak(Box::new(gallery::hexapod()));
    let model = Box::leak(Box::new(Reduction::at_rest(mechanism).build().expect("it can be reduced")));
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

library_benchmark_group!(name = full, benchmarks = step);
library_benchmark_group!(name = joints, benchmarks = articulated_step);
library_benchmark_group!(name = small, benchmarks = reduced_step);
library_benchmark_group!(name = relinearised, benchmarks = live_step);
library_benchmark_group!(name = touching, benchmarks = contact_step);
main!(library_benchmark_groups = full, joints, small, relinearised, touching);
