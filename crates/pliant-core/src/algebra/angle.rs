//! Sines and cosines by series of entire functions, in lanes and alone.

use super::lanes::{LANES, Lanes, Number};

/// (−1)^k/(2k + first)!.
pub(crate) const fn inverse_factorials<const N: usize>(first: usize) -> [f64; N] {
    let mut series = [0.0; N];
    let mut factorial = 1.0; // exact: 21! without its factors of two has 48 bits
    let (mut n, mut k) = (0, 0);
    while k < N {
        while n < 2 * k + first {
            n += 1;
            factorial *= n as f64;
        }
        series[k] = if k % 2 == 0 { 1.0 / factorial } else { -1.0 / factorial };
        k += 1;
    }
    series
}

/// Squares of half-angles above this, (π/2)², are not for [`half_angle`].
pub(crate) const LARGEST: f64 = 2.4674;

/// Whether all lanes are in the range of [`half_angle`]; not if one is not a number.
#[inline(always)]
pub(crate) fn in_range(x: Lanes) -> bool {
    x.0.iter().fold(true, |all, x| all & (*x <= LARGEST))
}

/// Functions of the half-angle h = θ/2.
pub(crate) struct HalfAngle<T> {
    /// cos h.
    pub cos: T,
    /// sin(h)/h.
    pub sinc: T,
    /// (h − sin h)/h³.
    pub third: T,
    /// (1 − cos h)/h².
    pub second: T,
}

/// The functions of x = h² that rotations are made of, for h up to π/2. Both series are of entire functions:
///
/// C = (1 − cos h)/h² = Σ (−x)^k/(2k+2)!,  G = (h − sin h)/h³ = Σ (−x)^k/(2k+3)!,
/// cos h = 1 − xC,  sin(h)/h = 1 − xG.
///
/// The first terms left out are x¹⁰/22! < 8e-18 and x¹⁰/23! < 4e-19.
#[inline(always)]
pub(crate) fn half_angle<const FUSED: bool, T: Number>(x: T) -> HalfAngle<T> {
    const SECOND: [f64; 10] = inverse_factorials(2);
    const THIRD: [f64; 10] = inverse_factorials(3);
    let (mut C, mut G) = (T::all(SECOND[9]), T::all(THIRD[9]));
    for k in (0..9).rev() {
        C = C.fma::<FUSED>(x, T::all(SECOND[k]));
        G = G.fma::<FUSED>(x, T::all(THIRD[k]));
    }
    let one = T::all(1.0);
    HalfAngle { cos: (-x).fma::<FUSED>(C, one), sinc: (-x).fma::<FUSED>(G, one), third: G, second: C }
}

/// sin h and cos h in lanes: by [`half_angle`] in its range, else by the library.
#[inline(always)]
pub(crate) fn sines_cosines<const FUSED: bool>(h: Lanes) -> (Lanes, Lanes) {
    let x = h * h;
    let f = half_angle::<FUSED, _>(x);
    let (s, c) = (h * f.sinc, f.cos);
    if in_range(x) { (s, c) } else { beyond(h, s, c) }
}

#[cold]
#[inline(never)]
fn beyond(h: Lanes, mut s: Lanes, mut c: Lanes) -> (Lanes, Lanes) {
    for l in (0..LANES).filter(|&l| h[l] * h[l] > LARGEST || h[l].is_nan()) {
        (s[l], c[l]) = h[l].sin_cos();
    }
    (s, c)
}

/// sin h and cos h of one angle: up to a right one, as halves of joints' turns are, sin h = h Σ (−h²)^k/(2k+1)! and
/// cos h = Σ (−h²)^k/(2k)!, whose first terms left out are below 1e-18.
#[inline(always)]
pub(crate) fn sin_cos<const FUSED: bool>(h: f64) -> (f64, f64) {
    const SINE: [f64; 11] = inverse_factorials(1);
    const COSINE: [f64; 11] = inverse_factorials(0);
    let x = h * h;
    if x.is_nan() || x >= LARGEST {
        return h.sin_cos();
    }
    // Two halves each, so that one waits for half as many operations.
    let even = |series: &[f64; 11]| {
        let y = x * x;
        let (mut a, mut b) = (series[10], series[9]);
        for k in (0..4).rev() {
            a = a.fma::<FUSED>(y, series[2 * k + 2]);
            b = b.fma::<FUSED>(y, series[2 * k + 1]);
        }
        a.fma::<FUSED>(x, b).fma::<FUSED>(x, series[0])
    };
    (h * even(&SINE), even(&COSINE))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against the library, in whose closed forms nothing cancels above h = 0.3 worse than by a factor of 1/h³.
    #[test]
    fn series_are_the_functions() {
        for k in 0..=1_000 {
            let h = k as f64 / 1_000.0 * LARGEST.sqrt();
            for f in [half_angle::<false, _>(h * h), half_angle::<true, _>(h * h)] {
                assert!((f.cos - h.cos()).abs() < 3e-16, "{h}");
                assert!((f.sinc * h - h.sin()).abs() < 3e-16, "{h}");
                if h > 0.3 {
                    assert!((f.second - (1.0 - h.cos()) / (h * h)).abs() < 3e-16 / (h * h), "{h}");
                    assert!((f.third - (h - h.sin()) / (h * h * h)).abs() < 3e-16 / (h * h * h), "{h}");
                }
            }
        }
        for tiny in [0.0, 1e-300, 1e-20] {
            let f = half_angle::<true, _>(tiny);
            assert_eq!((f.cos, f.sinc, f.second, f.third), (1.0, 1.0, 0.5, 1.0 / 6.0));
        }
    }

    /// Against the library's own, to the last bits, and beyond the range of the series.
    #[test]
    fn sines_and_cosines_are_those_of_the_library() {
        for k in -4000..4000 {
            let h = 0.001 * f64::from(k);
            let (s, c) = sines_cosines::<true>(Lanes([0.1, h, 0.2, 0.3]));
            for (s, c) in [sin_cos::<false>(h), sin_cos::<true>(h), (s[1], c[1])] {
                assert!((s - h.sin()).abs() < 4e-16 && (c - h.cos()).abs() < 4e-16, "{h}");
            }
        }
        let (s, c) = sines_cosines::<false>(Lanes([f64::NAN, 3.0, 0.0, 0.0]));
        assert!(s[0].is_nan() && c[0].is_nan() && s[1] == 3f64.sin());
    }
}
