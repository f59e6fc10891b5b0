//! Vectors and matrices of three, as plain arrays: what the recursion is written in. `FUSED` says whether the
//! machine multiplies and adds in one instruction.

use nalgebra::{Matrix3, Vector3};

pub(super) use crate::algebra::angle::sin_cos;
pub(super) use crate::algebra::lanes::fma;
use crate::algebra::three;
pub(super) use crate::algebra::three::{cross, dot, minus, plus, product, turn as turn_back};

/// A vector.
pub(super) type V = [f64; 3];
/// A matrix, by rows.
pub(super) type M = [V; 3];
/// A symmetric matrix: xx, xy, xz, yy, yz, zz.
pub(super) type Sym = [f64; 6];
/// A quaternion: x, y, z, w.
pub(super) type Q = [f64; 4];

pub(super) const ZERO: V = [0.0; 3];

#[inline(always)]
pub(super) fn scale(a: V, s: f64) -> V {
    [a[0] * s, a[1] * s, a[2] * s]
}

/// a·s + b.
#[inline(always)]
pub(super) fn add_scaled<const FUSED: bool>(a: V, s: f64, b: V) -> V {
    [fma::<FUSED>(a[0], s, b[0]), fma::<FUSED>(a[1], s, b[1]), fma::<FUSED>(a[2], s, b[2])]
}

/// a·b + c.
#[inline(always)]
pub(super) fn add_dot<const FUSED: bool>(a: V, b: V, c: f64) -> f64 {
    fma::<FUSED>(a[2], b[2], fma::<FUSED>(a[1], b[1], fma::<FUSED>(a[0], b[0], c)))
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
    [dot::<FUSED, _>(A[0], b), dot::<FUSED, _>(A[1], b), dot::<FUSED, _>(A[2], b)]
}

/// A b + c.
#[inline(always)]
pub(super) fn add_turn<const FUSED: bool>(A: &M, b: V, c: V) -> V {
    [add_dot::<FUSED>(A[0], b, c[0]), add_dot::<FUSED>(A[1], b, c[1]), add_dot::<FUSED>(A[2], b, c[2])]
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
        dot::<FUSED, _>([S[0], S[1], S[2]], b),
        dot::<FUSED, _>([S[1], S[3], S[4]], b),
        dot::<FUSED, _>([S[2], S[4], S[5]], b),
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
        dot::<FUSED, _>(t[0], R[0]),
        dot::<FUSED, _>(t[0], R[1]),
        dot::<FUSED, _>(t[0], R[2]),
        dot::<FUSED, _>(t[1], R[1]),
        dot::<FUSED, _>(t[1], R[2]),
        dot::<FUSED, _>(t[2], R[2]),
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
    let columns = three::matrix::<FUSED, _>(q);
    std::array::from_fn(|i| columns.map(|c| c[i]))
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
