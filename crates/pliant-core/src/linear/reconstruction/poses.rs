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
