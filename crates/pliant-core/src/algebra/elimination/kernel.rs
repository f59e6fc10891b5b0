//! The dense elimination of one front: the first `pivots` columns of a symmetric matrix with the
//! right-hand side as its last column. Only the upper triangle is read and written.
//!
//! For k below pivots, with d = F_kk:  F_ij −= F_ki F_kj / d  for k < i ≤ j, right-hand side included;
//! row k divided by d is what is kept. The matrix is worked on in columns of four lanes and blocks of four
//! pivots: a column holds its part of four pivot rows in registers while it goes down the rows above its
//! diagonal. What that writes below the diagonal, within the lanes that hold it, is never read.
//!
//! A hinge link's front has 11 pivots among 17 unknowns: 960 multiplications, 350 vector ones here. The
//! row length is a constant of the compiled code for the fronts of usual mechanisms.

use super::symbolic::LANES;
use crate::algebra::lanes::{add_scaled, fma};

/// Σ a_i b_i over whole lanes.
#[inline(always)]
pub(super) fn dot<const FUSED: bool>(a: &[[f64; LANES]], b: &[[f64; LANES]]) -> f64 {
    let s = a
        .iter()
        .zip(b)
        .fold([0.0; LANES], |s, (a, b)| std::array::from_fn(|i| fma::<FUSED>(a[i], b[i], s[i])));
    (s[0] + s[1]) + (s[2] + s[3])
}

/// Lanes of the widest front that has compiled code of its own.
const WIDEST: usize = 8;

/// Where row k of a front starts among its rows, in lanes: Σ_{i<k} (width − i/4).
#[inline(always)]
pub(super) fn row_start(k: usize, width: usize) -> usize {
    let (blocks, rest) = (k / LANES, k % LANES);
    k * width - LANES * blocks * (blocks.max(1) - 1) / 2 - rest * blocks
}

/// Multipliers of up to four pivots: −F_ki/d_k.
type Multipliers = [[[f64; LANES]; WIDEST]; LANES];

/// Eliminates the pivots of a front in place and writes its rows: row k is 1/d_k on the diagonal, then l_kj,
/// then y_k, from the lanes that hold the diagonal on ([`row_start`]); what is before the diagonal there
/// means nothing. Returns how many pivots are negative, or the position of one that is zero or not finite.
#[inline(always)]
pub(super) fn eliminate<const FUSED: bool>(
    front: &mut [f64],
    size: usize,
    stride: usize,
    pivots: usize,
    rows: &mut [[f64; LANES]],
) -> Result<usize, usize> {
    let F = front.as_chunks_mut::<LANES>().0;
    let mut m = [[[0.0; LANES]; WIDEST]; LANES];
    match stride / LANES {
        2 => narrow::<FUSED, 2>(F, size, pivots, &mut m, rows),
        3 => narrow::<FUSED, 3>(F, size, pivots, &mut m, rows),
        4 => narrow::<FUSED, 4>(F, size, pivots, &mut m, rows),
        5 => narrow::<FUSED, 5>(F, size, pivots, &mut m, rows),
        6 => narrow::<FUSED, 6>(F, size, pivots, &mut m, rows),
        7 => narrow::<FUSED, 7>(F, size, pivots, &mut m, rows),
        8 => narrow::<FUSED, 8>(F, size, pivots, &mut m, rows),
        width => wide::<FUSED>(F, size, width, pivots, rows),
    }
    .map_or(Ok(()), Err)?;
    Ok((0..pivots).filter(|k| front[k * stride + k] < 0.0).count())
}

/// The elimination for rows of W lanes, four pivots at a time: each trailing row is loaded and stored
/// once for four of them.
#[inline(always)]
fn narrow<const FUSED: bool, const W: usize>(
    F: &mut [[f64; LANES]],
    size: usize,
    pivots: usize,
    m: &mut Multipliers,
    mut rows: &mut [[f64; LANES]],
) -> Option<usize> {
    let F = F.as_chunks_mut::<W>().0;
    let mut k = 0;
    while k < pivots {
        let block = (pivots - k).min(LANES);
        // The pivot rows among themselves.
        for t in 0..block {
            let (above, below) = F.split_at_mut(k + t + 1);
            let row = &above[k + t];
            let first = k / LANES;
            let d = row[first][t];
            if d == 0.0 || !d.is_finite() {
                return Some(k + t);
            }
            let inverse = -1.0 / d;
            for lane in first..W {
                m[t][lane] = row[lane].map(|x| x * inverse);
            }
            for (i, below) in below.iter_mut().take(block - t - 1).enumerate() {
                let l = m[t][first][t + 1 + i];
                for lane in first..W {
                    below[lane] = add_scaled::<FUSED>(l, row[lane], below[lane]);
                }
            }
        }
        // What they take from the rows below, column of lanes by column of lanes.
        match block {
            1 => trailing::<FUSED, W, 1>(F, size, k, m),
            2 => trailing::<FUSED, W, 2>(F, size, k, m),
            3 => trailing::<FUSED, W, 3>(F, size, k, m),
            _ => trailing::<FUSED, W, 4>(F, size, k, m),
        }
        for t in 0..block {
            let first = k / LANES;
            let (row, rest) = rows.split_at_mut(W - first);
            for lane in first..W {
                row[lane - first] = m[t][lane].map(|x| -x);
            }
            row[0][t] = 1.0 / F[k + t][first][t];
            rows = rest;
        }
        k += block;
    }
    None
}

/// F_ij += Σ_t m_ti F_tj for the rows below a block of N pivots that starts at k.
#[inline(always)]
fn trailing<const FUSED: bool, const W: usize, const N: usize>(
    F: &mut [[[f64; LANES]; W]],
    size: usize,
    k: usize,
    m: &Multipliers,
) {
    let (above, below) = F.split_at_mut(k + N);
    let m: [&[f64]; N] = std::array::from_fn(|t| &m[t].as_flattened()[k + N..]);
    for lane in (k + N) / LANES..W {
        let y: [[f64; LANES]; N] = std::array::from_fn(|t| above[k + t][lane]);
        let end = (lane * LANES + LANES).min(size) - (k + N).min(size);
        let m: [&[f64]; N] = std::array::from_fn(|t| &m[t][..end]);
        for (i, row) in below.iter_mut().take(end).enumerate() {
            let mut x = row[lane];
            for t in 0..N {
                x = add_scaled::<FUSED>(m[t][i], y[t], x);
            }
            row[lane] = x;
        }
    }
}

/// The elimination for rows of any width, one pivot at a time.
fn wide<const FUSED: bool>(
    F: &mut [[f64; LANES]],
    size: usize,
    width: usize,
    pivots: usize,
    rows: &mut [[f64; LANES]],
) -> Option<usize> {
    for k in 0..pivots {
        let first = k / LANES;
        let (above, below) = F.split_at_mut((k + 1) * width);
        let row = &mut above[k * width..];
        let d = row[first][k % LANES];
        if d == 0.0 || !d.is_finite() {
            return Some(k);
        }
        for (at, row_i) in below.chunks_exact_mut(width).take(size - k - 1).enumerate() {
            let i = k + 1 + at;
            let l = -row[i / LANES][i % LANES] / d;
            for lane in i / LANES..width {
                row_i[lane] = add_scaled::<FUSED>(l, row[lane], row_i[lane]);
            }
        }
        let out = &mut rows[row_start(k, width)..][..width - first];
        for (out, x) in out.iter_mut().zip(&row[first..]) {
            *out = x.map(|x| x / d);
        }
        out[0][k % LANES] = 1.0 / d;
    }
    None
}
