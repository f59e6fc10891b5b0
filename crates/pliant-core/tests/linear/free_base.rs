//! Claim: on a free base, mean axes give the motion of the coupled floating frame; free fall moves no joint;
//! momentum is kept; the paper's uncoupled base differs.

use crate::common::dense::Dense;
use crate::common::momentum;
use pliant_core::engine::Simulation as _;
use pliant_core::full;
use pliant_core::gallery;
use pliant_core::linear::{FreeBase, Linearisation, Model};
use pliant_core::mechanism::EffectorId;
use pliant_core::nalgebra::{DMatrix, DVector, Vector3};
use pliant_core::spatial::{Twist, Wrench, log};

/// The floating frame: base twist (6) and all joint coordinates, coupled, linear, stepped by backward Euler.
/// Returns the twist displacement of an effector (its frame) after some steps of a constant wrench on it.
fn coupled(
    mechanism: &pliant_core::mechanism::Mechanism,
    effector: EffectorId,
    wrench: &Wrench,
    dt: f64,
    steps: usize,
) -> DVector<f64> {
    let dense = Dense::new(mechanism);
    let count = dense.stiffness.len();
    let base = mechanism[mechanism.find_body("base").unwrap()].pose;
    // Motion of each body per (base, θ): Ad(body, base) and the joints' part.
    let rows = |frame: &pliant_core::spatial::Pose, joints: &DMatrix<f64>| {
        let Ad = frame.inverse_times(&base).adjoint();
        DMatrix::from_fn(6, 6 + count, |i, k| if k < 6 { Ad[(i, k)] } else { joints[(i, k - 6)] })
    };
    let mut M = DMatrix::zeros(6 + count, 6 + count);
    for (body, joints) in mechanism.bodies().iter().zip(&dense.bodies) {
        let J = rows(&body.pose, joints);
        M += J.transpose() * DMatrix::from_column_slice(6, 6, body.inertia.matrix().as_slice()) * &J;
    }
    let (mut K, mut D) = (DMatrix::zeros(6 + count, 6 + count), DMatrix::zeros(6 + count, 6 + count));
    for (k, freedom) in mechanism.joints().iter().flat_map(|j| &j.freedoms).enumerate() {
        K[(6 + k, 6 + k)] = freedom.stiffness;
        D[(6 + k, 6 + k)] = freedom.damping;
    }
    let effector = &mechanism[effector];
    let frame = mechanism[effector.body].pose * effector.frame;
    let E = rows(&frame, &dense.frame(effector.body, &effector.frame));
    let local =
        pliant_core::spatial::Pose::new(frame.rotation, Vector3::zeros()).wrench_to_local(wrench).to_vector();
    let f = E.transpose() * DMatrix::from_column_slice(6, 1, local.as_slice());
    let A = (&M + &D * dt + &K * (dt * dt)).lu();
    let mut x: DMatrix<f64> = DMatrix::zeros(6 + count, 1);
    let mut v = x.clone();
    for _ in 0..steps {
        v = A.solve(&(&M * &v + (&f - &K * &x) * dt)).unwrap();
        x += &v * dt;
    }
    (E * x).column(0).into_owned()
}

/// The same of the model, with what is not linear taken out by the load's other sign.
fn linear(model: &Model, effector: EffectorId, wrench: &Wrench, dt: f64, steps: usize) -> DVector<f64> {
    let of = |sign: f64| {
        let mut simulation = model.simulate();
        simulation.inputs_mut().set_gravity([0.0; 3]).unwrap();
        simulation.set_load(effector, *wrench * sign).unwrap();
        let start = simulation.effector_pose(effector).unwrap();
        (0..steps).for_each(|_| simulation.step(dt).unwrap());
        log(&start.inverse_times(&simulation.effector_pose(effector).unwrap())).to_vector()
    };
    let moved = (of(1.0) - of(-1.0)) * 0.5;
    DVector::from_column_slice(moved.as_slice())
}

#[test]
fn mean_axes_are_the_coupled_floating_frame() {
    // Six feet of three joints: the model has all motions of the legs, so it must be exact.
    let mechanism = gallery::hexapod();
    let model = Linearisation::at_rest(&mechanism).build().unwrap();
    assert_eq!(model.rank(), 18);
    let paper = Linearisation::at_rest(&mechanism).free_base(FreeBase::Uncoupled).build().unwrap();
    for e in 0..3 {
        let effector = crate::common::handles::effector(&mechanism, e);
        for (dt, steps) in [(1.0 / 60.0, 1), (1.0 / 60.0, 12), (1.0 / 1000.0, 100)] {
            let size = 1e-2 / (dt * steps as f64).powi(2).max(1e-3);
            let wrench = Wrench::new(
                Vector3::new(0.3, -0.5, 1.0) * (size * 1e-3),
                Vector3::new(0.1, 0.2, -0.3) * (size * 1e-4),
            );
            let expected = coupled(&mechanism, effector, &wrench, dt, steps);
            let got = linear(&model, effector, &wrench, dt, steps);
            let off = (&got - &expected).amax() / expected.amax();
            // Displacements are about 1e-5: their square is what the two signs leave, and 1e-16 of poses that are
            // 0.3 m away.
            assert!(off < 1e-9, "{e} {dt} {steps}: {off:e} of {:e}", expected.amax());
            // The uncoupled base of the paper is another motion.
            assert!(
                (linear(&paper, effector, &wrench, dt, steps) - &expected).amax() > 1e-3 * expected.amax()
            );
        }
    }
}

#[test]
fn free_fall_moves_no_joint() {
    let mechanism = gallery::hexapod();
    for modes in [0, 2] {
        let model = Linearisation::at_rest(&mechanism).modes(modes).build().unwrap();
        let mut simulation = model.simulate();
        let (dt, steps) = (1.0 / 60.0, 120);
        (0..steps).for_each(|_| simulation.step(dt).unwrap());
        let fallen = -9.81 * dt * dt * (steps * (steps + 1)) as f64 / 2.0;
        let state = simulation.state();
        for (body, pose) in mechanism.bodies().iter().zip(&state.poses) {
            let moved = pose.position - body.pose.position;
            // Rounding of sums over 120 steps; the joints' part is below it.
            assert!((moved - Vector3::new(0.0, 0.0, fallen)).norm() < 1e-12, "{moved}");
        }
        assert!(state.coordinates.iter().all(|q| q.abs() < 1e-14));
    }
}

#[test]
fn momentum_is_kept() {
    let mechanism = gallery::hexapod();
    let model = Linearisation::at_rest(&mechanism).build().unwrap();
    let mut simulation = model.simulate();
    simulation.inputs_mut().set_gravity([0.0; 3]).unwrap();
    // A kick on one foot, then nothing.
    simulation
        .set_load(crate::common::handles::effector(&mechanism, 0), Wrench::force([0.2, 0.1, 0.3]))
        .unwrap();
    (0..3).for_each(|_| simulation.step(1.0 / 240.0).unwrap());
    simulation.set_load(crate::common::handles::effector(&mechanism, 0), Wrench::ZERO).unwrap();
    let kick = Vector3::new(0.2, 0.1, 0.3) * (3.0 / 240.0);
    let start = momentum(&mechanism, simulation.state());
    // What the links as rebuilt carry is the momentum of the linear model but for the square of displacements of
    // 1e-4.
    assert!((start.0 - kick).norm() < 1e-3 * kick.norm(), "{} {kick}", start.0);
    for _ in 0..240 {
        simulation.step(1.0 / 240.0).unwrap();
        let now = momentum(&mechanism, simulation.state());
        assert!((now.0 - kick).norm() < 1e-3 * kick.norm());
        assert!(
            (now.1 - start.1).norm() < 2e-3 * start.1.norm().max(1e-3 * kick.norm()),
            "{} {}",
            now.1,
            start.1
        );
    }
}

#[test]
fn it_spins_as_a_rigid_body_does() {
    // Stiff legs: the tumbling of the whole against the full engine.
    let mechanism = gallery::hexapod();
    let model = Linearisation::at_rest(&mechanism).build().unwrap();
    let full = full::Model::new(&mechanism);
    let mut exact = full.simulate();
    exact.inputs_mut().set_gravity([0.0; 3]).unwrap();
    let mut state = exact.state().clone();
    let spin = Vector3::new(0.1, 0.2, 0.05);
    for (pose, twist) in state.poses.iter().zip(&mut state.twists) {
        let r = pose.rotation.inverse();
        *twist = Twist { linear: r * spin.cross(&pose.position), angular: r * spin };
    }
    exact.set_state(&state).unwrap();
    let mut linear = model.simulate();
    linear.inputs_mut().set_gravity([0.0; 3]).unwrap();
    linear.set_state(&state).unwrap();
    for _ in 0..500 {
        exact.step(1.0 / 500.0).unwrap();
        linear.step(1.0 / 500.0).unwrap();
    }
    let base = mechanism.find_body("base").unwrap();
    let (a, b) = (linear.pose(base).unwrap(), exact.state().pose(base).unwrap());
    // A turn of 0.23 rad; slow spins bend the legs little, and both steps are of second order in it.
    assert!(a.rotation.angle_to(&b.rotation) < 1e-3, "{}", a.rotation.angle_to(&b.rotation));
    assert!((a.position - b.position).norm() < 1e-3 * mechanism.radius());
}

#[test]
fn standing_sag_and_frequency_are_those_of_the_full_engine() {
    // Each foot carries a sixth of the weight: in balance. The links settle relative to the base.
    let mechanism = gallery::hexapod();
    let model = Linearisation::at_rest(&mechanism).build().unwrap();
    let full = full::Model::new(&mechanism);
    let (mut linear, mut exact) = (model.simulate(), full.simulate());
    for load in mechanism.loads() {
        linear.set_load(load.effector, load.wrench).unwrap();
        exact.set_load(load.effector, load.wrench).unwrap();
    }
    let base = mechanism.find_body("base").unwrap();
    let mut worst = 0.0f64;
    for _ in 0..240 {
        linear.step(1.0 / 240.0).unwrap();
        exact.step(1.0 / 240.0).unwrap();
        let foot = crate::common::handles::effector(&mechanism, 0);
        let height = |base: f64, foot: f64| base - foot;
        let a = height(linear.pose(base).unwrap().position.z, linear.effector_pose(foot).unwrap().position.z);
        let b = height(
            exact.state().pose(base).unwrap().position.z,
            exact.effector_pose(foot).unwrap().position.z,
        );
        let rest = mechanism[base].pose.position.z - 0.012;
        worst = worst.max((a - b).abs() / (b - rest).abs().max(1e-3));
    }
    assert!(worst < 0.05, "{worst}");
}
