//! Compliances by their eigenvectors, turned alike for all samples (Andrews 2015, Algorithm 3, corrected).
//!
//! C_i = U_i Λ_i U_iᵀ with U_i as near as can be to U_0: eigenvectors are matched one to one by their products, given
//! the same sign, and where eigenvalues are nearly equal, so that eigenvectors are arbitrary, turned onto those of the
//! first sample. Λ_i = U_iᵀ C_i U_i then is not quite diagonal there, and nothing is lost. The blend is
//! C̄ = Ū (ΣαΛ) Ūᵀ with Ū = ΣαU made orthonormal, softest direction first.

use nalgebra::{DMatrix, DVector, SymmetricEigen};

use crate::algebra::dense::eigen;

/// Eigenvalues that differ by less than this, relative to the larger, count as equal.
const EQUAL: f64 = 1e-3;

/// Eigenvectors and eigenvalues of one sample.
#[derive(Clone, Debug)]
pub(super) struct Aligned {
    /// U and Λ, column by column.
    pub vectors: DMatrix<f64>,
    pub values: DMatrix<f64>,
}

impl Aligned {
    /// Of a compliance, like the first sample's.
    pub fn new(compliance: &DMatrix<f64>, first: Option<&Aligned>) -> Aligned {
        let m = compliance.nrows();
        let SymmetricEigen { eigenvalues: values, eigenvectors: own } = eigen::sorted(compliance.clone());
        let mut vectors = own.clone();
        if let Some(first) = first.filter(|_| m > 0) {
            // The largest products first, each vector once.
            let products = first.vectors.transpose() * &own;
            let mut pairs: Vec<(usize, usize)> = (0..m).flat_map(|i| (0..m).map(move |k| (i, k))).collect();
            pairs.sort_by(|&a, &b| products[b].abs().total_cmp(&products[a].abs()));
            let (mut taken, mut given) = (vec![usize::MAX; m], vec![false; m]);
            for (i, k) in pairs {
                if taken[i] == usize::MAX && !given[k] {
                    (taken[i], given[k]) = (k, true);
                    vectors.set_column(i, &(own.column(k) * products[(i, k)].signum()));
                }
            }
            let value = |i: usize| values[taken[i]];
            let of_first = |i: usize| first.values[(i, i)];
            let top = values[0].max(of_first(0));
            let near = |a: f64, b: f64| (a - b).abs() <= EQUAL * a.abs().max(b.abs()).max(1e-9 * top);
            let mut done = vec![false; m];
            for i in 0..m {
                let same: Vec<usize> = (i..m)
                    .filter(|&k| !done[k] && (near(value(i), value(k)) || near(of_first(i), of_first(k))))
                    .collect();
                same.iter().for_each(|&k| done[k] = true);
                if same.len() > 1 {
                    turn(&mut vectors, &first.vectors, &same);
                }
            }
        }
        let values = vectors.transpose() * compliance * &vectors;
        Aligned { vectors, values }
    }
}

/// Turns some columns among themselves as near to those of another matrix as can be (Procrustes): by U Vᵀ of the singular value
/// decomposition U Σ Vᵀ of their products.
fn turn(vectors: &mut DMatrix<f64>, to: &DMatrix<f64>, columns: &[usize]) {
    let own = vectors.select_columns(columns);
    let turned = &own * nearest_rotation(&(own.transpose() * to.select_columns(columns)));
    columns.iter().enumerate().for_each(|(at, &k)| vectors.set_column(k, &turned.column(at)));
}

/// U Vᵀ of a square matrix U Σ Vᵀ. V is that of BᵀB, U is B V made orthonormal, the largest first; where singular values are zero any
/// direction will do. (The singular value decomposition of nalgebra does not always end.)
fn nearest_rotation(B: &DMatrix<f64>) -> DMatrix<f64> {
    let n = B.nrows();
    if !B.iter().all(|x| x.is_finite()) {
        return DMatrix::identity(n, n);
    }
    let V = eigen::sorted(B.transpose() * B).eigenvectors;
    let mut U: Vec<DVector<f64>> = Vec::with_capacity(n);
    let off = |U: &[DVector<f64>], mut x: DVector<f64>| {
        (0..2).for_each(|_| U.iter().for_each(|u| x.axpy(-u.dot(&x), u, 1.0)));
        x
    };
    let own = B * &V;
    let least = 1e-10 * own.column_iter().map(|x| x.norm()).fold(0.0, f64::max);
    for x in own.column_iter().take_while(|x| x.norm() > least) {
        U.push(off(&U, x.into_owned()).normalize());
    }
    // Of n units one has 1/√n at least of a direction that is missing.
    for k in 0..n {
        let x = off(&U, DVector::from_fn(n, |i, _| f64::from(i == k)));
        if U.len() < n && x.norm() > 0.5 / (n as f64).sqrt() {
            U.push(x.normalize());
        }
    }
    DMatrix::from_columns(&U) * V.transpose()
}

/// Makes the columns of an m×m matrix orthonormal, first to last; false if they are not independent.
pub(super) fn orthonormalise(vectors: &mut [f64], m: usize) -> bool {
    for k in 0..m {
        let (before, from_here) = vectors.split_at_mut(k * m);
        let own = &mut from_here[..m];
        // Twice is enough (Kahan, Parlett).
        for _ in 0..2 {
            for other in before.chunks_exact(m) {
                let product: f64 = own.iter().zip(other).map(|(a, b)| a * b).sum();
                own.iter_mut().zip(other).for_each(|(a, b)| *a -= product * b);
            }
        }
        let norm = own.iter().map(|x| x * x).sum::<f64>().sqrt();
        if norm.is_nan() || norm < 1e-6 {
            return false;
        }
        own.iter_mut().for_each(|x| *x /= norm);
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn orthogonal(m: usize, seed: f64) -> DMatrix<f64> {
        DMatrix::from_fn(m, m, |i, k| (seed + 1.3 * i as f64 + 2.1 * (i * k) as f64 + 0.7 * k as f64).sin())
            .qr()
            .q()
    }

    /// Two compliances that differ by rounding, with equal eigenvalues, whose eigenvectors an eigenvalue solver may
    /// turn by any angle, blend to either.
    #[test]
    fn nearly_equal_matrices_blend_to_either() {
        for seed in 0..20 {
            let m = 6;
            let Q = orthogonal(m, seed as f64);
            let lambda =
                DMatrix::from_diagonal(&nalgebra::DVector::from_vec(vec![3.0, 3.0, 3.0, 0.5, 0.5, 1e-4]));
            let C = &Q * lambda * Q.transpose();
            let R = orthogonal(m, 0.3 + seed as f64);
            let other = &C + (&R + R.transpose()) * 1e-9;
            let first = Aligned::new(&C, None);
            let second = Aligned::new(&other, Some(&first));
            for alpha in [0.0, 0.3, 0.5, 1.0] {
                let mut U = &first.vectors * (1.0 - alpha) + &second.vectors * alpha;
                let L = &first.values * (1.0 - alpha) + &second.values * alpha;
                assert!(orthonormalise(U.as_mut_slice(), m));
                let blended = &U * L * U.transpose();
                // The matrices differ by 2e-9, and where eigenvalues are a thousandth apart eigenvectors by 1e-6.
                assert!((blended - &C).amax() < 1e-8, "{seed} {alpha}");
            }
        }
    }
}
