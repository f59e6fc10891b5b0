//! Cholesky's factorisation A = L Lᵀ of a positive definite matrix, row by row (Golub and Van Loan 2013, §4.2):
//!
//! L_ij = (A_ij − Σ_{k<j} L_ik L_jk)/L_jj,  L_ii = √(A_ii − Σ_{k<i} L_ik²);  the diagonal holds 1/L_ii.
//!
//! The lower triangle is read and written.

use crate::algebra::wide::{dot, padded};

/// Factors a square matrix in place. False if it is not positive definite.
pub(crate) fn factor(A: &mut [f64], n: usize) -> bool {
    for i in 0..n {
        let (above, row) = A.split_at_mut(i * n);
        let row = &mut row[..i + 1];
        for j in 0..i {
            let other = &above[j * n..][..j + 1];
            row[j] = (row[j] - dot(&row[..j], &other[..j])) * other[j];
        }
        let d = row[i] - dot(&row[..i], &row[..i]);
        if !(d > 0.0 && d.is_finite()) {
            return false;
        }
        row[i] = 1.0 / d.sqrt();
    }
    true
}

/// Solves L Lᵀ x = x.
pub(crate) fn solve(L: &[f64], n: usize, x: &mut [f64]) {
    forward(L, n, x);
    back(L, n, x);
}

/// Solves L x = x.
pub(crate) fn forward(L: &[f64], n: usize, x: &mut [f64]) {
    let x = &mut x[..n];
    for i in 0..n {
        let row = &L[i * n..][..i + 1];
        x[i] = (x[i] - dot(&row[..i], &x[..i])) * row[i];
    }
}

/// Solves Lᵀ x = x.
pub(crate) fn back(L: &[f64], n: usize, x: &mut [f64]) {
    let x = &mut x[..n];
    for i in (0..n).rev() {
        let row = &L[i * n..][..i + 1];
        let xi = x[i] * row[i];
        x[i] = xi;
        x[..i].iter_mut().zip(&row[..i]).for_each(|(x, l)| *x -= l * xi);
    }
}

/// L⁻ᵀ and L⁻¹, row by row, each row padded.
pub(crate) fn invert(L: &[f64], n: usize, upper: &mut [f64], lower: &mut [f64]) {
    let stride = padded(n);
    for (k, row) in upper.chunks_exact_mut(stride.max(1)).enumerate() {
        row.fill(0.0);
        row[k] = 1.0;
        forward(L, n, &mut row[..n]);
        (0..n).for_each(|i| lower[i * stride + k] = row[i]);
    }
}

#[cfg(test)]
mod tests {
    use nalgebra::{DMatrix, DVector};

    use super::*;

    /// L Lᵀ x = b for random definite matrices; and what is not definite is said so.
    #[test]
    fn solves() {
        for n in 1..12 {
            let B = crate::algebra::dense::sines(n);
            let A = &B * B.transpose() + DMatrix::identity(n, n) * 0.1;
            let b = DVector::from_fn(n, |i, _| (i as f64).cos());
            let mut L: Vec<f64> = A.transpose().as_slice().to_vec();
            assert!(factor(&mut L, n));
            let mut x = b.as_slice().to_vec();
            solve(&L, n, &mut x);
            // Condition numbers here reach 1e3.
            assert!((&A * DVector::from_vec(x) - &b).amax() < 1e-12, "{n}");
            let m = padded(n);
            let (mut upper, mut lower) = (vec![0.0; n * m], vec![0.0; n * m]);
            invert(&L, n, &mut upper, &mut lower);
            let rows = |X: &[f64]| DMatrix::from_fn(n, n, |i, k| X[i * m + k]);
            let (up, low) = (rows(&upper), rows(&lower));
            assert_eq!(up, low.transpose());
            assert!((&A * &up * &low - DMatrix::identity(n, n)).amax() < 1e-12, "{n}");
            let mut not = A.clone();
            not[(n - 1, n - 1)] = -1.0;
            assert!(!factor(&mut not.as_slice().to_vec(), n));
        }
    }
}
