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

use super::model::{BASE, Constants, Joints, Link};
use super::rows::{Row, V3, ZERO, add, angular, cross, lane, linear, minus, plus, row, set_lane, turn};
use crate::linear::lanes::{Lanes, Number, one_block_at_a_time};
use crate::linear::three::{Three, matrix, product, six};
use crate::linear::wide::wide;
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
        matrix::<false, _>(self.rotation)
    }

    /// Where a point of the node's frame is in the world.
    #[inline(always)]
    pub fn point(&self, x: V3) -> V3 {
        plus(self.position, turn::<false, _>(&self.columns(), x))
    }

    /// The place of a free base, with twists at a point.
    fn of_float(float: &Float, point: V3) -> Place {
        let position = float.pose.position.into();
        let (v, w) = (float.twist.linear.into(), float.twist.angular.into());
        let twist = row(plus(v, cross::<false, _>(w, minus(point, position))), w);
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
    pub rotation: [Lanes; 4],
    pub position: Three<Lanes>,
    pub twist: [Lanes; 6],
    pub bias: [Lanes; 6],
    /// s of a hinge; of any other joint Σ s θ̇.
    pub axis: [Lanes; 6],
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
    rotation: [Lanes; 4],
    step: Three<Lanes>,
    /// s and θ̇ of a hinge; of any other joint Σ s θ̇ and one.
    axis: [Lanes; 6],
    rate: Lanes,
    /// What is added to ξ, then to β.
    change: [Lanes; 6],
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
        let (three, four, six) = ([Lanes::ZERO; 3], [Lanes::ZERO; 4], [Lanes::ZERO; 6]);
        let block = Block { rotation: four, position: three, twist: six, bias: six, axis: six };
        let way = Way { rotation: four, step: three, axis: six, rate: Lanes::ZERO, change: six };
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

    wide! {
        /// Puts all links where the coordinates θ and rates θ̇ have them, on a base with a twist (world axes, at its
        /// origin).
        pub fn put, put_lanes(
            &mut self: Places, model: &Constants, base: &Pose, twist: &Twist, floats: &[Float], theta: &[f64], rates: &[f64]
        )
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
        let point = self.point.map(Lanes::all);
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
            |way, l, parent| product::<FUSED, _>(parent, way.rotation.map(|x| x.0[l])),
        );
        for (way, block) in ways.iter_mut().zip(&mut all[blocks.clone()]) {
            one_block_at_a_time();
            let R = matrix::<FUSED, _>(block.rotation);
            way.step = turn::<FUSED, _>(&R, way.step);
            let v = turn::<FUSED, _>(&R, linear(&way.axis));
            block.axis = six(v, turn::<FUSED, _>(&R, angular(&way.axis)));
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
            let (at, w) = (minus(block.position, point), angular(&block.axis));
            let v = plus(linear(&block.axis), cross::<FUSED, _>(at, w));
            block.axis = six(v, w);
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
            let (v, w) = (linear(&block.twist), angular(&block.twist));
            let (dv, dw) = (linear(&way.change), angular(&way.change));
            let turned = plus(cross::<FUSED, _>(w, dv), cross::<FUSED, _>(v, dw));
            way.change = six(turned, cross::<FUSED, _>(w, dw));
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
                let w = turn::<false, _>(&R, angular(x));
                row(plus(turn::<false, _>(&R, linear(x)), cross::<false, _>(at, w)), w)
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
        let of = |x: &[f64]| Lanes(joint.freedom.map(|i| x.get(i).map_or(0.0, |x| *x)));
        (self.rotation, self.step) = joint.hinges.pose::<FUSED>(of(theta));
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
    part: impl Fn(&mut Block) -> &mut [Lanes; N],
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
