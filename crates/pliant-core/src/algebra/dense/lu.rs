//! P A = L U in place, with L's diagonal of ones left out (Golub and Van Loan 2013, §3.4). Zeros of small ones are skipped.

use crate::algebra::lanes::fma;
use crate::algebra::wide::{dot, wide};

/// From this size on, columns are eliminated in panels.
const LARGE: usize = 16;

/// Columns of a panel.
const PANEL: usize = 4;

/// With row exchanges: rows[i] is the row of A that is row i of LU. Returns a column without a pivot, if there is one.
pub(crate) fn decompose(A: &mut [f64], p: usize, rows: &mut [usize]) -> Option<usize> {
    rows.iter_mut().enumerate().for_each(|(i, row)| *row = i);
    if p >= LARGE {
        return by_panels(A, p, rows);
    }
    for k in 0..p {
        let best = largest(A, p, k);
        let pivot = A[best * p + k];
        if !pivot.is_finite() || pivot == 0.0 {
            return Some(rows[best]);
        }
        eliminate(A, p, k, best, rows);
    }
    None
}

/// The row of the largest entry of column k from row k on; the first of equals, so that a unit block stays a permutation.
#[inline(always)]
fn largest(A: &[f64], p: usize, k: usize) -> usize {
    let size = |i: usize| A[i * p + k].abs();
    (k + 1..p).fold(k, |best, i| if size(i) > size(best) { i } else { best })
}

wide! {
    /// The same with the columns of a panel first, and what they take from all others in one pass over memory (Golub and Van Loan 2013,
    /// §3.4.7): a pass for each column would wait for memory.
    fn by_panels, by_panels_lanes(A: &mut [f64], p: usize, rows: &mut [usize]) -> Option<usize>
}

#[inline(always)]
fn by_panels_lanes<const FUSED: bool>(A: &mut [f64], p: usize, rows: &mut [usize]) -> Option<usize> {
    for first in (0..p).step_by(PANEL) {
        let end = (first + PANEL).min(p);
        for k in first..end {
            let best = largest(A, p, k);
            let pivot = A[best * p + k];
            if !pivot.is_finite() || pivot == 0.0 {
                return Some(rows[best]);
            }
            exchange(A, p, k, best, rows);
            let (above, below) = A.split_at_mut((k + 1) * p);
            let row = &above[k * p..];
            for below in below.chunks_exact_mut(p) {
                below[k] /= pivot;
                let l = below[k];
                (k + 1..end).for_each(|j| below[j] = fma::<FUSED>(-l, row[j], below[j]));
            }
        }
        // The panel's own rows right of it.
        for k in first + 1..end {
            let (above, row) = A.split_at_mut(k * p);
            for j in first..k {
                take::<FUSED, 1>([row[j]], [&above[j * p + end..(j + 1) * p]], &mut row[end..p]);
            }
        }
        // All rows below; the last panel, which may be narrower, has none.
        let (above, below) = A.split_at_mut(end * p);
        if !below.is_empty() {
            let panel: [&[f64]; PANEL] = std::array::from_fn(|k| &above[(first + k) * p + end..][..p - end]);
            for row in below.chunks_exact_mut(p) {
                take::<FUSED, PANEL>(std::array::from_fn(|k| row[first + k]), panel, &mut row[end..]);
            }
        }
    }
    None
}

/// to −= Σ factor_k from_k.
#[inline(always)]
fn take<const FUSED: bool, const N: usize>(factors: [f64; N], from: [&[f64]; N], to: &mut [f64]) {
    let from = from.map(|from| &from[..to.len()]);
    for (i, to) in to.iter_mut().enumerate() {
        *to = (0..N).fold(*to, |sum, k| fma::<FUSED>(-factors[k], from[k][i], sum));
    }
}

/// P A Q = L U with the largest entry that is left as the next pivot; returns how many there are above the tolerance, relative
/// to the largest.
pub(crate) fn decompose_fully(
    A: &mut [f64],
    p: usize,
    rows: &mut [usize],
    columns: &mut [usize],
    tolerance: f64,
) -> usize {
    rows.iter_mut().enumerate().for_each(|(i, row)| *row = i);
    columns.iter_mut().enumerate().for_each(|(i, column)| *column = i);
    let mut largest = 0.0f64;
    for k in 0..p {
        let mut best = (k, k);
        for i in k..p {
            for j in k..p {
                if A[i * p + j].abs() > A[best.0 * p + best.1].abs() {
                    best = (i, j);
                }
            }
        }
        let pivot = A[best.0 * p + best.1];
        largest = largest.max(pivot.abs());
        if !pivot.is_finite() || pivot.abs() <= tolerance * largest {
            return k;
        }
        if best.1 != k {
            columns.swap(best.1, k);
            (0..p).for_each(|i| A.swap(i * p + best.1, i * p + k));
        }
        eliminate(A, p, k, best.0, rows);
    }
    p
}

/// Makes a row the k-th and takes it from those below.
#[inline(always)]
fn eliminate(A: &mut [f64], p: usize, k: usize, best: usize, rows: &mut [usize]) {
    exchange(A, p, k, best, rows);
    let (above, below) = A.split_at_mut((k + 1) * p);
    let row = &above[k * p..];
    for below in below.chunks_exact_mut(p) {
        if below[k] != 0.0 {
            below[k] /= row[k];
            let l = below[k];
            subtract(&mut below[k + 1..], l, &row[k + 1..]);
        }
    }
}

/// Makes a row the k-th.
#[inline(always)]
fn exchange(A: &mut [f64], p: usize, k: usize, best: usize, rows: &mut [usize]) {
    if best != k {
        rows.swap(best, k);
        let (above, below) = A.split_at_mut(best * p);
        above[k * p..(k + 1) * p].swap_with_slice(&mut below[..p]);
    }
}

/// Solves A x = b with the factors of [`decompose`].
pub(crate) fn solve(LU: &[f64], rows: &[usize], b: &[f64], x: &mut [f64]) {
    let p = rows.len();
    for (i, &row) in rows.iter().enumerate() {
        x[i] = b[row] - dot(&LU[i * p..][..i], &x[..i]);
    }
    for i in (0..p).rev() {
        let row = &LU[i * p..(i + 1) * p];
        x[i] = (x[i] - dot(&row[i + 1..], &x[i + 1..p])) / row[i];
    }
}

/// Solves L U X = X with the first pivots, for the columns of X, which stand next to each other in rows already permuted.
#[inline(always)]
pub(crate) fn substitute(LU: &[f64], p: usize, pivots: usize, X: &mut [f64], columns: usize) {
    if columns == 0 {
        return;
    }
    for i in 0..pivots {
        let (above, x) = X.split_at_mut(i * columns);
        for k in 0..i {
            let l = LU[i * p + k];
            if l != 0.0 {
                subtract(&mut x[..columns], l, &above[k * columns..(k + 1) * columns]);
            }
        }
    }
    for i in (0..pivots).rev() {
        let (x, below) = X.split_at_mut((i + 1) * columns);
        let x = &mut x[i * columns..];
        for k in i + 1..pivots {
            let u = LU[i * p + k];
            if u != 0.0 {
                subtract(x, u, &below[(k - i - 1) * columns..(k - i) * columns]);
            }
        }
        let inverse = 1.0 / LU[i * p + i];
        x.iter_mut().for_each(|x| *x *= inverse);
    }
}

/// to −= factor · from.
#[inline(always)]
pub(crate) fn subtract(to: &mut [f64], factor: f64, from: &[f64]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to -= factor * from;
    }
}

#[cfg(test)]
mod tests {
    use nalgebra::{DMatrix, DVector};

    use super::*;

    /// A X = B, of matrices without a pivot on the diagonal too, with whole panels and not; and a matrix of rank r has r pivots.
    #[test]
    fn solves() {
        for n in (1..10).chain(LARGE - 1..LARGE + 6) {
            let mut A = DMatrix::from_fn(n, n, |i, k| (1.3 * i as f64 + 2.1 * (k * i) as f64 + 0.7).sin());
            (0..n.min(2)).for_each(|i| A[(i, i)] = if n > 1 { 0.0 } else { 2.0 });
            let B = DMatrix::from_fn(n, 3, |i, k| (i as f64 + 2.0 * k as f64).cos());
            let mut LU = A.transpose().as_slice().to_vec();
            let mut rows = vec![0; n];
            assert_eq!(decompose(&mut LU, n, &mut rows), None);
            let mut X: Vec<f64> =
                rows.iter().flat_map(|&row| (0..3).map(move |k| (row, k))).map(|at| B[at]).collect();
            substitute(&LU, n, n, &mut X, 3);
            let X = DMatrix::from_row_slice(n, 3, &X);
            // Rounding of a product of rows of n entries up to 1, whatever the condition.
            let rounding = 4.0 * n as f64 * f64::EPSILON * X.amax().max(1.0);
            assert!((&A * &X - &B).amax() < rounding, "{n}");
            let mut x = DVector::zeros(n);
            solve(&LU, &rows, &B.as_slice()[..n], x.as_mut_slice());
            assert!((&A * x - B.column(0)).amax() < rounding, "{n}");
            assert_eq!(decompose(&mut vec![0.0; n * n], n, &mut rows), Some(0));
            if n >= 10 {
                continue; // the square of a condition beyond 1e6
            }
            let mut lower = &A * DMatrix::from_fn(n, n, |i, k| f64::from(i == k && i > 0)) * A.transpose();
            let mut columns = vec![0; n];
            let rank = decompose_fully(lower.as_mut_slice(), n, &mut rows, &mut columns, 1e-12);
            assert_eq!(rank, n - 1);
        }
    }
}
