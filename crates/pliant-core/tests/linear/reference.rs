//! Claim: a model can be made at any pose. At given joint positions the pose is where forward kinematics or the
//! loops put it; at a loaded equilibrium the compliance is the derivative of the nonlinear equilibrium, and the
//! model rests there under the loads that hold it.

use crate::common;
use pliant_core::engine::Simulation as _;

use crate::common::distance;
use pliant_core::engine::StaticsSettings;
use pliant_core::full::{self};
use pliant_core::gallery;
use pliant_core::linear::{Linearisation, ReductionError, Reference};
use pliant_core::mechanism::JointId;
use pliant_core::nalgebra::Vector6;
use pliant_core::spatial::{Pose, Wrench};

/// The equilibrium under the scene's loads, scaled.
fn settled(model: &full::Model, scale: f64) -> full::Simulation {
    let mut simulation = model.simulate();
    for load in model.mechanism().loads() {
        simulation.set_load(load.effector, load.wrench * scale).unwrap();
    }
    assert!(simulation.settle(&StaticsSettings::default()).unwrap().converged);
    simulation
}

#[test]
fn loaded_compliance_is_the_tangent_of_the_full_engine() {
    // The tangent is tested against differences of equilibria in full_tangent.rs.
    for (name, scale) in
        [("helix:50", 1.0), ("y", 3.0), ("rungs:24", 10.0), ("loop", 5.0), ("hand", 1.0), ("gripper", 1.0)]
    {
        let mechanism = gallery::build(name).unwrap();
        let model = full::Model::new(&mechanism);
        let mut at = settled(&model, scale);
        let reference = Reference::at_equilibrium(&mut at);
        let projection = Linearisation::at(reference).project().unwrap();
        let mut tangent = at.tangent().unwrap();
        let C = projection.compliance();
        for (e, effector) in mechanism.effectors().iter().enumerate() {
            let pose = at.state().pose(effector.body).unwrap() * effector.frame;
            let arm =
                Pose::new(pose.rotation, pose.position - at.state().pose(effector.body).unwrap().position);
            for k in 0..6 {
                // A wrench of the effector's frame, at the link frame with world axes.
                let wrench = arm.wrench_to_outer(&Wrench::from_vector(&Vector6::ith(k, 1.0)));
                let moved = tangent.displacement(&[(effector.body, wrench)]).unwrap();
                for (f, other) in mechanism.effectors().iter().enumerate() {
                    let pose = at.state().pose(other.body).unwrap() * other.frame;
                    let arm = Pose::new(
                        pose.rotation,
                        pose.position - at.state().pose(other.body).unwrap().position,
                    );
                    let expected = arm.twist_to_local(&moved[other.body.index()]).to_vector();
                    let got = C.fixed_view::<6, 1>(6 * f, 6 * e + k);
                    // The tangent's pivots of redundant closures are 1e-7 of others: nine digits are left.
                    assert!(
                        (got - expected).amax() < 2e-8 * C.amax(),
                        "{name}: {:e}",
                        (got - expected).amax() / C.amax()
                    );
                }
            }
        }
    }
}

#[test]
fn a_loaded_model_rests_where_it_was_made() {
    for (name, scale) in [("helix:50", 1.0), ("y", 3.0), ("rungs:24", 10.0), ("loop", 5.0), ("hand", 1.0)] {
        let mechanism = gallery::build(name).unwrap();
        let full = full::Model::new(&mechanism);
        let mut at = settled(&full, scale);
        let poses: Vec<Pose> = at.state().poses.clone();
        let model = Linearisation::at(Reference::at_equilibrium(&mut at)).build().unwrap();
        let mut simulation = model.simulate();
        for load in mechanism.loads() {
            simulation.set_load(load.effector, load.wrench * scale).unwrap();
        }
        for _ in 0..100 {
            simulation.step(common::FRAME).unwrap();
        }
        for (body, pose) in simulation.poses() {
            // The equilibrium's own residual, 1e-9 of its forces.
            let off = distance(&pose, &poses[body.index()]);
            assert!(off < 1e-8 * mechanism.radius(), "{name} {off:e}");
        }
    }
}

#[test]
fn positions_of_a_tree_are_its_forward_kinematics() {
    let mechanism = gallery::build("arm").unwrap();
    let positions: Vec<(JointId, Vec<f64>)> = (0..mechanism.joints().len())
        .map(|j| (crate::common::handles::joint(&mechanism, j), vec![0.3 * (j as f64).sin()]))
        .collect();
    let reference = Reference::at_positions(&mechanism, &positions).unwrap();
    for (joint, position) in &positions {
        let given = &mechanism[*joint];
        let outer = given.parent.map_or(given.frame, |b| {
            reference.pose(b).unwrap() * mechanism.frame_in_parent(&mechanism[*joint])
        });
        let inner = reference.pose(given.child).unwrap() * mechanism.frame_in_child(&mechanism[*joint]);
        let X = outer.inverse_times(&inner);
        // A product of about twenty poses.
        assert!(distance(&X, &given.kind.transform(position)) < 1e-14);
    }
}

#[test]
fn positions_of_a_loop_close_it() {
    let mechanism = gallery::build("four-bar").unwrap();
    let joint = crate::common::handles::joint(&mechanism, 0);
    let reference = Reference::at_positions(&mechanism, &[(joint, vec![0.4])]).unwrap();
    for (j, given) in mechanism.joints().iter().enumerate() {
        let id = crate::common::handles::joint(&mechanism, j);
        let outer = given
            .parent
            .map_or(given.frame, |b| reference.pose(b).unwrap() * mechanism.frame_in_parent(&mechanism[id]));
        let X = outer.inverse_times(
            &(reference.pose(given.child).unwrap() * mechanism.frame_in_child(&mechanism[id])),
        );
        // Statics closes loops to about 1e-12 of their size.
        assert!(given.kind.residual(&X, &vec![0.0; given.kind.freedoms()]).amax() < 1e-10, "{}", given.name);
        if id == joint {
            assert!((given.kind.coordinates(&X, &[0.0])[0] - 0.4).abs() < 1e-10);
        }
    }
    assert!(Linearisation::at(reference).project().is_ok());
}

#[test]
fn positions_that_cannot_be_taken_are_errors() {
    let mechanism = gallery::build("four-bar").unwrap();
    let error = |positions: &[(JointId, Vec<f64>)]| match Reference::at_positions(&mechanism, positions) {
        Err(ReductionError::Position(message)) => message,
        other => panic!("{other:?}"),
    };
    let joint = crate::common::handles::joint(&mechanism, 0);
    let name = &mechanism[joint].name;
    assert_eq!(error(&[(joint, vec![0.1, 0.2])]), format!("joint `{name}` has 1 freedoms, not 2"));
    assert_eq!(error(&[(joint, vec![f64::NAN])]), format!("the position of joint `{name}` is not finite"));
    // Two angles of a four-bar cannot be chosen independently.
    let all: Vec<_> = (0..2)
        .map(|j| (crate::common::handles::joint(&mechanism, j), vec![0.5 * (1.0 - 2.0 * j as f64)]))
        .collect();
    assert!(error(&all).contains("cannot be at these positions"));
}
