//! Momenta: what every link carries from step to step, and the sums along the tree of what acts on them.
//!
//! A link carries the velocity v̄ of its centre of mass c and its angular momentum L, as the articulated engine has it. In a step
//! of h seconds its inertia is K, that in the middle of the present turn, R exp(½hω), ω = I⁻¹L: at the start of it, a tumbling
//! body would gain energy. What it has of its own, less what the present rates give it, is an impulse at P
//!
//! ```text
//! f = m(v̄ − v − ω×c) + h m g,   t = c×f + L − K ω
//! ```
//! and the sum over all that a freedom carries, times its s, is what pushes that freedom.

use std::array::from_fn;

use super::basis::Basis;
use super::placing::{Block, Places, Six, Turns};
use super::tree::{BASE, Tree, Weights};
use crate::algebra::angle::{half_angle, in_range, inverse_factorials};
use crate::algebra::lanes::{Lanes, Number, one_block_at_a_time};
use crate::algebra::three::{Three, angular, cross, dot, linear, matrix, minus, plus, product, six};
use crate::algebra::wide::wide;
use crate::spatial::exp_rotation;
use nalgebra::Vector3;

/// What four links carry on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Carried {
    /// Of the centre of mass.
    pub velocity: Three<Lanes>,
    /// About the centre of mass.
    pub angular: Three<Lanes>,
    /// K: xx, xy, xz, yy, yz, zz.
    pub middle: [Lanes; 6],
}

impl Carried {
    pub const STILL: Carried =
        Carried { velocity: [Lanes::ZERO; 3], angular: [Lanes::ZERO; 3], middle: [Lanes::ZERO; 6] };
}

/// S x of a symmetric matrix.
#[inline(always)]
pub(super) fn apply<const FUSED: bool>(S: &[Lanes; 6], x: Three<Lanes>) -> Three<Lanes> {
    [
        dot::<FUSED, _>([S[0], S[1], S[2]], x),
        dot::<FUSED, _>([S[1], S[3], S[4]], x),
        dot::<FUSED, _>([S[2], S[4], S[5]], x),
    ]
}

/// Rᵀx, R by its columns.
#[inline(always)]
pub(super) fn turn_back<const FUSED: bool>(R: &[Three<Lanes>; 3], x: Three<Lanes>) -> Three<Lanes> {
    [dot::<FUSED, _>(R[0], x), dot::<FUSED, _>(R[1], x), dot::<FUSED, _>(R[2], x)]
}

/// R S Rᵀ.
#[inline(always)]
fn turned<const FUSED: bool>(R: &[Three<Lanes>; 3], S: &[Lanes; 6]) -> [Lanes; 6] {
    let [a, b, c] = [[R[0][0], R[1][0], R[2][0]], [R[0][1], R[1][1], R[2][1]], [R[0][2], R[1][2], R[2][2]]];
    let (Sa, Sb, Sc) = (apply::<FUSED>(S, a), apply::<FUSED>(S, b), apply::<FUSED>(S, c));
    [
        dot::<FUSED, _>(Sa, a),
        dot::<FUSED, _>(Sa, b),
        dot::<FUSED, _>(Sa, c),
        dot::<FUSED, _>(Sb, b),
        dot::<FUSED, _>(Sb, c),
        dot::<FUSED, _>(Sc, c),
    ]
}

/// The body's own turning, ω = I⁻¹RᵀL.
#[inline(always)]
pub(super) fn own_turning<const FUSED: bool>(
    weights: &Weights,
    block: &Block,
    L: Three<Lanes>,
) -> Three<Lanes> {
    apply::<FUSED>(&weights.inverse, turn_back::<FUSED>(&block.columns, L))
}

/// Squares of half-angles up to which [`near`] serves.
const NEAR: f64 = 1.0 / 64.0;

/// sin(h)/h and cos h of small half-angles, x = h²: the first terms left out are x⁵/11! < 3e-17 and x⁶/12! < 4e-20.
#[inline(always)]
fn near<const FUSED: bool>(x: Lanes) -> (Lanes, Lanes) {
    const SINE: [f64; 5] = inverse_factorials(1);
    const COSINE: [f64; 6] = inverse_factorials(0);
    let (mut sinc, mut cos) = (Lanes::all(SINE[4]), Lanes::all(COSINE[5]));
    for k in (0..4).rev() {
        sinc = sinc.fma::<FUSED>(x, Lanes::all(SINE[k]));
    }
    for k in (0..5).rev() {
        cos = cos.fma::<FUSED>(x, Lanes::all(COSINE[k]));
    }
    (sinc, cos)
}

/// K for a turning of the body that it is half-way of, ω in its own axes.
#[inline(always)]
fn middle<const FUSED: bool>(weights: &Weights, block: &Block, w: Three<Lanes>, h: f64) -> [Lanes; 6] {
    // exp(½hω): half its angle is ¼h|ω|.
    let quarter = w.map(|x| x * Lanes::all(0.25 * h));
    let x = dot::<FUSED, _>(quarter, quarter);
    let (sinc, cos) = if x.0.iter().fold(true, |all, x| all & (*x <= NEAR)) {
        near::<FUSED>(x)
    } else {
        let f = half_angle::<FUSED, _>(x);
        (f.sinc, f.cos)
    };
    let mut half = [quarter[0] * sinc, quarter[1] * sinc, quarter[2] * sinc, cos];
    if !in_range(x) {
        for l in 0..4 {
            let far = exp_rotation(&Vector3::new(quarter[0][l], quarter[1][l], quarter[2][l]).scale(2.0));
            (0..4).for_each(|i| half[i][l] = far.coords[i]);
        }
    }
    turned::<FUSED>(&matrix::<FUSED, _>(product::<FUSED, _>(block.rotation, half)), &weights.inertia)
}

/// What surrounds all links in a step of h seconds: the base's twist at P, and gravity.
#[derive(Clone, Copy, Debug)]
pub(super) struct Around {
    pub base: Six,
    pub gravity: Three<f64>,
    pub h: f64,
}

wide! {
    /// K of all links for a step of h seconds, and the impulses that they have of their own, with their weight, at P: more than
    /// the present rates give them, on a base with a twist at P. Free trees are stepped in axes that turn with `rates`.
    pub(super) fn own_impulses, own_impulses_lanes(
        tree: &Tree, places: &Places, now: &Turns, around: &Around, rates: &[Three<Lanes>], carried: &mut [Carried],
        sums: &mut [[Lanes; 6]]
    )
}

#[inline(always)]
fn own_impulses_lanes<const FUSED: bool>(
    tree: &Tree,
    places: &Places,
    now: &Turns,
    &Around { base, gravity, h }: &Around,
    rates: &[Three<Lanes>],
    carried: &mut [Carried],
    sums: &mut [[Lanes; 6]],
) {
    let (v0, w0) = (linear(&base).map(Lanes::all), angular(&base).map(Lanes::all));
    let weight = gravity.map(|g| Lanes::all(h * g));
    let rows = places.blocks.iter().zip(&tree.weights).zip(now.twists.iter().zip(carried)).zip(sums);
    for (b, (((block, weights), (twist, carried)), sum)) in rows.enumerate() {
        one_block_at_a_time();
        let mut turning = own_turning::<FUSED>(weights, block, carried.angular);
        if let Some(rate) = rates.get(b) {
            turning = minus(turning, turn_back::<FUSED>(&block.columns, *rate));
        }
        carried.middle = middle::<FUSED>(weights, block, turning, h);
        let (v, w) = (plus(linear(twist), v0), plus(angular(twist), w0));
        let moving = plus(v, cross::<FUSED, _>(w, block.center));
        let more = plus(minus(carried.velocity, moving), weight);
        let f = more.map(|x| x * weights.mass);
        let spin = minus(carried.angular, apply::<FUSED>(&carried.middle, w));
        *sum = six(f, plus(spin, cross::<FUSED, _>(block.center, f)));
    }
}

wide! {
    /// What all links carry on from a step that ends with these twists, on a base with a twist at P.
    pub(super) fn carry, carry_lanes(places: &Places, end: &Turns, base: &Six, from: &[Carried], to: &mut [Carried])
}

#[inline(always)]
fn carry_lanes<const FUSED: bool>(
    places: &Places,
    end: &Turns,
    base: &Six,
    from: &[Carried],
    to: &mut [Carried],
) {
    let (v0, w0) = (linear(base).map(Lanes::all), angular(base).map(Lanes::all));
    for (((block, twist), from), to) in places.blocks.iter().zip(&end.twists).zip(from).zip(to) {
        one_block_at_a_time();
        let (v, w) = (plus(linear(twist), v0), plus(angular(twist), w0));
        to.velocity = plus(v, cross::<FUSED, _>(w, block.center));
        to.angular = apply::<FUSED>(&from.middle, w);
    }
}

wide! {
    /// Momenta at P that links gain from some twists to others, f = mΔ(v + ω×c), t = c×f + KΔω.
    pub(super) fn gained, gained_lanes(
        places: &Places, weights: &[Weights], from: &Turns, to: &Turns, carried: &[Carried], sums: &mut [[Lanes; 6]]
    )
}

#[inline(always)]
fn gained_lanes<const FUSED: bool>(
    places: &Places,
    weights: &[Weights],
    from: &Turns,
    to: &Turns,
    carried: &[Carried],
    sums: &mut [[Lanes; 6]],
) {
    let rows =
        places.blocks.iter().zip(weights).zip(from.twists.iter().zip(&to.twists)).zip(carried).zip(sums);
    for ((((block, weights), (from, to)), carried), sum) in rows {
        one_block_at_a_time();
        let (v, w) = (minus(linear(to), linear(from)), minus(angular(to), angular(from)));
        let f = plus(v, cross::<FUSED, _>(w, block.center)).map(|x| x * weights.mass);
        *sum = six(f, plus(cross::<FUSED, _>(block.center, f), apply::<FUSED>(&carried.middle, w)));
    }
}

/// Sums up what links have, those that they carry included.
#[inline(always)]
pub(super) fn sum_up<const N: usize>(tree: &Tree, sums: &mut [[Lanes; N]]) {
    // What the link after adds to this one.
    let mut hand = [0.0; N];
    for (b, joints) in tree.joints.iter().enumerate().rev() {
        let first = if joints.in_row {
            // Links that hang on these are counted already: none is between them.
            // Plain loops: the compiler does not inline closures here, and without that they have no vector instructions.
            for k in 0..N {
                sums[b][k] = sums_to_row(sums[b][k], hand[k]);
            }
            0
        } else {
            3
        };
        for l in (0..=first).rev() {
            let n = 4 * b + l;
            let mut total = [0.0; N];
            for k in 0..N {
                if !joints.in_row {
                    sums[b][k][l] += hand[k];
                }
                total[k] = sums[b][k][l];
            }
            let parent = joints.parent[l];
            if n > 0 && parent == n - 1 {
                hand = total;
                continue;
            }
            hand = [0.0; N];
            if parent != BASE {
                for k in 0..N {
                    sums[parent / 4][k][parent % 4] += total[k];
                }
            }
        }
    }
}

/// The sums of numbers in a row from its end, after which there is more: two additions deep, not four.
#[inline(always)]
fn sums_to_row(x: Lanes, after: f64) -> Lanes {
    let [a, b, c, d] = x.0;
    let pairs = Lanes([a, b, c, d]) + Lanes([b, c, d, 0.0]);
    let [_, _, c, d] = pairs.0;
    (pairs + Lanes([c, d, 0.0, 0.0])) + Lanes::all(after)
}

wide! {
    /// Qᵏ = Σ Θ_i τ_i, τ_i = s_i·(sum of all that freedom i carries); `sums` are summed up on the way.
    pub(super) fn gather, gather_lanes(
        tree: &Tree, basis: &Basis, places: &Places, sums: &mut [[Lanes; 6]], columns: &mut [Lanes], Q: &mut [f64]
    )
}

#[inline(always)]
fn gather_lanes<const FUSED: bool>(
    tree: &Tree,
    basis: &Basis,
    places: &Places,
    sums: &mut [[Lanes; 6]],
    columns: &mut [Lanes],
    Q: &mut [f64],
) {
    sum_up(tree, sums);
    columns.fill(Lanes::ZERO);
    // Four blocks in one go, so that a sum is read and written once for all of them.
    for (first, (blocks, sums)) in places.blocks.chunks(4).zip(sums.chunks(4)).enumerate() {
        let mut tau = [Lanes::ZERO; 4];
        for ((tau, block), sum) in tau.iter_mut().zip(blocks).zip(sums) {
            one_block_at_a_time();
            *tau = dot::<FUSED, _>(linear(&block.axis), linear(sum))
                + dot::<FUSED, _>(angular(&block.axis), angular(sum));
        }
        let count = columns.len();
        let theta = &basis.lanes[4 * first * count..][..blocks.len() * count];
        if blocks.len() == 4 {
            let [one, two, three, four]: [&[Lanes]; 4] = from_fn(|k| &theta[k * count..(k + 1) * count]);
            let rows = columns.iter_mut().zip(one).zip(two).zip(three).zip(four);
            for ((((column, one), two), three), four) in rows {
                one_block_at_a_time();
                let sum = one.fma::<FUSED>(tau[0], two.fma::<FUSED>(tau[1], *column));
                *column = three.fma::<FUSED>(tau[2], four.fma::<FUSED>(tau[3], sum));
            }
            continue;
        }
        for (theta, tau) in theta.chunks_exact(count.max(1)).zip(tau) {
            for (column, theta) in columns.iter_mut().zip(theta) {
                *column = theta.fma::<FUSED>(tau, *column);
            }
        }
    }
    for (Q, column) in Q.iter_mut().zip(&*columns) {
        *Q = (column[0] + column[1]) + (column[2] + column[3]);
    }
    for &n in &tree.others {
        let link = &tree.links[n];
        let sum = sums[n / 4].map(|x| x[n % 4]);
        for i in link.first..link.first + link.count {
            let tau: f64 = places.axes[i].iter().zip(&sum).map(|(s, f)| s * f).sum();
            Q.iter_mut().zip(basis.row(i)).for_each(|(Q, theta)| *Q += theta * tau);
        }
    }
}

/// Adds a wrench (force, torque), world axes, at a point to the sums of a link.
#[inline]
pub(super) fn push(sums: &mut [[Lanes; 6]], places: &Places, n: usize, at: Three<f64>, wrench: &Six) {
    let (f, t) = (linear(wrench), angular(wrench));
    let moment = plus(t, cross::<false, _>(minus(at, places.point), f));
    let own = &mut sums[n / 4];
    (0..3).for_each(|k| {
        own[k][n % 4] += f[k];
        own[3 + k][n % 4] += moment[k];
    });
}
