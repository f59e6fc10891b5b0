//! Cholesky's factorisation C = L Lᵀ of a semidefinite matrix with the largest pivot first, as far as its rank (Higham 2002,
//! §10.3). Rows of L stay in the order of C: the one that was pivot k has no entries beyond k.

use crate::algebra::lanes::fma;

/// L, m×m, of which as many columns are set as the rank, which is returned, and the rows that were pivots. Pivots below `least`
/// of the largest are left out. In `left` is what is left of the diagonal; −∞ of pivots.
#[inline(always)]
pub(crate) fn factor<const FUSED: bool>(
    C: &[f64],
    m: usize,
    least: f64,
    L: &mut [f64],
    left: &mut [f64],
    pivots: &mut [usize],
) -> usize {
    let mut largest = 0.0f64;
    for i in 0..m {
        left[i] = C[i * m + i];
        largest = largest.max(left[i]);
    }
    let mut r = 0;
    while r < m {
        let mut p = 0;
        for i in 1..m {
            if left[i] > left[p] {
                p = i;
            }
        }
        if left[p] <= least * largest || left[p].is_nan() {
            break;
        }
        let d = left[p].sqrt();
        let inverse = 1.0 / d;
        for i in 0..m {
            // What has been a pivot is done: −∞ marks it.
            if left[i] == f64::NEG_INFINITY {
                L[i * m + r] = 0.0;
            } else if i != p {
                let mut s = C[i * m + p];
                for k in 0..r {
                    s = fma::<FUSED>(-L[i * m + k], L[p * m + k], s);
                }
                let l = s * inverse;
                L[i * m + r] = l;
                left[i] -= l * l;
            }
        }
        L[p * m + r] = d;
        left[p] = f64::NEG_INFINITY;
        pivots[r] = p;
        r += 1;
    }
    r
}

/// Y = L₁₁⁻ᵀ, an upper triangle, of the rows that were pivots.
#[inline(always)]
pub(crate) fn invert<const FUSED: bool>(L: &[f64], m: usize, pivots: &[usize], Y: &mut [f64]) {
    let r = pivots.len();
    // L₁₁ᵀ Y = I
    for k in (0..r).rev() {
        let inverse = 1.0 / L[pivots[k] * m + k];
        for u in 0..r {
            let mut s = if u == k { 1.0 } else { 0.0 };
            if u >= k {
                for l in k + 1..=u {
                    s = fma::<FUSED>(-L[pivots[l] * m + k], Y[l * r + u], s);
                }
            }
            Y[k * r + u] = if u >= k { s * inverse } else { 0.0 };
        }
    }
}

#[cfg(test)]
mod tests {
    use nalgebra::DMatrix;

    /// L Lᵀ = C and (EY)ᵀ C (EY) = I for matrices of rank 3.
    #[test]
    fn factors_as_far_as_the_rank() {
        for m in [3, 6, 12] {
            let B =
                DMatrix::from_fn(m, 3, |i, k| (1.3 * i as f64 + 2.1 * (k * i) as f64 + 0.7 * k as f64).sin());
            let C = &B * B.transpose();
            let (mut L, mut left) = (vec![0.0; m * m], vec![0.0; m]);
            let (mut pivots, mut Y) = (vec![0; m], vec![0.0; 9]);
            let r = super::factor::<false>(C.as_slice(), m, 1e-6, &mut L, &mut left, &mut pivots);
            assert_eq!(r, 3);
            super::invert::<false>(&L, m, &pivots[..r], &mut Y);
            let L = DMatrix::from_row_slice(m, m, &L).columns(0, 3).into_owned();
            // Rounding alone.
            assert!((&L * L.transpose() - &C).amax() < 1e-13);
            let mut E = DMatrix::zeros(m, 3);
            (0..3).for_each(|k| E[(pivots[k], k)] = 1.0);
            let EY = E * DMatrix::from_row_slice(3, 3, &Y);
            // Rounding over the smallest pivot.
            assert!((EY.transpose() * C * EY - DMatrix::identity(3, 3)).amax() < 1e-9);
        }
    }
}
