//! Claim: what the trait answers agrees with the state, whichever engine answers; what an engine cannot do is an error that
//! names those that can; scene targets are followed by the step itself until a user sets his own; every engine settles.

use pliant_core::engine::{Simulation, State, StaticsSettings};
use pliant_core::engines::Engine;
use pliant_core::gallery;
use pliant_core::mechanism::{Mechanism, TargetDescription};
use pliant_core::spatial::Wrench;

use super::Kind;
use crate::common::FRAME;

#[test]
fn answers_agree_with_the_state() {
    for kind in Kind::ALL {
        for name in kind.mechanisms() {
            let mechanism = gallery::build(name).unwrap();
            let mut simulation = kind.simulate(&mechanism);
            simulation.inputs_mut().add_scene_loads();
            (0..5).for_each(|_| simulation.step(1e-3).unwrap());
            let state: State = simulation.state().clone();
            assert_eq!((simulation.time(), simulation.steps()), (state.time, state.steps));
            assert_eq!(state.steps, 5);
            let poses: Vec<_> = simulation.poses().collect();
            assert_eq!(poses.len(), mechanism.bodies().len());
            for (body, pose) in poses {
                assert_eq!(simulation.pose(body).unwrap(), pose);
                let apart = crate::common::distance(&pose, &state.pose(body).unwrap());
                // Chained products in another order.
                assert!(apart < 1e-12, "{kind:?} {name}: {apart:e}");
            }
            for (id, joint) in mechanism.joint_ids().zip(mechanism.joints()) {
                let own = joint.coordinates();
                assert_eq!(simulation.joint_positions(id).unwrap(), &state.coordinates[own.clone()]);
                assert_eq!(simulation.joint_forces(id).unwrap(), &state.forces[own]);
            }
            assert_eq!(simulation.violation(), state.violation(&mechanism));
            assert_eq!(simulation.energy().kinetic, state.kinetic_energy(&mechanism));
            let mut transforms = vec![7.0; 3];
            simulation.transforms(&mut transforms);
            assert_eq!(transforms.len(), 16 * mechanism.bodies().len());
            for (matrix, (_, pose)) in transforms.chunks_exact(16).zip(simulation.poses()) {
                let point = pose.transform_point(&[0.1, -0.2, 0.3].into());
                for i in 0..3 {
                    let row = [matrix[i], matrix[4 + i], matrix[8 + i], matrix[12 + i]].map(f64::from);
                    let made = row[0] * 0.1 - row[1] * 0.2 + row[2] * 0.3 + row[3];
                    // Four products of single precision.
                    assert!((made - point[i]).abs() < 1e-6 * (1.0 + point[i].abs()), "{kind:?} {name}");
                }
                assert_eq!([matrix[3], matrix[7], matrix[11], matrix[15]], [0.0, 0.0, 0.0, 1.0]);
            }
        }
    }
}

#[test]
fn what_has_no_estimate_says_why() {
    // Where things touch, and where nothing holds a free base.
    let mut scene = Engine::Full.scene(&gallery::hexapod_terrain(), Default::default()).unwrap();
    let error = scene.estimate().unwrap_err().to_string();
    assert!(error.contains("`full`") && error.contains("with contact"), "{error}");
    for engine in [Engine::Full, Engine::Articulated, Engine::Linear, Engine::Reduced] {
        let error = engine.simulate(&gallery::hexapod()).unwrap().estimate().unwrap_err();
        assert!(error.to_string().contains("a free base that nothing holds"), "{error}");
        assert_eq!(error.engine, engine.name());
    }
}

/// At rest under no load the estimate is what the statics leave over.
#[test]
fn every_engine_has_an_estimate() {
    let mechanism = gallery::arm();
    for kind in Kind::ALL {
        let mut simulation = kind.simulate(&mechanism);
        simulation.settle(&Default::default()).unwrap();
        // A linear model sags by second order less than the arm does.
        let most = if kind == Kind::Linear { 1e-2 } else { 1e-6 };
        let estimate = simulation.estimate().unwrap();
        assert!(estimate < most, "{kind:?}: {estimate}");
    }
}

/// The arm with a target that turns its second joint.
fn moving() -> (Mechanism, pliant_core::mechanism::JointId) {
    let arm = gallery::arm();
    let joint = arm.joint_ids().find(|j| arm[*j].freedoms.len() == 1).unwrap();
    let mut builder = arm.to_builder();
    let (time, position) = (vec![0.0, 0.5], vec![vec![0.0], vec![0.3]]);
    builder.target(TargetDescription { joint: arm[joint].name.clone(), time, position });
    (builder.build().unwrap(), joint)
}

#[test]
fn steps_follow_the_targets_of_the_scene() {
    let (mechanism, joint) = moving();
    let at = mechanism[joint].coordinates().start;
    for kind in Kind::ALL {
        let (mut follows, mut is_told) = (kind.simulate(&mechanism), kind.simulate(&mechanism));
        for k in 1..=40 {
            follows.step(FRAME).unwrap();
            let end = is_told.time() + FRAME;
            is_told.inputs_mut().set_target(joint, &[0.3 * (end / 0.5).min(1.0)]).unwrap();
            is_told.step(FRAME).unwrap();
            let (a, b) = (follows.inputs().rest()[at], is_told.inputs().rest()[at]);
            assert!((a - b).abs() < 1e-15, "{kind:?} step {k}: {a} {b}");
            let apart = (follows.state().coordinates[at] - is_told.state().coordinates[at]).abs();
            // Rounding of set-points, over forty steps.
            assert!(apart < 1e-12, "{kind:?} step {k}: {apart:e}");
        }
        assert_eq!(follows.inputs().rest()[at], 0.3, "{kind:?}");
        // A user's own set-point stays.
        follows.inputs_mut().set_target(joint, &[-0.1]).unwrap();
        follows.step(FRAME).unwrap();
        assert_eq!(follows.inputs().rest()[at], -0.1, "{kind:?}");
    }
}

/// Under a load that bends little, every engine settles where the full statics do; models that are linear, to second order.
#[test]
fn every_engine_settles() {
    let settings = StaticsSettings::default();
    for name in ["arm", "y", "helix:50"] {
        let mechanism = gallery::build(name).unwrap();
        let load = |simulation: &mut dyn Simulation, part: f64| {
            for load in mechanism.loads() {
                simulation.set_load(load.effector, load.wrench * part).unwrap();
            }
        };
        let mut exact = Kind::Full.simulate(&mechanism);
        load(&mut *exact, 0.05);
        let found = exact.settle(&settings).unwrap();
        assert!(found.converged && found.stable);
        for kind in Kind::ALL {
            let mut simulation = kind.simulate(&mechanism);
            load(&mut *simulation, 0.05);
            let found = simulation.settle(&settings).unwrap();
            assert!(found.converged, "{kind:?} {name}: {found:?}");
            assert_eq!(simulation.time(), 0.0, "{kind:?}: statics take no time");
            let mut off = 0.0f64;
            for effector in mechanism.effector_ids() {
                let [a, b] = [&exact, &simulation].map(|s| s.effector_pose(effector).unwrap().position);
                off = off.max((a - b).norm() / mechanism.radius());
            }
            // Linear at rest without weight: its error is the square of the displacement.
            let bound = if kind == Kind::Linear { 2e-2 } else { 1e-3 };
            assert!(off < bound, "{kind:?} {name}: {off:e}");
            if matches!(kind, Kind::Full | Kind::Articulated) {
                assert!(off < 1e-9, "{kind:?} {name}: {off:e}");
            }
        }
    }
}

#[test]
fn engines_go_by_name() {
    let mechanism = gallery::arm();
    let tip = mechanism.effector_ids().next().unwrap();
    for engine in Engine::ALL {
        assert_eq!(engine.name().parse::<Engine>().unwrap(), engine);
        let mut simulation = engine.simulate(&mechanism).unwrap();
        assert_eq!(simulation.engine(), engine.name());
        simulation.set_load(tip, Wrench::force([0.0, 0.0, -1.0])).unwrap();
        simulation.step(FRAME).unwrap();
    }
    let error = "live".parse::<Engine>().unwrap_err();
    assert!(error.contains("was removed: use `reduced`"), "{error}");
    let error = "fulll".parse::<Engine>().unwrap_err();
    assert!(error.contains("did you mean `full`"), "{error}");
}
