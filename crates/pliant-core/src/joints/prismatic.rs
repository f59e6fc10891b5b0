//! Prismatic: slides along z. q = (z), X = T(0, 0, z).
//!
//! S = (z; 0). Rows: no offset along the parent's x and y (2) and no turn (3 rotation rows).

use nalgebra::{Matrix6, Vector3, Vector6};

use super::rows as pieces;
use crate::spatial::Pose;

/// Number of freedoms.
pub const FREEDOMS: usize = 1;

/// X(q).
#[inline]
pub fn transform(q: &[f64]) -> Pose {
    Pose::translation([0.0, 0.0, q[0]])
}

/// S(q).
#[inline]
pub fn subspace(_q: &[f64]) -> Matrix6<f64> {
    let mut S = Matrix6::zeros();
    S[(2, 0)] = 1.0;
    S
}

/// Ṡ(q, q̇).
#[inline]
pub fn subspace_rate(_q: &[f64], _rate: &[f64]) -> Matrix6<f64> {
    Matrix6::zeros()
}

/// θ(X).
#[inline]
pub fn coordinates(X: &Pose, _reference: &[f64]) -> Vector6<f64> {
    pieces::vector([X.position.z])
}

/// Jθ(X).
#[inline]
pub fn coordinates_jacobian(X: &Pose, _q: &[f64]) -> Matrix6<f64> {
    let mut J = Matrix6::zeros();
    pieces::set(&mut J, 0, pieces::parent_axis(&X.rotation_matrix(), 2), Vector3::zeros());
    J
}

/// C(X).
#[inline]
pub fn residual(X: &Pose) -> Vector6<f64> {
    let r = pieces::rotation(X);
    pieces::vector([X.position.x, X.position.y, r.x, r.y, r.z])
}

/// J(X).
#[inline]
pub fn rows(X: &Pose) -> Matrix6<f64> {
    let mut J = pieces::offset_rows::<2>(&X.rotation_matrix());
    J.fixed_view_mut::<3, 3>(2, 3).copy_from(&pieces::rotation_rows(X));
    J
}

/// ∂(Jᵀλ + Jθᵀτ)/∂ξ.
#[inline]
pub fn wrench_derivative(X: &Pose, _q: &[f64], multipliers: &[f64], forces: &[f64]) -> Matrix6<f64> {
    let R = X.rotation_matrix();
    let mut H = pieces::offset_derivatives::<2>(&R, multipliers);
    pieces::add_offset_derivative(&mut H, &R, 2, forces[0]);
    let torque = Vector3::new(multipliers[2], multipliers[3], multipliers[4]);
    pieces::add_rotation_derivative(&mut H, X, &torque);
    H
}
