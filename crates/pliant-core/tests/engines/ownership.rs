//! Claim: a mechanism, its model and a running simulation live in one struct, which moves to a thread and back; boxed
//! simulations of all engines are driven by one loop, also by several threads; a mechanism is cheap to clone; a builder
//! made of a mechanism builds the same one.

use std::thread;

use pliant_core::engine::Simulation;
use pliant_core::engines::Engine;
use pliant_core::linear::{self, Linearisation};
use pliant_core::mechanism::Mechanism;
use pliant_core::spatial::{Pose, Wrench};
use pliant_core::{full, gallery};

use crate::common::{FRAME, bits};

struct Owner {
    mechanism: Mechanism,
    model: linear::Model,
    simulation: linear::Simulation,
}

#[test]
fn a_struct_owns_a_simulation_and_moves_to_a_thread_and_back() {
    let owner = {
        let mechanism = gallery::helix(20);
        let model = Linearisation::at_rest(&mechanism).build().unwrap();
        let simulation = model.simulate();
        Owner { mechanism, model, simulation }
    };
    let run = |mut owner: Owner| {
        let tip = owner.mechanism.effector_ids().next().unwrap();
        owner.simulation.set_load(tip, Wrench::force([0.0, 0.0, -10.0])).unwrap();
        (0..30).for_each(|_| owner.simulation.step(FRAME).unwrap());
        owner
    };
    let mut here = run(Owner {
        mechanism: owner.mechanism.clone(),
        model: owner.model.clone(),
        simulation: owner.model.simulate(),
    });
    let mut back = thread::spawn(move || run(owner)).join().unwrap();
    assert!(bits(back.simulation.state()) == bits(here.simulation.state()));
    assert_eq!(back.model.rank(), 6);
}

#[test]
fn all_engines_by_one_loop_and_by_threads() {
    let mechanism = gallery::arm();
    let all: Vec<Box<dyn Simulation>> =
        Engine::ALL.into_iter().map(|engine| engine.simulate(&mechanism).unwrap()).collect();
    let run = |simulation: &mut Box<dyn Simulation>| {
        simulation.inputs_mut().add_scene_loads();
        (0..20).for_each(|_| simulation.step(FRAME).unwrap());
    };
    let mut one_by_one = all.clone();
    one_by_one.iter_mut().for_each(run);
    let mut together = all;
    thread::scope(|scope| {
        together.iter_mut().for_each(|simulation| drop(scope.spawn(|| run(simulation))));
    });
    for (a, b) in one_by_one.iter_mut().zip(&mut together) {
        assert!(bits(a.state()) == bits(b.state()), "{}", a.engine());
    }
}

#[test]
fn a_builder_of_a_mechanism_builds_the_same_one() {
    for name in ["arm", "hand", "rungs:18", "gripper-pick", "hexapod-terrain", "torus-chain:4", "hand-grasp"]
    {
        let mechanism = gallery::build(name).unwrap();
        assert_eq!(mechanism.to_builder().build().unwrap(), mechanism, "{name}");
    }
}

/// Two arms side by side move as each does alone.
#[test]
fn joined_mechanisms_move_as_alone() {
    let arm = gallery::arm();
    let mut builder = pliant_core::mechanism::MechanismBuilder::new("two");
    let places = [Pose::identity(), Pose::translation([0.0, 2.0, 0.0])];
    builder.join(&arm, "a ", &places[0]).join(&arm, "b ", &places[1]);
    let both = builder.build().unwrap();
    let mut alone = full::Model::new(&arm).simulate();
    let mut together = full::Model::new(&both).simulate();
    for _ in 0..30 {
        alone.step(FRAME).unwrap();
        together.step(FRAME).unwrap();
    }
    let count = arm.bodies().len();
    for (k, place) in places.iter().enumerate() {
        for b in 0..count {
            let (one, two) = (*place * alone.state().poses[b], together.state().poses[k * count + b]);
            // Rounding at two metres.
            assert!(crate::common::distance(&one, &two) < 1e-12, "{k} {b}");
        }
    }
}
