//! Joint reconstruction: joint coordinates linear in the reduced ones, then forward kinematics.
//!
//! θ = q̄ + Θ z + off,  H_c = H_p · Xp · X(θ) · Xc⁻¹.
//!
//! `kinematics.rs` computes it.

use super::kinematics::{BASE, Branches, Pass};
use super::poses::PoseLanes;
use crate::algebra::lanes::{LANES, Lanes};
use crate::joints::JointKind;
use crate::joints::hinge_lanes::Hinges;
use crate::spatial::{Pose, Twist};

/// A link and the joint that carries it.
#[derive(Clone, Debug, PartialEq)]
pub struct TreeLink<'a> {
    /// The link it hangs on, which must be an earlier one; `None` is the base.
    pub parent: Option<usize>,
    /// The motion that the joint leaves.
    pub kind: JointKind,
    /// Xp: the joint frame in the parent's link frame.
    pub frame_in_parent: Pose,
    /// Xc: the joint frame in the link's own frame.
    pub frame_in_child: Pose,
    /// q̄: the joint's coordinates at z = 0.
    pub reference: &'a [f64],
    /// Θ: for each freedom a row of as many numbers as there are reduced coordinates.
    pub map: &'a [f64],
}

impl TreeLink<'_> {
    /// A link held at a fixed pose in another, or in the base: a free base is one.
    pub fn fixed(parent: Option<usize>, pose: Pose) -> TreeLink<'static> {
        TreeLink {
            parent,
            kind: JointKind::Fixed,
            frame_in_parent: pose,
            frame_in_child: Pose::identity(),
            reference: &[],
            map: &[],
        }
    }
}

/// What never changes of a joint reconstruction.
#[derive(Clone, Debug, PartialEq)]
pub struct Joints {
    pub(super) coordinates: usize,
    links: Vec<Link>,
    /// q̄ of all links in turn.
    references: Vec<f64>,
    /// Θ, a row for each of them.
    map: Vec<f64>,
    /// Θ of the hinges once more: for each block of four links, for each coordinate.
    pub(super) hinge_map: Vec<Lanes>,
    pub(super) hinges: Vec<Hinges>,
    pub(super) branches: Vec<Branches>,
}

/// The offsets of a joint reconstruction: what a simulation changes of it.
#[derive(Clone, Debug, PartialEq)]
pub struct JointOffsets {
    /// q̄ + off of all links in turn.
    start: Vec<f64>,
    /// The same of the hinges, block by block.
    pub(super) hinge_start: Vec<Lanes>,
}

#[derive(Clone, Debug, PartialEq)]
struct Link {
    kind: JointKind,
    frame_in_parent: Pose,
    frame_in_child: Pose,
    /// Position of its first joint coordinate.
    first: usize,
}

impl Link {
    /// Xp · X(θ) · Xc⁻¹.
    fn relative(&self, theta: &[f64]) -> Pose {
        self.frame_in_parent * self.kind.transform(theta) * self.frame_in_child.inverse()
    }
}

impl Joints {
    /// A reconstruction of links, parents first, with so many reduced coordinates.
    ///
    /// # Panics
    /// If a parent is not an earlier link, or a reference or a map does not have the size of its joint.
    pub fn new(links: &[TreeLink], coordinates: usize) -> Joints {
        let r = coordinates;
        let count = links.len().div_ceil(LANES);
        let mut joints = Joints {
            coordinates,
            links: Vec::with_capacity(links.len()),
            references: Vec::new(),
            map: Vec::new(),
            hinge_map: vec![Lanes::ZERO; count * r],
            hinges: vec![Hinges::NONE; count],
            branches: vec![Branches::NONE; count],
        };
        for (n, link) in links.iter().enumerate() {
            let d = link.kind.freedoms();
            assert!(link.parent.is_none_or(|p| p < n), "the parent of link {n} must be an earlier link");
            assert_eq!(link.reference.len(), d, "link {n} has {d} coordinates");
            assert_eq!(link.map.len(), d * r, "link {n} has {d} rows of {r} numbers");
            joints.links.push(Link {
                kind: link.kind.clone(),
                frame_in_parent: link.frame_in_parent,
                frame_in_child: link.frame_in_child,
                first: joints.references.len(),
            });
            joints.references.extend(link.reference);
            joints.map.extend(link.map);
            let l = n % LANES;
            if link.kind == JointKind::Hinge {
                for (to, x) in joints.hinge_map[n / LANES * r..].iter_mut().zip(link.map) {
                    to[l] = *x;
                }
            }
            let (hinges, outer, inner) =
                (&mut joints.hinges[n / LANES], &link.frame_in_parent, &link.frame_in_child);
            match link.kind {
                JointKind::Hinge => hinges.set_hinge(l, outer, inner),
                JointKind::Fixed => hinges.set_fixed(l, outer, inner),
                _ => {}
            }
            joints.branches[n / LANES].set(n, link);
        }
        joints
    }

    /// Number of links.
    pub fn len(&self) -> usize {
        self.links.len()
    }

    /// Whether there is no link.
    pub fn is_empty(&self) -> bool {
        self.links.is_empty()
    }

    /// Number of reduced coordinates r.
    pub fn coordinates(&self) -> usize {
        self.coordinates
    }

    /// Number of joint coordinates, those of all links in turn.
    pub fn joint_coordinates(&self) -> usize {
        self.references.len()
    }

    /// Offsets of zero.
    pub fn offsets(&self) -> JointOffsets {
        let mut offsets = JointOffsets {
            start: self.references.clone(),
            hinge_start: vec![Lanes::ZERO; self.branches.len()],
        };
        self.spread(&mut offsets);
        offsets
    }

    /// Sets the offsets: a number for each joint coordinate.
    ///
    /// # Panics
    /// If there are not that many, or the offsets are of another model.
    pub fn set_offsets(&self, offsets: &mut JointOffsets, values: &[f64]) {
        assert_eq!(values.len(), self.references.len(), "a number for each joint coordinate");
        self.check(offsets);
        for ((start, reference), value) in offsets.start.iter_mut().zip(&self.references).zip(values) {
            *start = reference + value;
        }
        self.spread(offsets);
    }

    /// Sets q̄ + off, a number for each joint coordinate: with no reduced coordinates, where the links are.
    ///
    /// # Panics
    /// If there are not that many, or the offsets are of another model.
    pub fn set_coordinates(&self, offsets: &mut JointOffsets, values: &[f64]) {
        self.check(offsets);
        offsets.start.copy_from_slice(values);
        self.spread(offsets);
    }

    /// The joint coordinates of all links in turn, θ = q̄ + Θ z + off.
    ///
    /// # Panics
    /// If the sizes of z, the offsets or the output are not those of the model.
    pub fn joint_coordinates_at(&self, z: &[f64], offsets: &JointOffsets, out: &mut [f64]) {
        assert_eq!(out.len(), self.references.len(), "as many joint coordinates as the model has");
        self.check_sizes(z, offsets);
        for (n, link) in self.links.iter().enumerate() {
            let (d, theta) = self.joint_at(n, z, offsets);
            out[link.first..link.first + d].copy_from_slice(&theta[..d]);
        }
    }

    /// The poses of all links at coordinates z. Allocates nothing. On one thread: what a link waits for, its
    /// parent's rotation, is most of the work.
    ///
    /// # Panics
    /// If the sizes of z, the offsets or the output are not those of the model.
    pub fn rebuild(&self, z: &[f64], offsets: &JointOffsets, base: &Pose, out: &mut PoseLanes) {
        assert_eq!(out.len(), self.links.len(), "as many poses as the model has links");
        self.check_sizes(z, offsets);
        Pass { model: self, z, offsets, base }.run(&mut out.blocks);
    }

    /// The body twists of all links at coordinates z with rates ż, parents first:
    /// φ_c = Ad(H_rel)⁻¹ φ_p + Ad(Xc) S(θ) θ̇, θ̇ = Θ ż.
    ///
    /// # Panics
    /// If the sizes of z, the rates, the offsets or the output are not those of the model.
    pub fn twists(
        &self,
        z: &[f64],
        rates: &[f64],
        offsets: &JointOffsets,
        base_twist: &Twist,
        out: &mut [Twist],
    ) {
        assert_eq!(out.len(), self.links.len(), "as many twists as the model has links");
        assert_eq!(rates.len(), self.coordinates, "as many rates as the model has coordinates");
        self.check_sizes(z, offsets);
        let rate = |k: usize| {
            let row = &self.map[k * self.coordinates..(k + 1) * self.coordinates];
            row.iter().zip(rates).map(|(a, b)| a * b).sum()
        };
        self.twists_by(z, rate, offsets, base_twist, out);
    }

    /// The same with θ̇ by itself, a number for each joint coordinate, and no reduced coordinates.
    pub(crate) fn twists_at(
        &self,
        rates: &[f64],
        offsets: &JointOffsets,
        base_twist: &Twist,
        out: &mut [Twist],
    ) {
        self.twists_by(&[], |k| rates[k], offsets, base_twist, out);
    }

    fn twists_by(
        &self,
        z: &[f64],
        rate: impl Fn(usize) -> f64,
        offsets: &JointOffsets,
        base_twist: &Twist,
        out: &mut [Twist],
    ) {
        for (n, link) in self.links.iter().enumerate() {
            let (d, theta) = self.joint_at(n, z, offsets);
            let X = link.relative(&theta[..d]);
            let S = link.kind.subspace(&theta[..d]);
            let own: nalgebra::Vector6<f64> = (0..d).map(|k| S.column(k) * rate(link.first + k)).sum();
            let parent = match self.branches[n / LANES].parents[n % LANES] {
                BASE => *base_twist,
                parent => out[parent as usize],
            };
            out[n] =
                X.twist_to_local(&parent) + link.frame_in_child.twist_to_outer(&Twist::from_vector(&own));
        }
    }

    fn check(&self, offsets: &JointOffsets) {
        assert_eq!(offsets.start.len(), self.references.len(), "offsets of this model");
        assert_eq!(offsets.hinge_start.len(), self.branches.len(), "offsets of this model");
    }

    fn check_sizes(&self, z: &[f64], offsets: &JointOffsets) {
        assert_eq!(z.len(), self.coordinates, "as many coordinates as the model has");
        self.check(offsets);
    }

    /// Copies the start of the hinges to their lanes.
    fn spread(&self, offsets: &mut JointOffsets) {
        for (n, link) in self.links.iter().enumerate() {
            if link.kind == JointKind::Hinge {
                offsets.hinge_start[n / LANES][n % LANES] = offsets.start[link.first];
            }
        }
    }

    /// The rows of Θ of a link.
    fn rows(&self, n: usize) -> impl Iterator<Item = &[f64]> {
        let (link, r) = (&self.links[n], self.coordinates);
        (link.first..link.first + link.kind.freedoms()).map(move |k| &self.map[k * r..][..r])
    }

    /// How many coordinates a link has, and which: θ = q̄ + off + Θ z.
    fn joint_at(&self, n: usize, z: &[f64], offsets: &JointOffsets) -> (usize, [f64; 6]) {
        let start = &offsets.start[self.links[n].first..];
        let mut theta = [0.0; 6];
        let mut d = 0;
        for (row, start) in self.rows(n).zip(start) {
            theta[d] = row.iter().zip(z).fold(*start, |sum, (a, b)| sum + a * b);
            d += 1;
        }
        (d, theta)
    }

    /// The relative pose of a link of any kind, by the library's sines and cosines.
    pub(super) fn relative(&self, n: usize, z: &[f64], offsets: &JointOffsets) -> Pose {
        let (d, theta) = self.joint_at(n, z, offsets);
        self.links[n].relative(&theta[..d])
    }
}
