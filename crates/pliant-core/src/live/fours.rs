//! Arithmetic on four links at a time: one number of each, side by side, in one vector register.
//!
//! As in [`super::rows`], everything is inlined into a function that is compiled for the machine's vector instructions.

use std::array::from_fn;
use std::ops::{Add, Mul, Neg, Sub};

use super::rows::{Row, fma};

/// One number of each of four links.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(align(32))]
pub(super) struct Four(pub [f64; 4]);

impl Four {
    pub const ZERO: Four = Four([0.0; 4]);

    /// The same for all.
    #[inline(always)]
    pub fn all(x: f64) -> Four {
        Four([x; 4])
    }

    /// `self·b + c`.
    #[inline(always)]
    pub fn fma<const FUSED: bool>(self, b: Four, c: Four) -> Four {
        Four(from_fn(|i| fma::<FUSED>(self.0[i], b.0[i], c.0[i])))
    }
}

impl Add for Four {
    type Output = Four;
    #[inline(always)]
    fn add(self, b: Four) -> Four {
        Four(from_fn(|i| self.0[i] + b.0[i]))
    }
}

impl Sub for Four {
    type Output = Four;
    #[inline(always)]
    fn sub(self, b: Four) -> Four {
        Four(from_fn(|i| self.0[i] - b.0[i]))
    }
}

impl Mul for Four {
    type Output = Four;
    #[inline(always)]
    fn mul(self, b: Four) -> Four {
        Four(from_fn(|i| self.0[i] * b.0[i]))
    }
}

impl Neg for Four {
    type Output = Four;
    #[inline(always)]
    fn neg(self) -> Four {
        Four(self.0.map(|x| -x))
    }
}

/// Stands in a loop over blocks of four, so that the compiler does not take one number of four blocks at a time instead,
/// which costs three times the instructions; it is none itself.
#[inline(always)]
pub(super) fn one_block_at_a_time() {
    std::sync::atomic::compiler_fence(std::sync::atomic::Ordering::SeqCst);
}

/// A vector of three of each.
pub(super) type Threes = [Four; 3];

/// a·b.
#[inline(always)]
pub(super) fn dot<const FUSED: bool>(a: Threes, b: Threes) -> Four {
    a[0].fma::<FUSED>(b[0], a[1].fma::<FUSED>(b[1], a[2] * b[2]))
}

/// a × b.
#[inline(always)]
pub(super) fn cross<const FUSED: bool>(a: Threes, b: Threes) -> Threes {
    let part = |i: usize, j: usize| a[i].fma::<FUSED>(b[j], -(a[j] * b[i]));
    [part(1, 2), part(2, 0), part(0, 1)]
}

/// R x, R column by column.
#[inline(always)]
pub(super) fn turn<const FUSED: bool>(R: &[Threes; 3], x: Threes) -> Threes {
    from_fn(|i| R[0][i].fma::<FUSED>(x[0], R[1][i].fma::<FUSED>(x[1], R[2][i] * x[2])))
}

/// a + b.
#[inline(always)]
pub(super) fn plus(a: Threes, b: Threes) -> Threes {
    from_fn(|i| a[i] + b[i])
}

/// a − b.
#[inline(always)]
pub(super) fn minus(a: Threes, b: Threes) -> Threes {
    from_fn(|i| a[i] - b[i])
}

/// The first three of six.
#[inline(always)]
pub(super) fn linear(x: &[Four; 6]) -> Threes {
    [x[0], x[1], x[2]]
}

/// The second three.
#[inline(always)]
pub(super) fn angular(x: &[Four; 6]) -> Threes {
    [x[3], x[4], x[5]]
}

/// Both together.
#[inline(always)]
pub(super) fn six(linear: Threes, angular: Threes) -> [Four; 6] {
    [linear[0], linear[1], linear[2], angular[0], angular[1], angular[2]]
}

/// The columns of the matrices of unit quaternions x, y, z, w: R = I + 2w\[u\] + 2\[u\]².
#[inline(always)]
pub(super) fn matrix<const FUSED: bool>([x, y, z, w]: [Four; 4]) -> [Threes; 3] {
    let one = Four::all(1.0);
    let (x2, y2, z2) = (x + x, y + y, z + z);
    let (wx, wy, wz) = (w * x2, w * y2, w * z2);
    [
        [one - y.fma::<FUSED>(y2, z * z2), x.fma::<FUSED>(y2, wz), x.fma::<FUSED>(z2, -wy)],
        [x.fma::<FUSED>(y2, -wz), one - x.fma::<FUSED>(x2, z * z2), y.fma::<FUSED>(z2, wx)],
        [x.fma::<FUSED>(z2, wy), y.fma::<FUSED>(z2, -wx), one - x.fma::<FUSED>(x2, y * y2)],
    ]
}

/// Six numbers of one of four links.
#[inline(always)]
pub(super) fn lane(x: &[Four; 6], l: usize) -> Row {
    from_fn(|k| if k < 6 { x[k].0[l] } else { 0.0 })
}

/// Sets them.
#[inline(always)]
pub(super) fn set_lane(x: &mut [Four; 6], l: usize, to: &Row) {
    (0..6).for_each(|k| x[k].0[l] = to[k]);
}
