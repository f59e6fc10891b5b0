//! The dense elimination of one front: the first `pivots` columns of a symmetric matrix with the
//! right-hand side as its last column. Only the upper triangle is read and written.
//!
//! For k below pivots, with d = F_kk:  F_ij −= F_ki F_kj / d  for k < i ≤ j, right-hand side included;
//! then row k is divided by d. The matrix is worked on in columns of four lanes: each holds its part of
//! row k in a register while it goes down the rows above its diagonal. What that writes below the
//! diagonal, within the lanes that hold it, is never read.
//!
//! A hinge link's front has 11 pivots among 17 unknowns: 960 multiplications, 350 vector ones here. The
//! row length is a constant of the compiled code for the fronts of usual mechanisms.

use super::symbolic::LANES;

/// `a·b + c`, fused where the machine does it in one instruction.
#[inline(always)]
pub(super) fn fma<const FUSED: bool>(a: f64, b: f64, c: f64) -> f64 {
    if FUSED { a.mul_add(b, c) } else { a * b + c }
}

/// l·y + x on four lanes. Whole arrays go in and out, so that the compiler need not fear that memory
/// overlaps and uses one vector instruction.
#[inline(always)]
fn lanes<const FUSED: bool>(l: f64, y: [f64; LANES], x: [f64; LANES]) -> [f64; LANES] {
    std::array::from_fn(|i| fma::<FUSED>(l, y[i], x[i]))
}

/// Σ a_i b_i in four partial sums, so that no addition waits for the one before.
#[inline(always)]
pub(super) fn dot<const FUSED: bool>(a: &[f64], b: &[f64]) -> f64 {
    let ((a4, a1), (b4, b1)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    let s = a4
        .iter()
        .zip(b4)
        .fold([0.0; LANES], |s, (a, b)| std::array::from_fn(|i| fma::<FUSED>(a[i], b[i], s[i])));
    let rest = a1.iter().zip(b1).fold(0.0, |s, (a, b)| fma::<FUSED>(*a, *b, s));
    (s[0] + s[1]) + (s[2] + s[3]) + rest
}

/// Lanes of the widest front that has compiled code of its own.
const WIDEST: usize = 12;

/// Eliminates the pivots of a front in place; row k becomes 1/d_k (on the diagonal), l_kj, y_k.
/// Returns the position of a pivot that is zero or not finite, if there is one. `wide` is scratch for one
/// row of the widest front.
#[inline(always)]
pub(super) fn eliminate<const FUSED: bool>(
    front: &mut [f64],
    size: usize,
    stride: usize,
    pivots: usize,
    wide: &mut [[f64; LANES]],
) -> Option<usize> {
    let F = front.as_chunks_mut::<LANES>().0;
    let mut narrow = [[0.0; LANES]; WIDEST];
    match stride / LANES {
        2 => rows::<FUSED, 2>(F, size, 2, pivots, &mut narrow),
        3 => rows::<FUSED, 3>(F, size, 3, pivots, &mut narrow),
        4 => rows::<FUSED, 4>(F, size, 4, pivots, &mut narrow),
        5 => rows::<FUSED, 5>(F, size, 5, pivots, &mut narrow),
        6 => rows::<FUSED, 6>(F, size, 6, pivots, &mut narrow),
        7 => rows::<FUSED, 7>(F, size, 7, pivots, &mut narrow),
        8 => rows::<FUSED, 8>(F, size, 8, pivots, &mut narrow),
        width if width <= WIDEST => rows::<FUSED, 0>(F, size, width, pivots, &mut narrow),
        width => rows::<FUSED, 0>(F, size, width, pivots, wide),
    }
}

/// The elimination for rows of `W` lanes, or of `width` lanes if W is 0. `multipliers` is scratch for
/// one row.
#[inline(always)]
fn rows<const FUSED: bool, const W: usize>(
    F: &mut [[f64; LANES]],
    size: usize,
    width: usize,
    pivots: usize,
    multipliers: &mut [[f64; LANES]],
) -> Option<usize> {
    let width = if W == 0 { width } else { W };
    for k in 0..pivots {
        let first = k / LANES;
        let (above, below) = F.split_at_mut((k + 1) * width);
        let row = &mut above[k * width..];
        let d = row[first][k % LANES];
        if d == 0.0 || !d.is_finite() {
            return Some(k);
        }
        let inverse = 1.0 / d;
        for lane in first..width {
            multipliers[lane] = row[lane].map(|x| x * -inverse);
        }
        let l = &multipliers.as_flattened()[k + 1..];
        for lane in first..width {
            let y = row[lane];
            let end = (lane * LANES + LANES).min(size).saturating_sub(k + 1);
            for (row_i, l) in below.chunks_exact_mut(width).zip(&l[..end]) {
                row_i[lane] = lanes::<FUSED>(*l, y, row_i[lane]);
            }
        }
        for lane in first..width {
            row[lane] = multipliers[lane].map(|x| -x);
        }
        row[first][k % LANES] = inverse;
    }
    None
}
