//! Where the links are, how they move and what their joints let them do: forward kinematics, parents first.
//!
//! Twists are in world axes at one common point P, so that nothing changes frame along the tree:
//!
//! ```text
//! H_c = H_p·Xp·X(θ)·Xc⁻¹,  ξ_c = ξ_p + Σ s_k θ̇_k,  s_k = Ad(joint frame) S_k      [Si 2010, eq. 12]
//! β_c = β_p + ξ_c × Σ s_k θ̇_k + Ad Ṡθ̇                                             acceleration at θ̈ = 0
//! ```
//!
//! (ξ_p × s and ξ_c × s are the same: s × s = 0.) Along the tree only sums are made, and products of quaternions; all
//! else is done for four links at a time, a few blocks of them in turn, so that they stay in the nearest memory.

use std::array::from_fn;
use std::ops::Range;

use nalgebra::{Quaternion, UnitQuaternion, Vector3};

use super::fours::{self, Four, Threes, lane, set_lane};
use super::model::{BASE, Constants, Joints, Link};
use super::rows::{Row, V3, ZERO, add, angular, cross, fma, linear, minus, plus, row, turn};
use crate::spatial::{Pose, Twist, exp};

/// A link in motion.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// The node's rotation (x, y, z, w) and position.
    pub rotation: [f64; 4],
    pub position: V3,
    /// ξ and β at P.
    pub twist: Row,
    pub bias: Row,
}

impl Place {
    /// The node's frame in the world.
    #[inline(always)]
    pub fn pose(&self) -> Pose {
        let [x, y, z, w] = self.rotation;
        Pose::new(UnitQuaternion::new_unchecked(Quaternion::new(w, x, y, z)), self.position.into())
    }

    /// The rotation's columns.
    #[inline(always)]
    fn columns(&self) -> [V3; 3] {
        fours::matrix::<false>(self.rotation.map(Four::all)).map(|c| c.map(|x| x.0[0]))
    }

    /// Where a point of the node's frame is in the world.
    #[inline(always)]
    pub fn point(&self, x: V3) -> V3 {
        plus(self.position, turn::<false>(&self.columns(), x))
    }

    /// The place of a free base, with twists at a point.
    fn of_float(float: &Float, point: V3) -> Place {
        let position = float.pose.position.into();
        let (v, w) = (float.twist.linear.into(), float.twist.angular.into());
        let twist = row(plus(v, cross::<false>(w, minus(point, position))), w);
        Place { rotation: float.pose.rotation.coords.into(), position, twist, bias: ZERO }
    }
}

/// A free base in motion.
#[derive(Clone, Copy, Debug)]
pub(super) struct Float {
    pub pose: Pose,
    /// World axes, at the node's origin.
    pub twist: Twist,
}

impl Float {
    /// Goes on along a twist at P for h seconds.
    pub fn advance(&mut self, twist: &Row, point: V3, h: f64) {
        let point = Vector3::from(point);
        let (v, w) = (Vector3::from(linear(twist)), Vector3::from(angular(twist)));
        let moved =
            exp(&Twist::new(v * h, w * h)) * Pose::new(self.pose.rotation, self.pose.position - point);
        self.pose = Pose::new(moved.rotation, moved.position + point);
        self.pose.rotation.renormalize_fast();
        self.twist = Twist::new(v + w.cross(&moved.position), w);
    }
}

/// Four links in motion, side by side.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block {
    pub rotation: [Four; 4],
    pub position: Threes,
    pub twist: [Four; 6],
    pub bias: [Four; 6],
    /// s of a hinge; of any other joint Σ s θ̇.
    pub axis: [Four; 6],
}

impl Block {
    /// The place of one of them.
    #[inline(always)]
    fn link(&self, l: usize) -> Place {
        Place {
            rotation: self.rotation.map(|x| x.0[l]),
            position: self.position.map(|x| x.0[l]),
            twist: lane(&self.twist, l),
            bias: lane(&self.bias, l),
        }
    }
}

/// What the joints of four links do, in the axes of those links, then in those of the world.
#[derive(Clone, Copy, Debug)]
struct Way {
    /// Rotation from the parent, and how far the link is from it, in its own axes.
    rotation: [Four; 4],
    step: Threes,
    /// s and θ̇ of a hinge; of any other joint Σ s θ̇ and one.
    axis: [Four; 6],
    rate: Four,
    /// What is added to ξ, then to β.
    change: [Four; 6],
}

/// Blocks that are placed together.
const TOGETHER: usize = 8;

/// All links in motion.
#[derive(Clone, Debug)]
pub(super) struct Places {
    pub blocks: Vec<Block>,
    /// Of the blocks that are placed together.
    ways: Vec<Way>,
    /// s of each freedom.
    pub axes: Vec<Row>,
    /// P.
    pub point: V3,
    /// The base's twist at P.
    pub base: Row,
}

impl Places {
    pub fn new(model: &Constants) -> Places {
        let (three, four, six) = ([Four::ZERO; 3], [Four::ZERO; 4], [Four::ZERO; 6]);
        let block = Block { rotation: four, position: three, twist: six, bias: six, axis: six };
        let way = Way { rotation: four, step: three, axis: six, rate: Four::ZERO, change: six };
        Places {
            blocks: vec![block; model.joints.len()],
            ways: vec![way; TOGETHER],
            axes: vec![ZERO; model.freedoms.len()],
            point: [0.0; 3],
            base: ZERO,
        }
    }

    /// The place of a link.
    #[inline(always)]
    pub fn link(&self, n: usize) -> Place {
        self.blocks[n / 4].link(n % 4)
    }

    /// Puts all links where the coordinates θ and rates θ̇ have them, on a base with a twist (world axes, at its
    /// origin).
    pub fn put(
        &mut self,
        model: &Constants,
        base: &Pose,
        twist: &Twist,
        floats: &[Float],
        theta: &[f64],
        rates: &[f64],
    ) {
        #[cfg(target_arch = "x86_64")]
        if model.fused {
            #[allow(unsafe_code)]
            // SAFETY: `fused` is set only after avx2 and fma were found on this machine.
            return unsafe { self.put_avx2(model, base, twist, floats, theta, rates) };
        }
        self.put_lanes::<false>(model, base, twist, floats, theta, rates);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma")]
    fn put_avx2(
        &mut self,
        model: &Constants,
        base: &Pose,
        twist: &Twist,
        floats: &[Float],
        theta: &[f64],
        rates: &[f64],
    ) {
        self.put_lanes::<true>(model, base, twist, floats, theta, rates);
    }

    #[inline(always)]
    fn put_lanes<const FUSED: bool>(
        &mut self,
        model: &Constants,
        base: &Pose,
        twist: &Twist,
        floats: &[Float],
        theta: &[f64],
        rates: &[f64],
    ) {
        // P goes with the base, or with a free one.
        let point = match floats.first() {
            Some(float) => float.pose.transform_point(&model.center_in_float),
            None => base.transform_point(&model.center),
        };
        self.point = point.into();
        let arm = point - base.position;
        self.base = row((twist.linear + twist.angular.cross(&arm)).into(), twist.angular.into());
        let base = Place {
            rotation: base.rotation.coords.into(),
            position: base.position.into(),
            twist: self.base,
            bias: ZERO,
        };
        // What a link without a parent stands on; a free base stands on itself.
        let at = self.point;
        let ground = |n: usize| match model.links[n].joint {
            Some(_) => base,
            None => Place::of_float(&floats[model.links[n].float], at),
        };
        for first in (0..self.blocks.len()).step_by(TOGETHER) {
            let blocks = first..(first + TOGETHER).min(self.blocks.len());
            let before = |block: usize| model.others.partition_point(|&n| n < 4 * block);
            let others = &model.others[before(blocks.start)..before(blocks.end)];
            self.place::<FUSED>(model, blocks, others, &ground, theta, rates);
        }
    }

    /// Places some blocks, of whose links some are on joints other than hinges.
    #[allow(clippy::too_many_arguments)]
    #[inline(always)]
    fn place<const FUSED: bool>(
        &mut self,
        model: &Constants,
        blocks: Range<usize>,
        others: &[usize],
        ground: &impl Fn(usize) -> Place,
        theta: &[f64],
        rates: &[f64],
    ) {
        let first = blocks.start;
        let point = self.point.map(Four::all);
        let joints = &model.joints[blocks.clone()];
        let ways = &mut self.ways[..blocks.len()];
        for (way, joint) in ways.iter_mut().zip(joints) {
            way.set::<FUSED>(joint, theta, rates);
        }
        for &n in others {
            let link = &model.links[n];
            let own = link.first..link.first + link.count;
            let (q, rate, axes) = (&theta[own.clone()], &rates[own.clone()], &mut self.axes[own]);
            let bias = ways[n / 4 - first].set_other(n % 4, link, &model.frames[n], q, rate, axes);
            set_lane(&mut self.blocks[n / 4].bias, n % 4, &bias);
        }
        let all = &mut self.blocks;
        descend(
            joints,
            ways,
            first,
            all,
            |b| &mut b.rotation,
            |n| ground(n).rotation,
            |way, l, parent| product::<FUSED>(parent, way.rotation.map(|x| x.0[l])),
        );
        for (way, block) in ways.iter_mut().zip(&mut all[blocks.clone()]) {
            fours::one_block_at_a_time();
            let R = fours::matrix::<FUSED>(block.rotation);
            way.step = fours::turn::<FUSED>(&R, way.step);
            let v = fours::turn::<FUSED>(&R, fours::linear(&way.axis));
            block.axis = fours::six(v, fours::turn::<FUSED>(&R, fours::angular(&way.axis)));
        }
        descend(
            joints,
            ways,
            first,
            all,
            |b| &mut b.position,
            |n| ground(n).position,
            |way, l, parent| from_fn(|k| parent[k] + way.step[k].0[l]),
        );
        for (way, block) in ways.iter_mut().zip(&mut all[blocks.clone()]) {
            // From the link's origin to P.
            let (at, w) = (fours::minus(block.position, point), fours::angular(&block.axis));
            let v = fours::plus(fours::linear(&block.axis), fours::cross::<FUSED>(at, w));
            block.axis = fours::six(v, w);
            for k in 0..6 {
                way.change[k] = way.rate * block.axis[k];
            }
        }
        let on_ground = |n| -> [f64; 6] { from_fn(|k| ground(n).twist[k]) };
        descend(
            joints,
            ways,
            first,
            all,
            |b| &mut b.twist,
            on_ground,
            |way, l, parent| from_fn(|k| parent[k] + way.change[k].0[l]),
        );
        for (way, block) in ways.iter_mut().zip(&all[blocks.clone()]) {
            // ξ × s = (ω×v_s + v×ω_s, ω×ω_s)
            let (v, w) = (fours::linear(&block.twist), fours::angular(&block.twist));
            let (dv, dw) = (fours::linear(&way.change), fours::angular(&way.change));
            let turned = fours::plus(fours::cross::<FUSED>(w, dv), fours::cross::<FUSED>(v, dw));
            way.change = fours::six(turned, fours::cross::<FUSED>(w, dw));
        }
        for (block, joint) in all[blocks.clone()].iter().zip(joints) {
            for l in 0..4 {
                if let Some(axis) = self.axes.get_mut(joint.freedom[l]) {
                    (0..6).for_each(|k| axis[k] = block.axis[k].0[l]);
                }
            }
        }
        for &n in others {
            // Out of the link's axes: Ad of its pose, seen from P.
            let (link, place, l) = (&model.links[n], all[n / 4].link(n % 4), n % 4);
            let (R, at) = (place.columns(), minus(place.position, self.point));
            let outer = |x: &Row| {
                let w = turn::<false>(&R, angular(x));
                row(plus(turn::<false>(&R, linear(x)), cross::<false>(at, w)), w)
            };
            self.axes[link.first..link.first + link.count].iter_mut().for_each(|axis| *axis = outer(axis));
            let (change, drift) = (&mut ways[n / 4 - first].change, outer(&place.bias));
            (0..6).for_each(|k| change[k].0[l] += drift[k]);
        }
        descend(
            joints,
            ways,
            first,
            all,
            |b| &mut b.bias,
            |_| [0.0; 6],
            |way, l, parent| from_fn(|k| parent[k] + way.change[k].0[l]),
        );
    }
}

impl Way {
    /// As hinges have it.
    #[inline(always)]
    fn set<const FUSED: bool>(&mut self, joint: &Joints, theta: &[f64], rates: &[f64]) {
        let of = |x: &[f64]| Four(joint.freedom.map(|i| x.get(i).map_or(0.0, |x| *x)));
        let [s, c] = sines_cosines::<FUSED>(&of(theta).0).map(Four);
        let [q0, q1] = &joint.rotation;
        self.rotation = from_fn(|i| s.fma::<FUSED>(q1[i], c * q0[i]));
        // cos θ = 1 − 2 sin²h, sin θ = 2 sin h cos h
        let twice = s + s;
        let (C, S) = ((-twice).fma::<FUSED>(s, Four::all(1.0)), twice * c);
        let [t0, t1, t2] = &joint.step;
        self.step = from_fn(|i| S.fma::<FUSED>(t2[i], C.fma::<FUSED>(t1[i], t0[i])));
        self.axis = joint.axis;
        self.rate = of(rates);
    }

    /// As a free base has it, or a link on any joint but a hinge: sets s of its freedoms and gives Ṡθ̇, in its axes.
    #[inline(never)]
    fn set_other(
        &mut self,
        l: usize,
        link: &Link,
        (outer, inner): &(Pose, Pose),
        q: &[f64],
        rate: &[f64],
        axes: &mut [Row],
    ) -> Row {
        let (X, S, bias) = link.kind.motion(q, rate);
        let mut relative = *outer * X * *inner;
        relative.rotation.renormalize_fast();
        let local = |twist: &Twist| {
            let twist = inner.twist_to_local(twist);
            row(twist.linear.into(), twist.angular.into())
        };
        let mut own = ZERO;
        for (k, axis) in axes.iter_mut().enumerate() {
            *axis = local(&Twist::from_vector(&S.column(k).into()));
            add::<false>(&mut own, rate[k], axis);
        }
        let step = relative.rotation.inverse() * relative.position;
        (0..4).for_each(|i| self.rotation[i].0[l] = relative.rotation.coords[i]);
        (0..3).for_each(|i| self.step[i].0[l] = step[i]);
        set_lane(&mut self.axis, l, &own);
        self.rate.0[l] = 1.0;
        local(&bias)
    }
}

/// Gives each link of some blocks what `next` makes of what its parent has; links without a parent stand on the ground.
#[inline(always)]
fn descend<const N: usize>(
    joints: &[Joints],
    ways: &[Way],
    first: usize,
    blocks: &mut [Block],
    part: impl Fn(&mut Block) -> &mut [Four; N],
    ground: impl Fn(usize) -> [f64; N],
    next: impl Fn(&Way, usize, [f64; N]) -> [f64; N],
) {
    // What the link before has is at hand.
    let mut value = [0.0; N];
    for (i, (joint, way)) in joints.iter().zip(ways).enumerate() {
        let b = first + i;
        for l in 0..4 {
            let parent = joint.parent[l];
            if (l == 0 || !joint.in_row) && (l == 0 && i == 0 || parent != (4 * b + l).wrapping_sub(1)) {
                if parent == BASE {
                    value = ground(4 * b + l);
                } else {
                    let from = part(&mut blocks[parent / 4]);
                    (0..N).for_each(|k| value[k] = from[k].0[parent % 4]);
                }
            }
            value = next(way, l, value);
            let to = part(&mut blocks[b]);
            (0..N).for_each(|k| to[k].0[l] = value[k]);
        }
    }
}

/// The largest angle, rad, for the series below.
const SERIES: f64 = 1.0;

/// sin h and cos h of h = q/2: power series up to [`SERIES`], where the first terms left out, h¹⁹/19! and h²⁰/20!, are
/// below rounding; beyond, the library's.
#[inline(always)]
fn sines_cosines<const FUSED: bool>(q: &[f64; 4]) -> [[f64; 4]; 2] {
    const SINE: [f64; 9] = inverse_factorials(1);
    const COSINE: [f64; 9] = inverse_factorials(2);
    let h = q.map(|q| 0.5 * q);
    let x = h.map(|h| h * h);
    let (mut s, mut c) = ([SINE[8]; 4], [COSINE[8]; 4]);
    for k in (0..8).rev() {
        for i in 0..4 {
            s[i] = fma::<FUSED>(s[i], x[i], SINE[k]);
            c[i] = fma::<FUSED>(c[i], x[i], COSINE[k]);
        }
    }
    for i in 0..4 {
        s[i] *= h[i];
        c[i] = fma::<FUSED>(-c[i], x[i], 1.0);
    }
    if h.iter().any(|h| h.abs() > SERIES) {
        for i in (0..4).filter(|&i| h[i].abs() > SERIES) {
            (s[i], c[i]) = h[i].sin_cos();
        }
    }
    [s, c]
}

/// (−1)^k/(2k + first)!.
const fn inverse_factorials(first: usize) -> [f64; 9] {
    let mut series = [0.0; 9];
    let mut factorial = 1.0;
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

/// p ⊗ q of quaternions x, y, z, w.
#[inline(always)]
fn product<const FUSED: bool>(p: [f64; 4], q: [f64; 4]) -> [f64; 4] {
    let sum = |a: f64, b: f64, c: f64, d: f64| fma::<FUSED>(a, b, c * d);
    [
        sum(p[3], q[0], p[0], q[3]) + sum(p[1], q[2], -p[2], q[1]),
        sum(p[3], q[1], p[1], q[3]) + sum(p[2], q[0], -p[0], q[2]),
        sum(p[3], q[2], p[2], q[3]) + sum(p[0], q[1], -p[1], q[0]),
        sum(p[3], q[3], -p[0], q[0]) - sum(p[1], q[1], p[2], q[2]),
    ]
}
