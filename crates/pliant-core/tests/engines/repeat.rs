//! Claim: the same inputs give the same bits, in a second run and after a state was saved and restored; bad inputs, bad
//! states and steps that fail leave the state unchanged; no step returns a number that is not finite.

use pliant_core::engine::{Simulation, State, StepError};
use pliant_core::gallery;
use pliant_core::nalgebra::Vector3;
use pliant_core::spatial::{Pose, Twist, Wrench, exp_rotation};

use super::Kind;
use crate::common::handles::effector;
use crate::common::{FRAME, bits};

/// A step under a load and on a base that depend on the time of the state alone.
fn step(simulation: &mut dyn Simulation) {
    let x = simulation.time();
    if !simulation.mechanism().effectors().is_empty() {
        let load = Wrench::force([5.0 * x.sin(), 3.0, -2.0 * x]);
        let first = effector(simulation.mechanism(), 0);
        simulation.set_load(first, load).unwrap();
    }
    let v = Vector3::new(0.1, 0.0, 0.05);
    let base = Pose::new(exp_rotation(&(v * x)), v * x);
    simulation.inputs_mut().set_base(base, Twist::new(v, v)).unwrap();
    simulation.step(FRAME).unwrap();
}

#[test]
fn the_same_bits_twice_and_after_restoring() {
    for kind in Kind::ALL {
        for name in kind.mechanisms() {
            let mechanism = gallery::build(name).unwrap();
            let (mut first, mut second) = (kind.simulate(&mechanism), kind.simulate(&mechanism));
            for _ in 0..20 {
                step(&mut *first);
                step(&mut *second);
            }
            assert!(bits(first.state()) == bits(second.state()), "{kind:?} {name}: two runs");
            let saved = first.state().clone();
            let mut path = Vec::new();
            // Where effectors hardly give, links of a blend follow the loads at once: these are inputs, not state.
            let inputs = first.inputs().clone();
            for _ in 0..20 {
                step(&mut *first);
                path.push(bits(first.state()));
            }
            // The same simulation, whose workspace is another by now, a copy of it, and a fresh one of a fresh model.
            for mut simulation in [first.clone(), first, kind.simulate(&mechanism)] {
                *simulation.inputs_mut() = inputs.clone();
                simulation.set_state(&saved).unwrap();
                assert!(bits(simulation.state()) == bits(&saved), "{kind:?} {name}: restoring");
                let steps = if kind == Kind::Blended { 1 } else { path.len() };
                for expected in &path[..steps] {
                    step(&mut *simulation);
                    assert!(&bits(simulation.state()) == expected, "{kind:?} {name}: after restoring");
                }
            }
        }
    }
}

#[test]
fn equilibria_are_the_same_bits_twice() {
    for kind in Kind::ALL {
        for name in ["helix:50", "rungs:18", "hand"] {
            let mechanism = gallery::build(name).unwrap();
            let found = || {
                let mut simulation = kind.simulate(&mechanism);
                simulation.inputs_mut().add_scene_loads();
                simulation.settle(&Default::default()).unwrap();
                bits(simulation.state())
            };
            assert!(found() == found(), "{kind:?} {name}");
        }
    }
}

#[test]
fn bad_input_changes_nothing() {
    for kind in Kind::ALL {
        let (mechanism, other) = (gallery::y(), gallery::two_link());
        let mut simulation = kind.simulate(&mechanism);
        step(&mut *simulation);
        let before = bits(simulation.state());
        for dt in [0.0, -0.0, -1e-3, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let error = simulation.step(dt).unwrap_err();
            assert!(matches!(error, StepError::TimeStep { .. }), "{kind:?}: {error}");
        }
        let error = simulation.set_state(kind.simulate(&other).state()).unwrap_err();
        assert!(error.to_string().contains("another mechanism"), "{kind:?}: {error}");
        let mut broken = simulation.state().clone();
        broken.poses[2] = Pose::translation([f64::NAN, 0.0, 0.0]);
        let error = simulation.set_state(&broken).unwrap_err().to_string();
        assert!(error.contains(&mechanism.bodies()[2].name), "{kind:?}: {error}");
        for spoil in [
            |s: &mut State| s.multipliers[0] = f64::INFINITY,
            |s: &mut State| s.rates[0] = f64::NAN,
            |s: &mut State| s.coordinates[0] = f64::NAN,
            |s: &mut State| s.base.position.x = f64::NAN,
            |s: &mut State| s.time = f64::NAN,
        ] {
            let mut broken = simulation.state().clone();
            spoil(&mut broken);
            assert!(simulation.set_state(&broken).is_err(), "{kind:?}");
        }
        let first = effector(&mechanism, 0);
        assert!(simulation.set_load(first, Wrench::force([f64::NAN, 0.0, 0.0])).is_err(), "{kind:?}");
        assert!(simulation.teleport(&Pose::translation([f64::NAN, 0.0, 0.0])).is_err(), "{kind:?}");
        assert!(simulation.effector("nose").unwrap_err().to_string().contains("left"), "{kind:?}");
        assert!(bits(simulation.state()) == before, "{kind:?}");
    }
}

/// Loads that no number can hold: every step is finite or an error that leaves the state.
#[test]
fn a_step_is_finite_or_an_error() {
    for kind in Kind::ALL {
        let mut failed = 0;
        for name in kind.mechanisms() {
            let mechanism = gallery::build(name).unwrap();
            let start = kind.simulate(&mechanism);
            for size in [1e6, 1e12, 1e100, 1e200, 1e300, f64::MAX] {
                let mut simulation = start.clone();
                let last = mechanism.body_ids().next_back().unwrap();
                let wrench = Wrench::new(Vector3::new(size, -size, size), Vector3::new(size, size, -size));
                match mechanism.effector_ids().next() {
                    Some(first) => simulation.set_load(first, wrench).unwrap(),
                    None => simulation.inputs_mut().set_body_load(last, wrench).unwrap(),
                }
                for _ in 0..10 {
                    let before = bits(simulation.state());
                    if let Err(error) = simulation.step(FRAME) {
                        failed += 1;
                        assert!(bits(simulation.state()) == before, "{kind:?} {name}: {error}");
                        assert!(error.to_string().contains("step"), "{error}");
                        break;
                    }
                    assert!(simulation.state().is_finite(), "{kind:?} {name} {size:e}");
                }
            }
        }
        // On every mechanism at least the largest loads are too large.
        assert!(failed >= kind.mechanisms().len(), "{kind:?}: {failed}");
    }
}

/// The same for gravity, and for forces and torques on every body, of mechanisms on fixed and free bases: an error comes in
/// the step that would not be finite, not in one after it.
#[test]
fn a_step_under_any_weight_or_torque_is_finite_or_an_error() {
    for kind in Kind::ALL {
        let (mut failed, mut runs) = (0, 0);
        let blends = kind == Kind::Blended;
        for name in ["hexapod", "arm", "y", "hand"].into_iter().skip(usize::from(blends)) {
            let mechanism = gallery::build(name).unwrap();
            let start = kind.simulate(&mechanism);
            for size in [5.0, 1e3, 1e6, 1e12, 1e100, 1e200, 1e300, 1e308] {
                for what in 0..3 {
                    let mut simulation = start.clone();
                    let inputs = simulation.inputs_mut();
                    let v = Vector3::new(size, -0.3 * size, 0.7 * size);
                    match what {
                        0 => inputs.set_gravity(v.into()).unwrap(),
                        1 => mechanism
                            .body_ids()
                            .for_each(|b| inputs.set_body_load(b, Wrench::force(v.into())).unwrap()),
                        _ => mechanism
                            .body_ids()
                            .for_each(|b| inputs.set_body_load(b, Wrench::torque(v.into())).unwrap()),
                    }
                    runs += 1;
                    for _ in 0..120 {
                        let before = bits(simulation.state());
                        if let Err(error) = simulation.step(FRAME) {
                            failed += 1;
                            assert!(
                                bits(simulation.state()) == before,
                                "{kind:?} {name} {size:e} {what}: {error}"
                            );
                            break;
                        }
                        assert!(simulation.state().is_finite(), "{kind:?} {name} {size:e} {what}");
                    }
                }
            }
        }
        println!("{kind:?}: {failed} of {runs} runs ended in an error");
        assert!(failed > 0, "{kind:?}");
    }
}

/// A state carries its base: it is restored with it, in the same simulation and in a fresh one.
#[test]
fn the_base_is_restored_with_the_state() {
    for kind in Kind::ALL {
        let mechanism = gallery::arm();
        let mut simulation = kind.simulate(&mechanism);
        (0..5).for_each(|_| simulation.step(FRAME).unwrap());
        let saved = simulation.state().clone();
        simulation.step(FRAME).unwrap();
        let expected = bits(simulation.state());

        simulation.teleport(&Pose::translation([1.0, 2.0, 3.0])).unwrap();
        let moved = simulation.state().clone();
        simulation.set_state(&saved).unwrap();
        simulation.step(FRAME).unwrap();
        assert!(bits(simulation.state()) == expected, "{kind:?}");

        let mut fresh = kind.simulate(&mechanism);
        fresh.set_state(&moved).unwrap();
        fresh.step(FRAME).unwrap();
        let shift = fresh.state().poses[0].position - moved.poses[0].position;
        assert!(shift.norm() < 1e-3, "{kind:?}: the base stayed where it was: {shift}");
    }
}

/// A mechanism that is moved and turned as a whole, gravity and loads with it, moves the same way there.
#[test]
fn a_teleported_mechanism_moves_the_same_way() {
    for kind in Kind::ALL {
        for name in ["arm", "hand", "helix:50", "gripper"] {
            let mechanism = gallery::build(name).unwrap();
            let (mut here, mut there) = (kind.simulate(&mechanism), kind.simulate(&mechanism));
            let turn = exp_rotation(&Vector3::new(0.3, -0.8, 1.2));
            let motion = Pose::new(turn, Vector3::new(10.0, -20.0, 5.0));
            there.teleport(&motion).unwrap();
            there.inputs_mut().set_gravity((turn * mechanism.gravity()).into()).unwrap();
            for load in mechanism.loads() {
                here.set_load(load.effector, load.wrench).unwrap();
                there.set_load(load.effector, load.wrench.turned(&turn)).unwrap();
            }
            for _ in 0..30 {
                here.step(FRAME).unwrap();
                there.step(FRAME).unwrap();
            }
            for (a, b) in here.state().poses.clone().iter().zip(&there.state().poses) {
                // Rounding of positions of size 20, over thirty steps; a blend alone weighs its samples by distances of
                // that rounding.
                let bound = if kind == Kind::Blended { 1e-9 } else { 1e-11 };
                assert!(crate::common::distance(&(motion * *a), b) < bound, "{kind:?} {name}");
            }
        }
    }
}

/// A step towards a set-point that no number can follow fails, and leaves how everything moves as it was: with the old set-point the
/// state is the same, to the last bit.
#[test]
fn a_set_point_beyond_numbers_changes_nothing() {
    let mut failed = Vec::new();
    for kind in Kind::ALL {
        for name in ["arm", "hand", "gripper"] {
            let mechanism = gallery::build(name).unwrap();
            if !kind.mechanisms().contains(&name) && kind != Kind::Articulated && kind != Kind::Full {
                continue;
            }
            let mut simulation = kind.simulate(&mechanism);
            simulation.inputs_mut().add_scene_loads();
            for _ in 0..3 {
                simulation.step(FRAME).unwrap();
            }
            let before = simulation.state().clone();
            let joint = mechanism.joint_ids().find(|j| mechanism[*j].freedoms.len() == 1).unwrap();
            let rest = simulation.inputs().rest()[mechanism[joint].coordinates()].to_vec();
            simulation.inputs_mut().set_target(joint, &[1e308]).unwrap();
            if simulation.step(FRAME).is_err() {
                failed.push(simulation.engine());
                simulation.inputs_mut().set_target(joint, &rest).unwrap();
                let after = simulation.state().clone();
                assert!(after.is_finite(), "{kind:?} {name}");
                assert_eq!(
                    (&after.rates, &after.coordinates),
                    (&before.rates, &before.coordinates),
                    "{kind:?} {name}"
                );
                assert!(after.poses == before.poses && after.twists == before.twists, "{kind:?} {name}");
            }
        }
    }
    failed.dedup();
    assert!(failed.len() >= 4, "{failed:?}");
}
