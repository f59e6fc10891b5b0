//! The dense elimination of one front: the first `pivots` columns of a symmetric matrix with the
//! right-hand side as its last column. Only the upper triangle is read and written.
//!
//! For k below pivots, with d = F_kk:  F_ij −= F_ki F_kj / d  for k < i ≤ j, right-hand side included;
//! then row k is divided by d. Of row i, whole lanes from the one that holds the diagonal are worked
//! on, so that every inner loop is a whole number of vectors; what that writes below the diagonal is
//! never read.
//!
//! A hinge link's front has 11 pivots among 17 unknowns: 960 multiplications, 350 vector ones here.

use super::symbolic::LANES;

/// `a·b + c`, fused where the machine does it in one instruction.
#[inline(always)]
pub(super) fn fma<const FUSED: bool>(a: f64, b: f64, c: f64) -> f64 {
    if FUSED { a.mul_add(b, c) } else { a * b + c }
}

/// Eliminates the pivots of a front in place; row k becomes 1/d_k (on the diagonal), l_kj, y_k.
/// Returns the position of a pivot that is zero or not finite, if there is one.
#[inline(always)]
pub(super) fn eliminate<const FUSED: bool>(
    front: &mut [f64],
    size: usize,
    stride: usize,
    pivots: usize,
) -> Option<usize> {
    for k in 0..pivots {
        let (above, below) = front.split_at_mut((k + 1) * stride);
        let row_k = &mut above[k * stride..];
        let d = row_k[k];
        if d == 0.0 || !d.is_finite() {
            return Some(k);
        }
        let inverse = 1.0 / d;
        for (at, row_i) in below.chunks_exact_mut(stride).take(size - k - 1).enumerate() {
            let i = k + 1 + at;
            let l = -row_k[i] * inverse;
            let start = i / LANES * LANES;
            for (x, y) in row_i[start..].chunks_exact_mut(LANES).zip(row_k[start..].chunks_exact(LANES)) {
                for lane in 0..LANES {
                    x[lane] = fma::<FUSED>(l, y[lane], x[lane]);
                }
            }
        }
        for x in &mut row_k[k + 1..] {
            *x *= inverse;
        }
        row_k[k] = inverse;
    }
    None
}
