//! Pieces that several joints' rows and coordinates are made of.
//!
//! X = (R, p) is the child's joint frame in the parent's and ξ = (v, ω) its body twist:
//! ṗ = R v, Ṙ = R \[ω\]×, and for the quaternion (w, u): ẇ = −½ u·ω, u̇ = ½ (w ω + u×ω).

use nalgebra::{Matrix3, Matrix6, Vector3, Vector6};

use crate::spatial::{Pose, skew};

/// Writes row `i` with linear part `v` and angular part `w`.
#[inline]
pub(super) fn set(J: &mut Matrix6<f64>, i: usize, v: Vector3<f64>, w: Vector3<f64>) {
    for k in 0..3 {
        J[(i, k)] = v[k];
        J[(i, 3 + k)] = w[k];
    }
}

/// Row `k` of R as a vector: the parent's axis k in child axes.
#[inline]
pub(super) fn parent_axis(R: &Matrix3<f64>, k: usize) -> Vector3<f64> {
    R.row(k).transpose()
}

/// Rows that hold the first N offsets along the parent's axes.
#[inline]
pub(super) fn offset_rows<const N: usize>(R: &Matrix3<f64>) -> Matrix6<f64> {
    let mut J = Matrix6::zeros();
    for k in 0..N {
        set(&mut J, k, parent_axis(R, k), Vector3::zeros());
    }
    J
}

/// Residual of the two dot rows that keep the child's z along the parent's: z_c·x_p and z_c·y_p.
#[inline]
pub(super) fn dots(R: &Matrix3<f64>) -> [f64; 2] {
    [R[(0, 2)], R[(1, 2)]]
}

/// Angular part of the dot row of parent axis k: d/dt (R e_z)_k = (R (ω×e_z))_k = ω·(e_z × R_k).
#[inline]
pub(super) fn dot_row(R: &Matrix3<f64>, k: usize) -> Vector3<f64> {
    Vector3::z().cross(&parent_axis(R, k))
}

/// Residual of three rotation rows: twice the vector part of the quaternion with w ≥ 0. Zero at the
/// identity only, where the dots of three axis pairs vanish at half turns too.
#[inline]
pub(super) fn rotation(X: &Pose) -> Vector3<f64> {
    X.rotation.imag() * if X.rotation.w < 0.0 { -2.0 } else { 2.0 }
}

/// Angular part of the three rotation rows: 2u̇ = (w I + \[u\]×) ω.
#[inline]
pub(super) fn rotation_rows(X: &Pose) -> Matrix3<f64> {
    let sign = if X.rotation.w < 0.0 { -1.0 } else { 1.0 };
    (Matrix3::identity() * X.rotation.w + skew(&X.rotation.imag())) * sign
}

/// The turn about z of any rotation, in (−2π, 2π]: twice the angle of (w, z), the twist of its
/// swing–twist decomposition.
#[inline]
pub(super) fn turn_about_z(X: &Pose) -> f64 {
    2.0 * X.rotation.k.atan2(X.rotation.w)
}

/// The rate of [`turn_about_z`]: φ̇ = ω_z + ((w x + z y) ω_y + (z x − w y) ω_x)/(w² + z²).
#[inline]
pub(super) fn turn_about_z_rate(X: &Pose) -> Vector3<f64> {
    let q = &X.rotation;
    let s = q.w * q.w + q.k * q.k;
    Vector3::new((q.k * q.i - q.w * q.j) / s, (q.w * q.i + q.k * q.j) / s, 1.0)
}

/// The first numbers of a 6-vector.
#[inline]
pub(super) fn vector<const N: usize>(x: [f64; N]) -> Vector6<f64> {
    let mut out = Vector6::zeros();
    out.as_mut_slice()[..N].copy_from_slice(&x);
    out
}

/// Adds the derivative of an offset row's force λ u, u the parent's axis k in child axes, u̇ = u×ω:
/// λ \[u\]× from angular to linear.
#[inline]
pub(super) fn add_offset_derivative(H: &mut Matrix6<f64>, R: &Matrix3<f64>, k: usize, force: f64) {
    add(H, 0, 3, skew(&parent_axis(R, k)) * force);
}

/// The derivative of the forces of [`offset_rows`].
#[inline]
pub(super) fn offset_derivatives<const N: usize>(R: &Matrix3<f64>, forces: &[f64]) -> Matrix6<f64> {
    let mut H = Matrix6::zeros();
    for k in 0..N {
        add_offset_derivative(&mut H, R, k, forces[k]);
    }
    H
}

/// Adds the derivative of the torque ν (e×u) of a dot row of the child axis e: ν \[e\]×\[u\]×.
#[inline]
pub(super) fn add_dot_derivative(H: &mut Matrix6<f64>, axis: &Vector3<f64>, u: &Vector3<f64>, torque: f64) {
    add(H, 3, 3, skew(axis) * skew(u) * torque);
}

/// Adds the derivative of the torque (w I + \[u\]×)ᵀ λ of the rotation rows:
/// −½ λ uᵀ + ½ \[λ\]× (w I + \[u\]×).
#[inline]
pub(super) fn add_rotation_derivative(H: &mut Matrix6<f64>, X: &Pose, torque: &Vector3<f64>) {
    let sign = if X.rotation.w < 0.0 { -1.0 } else { 1.0 };
    let u = X.rotation.imag();
    let D = -torque * u.transpose() + skew(torque) * (Matrix3::identity() * X.rotation.w + skew(&u));
    add(H, 3, 3, D * (0.5 * sign));
}

/// Adds the derivative of the torque τ φ̇(ω) of a turn about z. With s = w² + z² and the two
/// numerators n of the rate, ẋ = ½(w ω_x + y ω_z − z ω_y) and so on; on the manifold it is ½ τ \[z\]×.
#[inline]
pub(super) fn add_turn_derivative(H: &mut Matrix6<f64>, X: &Pose, torque: f64) {
    let q = &X.rotation;
    let (w, u) = (q.w, q.imag());
    // Rates of the quaternion's parts, as rows over ω.
    let dw = u * -0.5;
    let du = (Matrix3::identity() * w + skew(&u)) * 0.5;
    let row = |k: usize| du.row(k).transpose();
    let (x, y, z) = (u.x, u.y, u.z);
    let s = w * w + z * z;
    let ds = (dw * w + row(2) * z) * 2.0;
    let n = [z * x - w * y, w * x + z * y];
    let dn = [row(2) * x + row(0) * z - dw * y - row(1) * w, dw * x + row(0) * w + row(2) * y + row(1) * z];
    for k in 0..2 {
        let d = (dn[k] - ds * (n[k] / s)) * (torque / s);
        for c in 0..3 {
            H[(3 + k, 3 + c)] += d[c];
        }
    }
}

/// Adds a 3×3 block.
#[inline]
pub(super) fn add(H: &mut Matrix6<f64>, row: usize, column: usize, block: Matrix3<f64>) {
    let mut view = H.fixed_view_mut::<3, 3>(row, column);
    view += block;
}
