//! Factorisations and small problems of dense matrices, row by row in memory that the caller owns unless they are nalgebra's.

pub(crate) mod cholesky;
pub(crate) mod eigen;
pub(crate) mod gauss_jordan;
pub(crate) mod lu;
pub(crate) mod orthogonal;
pub(crate) mod pivoted_cholesky;
