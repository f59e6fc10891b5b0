//! Dense blocks of the seams' system: Cholesky and substitution, in place.

use nalgebra::DMatrix;

/// L of the lower triangle, in place; false if it is not positive definite to rounding.
pub(super) fn cholesky(A: &mut DMatrix<f64>) -> bool {
    let n = A.nrows();
    let least = (0..n).map(|i| A[(i, i)]).fold(0.0, f64::max) * 1e-13;
    for j in 0..n {
        let pivot = A[(j, j)];
        if pivot.is_nan() || pivot <= least {
            return false;
        }
        let root = pivot.sqrt();
        A[(j, j)] = root;
        for i in j + 1..n {
            A[(i, j)] /= root;
        }
        let (left, mut right) = A.columns_range_pair_mut(j, j + 1..n);
        for (k, mut column) in right.column_iter_mut().enumerate() {
            let row = j + 1 + k;
            let factor = left[row];
            column.rows_mut(row, n - row).axpy(-factor, &left.rows(row, n - row), 1.0);
        }
    }
    true
}

/// X L⁻ᵀ in place.
pub(super) fn right_divide(X: &mut DMatrix<f64>, L: &DMatrix<f64>) {
    for j in 0..L.nrows() {
        let (mut own, mut rest) = X.columns_range_pair_mut(j, j + 1..L.nrows());
        own /= L[(j, j)];
        for (k, mut column) in rest.column_iter_mut().enumerate() {
            column.axpy(-L[(j + 1 + k, j)], &own, 1.0);
        }
    }
}

/// L⁻¹ x in place.
pub(super) fn forward(L: &DMatrix<f64>, x: &mut [f64]) {
    for j in 0..x.len() {
        x[j] /= L[(j, j)];
        let (done, rest) = x.split_at_mut(j + 1);
        let value = done[j];
        rest.iter_mut().zip(&L.column(j).as_slice()[j + 1..]).for_each(|(x, l)| *x -= l * value);
    }
}

/// L⁻ᵀ x in place.
pub(super) fn backward(L: &DMatrix<f64>, x: &mut [f64]) {
    for j in (0..x.len()).rev() {
        let (done, rest) = x.split_at_mut(j + 1);
        let sum: f64 = rest.iter().zip(&L.column(j).as_slice()[j + 1..]).map(|(x, l)| l * x).sum();
        done[j] = (done[j] - sum) / L[(j, j)];
    }
}

/// Two ranges that do not overlap.
pub(super) fn two(x: &mut [f64], a: std::ops::Range<usize>, b: std::ops::Range<usize>) -> [&mut [f64]; 2] {
    if a.start < b.start {
        let (low, high) = x.split_at_mut(b.start);
        [&mut low[a], &mut high[..b.end - b.start]]
    } else {
        let (low, high) = x.split_at_mut(a.start);
        [&mut high[..a.end - a.start], &mut low[b]]
    }
}
