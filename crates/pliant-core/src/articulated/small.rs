//! Vectors and matrices of three, as plain arrays: what the recursion is written in. `FUSED` says whether the
//! machine multiplies and adds in one instruction.

use nalgebra::{Matrix3, Vector3};

pub(super) use crate::linear::wide::fma;

/// A vector.
pub(super) type V = [f64; 3];
/// A matrix, by rows.
pub(super) type M = [V; 3];
/// A symmetric matrix: xx, xy, xz, yy, yz, zz.
pub(super) type Sym = [f64; 6];
/// A quaternion: w, x, y, z.
pub(super) type Q = [f64; 4];

pub(super) const ZERO: V = [0.0; 3];

#[inline(always)]
pub(super) fn add(a: V, b: V) -> V {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

#[inline(always)]
pub(super) fn sub(a: V, b: V) -> V {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

#[inline(always)]
pub(super) fn scale(a: V, s: f64) -> V {
    [a[0] * s, a[1] * s, a[2] * s]
}

/// a·s + b.
#[inline(always)]
pub(super) fn add_scaled<const FUSED: bool>(a: V, s: f64, b: V) -> V {
    [fma::<FUSED>(a[0], s, b[0]), fma::<FUSED>(a[1], s, b[1]), fma::<FUSED>(a[2], s, b[2])]
}

#[inline(always)]
pub(super) fn dot<const FUSED: bool>(a: V, b: V) -> f64 {
    fma::<FUSED>(a[2], b[2], fma::<FUSED>(a[1], b[1], a[0] * b[0]))
}

/// a·b + c.
#[inline(always)]
pub(super) fn add_dot<const FUSED: bool>(a: V, b: V, c: f64) -> f64 {
    fma::<FUSED>(a[2], b[2], fma::<FUSED>(a[1], b[1], fma::<FUSED>(a[0], b[0], c)))
}

#[inline(always)]
pub(super) fn cross<const FUSED: bool>(a: V, b: V) -> V {
    [
        fma::<FUSED>(a[1], b[2], -(a[2] * b[1])),
        fma::<FUSED>(a[2], b[0], -(a[0] * b[2])),
        fma::<FUSED>(a[0], b[1], -(a[1] * b[0])),
    ]
}

/// a×b + c.
#[inline(always)]
pub(super) fn add_cross<const FUSED: bool>(a: V, b: V, c: V) -> V {
    [
        fma::<FUSED>(a[1], b[2], fma::<FUSED>(-a[2], b[1], c[0])),
        fma::<FUSED>(a[2], b[0], fma::<FUSED>(-a[0], b[2], c[1])),
        fma::<FUSED>(a[0], b[1], fma::<FUSED>(-a[1], b[0], c[2])),
    ]
}

/// A b.
#[inline(always)]
pub(super) fn turn<const FUSED: bool>(A: &M, b: V) -> V {
    [dot::<FUSED>(A[0], b), dot::<FUSED>(A[1], b), dot::<FUSED>(A[2], b)]
}

/// A b + c.
#[inline(always)]
pub(super) fn add_turn<const FUSED: bool>(A: &M, b: V, c: V) -> V {
    [add_dot::<FUSED>(A[0], b, c[0]), add_dot::<FUSED>(A[1], b, c[1]), add_dot::<FUSED>(A[2], b, c[2])]
}

/// Aᵀ b.
#[inline(always)]
pub(super) fn turn_back<const FUSED: bool>(A: &M, b: V) -> V {
    add_scaled::<FUSED>(A[2], b[2], add_scaled::<FUSED>(A[1], b[1], scale(A[0], b[0])))
}

/// Aᵀ b + c.
#[inline(always)]
pub(super) fn add_turn_back<const FUSED: bool>(A: &M, b: V, c: V) -> V {
    add_scaled::<FUSED>(A[2], b[2], add_scaled::<FUSED>(A[1], b[1], add_scaled::<FUSED>(A[0], b[0], c)))
}

/// S b, S symmetric.
#[inline(always)]
pub(super) fn apply<const FUSED: bool>(S: &Sym, b: V) -> V {
    [
        dot::<FUSED>([S[0], S[1], S[2]], b),
        dot::<FUSED>([S[1], S[3], S[4]], b),
        dot::<FUSED>([S[2], S[4], S[5]], b),
    ]
}

/// S b + c, S symmetric.
#[inline(always)]
pub(super) fn add_apply<const FUSED: bool>(S: &Sym, b: V, c: V) -> V {
    [
        add_dot::<FUSED>([S[0], S[1], S[2]], b, c[0]),
        add_dot::<FUSED>([S[1], S[3], S[4]], b, c[1]),
        add_dot::<FUSED>([S[2], S[4], S[5]], b, c[2]),
    ]
}

/// S + s a aᵀ.
#[inline(always)]
pub(super) fn add_square<const FUSED: bool>(S: &Sym, a: V, s: f64) -> Sym {
    let b = scale(a, s);
    [
        fma::<FUSED>(b[0], a[0], S[0]),
        fma::<FUSED>(b[0], a[1], S[1]),
        fma::<FUSED>(b[0], a[2], S[2]),
        fma::<FUSED>(b[1], a[1], S[3]),
        fma::<FUSED>(b[1], a[2], S[4]),
        fma::<FUSED>(b[2], a[2], S[5]),
    ]
}

/// R S Rᵀ, S symmetric.
#[inline(always)]
pub(super) fn turned<const FUSED: bool>(R: &M, S: &Sym) -> Sym {
    // Rows of R S.
    let t: M = std::array::from_fn(|i| apply::<FUSED>(S, R[i]));
    [
        dot::<FUSED>(t[0], R[0]),
        dot::<FUSED>(t[0], R[1]),
        dot::<FUSED>(t[0], R[2]),
        dot::<FUSED>(t[1], R[1]),
        dot::<FUSED>(t[1], R[2]),
        dot::<FUSED>(t[2], R[2]),
    ]
}

/// The product of two quaternions.
#[inline(always)]
pub(super) fn product<const FUSED: bool>(a: Q, b: Q) -> Q {
    let sum = |x: [f64; 4], y: [f64; 4]| {
        fma::<FUSED>(x[3], y[3], fma::<FUSED>(x[2], y[2], fma::<FUSED>(x[1], y[1], x[0] * y[0])))
    };
    [
        sum(a, [b[0], -b[1], -b[2], -b[3]]),
        sum(a, [b[1], b[0], b[3], -b[2]]),
        sum(a, [b[2], -b[3], b[0], b[1]]),
        sum(a, [b[3], b[2], -b[1], b[0]]),
    ]
}

/// A quaternion that is nearly a unit, brought nearer: one step of Newton's method for 1/√(q·q).
#[inline(always)]
pub(super) fn unit<const FUSED: bool>(q: Q) -> Q {
    let n2 = fma::<FUSED>(q[3], q[3], fma::<FUSED>(q[2], q[2], fma::<FUSED>(q[1], q[1], q[0] * q[0])));
    let s = 1.5 - 0.5 * n2;
    [q[0] * s, q[1] * s, q[2] * s, q[3] * s]
}

/// The rotation matrix of a unit quaternion.
#[inline(always)]
pub(super) fn matrix<const FUSED: bool>(q: Q) -> M {
    let [w, x, y, z] = q;
    let (x2, y2, z2) = (x + x, y + y, z + z);
    let (wx, wy, wz) = (w * x2, w * y2, w * z2);
    let (xx, yy, zz) = (x * x2, y * y2, z * z2);
    [
        [1.0 - (yy + zz), fma::<FUSED>(x, y2, -wz), fma::<FUSED>(x, z2, wy)],
        [fma::<FUSED>(x, y2, wz), 1.0 - (xx + zz), fma::<FUSED>(y, z2, -wx)],
        [fma::<FUSED>(x, z2, -wy), fma::<FUSED>(y, z2, wx), 1.0 - (xx + yy)],
    ]
}

/// Sine and cosine; for angles up to a right one, as halves of joints' turns are, by series of entire functions:
/// sin h = h Σ (−h²)^k/(2k+1)!, cos h = Σ (−h²)^k/(2k)!. The first terms left out are below 1e-18.
#[inline(always)]
pub(super) fn sin_cos<const FUSED: bool>(h: f64) -> (f64, f64) {
    const SINE: [f64; 11] = inverse_factorials(1);
    const COSINE: [f64; 11] = inverse_factorials(0);
    let x = h * h;
    if x.is_nan() || x >= 2.4674 {
        return h.sin_cos();
    }
    // Two halves each, so that one waits for half as many operations.
    let even = |series: &[f64; 11]| {
        let y = x * x;
        let (mut a, mut b) = (series[10], series[9]);
        for k in (0..4).rev() {
            a = fma::<FUSED>(a, y, series[2 * k + 2]);
            b = fma::<FUSED>(b, y, series[2 * k + 1]);
        }
        fma::<FUSED>(fma::<FUSED>(a, x, b), x, series[0])
    };
    (h * even(&SINE), even(&COSINE))
}

/// (−1)^k/(2k + first)!.
const fn inverse_factorials(first: usize) -> [f64; 11] {
    let mut series = [0.0; 11];
    let mut factorial = 1.0; // exact: 21! without its factors of two has 48 bits
    let (mut n, mut k) = (0, 0);
    while k < series.len() {
        while n < 2 * k + first {
            n += 1;
            factorial *= n as f64;
        }
        series[k] = if k % 2 == 0 { 1.0 / factorial } else { -1.0 / factorial };
        k += 1;
    }
    series
}

/// From nalgebra's vector.
#[inline(always)]
pub(super) fn v(x: &Vector3<f64>) -> V {
    [x.x, x.y, x.z]
}

/// From nalgebra's matrix.
#[inline(always)]
pub(super) fn m(A: &Matrix3<f64>) -> M {
    std::array::from_fn(|i| std::array::from_fn(|k| A[(i, k)]))
}

/// From nalgebra's symmetric matrix.
#[inline(always)]
pub(super) fn sym(A: &Matrix3<f64>) -> Sym {
    [A[(0, 0)], A[(0, 1)], A[(0, 2)], A[(1, 1)], A[(1, 2)], A[(2, 2)]]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against the machine's own, to the last bits, and beyond the range of the series.
    #[test]
    fn sines_and_cosines_are_those_of_the_library() {
        for k in -4000..4000 {
            let h = 0.001 * f64::from(k);
            for (s, c) in [sin_cos::<false>(h), sin_cos::<true>(h)] {
                assert!((s - h.sin()).abs() < 4e-16 && (c - h.cos()).abs() < 4e-16, "{h}");
            }
        }
    }
}
