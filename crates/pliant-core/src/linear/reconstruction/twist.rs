//! Twist reconstruction: each link moves along a twist that is linear in the coordinates
//! (Andrews 2015): ξ_n = N_n z + off_n, H_n = base · H̄_n · exp(ξ_n).
//!
//! The rows are kept in the axes of the base, at the link's origin: with ξ' = (R̄v, R̄ω),
//!
//! H̄ exp(ξ) = T(p̄) exp(ξ') R̄:  q = exp(ω') ⊗ q̄,  p = p̄ + V(ω') v',
//!
//! so that no position has to be turned by the reference pose.

use nalgebra::Vector3;
use rayon::prelude::*;

use super::PARALLEL_TWISTS;
use super::poses::{IDENTITY, PoseBlock, PoseLanes, lane, set_lane};
use crate::algebra::angle::{LARGEST, half_angle, in_range};
use crate::algebra::lanes::{LANES, Lanes, Number};
use crate::algebra::three::{angular, cross, dot, linear, product};
use crate::algebra::wide::wide;
use crate::spatial::{Pose, Twist, exp, right_jacobian};

/// The six numbers of four twists.
type TwistBlock = [Lanes; 6];

/// What never changes of a twist reconstruction.
#[derive(Clone, Debug, PartialEq)]
pub struct Twists {
    len: usize,
    coordinates: usize,
    /// R̄ N: for each block of four links, for each coordinate, its twist.
    map: Vec<TwistBlock>,
    /// H̄, block by block.
    references: Vec<PoseBlock>,
}

/// The offsets of a twist reconstruction: what a simulation changes of it.
#[derive(Clone, Debug, PartialEq)]
pub struct TwistOffsets {
    /// R̄ off, block by block.
    blocks: Vec<TwistBlock>,
}

impl Twists {
    /// A reconstruction from the links' reference poses in the base frame and their maps: for each link six
    /// rows (v, then ω, in the link's axes) of as many numbers as there are coordinates.
    ///
    /// # Panics
    /// If the map does not have that size.
    pub fn new(references: &[Pose], map: &[f64], coordinates: usize) -> Twists {
        let (len, r) = (references.len(), coordinates);
        assert_eq!(map.len(), 6 * len * r, "six rows of {r} numbers for each of {len} links");
        let blocks = len.div_ceil(LANES);
        let mut twists = Twists {
            len,
            coordinates,
            map: vec![[Lanes::ZERO; 6]; blocks * r],
            references: vec![IDENTITY; blocks],
        };
        for (n, pose) in references.iter().enumerate() {
            let (b, l) = (n / LANES, n % LANES);
            set_lane(&mut twists.references[b], l, pose);
            for k in 0..r {
                let column = std::array::from_fn(|i| map[(6 * n + i) * r + k]);
                set_twist(&mut twists.map[b * r + k], l, turned(pose, column));
            }
        }
        twists
    }

    /// Number of links.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no link.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Number of coordinates r.
    pub fn coordinates(&self) -> usize {
        self.coordinates
    }

    /// Offsets of zero.
    pub fn offsets(&self) -> TwistOffsets {
        TwistOffsets { blocks: vec![[Lanes::ZERO; 6]; self.references.len()] }
    }

    /// Sets the offsets: six numbers (v, then ω, in the link's axes) for each link.
    ///
    /// # Panics
    /// If there are not that many, or the offsets are of another model.
    pub fn set_offsets(&self, offsets: &mut TwistOffsets, values: &[f64]) {
        assert_eq!(values.len(), 6 * self.len, "six numbers for each of {} links", self.len);
        self.check(offsets);
        for (n, xi) in values.as_chunks::<6>().0.iter().enumerate() {
            let reference = lane(&self.references[n / LANES], n % LANES);
            set_twist(&mut offsets.blocks[n / LANES], n % LANES, turned(&reference, *xi));
        }
    }

    /// The poses of all links at coordinates z, on up to so many threads of the current rayon pool. The
    /// result has the same bits for any number of threads; with one, nothing is allocated.
    ///
    /// # Panics
    /// If the sizes of z, the offsets or the output are not those of the model.
    pub fn rebuild(
        &self,
        z: &[f64],
        offsets: &TwistOffsets,
        base: &Pose,
        threads: usize,
        out: &mut PoseLanes,
    ) {
        assert_eq!(z.len(), self.coordinates, "as many coordinates as the model has");
        assert_eq!(out.len(), self.len, "as many poses as the model has links");
        self.check(offsets);
        if threads <= 1 || self.len < PARALLEL_TWISTS {
            self.rebuild_blocks(z, offsets, base, 0, &mut out.blocks);
        } else {
            let size = out.blocks.len().div_ceil(threads);
            out.blocks
                .par_chunks_mut(size)
                .enumerate()
                .for_each(|(c, out)| self.rebuild_blocks(z, offsets, base, c * size, out));
        }
    }

    /// The body twist of a link: that of the base seen from the link, and φ = Jr(ξ_n) N_n ż.
    ///
    /// # Panics
    /// If the link is not there, or a size is not the model's.
    pub fn twist(
        &self,
        link: usize,
        z: &[f64],
        rates: &[f64],
        offsets: &TwistOffsets,
        base_twist: &Twist,
    ) -> Twist {
        assert!(link < self.len, "link {link} of {}", self.len);
        assert_eq!((z.len(), rates.len()), (self.coordinates, self.coordinates), "as the model has");
        let (b, l) = (link / LANES, link % LANES);
        let mut xi = offsets.blocks[b].map(|x| x[l]);
        let mut dxi = [0.0; 6];
        let map = &self.map[b * self.coordinates..][..self.coordinates];
        for ((N, z), dz) in map.iter().zip(z).zip(rates) {
            for i in 0..6 {
                xi[i] += N[i][l] * z;
                dxi[i] += N[i][l] * dz;
            }
        }
        // Jr turns with its argument: R̄ᵀ Jr(ξ') ξ̇' = Jr(ξ) ξ̇.
        let (xi, dxi) = (to_twist(xi), to_twist(dxi));
        let reference = lane(&self.references[b], l);
        let own = Twist::from_vector(&(right_jacobian(&xi) * dxi.to_vector()));
        let turn = Pose::new(reference.rotation.inverse(), Vector3::zeros());
        place(&reference, &xi).twist_to_local(base_twist) + turn.twist_to_outer(&own)
    }

    fn check(&self, offsets: &TwistOffsets) {
        assert_eq!(offsets.blocks.len(), self.references.len(), "offsets of this model");
    }

    wide! {
        fn rebuild_blocks, rebuild_lanes(
            &self: Twists, z: &[f64], offsets: &TwistOffsets, base: &Pose, first: usize, out: &mut [PoseBlock]
        )
    }

    #[inline(always)]
    pub(super) fn rebuild_lanes<const FUSED: bool>(
        &self,
        z: &[f64],
        offsets: &TwistOffsets,
        base: &Pose,
        first: usize,
        out: &mut [PoseBlock],
    ) {
        let r = self.coordinates;
        let moved = *base != Pose::identity();
        let q_b: [Lanes; 4] = std::array::from_fn(|i| Lanes::all(base.rotation.coords[i]));
        let R_b = base.rotation_matrix();
        let references = &self.references[first..];
        let offsets = &offsets.blocks[first..];
        let mut map = &self.map[first * r..];
        for ((H, H_ref), off) in out.iter_mut().zip(references).zip(offsets) {
            let N;
            (N, map) = map.split_at(r);
            // ξ' = N z + off
            let mut xi = *off;
            for (N, z) in N.iter().zip(z) {
                for i in 0..6 {
                    xi[i] = N[i].fma::<FUSED>(Lanes::all(*z), xi[i]);
                }
            }
            let x = step::<FUSED>(&xi, H_ref, H);
            if !in_range(x) {
                beyond(N, z, off, H_ref, x, H);
            }
            if moved {
                // base · H
                let q = product::<FUSED, _>(q_b, [H[0], H[1], H[2], H[3]]);
                H[..4].copy_from_slice(&q);
                let p = [H[4], H[5], H[6]];
                for i in 0..3 {
                    let R = |k: usize| Lanes::all(R_b[(i, k)]);
                    let sum = R(0).fma::<FUSED>(p[0], Lanes::all(base.position[i]));
                    H[4 + i] = R(2).fma::<FUSED>(p[2], R(1).fma::<FUSED>(p[1], sum));
                }
            }
        }
    }
}

/// H = T(p̄) exp(ξ') R̄ for four links; returns the squares of their half-angles.
#[inline(always)]
fn step<const FUSED: bool>(xi: &TwistBlock, H_ref: &PoseBlock, H: &mut PoseBlock) -> Lanes {
    let (v, h) = (linear(xi), angular(xi).map(|w| w * Lanes::all(0.5)));
    let x = dot::<FUSED, _>(h, h);
    let f = half_angle::<FUSED, _>(x);
    // q = (sin(h)/h · ω/2, cos h) ⊗ q̄
    let e = [h[0] * f.sinc, h[1] * f.sinc, h[2] * f.sinc, f.cos];
    let q = product::<FUSED, _>(e, [H_ref[0], H_ref[1], H_ref[2], H_ref[3]]);
    // V = I + a[ω] + b[ω]²: a = (1 − cos θ)/θ² = ½ (sin(h)/h)²,
    // b = (θ − sin θ)/θ³ = ¼ ((h − sin h)/h³ + sin(h)/h · (1 − cos h)/h²), which never cancels.
    // In h = ω/2: V = I + s²[h] + (G + sC)[h]².
    let a = f.sinc * f.sinc;
    let b = f.sinc.fma::<FUSED>(f.second, f.third);
    let hv = cross::<FUSED, _>(h, v);
    let hhv = cross::<FUSED, _>(h, hv);
    H[..4].copy_from_slice(&q);
    for i in 0..3 {
        H[4 + i] = b.fma::<FUSED>(hhv[i], a.fma::<FUSED>(hv[i], v[i] + H_ref[4 + i]));
    }
    x
}

/// The same through the library's sine and cosine, for the lanes that turn too far for the series.
#[cold]
#[inline(never)]
fn beyond(
    N: &[TwistBlock],
    z: &[f64],
    off: &TwistBlock,
    H_ref: &PoseBlock,
    half_squares: Lanes,
    H: &mut PoseBlock,
) {
    for l in 0..LANES {
        if half_squares[l] <= LARGEST {
            continue;
        }
        let mut xi = off.map(|x| x[l]);
        for (N, z) in N.iter().zip(z) {
            for i in 0..6 {
                xi[i] += N[i][l] * z;
            }
        }
        set_lane(H, l, &place(&lane(H_ref, l), &to_twist(xi)));
    }
}

/// T(p̄) exp(ξ') R̄.
fn place(reference: &Pose, xi: &Twist) -> Pose {
    let e = exp(xi);
    Pose { rotation: e.rotation * reference.rotation, position: reference.position + e.position }
}

/// (R̄v, R̄ω).
fn turned(reference: &Pose, xi: [f64; 6]) -> [f64; 6] {
    let turn = Pose::new(reference.rotation, Vector3::zeros());
    turn.twist_to_outer(&to_twist(xi)).to_vector().into()
}

fn to_twist(xi: [f64; 6]) -> Twist {
    Twist::from_vector(&xi.into())
}

fn set_twist(block: &mut TwistBlock, l: usize, xi: [f64; 6]) {
    for (to, x) in block.iter_mut().zip(xi) {
        to[l] = x;
    }
}
