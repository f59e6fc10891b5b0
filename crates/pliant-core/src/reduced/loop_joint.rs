//! A joint that closes a loop: where it is, its own coordinates and the rows that count, along the path between its two ends.

use nalgebra::{Matrix6, Vector3};

use super::closures::Evaluated;
use super::placing::{Places, Six};
use super::tree::{BASE, Tree};
use crate::joints::JointKind;
use crate::mechanism::JointId;
use crate::spatial::{Pose, Wrench};

/// A joint that closes a loop.
#[derive(Clone, Debug)]
pub(super) struct LoopJoint {
    pub id: JointId,
    pub kind: JointKind,
    /// Links, or the base.
    pub child: usize,
    pub parent: usize,
    pub in_child: Pose,
    pub in_parent: Pose,
    /// Freedoms of the tree that move one side and not the other, with the sign of the side.
    pub path: Vec<(usize, f64)>,
    /// First of its freedoms among those of all loop joints, and where their rows over the path are.
    pub first: usize,
    pub at: usize,
    /// Whether its coordinates are linear in those of the path.
    pub linear: bool,
}

/// A freedom of a loop joint.
#[derive(Clone, Copy, Debug)]
pub(super) struct LoopFreedom {
    /// Of the state.
    pub coordinate: usize,
    pub joint: usize,
    /// Which of the joint's.
    pub own: usize,
    /// Where the mechanism starts.
    pub start: f64,
}

impl LoopJoint {
    /// X, and the child's joint frame in the world.
    pub fn place(&self, places: &Places) -> (Pose, Pose) {
        let pose = |n: usize| if n == BASE { places.base } else { places.pose(n) };
        let (outer, inner) = (pose(self.parent) * self.in_parent, pose(self.child) * self.in_child);
        (outer.inverse_times(&inner), inner)
    }

    /// Coordinates nearest to those there, and their rows.
    pub fn measure(&self, tree: &Tree, places: &Places, at: &mut Evaluated) {
        let d = self.kind.freedoms();
        if d == 0 {
            return;
        }
        let (X, inner) = self.place(places);
        let q = &mut at.q[self.first..self.first + d];
        let theta = self.kind.coordinates(&X, q);
        q.copy_from_slice(&theta.as_slice()[..d]);
        let J = self.kind.coordinates_jacobian(&X, q);
        for k in 0..d {
            let g = outward(&inner, places, &J, k);
            let width = self.path.len();
            self.write(tree, places, &g, &mut at.loops[self.at + k * width..self.at + (k + 1) * width]);
        }
    }

    pub fn write(&self, tree: &Tree, places: &Places, g: &Six, out: &mut [f64]) {
        for (out, &(i, sign)) in out.iter_mut().zip(&self.path) {
            let s = places.axis(tree, i);
            *out = sign * s.iter().zip(g).map(|(s, g)| s * g).sum::<f64>();
        }
    }
}

/// A row of the child frame's body twist as a covector at P, world axes.
pub(super) fn outward(inner: &Pose, places: &Places, rows: &Matrix6<f64>, i: usize) -> Six {
    let at = Pose::new(inner.rotation, inner.position - Vector3::from(places.point));
    let w = at.wrench_to_outer(&Wrench::from_vector(&rows.row(i).transpose()));
    [w.force.x, w.force.y, w.force.z, w.torque.x, w.torque.y, w.torque.z]
}

/// The combinations of a joint's rows that count, lengths in radii.
pub(super) fn counted_rows(kind: &JointKind, kept: Option<Matrix6<f64>>, radius: f64) -> Vec<[f64; 6]> {
    let d = kind.freedoms();
    let at_rest = kind.rows(&Pose::identity(), &[0.0; 6][..d]);
    let P = kept.unwrap_or_else(Matrix6::identity);
    let mut rows: Vec<[f64; 6]> = Vec::new();
    // An orthonormal basis of what P leaves, by its columns: each is of lengths or of angles alone.
    for i in 0..6 - d {
        let mut x: [f64; 6] = std::array::from_fn(|k| if k < 6 - d { P[(k, i)] } else { 0.0 });
        for row in &rows {
            let along: f64 = row.iter().zip(&x).map(|(a, b)| a * b).sum();
            x.iter_mut().zip(row).for_each(|(x, r)| *x -= along * r);
        }
        let size = x.iter().map(|x| x * x).sum::<f64>().sqrt();
        if size > 1e-6 {
            rows.push(x.map(|x| x / size));
        }
    }
    for row in &mut rows {
        let is_length = (0..6 - d).any(|i| row[i] != 0.0 && (0..3).any(|k| at_rest[(i, k)] != 0.0));
        if is_length {
            row.iter_mut().for_each(|x| *x /= radius);
        }
    }
    rows
}
