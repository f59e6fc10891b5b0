//! Claim: the same inputs give the same bits, in a second run and after a state was saved and put back; bad inputs and
//! steps that fail leave everything as it was; no step returns a state that is not finite.

use crate::common;
use pliant_core::engine::Simulation as _;

use crate::common::{FRAME, bits};
use pliant_core::gallery;
use pliant_core::live::{Model, Simulation};
use pliant_core::mechanism::{EffectorId, Mechanism};
use pliant_core::reduced::ReductionError;
use pliant_core::spatial::{Pose, Twist, Wrench};

/// A step under a load that depends on the time of the state alone.
fn step(simulation: &mut Simulation) {
    let x = simulation.time();
    let load = Wrench::force([5.0 * x.sin(), 3.0, -2.0 * x]);
    simulation.set_load(crate::common::handles::effector(&mechanism, 0), load).unwrap();
    simulation.step(FRAME).unwrap();
}

#[test]
fn the_same_bits_twice_and_after_restoring() {
    for name in ["chain", "arm", "hand", "helix:50", "y", "gripper", "rungs:18", "loop", "graph"] {
        let mechanism = gallery::build(name).unwrap();
        let model = Model::new(&mechanism).unwrap();
        let (mut first, mut second) = (model.simulate(), model.simulate());
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
        let again = Model::new(&mechanism).unwrap();
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
fn bad_inputs_leave_the_state_as_it_was() {
    let mechanism = gallery::arm();
    let model = Model::new(&mechanism).unwrap();
    let mut simulation = model.simulate();
    step(&mut simulation);
    let before = bits(simulation.state());
    let tip = simulation.effector("tip").unwrap();
    for dt in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(simulation.step(dt).is_err());
    }
    assert!(simulation.effector("tipp").is_err());
    assert!(simulation.set_load(tip, Wrench::force([f64::NAN, 0.0, 0.0])).is_err());
    assert!(simulation.teleport(&Pose::translation([f64::NAN, 0.0, 0.0])).is_err());
    let other = gallery::y();
    let others = Model::new(&other).unwrap();
    assert!(simulation.set_state(others.simulate().state()).is_err());
    let mut broken = simulation.state().clone();
    broken.rates[3] = f64::NAN;
    assert!(simulation.set_state(&broken).is_err());
    assert_eq!(bits(simulation.state()), before);
}

#[test]
fn no_step_returns_a_state_that_is_not_finite() {
    for name in ["arm", "hand", "helix:50", "y", "gripper", "rungs:18"] {
        let mechanism = gallery::build(name).unwrap();
        let model = Model::new(&mechanism).unwrap();
        for size in [1e6, 1e12, 1e100, 1e200, 1e300, 1.7e308] {
            let mut simulation = model.simulate();
            for k in 0..60 {
                let load = Wrench::force([size * (k as f64).sin(), size, -size]);
                simulation.set_load(crate::common::handles::effector(&mechanism, 0), load).unwrap();
                let before = bits(simulation.state());
                match simulation.step(FRAME) {
                    Ok(()) => assert!(simulation.state().is_finite(), "{name} {size:e}"),
                    Err(error) => {
                        assert_eq!(bits(simulation.state()), before, "{name} {size:e}");
                        assert!(error.to_string().contains("step "), "{error}");
                        break;
                    }
                }
            }
        }
    }
}

/// Everything moves along when the mechanism is put elsewhere.
#[test]
fn a_teleport_takes_everything_along() {
    let mechanism: Mechanism = gallery::helix(20); // no gravity, which would not turn along
    let model = Model::new(&mechanism).unwrap();
    let (mut stays, mut goes) = (model.simulate(), model.simulate());
    let away = Pose::new(Pose::rotation([1.0, 2.0, -1.0], 1.1).rotation, [5.0, -3.0, 2.0].into());
    let load = Wrench::force([30.0, 10.0, -20.0]);
    let tip = stays.effector("tip").unwrap();
    for simulation in [&mut stays, &mut goes] {
        simulation.set_load(tip, load).unwrap();
        (0..10).for_each(|_| simulation.step(FRAME).unwrap());
    }
    goes.teleport(&away).unwrap();
    let turn = Pose::new(away.rotation, Default::default());
    goes.set_load(tip, turn.wrench_to_outer(&load)).unwrap();
    for _ in 0..30 {
        stays.step(FRAME).unwrap();
        goes.step(FRAME).unwrap();
        let expected = away * stays.effector_pose(tip).unwrap();
        let off = (expected.position - goes.effector_pose(tip).unwrap().position).norm();
        // Rounding at five metres, over thirty steps.
        assert!(off < 1e-12, "{off}");
    }
    let twist: Twist = goes.state().twists[19];
    assert!((twist - stays.state().twists[19]).to_vector().amax() < 1e-11);
}

#[test]
fn what_nothing_holds_is_named() {
    let mechanism = common::edited(&gallery::arm(), |joint| {
        if joint.name == "finger1_2" {
            joint.stiffness = None;
        }
    });
    let error = Model::new(&mechanism).unwrap_err();
    assert_eq!(error, ReductionError::Loose { joint: "finger1_2".into() });
    let mechanism = common::edited(&gallery::arm(), |joint| {
        if joint.name == "arm3" {
            joint.stiffness = None;
        }
    });
    let error = Model::new(&mechanism).unwrap_err().to_string();
    assert!(error.contains("`tip`") && error.contains("`arm3`"), "{error}");
    let error = Model::with_effectors(&mechanism, ["nothing"]).unwrap_err().to_string();
    assert!(error.contains("`nothing`") && error.contains("`tip`"), "{error}");
}
