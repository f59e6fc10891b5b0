//! Claim: the same inputs give the same bits, in a second run and after a state was saved and put back; bad inputs and
//! steps that fail leave everything as it was; pulls and a moved base act.

use crate::common::{FRAME, bits};
use pliant_core::blended::{Force, Model, Options, Simulation};
use pliant_core::engine::Simulation as _;
use pliant_core::engine::Spring;
use pliant_core::gallery;
use pliant_core::mechanism::{BodyId, EffectorId, Mechanism};
use pliant_core::spatial::{Pose, Twist, Wrench};

fn model(mechanism: &Mechanism, force: Force) -> Model<'_> {
    let mut model = Model::new(mechanism, Options { force, ..Options::default() }).unwrap();
    for size in [1.0, -1.0] {
        let mut loads = vec![Wrench::ZERO; mechanism.effectors().len()];
        mechanism.loads().iter().for_each(|l| loads[l.effector.index()] = l.wrench * size);
        model.add(&loads).unwrap();
    }
    model
}

fn step(simulation: &mut Simulation) {
    let x = simulation.time();
    let load = Wrench::force([5.0 * x.sin(), 3.0, -2.0 * x]);
    simulation.set_load(crate::common::handles::effector(&mechanism, 0), load).unwrap();
    simulation.step(FRAME).unwrap();
}

const FORCES: [Force; 2] = [Force::Live, Force::Blend];

#[test]
fn the_same_bits_twice_and_after_restoring() {
    for name in ["arm", "hand", "helix:50", "y", "gripper", "rungs:18"] {
        let mechanism = gallery::build(name).unwrap();
        for force in FORCES {
            let model = model(&mechanism, force);
            let (mut first, mut second) = (model.simulate(), model.simulate());
            for _ in 0..20 {
                step(&mut first);
                step(&mut second);
            }
            assert_eq!(bits(first.state()), bits(second.state()), "{name}: two runs");
            let saved = first.state().clone();
            // Where effectors hardly give, links follow the loads at once: these are inputs, not part of the state.
            let mut again = model.simulate();
            *again.inputs_mut() = first.inputs().clone();
            step(&mut first);
            again.set_state(&saved).unwrap();
            assert_eq!(bits(again.state()), bits(&saved), "{name} {force:?}: restoring");
            step(&mut again);
            assert_eq!(bits(again.state()), bits(first.state()), "{name} {force:?}: after restoring");
        }
    }
}

/// Where anything is wrong nothing changes; far too large loads are errors or finite.
#[test]
fn bad_inputs_leave_the_state_as_it_was() {
    let mechanism = gallery::arm();
    for force in FORCES {
        let model = model(&mechanism, force);
        let mut simulation = model.simulate();
        step(&mut simulation);
        let before = bits(simulation.state());
        for dt in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(simulation.step(dt).is_err());
        }
        let tip = simulation.effector("tip").unwrap();
        assert!(simulation.set_load(tip, Wrench::force([f64::NAN, 0.0, 0.0])).is_err());
        assert!(simulation.teleport(&Pose::translation([f64::NAN, 0.0, 0.0])).is_err());
        assert!(simulation.effector("tipp").is_err());
        assert_eq!(bits(simulation.state()), before);
        for size in [1e6, 1e12, 1e100, 1e200, 1e300, 1.7e308] {
            let mut simulation = model.simulate();
            for k in 0..30 {
                let load = Wrench::force([size * (k as f64).sin(), size, -size]);
                simulation.set_load(tip, load).unwrap();
                let _ = simulation.step(FRAME);
                assert!(simulation.state().is_finite(), "{force:?} {size:e} {k}");
            }
        }
    }
}

#[test]
fn pulls_and_bases_act() {
    let mechanism = gallery::build("helix:50").unwrap();
    for force in FORCES {
        let model = model(&mechanism, force);
        let mut simulation = model.simulate();
        let tip = mechanism.effectors()[0].clone();
        let start = simulation.pose(tip.body).unwrap();
        let target = Pose::translation([0.005, 0.0, 0.0]) * start;
        let pull = Spring {
            body: tip.body,
            frame: Pose::identity(),
            target,
            target_twist: Twist::ZERO,
            stiffness: 1e7,
            turning_stiffness: 0.0,
            damping: 10.0,
            turning_damping: 0.0,
        };
        let id = simulation.inputs_mut().add_spring(pull).unwrap();
        for _ in 0..600 {
            simulation.step(FRAME).unwrap();
        }
        // Far stiffer than the helix: it is where it is pulled to, but for the ratio of the two.
        let off = (simulation.pose(tip.body).unwrap().position - target.position).norm();
        assert!(off < 1e-4, "{force:?}: {off}");
        assert!(simulation.spring_force(id).unwrap().force.norm() > 0.1, "{force:?}");
        // A body that carries no effector is no place to pull at, if the blend alone moves it.
        let elsewhere = Spring { body: crate::common::handles::body(&mechanism, 3), ..pull };
        simulation.inputs_mut().clear_springs();
        simulation.inputs_mut().add_spring(elsewhere).unwrap();
        assert_eq!(simulation.step(FRAME).is_err(), force == Force::Blend);
        simulation.inputs_mut().clear_springs();
        // Moved as a whole, everything moves along.
        let motion = Pose::translation([1.0, 2.0, 3.0]);
        let before = simulation.pose(tip.body).unwrap();
        simulation.teleport(&motion).unwrap();
        let off = (simulation.pose(tip.body).unwrap().position - (motion * before).position).norm();
        assert!(off < 1e-12, "{force:?}: {off}");
    }
}
