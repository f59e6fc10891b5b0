//! Eigenvalues of small symmetric matrices by Jacobi's rotations (Jacobi 1846).

/// Raises the eigenvalues of a symmetric matrix to at least `least`, by Jacobi's rotations: where loads press so that
/// a motion has little stiffness left, or none.
#[cold]
#[inline(never)]
pub(super) fn raise(K: &mut [f64], V: &mut [f64], n: usize, least: f64) {
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
                let zeta = (b - a) / (2.0 * c);
                let t = zeta.signum() / (zeta.abs() + zeta.hypot(1.0));
                let cosine = 1.0 / t.hypot(1.0);
                let sine = cosine * t;
                for i in 0..n {
                    let (x, y) = (K[i * n + p], K[i * n + q]);
                    (K[i * n + p], K[i * n + q]) = (cosine * x - sine * y, sine * x + cosine * y);
                }
                for i in 0..n {
                    let (x, y) = (K[p * n + i], K[q * n + i]);
                    (K[p * n + i], K[q * n + i]) = (cosine * x - sine * y, sine * x + cosine * y);
                    let (x, y) = (V[i * n + p], V[i * n + q]);
                    (V[i * n + p], V[i * n + q]) = (cosine * x - sine * y, sine * x + cosine * y);
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
            let mut eigen = A.symmetric_eigen();
            eigen.eigenvalues.apply(|x| *x = x.max(-0.3));
            let expected = eigen.recompose();
            // Rounding of numbers up to ten.
            assert!((DMatrix::from_vec(n, n, K) - expected).amax() < 1e-13, "{n}");
        }
    }
}
