//! Claim: the same inputs give the same bits, in a second run and after a state was saved and put back; a
//! state of another mechanism is refused and changes nothing.

use crate::common::{FRAME, bits};
use pliant_core::engine::Simulation as _;
use pliant_core::full::{Model, Simulation};
use pliant_core::gallery;
use pliant_core::mechanism::EffectorId;
use pliant_core::spatial::{Pose, Wrench};

/// A step under a load that depends on the time of the state alone.
fn step(simulation: &mut Simulation) {
    let x = simulation.state().time;
    if !simulation.mechanism().effectors().is_empty() {
        let load = Wrench::force([5.0 * x.sin(), 3.0, -2.0 * x]);
        simulation.set_load(crate::common::handles::effector(&mechanism, 0), load).unwrap();
    }
    simulation.step(FRAME).unwrap();
}

#[test]
fn the_same_bits_twice_and_after_restoring() {
    for name in [
        "chain",
        "ladder:36",
        "loop",
        "hand",
        "gripper",
        "hexapod",
        "firefighters",
        "graph",
        "torus-chain:4",
        "windmill",
    ] {
        let mechanism = gallery::build(name).unwrap();
        let model = Model::new(&mechanism);
        let mut first = model.simulate();
        let mut second = model.simulate();
        for _ in 0..20 {
            step(&mut first);
            step(&mut second);
        }
        assert_eq!(bits(first.state()), bits(second.state()), "{name}: two runs");

        let saved = first.state().clone();
        let mut path = Vec::new();
        for _ in 0..20 {
            step(&mut first);
            path.push(bits(first.state()));
        }
        // The same simulation, whose memory has gone on, and a fresh one of a fresh model.
        let again = Model::new(&mechanism);
        for mut simulation in [first, again.simulate()] {
            simulation.set_state(&saved).unwrap();
            assert_eq!(bits(simulation.state()), bits(&saved), "{name}: restoring");
            for expected in &path {
                step(&mut simulation);
                assert_eq!(&bits(simulation.state()), expected, "{name}: after restoring");
            }
        }
    }
}

#[test]
fn equilibria_are_the_same_bits_twice() {
    for name in ["helix:50", "rungs:24", "hand"] {
        let mechanism = gallery::build(name).unwrap();
        let model = Model::new(&mechanism);
        let found = || {
            let mut simulation = model.simulate();
            simulation.inputs_mut().add_scene_loads();
            simulation.settle(&Default::default()).unwrap();
            bits(simulation.state())
        };
        assert_eq!(found(), found(), "{name}");
    }
}

#[test]
fn a_state_of_another_mechanism_is_refused() {
    let (mechanism, other, longer) = (gallery::y(), gallery::two_link(), gallery::chain(21));
    let (model, others, longer) = (Model::new(&mechanism), Model::new(&other), Model::new(&longer));
    let chain = gallery::chain(20);
    let chain = Model::new(&chain);
    let mut simulation = model.simulate();
    step(&mut simulation);
    let before = bits(simulation.state());
    let error = simulation.set_state(others.simulate().state()).unwrap_err();
    assert!(error.to_string().contains("another mechanism"), "{error}");
    assert_eq!(bits(simulation.state()), before);
    assert!(chain.simulate().set_state(longer.simulate().state()).is_err());
}

#[test]
fn a_state_that_is_not_finite_is_refused() {
    let mechanism = gallery::y();
    let model = Model::new(&mechanism);
    let mut simulation = model.simulate();
    let before = bits(simulation.state());
    let mut broken = simulation.state().clone();
    broken.poses[2] = Pose::translation([f64::NAN, 0.0, 0.0]);
    let error = simulation.set_state(&broken).unwrap_err().to_string();
    assert!(error.contains(&mechanism.bodies()[2].name), "{error}");
    for spoil in [
        |s: &mut pliant_core::engine::State| s.multipliers[0] = f64::INFINITY,
        |s: &mut pliant_core::engine::State| s.rates[0] = f64::NAN,
        |s: &mut pliant_core::engine::State| s.coordinates[0] = f64::NAN,
        |s: &mut pliant_core::engine::State| s.base.position.x = f64::NAN,
        |s: &mut pliant_core::engine::State| s.time = f64::NAN,
    ] {
        let mut broken = simulation.state().clone();
        spoil(&mut broken);
        assert!(simulation.set_state(&broken).is_err());
    }
    assert_eq!(bits(simulation.state()), before);
}

/// A state carries its base: it comes back where it was, in the same simulation and in a fresh one.
#[test]
fn the_base_is_restored_with_the_state() {
    let mechanism = gallery::arm();
    let model = Model::new(&mechanism);
    let mut simulation = model.simulate();
    for _ in 0..5 {
        simulation.step(FRAME).unwrap();
    }
    let saved = simulation.state().clone();
    simulation.step(FRAME).unwrap();
    let expected = simulation.state().clone();

    simulation.teleport(&Pose::translation([1.0, 2.0, 3.0])).unwrap();
    let moved = simulation.state().clone();
    simulation.set_state(&saved).unwrap();
    simulation.step(FRAME).unwrap();
    assert_eq!(bits(simulation.state()), bits(&expected));

    let mut fresh = model.simulate();
    fresh.set_state(&moved).unwrap();
    fresh.step(FRAME).unwrap();
    let shift = fresh.state().poses[0].position - moved.poses[0].position;
    assert!(shift.norm() < 1e-3, "the base stayed where it was: {shift}");
}
