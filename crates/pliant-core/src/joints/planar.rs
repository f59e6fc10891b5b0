//! Planar: slides along x and y and turns about z. q = (x, y, φ), X = T(x, y, 0) Rz(φ).
//!
//! The slides are along the parent's axes: S = (Rz(φ)ᵀx, Rz(φ)ᵀy, 0; 0, 0, z). Rows: no offset along
//! the parent's z (1) and the child's z has no part along the parent's x and y (2 dot rows).

use nalgebra::{Matrix6, Vector3, Vector6};

use super::{nearest_turn, rows as pieces};
use crate::spatial::Pose;

/// Number of freedoms.
pub const FREEDOMS: usize = 3;

/// X(q).
#[inline]
pub fn transform(q: &[f64]) -> Pose {
    Pose { position: Vector3::new(q[0], q[1], 0.0), ..Pose::rotation([0.0, 0.0, 1.0], q[2]) }
}

/// S(q).
#[inline]
pub fn subspace(q: &[f64]) -> Matrix6<f64> {
    let mut S = Matrix6::zeros();
    let (s, c) = q[2].sin_cos();
    S[(0, 0)] = c;
    S[(1, 0)] = -s;
    S[(0, 1)] = s;
    S[(1, 1)] = c;
    S[(5, 2)] = 1.0;
    S
}

/// Ṡ(q, q̇).
#[inline]
pub fn subspace_rate(q: &[f64], rate: &[f64]) -> Matrix6<f64> {
    let mut S = Matrix6::zeros();
    let (s, c) = q[2].sin_cos();
    S[(0, 0)] = -s * rate[2];
    S[(1, 0)] = -c * rate[2];
    S[(0, 1)] = c * rate[2];
    S[(1, 1)] = -s * rate[2];
    S
}

/// θ(X).
#[inline]
pub fn coordinates(X: &Pose, reference: &[f64]) -> Vector6<f64> {
    let angle = nearest_turn(pieces::turn_about_z(X), reference[2]);
    pieces::vector([X.position.x, X.position.y, angle])
}

/// Jθ(X).
#[inline]
pub fn coordinates_jacobian(X: &Pose, _q: &[f64]) -> Matrix6<f64> {
    let R = X.rotation_matrix();
    let mut J = Matrix6::zeros();
    for k in 0..2 {
        pieces::set(&mut J, k, pieces::parent_axis(&R, k), Vector3::zeros());
    }
    pieces::set(&mut J, 2, Vector3::zeros(), pieces::turn_about_z_rate(X));
    J
}

/// C(X).
#[inline]
pub fn residual(X: &Pose) -> Vector6<f64> {
    let [a, b] = pieces::dots(&X.rotation_matrix());
    pieces::vector([X.position.z, a, b])
}

/// J(X).
#[inline]
pub fn rows(X: &Pose) -> Matrix6<f64> {
    let R = X.rotation_matrix();
    let mut J = Matrix6::zeros();
    pieces::set(&mut J, 0, pieces::parent_axis(&R, 2), Vector3::zeros());
    for k in 0..2 {
        pieces::set(&mut J, 1 + k, Vector3::zeros(), pieces::dot_row(&R, k));
    }
    J
}

/// ∂(Jᵀλ + Jθᵀτ)/∂ξ.
#[inline]
pub fn wrench_derivative(X: &Pose, _q: &[f64], multipliers: &[f64], forces: &[f64]) -> Matrix6<f64> {
    let R = X.rotation_matrix();
    let mut H = Matrix6::zeros();
    pieces::add_offset_derivative(&mut H, &R, 2, multipliers[0]);
    for k in 0..2 {
        pieces::add_offset_derivative(&mut H, &R, k, forces[k]);
        pieces::add_dot_derivative(&mut H, &Vector3::z(), &pieces::parent_axis(&R, k), multipliers[1 + k]);
    }
    pieces::add_turn_derivative(&mut H, X, forces[2]);
    H
}
