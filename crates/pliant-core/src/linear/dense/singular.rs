//! Singular values by rotations (one-sided Jacobi: Hestenes 1958), for matrices of few columns: small singular
//! values come out as accurately as large ones, and what is zero comes out as rounding.

use nalgebra::DMatrix;

use super::eigen::{rotate, rotation};

/// Sweeps at most; convergence is quadratic, and six are usual.
const SWEEPS: usize = 30;

/// Cosine of the angle at which two columns count as orthogonal.
const ORTHOGONAL: f64 = 1e-15;

/// A = B Vᵀ, the columns of B orthogonal and V a rotation.
pub(crate) struct Jacobi {
    B: DMatrix<f64>,
    V: DMatrix<f64>,
    /// Which columns of B are not zero.
    kept: Vec<usize>,
    zero: Vec<usize>,
}

impl Jacobi {
    /// Decomposes A; singular values up to `tolerance` count as zero.
    pub fn new(A: &DMatrix<f64>, tolerance: f64) -> Jacobi {
        let (mut B, n) = (A.clone(), A.ncols());
        let mut V = DMatrix::identity(n, n);
        for _ in 0..SWEEPS {
            let mut turned = false;
            for p in 0..n {
                for q in p + 1..n {
                    let (a, b) = (B.column(p).norm_squared(), B.column(q).norm_squared());
                    let c = B.column(p).dot(&B.column(q));
                    if c == 0.0 || c.abs() <= ORTHOGONAL * (a * b).sqrt() {
                        continue;
                    }
                    turned = true;
                    // That which makes BᵀB diagonal.
                    let turn = rotation(a, b, c);
                    for M in [&mut B, &mut V] {
                        let rows = M.nrows();
                        (0..rows).for_each(|i| rotate(M.as_mut_slice(), p * rows + i, q * rows + i, turn));
                    }
                }
            }
            if !turned {
                break;
            }
        }
        let (kept, zero) = (0..n).partition(|&k| B.column(k).norm() > tolerance);
        Jacobi { B, V, kept, zero }
    }

    /// An orthonormal basis of what A maps to zero.
    pub fn null(&self) -> DMatrix<f64> {
        self.V.select_columns(&self.zero)
    }

    /// A⁺ X.
    pub fn pseudo_inverse(&self, X: &DMatrix<f64>) -> DMatrix<f64> {
        let (B, V) = (self.B.select_columns(&self.kept), self.V.select_columns(&self.kept));
        V * over_squares(&B, B.tr_mul(X))
    }

    /// (Aᵀ)⁺ X.
    pub fn transposed_pseudo_inverse(&self, X: &DMatrix<f64>) -> DMatrix<f64> {
        let (B, V) = (self.B.select_columns(&self.kept), self.V.select_columns(&self.kept));
        let scaled = over_squares(&B, V.tr_mul(X));
        B * scaled
    }

    /// V Σ, for which V Σ² Vᵀ = Aᵀ A.
    pub fn square_root(&self) -> DMatrix<f64> {
        let mut F = self.V.select_columns(&self.kept);
        for (mut column, &k) in F.column_iter_mut().zip(&self.kept) {
            column *= self.B.column(k).norm();
        }
        F
    }
}

/// Σ⁻² X, Σ² the squares of the columns of B.
fn over_squares(B: &DMatrix<f64>, mut X: DMatrix<f64>) -> DMatrix<f64> {
    X.row_iter_mut().zip(B.column_iter()).for_each(|(mut x, b)| x /= b.norm_squared());
    X
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A matrix of rank 3, wide and tall, with singular values over ten decades.
    fn matrix(rows: usize, columns: usize) -> DMatrix<f64> {
        let wave = |a: f64, i: usize, k: usize| (1.0 + a * i as f64 + (i * k) as f64).sin();
        let L = DMatrix::from_fn(rows, 3, |i, k| wave(1.3, i, k) * 10f64.powi(-5 * k as i32));
        L * DMatrix::from_fn(3, columns, |k, i| wave(0.7, i, k))
    }

    #[test]
    fn finds_rank_null_space_and_pseudo_inverse() {
        for (rows, columns) in [(4, 9), (9, 4), (3, 3)] {
            let A = matrix(rows, columns);
            let jacobi = Jacobi::new(&A, 1e-14 * A.norm());
            let N = jacobi.null();
            assert_eq!(N.ncols(), columns - 3);
            // Rounding of the product alone.
            assert!((&A * &N).amax() < 1e-14);
            assert!((N.tr_mul(&N) - DMatrix::identity(N.ncols(), N.ncols())).amax() < 1e-14);
            // Penrose: A A⁺ A = A, to rounding of A whatever its condition.
            assert!((&A * jacobi.pseudo_inverse(&A) - &A).amax() < 1e-14 * A.norm());
            let inverse = jacobi.pseudo_inverse(&DMatrix::identity(rows, rows));
            let other = jacobi.transposed_pseudo_inverse(&DMatrix::identity(columns, columns));
            assert_eq!(inverse.shape(), (columns, rows));
            assert!((inverse.transpose() - other).amax() < 1e-13 * inverse.norm());
            let F = jacobi.square_root();
            assert!((&F * F.transpose() - A.tr_mul(&A)).amax() < 1e-13 * A.norm_squared());
        }
    }
}
