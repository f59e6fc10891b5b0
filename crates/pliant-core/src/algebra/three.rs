//! Vectors of three and quaternions as plain arrays, of one number or of four lanes.

use std::array::from_fn;

use super::lanes::Number;

/// A vector.
pub(crate) type Three<T> = [T; 3];

/// a + b.
#[inline(always)]
pub(crate) fn plus<T: Number>(a: Three<T>, b: Three<T>) -> Three<T> {
    from_fn(|i| a[i] + b[i])
}

/// a − b.
#[inline(always)]
pub(crate) fn minus<T: Number>(a: Three<T>, b: Three<T>) -> Three<T> {
    from_fn(|i| a[i] - b[i])
}

/// a·b.
#[inline(always)]
pub(crate) fn dot<const FUSED: bool, T: Number>(a: Three<T>, b: Three<T>) -> T {
    a[0].fma::<FUSED>(b[0], a[1].fma::<FUSED>(b[1], a[2] * b[2]))
}

/// a × b.
#[inline(always)]
pub(crate) fn cross<const FUSED: bool, T: Number>(a: Three<T>, b: Three<T>) -> Three<T> {
    let part = |i: usize, j: usize| a[i].fma::<FUSED>(b[j], -(a[j] * b[i]));
    [part(1, 2), part(2, 0), part(0, 1)]
}

/// R x, R column by column.
#[inline(always)]
pub(crate) fn turn<const FUSED: bool, T: Number>(R: &[Three<T>; 3], x: Three<T>) -> Three<T> {
    from_fn(|i| R[0][i].fma::<FUSED>(x[0], R[1][i].fma::<FUSED>(x[1], R[2][i] * x[2])))
}

/// The first three numbers: v of a twist, f of a wrench.
#[inline(always)]
pub(crate) fn linear<T: Copy, const N: usize>(x: &[T; N]) -> Three<T> {
    [x[0], x[1], x[2]]
}

/// The second three: ω or τ.
#[inline(always)]
pub(crate) fn angular<T: Copy, const N: usize>(x: &[T; N]) -> Three<T> {
    [x[3], x[4], x[5]]
}

/// Both together.
#[inline(always)]
pub(crate) fn six<T: Copy>([a, b, c]: Three<T>, [d, e, f]: Three<T>) -> [T; 6] {
    [a, b, c, d, e, f]
}

/// p ⊗ q of quaternions x, y, z, w, in two halves, so that it waits for three operations and not for four.
#[inline(always)]
pub(crate) fn product<const FUSED: bool, T: Number>(p: [T; 4], q: [T; 4]) -> [T; 4] {
    let sum = |a: T, b: T, c: T, d: T| a.fma::<FUSED>(b, c * d);
    [
        sum(p[3], q[0], p[0], q[3]) + sum(p[1], q[2], -p[2], q[1]),
        sum(p[3], q[1], p[1], q[3]) + sum(p[2], q[0], -p[0], q[2]),
        sum(p[3], q[2], p[2], q[3]) + sum(p[0], q[1], -p[1], q[0]),
        sum(p[3], q[3], -p[0], q[0]) - sum(p[1], q[1], p[2], q[2]),
    ]
}

/// The columns of the matrix of a unit quaternion x, y, z, w: R = I + 2w\[u\] + 2\[u\]².
#[inline(always)]
pub(crate) fn matrix<const FUSED: bool, T: Number>([x, y, z, w]: [T; 4]) -> [Three<T>; 3] {
    let one = T::all(1.0);
    let (x2, y2, z2) = (x + x, y + y, z + z);
    let (wx, wy, wz) = (w * x2, w * y2, w * z2);
    [
        [one - y.fma::<FUSED>(y2, z * z2), x.fma::<FUSED>(y2, wz), x.fma::<FUSED>(z2, -wy)],
        [x.fma::<FUSED>(y2, -wz), one - x.fma::<FUSED>(x2, z * z2), y.fma::<FUSED>(z2, wx)],
        [x.fma::<FUSED>(z2, wy), y.fma::<FUSED>(z2, -wx), one - x.fma::<FUSED>(x2, y * y2)],
    ]
}

#[cfg(test)]
mod tests {
    use nalgebra::{Matrix3, Quaternion, UnitQuaternion, Vector3};

    use super::*;
    use crate::numbers::Numbers;

    /// As nalgebra has it, to rounding of numbers below two.
    #[test]
    fn as_nalgebra() {
        let mut numbers = Numbers(5);
        let mut three = || -> Three<f64> { from_fn(|_| numbers.between(-1.0, 1.0)) };
        for _ in 0..100 {
            let (a, b) = (three(), three());
            let (x, y) = (Vector3::from(a), Vector3::from(b));
            let quaternion =
                |[x, y, z]: Three<f64>| UnitQuaternion::from_quaternion(Quaternion::new(0.5, x, y, z));
            let (p, q) = (quaternion(a), quaternion(b));
            let near =
                |one: Three<f64>, two: Vector3<f64>| assert!((Vector3::from(one) - two).amax() < 1e-15);
            near(plus(a, b), x + y);
            near(minus(a, b), x - y);
            near(cross::<false, _>(a, b), x.cross(&y));
            near(cross::<true, _>(a, b), x.cross(&y));
            assert!((dot::<false, _>(a, b) - x.dot(&y)).abs() < 1e-15);
            assert!((dot::<true, _>(a, b) - x.dot(&y)).abs() < 1e-15);
            let R = matrix::<true, _>(p.coords.into());
            assert!((Matrix3::from(R) - p.to_rotation_matrix().matrix()).amax() < 1e-15);
            near(turn::<true, _>(&R, b), p * y);
            let pq = product::<true, _>(p.coords.into(), q.coords.into());
            assert!((nalgebra::Vector4::from(pq) - (p * q).coords).amax() < 1e-15);
        }
    }
}
