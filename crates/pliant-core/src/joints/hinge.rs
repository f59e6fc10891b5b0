//! Hinge: turns about z. q = (φ), X = Rz(φ).
//!
//! S = (0; z). Rows: the origins coincide (3) and the child's z has no part along the parent's x and
//! y (2 dot rows).

use nalgebra::{Matrix6, Vector3, Vector6};

use super::{nearest_turn, rows as pieces};
use crate::spatial::Pose;

/// Number of freedoms.
pub const FREEDOMS: usize = 1;

/// X(q).
#[inline]
pub fn transform(q: &[f64]) -> Pose {
    Pose::rotation([0.0, 0.0, 1.0], q[0])
}

/// S(q).
#[inline]
pub fn subspace(_q: &[f64]) -> Matrix6<f64> {
    let mut S = Matrix6::zeros();
    S[(5, 0)] = 1.0;
    S
}

/// Ṡ(q, q̇).
#[inline]
pub fn subspace_rate(_q: &[f64], _rate: &[f64]) -> Matrix6<f64> {
    Matrix6::zeros()
}

/// θ(X).
#[inline]
pub fn coordinates(X: &Pose, reference: &[f64]) -> Vector6<f64> {
    pieces::vector([nearest_turn(pieces::turn_about_z(X), reference[0])])
}

/// Jθ(X).
#[inline]
pub fn coordinates_jacobian(X: &Pose, _q: &[f64]) -> Matrix6<f64> {
    let mut J = Matrix6::zeros();
    pieces::set(&mut J, 0, Vector3::zeros(), pieces::turn_about_z_rate(X));
    J
}

/// C(X).
#[inline]
pub fn residual(X: &Pose) -> Vector6<f64> {
    let [a, b] = pieces::dots(&X.rotation_matrix());
    let p = &X.position;
    pieces::vector([p.x, p.y, p.z, a, b])
}

/// J(X).
#[inline]
pub fn rows(X: &Pose) -> Matrix6<f64> {
    let R = X.rotation_matrix();
    let mut J = pieces::offset_rows::<3>(&R);
    for k in 0..2 {
        pieces::set(&mut J, 3 + k, Vector3::zeros(), pieces::dot_row(&R, k));
    }
    J
}

/// ∂(Jᵀλ + Jθᵀτ)/∂ξ.
#[inline]
pub fn wrench_derivative(X: &Pose, _q: &[f64], multipliers: &[f64], forces: &[f64]) -> Matrix6<f64> {
    let R = X.rotation_matrix();
    let mut H = pieces::offset_derivatives::<3>(&R, multipliers);
    for k in 0..2 {
        pieces::add_dot_derivative(&mut H, &Vector3::z(), &pieces::parent_axis(&R, k), multipliers[3 + k]);
    }
    pieces::add_turn_derivative(&mut H, X, forces[0]);
    H
}
