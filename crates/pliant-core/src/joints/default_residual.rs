//! The residual that every joint has: e = log(X(q)⁻¹ X), six numbers, with the coordinates q as an
//! unknown beside the relative pose X.
//!
//! It needs X(q) and S(q) only, so a joint given by a formula fits wherever the built-in ones do.
//! Moving X by a body twist ξ and q by δ:
//!
//! ė = Jr(e)⁻¹ ξ − Jl(e)⁻¹ S δ.

use nalgebra::Matrix6;

use super::JointKind;
use crate::spatial::{Pose, Twist, left_jacobian_inverse, log, right_jacobian_inverse};

/// e = log(X(q)⁻¹ X).
pub fn residual(kind: &JointKind, X: &Pose, q: &[f64]) -> Twist {
    log(&kind.transform(q).inverse_times(X))
}

/// ∂e/∂ξ = Jr(e)⁻¹, 6×6, for a body twist ξ of the child frame.
pub fn rows(e: &Twist) -> Matrix6<f64> {
    right_jacobian_inverse(e)
}

/// ∂e/∂q = −Jl(e)⁻¹ S(q), 6×d.
pub fn coordinate_columns(kind: &JointKind, e: &Twist, q: &[f64]) -> Matrix6<f64> {
    -(left_jacobian_inverse(e) * kind.subspace(q))
}
