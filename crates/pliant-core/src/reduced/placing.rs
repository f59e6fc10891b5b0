//! Where the links are and how they move: forward kinematics, parents first, four links side by side.
//!
//! Twists are in world axes at one common point P, so that nothing changes frame along the tree:
//!
//! ```text
//! θ = θ_ref + Θ y,  H_c = H_p·Xp·X(θ)·Xc⁻¹,  s_k = Ad(joint frame) S_k,  ξ_c = ξ_p + Σ s_k θ̇_k        [Si 2010, eq. 12]
//! ```
//!
//! Along the tree only sums are made, and products of quaternions.

use std::array::from_fn;

use nalgebra::{Quaternion, UnitQuaternion, Vector3};

use super::basis::Basis;
use super::tree::{BASE, Joints, Tree};
use crate::algebra::lanes::{Lanes, Number, one_block_at_a_time};
use crate::algebra::three::{Three, angular, cross, linear, matrix, minus, plus, product, six, turn};
use crate::algebra::wide::{dot, wide};
use crate::spatial::{Pose, Twist};

/// A twist or wrench.
pub(super) type Six = [f64; 6];

/// Four links where they are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block {
    pub rotation: [Lanes; 4],
    pub position: Three<Lanes>,
    /// The rotation's columns.
    pub columns: [Three<Lanes>; 3],
    /// From P to the centre of mass.
    pub center: Three<Lanes>,
    /// s of a hinge, at P.
    pub axis: [Lanes; 6],
}

const NOWHERE: Block = Block {
    rotation: [Lanes::ZERO; 4],
    position: [Lanes::ZERO; 3],
    columns: [[Lanes::ZERO; 3]; 3],
    center: [Lanes::ZERO; 3],
    axis: [Lanes::ZERO; 6],
};

/// What the joints of four links do: rotation from the parent, and how far the link is from it, in its own axes.
#[derive(Clone, Copy, Debug)]
struct Way {
    rotation: [Lanes; 4],
    step: Three<Lanes>,
}

/// Blocks that are placed together, so that they stay in the nearest memory.
const TOGETHER: usize = 8;

/// All links where they are.
#[derive(Clone, Debug)]
pub(super) struct Places {
    pub blocks: Vec<Block>,
    ways: Vec<Way>,
    /// Angles of hinges, and coordinates of all other freedoms.
    pub angles: Vec<Lanes>,
    pub others: Vec<f64>,
    /// s of each freedom that is not a hinge's, at P.
    pub axes: Vec<Six>,
    /// P.
    pub point: Three<f64>,
    pub base: Pose,
    /// Free bases.
    pub floats: Vec<Pose>,
}

/// θ_ref, and how fast it moves.
#[derive(Clone, Debug)]
pub(super) struct Reference {
    /// Of hinges, four by four, and of all freedoms.
    pub lanes: Vec<Lanes>,
    pub all: Vec<f64>,
}

impl Reference {
    pub fn new(tree: &Tree) -> Reference {
        Reference { lanes: vec![Lanes::ZERO; tree.joints.len()], all: vec![0.0; tree.freedoms.len()] }
    }

    /// Takes coordinates of all freedoms.
    pub fn set(&mut self, tree: &Tree, all: &[f64]) {
        self.all.copy_from_slice(all);
        for (lanes, block) in self.lanes.iter_mut().zip(&tree.joints) {
            (0..4).for_each(|l| lanes[l] = all.get(block.freedom[l]).map_or(0.0, |x| *x));
        }
    }
}

impl Places {
    pub fn new(tree: &Tree) -> Places {
        Places {
            blocks: vec![NOWHERE; tree.joints.len()],
            ways: vec![Way { rotation: [Lanes::ZERO; 4], step: [Lanes::ZERO; 3] }; TOGETHER],
            angles: vec![Lanes::ZERO; tree.joints.len()],
            others: vec![0.0; tree.freedoms.len()],
            axes: vec![[0.0; 6]; tree.freedoms.len()],
            point: [0.0; 3],
            base: Pose::identity(),
            floats: tree.floats.iter().map(|n| start_of(tree, *n)).collect(),
        }
    }

    /// The coordinate of a freedom.
    #[inline]
    pub fn coordinate(&self, tree: &Tree, freedom: usize) -> f64 {
        let n = tree.freedoms[freedom].link;
        if tree.joints[n / 4].freedom[n % 4] == freedom {
            self.angles[n / 4][n % 4]
        } else {
            self.others[freedom]
        }
    }

    /// s of a freedom at P.
    #[inline(always)]
    pub fn axis(&self, tree: &Tree, freedom: usize) -> Six {
        let n = tree.freedoms[freedom].link;
        if tree.joints[n / 4].freedom[n % 4] == freedom {
            let s = &self.blocks[n / 4].axis;
            [s[0].0[n % 4], s[1].0[n % 4], s[2].0[n % 4], s[3].0[n % 4], s[4].0[n % 4], s[5].0[n % 4]]
        } else {
            self.axes[freedom]
        }
    }

    /// The frame of a link in the world.
    #[inline]
    pub fn pose(&self, n: usize) -> Pose {
        let (block, l) = (&self.blocks[n / 4], n % 4);
        let [x, y, z, w] = block.rotation.map(|x| x[l]);
        let rotation = UnitQuaternion::new_unchecked(Quaternion::new(w, x, y, z));
        Pose::new(rotation, Vector3::from(block.position.map(|x| x[l])))
    }

    wide! {
        /// Puts all links where the motions y about a reference have them, on `base` and `floats` as they are.
        pub fn put, put_lanes(&mut self: Places, tree: &Tree, basis: &Basis, reference: &Reference, y: &[f64])
    }

    #[inline(always)]
    fn put_lanes<const FUSED: bool>(&mut self, tree: &Tree, basis: &Basis, reference: &Reference, y: &[f64]) {
        // P goes with the base, or with a free one.
        let point = match tree.floats.first() {
            Some(_) => self.floats[0].position,
            None => self.base.transform_point(&tree.center),
        };
        self.point = point.into();
        let point = self.point.map(Lanes::all);
        let ground = |places: &Places, n: usize| match tree.links[n].joint {
            Some(_) => places.base,
            None => places.floats[tree.floats.iter().position(|f| *f == n).expect("a free base")],
        };
        for first in (0..self.blocks.len()).step_by(TOGETHER) {
            let group = first..(first + TOGETHER).min(self.blocks.len());
            // θ of hinges
            let angles = &mut self.angles[group.clone()];
            angles.copy_from_slice(&reference.lanes[group.clone()]);
            basis.add_motion::<FUSED>(first, y, angles);
            for b in group.clone() {
                one_block_at_a_time();
                let (rotation, step) = tree.joints[b].hinges.pose::<FUSED>(self.angles[b]);
                self.ways[b - first] = Way { rotation, step };
            }
            let before = |block: usize| tree.others.partition_point(|&n| n < 4 * block);
            let others = &tree.others[before(group.start)..before(group.end)];
            for &n in others {
                self.put_other(tree, basis, reference, y, n, first);
            }
            // H_c = H_p · (way): of four links in a row, products of neighbours first.
            let mut rotation = [0.0; 4];
            for b in group.clone() {
                let (joints, way) = (&tree.joints[b], self.ways[b - first]);
                for l in 0..4 {
                    if let Some(parent) = jump(joints, b, l, first) {
                        rotation = match parent {
                            BASE => ground(self, 4 * b + l).rotation.coords.into(),
                            parent => self.blocks[parent / 4].rotation.map(|x| x[parent % 4]),
                        };
                    }
                    if joints.in_row {
                        let pairs = product::<FUSED, _>(shifted_turn::<1>(&way.rotation), way.rotation);
                        let fours = product::<FUSED, _>(shifted_turn::<2>(&pairs), pairs);
                        let all = product::<FUSED, _>(rotation.map(Lanes::all), fours);
                        self.blocks[b].rotation = all;
                        rotation = all.map(|x| x[3]);
                        break;
                    }
                    rotation = product::<FUSED, _>(rotation, way.rotation.map(|x| x[l]));
                    (0..4).for_each(|k| self.blocks[b].rotation[k][l] = rotation[k]);
                }
            }
            for b in group.clone() {
                one_block_at_a_time();
                let (block, way) = (&mut self.blocks[b], &mut self.ways[b - first]);
                // Rounding of the products along the tree grows: one step of Newton's method for 1/√(q·q).
                let q = block.rotation;
                let square =
                    q[0].fma::<FUSED>(q[0], q[1].fma::<FUSED>(q[1], q[2].fma::<FUSED>(q[2], q[3] * q[3])));
                let near = Lanes::all(1.5) - Lanes::all(0.5) * square;
                block.rotation = q.map(|x| x * near);
                block.columns = matrix::<FUSED, _>(block.rotation);
                way.step = turn::<FUSED, _>(&block.columns, way.step);
            }
            let mut position = [0.0; 3];
            for b in group.clone() {
                let (joints, way) = (&tree.joints[b], &self.ways[b - first]);
                for l in 0..4 {
                    if let Some(parent) = jump(joints, b, l, first) {
                        position = match parent {
                            BASE => ground(self, 4 * b + l).position.into(),
                            parent => self.blocks[parent / 4].position.map(|x| x[parent % 4]),
                        };
                    }
                    if joints.in_row {
                        // Plain loops, as in [`sum_up`](super::momentum::sum_up).
                        for k in 0..3 {
                            self.blocks[b].position[k] = sums_in_row(way.step[k], position[k]);
                            position[k] = self.blocks[b].position[k][3];
                        }
                        break;
                    }
                    position = from_fn(|k| position[k] + way.step[k][l]);
                    (0..3).for_each(|k| self.blocks[b].position[k][l] = position[k]);
                }
            }
            for b in group.clone() {
                one_block_at_a_time();
                let (block, axis) = (&mut self.blocks[b], &tree.joints[b].axis);
                let at = minus(block.position, point);
                let w = turn::<FUSED, _>(&block.columns, angular(axis));
                let v = turn::<FUSED, _>(&block.columns, linear(axis));
                block.axis = six(plus(v, cross::<FUSED, _>(at, w)), w);
                block.center = plus(at, turn::<FUSED, _>(&block.columns, tree.weights[b].center));
            }
            for &n in others {
                self.turn_axes(tree, n);
            }
        }
    }

    /// The way and the axes, in its own frame, of a link that is not on a hinge.
    #[inline(never)]
    fn put_other(
        &mut self,
        tree: &Tree,
        basis: &Basis,
        reference: &Reference,
        y: &[f64],
        n: usize,
        first: usize,
    ) {
        let (link, (outer, inner)) = (&tree.links[n], &tree.frames[n]);
        let (mut turned, mut step) = (UnitQuaternion::identity(), Vector3::zeros());
        if link.joint.is_some() {
            let own = link.first..link.first + link.count;
            for i in own.clone() {
                self.others[i] = reference.all[i] + dot(&basis.row(i)[..y.len()], y);
            }
            let (q, rest) = (&self.others[own.clone()], [0.0; 6]);
            let (X, S, _) = link.kind.motion(q, &rest[..link.count]);
            let mut relative = *outer * X * *inner;
            relative.rotation.renormalize_fast();
            for (k, axis) in self.axes[own].iter_mut().enumerate() {
                let local = inner.twist_to_local(&Twist::from_vector(&S.column(k).into()));
                *axis = six(local.linear.into(), local.angular.into());
            }
            (turned, step) = (relative.rotation, relative.rotation.inverse() * relative.position);
        }
        let way = &mut self.ways[n / 4 - first];
        (0..4).for_each(|i| way.rotation[i][n % 4] = turned.coords[i]);
        (0..3).for_each(|i| way.step[i][n % 4] = step[i]);
    }

    /// The axes of such a link at P, world axes; those of a free base are units.
    #[inline(never)]
    fn turn_axes(&mut self, tree: &Tree, n: usize) {
        let (link, pose) = (&tree.links[n], self.pose(n));
        let arm = pose.position - Vector3::from(self.point);
        for (k, axis) in self.axes[link.first..link.first + link.count].iter_mut().enumerate() {
            *axis = match link.joint {
                None => from_fn(|i| f64::from(i == k)),
                Some(_) => {
                    let w = pose.rotation * Vector3::from(angular(axis));
                    let v = pose.rotation * Vector3::from(linear(axis)) + arm.cross(&w);
                    six(v.into(), w.into())
                }
            };
        }
    }

    wide! {
        /// The twists at P of all links, from the rates of the motions and of the reference; that of the base left out.
        pub fn spin, spin_lanes(
            &self: Places, tree: &Tree, basis: &Basis, rates: &[f64], reference: Option<&Reference>, turns: &mut Turns
        )
    }

    #[inline(always)]
    fn spin_lanes<const FUSED: bool>(
        &self,
        tree: &Tree,
        basis: &Basis,
        rates: &[f64],
        reference: Option<&Reference>,
        turns: &mut Turns,
    ) {
        match reference {
            Some(reference) => turns.rates.copy_from_slice(&reference.lanes),
            None => turns.rates.fill(Lanes::ZERO),
        }
        basis.add_motion::<FUSED>(0, rates, &mut turns.rates);
        for &n in &tree.others {
            let link = &tree.links[n];
            for i in link.first..link.first + link.count {
                turns.others[i] =
                    reference.map_or(0.0, |r| r.all[i]) + dot(&basis.row(i)[..rates.len()], rates);
            }
        }
        self.move_links(tree, turns);
    }

    wide! {
        /// The twists at P of all links that move with the same rates as others; that of the base left out.
        pub fn spin_alike, spin_alike_lanes(&self: Places, tree: &Tree, others: &Turns, turns: &mut Turns)
    }

    #[inline(always)]
    fn spin_alike_lanes<const FUSED: bool>(&self, tree: &Tree, others: &Turns, turns: &mut Turns) {
        turns.rates.copy_from_slice(&others.rates);
        turns.others.copy_from_slice(&others.others);
        self.move_links(tree, turns);
    }

    /// The twists of all links from the rates of all freedoms.
    #[inline(always)]
    fn move_links(&self, tree: &Tree, turns: &mut Turns) {
        for ((block, rate), twist) in self.blocks.iter().zip(&turns.rates).zip(&mut turns.twists) {
            one_block_at_a_time();
            *twist = from_fn(|k| block.axis[k] * *rate);
        }
        for &n in &tree.others {
            let link = &tree.links[n];
            for i in link.first..link.first + link.count {
                for k in 0..6 {
                    turns.twists[n / 4][k][n % 4] += self.axes[i][k] * turns.others[i];
                }
            }
        }
        sum_twists(tree, turns);
    }
}

/// Adds to each link's own twist that of its parent.
#[inline(always)]
fn sum_twists(tree: &Tree, turns: &mut Turns) {
    let mut twist = [0.0; 6];
    for b in 0..tree.joints.len() {
        let joints = &tree.joints[b];
        for l in 0..4 {
            if let Some(parent) = jump(joints, b, l, 0) {
                twist = match parent {
                    BASE => [0.0; 6],
                    parent => turns.twists[parent / 4].map(|x| x[parent % 4]),
                };
            }
            if joints.in_row {
                for k in 0..6 {
                    turns.twists[b][k] = sums_in_row(turns.twists[b][k], twist[k]);
                    twist[k] = turns.twists[b][k][3];
                }
                break;
            }
            for k in 0..6 {
                twist[k] += turns.twists[b][k][l];
                turns.twists[b][k][l] = twist[k];
            }
        }
    }
}

/// Where a link starts.
fn start_of(tree: &Tree, n: usize) -> Pose {
    let head = tree.links[n].head;
    tree.mechanism.start().map_or(tree.mechanism[head].pose, |start| start.poses[head.index()])
}

/// How all links move.
#[derive(Clone, Debug)]
pub(super) struct Turns {
    /// ξ at P.
    pub twists: Vec<[Lanes; 6]>,
    /// Rates of hinges, and of all other freedoms.
    pub rates: Vec<Lanes>,
    pub others: Vec<f64>,
}

impl Turns {
    pub fn new(tree: &Tree) -> Turns {
        Turns {
            twists: vec![[Lanes::ZERO; 6]; tree.joints.len()],
            rates: vec![Lanes::ZERO; tree.joints.len()],
            others: vec![0.0; tree.freedoms.len()],
        }
    }

    /// The rate of a freedom.
    #[inline]
    pub fn rate(&self, tree: &Tree, freedom: usize) -> f64 {
        let n = tree.freedoms[freedom].link;
        if tree.joints[n / 4].freedom[n % 4] == freedom {
            self.rates[n / 4][n % 4]
        } else {
            self.others[freedom]
        }
    }
}

/// Where a link's parent is, unless it is the link before, in the same group: that is at hand.
#[inline(always)]
fn jump(joints: &Joints, b: usize, l: usize, first: usize) -> Option<usize> {
    let parent = joints.parent[l];
    let at_hand = (l > 0 && joints.in_row) || (parent == (4 * b + l).wrapping_sub(1) && (l > 0 || b > first));
    (!at_hand).then_some(parent)
}

/// The sums of numbers in a row, after what is before them: two additions deep, not four.
#[inline(always)]
fn sums_in_row(x: Lanes, before: f64) -> Lanes {
    let [a, b, c, d] = x.0;
    let pairs = Lanes([a, b, c, d]) + Lanes([0.0, a, b, c]);
    let [a, b, ..] = pairs.0;
    (pairs + Lanes([0.0, 0.0, a, b])) + Lanes::all(before)
}

/// Quaternions of the links N before, no turn where there is none.
#[inline(always)]
fn shifted_turn<const N: usize>(q: &[Lanes; 4]) -> [Lanes; 4] {
    from_fn(|k| {
        let none = f64::from(k == 3);
        Lanes(from_fn(|l| if l < N { none } else { q[k].0[l - N] }))
    })
}
