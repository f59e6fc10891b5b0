//! Claim: the equations of motion of the articulated engine are those of a dense solve, on random trees of all kinds of
//! joints, with springs, dampers, rotors, loads and free bases; inverse dynamics undoes forward dynamics; the mass
//! matrix is symmetric and positive and gives the energy; power is the rate of energy.

use crate::common;

use crate::common::forest::{Forest, Numbers, random_state, scene_loads};
use pliant_core::articulated::Model;
use pliant_core::engine::Inputs;
use pliant_core::engine::State;
use pliant_core::gallery::{self, Passive, RandomOptions};
use pliant_core::joints::JointKind;
use pliant_core::mechanism::Mechanism;
use pliant_core::nalgebra::{DMatrix, DVector, Vector3, Vector6};
use pliant_core::spatial::{Twist, exp, exp_rotation, right_jacobian_rotation_inverse};

fn trees() -> Vec<Mechanism> {
    let mut list = Vec::new();
    for seed in 0..24 {
        let options = RandomOptions {
            bodies: 4 + seed as usize,
            loops: 0.0,
            passive: Passive::Anywhere,
            free_bases: seed % 2 == 1,
            bushiness: if seed % 3 == 0 { 0.0 } else { 0.4 },
            limits: false,
            ..RandomOptions::default()
        };
        list.push(gallery::random(seed, &options));
    }
    // Each kind alone, so that none hides behind another.
    for kind in JointKind::ALL.into_iter().filter(|k| *k != JointKind::Fixed) {
        let options = RandomOptions {
            bodies: 5,
            loops: 0.0,
            kinds: vec![kind],
            limits: false,
            ..RandomOptions::default()
        };
        list.push(gallery::random(77, &options));
    }
    list
}

/// Rounding is about 1e-13 here; the oracle's differences of sixth order leave about 1e-12 of the rates of its
/// Jacobians.
#[test]
fn forward_dynamics_is_the_dense_solve() {
    let mut worst = 0.0f64;
    for mechanism in trees() {
        let model = Model::new(&mechanism);
        let mut dynamics = model.dynamics();
        let mut inputs = Inputs::new(&mechanism);
        inputs.add_scene_loads();
        let mut numbers = Numbers(7);
        for _ in 0..3 {
            let state = random_state(&mechanism, &mut numbers);
            let forces = numbers.list(model.speeds());
            let mut found = vec![0.0; model.speeds()];
            dynamics.set_state(&state, Twist::ZERO).unwrap();
            dynamics.accelerations(&inputs, &forces, &mut found).unwrap();

            let forest = Forest::new(&model, &state);
            let (M, rest) = forest.equations(&inputs, &scene_loads(&mechanism));
            let right = rest + DVector::from_column_slice(&forces);
            let expected = M.clone().cholesky().expect("positive definite").solve(&right);
            let found = DVector::from_column_slice(&found);
            let error = (&found - &expected).amax() / expected.amax();
            assert!(error < 1e-10, "{}: {error:e}", mechanism.name());
            worst = worst.max(error);

            let mass = dynamics.mass_matrix();
            let error = (&mass - &M).amax() / M.amax();
            assert!(error < 1e-11, "{}: mass matrix {error:e}", mechanism.name());
            assert!(mass == mass.transpose(), "{}: symmetric to the last bit", mechanism.name());
            assert!(mass.cholesky().is_some(), "{}", mechanism.name());

            let (poses, jacobians) = forest.jacobians(0.0);
            for (b, pose) in poses.iter().enumerate() {
                let apart = (pose.position - dynamics.state().poses[b].position).norm();
                assert!(apart < 1e-12, "{}: body {b} {apart:e}", mechanism.name());
                let twist = &jacobians[b] * &forest.speeds;
                let off = (dynamics.state().twists[b].to_vector() - twist.fixed_rows::<6>(0)).amax();
                assert!(off < 1e-11, "{}: twist of {b} {off:e}", mechanism.name());
            }
            for e in mechanism.effector_ids() {
                let effector = &mechanism[e];
                let ad = effector.frame.inverse().adjoint();
                let J = DMatrix::from_column_slice(6, 6, ad.as_slice()) * &jacobians[effector.body.index()];
                let off = (dynamics.effector_jacobian(e).unwrap() - J).amax();
                assert!(off < 1e-11, "{}: effector {off:e}", mechanism.name());
            }
        }
    }
    println!("worst relative error of an acceleration {worst:.1e}");
}

/// Exact but for rounding, which the condition of the mass matrix (up to 1e6 here) makes larger.
#[test]
fn inverse_dynamics_undoes_forward_dynamics() {
    for mechanism in trees() {
        let model = Model::new(&mechanism);
        let mut dynamics = model.dynamics();
        let mut inputs = Inputs::new(&mechanism);
        inputs.add_scene_loads();
        let mut numbers = Numbers(3);
        let state = random_state(&mechanism, &mut numbers);
        dynamics.set_state(&state, Twist::ZERO).unwrap();
        let forces = DVector::from_vec(numbers.list(model.speeds()));
        let (mut a, mut back) = (DVector::zeros(model.speeds()), DVector::zeros(model.speeds()));
        dynamics.accelerations(&inputs, forces.as_slice(), a.as_mut_slice()).unwrap();
        dynamics.forces(&inputs, a.as_slice(), back.as_mut_slice());
        let M = dynamics.mass_matrix();
        let scale = M.amax() * a.amax();
        let error = (&back - &forces).amax() / scale;
        assert!(error < 1e-12, "{}: {error:e}", mechanism.name());

        let mut x = DVector::zeros(model.speeds());
        dynamics.inverse_mass_times(forces.as_slice(), x.as_mut_slice()).unwrap();
        let error = (&M * &x - &forces).amax() / (M.amax() * x.amax());
        assert!(error < 1e-12, "{}: inverse of the mass {error:e}", mechanism.name());
    }
}

/// Without dampers, limits and dead loads, energy changes by the power of the forces along the speeds.
#[test]
fn power_is_the_rate_of_energy() {
    for mechanism in trees() {
        let mechanism = undamped(&mechanism);
        let model = Model::new(&mechanism);
        let mut dynamics = model.dynamics();
        let inputs = Inputs::new(&mechanism);
        let mut numbers = Numbers(11);
        let state = random_state(&mechanism, &mut numbers);
        dynamics.set_state(&state, Twist::ZERO).unwrap();
        let forces = numbers.list(model.speeds());
        let mut a = vec![0.0; model.speeds()];
        dynamics.accelerations(&inputs, &forces, &mut a).unwrap();
        let u = dynamics.speeds();
        let power: f64 = u.iter().zip(&forces).map(|(u, f)| u * f).sum();

        let M = dynamics.mass_matrix();
        let u = DVector::from_vec(u);
        let kinetic = 0.5 * u.dot(&(&M * &u));
        let energy = dynamics.energy(&inputs);
        assert!((kinetic / energy.kinetic - 1.0).abs() < 1e-12, "{}", mechanism.name());

        // dE/dt = ∂E/∂q q̇ + uᵀM u̇, the first by differences along the motion at constant speeds.
        let moved = |t: f64| {
            let mut at = model.dynamics();
            let mut next = dynamics.state().clone();
            move_along(&model, &mut next, &u, t);
            at.set_state(&next, Twist::ZERO).unwrap();
            at.energy(&inputs).total()
        };
        let h = 1e-3;
        let odd = |k: f64| moved(k * h) - moved(-k * h);
        let rate = (odd(1.0) * 45.0 - odd(2.0) * 9.0 + odd(3.0)) / (60.0 * h)
            + u.dot(&(&M * DVector::from_vec(a.clone())));
        let scale = u.norm() * (&M * DVector::from_vec(a.clone())).norm();
        // Energies up to 1e4 J have roundings of 1e-12, and more in sums, over h.
        assert!((rate - power).abs() < 1e-11 * scale + 1e-7, "{}: {rate} {power}", mechanism.name());
    }
}

/// The mechanism without dampers.
fn undamped(mechanism: &Mechanism) -> Mechanism {
    common::edited(mechanism, |joint| joint.damping = None)
}

/// Moves on for t seconds at constant speeds.
fn move_along(model: &Model, state: &mut State, u: &DVector<f64>, t: f64) {
    let mechanism = model.mechanism();
    for &body in mechanism.order().bodies() {
        let Some(range) = model.speeds_of(body).unwrap() else { continue };
        let speeds: Vec<f64> = range.map(|k| u[k]).collect();
        let along: Vec<f64> = speeds.iter().map(|u| u * t).collect();
        let Some(joint) = mechanism.order().tree_joint_of(body) else {
            let b = body.index();
            let xi = Twist::from_vector(&Vector6::from_column_slice(&along));
            state.poses[b] = state.poses[b] * exp(&xi); // its body twist stays
            continue;
        };
        let kind = &mechanism[joint].kind;
        let at = mechanism[joint].coordinates();
        let first = match kind {
            JointKind::Ball => 0,
            JointKind::Bushing => 3,
            _ => kind.freedoms(),
        };
        for k in 0..first {
            state.coordinates[at.start + k] += along[k];
            state.rates[at.start + k] = speeds[k];
        }
        if first < kind.freedoms() {
            let mut X = kind.transform(&state.coordinates[at.clone()]);
            X.rotation *= exp_rotation(&Vector3::from_column_slice(&along[first..]));
            let q = kind.coordinates(&X, &state.coordinates[at.clone()]);
            let B =
                right_jacobian_rotation_inverse(&Vector3::from_column_slice(&q.as_slice()[first..first + 3]));
            let rate = B * Vector3::from_column_slice(&speeds[first..]);
            for k in 0..3 {
                state.coordinates[at.start + first + k] = q[first + k];
                state.rates[at.start + first + k] = rate[k];
            }
        }
    }
}
