//! Forward kinematics along a tree, hinges four at a time.
//!
//! A hinge's relative pose is linear in sines and cosines, with constants per link and h = θ/2:
//!
//! rotation  q_rel = cos h · (q_p q_c⁻¹) + sin h · (q_p k q_c⁻¹),
//! step      t = R_relᵀ p_rel = t₀ + t₁ cos θ + t₂ sin θ, in the child's axes.
//!
//! A fixed joint is the same with the second part zero. Along the tree only q_c = q_p ⊗ q_rel waits for the
//! link before; then the steps R(q_c) t are turned four at a time, and positions are sums of them.

use nalgebra::{Quaternion, UnitQuaternion, Vector3};

use super::joint::{JointOffsets, Joints, TreeLink};
use super::lanes::{
    LANES, LARGEST, Lanes, add, fma, half_angle, in_range, mul, mul_add, neg_mul_add, rotate, splat,
};
use super::poses::{PoseBlock, lane};
use crate::joints::JointKind;
use crate::spatial::Pose;

/// The parent that is the base.
pub(super) const BASE: u32 = u32::MAX;

/// The constants of four links.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Block {
    /// q_p q_c⁻¹ and q_p k q_c⁻¹.
    rotation: [[Lanes; 4]; 2],
    /// t₀, t₁, t₂.
    step: [[Lanes; 3]; 3],
    pub(super) parents: [u32; LANES],
    /// Whether each link hangs on the one before it, the first of all on the base.
    chain: bool,
    /// Which lanes hold neither a hinge nor a fixed joint.
    others: [bool; LANES],
    any_others: bool,
}

/// No turn, no step, on the base: what unused lanes hold.
pub(super) const EMPTY: Block = Block {
    rotation: [[[0.0; LANES], [0.0; LANES], [0.0; LANES], [1.0; LANES]], [[0.0; LANES]; 4]],
    step: [[[0.0; LANES]; 3]; 3],
    parents: [BASE; LANES],
    chain: true,
    others: [false; LANES],
    any_others: false,
};

impl Block {
    /// Sets the lane of link n.
    pub(super) fn set(&mut self, n: usize, link: &TreeLink) {
        let l = n % LANES;
        self.parents[l] =
            link.parent.map_or(BASE, |p| u32::try_from(p).expect("fewer than four billion links"));
        self.chain &= link.parent == n.checked_sub(1);
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
                [(q_p * q_c.inverse()).coords, nalgebra::Vector4::zeros()],
                [q_c * a - Xc.position, Vector3::zeros(), Vector3::zeros()],
            ),
            _ => {
                self.others[l] = true;
                self.any_others = true;
                return;
            }
        };
        for k in 0..2 {
            for i in 0..4 {
                self.rotation[k][i][l] = rotation[k][i];
            }
        }
        for k in 0..3 {
            for i in 0..3 {
                self.step[k][i][l] = step[k][i];
            }
        }
    }
}

/// One rebuild: what it reads.
pub(super) struct Pass<'a> {
    pub model: &'a Joints,
    pub z: &'a [f64],
    pub offsets: &'a JointOffsets,
    pub base: &'a Pose,
}

impl Pass<'_> {
    /// Computes the relative poses (q_rel, t) of the blocks from `first` on, or takes those in `out`; composes
    /// them along the tree, or leaves them there. To compose, `first` must be zero.
    pub(super) fn run<const RELATIVE: bool, const COMPOSE: bool>(&self, first: usize, out: &mut [PoseBlock]) {
        #[cfg(target_arch = "x86_64")]
        if self.model.fused {
            #[allow(unsafe_code)]
            // SAFETY: `fused` is set only after avx2 and fma were found on this machine.
            return unsafe { self.run_avx2::<RELATIVE, COMPOSE>(first, out) };
        }
        self.run_lanes::<false, RELATIVE, COMPOSE>(first, out);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma")]
    fn run_avx2<const RELATIVE: bool, const COMPOSE: bool>(&self, first: usize, out: &mut [PoseBlock]) {
        self.run_lanes::<true, RELATIVE, COMPOSE>(first, out);
    }

    #[inline(always)]
    fn run_lanes<const FUSED: bool, const RELATIVE: bool, const COMPOSE: bool>(
        &self,
        first: usize,
        out: &mut [PoseBlock],
    ) {
        let r = self.z.len();
        let blocks = &self.model.blocks[first..];
        let starts = &self.offsets.hinge_start[first..];
        let mut map = &self.model.hinge_map[first * r..];
        let mut last = numbers(self.base);
        for b in 0..out.len() {
            let block = &blocks[b];
            let relative = if RELATIVE {
                let rows;
                (rows, map) = map.split_at(r);
                let (x, relative) = hinges::<FUSED>(block, rows, self.z, starts[b]);
                if block.any_others | !in_range(x) {
                    self.others(first + b, block, x, relative)
                } else {
                    relative
                }
            } else {
                out[b]
            };
            if !COMPOSE {
                out[b] = relative;
            } else if block.chain {
                (out[b], last) = chain::<FUSED>(last, &relative);
            } else {
                tree::<FUSED>(self.base, block, b, &relative, out);
                last = numbers(&lane(&out[b], LANES - 1));
            }
        }
    }

    /// The relative poses of a block, with those of other kinds, and of hinges that turn too far for the
    /// series, by the scalar way.
    #[cold]
    #[inline(never)]
    fn others(&self, b: usize, block: &Block, half_squares: Lanes, mut relative: PoseBlock) -> PoseBlock {
        for l in 0..LANES {
            if !block.others[l] && half_squares[l] <= LARGEST {
                continue;
            }
            let X = self.model.relative(b * LANES + l, self.z, self.offsets);
            let t = X.rotation.inverse() * X.position;
            super::poses::set_lane(&mut relative, l, &Pose::new(X.rotation, t));
        }
        relative
    }
}

/// (q_rel, t) of four hinges, and the squares of their half-angles.
#[inline(always)]
fn hinges<const FUSED: bool>(block: &Block, rows: &[Lanes], z: &[f64], start: Lanes) -> (Lanes, PoseBlock) {
    // θ = q̄ + off + Θ z
    let mut theta = start;
    for (row, z) in rows.iter().zip(z) {
        theta = mul_add::<FUSED>(*row, splat(*z), theta);
    }
    let h = mul(theta, splat(0.5));
    let x = mul(h, h);
    let f = half_angle::<FUSED>(x);
    // cos θ = 1 − 2 sin²h, sin θ = 2 sin h cos h
    let (s, c) = (mul(h, f.sinc), f.cos);
    let s2 = add(s, s);
    let (C, S) = (neg_mul_add::<FUSED>(s2, s, splat(1.0)), mul(s2, c));
    let [q0, q1] = &block.rotation;
    let [t0, t1, t2] = &block.step;
    let q = |i: usize| mul_add::<FUSED>(s, q1[i], mul(c, q0[i]));
    let t = |i: usize| mul_add::<FUSED>(S, t2[i], mul_add::<FUSED>(C, t1[i], t0[i]));
    (x, [q(0), q(1), q(2), q(3), t(0), t(1), t(2)])
}

/// Four links, each on the one before: their poses, and the last of them.
#[inline(always)]
fn chain<const FUSED: bool>(last: [f64; 7], relative: &PoseBlock) -> (PoseBlock, [f64; 7]) {
    let [x, y, z, w, mut p @ ..] = last;
    let mut q = [x, y, z, w];
    let mut Q = [[0.0; LANES]; 4];
    for l in 0..LANES {
        q = product::<FUSED>(q, [relative[0][l], relative[1][l], relative[2][l], relative[3][l]]);
        for i in 0..4 {
            Q[i][l] = q[i];
        }
    }
    let step = rotate::<FUSED>(&Q, &[relative[4], relative[5], relative[6]]);
    let mut P = [[0.0; LANES]; 3];
    for l in 0..LANES {
        for i in 0..3 {
            p[i] += step[i][l];
            P[i][l] = p[i];
        }
    }
    ([Q[0], Q[1], Q[2], Q[3], P[0], P[1], P[2]], [q[0], q[1], q[2], q[3], p[0], p[1], p[2]])
}

/// Four links on any parents among those before them.
#[inline(always)]
fn tree<const FUSED: bool>(
    base: &Pose,
    block: &Block,
    b: usize,
    relative: &PoseBlock,
    out: &mut [PoseBlock],
) {
    let base = numbers(base);
    let places = block.parents.map(|p| (p as usize / LANES, p as usize % LANES));
    for l in 0..LANES {
        let (at, lane) = places[l];
        let parent = |i: usize| if block.parents[l] == BASE { base[i] } else { out[at][i][lane] };
        let q = product::<FUSED>(
            [parent(0), parent(1), parent(2), parent(3)],
            [relative[0][l], relative[1][l], relative[2][l], relative[3][l]],
        );
        for i in 0..4 {
            out[b][i][l] = q[i];
        }
    }
    let Q = &out[b];
    let step = rotate::<FUSED>(&[Q[0], Q[1], Q[2], Q[3]], &[relative[4], relative[5], relative[6]]);
    for l in 0..LANES {
        let (at, lane) = places[l];
        for i in 0..3 {
            let parent = if block.parents[l] == BASE { base[4 + i] } else { out[at][4 + i][lane] };
            out[b][4 + i][l] = parent + step[i][l];
        }
    }
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
