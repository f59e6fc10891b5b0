//! Arithmetic on short arrays: vectors of three and six, and 6×6 matrices whose rows fill whole vector registers.
//!
//! Everything is inlined into a function that is compiled for the machine's vector instructions; `FUSED` says that
//! these have a fused multiply-add. Twists (v, ω) and wrenches (f, τ) are in world axes, at one point for all links.

use std::array::from_fn;

use crate::linear::lanes::Lanes;
pub(super) use crate::linear::lanes::fma;
pub(super) use crate::linear::three::{angular, cross, dot as dot3, linear, minus, plus, turn};

/// A vector of three.
pub(super) type V3 = [f64; 3];

/// Six numbers and two zeros: a row of a 6×6 matrix, a twist or a wrench.
pub(super) type Row = [f64; 8];

/// No numbers.
pub(super) const ZERO: Row = [0.0; 8];

/// A 6×6 matrix.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(align(64))]
pub(super) struct Rows(pub [Row; 6]);

impl Rows {
    pub const ZERO: Rows = Rows([ZERO; 6]);
}

/// y += a·x.
#[inline(always)]
pub(super) fn add<const FUSED: bool>(y: &mut Row, a: f64, x: &Row) {
    for i in 0..8 {
        y[i] = fma::<FUSED>(a, x[i], y[i]);
    }
}

/// a·b of six.
#[inline(always)]
pub(super) fn dot<const FUSED: bool>(a: &Row, b: &Row) -> f64 {
    let half = |i: usize| fma::<FUSED>(a[i], b[i], fma::<FUSED>(a[i + 1], b[i + 1], a[i + 2] * b[i + 2]));
    half(0) + half(3)
}

/// Linear and angular part together.
#[inline(always)]
pub(super) fn row(linear: V3, angular: V3) -> Row {
    [linear[0], linear[1], linear[2], angular[0], angular[1], angular[2], 0.0, 0.0]
}

/// Six numbers of one of four links.
#[inline(always)]
pub(super) fn lane(x: &[Lanes; 6], l: usize) -> Row {
    from_fn(|k| if k < 6 { x[k][l] } else { 0.0 })
}

/// Sets them.
#[inline(always)]
pub(super) fn set_lane(x: &mut [Lanes; 6], l: usize, to: &Row) {
    (0..6).for_each(|k| x[k][l] = to[k]);
}

/// Mass, first moment and inertia of a body at the common point, world axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Inertia {
    pub mass: f64,
    /// m c.
    pub moment: V3,
    /// xx, yy, zz, xy, xz, yz.
    pub inertia: [f64; 6],
}

impl Inertia {
    pub const ZERO: Inertia = Inertia { mass: 0.0, moment: [0.0; 3], inertia: [0.0; 6] };

    /// Adds another.
    #[inline(always)]
    pub fn add(&mut self, other: &Inertia) {
        self.mass += other.mass;
        self.moment = plus(self.moment, other.moment);
        for i in 0..6 {
            self.inertia[i] += other.inertia[i];
        }
    }

    /// M, 6×6.
    pub fn matrix(&self) -> nalgebra::Matrix6<f64> {
        let mut M = nalgebra::Matrix6::zeros();
        for k in 0..6 {
            let mut unit = ZERO;
            unit[k] = 1.0;
            M.column_mut(k).copy_from_slice(&self.times::<false>(&unit)[..6]);
        }
        M
    }

    /// M ξ: f = m v − mc × ω, τ = mc × v + I ω.
    #[inline(always)]
    pub fn times<const FUSED: bool>(&self, x: &Row) -> Row {
        let (v, w) = (linear(x), angular(x));
        let c = cross::<FUSED, _>(self.moment, w);
        let f = from_fn(|i| fma::<FUSED>(self.mass, v[i], -c[i]));
        let [xx, yy, zz, xy, xz, yz] = self.inertia;
        let I = [
            dot3::<FUSED, _>([xx, xy, xz], w),
            dot3::<FUSED, _>([xy, yy, yz], w),
            dot3::<FUSED, _>([xz, yz, zz], w),
        ];
        row(f, plus(cross::<FUSED, _>(self.moment, v), I))
    }
}
