//! Cholesky's factorisation of a small dense matrix, packed: the lower triangle row by row.

/// Cholesky's factor in the place of the matrix, lower triangle row by row; or the first pivot that is not positive.
pub fn factor(A: &mut [f64], count: usize) -> Result<(), usize> {
    for i in 0..count {
        let (before, here) = A.split_at_mut(i * (i + 1) / 2);
        for j in 0..i {
            let row = &before[j * (j + 1) / 2..][..j + 1];
            here[j] = (here[j] - dot_product(&row[..j], &here[..j])) / row[j];
        }
        let pivot = here[i] - dot_product(&here[..i], &here[..i]);
        if !(pivot > 0.0 && pivot.is_finite()) {
            return Err(i);
        }
        here[i] = pivot.sqrt();
    }
    Ok(())
}

/// Solves with the factor, in place.
pub fn solve(L: &[f64], x: &mut [f64]) {
    for i in 0..x.len() {
        let row = &L[i * (i + 1) / 2..][..i + 1];
        x[i] = (x[i] - dot_product(&row[..i], &x[..i])) / row[i];
    }
    for i in (0..x.len()).rev() {
        let row = &L[i * (i + 1) / 2..][..i + 1];
        x[i] /= row[i];
        let own = x[i];
        x[..i].iter_mut().zip(row).for_each(|(x, a)| *x -= a * own);
    }
}

/// Σ a_i b_i, in four sums that do not wait for each other.
#[inline]
fn dot_product(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 4];
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<4>(), b.as_chunks::<4>());
    for (a, b) in a.iter().zip(b) {
        (0..4).for_each(|i| sums[i] += a[i] * b[i]);
    }
    let rest: f64 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}
