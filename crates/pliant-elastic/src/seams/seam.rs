//! Which points of two solids are one: nodes that coincide, or nodes of one on triangles of the other.

use nalgebra::{Isometry3, Matrix3, Point3, Vector3};

use crate::ElasticError;
use crate::solid::Solid;
use crate::surface::nearest_on_triangle;

/// A face in which two solids are joined.
#[derive(Clone, Debug, PartialEq)]
pub struct Seam {
    /// Both solids.
    pub solids: [usize; 2],
    /// A point of the first and one of the second, for each that they have in common.
    pub points: Vec<[SeamPoint; 2]>,
}

/// A point of a solid that moves with some of its nodes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SeamPoint {
    /// Where it is at rest in the solid's frame, m.
    pub rest: Vector3<f64>,
    /// Loadable nodes and their weights; those of weight zero do not count.
    pub nodes: [(usize, f64); 3],
}

impl SeamPoint {
    /// A node of a solid.
    pub fn node(solid: &Solid, node: usize) -> Self {
        Self { rest: solid.points()[node], nodes: [(node, 1.0), (node, 0.0), (node, 0.0)] }
    }

    /// A point on a triangle of a solid; bonded corners do not move.
    fn on_triangle(solid: &Solid, triangle: usize, rest: Vector3<f64>) -> Self {
        let t = solid.triangles()[triangle].map(|i| i as usize);
        let [a, b, c] = t.map(|i| solid.points()[i]);
        // Barycentric coordinates by areas.
        let normal = (b - a).cross(&(c - a));
        let weight = |p: Vector3<f64>, q: Vector3<f64>| {
            (p - rest).cross(&(q - rest)).dot(&normal) / normal.norm_squared()
        };
        let weights = [weight(b, c), weight(c, a), weight(a, b)];
        let loadable = |i: usize| i < solid.nodes();
        Self {
            rest,
            nodes: std::array::from_fn(|k| if loadable(t[k]) { (t[k], weights[k]) } else { (0, 0.0) }),
        }
    }

    /// The nodes that count.
    pub(super) fn parts(&self) -> impl Iterator<Item = (usize, f64)> + '_ {
        self.nodes.iter().copied().filter(|n| n.1 != 0.0)
    }

    /// Its displacement per force on another point of the same solid.
    pub(super) fn block(&self, solid: &Solid, other: &Self) -> Matrix3<f64> {
        let mut sum = Matrix3::zeros();
        for (i, w) in self.parts() {
            for (j, v) in other.parts() {
                sum += solid.block(i, j) * (w * v);
            }
        }
        sum
    }
}

impl Seam {
    /// Joins all loadable nodes of two solids that are within `tolerance` (m) of each other in the given poses.
    pub fn matching(
        solids: &[&Solid],
        poses: &[Isometry3<f64>],
        [a, b]: [usize; 2],
        tolerance: f64,
    ) -> Result<Self, ElasticError> {
        let place = |z: usize, i: usize| poses[z] * Point3::from(solids[z].points()[i]);
        let mut points = Vec::new();
        for i in 0..solids[a].nodes() {
            let p = place(a, i);
            let near = (0..solids[b].nodes())
                .map(|j| (j, (place(b, j) - p).norm()))
                .min_by(|x, y| x.1.total_cmp(&y.1));
            if let Some((j, distance)) = near
                && distance <= tolerance
            {
                points.push([SeamPoint::node(solids[a], i), SeamPoint::node(solids[b], j)]);
            }
        }
        Self::checked([a, b], points, tolerance)
    }

    /// Joins every loadable node of the second solid to the triangle of the first that is nearest, if it is within `tolerance` (m)
    /// in the given poses: for meshes that do not conform. What lies between them then stays as it is. The second should be the
    /// coarser one, else the first is held at more points than it has nodes there.
    pub fn projected(
        solids: &[&Solid],
        poses: &[Isometry3<f64>],
        [a, b]: [usize; 2],
        tolerance: f64,
    ) -> Result<Self, ElasticError> {
        let (first, second) = (solids[a], solids[b]);
        let to_first = poses[a].inverse() * poses[b];
        let mut points = Vec::new();
        for j in (0..second.nodes()).filter(|&j| second.area(j) > 0.0) {
            let p = (to_first * Point3::from(second.points()[j])).coords;
            let near = first
                .triangles()
                .iter()
                .enumerate()
                .map(|(t, corners)| {
                    let q = nearest_on_triangle(&corners.map(|i| first.points()[i as usize]), &p);
                    (t, q, (q - p).norm())
                })
                .min_by(|x, y| x.2.total_cmp(&y.2));
            if let Some((t, q, distance)) = near
                && distance <= tolerance
            {
                let on = SeamPoint::on_triangle(first, t, q);
                points.push([SeamPoint { rest: p, ..on }, SeamPoint::node(second, j)]);
            }
        }
        Self::checked([a, b], points, tolerance)
    }

    fn checked(
        solids: [usize; 2],
        points: Vec<[SeamPoint; 2]>,
        tolerance: f64,
    ) -> Result<Self, ElasticError> {
        if points.is_empty() {
            Err(ElasticError::NoSeam { solids, tolerance })
        } else {
            Ok(Self { solids, points })
        }
    }
}
