//! Bushing: all six freedoms, held by springs alone. q = (p, φ): translation along the parent's axes
//! and rotation vector, X = T(p) exp(φ).
//!
//! S = (Rᵀ, 0; 0, Jr(φ)). No rows.

use nalgebra::{Matrix6, Vector3, Vector6};

use super::{
    ball::{right_jacobian_rate, torque_derivative},
    nearest_rotation_vector, rows as pieces,
};
use crate::spatial::{
    Pose, exp_rotation, log_rotation, right_jacobian_rotation, right_jacobian_rotation_inverse, skew,
};

/// Number of freedoms.
pub const FREEDOMS: usize = 6;

fn rotation_vector(q: &[f64]) -> Vector3<f64> {
    Vector3::new(q[3], q[4], q[5])
}

/// X(q).
#[inline]
pub fn transform(q: &[f64]) -> Pose {
    Pose { rotation: exp_rotation(&rotation_vector(q)), position: Vector3::new(q[0], q[1], q[2]) }
}

/// S(q).
#[inline]
pub fn subspace(q: &[f64]) -> Matrix6<f64> {
    let r = rotation_vector(q);
    let mut S = Matrix6::zeros();
    let Rt = exp_rotation(&-r).to_rotation_matrix().into_inner();
    S.fixed_view_mut::<3, 3>(0, 0).copy_from(&Rt);
    S.fixed_view_mut::<3, 3>(3, 3).copy_from(&right_jacobian_rotation(&r));
    S
}

/// Ṡ(q, q̇): d/dt Rᵀ = −\[ω\]× Rᵀ with ω = Jr(φ) φ̇.
#[inline]
pub fn subspace_rate(q: &[f64], rate: &[f64]) -> Matrix6<f64> {
    let (r, dr) = (rotation_vector(q), rotation_vector(rate));
    let w = right_jacobian_rotation(&r) * dr;
    let Rt = exp_rotation(&-r).to_rotation_matrix().into_inner();
    let mut S = Matrix6::zeros();
    S.fixed_view_mut::<3, 3>(0, 0).copy_from(&(-skew(&w) * Rt));
    S.fixed_view_mut::<3, 3>(3, 3).copy_from(&right_jacobian_rate(&r, &dr));
    S
}

/// θ(X).
#[inline]
pub fn coordinates(X: &Pose, reference: &[f64]) -> Vector6<f64> {
    let r = nearest_rotation_vector(log_rotation(&X.rotation), &reference[3..]);
    let p = &X.position;
    pieces::vector([p.x, p.y, p.z, r.x, r.y, r.z])
}

/// Jθ(X): ṗ = R v, φ̇ = Jr(φ)⁻¹ ω.
#[inline]
pub fn coordinates_jacobian(X: &Pose, q: &[f64]) -> Matrix6<f64> {
    let mut J = Matrix6::zeros();
    J.fixed_view_mut::<3, 3>(0, 0).copy_from(&X.rotation_matrix());
    let B = right_jacobian_rotation_inverse(&rotation_vector(q));
    J.fixed_view_mut::<3, 3>(3, 3).copy_from(&B);
    J
}

/// C(X).
#[inline]
pub fn residual(_X: &Pose) -> Vector6<f64> {
    Vector6::zeros()
}

/// J(X).
#[inline]
pub fn rows(_X: &Pose) -> Matrix6<f64> {
    Matrix6::zeros()
}

/// ∂(Jᵀλ + Jθᵀτ)/∂ξ.
#[inline]
pub fn wrench_derivative(X: &Pose, q: &[f64], _multipliers: &[f64], forces: &[f64]) -> Matrix6<f64> {
    let R = X.rotation_matrix();
    let mut H = Matrix6::zeros();
    for k in 0..3 {
        pieces::add_offset_derivative(&mut H, &R, k, forces[k]);
    }
    pieces::add(&mut H, 3, 3, torque_derivative(&q[3..], &forces[3..]));
    H
}
