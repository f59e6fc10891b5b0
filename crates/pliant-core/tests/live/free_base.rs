//! Claim: on a free base the live engine falls freely without bending, keeps momentum, comes to rest on springs under its feet where the full statics have it, and on the way there moves as the full engine.

use crate::common::loads::effectors_apart;
use crate::common::{FRAME, apart, bits, momentum};
use pliant_core::engine::Simulation as _;
use pliant_core::engine::{Inputs, Spring};
use pliant_core::full;
use pliant_core::gallery;
use pliant_core::live::Model;
use pliant_core::mechanism::Mechanism;
use pliant_core::spatial::{Twist, Wrench};

/// A spring under every foot, a little off, so that the body leans.
fn stand(mechanism: &Mechanism, inputs: &mut Inputs) {
    for (e, effector) in mechanism.effectors().iter().enumerate() {
        let mut target = mechanism[effector.body].pose * effector.frame;
        target.position.z += 0.004 * e as f64;
        inputs
            .add_spring(Spring {
                body: effector.body,
                frame: effector.frame,
                target,
                target_twist: Twist::ZERO,
                stiffness: 5e3,
                turning_stiffness: 1.0,
                damping: 50.0,
                turning_damping: 0.05,
            })
            .unwrap();
    }
}

#[test]
fn it_falls_freely() {
    let mechanism = gallery::hexapod();
    let model = Model::new(&mechanism).unwrap();
    let mut simulation = model.simulate();
    for _ in 0..60 {
        simulation.step(FRAME).unwrap();
    }
    let state = simulation.state();
    let bent = state.coordinates.iter().fold(0.0f64, |m, q| m.max(q.abs()));
    // Rounding of a hundred newtons over the joints' stiffness.
    assert!(bent < 1e-12, "{bent}");
    // Backward Euler: g h² n(n+1)/2.
    let fallen = 9.81 * FRAME * FRAME * 60.0 * 61.0 / 2.0;
    for (body, pose) in mechanism.bodies().iter().zip(&state.poses) {
        assert!((body.pose.position.z - pose.position.z - fallen).abs() < 1e-11);
    }
}

#[test]
fn it_keeps_momentum() {
    let mechanism = gallery::hexapod();
    let model = Model::new(&mechanism).unwrap();
    let drift = |dt: f64| {
        let mut simulation = model.simulate();
        simulation.inputs_mut().set_gravity([0.0; 3]).unwrap();
        let mut state = simulation.state().clone();
        for (i, rate) in state.rates.iter_mut().enumerate() {
            *rate = 2.0 * (i as f64).sin();
        }
        state.private.clear();
        simulation.set_state(&state).unwrap();
        // The first step takes only the motion that the feet's shapes have.
        simulation.step(dt).unwrap();
        let before = momentum(&mechanism, simulation.state());
        let start: Vec<_> = simulation.state().twists.iter().map(|t| t.linear).collect();
        for _ in 0..(0.2 / dt).round() as usize {
            simulation.step(dt).unwrap();
        }
        let after = momentum(&mechanism, simulation.state());
        let speeds = (mechanism.bodies().iter().zip(&start)).map(|(body, v)| body.inertia.mass * v.norm());
        let scale = speeds.sum::<f64>();
        let off = ((after.0 - before.0).norm(), (after.1 - before.1).norm() / mechanism.radius());
        (off.0 / scale, off.1 / scale)
    };
    // Over that of all links in their directions: rounding of up to two hundred steps.
    for dt in [1e-3, FRAME] {
        let (linear, angular) = drift(dt);
        eprintln!("{linear:.1e} {angular:.1e}");
        assert!(linear < 1e-12 && angular < 1e-12, "{linear} {angular}");
    }
}

#[test]
fn it_stands_where_the_full_statics_have_it() {
    let mechanism = gallery::hexapod();
    let (full_model, model) = (full::Model::new(&mechanism), Model::new(&mechanism).unwrap());
    let (mut expected, mut simulation) = (full_model.simulate(), model.simulate());
    stand(&mechanism, expected.inputs_mut());
    stand(&mechanism, simulation.inputs_mut());
    let (mut worst, mut largest) = (0.0f64, 0.0f64);
    let start = expected.state().clone();
    let dt = 1e-3;
    for _ in 0..400 {
        expected.step(dt).unwrap();
        simulation.step(dt).unwrap();
        worst = worst.max(apart(&mechanism, simulation.state(), expected.state()));
        largest = largest.max(apart(&mechanism, expected.state(), &start));
    }
    eprintln!("on the way {worst:.1e} of {largest:.1e}");
    assert!(worst < 0.05 * largest, "{worst} of {largest}");
    assert!(expected.settle(&Default::default()).unwrap().converged);
    for _ in 0..3000 {
        simulation.step(FRAME).unwrap();
    }
    let off = apart(&mechanism, simulation.state(), expected.state());
    assert!(off < 1e-8, "{off}");
    assert!(effectors_apart(&mechanism, simulation.state(), expected.state()) < 1e-8);
}

#[test]
fn the_same_bits_after_restoring() {
    let mechanism = gallery::hexapod();
    let model = Model::new(&mechanism).unwrap();
    let mut simulation = model.simulate();
    let foot = crate::common::handles::effector(&mechanism, 0);
    simulation.set_load(foot, Wrench::force([1.0, 2.0, 3.0])).unwrap();
    (0..20).for_each(|_| simulation.step(FRAME).unwrap());
    let saved = simulation.state().clone();
    (0..20).for_each(|_| simulation.step(FRAME).unwrap());
    let expected = bits(simulation.state());
    simulation.set_state(&saved).unwrap();
    assert_eq!(bits(simulation.state()), bits(&saved));
    (0..20).for_each(|_| simulation.step(FRAME).unwrap());
    assert_eq!(bits(simulation.state()), expected);
}
