//! The elimination of one front whose pivots are carried: a body and the rows of the joint by which it hangs on a
//! later body, or on nothing. Its result is that of `kernel.rs`: for a hinge link by 600 multiplications instead of 960,
//! without its rows being written to the front and read back, and with half as much to keep.
//!
//! The front says, with x the body's motion, x_p that of the body it hangs on, and y all later unknowns, x_p among
//! them:
//!
//! ```text
//! A x + B y + Jᵀℓ = z,    J (x − X x_p) = r,    X = [I, −[arm]; 0, I].
//! ```
//!
//! X shifts a motion rigidly, so the rows leave x = X x_p + s + S q, with J s = r and J S = 0: only q, the joint's
//! freedoms, is left to be eliminated (the articulated bodies of Featherstone 1983, here with x_p unknown and any
//! other unknowns around). With H = B + A X, in the columns of x_p, and z' = z − A s:
//!
//! ```text
//! q = D⁻¹(Sᵀz' − SᵀH y),    D = SᵀA S + w
//! ℓ = Nᵀ(z' − H y − A S q),    J N = I
//! ```
//!
//! and what is left over the later unknowns gains XᵀA X + XᵀB + BᵀX − HᵀS D⁻¹SᵀH. The joint's spring acts on q alone:
//! its weight w is on the diagonal of D, its impulse next to Sᵀz'.
//!
//! By Sylvester's law the block [A Jᵀ; J 0] has as many negative pivots as J has rows, and those of D.

use super::symbolic::LANES;
use crate::algebra::lanes::{add_scaled, fma};

/// The rows of the joint that carries the body of a front, by their inverse.
#[derive(Clone, Debug, Default)]
pub struct Carry {
    /// Position in the front of the body it hangs on; `None` if that does not move.
    pub onto: Option<usize>,
    /// The arm of X: from the centre of the body it hangs on to its own.
    pub arm: [f64; 3],
    /// Columns: N, one for each row of the joint, then S, one for each freedom.
    pub basis: [[f64; 6]; 6],
    /// s.
    pub closing: [f64; 6],
    /// w, for each freedom.
    pub weights: [f64; 6],
    /// The impulse of the spring, for each freedom.
    pub impulses: [f64; 6],
}

/// Lanes of scratch memory for a front with lanes of `width` over its later unknowns and right-hand side.
pub(super) const fn scratch(width: usize) -> usize {
    12 * width
}

/// The sizes of a front: its unknowns, the length of a row, the pivots, and the lanes of later unknowns and
/// right-hand side.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    pub size: usize,
    pub stride: usize,
    pub pivots: usize,
    pub width: usize,
}

/// Eliminates the pivots of a front in place and writes its rows: for each pivot, its dependence on the later
/// unknowns and, after them, what it is without them. The memory after the front must hold four more numbers.
/// Returns how many pivots are negative, or the position of one that is zero or not finite.
#[inline(always)]
pub(super) fn eliminate<const FUSED: bool>(
    F: &mut [f64],
    shape: Shape,
    carry: &Carry,
    scratch: &mut [[f64; LANES]],
    rows: &mut [[f64; LANES]],
) -> Result<usize, usize> {
    // The usual fronts, of hinges, are compiled for their sizes.
    let hinge = Shape { pivots: 11, ..shape };
    match (shape.pivots, shape.width) {
        (11, 2) => eliminate_lanes::<FUSED>(F, Shape { width: 2, ..hinge }, carry, scratch, rows),
        (11, 3) => eliminate_lanes::<FUSED>(F, Shape { width: 3, ..hinge }, carry, scratch, rows),
        (11, 4) => eliminate_lanes::<FUSED>(F, Shape { width: 4, ..hinge }, carry, scratch, rows),
        (11, 5) => eliminate_lanes::<FUSED>(F, Shape { width: 5, ..hinge }, carry, scratch, rows),
        _ => eliminate_lanes::<FUSED>(F, shape, carry, scratch, rows),
    }
}

#[inline(always)]
fn eliminate_lanes<const FUSED: bool>(
    F: &mut [f64],
    shape: Shape,
    carry: &Carry,
    scratch: &mut [[f64; LANES]],
    rows: &mut [[f64; LANES]],
) -> Result<usize, usize> {
    let Shape { size, stride, pivots, width: W } = shape;
    let n = size - pivots;
    let (N, S) = carry.basis.split_at(pivots - 6);
    let (H, rest) = scratch[..12 * W].split_at_mut(6 * W);
    let u = &mut rest[..S.len() * W];

    // A in full; B with z after it, in lanes.
    let mut A = [[0.0; 6]; 6];
    for i in 0..6 {
        for j in i..6 {
            A[i][j] = F[i * stride + j];
            A[j][i] = A[i][j];
        }
        let row = H[i * W..][..W].as_flattened_mut();
        row.copy_from_slice(&F[i * stride + pivots..][..LANES * W]);
        row[n + 1..].fill(0.0);
    }

    // z' = z − A s, and −Bᵀs for the later unknowns.
    let s = &carry.closing;
    for lane in 0..W {
        let Bs = combine::<FUSED>(s, H, W, lane);
        for j in lane * LANES..(lane * LANES + LANES).min(n) {
            F[(pivots + j) * stride + size] -= Bs[j % LANES];
        }
    }
    for i in 0..6 {
        H[i * W..][..W].as_flattened_mut()[n] -= dot6::<FUSED>(&A[i], s);
    }

    if let Some(p) = carry.onto {
        let at = p - pivots;
        let [a, b, c] = carry.arm;
        // ½A X, a row (l, t) of A giving (l, t + arm×l); V = Xᵀ(B + ½A X) then adds up to XᵀA X + XᵀB + BᵀX.
        let mut half = [[0.0; 6]; 6];
        for i in 0..6 {
            let [l0, l1, l2, t0, t1, t2] = A[i].map(|x| 0.5 * x);
            half[i] = [l0, l1, l2, t0 + (b * l2 - c * l1), t1 + (c * l0 - a * l2), t2 + (a * l1 - b * l0)];
        }
        add_columns(H, W, at, &half);
        // Rows of V, from (l, t) in the columns of B: l, then t + arm×l. They belong in the rows of x_p, and where
        // a column stands before x_p, or among it, in its transpose too.
        let mut V = [[0.0; LANES]; 6];
        for lane in 0..W {
            for k in 0..3 {
                let (k1, k2) = ((k + 1) % 3, (k + 2) % 3);
                V[k] = H[k * W + lane];
                let (x, y) = (H[k1 * W + lane], H[k2 * W + lane]);
                V[3 + k] = add_scaled::<FUSED>(carry.arm[k1], y, H[(3 + k) * W + lane]);
                V[3 + k] = add_scaled::<FUSED>(-carry.arm[k2], x, V[3 + k]);
            }
            for k in 0..6 {
                let row = &mut F[(p + k) * stride + pivots + lane * LANES..][..LANES];
                for i in 0..LANES {
                    row[i] += V[k][i];
                }
            }
            for j in lane * LANES..(lane * LANES + LANES).min(at + 6) {
                for k in j.saturating_sub(at)..6 {
                    F[(pivots + j) * stride + p + k] += V[k][j % LANES];
                }
            }
        }
        add_columns(H, W, at, &half);
    }

    // D = SᵀA S + w, and Sᵀ(H, z') with the impulse.
    let mut AS = [[0.0; 6]; 6];
    let mut D = [[0.0; 6]; 6];
    for (k, Sk) in S.iter().enumerate() {
        for i in 0..6 {
            AS[k][i] = dot6::<FUSED>(&A[i], Sk);
        }
        for l in 0..=k {
            D[l][k] = dot6::<FUSED>(&AS[k], &S[l]);
        }
        D[k][k] += carry.weights[k];
        for lane in 0..W {
            u[k * W + lane] = combine::<FUSED>(Sk, H, W, lane);
        }
        u[k * W..][..W].as_flattened_mut()[n] += carry.impulses[k];
    }

    // The pivots of D, each taking its part from the later unknowns: −uᵀu/d. Then u becomes q.
    let mut negative = N.len();
    for k in 0..S.len() {
        let d = D[k][k];
        if d == 0.0 || !d.is_finite() {
            return Err(k);
        }
        negative += usize::from(d < 0.0);
        let inverse = 1.0 / d;
        for l in k + 1..S.len() {
            let f = -D[k][l] * inverse;
            for j in l..S.len() {
                D[l][j] += f * D[k][j];
            }
            for lane in 0..W {
                u[l * W + lane] = add_scaled::<FUSED>(f, u[k * W + lane], u[l * W + lane]);
            }
        }
        for j in 0..n {
            let f = -u.as_flattened()[k * W * LANES + j] * inverse;
            for lane in j / LANES..W {
                let x = &mut F[(pivots + j) * stride + pivots + lane * LANES..][..LANES];
                for i in 0..LANES {
                    x[i] = fma::<FUSED>(f, u[k * W + lane][i], x[i]);
                }
            }
        }
    }
    for k in (0..S.len()).rev() {
        let inverse = 1.0 / D[k][k];
        for lane in 0..W {
            for l in k + 1..S.len() {
                u[k * W + lane] = add_scaled::<FUSED>(-D[k][l], u[l * W + lane], u[k * W + lane]);
            }
            u[k * W + lane] = u[k * W + lane].map(|x| x * inverse);
        }
    }

    // x = X x_p + s + S q, and ℓ = Nᵀ(z' − H y − A S q).
    for lane in 0..W {
        for i in 0..6 {
            let (mut x, mut left) = ([0.0; LANES], H[i * W + lane]);
            for (k, Sk) in S.iter().enumerate() {
                x = add_scaled::<FUSED>(Sk[i], u[k * W + lane], x);
                left = add_scaled::<FUSED>(-AS[k][i], u[k * W + lane], left);
            }
            rows[i * W + lane] = x;
            H[i * W + lane] = left;
        }
        for (m, Nm) in N.iter().enumerate() {
            rows[(6 + m) * W + lane] = combine::<FUSED>(Nm, H, W, lane);
        }
    }
    for i in 0..6 {
        let row = rows[i * W..][..W].as_flattened_mut();
        row[n] += s[i];
        if let Some(p) = carry.onto {
            row[p - pivots + i] -= 1.0;
            if i < 3 {
                row[p - pivots + 3 + (i + 1) % 3] -= carry.arm[(i + 2) % 3];
                row[p - pivots + 3 + (i + 2) % 3] += carry.arm[(i + 1) % 3];
            }
        }
    }
    Ok(negative)
}

/// Σ a_i H_i in one of the W lanes.
#[inline(always)]
fn combine<const FUSED: bool>(a: &[f64; 6], H: &[[f64; LANES]], W: usize, lane: usize) -> [f64; LANES] {
    let mut sum = [0.0; LANES];
    for i in 0..6 {
        sum = add_scaled::<FUSED>(a[i], H[i * W + lane], sum);
    }
    sum
}

/// Adds six columns to those of H from `at` on.
#[inline(always)]
fn add_columns(H: &mut [[f64; LANES]], W: usize, at: usize, columns: &[[f64; 6]; 6]) {
    for i in 0..6 {
        let row = &mut H[i * W..][..W].as_flattened_mut()[at..at + 6];
        for j in 0..6 {
            row[j] += columns[i][j];
        }
    }
}

#[inline(always)]
fn dot6<const FUSED: bool>(a: &[f64; 6], b: &[f64; 6]) -> f64 {
    let mut sum = 0.0;
    for i in 0..6 {
        sum = fma::<FUSED>(a[i], b[i], sum);
    }
    sum
}
