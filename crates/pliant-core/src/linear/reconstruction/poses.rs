//! The poses of many links, four to a block, as the reconstruction writes them.

use nalgebra::{Quaternion, UnitQuaternion, Vector3};

use crate::algebra::lanes::{LANES, Lanes};
use crate::spatial::Pose;

/// Poses of four links: quaternion x, y, z, w, then position.
pub(super) type PoseBlock = [Lanes; 7];

const O: Lanes = Lanes::ZERO;

/// Poses of four links that coincide with the outer frame.
pub(super) const IDENTITY: PoseBlock = [O, O, O, Lanes([1.0; LANES]), O, O, O];

/// The poses of many links, in memory that is made once.
#[derive(Clone, Debug, PartialEq)]
pub struct PoseLanes {
    pub(super) blocks: Vec<PoseBlock>,
    len: usize,
}

impl PoseLanes {
    /// Memory for this many links, all at the identity.
    pub fn new(links: usize) -> PoseLanes {
        PoseLanes { blocks: vec![IDENTITY; links.div_ceil(LANES)], len: links }
    }

    /// Number of links.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no link.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Sets all numbers to zero, to add poses up.
    pub(crate) fn clear(&mut self) {
        self.blocks.fill([O; 7]);
    }

    /// Adds a part of other poses; quaternions with the sign that is nearer to the sum so far.
    pub(crate) fn add(&mut self, other: &PoseLanes, part: f64) {
        for (to, H) in self.blocks.iter_mut().zip(&other.blocks) {
            let mut turn = [part; LANES];
            for l in 0..LANES {
                let product: f64 = (0..4).map(|i| to[i][l] * H[i][l]).sum();
                turn[l] = if product < 0.0 { -part } else { part };
            }
            for i in 0..4 {
                (0..LANES).for_each(|l| to[i][l] += turn[l] * H[i][l]);
            }
            for i in 4..7 {
                (0..LANES).for_each(|l| to[i][l] += part * H[i][l]);
            }
        }
    }

    /// Makes quaternions that were added up of length one.
    pub(crate) fn normalise(&mut self) {
        for H in &mut self.blocks {
            for l in 0..LANES {
                let norm = (0..4).map(|i| H[i][l] * H[i][l]).sum::<f64>().sqrt();
                (0..4).for_each(|i| H[i][l] /= norm);
            }
        }
    }

    /// The pose of a link.
    ///
    /// # Panics
    /// If there is no such link.
    #[inline]
    pub fn pose(&self, link: usize) -> Pose {
        assert!(link < self.len, "link {link} of {}", self.len);
        lane(&self.blocks[link / LANES], link % LANES)
    }

    /// All poses in turn.
    pub fn iter(&self) -> impl Iterator<Item = Pose> + '_ {
        (0..self.len).map(|n| self.pose(n))
    }

    /// All poses as 4×4 matrices for drawing, column by column: the rotation's three columns with a zero
    /// each, then the position with a one.
    ///
    /// # Panics
    /// If `out` does not have a matrix per link.
    pub fn write_f32(&self, out: &mut [[f32; 16]]) {
        assert_eq!(out.len(), self.len, "one matrix per link");
        for (out, H) in out.chunks_mut(LANES).zip(&self.blocks) {
            let columns = columns(H);
            for (l, out) in out.iter_mut().enumerate() {
                *out = matrix(&columns, H, l);
            }
        }
    }

    /// The poses of some links as [`PoseLanes::write_f32`] writes them, in the order of the list.
    ///
    /// # Panics
    /// If `out` does not have a matrix per link of the list, or a link is not there.
    pub fn write_f32_of(&self, links: &[usize], out: &mut [[f32; 16]]) {
        assert_eq!(out.len(), links.len(), "one matrix per link of the list");
        for (out, &n) in out.iter_mut().zip(links) {
            assert!(n < self.len, "link {n} of {}", self.len);
            let H = self.blocks[n / LANES].map(|x| Lanes([x[n % LANES]; LANES]));
            *out = matrix(&columns(&H), &H, 0);
        }
    }
}

/// The pose in one lane.
#[inline(always)]
pub(super) fn lane(H: &PoseBlock, l: usize) -> Pose {
    let q = Quaternion::new(H[3][l], H[0][l], H[1][l], H[2][l]);
    Pose { rotation: UnitQuaternion::new_unchecked(q), position: Vector3::new(H[4][l], H[5][l], H[6][l]) }
}

/// Writes one lane.
#[inline(always)]
pub(super) fn set_lane(H: &mut PoseBlock, l: usize, pose: &Pose) {
    for (i, x) in pose.rotation.coords.iter().chain(pose.position.iter()).enumerate() {
        H[i][l] = *x;
    }
}

/// The nine entries of the rotations, column by column: R = I + 2w\[u\] + 2\[u\]², q = (u, w).
#[inline(always)]
fn columns(H: &PoseBlock) -> [Lanes; 9] {
    let entry = |f: fn(f64, f64, f64, f64) -> f64| -> Lanes {
        Lanes(std::array::from_fn(|l| f(H[0][l], H[1][l], H[2][l], H[3][l])))
    };
    [
        entry(|_, y, z, _| 1.0 - 2.0 * (y * y + z * z)),
        entry(|x, y, z, w| 2.0 * (x * y + z * w)),
        entry(|x, y, z, w| 2.0 * (x * z - y * w)),
        entry(|x, y, z, w| 2.0 * (x * y - z * w)),
        entry(|x, _, z, _| 1.0 - 2.0 * (x * x + z * z)),
        entry(|x, y, z, w| 2.0 * (y * z + x * w)),
        entry(|x, y, z, w| 2.0 * (x * z + y * w)),
        entry(|x, y, z, w| 2.0 * (y * z - x * w)),
        entry(|x, y, _, _| 1.0 - 2.0 * (x * x + y * y)),
    ]
}

#[inline(always)]
fn matrix(R: &[Lanes; 9], H: &PoseBlock, l: usize) -> [f32; 16] {
    let r = |i: usize| R[i][l] as f32;
    let p = |i: usize| H[4 + i][l] as f32;
    [[r(0), r(1), r(2), 0.0], [r(3), r(4), r(5), 0.0], [r(6), r(7), r(8), 0.0], [p(0), p(1), p(2), 1.0]]
        .as_flattened()
        .try_into()
        .expect("sixteen entries")
}
