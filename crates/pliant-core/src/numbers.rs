//! Random numbers that are the same every time.

use std::f64::consts::TAU;

use nalgebra::{Quaternion, UnitQuaternion, Vector3};

/// The next random number, and the next seed (splitmix64: Steele, Lea and Flood 2014).
pub fn splitmix64(seed: &mut u64) -> u64 {
    *seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *seed;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Random numbers.
pub(crate) struct Numbers(pub u64);

impl Numbers {
    pub fn next(&mut self) -> u64 {
        splitmix64(&mut self.0)
    }

    /// From 0, 1 excluded: the upper 53 bits.
    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 * 2.0_f64.powi(-53)
    }

    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// Every decade as likely as the next.
    pub fn logarithmic(&mut self, low: f64, high: f64) -> f64 {
        low * (high / low).powf(self.unit())
    }

    pub fn chance(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }

    /// From 0, `count` excluded: the upper half of a 128-bit product, no division.
    pub fn below(&mut self, count: usize) -> usize {
        ((u128::from(self.next()) * count as u128) >> 64) as usize
    }

    pub fn one_of<T: Clone>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())].clone()
    }

    pub fn shuffle<T>(&mut self, list: &mut [T]) {
        for i in (1..list.len()).rev() {
            list.swap(i, self.below(i + 1));
        }
    }

    /// Evenly over the unit sphere.
    pub fn direction(&mut self) -> Vector3<f64> {
        let (height, angle) = (self.between(-1.0, 1.0), TAU * self.unit());
        let across = (1.0 - height * height).sqrt();
        Vector3::new(across * angle.cos(), across * angle.sin(), height)
    }

    /// Evenly over all rotations (Shoemake 1992).
    pub fn rotation(&mut self) -> UnitQuaternion<f64> {
        let (u, a, b) = (self.unit(), TAU * self.unit(), TAU * self.unit());
        let (s, c) = ((1.0 - u).sqrt(), u.sqrt());
        UnitQuaternion::new_normalize(Quaternion::new(s * a.sin(), s * a.cos(), c * b.sin(), c * b.cos()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The published sequence of splitmix64 from the seed 1234567.
    #[test]
    fn numbers_are_those_of_splitmix64() {
        let mut numbers = Numbers(1_234_567);
        assert_eq!(numbers.next(), 6_457_827_717_110_365_317);
        assert_eq!(numbers.next(), 3_203_168_211_198_807_973);
    }
}
