//! A small dense Cholesky factorisation in memory that the caller owns.

use crate::linear::wide::{dot, padded};

/// A = L Lᵀ in place, row by row, lower triangle; the diagonal holds 1/L_ii. False if A is not positive definite.
pub(crate) fn factor(A: &mut [f64], n: usize) -> bool {
    for i in 0..n {
        let (above, row) = A.split_at_mut(i * n);
        for j in 0..i {
            let other = &above[j * n..j * n + j];
            let s = row[j] - dot(&row[..j], other);
            row[j] = s * above[j * n + j];
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
    for i in 0..n {
        let row = &L[i * n..i * n + i];
        x[i] = (x[i] - dot(row, &x[..i])) * L[i * n + i];
    }
}

/// Solves Lᵀ x = x.
pub(crate) fn back(L: &[f64], n: usize, x: &mut [f64]) {
    for i in (0..n).rev() {
        x[i] *= L[i * n + i];
        let (before, xi) = x.split_at_mut(i);
        for (x, l) in before.iter_mut().zip(&L[i * n..i * n + i]) {
            *x -= l * xi[0];
        }
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

/// Solves L X = X for all m columns at once, row by row.
pub(crate) fn halve(L: &[f64], n: usize, X: &mut [f64], m: usize) {
    for i in 0..n {
        let (above, row) = X.split_at_mut(i * m);
        let row = &mut row[..m];
        for k in 0..i {
            let l = L[i * n + k];
            row.iter_mut().zip(&above[k * m..(k + 1) * m]).for_each(|(x, y)| *x -= l * y);
        }
        let d = L[i * n + i];
        row.iter_mut().for_each(|x| *x *= d);
    }
}

/// Adds XᵀX of rows of m to `out`.
pub(crate) fn square(X: &[f64], m: usize, out: &mut [f64]) {
    for row in X.chunks_exact(m) {
        for (a, &x) in row.iter().enumerate() {
            out[a * m..(a + 1) * m].iter_mut().zip(row).for_each(|(w, y)| *w += x * y);
        }
    }
}

#[cfg(test)]
mod tests {
    use nalgebra::{DMatrix, DVector};

    /// L Lᵀ x = b for random definite matrices; and what is not definite is said so.
    #[test]
    fn solves() {
        for n in 1..12 {
            let B = DMatrix::from_fn(n, n, |i, k| (1.3 * i as f64 + 2.1 * k as f64 + 0.7).sin());
            let A = &B * B.transpose() + DMatrix::identity(n, n) * 0.1;
            let b = DVector::from_fn(n, |i, _| (i as f64).cos());
            let mut L: Vec<f64> = A.transpose().as_slice().to_vec();
            assert!(super::factor(&mut L, n));
            let mut x = b.as_slice().to_vec();
            super::solve(&L, n, &mut x);
            // Condition numbers here reach 1e3.
            assert!((&A * DVector::from_vec(x) - b).amax() < 1e-12, "{n}");
            let m = crate::linear::wide::padded(n);
            let (mut upper, mut lower) = (vec![0.0; n * m], vec![0.0; n * m]);
            super::invert(&L, n, &mut upper, &mut lower);
            let rows = |X: &[f64]| DMatrix::from_fn(n, n, |i, k| X[i * m + k]);
            let (up, low) = (rows(&upper), rows(&lower));
            assert_eq!(up, low.transpose());
            assert!((&A * up * low - DMatrix::identity(n, n)).amax() < 1e-12, "{n}");
            let mut not = (-A).as_slice().to_vec();
            assert!(!super::factor(&mut not, n));
        }
    }
}
