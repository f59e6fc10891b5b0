//! Complete orthogonal decomposition with a tolerance: rank, null space and pseudo-inverse by two QR decompositions. Pivoted,
//! they keep small columns next to large ones, which singular values by bidiagonalisation lose in rounding.

use nalgebra::DMatrix;

/// A = Q Rᵀ Vᵀ, Q and V of orthonormal columns, R upper triangular and as large as the rank.
pub(crate) struct Orthogonal {
    Q: DMatrix<f64>,
    R: DMatrix<f64>,
    V: DMatrix<f64>,
    /// The rest of an orthonormal basis that begins with V.
    null: DMatrix<f64>,
}

impl Orthogonal {
    /// Decomposes A; what is left of its columns below `tolerance` counts as zero.
    pub fn new(A: &DMatrix<f64>, tolerance: f64) -> Orthogonal {
        let (rows, columns) = A.shape();
        if rows == 0 || columns == 0 {
            let null = DMatrix::identity(columns, columns);
            return Orthogonal {
                Q: DMatrix::zeros(rows, 0),
                R: DMatrix::zeros(0, 0),
                V: DMatrix::zeros(columns, 0),
                null,
            };
        }
        // A P = Q [R₁; 0] with the largest remaining column first.
        let pivoted = A.clone().col_piv_qr();
        let mut R1 = pivoted.r();
        let rank = (0..R1.nrows()).take_while(|&k| R1[(k, k)].abs() > tolerance).count();
        pivoted.p().inv_permute_columns(&mut R1);
        // (R₁ Pᵀ)ᵀ = V R; with zeros behind, the rest of the basis comes out, too.
        let mut wide = DMatrix::zeros(columns, columns);
        wide.columns_mut(0, rank).copy_from(&R1.rows(0, rank).transpose());
        let qr = wide.qr();
        let (V, R) = (qr.q(), qr.r());
        Orthogonal {
            Q: pivoted.q().columns(0, rank).into_owned(),
            R: R.view((0, 0), (rank, rank)).into_owned(),
            null: V.columns_range(rank..).into_owned(),
            V: V.columns(0, rank).into_owned(),
        }
    }

    /// An orthonormal basis of what A maps to zero.
    pub fn null(&self) -> DMatrix<f64> {
        self.null.clone()
    }

    /// A⁺ X = V R⁻ᵀ Qᵀ X.
    pub fn pseudo_inverse(&self, X: &DMatrix<f64>) -> DMatrix<f64> {
        let mut y = self.Q.tr_mul(X);
        self.R.tr_solve_upper_triangular_mut(&mut y);
        &self.V * y
    }

    /// (Aᵀ)⁺ X = Q R⁻¹ Vᵀ X.
    pub fn transposed_pseudo_inverse(&self, X: &DMatrix<f64>) -> DMatrix<f64> {
        let mut y = self.V.tr_mul(X);
        self.R.solve_upper_triangular_mut(&mut y);
        &self.Q * y
    }

    /// V R, for which V R Rᵀ Vᵀ = Aᵀ A.
    pub fn square_root(&self) -> DMatrix<f64> {
        &self.V * &self.R
    }
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
            let decomposed = Orthogonal::new(&A, 1e-14 * A.norm());
            let N = decomposed.null();
            assert_eq!(N.ncols(), columns - 3);
            // Rounding of the product alone.
            assert!((&A * &N).amax() < 1e-14);
            assert!((N.tr_mul(&N) - DMatrix::identity(N.ncols(), N.ncols())).amax() < 1e-14);
            // Penrose: A A⁺ A = A, to rounding of A whatever its condition.
            assert!((&A * decomposed.pseudo_inverse(&A) - &A).amax() < 1e-14 * A.norm());
            let inverse = decomposed.pseudo_inverse(&DMatrix::identity(rows, rows));
            let other = decomposed.transposed_pseudo_inverse(&DMatrix::identity(columns, columns));
            assert_eq!(inverse.shape(), (columns, rows));
            assert!((inverse.transpose() - other).amax() < 1e-13 * inverse.norm());
            let F = decomposed.square_root();
            assert!((&F * F.transpose() - A.tr_mul(&A)).amax() < 1e-13 * A.norm_squared());
        }
    }
}
