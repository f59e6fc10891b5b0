//! Forward kinematics along a tree, hinges four at a time.
//!
//! Along the tree only q_c = q_p ⊗ q_rel waits for the link before; then the steps R(q_c) t are turned four at a time, and
//! positions are sums of them.

use std::ops::Range;

use super::joint::{JointOffsets, Joints, TreeLink};
use super::poses::{PoseBlock, set_lane};
use crate::algebra::lanes::{LANES, Lanes, Number};
use crate::algebra::three::{Three, cross, product};
use crate::algebra::wide::wide;
use crate::joints::JointKind;
use crate::spatial::Pose;

/// The parent that is the base.
pub(super) const BASE: u32 = u32::MAX;

/// What four links hang on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Branches {
    pub(super) parents: [u32; LANES],
    /// Whether each hangs on the one before it, the first link of all on the base.
    chain: bool,
    /// Which of them have joints that are neither hinges nor fixed, and whether any has.
    others: [bool; LANES],
    any_others: bool,
}

impl Branches {
    /// All on the base: what unused lanes hold.
    pub(super) const NONE: Branches =
        Branches { parents: [BASE; LANES], chain: true, others: [false; LANES], any_others: false };

    /// Sets the lane of link n.
    pub(super) fn set(&mut self, n: usize, link: &TreeLink) {
        let parent = |p: usize| u32::try_from(p).expect("fewer than four billion links");
        self.parents[n % LANES] = link.parent.map_or(BASE, parent);
        self.chain &= link.parent == n.checked_sub(1);
        let other = !matches!(link.kind, JointKind::Hinge | JointKind::Fixed);
        self.others[n % LANES] = other;
        self.any_others |= other;
    }
}

/// One rebuild: what it reads.
pub(super) struct Pass<'a> {
    pub model: &'a Joints,
    pub z: &'a [f64],
    pub offsets: &'a JointOffsets,
    pub base: &'a Pose,
}

/// Blocks that go through all stages while they are in the nearest cache: 7 kB of poses.
const CHUNK: usize = 32;

impl Pass<'_> {
    wide! {
        /// The poses of all links.
        pub(super) fn run, run_lanes(&self: Pass<'_>, out: &mut [PoseBlock])
    }

    /// Stages of their own, so that each is either all lanes or as short a wait per link as can be.
    #[inline(always)]
    pub(super) fn run_lanes<const FUSED: bool>(&self, out: &mut [PoseBlock]) {
        let mut last = numbers(self.base);
        let base = last.map(Lanes::all);
        for first in (0..out.len()).step_by(CHUNK) {
            let chunk = first..out.len().min(first + CHUNK);
            self.relative::<FUSED>(first, &mut out[chunk.clone()]);
            self.rotations::<FUSED>(chunk.clone(), &base, &mut last, out);
            for H in &mut out[chunk.clone()] {
                let step = rotate::<FUSED>([H[0], H[1], H[2], H[3]], [H[4], H[5], H[6]]);
                H[4..].copy_from_slice(&step);
            }
            self.positions(chunk, &base, &mut last, out);
        }
    }

    /// (q_rel, t) of the blocks from `first` on.
    #[inline(always)]
    fn relative<const FUSED: bool>(&self, first: usize, out: &mut [PoseBlock]) {
        let r = self.z.len();
        let constants = self.model.hinges[first..].iter().zip(&self.model.branches[first..]);
        let starts = &self.offsets.hinge_start[first..];
        let mut map = &self.model.hinge_map[first * r..];
        for (b, ((H, (hinges, branches)), start)) in out.iter_mut().zip(constants).zip(starts).enumerate() {
            let rows;
            (rows, map) = map.split_at(r);
            // θ = q̄ + off + Θ z
            let mut theta = *start;
            for (row, z) in rows.iter().zip(self.z) {
                theta = row.fma::<FUSED>(Lanes::all(*z), theta);
            }
            let ([i, j, k, w], [x, y, z]) = hinges.pose::<FUSED>(theta);
            *H = [i, j, k, w, x, y, z];
            if branches.any_others {
                self.others(first + b, H);
            }
        }
    }

    /// q_c = q_p ⊗ q_rel in place; `last` is the link before, then the last one.
    #[inline(always)]
    fn rotations<const FUSED: bool>(
        &self,
        blocks: Range<usize>,
        base: &PoseBlock,
        last: &mut [f64; 7],
        out: &mut [PoseBlock],
    ) {
        let mut q = [last[0], last[1], last[2], last[3]];
        for b in blocks {
            let Branches { parents, chain, .. } = self.model.branches[b];
            if chain {
                for l in 0..LANES {
                    q = turned::<FUSED>(q, l, &mut out[b]);
                }
            } else {
                for l in 0..LANES {
                    let (H, l_p) = parent(out, base, parents[l]);
                    q = std::array::from_fn(|i| H[i][l_p]);
                    q = turned::<FUSED>(q, l, &mut out[b]);
                }
            }
        }
        last[..4].copy_from_slice(&q);
    }

    /// p_c = p_p + R(q_c) t in place.
    #[inline(always)]
    fn positions(&self, blocks: Range<usize>, base: &PoseBlock, last: &mut [f64; 7], out: &mut [PoseBlock]) {
        let mut p = [last[4], last[5], last[6]];
        for b in blocks {
            let Branches { parents, chain, .. } = self.model.branches[b];
            if chain {
                for l in 0..LANES {
                    p = moved(p, l, &mut out[b]);
                }
            } else {
                for l in 0..LANES {
                    let (H, l_p) = parent(out, base, parents[l]);
                    p = std::array::from_fn(|i| H[4 + i][l_p]);
                    p = moved(p, l, &mut out[b]);
                }
            }
        }
        last[4..].copy_from_slice(&p);
    }

    /// The relative poses of links of other kinds in a block.
    #[cold]
    #[inline(never)]
    fn others(&self, b: usize, H: &mut PoseBlock) {
        for l in (0..LANES).filter(|&l| self.model.branches[b].others[l]) {
            let X = self.model.relative(b * LANES + l, self.z, self.offsets);
            let t = X.rotation.inverse() * X.position;
            set_lane(H, l, &Pose::new(X.rotation, t));
        }
    }
}

/// R(q) t = t + 2w (u×t) + 2 u×(u×t), q = (u, w).
#[inline(always)]
fn rotate<const FUSED: bool>([x, y, z, w]: [Lanes; 4], t: Three<Lanes>) -> Three<Lanes> {
    let u = [x, y, z];
    let c = cross::<FUSED, _>(u, t).map(|c| c + c);
    let cc = cross::<FUSED, _>(u, c);
    std::array::from_fn(|i| w.fma::<FUSED>(c[i], t[i]) + cc[i])
}

/// Where a parent's pose is: block and lane.
#[inline(always)]
fn parent<'a>(out: &'a [PoseBlock], base: &'a PoseBlock, parent: u32) -> (&'a PoseBlock, usize) {
    let (b, l) = (parent as usize / LANES, parent as usize % LANES);
    if parent == BASE { (base, 0) } else { (&out[b], l) }
}

/// Turns the rotation of a lane by that of its parent; returns it.
#[inline(always)]
fn turned<const FUSED: bool>(q_p: [f64; 4], l: usize, H: &mut PoseBlock) -> [f64; 4] {
    let q = product::<FUSED, _>(q_p, [H[0][l], H[1][l], H[2][l], H[3][l]]);
    for i in 0..4 {
        H[i][l] = q[i];
    }
    q
}

/// Moves the position of a lane by that of its parent; returns it.
#[inline(always)]
fn moved(p_p: [f64; 3], l: usize, H: &mut PoseBlock) -> [f64; 3] {
    let p = std::array::from_fn(|i| p_p[i] + H[4 + i][l]);
    for i in 0..3 {
        H[4 + i][l] = p[i];
    }
    p
}

/// The seven numbers of a pose, as a block has them.
#[inline(always)]
fn numbers(pose: &Pose) -> [f64; 7] {
    let (q, p) = (&pose.rotation.coords, &pose.position);
    [q.x, q.y, q.z, q.w, p.x, p.y, p.z]
}
