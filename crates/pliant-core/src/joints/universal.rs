//! Universal: turns about x, then about the carried y. q = (α, β), X = Rx(α) Ry(β).
//!
//! S = (0; Ry(β)ᵀx, y) = (0; (cos β, 0, sin β), (0, 1, 0)). Rows: the origins coincide (3) and the
//! child's y is square to the parent's x (1 dot row).

use nalgebra::{Matrix6, Vector3, Vector6};

use super::{nearest_turn, rows as pieces};
use crate::spatial::{Pose, skew};

/// Number of freedoms.
pub const FREEDOMS: usize = 2;

/// X(q).
#[inline]
pub fn transform(q: &[f64]) -> Pose {
    Pose::rotation([1.0, 0.0, 0.0], q[0]) * Pose::rotation([0.0, 1.0, 0.0], q[1])
}

/// S(q).
#[inline]
pub fn subspace(q: &[f64]) -> Matrix6<f64> {
    let mut S = Matrix6::zeros();
    let (s, c) = q[1].sin_cos();
    S[(3, 0)] = c;
    S[(5, 0)] = s;
    S[(4, 1)] = 1.0;
    S
}

/// Ṡ(q, q̇).
#[inline]
pub fn subspace_rate(q: &[f64], rate: &[f64]) -> Matrix6<f64> {
    let mut S = Matrix6::zeros();
    let (s, c) = q[1].sin_cos();
    S[(3, 0)] = -s * rate[1];
    S[(5, 0)] = c * rate[1];
    S
}

/// θ(X): α from the child's y in the parent, (0, cos α, sin α), and β from the parent's x in the
/// child, (cos β, 0, sin β).
#[inline]
pub fn coordinates(X: &Pose, reference: &[f64]) -> Vector6<f64> {
    let R = X.rotation_matrix();
    let a = R[(2, 1)].atan2(R[(1, 1)]);
    let b = R[(0, 2)].atan2(R[(0, 0)]);
    pieces::vector([nearest_turn(a, reference[0]), nearest_turn(b, reference[1])])
}

/// Jθ(X): with Ṙ_ij = ω·(e_j × R_i), R_i row i of R as a vector, the rate of atan2(s, c) is
/// (c ṡ − s ċ)/(s² + c²).
#[inline]
pub fn coordinates_jacobian(X: &Pose, _q: &[f64]) -> Matrix6<f64> {
    let R = X.rotation_matrix();
    let rate = |i: usize, j: usize| Vector3::ith(j, 1.0).cross(&pieces::parent_axis(&R, i));
    let angle = |s: (usize, usize), c: (usize, usize)| {
        (rate(s.0, s.1) * R[c] - rate(c.0, c.1) * R[s]) / (R[s] * R[s] + R[c] * R[c])
    };
    let mut J = Matrix6::zeros();
    pieces::set(&mut J, 0, Vector3::zeros(), angle((2, 1), (1, 1)));
    pieces::set(&mut J, 1, Vector3::zeros(), angle((0, 2), (0, 0)));
    J
}

/// C(X).
#[inline]
pub fn residual(X: &Pose) -> Vector6<f64> {
    let p = &X.position;
    pieces::vector([p.x, p.y, p.z, X.rotation_matrix()[(0, 1)]])
}

/// J(X).
#[inline]
pub fn rows(X: &Pose) -> Matrix6<f64> {
    let R = X.rotation_matrix();
    let mut J = pieces::offset_rows::<3>(&R);
    pieces::set(&mut J, 3, Vector3::zeros(), Vector3::y().cross(&pieces::parent_axis(&R, 0)));
    J
}

/// ∂(Jᵀλ + Jθᵀτ)/∂ξ.
#[inline]
pub fn wrench_derivative(X: &Pose, _q: &[f64], multipliers: &[f64], forces: &[f64]) -> Matrix6<f64> {
    let R = X.rotation_matrix();
    let u: [Vector3<f64>; 3] = std::array::from_fn(|k| pieces::parent_axis(&R, k));
    let mut H = pieces::offset_derivatives::<3>(&R, multipliers);
    pieces::add_dot_derivative(&mut H, &Vector3::y(), &u[0], multipliers[3]);
    // The rate of an angle is n/D with n = c ∂s − s ∂c, D = s² + c², where ∂R_ij = e_j × R_i.
    let mut add_angle = |s: (usize, usize), c: (usize, usize), torque: f64| {
        let (es, ec) = (Vector3::ith(s.1, 1.0), Vector3::ith(c.1, 1.0));
        let (ds, dc) = (es.cross(&u[s.0]), ec.cross(&u[c.0]));
        let D = R[s] * R[s] + R[c] * R[c];
        let n = ds * R[c] - dc * R[s];
        let dn = skew(&es) * skew(&u[s.0]) * R[c] - skew(&ec) * skew(&u[c.0]) * R[s] + ds * dc.transpose()
            - dc * ds.transpose();
        let dD = (ds * R[s] + dc * R[c]) * 2.0;
        pieces::add(&mut H, 3, 3, (dn - n * dD.transpose() / D) * (torque / D));
    };
    add_angle((2, 1), (1, 1), forces[0]);
    add_angle((0, 2), (0, 0), forces[1]);
    H
}
