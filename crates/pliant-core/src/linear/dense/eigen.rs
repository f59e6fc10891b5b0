//! Eigenvalues of symmetric matrices: nalgebra's, in order, and by Jacobi's rotations where nothing may be allocated.
//!
//! A rotation of two rows and columns makes the entry c between diagonal entries a and b zero with the smaller angle of two:
//! ζ = (b − a)/(2c), tan = sign ζ/(|ζ| + √(ζ² + 1)) (Jacobi 1846; Golub and Van Loan 2013, §8.5).

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

/// Cosine and sine of the rotation for a, b and c.
#[inline(always)]
fn rotation(a: f64, b: f64, c: f64) -> (f64, f64) {
    let zeta = (b - a) / (2.0 * c);
    let t = zeta.signum() / (zeta.abs() + zeta.hypot(1.0));
    let cosine = 1.0 / t.hypot(1.0);
    (cosine, cosine * t)
}

/// Two numbers of the rows or columns that a rotation turns.
#[inline(always)]
fn rotate(A: &mut [f64], x: usize, y: usize, (cosine, sine): (f64, f64)) {
    (A[x], A[y]) = (cosine * A[x] - sine * A[y], sine * A[x] + cosine * A[y]);
}

/// Raises the eigenvalues of a symmetric matrix to at least `least`: where loads press so that a motion has little stiffness
/// left, or none. V is scratch memory of the same size.
#[cold]
#[inline(never)]
pub(crate) fn raise(K: &mut [f64], V: &mut [f64], n: usize, least: f64) {
    V.fill(0.0);
    (0..n).for_each(|i| V[i * n + i] = 1.0);
    for _ in 0..30 {
        let mut largest = 0.0f64;
        for p in 0..n {
            for q in p + 1..n {
                let (a, b, c) = (K[p * n + p], K[q * n + q], K[p * n + q]);
                largest = largest.max(c.abs());
                if c.abs() <= f64::EPSILON * (a.abs() + b.abs()) {
                    continue;
                }
                let turn = rotation(a, b, c);
                (0..n).for_each(|i| rotate(K, i * n + p, i * n + q, turn));
                for i in 0..n {
                    rotate(K, p * n + i, q * n + i, turn);
                    rotate(V, i * n + p, i * n + q, turn);
                }
            }
        }
        let size = (0..n).map(|i| K[i * n + i].abs()).fold(0.0, f64::max);
        if largest <= 1e-12 * size {
            break;
        }
    }
    // K = V max(Λ, least) Vᵀ, Λ kept on the diagonal until the end.
    for i in 0..n {
        K[i * n + i] = K[i * n + i].max(least);
    }
    for i in 0..n {
        for j in 0..i {
            K[i * n + j] = (0..n).map(|k| V[i * n + k] * K[k * n + k] * V[j * n + k]).sum();
        }
    }
    // The diagonal by way of the first row, which is not needed any more.
    let own = |K: &[f64], i: usize| (0..n).map(|k| V[i * n + k] * V[i * n + k] * K[k * n + k]).sum::<f64>();
    let first = own(K, 0);
    (1..n).for_each(|i| K[i] = own(K, i));
    (1..n).for_each(|i| K[i * n + i] = K[i]);
    K[0] = first;
    for i in 0..n {
        (0..i).for_each(|j| K[j * n + i] = K[i * n + j]);
    }
}

#[cfg(test)]
mod tests {
    use nalgebra::DMatrix;

    /// Eigenvalues below the bound are raised to it, the others and all eigenvectors stay.
    #[test]
    fn raises_eigenvalues() {
        for n in 1..9 {
            let B = DMatrix::from_fn(n, n, |i, k| (1.3 * i as f64 + 2.1 * k as f64 + 0.7).sin());
            let A = &B + B.transpose();
            let (mut K, mut V) = (A.as_slice().to_vec(), vec![0.0; n * n]);
            super::raise(&mut K, &mut V, n, -0.3);
            let mut eigen = super::sorted(A.clone());
            assert!(eigen.eigenvalues.as_slice().is_sorted_by(|a, b| a >= b));
            // Rounding of numbers up to ten.
            assert!((eigen.recompose() - A).amax() < 1e-13, "{n}");
            eigen.eigenvalues.apply(|x| *x = x.max(-0.3));
            assert!((DMatrix::from_vec(n, n, K) - eigen.recompose()).amax() < 1e-13, "{n}");
        }
    }
}
