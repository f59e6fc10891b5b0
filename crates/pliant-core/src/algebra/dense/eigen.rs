//! Eigenvalues of symmetric matrices: nalgebra's, in order.

use nalgebra::{DMatrix, DVector, Dyn, SymmetricEigen};

/// Eigenvalues, largest first, and their vectors; of a matrix without rows there are none, which nalgebra does not take.
pub(crate) fn sorted(A: DMatrix<f64>) -> SymmetricEigen<f64, Dyn> {
    if A.is_empty() {
        return SymmetricEigen { eigenvalues: DVector::zeros(0), eigenvectors: A };
    }
    let eigen =
        SymmetricEigen::try_new(A, f64::EPSILON, 10_000).expect("a finite symmetric matrix has eigenvalues");
    let mut order: Vec<usize> = (0..eigen.eigenvalues.len()).collect();
    order.sort_by(|&a, &b| eigen.eigenvalues[b].total_cmp(&eigen.eigenvalues[a]));
    SymmetricEigen {
        eigenvalues: eigen.eigenvalues.select_rows(&order),
        eigenvectors: eigen.eigenvectors.select_columns(&order),
    }
}

#[cfg(test)]
mod tests {
    /// Eigenvalues are in order, and with their vectors make the matrix.
    #[test]
    fn sorts_eigenvalues() {
        for n in 1..9 {
            let B = crate::algebra::dense::sines(n);
            let A = &B + B.transpose();
            let eigen = super::sorted(A.clone());
            assert!(eigen.eigenvalues.as_slice().is_sorted_by(|a, b| a >= b));
            // Rounding of numbers up to ten.
            assert!((eigen.recompose() - A).amax() < 1e-13, "{n}");
        }
    }
}
