//! One body on several branches that share their beginning: how they divide a wrench on it, and how it moves.
//!
//! Andrews 2015, eqs 13–17, for any number of branches and without inverting a compliance. With the wrenches w_i
//! that the branches carry below each other in W, motion of their ends relative to the dominator is
//!
//! ```text
//! E ξ = F Fᵀ W + P φ,   Pᵀ W = 0,   Eᵀ W = w
//! ```
//!
//! F the square roots of compliance of all joints on the way, P the motions of their passive freedoms, φ what these
//! do, and E unit matrices below each other: all ends move as one. A joint that several branches share has the
//! same column in each, which is eq. 12, C_ij = Ad(i,k) C_kk Ad(j,k)ᵀ, k the last they share. W minimises ½|FᵀW|²
//! among what passive freedoms allow and what adds up to w, and motions that no W holds stay passive.
//!
//! (Eqs 13–14 invert C_ii. That of a hinge has rank one, and its pseudo-inverse makes what is rigid soft. Here
//! pseudo-inverses meet consistent right-hand sides only. Working with F instead of C squares the range
//! of stiffness that rounding leaves.)

use nalgebra::DMatrix;

use crate::algebra::dense::orthogonal::Orthogonal;

/// What counts as zero among directions of passive freedoms, of length one with lengths in radii: rounding and
/// what positions in a file are rounded to stay below.
const PARALLEL: f64 = 1e-10;

/// What counts as zero among square roots of compliance, relative to the largest: above the rounding of sums
/// along the branches.
const RIGID: f64 = 1e-12;

/// A body on several branches.
pub(super) struct Merge {
    /// W = shares · w, branch below branch.
    pub shares: DMatrix<f64>,
    /// As of a joint from the dominator to the body: F Fᵀ, and motions that remain passive.
    pub F: DMatrix<f64>,
    pub P: DMatrix<f64>,
    /// F of all branches, and the passive motions of all decomposed, for φ.
    branches: DMatrix<f64>,
    passive: Orthogonal,
}

impl Merge {
    /// Of F and P, branch below branch.
    pub fn new(branches: DMatrix<f64>, P: &DMatrix<f64>) -> Merge {
        let size = branches.nrows();
        let E = DMatrix::from_fn(size, 6, |i, k| f64::from(i % 6 == k));
        // W = Z y, so that Pᵀ W = 0.
        let passive = Orthogonal::new(&P.transpose(), PARALLEL * largest_column(&P.transpose()).max(1.0));
        let Z = passive.null();
        // G y = w, G = EᵀZ: y = G⁺w + N u. What G does not reach is not held.
        let G = E.tr_mul(&Z);
        let sum = Orthogonal::new(&G, PARALLEL);
        let N = sum.null();
        let held = sum.pseudo_inverse(&DMatrix::identity(6, 6));
        // Least |A y|, A = FᵀZ: u = −(A N)⁺ A G⁺ w.
        let A = branches.tr_mul(&Z);
        let AN = &A * &N;
        let u = Orthogonal::new(&AN, RIGID * largest_column(&A)).pseudo_inverse(&(&A * &held));
        let y = held - N * u;
        let root = &A * &y;
        // C of the merge = yᵀAᵀA y.
        let F = Orthogonal::new(&root, 0.0).square_root();
        let P = Orthogonal::new(&G.transpose(), PARALLEL).null();
        Merge { shares: Z * y, F, P, branches, passive }
    }

    /// φ = P⁺(E ξ − F Fᵀ W): what the passive freedoms do, given W and the motion ξ of the body, in columns.
    pub fn passive_motions(&self, W: &DMatrix<f64>, xi: &DMatrix<f64>) -> DMatrix<f64> {
        let strained = &self.branches * self.branches.tr_mul(W);
        let left = DMatrix::from_fn(W.nrows(), W.ncols(), |i, k| xi[(i % 6, k)] - strained[(i, k)]);
        self.passive.transposed_pseudo_inverse(&left)
    }
}

fn largest_column(A: &DMatrix<f64>) -> f64 {
    A.column_iter().map(|c| c.norm()).fold(0.0, f64::max)
}
