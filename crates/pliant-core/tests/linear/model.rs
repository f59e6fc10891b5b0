//! Claim: a linear model has the frequencies, the sag and the reconstruction that its README gives, measured
//! against dense linear algebra on the whole mechanism and against the nonlinear full engine.

use crate::common::dense;
use pliant_core::engine::Simulation as _;

use crate::common::dense::Dense;
use crate::common::edited;
use pliant_core::engine::StaticsSettings;
use pliant_core::full::{self};
use pliant_core::gallery::{self, RandomOptions};
use pliant_core::joints::JointKind;
use pliant_core::linear::{Linearisation, Method, Model, Reconstruction, ReductionError, Simulation};
use pliant_core::mechanism::{BodyId, Mechanism, PerFreedom};
use pliant_core::spatial::{Twist, log};

/// Lowest frequency of a model over the lowest of the dense one.
fn ratio(mechanism: &Mechanism, model: &Model) -> f64 {
    let full = Dense::new(mechanism).frequencies(mechanism);
    model.frequencies()[0] / full[0]
}

#[test]
fn frequencies_of_condensation_and_modes() {
    for (name, condensed, one) in
        [("chain:20", 0.01, 0.01), ("y", 0.01, 0.01), ("rungs:48", 0.12, 0.01), ("helix:50", 0.04, 0.04)]
    {
        let mechanism = gallery::build(name).unwrap();
        for (modes, bound) in [(0, condensed), (1, one), (4, 0.01)] {
            let model = Linearisation::at_rest(&mechanism).modes(modes).build().unwrap();
            let ratio = ratio(&mechanism, &model);
            // Rayleigh's principle: a linear model is never too soft, but for rounding.
            assert!(ratio > 1.0 - 1e-9 && ratio < 1.0 + bound, "{name} with {modes} modes: {ratio}");
        }
    }
}

#[test]
fn full_frequencies_are_those_of_the_dense_model() {
    for name in ["chain:20", "y", "rungs:48", "helix:50", "hand", "arm", "loop", "gripper", "ladder:24"] {
        let mechanism = gallery::build(name).unwrap();
        let expected = Dense::new(&mechanism).frequencies(&mechanism);
        let model = Linearisation::at_rest(&mechanism).build().unwrap();
        let got = model.full_frequencies(5).unwrap();
        assert_eq!(got.len(), expected.len().min(5), "{name}");
        for (got, expected) in got.iter().zip(&expected) {
            // Eigenvalues stand still to 1e-12; the dense ones lose digits to the Cholesky factors of the mass.
            assert!((got / expected - 1.0).abs() < 1e-7, "{name}: {got} {expected}");
        }
    }
}

#[test]
fn all_modes_are_the_whole_mechanism() {
    for name in ["y", "rungs:24", "arm"] {
        let mechanism = gallery::build(name).unwrap();
        let expected = Dense::new(&mechanism).frequencies(&mechanism);
        let model = Linearisation::at_rest(&mechanism).modes(1_000).build().unwrap();
        let got = model.frequencies();
        assert_eq!(got.len(), expected.len(), "{name}");
        for (got, expected) in got.iter().zip(&expected) {
            // The stiffest modes are the last of the space and lose the most digits.
            assert!((got / expected - 1.0).abs() < 1e-6, "{name}: {got} {expected}");
        }
    }
}

#[test]
fn modes_for_a_step_are_those_it_can_follow() {
    let mechanism = gallery::build("helix:50").unwrap();
    let dt = 1.0 / 240.0;
    let auto = Linearisation::at_rest(&mechanism).modes_for(dt).build().unwrap();
    let all = Linearisation::at_rest(&mechanism).modes(40).build().unwrap();
    assert!(auto.modes() > 0 && auto.modes() < all.modes());
    // Those of the dense model with its effectors held: E Z x = 0.
    let mut dense = Dense::new(&mechanism);
    let frames: Vec<_> = mechanism.effectors().iter().map(|e| (e.body, e.frame)).collect();
    let held = dense.stack(&frames) * &dense.closed;
    dense.closed = &dense.closed * dense::null_space(&held, dense.closed.ncols());
    let K = pliant_core::nalgebra::DMatrix::from_diagonal(&dense.stiffness);
    dense.linear = dense.closed.transpose() * K * &dense.closed;
    let followed = dense.frequencies(&mechanism).iter().filter(|w| *w * dt < 1.0).count();
    assert_eq!(auto.modes(), followed);
    let none = Linearisation::at_rest(&mechanism).modes_for(1.0).build().unwrap();
    assert_eq!(none.modes(), 0);
}

/// Steps until nothing of the model moves.
fn rest(simulation: &mut Simulation) {
    // Backward Euler with steps that are long for every motion: Newton's method for the rest.
    for _ in 0..200 {
        simulation.step(1e3).unwrap();
    }
}

#[test]
fn sag_under_gravity_and_loads_on_any_link_is_the_linear_statics() {
    let options = RandomOptions {
        bodies: 14,
        loops: 0.2,
        kinds: JointKind::ALL.to_vec(),
        rests: false,
        ..RandomOptions::default()
    };
    let mut mechanisms: Vec<Mechanism> =
        ["chain:20", "arm", "hand", "gripper"].iter().map(|n| gallery::build(n).unwrap()).collect();
    mechanisms.extend((0..20).map(|seed| gallery::random(seed, &options)));
    let mut tested = 0;
    for mechanism in &mechanisms {
        // So stiff that the nonlinear part of a turn is lost: exp(ξ) ≈ 1 + ξ to the square of 1e-7.
        let stiff = edited(mechanism, |joint| {
            if let Some(PerFreedom::Each(stiffness)) = &mut joint.stiffness {
                stiffness.iter_mut().for_each(|k| *k *= 1e6);
            }
        });
        let dense = Dense::new(&stiff);
        let model = match Linearisation::at_rest(&stiff).build() {
            Ok(model) => model,
            Err(ReductionError::Immovable { .. }) => continue,
            Err(error) => panic!("{error}"),
        };
        for modes in [0, 3] {
            let model = if modes == 0 {
                model.clone()
            } else {
                Linearisation::at_rest(&stiff).modes(modes).build().unwrap()
            };
            let mut simulation = model.simulate();
            simulation.set_reconstruction(Reconstruction::Twist);
            let mut forces = dense.gravity(&stiff, &stiff.gravity());
            let body = crate::common::handles::body(mechanism, stiff.bodies().len() / 2);
            let wrench = pliant_core::spatial::Wrench::force([1.0, -2.0, 0.5]);
            simulation.inputs_mut().set_body_load(body, wrench).unwrap();
            let local = pliant_core::spatial::Pose::new(stiff[body].pose.rotation, Default::default())
                .wrench_to_local(&wrench);
            forces += dense.bodies[body.index()].transpose()
                * pliant_core::nalgebra::DMatrix::from_column_slice(6, 1, local.to_vector().as_slice());
            let Some(theta) = dense.coordinates(&forces) else { continue };
            rest(&mut simulation);
            let (mut off, mut size) = (0.0f64, 0.0f64);
            for (b, pose) in simulation.poses() {
                let expected = &dense.bodies[b.index()] * &theta;
                let got: Twist = log(&stiff[b].pose.inverse_times(&pose));
                for i in 0..6 {
                    let unit = if i < 3 { stiff.radius() } else { 1.0 };
                    off = off.max((got.to_vector()[i] - expected[i]).abs() / unit);
                    size = size.max(expected[i].abs() / unit);
                }
            }
            // Poses hold 1e-16 of a radius; a load on an effector's own link turns with it: the square.
            assert!(
                off < 1e-9 * size + size * size + 2e-15,
                "{} with {modes} modes: {off:e} of {size:e}",
                stiff.name()
            );
            tested += 1;
        }
    }
    assert_eq!(tested, 38, "models of 24 mechanisms, two each");
}

/// The relative displacement of the scene's first loaded effector, and the violation, under the scene's loads
/// scaled.
fn bent(model: &Model, scale: f64, how: Reconstruction) -> (f64, f64) {
    let mechanism = model.mechanism();
    let mut simulation = model.simulate();
    simulation.set_reconstruction(how);
    for load in mechanism.loads() {
        simulation.set_load(load.effector, load.wrench * scale).unwrap();
    }
    // Small enough steps that the load's turning does not throw the motion about.
    for _ in 0..4_000 {
        simulation.step(0.02).unwrap();
    }
    let effector = mechanism.loads()[0].effector;
    let start = mechanism[mechanism[effector].body].pose * mechanism[effector].frame;
    let moved = (simulation.effector_pose(effector).unwrap().position - start.position).norm();
    (moved / mechanism.radius(), simulation.violation())
}

/// Andrews 2015, fig. 7: the violation of a Y against the displacement of its effector. A longer Y under the
/// same load is, in units of its size, the same Y under a larger load.
#[test]
fn violation_of_a_y_grows_as_in_the_paper() {
    let mechanism = gallery::y();
    let model = Linearisation::at_rest(&mechanism).build().unwrap();
    let (mut low, mut high) = (1.0, 15.0);
    for _ in 0..30 {
        let scale = 0.5 * (low + high);
        if bent(&model, scale, Reconstruction::Twist).0 < 1.0 { low = scale } else { high = scale }
    }
    let (displacement, violation) = bent(&model, low, Reconstruction::Twist);
    assert!((displacement - 1.0).abs() < 0.01, "{displacement}");
    assert!((0.05..0.2).contains(&violation), "{violation}");
    // It grows as the square.
    let (half, less) = bent(&model, 0.25 * low, Reconstruction::Twist);
    let order = (violation / less).ln() / (displacement / half).ln();
    assert!((1.6..2.4).contains(&order), "{order}");
    // Forward kinematics opens no joint of a tree: rounding along a few links.
    for how in [Reconstruction::Joint, Reconstruction::Corrected] {
        assert!(bent(&model, low, how).1 < 1e-12);
    }
}

/// Corrected links end at the effectors, and loops hardly open.
#[test]
fn corrected_links_end_at_the_effectors() {
    // Rungs swing on an arc where the model's one motion is a straight line: what is across it stays. A straight
    // Y cannot take every pose of its two effectors.
    for (name, scale, least) in
        [("y", 5.0, 1.0), ("rungs:24", 30.0, 1.0), ("helix:50", 3.0, 0.1), ("loop", 10.0, 0.1)]
    {
        let mechanism = gallery::build(name).unwrap();
        let model = Linearisation::at_rest(&mechanism).build().unwrap();
        let gap = |how| {
            let mut simulation = model.simulate();
            simulation.set_reconstruction(how);
            for load in mechanism.loads() {
                simulation.set_load(load.effector, load.wrench * scale).unwrap();
            }
            for _ in 0..500 {
                simulation.step(0.02).unwrap();
            }
            let gaps = (0..mechanism.effectors().len()).map(|e| {
                let effector = crate::common::handles::effector(&mechanism, e);
                let at = simulation.effector_pose(effector).unwrap();
                let frame = &mechanism[effector];
                (at.position - (simulation.pose(frame.body).unwrap() * frame.frame).position).norm()
            });
            gaps.fold(0.0, f64::max) / mechanism.radius()
        };
        let (joint, corrected) = (gap(Reconstruction::Joint), gap(Reconstruction::Corrected));
        assert!(corrected <= least * joint + 1e-12, "{name}: {joint:e} {corrected:e}");
        // The twist reconstruction has the effectors where the model has them, exactly.
        assert!(gap(Reconstruction::Twist) < 1e-13, "{name}");
    }
}

/// Against the nonlinear equilibrium: the error of a small load is the square of the displacement.
#[test]
fn static_error_falls_with_the_load() {
    for name in ["y", "rungs:24", "helix:50", "hand"] {
        let mechanism = gallery::build(name).unwrap();
        let model = Linearisation::at_rest(&mechanism).build().unwrap();
        let full = full::Model::new(&mechanism);
        let error = |scale: f64| {
            let mut linear = model.simulate();
            linear.set_reconstruction(Reconstruction::Twist);
            let mut exact = full.simulate();
            for load in mechanism.loads() {
                linear.set_load(load.effector, load.wrench * scale).unwrap();
                exact.set_load(load.effector, load.wrench * scale).unwrap();
            }
            for inputs in [linear.inputs_mut(), exact.inputs_mut()] {
                inputs.set_gravity([0.0; 3]).unwrap();
            }
            for _ in 0..2_000 {
                linear.step(0.1).unwrap();
            }
            assert!(exact.settle(&StaticsSettings::default()).unwrap().converged);
            let apart = |(body, pose): (BodyId, pliant_core::spatial::Pose)| {
                (pose.position - exact.state().pose(body).unwrap().position).norm()
            };
            linear.poses().map(apart).fold(0.0, f64::max) / mechanism.radius()
        };
        let (large, small) = (error(1.0), error(0.1));
        let order = (large / small).log10();
        assert!((1.8..2.2).contains(&order), "{name}: {large:e} {small:e}");
    }
}

/// Large mechanisms with loops, on which the sparse order is used. Every stage of a ladder adds the same shear, so
/// the compliance of a long one follows from two short ones, which are solved densely.
#[test]
fn long_ladders_add_up_stage_by_stage() {
    for name in ["ladder", "rungs"] {
        let shear = |size: usize, exact: bool| {
            let mechanism = gallery::build(&format!("{name}:{size}")).unwrap();
            let effector = &mechanism.effectors()[0];
            let C = if exact {
                Linearisation::at_rest(&mechanism).project().unwrap().compliance().clone()
            } else {
                Dense::new(&mechanism).compliance(&[(effector.body, effector.frame)]).unwrap()
            };
            C.view((0, 0), (3, 3)).amax()
        };
        // Long enough that the ends do not feel each other.
        let (short, longer) = (shear(96, false), shear(120, false));
        for size in [600, 3_000] {
            let stages = (size - 120) as f64 / 24.0;
            let expected = longer + (longer - short) * stages;
            // Rounding of the dense solves, 1e-15, times the number of stages.
            assert!(
                (shear(size, true) / expected - 1.0).abs() < 1e-10,
                "{name}:{size} {:e}",
                shear(size, true) / expected - 1.0
            );
        }
    }
}

/// On a tree, a joint passes on what acts beyond it and nothing else: the effectors' wrenches, moved.
#[test]
fn joints_of_a_tree_pass_on_the_wrenches_beyond_them() {
    for method in [Method::Exact, Method::Incremental] {
        let mechanism = gallery::y();
        let reduction = Linearisation::at_rest(&mechanism).method(method);
        let projection = reduction.project().unwrap();
        for (joint, beyond) in [("stem0", [true, true]), ("left0", [true, false]), ("right1", [false, true])]
        {
            let id = mechanism.find_joint(joint).unwrap();
            let child = mechanism[mechanism[id].child].pose;
            let map = projection.wrench_map(reduction.reference(), id).unwrap();
            for (e, effector) in mechanism.effectors().iter().enumerate() {
                let frame = child.inverse_times(&(mechanism[effector.body].pose * effector.frame));
                for k in 0..6 {
                    let unit = pliant_core::spatial::Wrench::from_vector(
                        &pliant_core::nalgebra::Vector6::ith(k, 1.0),
                    );
                    let expected = frame.wrench_to_outer(&unit).to_vector() * f64::from(beyond[e]);
                    // A few products of numbers of the order of one.
                    assert!((map.column(6 * e + k) - expected).amax() < 1e-14, "{joint} {e} {k}");
                }
            }
        }
    }
}
