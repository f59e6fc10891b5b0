//! Ball: turns about any axis. q = φ, the rotation vector of the child frame in the parent's, X = exp(φ).
//!
//! S = (0; Jr(φ)). Rows: the origins coincide (3).

use nalgebra::{Matrix3, Matrix6, Vector3, Vector6};

use super::{nearest_rotation_vector, rows as pieces};
use crate::spatial::{
    Pose, exp_rotation, log_rotation, right_jacobian_rotation, right_jacobian_rotation_inverse, skew,
};

/// Number of freedoms.
pub const FREEDOMS: usize = 3;

/// X(q).
#[inline]
pub fn transform(q: &[f64]) -> Pose {
    Pose { rotation: exp_rotation(&Vector3::new(q[0], q[1], q[2])), position: Vector3::zeros() }
}

/// S(q).
#[inline]
pub fn subspace(q: &[f64]) -> Matrix6<f64> {
    let mut S = Matrix6::zeros();
    let Jr = right_jacobian_rotation(&Vector3::new(q[0], q[1], q[2]));
    S.fixed_view_mut::<3, 3>(3, 0).copy_from(&Jr);
    S
}

/// d/dt Jr(φ) while φ moves with φ̇.
///
/// With a = (1−cos θ)/θ², b = (θ−sin θ)/θ³ and σ = φ·φ̇: Jr = I − a\[φ\] + b\[φ\]², ȧ = a′σ, ḃ = b′σ, where
/// a′ = (1/θ) da/dθ = (1 − θ²b − 2a)/θ² and b′ = (1/θ) db/dθ = (a − 3b)/θ².
pub(super) fn right_jacobian_rate(r: &Vector3<f64>, rate: &Vector3<f64>) -> Matrix3<f64> {
    let t2 = r.norm_squared();
    let (a, b, da, db);
    if t2 < 0.1 {
        // Series of a = Σ(−1)^k θ^2k/(2k+2)!, b = Σ(−1)^k θ^2k/(2k+3)! and of their slopes; at θ² = 0.1 the
        // first terms left out are below 1e-17.
        a = 0.5 - t2 / 24.0 * (1.0 - t2 / 30.0 * (1.0 - t2 / 56.0 * (1.0 - t2 / 90.0 * (1.0 - t2 / 132.0))));
        b = 1.0 / 6.0
            * (1.0
                - t2 / 20.0
                    * (1.0 - t2 / 42.0 * (1.0 - t2 / 72.0 * (1.0 - t2 / 110.0 * (1.0 - t2 / 156.0)))));
        da = -1.0 / 12.0
            + t2 * (1.0 / 180.0
                - t2 * (1.0 / 6_720.0
                    - t2 * (1.0 / 453_600.0 - t2 * (1.0 / 47_900_160.0 - t2 / 7_264_857_600.0))));
        db = -1.0 / 60.0
            + t2 * (1.0 / 1_260.0
                - t2 * (1.0 / 60_480.0
                    - t2 * (1.0 / 4_989_600.0 - t2 * (1.0 / 622_702_080.0 - t2 / 108_972_864_000.0))));
    } else {
        let t = t2.sqrt();
        a = (1.0 - t.cos()) / t2;
        b = (t - t.sin()) / (t2 * t);
        da = (1.0 - t2 * b - 2.0 * a) / t2;
        db = (a - 3.0 * b) / t2;
    }
    let s = r.dot(rate);
    let (W, D) = (skew(r), skew(rate));
    -D * a - W * (da * s) + (D * W + W * D) * b + W * W * (db * s)
}

/// Ṡ(q, q̇).
#[inline]
pub fn subspace_rate(q: &[f64], rate: &[f64]) -> Matrix6<f64> {
    let mut S = Matrix6::zeros();
    let D = right_jacobian_rate(&Vector3::new(q[0], q[1], q[2]), &Vector3::new(rate[0], rate[1], rate[2]));
    S.fixed_view_mut::<3, 3>(3, 0).copy_from(&D);
    S
}

/// θ(X).
#[inline]
pub fn coordinates(X: &Pose, reference: &[f64]) -> Vector6<f64> {
    let r = nearest_rotation_vector(log_rotation(&X.rotation), reference);
    pieces::vector([r.x, r.y, r.z])
}

/// Jθ(X): φ̇ = Jr(φ)⁻¹ ω.
#[inline]
pub fn coordinates_jacobian(_X: &Pose, q: &[f64]) -> Matrix6<f64> {
    let mut J = Matrix6::zeros();
    let B = right_jacobian_rotation_inverse(&Vector3::new(q[0], q[1], q[2]));
    J.fixed_view_mut::<3, 3>(0, 3).copy_from(&B);
    J
}

/// C(X).
#[inline]
pub fn residual(X: &Pose) -> Vector6<f64> {
    let p = &X.position;
    pieces::vector([p.x, p.y, p.z])
}

/// J(X).
#[inline]
pub fn rows(X: &Pose) -> Matrix6<f64> {
    let mut J = Matrix6::zeros();
    J.fixed_view_mut::<3, 3>(0, 0).copy_from(&X.rotation_matrix());
    J
}

/// ∂(Jᵀλ + Jθᵀτ)/∂ξ.
#[inline]
pub fn wrench_derivative(X: &Pose, q: &[f64], multipliers: &[f64], forces: &[f64]) -> Matrix6<f64> {
    let R = X.rotation_matrix();
    let mut H = pieces::offset_derivatives::<3>(&R, multipliers);
    pieces::add(&mut H, 3, 3, torque_derivative(q, forces));
    H
}

/// The derivative of the torque Jr(φ)⁻ᵀ τ = τ − ½ φ×τ + g φ×(φ×τ), g = (1 − (θ/2)cot(θ/2))/θ², for a
/// turn ω of the child, φ̇ = Jr(φ)⁻¹ ω.
pub(super) fn torque_derivative(q: &[f64], torque: &[f64]) -> Matrix3<f64> {
    let r = Vector3::new(q[0], q[1], q[2]);
    let t = Vector3::new(torque[0], torque[1], torque[2]);
    let t2 = r.norm_squared();
    let (g, slope); // g and dg/d(θ²)
    if t2 < 0.25 {
        // g = Σ |B_2k| θ^(2k−2)/(2k)!; the first terms left out are below 1e-16 of the first.
        g = 1.0 / 12.0
            + t2 * (1.0 / 720.0
                + t2 * (1.0 / 30_240.0
                    + t2 * (1.0 / 1_209_600.0
                        + t2 * (1.0 / 47_900_160.0 + t2 * (691.0 / 1_307_674_368_000.0)))));
        slope = 1.0 / 720.0
            + t2 * (1.0 / 15_120.0
                + t2 * (1.0 / 403_200.0
                    + t2 * (1.0 / 11_975_040.0
                        + t2 * (3_455.0 / 1_307_674_368_000.0 + t2 * (6.0 / 74_724_249_600.0)))));
    } else {
        let h = 0.5 * t2.sqrt();
        let (s, c) = h.sin_cos();
        g = (1.0 - h * c / s) / t2;
        // d/dh (h cot h) = cot h − h/sin²h, and dh/d(θ²) = 1/(8h).
        slope = -((c / s - h / (s * s)) / (8.0 * h) + g) / t2;
    }
    let (W, T) = (skew(&r), skew(&t));
    let WT = skew(&r.cross(&t));
    let wwt = r.cross(&r.cross(&t));
    let D = T * 0.5 - (WT + W * T) * g + wwt * r.transpose() * (2.0 * slope);
    D * right_jacobian_rotation_inverse(&r)
}
