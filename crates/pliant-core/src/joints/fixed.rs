//! Fixed: holds the bodies together. No coordinates, X = 1.
//!
//! Rows: the origins coincide (3) and no turn (3 rotation rows).

use nalgebra::{Matrix6, Vector3, Vector6};

use super::rows as pieces;
use crate::spatial::Pose;

/// Number of freedoms.
pub const FREEDOMS: usize = 0;

/// X(q).
#[inline]
pub fn transform(_q: &[f64]) -> Pose {
    Pose::identity()
}

/// S(q).
#[inline]
pub fn subspace(_q: &[f64]) -> Matrix6<f64> {
    Matrix6::zeros()
}

/// Ṡ(q, q̇).
#[inline]
pub fn subspace_rate(_q: &[f64], _rate: &[f64]) -> Matrix6<f64> {
    Matrix6::zeros()
}

/// θ(X).
#[inline]
pub fn coordinates(_X: &Pose, _reference: &[f64]) -> Vector6<f64> {
    Vector6::zeros()
}

/// Jθ(X).
#[inline]
pub fn coordinates_jacobian(_X: &Pose, _q: &[f64]) -> Matrix6<f64> {
    Matrix6::zeros()
}

/// C(X).
#[inline]
pub fn residual(X: &Pose) -> Vector6<f64> {
    let (p, r) = (&X.position, pieces::rotation(X));
    pieces::vector([p.x, p.y, p.z, r.x, r.y, r.z])
}

/// J(X).
#[inline]
pub fn rows(X: &Pose) -> Matrix6<f64> {
    let mut J = Matrix6::zeros();
    J.fixed_view_mut::<3, 3>(0, 0).copy_from(&X.rotation_matrix());
    J.fixed_view_mut::<3, 3>(3, 3).copy_from(&pieces::rotation_rows(X));
    J
}

/// ∂(Jᵀλ + Jθᵀτ)/∂ξ.
#[inline]
pub fn wrench_derivative(X: &Pose, _q: &[f64], multipliers: &[f64], _forces: &[f64]) -> Matrix6<f64> {
    let R = X.rotation_matrix();
    let mut H = pieces::offset_derivatives::<3>(&R, multipliers);
    let torque = Vector3::new(multipliers[3], multipliers[4], multipliers[5]);
    pieces::add_rotation_derivative(&mut H, X, &torque);
    H
}
