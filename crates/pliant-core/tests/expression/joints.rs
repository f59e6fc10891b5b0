//! Claim: a joint given by a formula answers every question of a joint consistently, on its manifold and off it:
//! the same identities as in `joints.rs`, for every ready joint, every lower pair and some more.
#![allow(non_snake_case)]

use crate::common::default_residual;
use crate::common::formulas::{self, Case};
use crate::common::{derivative, jacobian};
use pliant_core::joints::JointKind;
use pliant_core::nalgebra::{Matrix6, Vector6};
use pliant_core::spatial::{Pose, Twist, exp};

/// Every case at `count` places: its kind, its coordinates, and a twist off the manifold of up to 0.1 own lengths
/// and 0.1 rad. Places near a break of a curve are left out; returns how many are visited.
fn each(count: usize, mut visit: impl FnMut(&Case, &JointKind, &[f64], Twist)) -> usize {
    let mut visited = 0;
    let number = |k: usize| (k as f64 * 0.618_033_988_749_894_9).fract() * 2.0 - 1.0;
    for case in formulas::all() {
        let (kind, length) = (case.kind(), case.expression.own_length());
        for round in 0..count {
            let unit: Vec<f64> = (0..6).map(|k| 0.8 * number(41 * round + 103 * k + 11)).collect();
            let q = case.at(&unit);
            let off = Vector6::from_fn(|k, _| {
                0.1 * number(17 * round + 59 * k + 3) * if k < 3 { length } else { 1.0 }
            });
            if case.is_smooth_around(&q) {
                visit(&case, &kind, &q, Twist::from_vector(&off));
                visited += 1;
            }
        }
    }
    visited
}

fn padded(q: &[f64]) -> Vector6<f64> {
    Vector6::from_fn(|i, _| q.get(i).copied().unwrap_or(0.0))
}

fn partial_identity(d: usize) -> Matrix6<f64> {
    Matrix6::from_fn(|i, j| if i == j && i < d { 1.0 } else { 0.0 })
}

/// How much the coordinates amplify what is known of the pose: the norm of Jθ.
fn stretch(kind: &JointKind, q: &[f64]) -> f64 {
    kind.coordinates_jacobian(&kind.transform(q), q).norm().max(1.0)
}

/// θ(X(q)) = q, from a reference nearby.
#[test]
fn coordinates_undo_the_transform() {
    let visited = each(40, |case, kind, q, off| {
        let reference: Vec<f64> = q
            .iter()
            .zip(off.to_vector().iter().zip(&case.range))
            .map(|(q, (o, r))| q + o.clamp(-0.1, 0.1) * r.min(1.0))
            .collect();
        let back = kind.coordinates(&kind.transform(q), &reference);
        let error = (back - padded(q)).amax();
        assert!(error <= 1e-14 * stretch(kind, q), "{} {q:?} {error:e}", case.name);
    });
    assert_eq!(visited, 845);
}

/// On the manifold C = 0, J S = 0, Jθ S = 1 and J Jᵀ = 1.
#[test]
fn rows_and_subspace_complement_each_other() {
    let visited = each(40, |case, kind, q, _| {
        let d = q.len();
        let X = kind.transform(q);
        let (J, S, T) = (kind.rows(&X, q), kind.subspace(q), kind.coordinates_jacobian(&X, q));
        assert!(kind.residual(&X, q).amax() <= 2e-15, "{} {q:?}", case.name);
        assert!((J * S).amax() <= 1e-14 * S.norm().max(1.0), "{} {q:?} {:e}", case.name, (J * S).amax());
        assert!((J * J.transpose() - partial_identity(6 - d)).amax() <= 1e-14, "{} {q:?}", case.name);
        assert!((T * S - partial_identity(d)).amax() <= 1e-14 * stretch(kind, q), "{} {q:?}", case.name);
    });
    assert_eq!(visited, 845);
}

/// Off the manifold what is left does no work along the freedoms: SᵀW e = 0.
#[test]
fn what_is_left_does_no_work() {
    let visited = each(40, |case, kind, q, off| {
        let X = kind.transform(q) * exp(&off);
        let q = kind.coordinates(&X, q);
        let q = &q.as_slice()[..kind.freedoms()];
        let e = default_residual::residual(kind, &X, q).to_vector();
        let w = case.expression.own_length().powi(-2);
        let work = kind.subspace(q).transpose() * e.component_mul(&Vector6::new(w, w, w, 1.0, 1.0, 1.0));
        assert!(
            work.amax() <= 1e-14 * stretch(kind, q) * w.max(1.0),
            "{} {q:?} {:e}",
            case.name,
            work.amax()
        );
    });
    assert_eq!(visited, 845);
}

/// Jθ and J, by differences of θ and C along X exp(tξ), on the manifold and off it. The sixth-order formula with a
/// step of 0.01 bends curves of 0.1 m by tenths of a radian: the step is taken in own lengths.
#[test]
fn jacobians_are_rates() {
    let mut compared = 0;
    let visited = each(12, |case, kind, q, off| {
        let (d, length) = (q.len(), case.expression.own_length());
        for size in [0.0, 1.0] {
            let X = kind.transform(q) * exp(&(off * size));
            let q = kind.coordinates(&X, q);
            let q = &q.as_slice()[..d];
            let (T, J) = (kind.coordinates_jacobian(&X, q), kind.rows(&X, q));
            if !case.is_smooth_around(q) {
                continue;
            }
            compared += 1;
            let part = 0.04;
            let scale = Vector6::new(length, length, length, 1.0, 1.0, 1.0) * part;
            let moved = |xi: &Vector6<f64>| X * exp(&Twist::from_vector(&xi.component_mul(&scale)));
            let numeric = jacobian(|xi| kind.coordinates(&moved(xi), q));
            let error = (T * Matrix6::from_diagonal(&scale) - numeric).amax();
            assert!(
                error <= 1e-11 * (1.0 + numeric.amax()) * stretch(kind, q),
                "{} {q:?} off {size}: Jθ {error:e}",
                case.name
            );
            let numeric = jacobian(|xi| {
                let X = moved(xi);
                let q = kind.coordinates(&X, q);
                kind.residual(&X, &q.as_slice()[..d])
            });
            let error = (J * Matrix6::from_diagonal(&scale) - numeric).amax();
            assert!(error <= 1e-11 * (1.0 + numeric.amax()), "{} {q:?} off {size}: J {error:e}", case.name);
        }
    });
    assert_eq!((visited, compared), (250, 499));
}

/// ∂(Jᵀλ + Jθᵀτ)/∂ξ, by differences of sixth order, against the second-order ones that the joint takes.
#[test]
fn wrench_derivative_is_a_rate() {
    let mut compared = 0;
    let visited = each(4, |case, kind, q, off| {
        let (d, length) = (q.len(), case.expression.own_length());
        let number = |k: usize| (k as f64 * 0.618_033_988_749_894_9).fract() - 0.5;
        let multipliers: Vec<f64> = (0..6 - d).map(number).collect();
        let forces: Vec<f64> = (6 - d..6).map(number).collect();
        let X = kind.transform(q) * exp(&(off * 0.3));
        let wrench = |X: &Pose| {
            let q = kind.coordinates(X, q);
            let q = &q.as_slice()[..d];
            let rows = kind.rows(X, q).transpose() * padded(&multipliers);
            rows + kind.coordinates_jacobian(X, q).transpose() * padded(&forces)
        };
        let at = kind.coordinates(&X, q);
        if !case.is_smooth_around(at.as_slice()) {
            return;
        }
        compared += 1;
        let H = kind.wrench_derivative(&X, &at.as_slice()[..d], &multipliers, &forces);
        let scale = Vector6::new(length, length, length, 1.0, 1.0, 1.0) * 0.05;
        let numeric = jacobian(|xi| wrench(&(X * exp(&Twist::from_vector(&xi.component_mul(&scale))))));
        let error = (H * Matrix6::from_diagonal(&scale) - numeric).amax();
        assert!(
            error <= 1e-8 * (1.0 + numeric.amax()),
            "{} {q:?} {error:e} of {:e}",
            case.name,
            numeric.amax()
        );
    });
    assert_eq!((visited, compared), (84, 84));
}

/// N turns with S without a jump, as long as no column of S points against where it pointed in the file's pose.
#[test]
fn rows_vary_smoothly() {
    let visited = each(10, |case, kind, q, off| {
        let q: Vec<f64> = q.iter().map(|q| q.clamp(-1.0, 1.0)).collect();
        let rate: Vec<f64> =
            off.to_vector().iter().zip(&case.range).map(|(o, r)| (o * 3.0 * r).clamp(-0.3, 0.3)).collect();
        let at = |t: f64| {
            let q: Vec<f64> = q.iter().zip(&rate).map(|(q, r)| q + t * r).collect();
            kind.rows(&kind.transform(&q), &q)
        };
        let steps: Vec<Matrix6<f64>> = (0..=20).map(|i| at(f64::from(i) * 0.01)).collect();
        let slope = derivative(|t| at(t + 0.1).row(0).transpose()).norm();
        for pair in steps.windows(2) {
            let change = (pair[1] - pair[0]).amax();
            assert!(change <= 0.1 + 0.02 * slope, "{} {q:?}: {change}", case.name);
        }
    });
    assert_eq!(visited, 209);
}
