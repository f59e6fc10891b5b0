//! Four links at a time: arithmetic on `[f64; 4]` and the functions of an angle that poses are made of.
//!
//! Everything is inlined into a function that is compiled for the machine's vector instructions, where
//! each operation is one of them. `FUSED` says that these have a fused multiply-add.

/// Links that are worked on at the same time.
pub(super) const LANES: usize = 4;

/// The same number of four links.
pub(super) type Lanes = [f64; LANES];

/// Lanes that start where a vector load does not cross cache lines.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(align(32))]
pub(super) struct Aligned<T>(pub T);

/// `a·b + c`, fused where the machine does it in one instruction.
#[inline(always)]
pub(super) fn fma<const FUSED: bool>(a: f64, b: f64, c: f64) -> f64 {
    if FUSED { a.mul_add(b, c) } else { a * b + c }
}

/// a·b + c on lanes.
#[inline(always)]
pub(super) fn mul_add<const FUSED: bool>(a: Lanes, b: Lanes, c: Lanes) -> Lanes {
    std::array::from_fn(|i| fma::<FUSED>(a[i], b[i], c[i]))
}

/// c − a·b on lanes.
#[inline(always)]
pub(super) fn neg_mul_add<const FUSED: bool>(a: Lanes, b: Lanes, c: Lanes) -> Lanes {
    std::array::from_fn(|i| fma::<FUSED>(-a[i], b[i], c[i]))
}

/// a·b on lanes.
#[inline(always)]
pub(super) fn mul(a: Lanes, b: Lanes) -> Lanes {
    std::array::from_fn(|i| a[i] * b[i])
}

/// a + b on lanes.
#[inline(always)]
pub(super) fn add(a: Lanes, b: Lanes) -> Lanes {
    std::array::from_fn(|i| a[i] + b[i])
}

/// The same number in all lanes.
#[inline(always)]
pub(super) fn splat(a: f64) -> Lanes {
    [a; LANES]
}

/// a × b on lanes.
#[inline(always)]
pub(super) fn cross<const FUSED: bool>(a: &[Lanes; 3], b: &[Lanes; 3]) -> [Lanes; 3] {
    let part = |i: usize, j: usize| neg_mul_add::<FUSED>(a[j], b[i], mul(a[i], b[j]));
    [part(1, 2), part(2, 0), part(0, 1)]
}

/// The product p ⊗ q of quaternions x, y, z, w on lanes.
#[inline(always)]
pub(super) fn product<const FUSED: bool>(p: &[Lanes; 4], q: &[Lanes; 4]) -> [Lanes; 4] {
    // Two halves of two terms, so that a product waits for three operations and not for four.
    let sum = |a: Lanes, b: Lanes, c: Lanes, d: Lanes| mul_add::<FUSED>(a, b, mul(c, d));
    let difference = |a: Lanes, b: Lanes, c: Lanes, d: Lanes| neg_mul_add::<FUSED>(c, d, mul(a, b));
    [
        add(sum(p[3], q[0], p[0], q[3]), difference(p[1], q[2], p[2], q[1])),
        add(sum(p[3], q[1], p[1], q[3]), difference(p[2], q[0], p[0], q[2])),
        add(sum(p[3], q[2], p[2], q[3]), difference(p[0], q[1], p[1], q[0])),
        sub(difference(p[3], q[3], p[0], q[0]), sum(p[1], q[1], p[2], q[2])),
    ]
}

/// a − b on lanes.
#[inline(always)]
fn sub(a: Lanes, b: Lanes) -> Lanes {
    std::array::from_fn(|i| a[i] - b[i])
}

/// R(q) t = t + 2w (u×t) + 2 u×(u×t), q = (u, w), on lanes.
#[inline(always)]
pub(super) fn rotate<const FUSED: bool>(q: &[Lanes; 4], t: &[Lanes; 3]) -> [Lanes; 3] {
    let u = [q[0], q[1], q[2]];
    let c = cross::<FUSED>(&u, t);
    let c = c.map(|c| add(c, c));
    let cc = cross::<FUSED>(&u, &c);
    std::array::from_fn(|i| add(mul_add::<FUSED>(q[3], c[i], t[i]), cc[i]))
}

/// Squares of half-angles above this, (π/2)², are not for [`half_angle`].
pub(super) const LARGEST: f64 = 2.4674;

/// Whether all lanes are in the range of [`half_angle`]; not if one is not a number.
#[inline(always)]
pub(super) fn in_range(x: Lanes) -> bool {
    x.iter().fold(true, |all, x| all & (*x <= LARGEST))
}

/// Functions of the half-angle h = θ/2.
pub(super) struct HalfAngle {
    /// cos h.
    pub cos: Lanes,
    /// sin(h)/h.
    pub sinc: Lanes,
    /// (h − sin h)/h³.
    pub third: Lanes,
    /// (1 − cos h)/h².
    pub second: Lanes,
}

/// The functions of x = h² that rotations are made of, for h up to π/2. Both series are of entire functions:
///
/// C = (1 − cos h)/h² = Σ (−x)^k/(2k+2)!,  G = (h − sin h)/h³ = Σ (−x)^k/(2k+3)!,
/// cos h = 1 − xC,  sin(h)/h = 1 − xG.
///
/// The first terms left out are x¹⁰/22! < 8e-18 and x¹⁰/23! < 4e-19.
#[inline(always)]
pub(super) fn half_angle<const FUSED: bool>(x: Lanes) -> HalfAngle {
    const SECOND: [f64; 10] = inverse_factorials(2);
    const THIRD: [f64; 10] = inverse_factorials(3);
    let (mut C, mut G) = (splat(SECOND[9]), splat(THIRD[9]));
    for k in (0..9).rev() {
        C = mul_add::<FUSED>(C, x, splat(SECOND[k]));
        G = mul_add::<FUSED>(G, x, splat(THIRD[k]));
    }
    let one = splat(1.0);
    HalfAngle {
        cos: neg_mul_add::<FUSED>(x, C, one),
        sinc: neg_mul_add::<FUSED>(x, G, one),
        third: G,
        second: C,
    }
}

/// (−1)^k/(2k + first)!.
const fn inverse_factorials(first: usize) -> [f64; 10] {
    let mut series = [0.0; 10];
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
