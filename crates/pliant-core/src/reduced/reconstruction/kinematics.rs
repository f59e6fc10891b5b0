//! Forward kinematics along a tree, hinges four at a time.
//!
//! A hinge's relative pose is linear in sines and cosines, with constants per link and h = θ/2:
//!
//! rotation  q_rel = cos h · (q_p q_c⁻¹) + sin h · (q_p k q_c⁻¹),
//! step      t = R_relᵀ p_rel = t₀ + t₁ cos θ + t₂ sin θ, in the child's axes.
//!
//! A fixed joint is the same with the second part zero. Along the tree only q_c = q_p ⊗ q_rel waits for the
//! link before; then the steps R(q_c) t are turned four at a time, and positions are sums of them.

use std::ops::Range;

use nalgebra::{Quaternion, UnitQuaternion, Vector3, Vector4};

use super::joint::{JointOffsets, Joints, TreeLink};
use super::lanes::{
    Aligned, LANES, LARGEST, Lanes, add, fma, half_angle, in_range, mul, mul_add, neg_mul_add, rotate, splat,
};
use super::poses::{PoseBlock, set_lane};
use crate::joints::JointKind;
use crate::spatial::Pose;

/// The parent that is the base.
pub(super) const BASE: u32 = u32::MAX;

/// The constants of four links with hinges or fixed joints.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Hinges {
    /// q_p q_c⁻¹ and q_p k q_c⁻¹.
    rotation: [[Lanes; 4]; 2],
    /// t₀, t₁, t₂.
    step: [[Lanes; 3]; 3],
}

impl Hinges {
    /// No turn and no step: what lanes of other kinds hold.
    pub(super) const NONE: Hinges = Hinges {
        rotation: [[[0.0; LANES], [0.0; LANES], [0.0; LANES], [1.0; LANES]], [[0.0; LANES]; 4]],
        step: [[[0.0; LANES]; 3]; 3],
    };

    /// Sets a lane.
    pub(super) fn set(&mut self, l: usize, link: &TreeLink) {
        let (Xp, Xc) = (&link.frame_in_parent, &link.frame_in_child);
        let (q_p, q_c) = (Xp.rotation, Xc.rotation);
        // R_relᵀ = R_c Rz(−θ) R_pᵀ and p_rel = p_p − R_rel p_c:  t = R_c Rz(−θ) a − p_c,  a = R_pᵀ p_p,
        // Rz(−θ) a = (0, 0, a_z) + cos θ (a_x, a_y, 0) + sin θ (a_y, −a_x, 0).
        let a = q_p.inverse() * Xp.position;
        let (rotation, step) = match link.kind {
            JointKind::Hinge => {
                let k = UnitQuaternion::new_unchecked(Quaternion::new(0.0, 0.0, 0.0, 1.0));
                (
                    [(q_p * q_c.inverse()).coords, (q_p * k * q_c.inverse()).coords],
                    [
                        q_c * Vector3::new(0.0, 0.0, a.z) - Xc.position,
                        q_c * Vector3::new(a.x, a.y, 0.0),
                        q_c * Vector3::new(a.y, -a.x, 0.0),
                    ],
                )
            }
            JointKind::Fixed => (
                [(q_p * q_c.inverse()).coords, Vector4::zeros()],
                [q_c * a - Xc.position, Vector3::zeros(), Vector3::zeros()],
            ),
            _ => return,
        };
        for (to, from) in self.rotation.iter_mut().zip(rotation) {
            for i in 0..4 {
                to[i][l] = from[i];
            }
        }
        for (to, from) in self.step.iter_mut().zip(step) {
            for i in 0..3 {
                to[i][l] = from[i];
            }
        }
    }
}

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
    /// The poses of all links.
    pub(super) fn run(&self, out: &mut [Aligned<PoseBlock>]) {
        #[cfg(target_arch = "x86_64")]
        if self.model.fused {
            #[allow(unsafe_code)]
            // SAFETY: `fused` is set only after avx2 and fma were found on this machine.
            return unsafe { self.run_avx2(out) };
        }
        self.run_lanes::<false>(out);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma")]
    fn run_avx2(&self, out: &mut [Aligned<PoseBlock>]) {
        self.run_lanes::<true>(out);
    }

    /// Stages of their own, so that each is either all lanes or as short a wait per link as can be.
    #[inline(always)]
    fn run_lanes<const FUSED: bool>(&self, out: &mut [Aligned<PoseBlock>]) {
        let mut last = numbers(self.base);
        let base = last.map(splat);
        for first in (0..out.len()).step_by(CHUNK) {
            let chunk = first..out.len().min(first + CHUNK);
            self.relative::<FUSED>(first, &mut out[chunk.clone()]);
            self.rotations::<FUSED>(chunk.clone(), &base, &mut last, out);
            for Aligned(H) in &mut out[chunk.clone()] {
                let step = rotate::<FUSED>(&[H[0], H[1], H[2], H[3]], &[H[4], H[5], H[6]]);
                H[4..].copy_from_slice(&step);
            }
            self.positions(chunk, &base, &mut last, out);
        }
    }

    /// (q_rel, t) of the blocks from `first` on.
    #[inline(always)]
    fn relative<const FUSED: bool>(&self, first: usize, out: &mut [Aligned<PoseBlock>]) {
        let r = self.z.len();
        let (hinges, branches) = (&self.model.hinges[first..], &self.model.branches[first..]);
        let starts = &self.offsets.hinge_start[first..];
        let mut map = &self.model.hinge_map[first * r..];
        for (b, Aligned(H)) in out.iter_mut().enumerate() {
            let rows;
            (rows, map) = map.split_at(r);
            let x = turn::<FUSED>(&hinges[b].0, rows, self.z, starts[b].0, H);
            if branches[b].any_others | !in_range(x) {
                self.others(first + b, x, H);
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
        out: &mut [Aligned<PoseBlock>],
    ) {
        let mut q = [last[0], last[1], last[2], last[3]];
        for b in blocks {
            let Branches { parents, chain, .. } = self.model.branches[b];
            if chain {
                for l in 0..LANES {
                    q = turned::<FUSED>(q, l, &mut out[b].0);
                }
            } else {
                for l in 0..LANES {
                    let (H, l_p) = parent(out, base, parents[l]);
                    q = std::array::from_fn(|i| H[i][l_p]);
                    q = turned::<FUSED>(q, l, &mut out[b].0);
                }
            }
        }
        last[..4].copy_from_slice(&q);
    }

    /// p_c = p_p + R(q_c) t in place.
    #[inline(always)]
    fn positions(
        &self,
        blocks: Range<usize>,
        base: &PoseBlock,
        last: &mut [f64; 7],
        out: &mut [Aligned<PoseBlock>],
    ) {
        let mut p = [last[4], last[5], last[6]];
        for b in blocks {
            let Branches { parents, chain, .. } = self.model.branches[b];
            if chain {
                for l in 0..LANES {
                    p = moved(p, l, &mut out[b].0);
                }
            } else {
                for l in 0..LANES {
                    let (H, l_p) = parent(out, base, parents[l]);
                    p = std::array::from_fn(|i| H[4 + i][l_p]);
                    p = moved(p, l, &mut out[b].0);
                }
            }
        }
        last[4..].copy_from_slice(&p);
    }

    /// The relative poses of a block, with those of other kinds, and of hinges that turn too far for the
    /// series, by the scalar way.
    #[cold]
    #[inline(never)]
    fn others(&self, b: usize, half_squares: Lanes, H: &mut PoseBlock) {
        for l in 0..LANES {
            if !self.model.branches[b].others[l] && half_squares[l] <= LARGEST {
                continue;
            }
            let X = self.model.relative(b * LANES + l, self.z, self.offsets);
            let t = X.rotation.inverse() * X.position;
            set_lane(H, l, &Pose::new(X.rotation, t));
        }
    }
}

/// (q_rel, t) of four hinges, and the squares of their half-angles.
#[inline(always)]
fn turn<const FUSED: bool>(
    hinges: &Hinges,
    rows: &[Aligned<Lanes>],
    z: &[f64],
    start: Lanes,
    H: &mut PoseBlock,
) -> Lanes {
    // θ = q̄ + off + Θ z
    let mut theta = start;
    for (Aligned(row), z) in rows.iter().zip(z) {
        theta = mul_add::<FUSED>(*row, splat(*z), theta);
    }
    let h = mul(theta, splat(0.5));
    let x = mul(h, h);
    let f = half_angle::<FUSED>(x);
    // cos θ = 1 − 2 sin²h, sin θ = 2 sin h cos h
    let (s, c) = (mul(h, f.sinc), f.cos);
    let s2 = add(s, s);
    let (C, S) = (neg_mul_add::<FUSED>(s2, s, splat(1.0)), mul(s2, c));
    let [q0, q1] = &hinges.rotation;
    let [t0, t1, t2] = &hinges.step;
    let q = |i: usize| mul_add::<FUSED>(s, q1[i], mul(c, q0[i]));
    let t = |i: usize| mul_add::<FUSED>(S, t2[i], mul_add::<FUSED>(C, t1[i], t0[i]));
    *H = [q(0), q(1), q(2), q(3), t(0), t(1), t(2)];
    x
}

/// Where a parent's pose is: block and lane.
#[inline(always)]
fn parent<'a>(out: &'a [Aligned<PoseBlock>], base: &'a PoseBlock, parent: u32) -> (&'a PoseBlock, usize) {
    let (b, l) = (parent as usize / LANES, parent as usize % LANES);
    if parent == BASE { (base, 0) } else { (&out[b].0, l) }
}

/// Turns the rotation of a lane by that of its parent; returns it.
#[inline(always)]
fn turned<const FUSED: bool>(q_p: [f64; 4], l: usize, H: &mut PoseBlock) -> [f64; 4] {
    let q = product::<FUSED>(q_p, [H[0][l], H[1][l], H[2][l], H[3][l]]);
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

/// p ⊗ q of quaternions x, y, z, w, in two halves, so that it waits for three operations and not for four.
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

/// The seven numbers of a pose, as a block has them.
#[inline(always)]
fn numbers(pose: &Pose) -> [f64; 7] {
    let (q, p) = (&pose.rotation.coords, &pose.position);
    [q.x, q.y, q.z, q.w, p.x, p.y, p.z]
}
