//! Factorisations and small problems of dense matrices, row by row in memory that the caller owns unless they are nalgebra's.

pub(crate) mod cholesky;
pub(crate) mod eigen;
pub(crate) mod gauss_jordan;
pub(crate) mod lu;
pub(crate) mod orthogonal;
pub(crate) mod pivoted_cholesky;

/// A square matrix of no structure, for tests.
#[cfg(test)]
fn sines(n: usize) -> nalgebra::DMatrix<f64> {
    nalgebra::DMatrix::from_fn(n, n, |i, k| (1.3 * i as f64 + 2.1 * k as f64 + 0.7).sin())
}
