//! Four numbers next to each other: one vector register of AVX2, two of SSE2, NEON or wasm128.
//!
//! Everything is inlined into a function that [`super::wide::wide`] compiles for the machine's instructions; `FUSED` says
//! that these have a fused multiply-add. An operation is that of its scalars, lane by lane, and has the same bits. Of
//! [`fma`], both forms differ by a rounding: fused there is one, else two, as on wasm128, which has no such instruction.
//! Plain arrays are all that LLVM needs to choose vector instructions, on wasm32 with the target feature `simd128`.

use std::array::from_fn;
use std::ops::{Add, Index, IndexMut, Mul, Neg, Sub};

/// Numbers in a vector.
pub(crate) const LANES: usize = 4;

/// `a·b + c`, fused where the machine does it in one instruction.
#[inline(always)]
pub(crate) fn fma<const FUSED: bool>(a: f64, b: f64, c: f64) -> f64 {
    if FUSED { a.mul_add(b, c) } else { a * b + c }
}

/// a·x + y of lanes anywhere in memory. Whole arrays go in and out, so that the compiler need not fear that memory overlaps
/// and uses one vector instruction.
#[inline(always)]
pub(crate) fn add_scaled<const FUSED: bool>(a: f64, x: [f64; LANES], y: [f64; LANES]) -> [f64; LANES] {
    from_fn(|i| fma::<FUSED>(a, x[i], y[i]))
}

/// One number, or one of each of four links.
pub(crate) trait Number:
    Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Neg<Output = Self>
{
    /// The same in all lanes.
    fn all(x: f64) -> Self;

    /// `self·b + c`.
    fn fma<const FUSED: bool>(self, b: Self, c: Self) -> Self;
}

impl Number for f64 {
    #[inline(always)]
    fn all(x: f64) -> f64 {
        x
    }

    #[inline(always)]
    fn fma<const FUSED: bool>(self, b: f64, c: f64) -> f64 {
        fma::<FUSED>(self, b, c)
    }
}

/// One number of each of four links, where a vector load does not cross cache lines.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(align(32))]
pub(crate) struct Lanes(pub [f64; LANES]);

impl Lanes {
    pub const ZERO: Lanes = Lanes([0.0; LANES]);
}

impl Number for Lanes {
    #[inline(always)]
    fn all(x: f64) -> Lanes {
        Lanes([x; LANES])
    }

    #[inline(always)]
    fn fma<const FUSED: bool>(self, b: Lanes, c: Lanes) -> Lanes {
        Lanes(from_fn(|i| fma::<FUSED>(self.0[i], b.0[i], c.0[i])))
    }
}

macro_rules! by_lanes {
    ($trait:ident, $method:ident, $operator:tt) => {
        impl $trait for Lanes {
            type Output = Lanes;
            #[inline(always)]
            fn $method(self, b: Lanes) -> Lanes {
                Lanes(from_fn(|i| self.0[i] $operator b.0[i]))
            }
        }
    };
}
by_lanes!(Add, add, +);
by_lanes!(Sub, sub, -);
by_lanes!(Mul, mul, *);

impl Neg for Lanes {
    type Output = Lanes;
    #[inline(always)]
    fn neg(self) -> Lanes {
        Lanes(self.0.map(|x| -x))
    }
}

impl Index<usize> for Lanes {
    type Output = f64;
    #[inline(always)]
    fn index(&self, l: usize) -> &f64 {
        &self.0[l]
    }
}

impl IndexMut<usize> for Lanes {
    #[inline(always)]
    fn index_mut(&mut self, l: usize) -> &mut f64 {
        &mut self.0[l]
    }
}

/// Stands in a loop over blocks of four, so that the compiler does not take one number of four blocks at a time instead,
/// which costs three times the instructions; it is none itself.
#[inline(always)]
pub(crate) fn one_block_at_a_time() {
    std::sync::atomic::compiler_fence(std::sync::atomic::Ordering::SeqCst);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algebra::angle::half_angle;
    use crate::algebra::three::{cross, dot, matrix, product, turn};
    use crate::algebra::wide::wide;
    use crate::numbers::Numbers;

    /// Every operation on lanes, and what is written in them.
    fn operations<const FUSED: bool, T: Number>(x: &[T; 10]) -> Vec<T> {
        let (a, b, q) = ([x[0], x[1], x[2]], [x[3], x[4], x[5]], [x[6], x[7], x[8], x[9]]);
        let R = matrix::<FUSED, _>(q);
        let mut all = vec![a[0] + b[0], a[0] - b[0], a[0] * b[0], -a[0], a[0].fma::<FUSED>(a[1], a[2])];
        all.push(dot::<FUSED, _>(a, b));
        all.extend(cross::<FUSED, _>(a, b));
        all.extend(turn::<FUSED, _>(&R, a));
        all.extend(product::<FUSED, _>(q, [x[0], x[1], x[2], x[3]]));
        let f = half_angle::<FUSED, _>(x[0] * x[0]);
        all.extend([f.cos, f.sinc, f.third, f.second]);
        all
    }

    wide! {
        fn on_lanes, lanes_here(x: &[Lanes; 10]) -> (bool, Vec<Lanes>)
    }

    fn lanes_here<const FUSED: bool>(x: &[Lanes; 10]) -> (bool, Vec<Lanes>) {
        (FUSED, operations::<FUSED, _>(x))
    }

    /// With the machine's vector instructions and without, lanes have the bits of their scalars.
    #[test]
    fn lanes_have_the_bits_of_scalars() {
        let mut numbers = Numbers(7);
        for _ in 0..200 {
            let x: [Lanes; 10] = from_fn(|_| Lanes(from_fn(|_| numbers.between(-1.5, 1.5))));
            let (fused, here) = on_lanes(&x);
            let plain = operations::<false, _>(&x);
            for l in 0..LANES {
                let one = x.map(|x| x[l]);
                let scalar = if fused { operations::<true, _>(&one) } else { operations::<false, _>(&one) };
                let bits = |x: &[f64]| x.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
                let lane = |x: &[Lanes]| x.iter().map(|x| x[l].to_bits()).collect::<Vec<_>>();
                assert_eq!(lane(&here), bits(&scalar));
                assert_eq!(lane(&plain), bits(&operations::<false, _>(&one)));
            }
            let (x, y) = (x[0].0, x[1].0);
            let sums = add_scaled::<false>(0.3, x, y);
            assert!((0..LANES).all(|l| sums[l].to_bits() == (0.3 * x[l] + y[l]).to_bits()));
        }
    }
}
