//! The residual that every joint has, against which the rows of each kind are tested: e = log(X(q)⁻¹ X), six numbers, with the
//! coordinates q as an unknown next to the relative pose X.
//!
//! It needs X(q) and S(q) only. Moving X by a body twist ξ and q by δ:
//!
//! ė = Jr(e)⁻¹ ξ − Jl(e)⁻¹ S δ.

use pliant_core::joints::JointKind;
use pliant_core::nalgebra::Matrix6;
use pliant_core::spatial::{Pose, Twist, left_jacobian_inverse, log, right_jacobian_inverse};

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
