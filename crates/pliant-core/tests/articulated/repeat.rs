//! Claim: the articulated engine gives the same bits for the same inputs, in a second run and after a state was saved and
//! put back; bad inputs and states are refused, change nothing, and no step returns a number that is not finite.

use crate::common::{FRAME, apart, bits, distance};
use pliant_core::articulated::{Integrator, Model, Simulation};
use pliant_core::engine::Simulation as _;
use pliant_core::full::{self, StepError};
use pliant_core::gallery;
use pliant_core::mechanism::{BodyId, EffectorId};
use pliant_core::nalgebra::Vector3;
use pliant_core::spatial::{Pose, Twist, Wrench, exp_rotation};

/// A step under a load and on a base that depend on the time of the state alone.
fn step(simulation: &mut Simulation) {
    let x = simulation.state().time;
    if !simulation.mechanism().effectors().is_empty() {
        let load = Wrench::force([5.0 * x.sin(), 3.0, -2.0 * x]);
        simulation.set_load(crate::common::handles::effector(&mechanism, 0), load).unwrap();
    }
    let v = Vector3::new(0.1, 0.0, 0.05);
    let base = Pose::new(exp_rotation(&(v * x)), v * x);
    simulation.inputs_mut().set_base(base, Twist::new(v, v)).unwrap();
    simulation.step(FRAME).unwrap();
}

const NAMES: [&str; 11] = [
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
    "surface-slide",
];

#[test]
fn the_same_bits_twice_and_after_restoring() {
    for name in NAMES {
        let mechanism = gallery::build(name).unwrap();
        let model = Model::new(&mechanism);
        let mut first = model.simulate();
        let mut second = model.simulate();
        for _ in 0..20 {
            step(&mut first);
            step(&mut second);
        }
        assert!(bits(first.state()) == bits(second.state()), "{name}: two runs");

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
            assert!(bits(simulation.state()) == bits(&saved), "{name}: restoring");
            for expected in &path {
                step(&mut simulation);
                assert!(&bits(simulation.state()) == expected, "{name}: after restoring");
            }
        }
    }
}

/// A mechanism that is moved and turned as a whole, gravity along, moves the same way there.
#[test]
fn a_teleported_mechanism_moves_the_same_way() {
    for name in ["arm", "ladder:12", "hexapod", "gripper"] {
        let mechanism = gallery::build(name).unwrap();
        let model = Model::new(&mechanism);
        let (mut here, mut there) = (model.simulate(), model.simulate());
        let motion = Pose::new(exp_rotation(&Vector3::new(0.3, -0.8, 1.2)), Vector3::new(10.0, -20.0, 5.0));
        let g = motion.rotation * mechanism.gravity();
        there.inputs_mut().set_gravity(g.into()).unwrap();
        for k in 0..40 {
            if k == 10 {
                there.inputs_mut().set_gravity(g.into()).unwrap();
            }
            if k == 0 {
                there.teleport(&motion).unwrap();
            }
            here.step(FRAME).unwrap();
            there.step(FRAME).unwrap();
        }
        for (a, b) in here.state().poses.iter().zip(&there.state().poses) {
            // Rounding of positions of size 20.
            assert!(distance(&(motion * *a), b) < 1e-11, "{name}");
        }
    }
}

/// States go from one engine to the other and back.
#[test]
fn a_state_of_the_full_engine_is_taken() {
    for name in ["arm", "ladder:36", "hand", "hexapod"] {
        let mechanism = gallery::build(name).unwrap();
        let (full, model) = (full::Model::new(&mechanism), Model::new(&mechanism));
        let mut reference = full.simulate();
        reference.inputs_mut().add_scene_loads();
        (0..20).for_each(|_| reference.step(1e-3).unwrap());
        let mut simulation = model.simulate();
        simulation.inputs_mut().add_scene_loads();
        simulation.set_state(reference.state()).unwrap();
        assert!(apart(&mechanism, simulation.state(), reference.state()) < 1e-6, "{name}");
        for _ in 0..20 {
            reference.step(1e-3).unwrap();
            simulation.step(1e-3).unwrap();
        }
        let off = apart(&mechanism, simulation.state(), reference.state());
        println!("{name}: {off:.1e} radii apart after 20 ms");
        assert!(off < 1e-3, "{name}: {off:e}");
        reference.set_state(simulation.state()).unwrap();
        reference.step(1e-3).unwrap();
    }
}

#[test]
fn bad_input_changes_nothing() {
    let mechanism = gallery::y();
    let other = gallery::two_link();
    let (model, others) = (Model::new(&mechanism), Model::new(&other));
    let mut simulation = model.simulate();
    step(&mut simulation);
    let before = bits(simulation.state());
    for dt in [0.0, -0.0, -1e-3, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        for integrator in [Integrator::SemiImplicit, Integrator::RungeKutta4] {
            simulation.set_integrator(integrator).unwrap();
            let error = simulation.step(dt).unwrap_err();
            assert!(matches!(error, StepError::TimeStep { .. }), "{error}");
        }
    }
    simulation.set_integrator(Integrator::SemiImplicit).unwrap();
    let error = simulation.set_state(others.simulate().state()).unwrap_err();
    assert!(error.to_string().contains("another mechanism"), "{error}");
    let mut broken = simulation.state().clone();
    broken.poses[2] = Pose::translation([f64::NAN, 0.0, 0.0]);
    let error = simulation.set_state(&broken).unwrap_err().to_string();
    assert!(error.contains(&mechanism.bodies()[2].name), "{error}");
    assert!(
        simulation
            .set_load(crate::common::handles::effector(&mechanism, 0), Wrench::force([f64::NAN, 0.0, 0.0]))
            .is_err()
    );
    assert!(simulation.teleport(&Pose::translation([f64::NAN, 0.0, 0.0])).is_err());
    assert!(simulation.effector("nose").is_err());
    assert!(bits(simulation.state()) == before);
}

/// Loads that no number can hold: every step is finite or an error that leaves the state, and the motion goes on after.
#[test]
fn a_step_is_finite_or_an_error() {
    let integrators = [Integrator::SemiImplicit, Integrator::RungeKutta4];
    for (name, integrator) in
        NAMES.into_iter().flat_map(|name| integrators.map(|integrator| (name, integrator)))
    {
        let mechanism = gallery::build(name).unwrap();
        let model = Model::new(&mechanism);
        let mut simulation = model.simulate();
        if simulation.set_integrator(integrator).is_err() {
            continue; // loops
        }
        let last = crate::common::handles::body(&mechanism, mechanism.bodies().len() - 1);
        let mut failed = 0;
        for force in [1e10, 1e100, 1e200, 1e300, f64::MAX] {
            let wrench = Wrench::new(Vector3::new(force, -force, force), Vector3::new(force, force, -force));
            simulation.inputs_mut().set_body_load(last, wrench).unwrap();
            for _ in 0..5 {
                let before = bits(simulation.state());
                match simulation.step(FRAME) {
                    Ok(()) => assert!(simulation.state().is_finite(), "{name}"),
                    Err(error) => {
                        failed += 1;
                        assert!(bits(simulation.state()) == before, "{name}: {error}");
                        assert!(error.to_string().contains("step"), "{error}");
                    }
                }
            }
        }
        assert!(failed > 0, "{name}");
        simulation.inputs_mut().set_body_load(last, Wrench::ZERO).unwrap();
        simulation.set_state(model.simulate().state()).unwrap();
        simulation.step(1e-4).unwrap_or_else(|error| panic!("{name} {integrator:?}: {error}"));
    }
}
