//! Expression: moves as a formula says. X(q), S and Ṡ come from its tapes.
//!
//! Off the manifold, with e = log(X(q)⁻¹X) and W = diag(1/ℓ², 1), ℓ the joint's own length, the coordinates
//! are those for which what is left does no work along the freedoms:
//!
//! F(q, X) = SᵀW e = 0.
//!
//! They follow X by the theorem of implicit functions; with ė = Jr(e)⁻¹ξ − Jl(e)⁻¹S q̇ (`tests/common/default_residual.rs`)
//!
//! A = −∂F/∂q = SᵀW Jl⁻¹S − \[(∂S_i/∂q_j)ᵀ W e\]_ij,   Jθ = A⁻¹ SᵀW Jr⁻¹.
//!
//! Rows: C = Nᵀe with N(q) the orthonormal complement of S(q) of `expression/complement.rs`, and
//!
//! J = Nᵀ(Jr⁻¹ − Jl⁻¹ S Jθ) + Σ_k (∂N/∂q_k)ᵀe Jθ_k,
//!
//! which on the manifold is Nᵀ. Angles are not counted in turns: the search for q starts at the reference.

use nalgebra::{Matrix6, Vector6};

use super::Placement;
use crate::expression::Expression;
use crate::spatial::{Pose, Twist, exp, left_jacobian_inverse, log, right_jacobian_inverse};

/// Newton steps before the coordinates count as lost.
const STEPS: usize = 50;
/// Newton's steps square the error: after one below this, nothing is left but rounding.
const CLOSE: f64 = 1e-9;
/// Below this, what depends on e to first order is lost in rounding.
const NOTHING: f64 = 1e-15;
/// The step of central differences, rad and own lengths: off by 1.5e-12 of the third derivative, and about
/// 1e-10 by rounding.
const STEP: f64 = 3e-6;

/// θ(X): NaN where the search does not end, which is where S loses rank or X is far from the manifold.
pub fn coordinates(joint: &Expression, X: &Pose, reference: &[f64]) -> Vector6<f64> {
    let d = joint.freedoms();
    let mut q = Vector6::zeros();
    q.as_mut_slice()[..d].copy_from_slice(reference);
    for step in 0..STEPS {
        let at = At::new(joint, X, &q.as_slice()[..d]);
        // Far away the curvature of the manifold would lead astray: first by Gauss and Newton.
        let curved = step >= 3 || at.size <= 0.1;
        let at = if curved { at.with_curvature(joint) } else { at };
        let Some(change) = at.solve(d, &padded_rows(&at.pulled(&at.e))) else { break };
        let mut change: Vector6<f64> = change.column(0).into_owned();
        let moved = at.size_of(&(at.S * change));
        if !moved.is_finite() {
            break;
        }
        if moved > 0.5 {
            change *= 0.5 / moved;
        }
        q += change;
        if curved && moved <= CLOSE {
            if joint.dependent_column(&at.S).is_some() {
                break;
            }
            return q;
        }
    }
    Vector6::from_fn(|k, _| if k < d { f64::NAN } else { 0.0 })
}

/// Jθ(X).
pub fn coordinates_jacobian(joint: &Expression, X: &Pose, q: &[f64]) -> Matrix6<f64> {
    At::new(joint, X, q).with_curvature(joint).coordinates_jacobian(joint)
}

/// C(X).
pub fn residual(joint: &Expression, X: &Pose, q: &[f64]) -> Vector6<f64> {
    let at = At::new(joint, X, q);
    joint.across(&at.S, &at.e)
}

/// J(X).
pub fn rows(joint: &Expression, X: &Pose, q: &[f64]) -> Matrix6<f64> {
    let at = At::new(joint, X, q).with_curvature(joint);
    let T = at.coordinates_jacobian(joint);
    at.rows(joint, &T)
}

/// θ(X), C(X), J(X) and Jθ(X).
pub fn place(joint: &Expression, X: &Pose, reference: &[f64]) -> Placement {
    let q = coordinates(joint, X, reference);
    let at = At::new(joint, X, &q.as_slice()[..joint.freedoms()]).with_curvature(joint);
    let T = at.coordinates_jacobian(joint);
    Placement {
        coordinates: q,
        residual: joint.across(&at.S, &at.e),
        rows: at.rows(joint, &T),
        coordinates_jacobian: T,
    }
}

/// λ of a wrench w = Jᵀλ + Jθᵀτ on the manifold, where J = Nᵀ and Jθ = (SᵀWS)⁻¹SᵀW: τ is Sᵀw, and
///
/// λ = Nᵀ(w − W S (SᵀWS)⁻¹ Sᵀw).
pub fn multipliers(joint: &Expression, S: &Matrix6<f64>, w: &Vector6<f64>) -> Vector6<f64> {
    let WS = Matrix6::from_diagonal(&weights(joint)) * S;
    let mut A = S.transpose() * WS;
    (joint.freedoms()..6).for_each(|k| A[(k, k)] = 1.0);
    let along = A.cholesky().map_or(Vector6::repeat(f64::NAN), |A| A.solve(&(S.transpose() * w)));
    joint.across(S, &(w - WS * along))
}

/// The diagonal of W.
fn weights(joint: &Expression) -> Vector6<f64> {
    let w = joint.own_length().powi(-2);
    Vector6::new(w, w, w, 1.0, 1.0, 1.0)
}

/// ∂(Jᵀλ + Jθᵀτ)/∂ξ by central differences, about 1e-10 off.
pub fn wrench_derivative(
    joint: &Expression,
    X: &Pose,
    q: &[f64],
    multipliers: &[f64],
    forces: &[f64],
) -> Matrix6<f64> {
    let d = joint.freedoms();
    let T = coordinates_jacobian(joint, X, q);
    let wrench = |step: Vector6<f64>| {
        // Newton's search starts where Jθ leads, and ends at once.
        let mut near = T * step;
        (0..d).for_each(|k| near[k] += q[k]);
        let moved = *X * exp(&Twist::from_vector(&step));
        let Placement { rows: J, coordinates_jacobian: T, .. } = place(joint, &moved, &near.as_slice()[..d]);
        let part = |M: &Matrix6<f64>, x: &[f64]| {
            x.iter().enumerate().fold(Vector6::zeros(), |sum, (k, x)| sum + M.row(k).transpose() * *x)
        };
        part(&J, multipliers) + part(&T, forces)
    };
    let mut H = Matrix6::zeros();
    for k in 0..6 {
        let h = if k < 3 { STEP * joint.own_length() } else { STEP };
        let step = Vector6::ith(k, h);
        H.set_column(k, &((wrench(step) - wrench(-step)) / (2.0 * h)));
    }
    H
}

/// What all answers at a relative pose and coordinates share.
struct At {
    /// q, the first d of six.
    q: Vector6<f64>,
    S: Matrix6<f64>,
    /// e, its size in W and the diagonal of W.
    e: Vector6<f64>,
    size: f64,
    W: Vector6<f64>,
    Jl: Matrix6<f64>,
    Jr: Matrix6<f64>,
    /// ∂S/∂q_k, as far as they count: not at all on the manifold.
    changes: [Matrix6<f64>; 6],
    curved: usize,
}

impl At {
    fn new(joint: &Expression, X: &Pose, q: &[f64]) -> At {
        let (Xq, S) = joint.transform_and_subspace(q);
        let e = log(&Xq.inverse_times(X));
        let mut padded = Vector6::zeros();
        padded.as_mut_slice()[..q.len()].copy_from_slice(q);
        let mut at = At {
            q: padded,
            S,
            e: e.to_vector(),
            size: 0.0,
            W: weights(joint),
            Jl: left_jacobian_inverse(&e),
            Jr: right_jacobian_inverse(&e),
            changes: [Matrix6::zeros(); 6],
            curved: 0,
        };
        at.size = at.size_of(&at.e);
        at
    }

    /// √(xᵀW x)
    fn size_of(&self, x: &Vector6<f64>) -> f64 {
        x.component_mul(&self.W).dot(x).sqrt()
    }

    /// SᵀW x
    fn pulled(&self, x: &Vector6<f64>) -> Vector6<f64> {
        self.S.transpose() * x.component_mul(&self.W)
    }

    /// With what comes from the curvature of the manifold.
    fn with_curvature(mut self, joint: &Expression) -> At {
        if self.size > NOTHING {
            self.curved = joint.freedoms();
            self.changes = joint.subspace_derivatives(&self.q.as_slice()[..self.curved]);
        }
        self
    }

    /// A⁻¹ B.
    fn solve(&self, d: usize, B: &Matrix6<f64>) -> Option<Matrix6<f64>> {
        let weighted = Matrix6::from_diagonal(&self.W) * self.Jl * self.S;
        let mut A = self.S.transpose() * weighted;
        let e = self.e.component_mul(&self.W);
        for (k, change) in self.changes[..self.curved].iter().enumerate() {
            let column = A.column(k) - change.transpose() * e;
            A.set_column(k, &column);
        }
        (d..6).for_each(|k| A[(k, k)] = 1.0);
        A.lu().solve(B)
    }

    /// Jθ, NaN where A is singular.
    fn coordinates_jacobian(&self, joint: &Expression) -> Matrix6<f64> {
        let B = self.S.transpose() * Matrix6::from_diagonal(&self.W) * self.Jr;
        let d = joint.freedoms();
        self.solve(d, &B).unwrap_or_else(|| Matrix6::from_fn(|i, _| if i < d { f64::NAN } else { 0.0 }))
    }

    /// J from Jθ.
    fn rows(&self, joint: &Expression, T: &Matrix6<f64>) -> Matrix6<f64> {
        let mut J = joint.complement(&self.S).transpose() * (self.Jr - self.Jl * self.S * T);
        for (k, rate) in self.changes[..self.curved].iter().enumerate() {
            J += joint.complement_rate(&self.S, rate).transpose() * self.e * T.row(k);
        }
        J
    }
}

/// A vector as the first column of a matrix.
fn padded_rows(x: &Vector6<f64>) -> Matrix6<f64> {
    let mut B = Matrix6::zeros();
    B.set_column(0, x);
    B
}
