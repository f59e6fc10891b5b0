//! Narrow phase: where two shapes touch or are about to, reduced to a few points.
//!
//! Convex pieces are left to the collision library; surfaces are gone through triangle by triangle, with memory that is
//! kept, and normals held within what each triangle's neighbours allow, so that nothing trips over inner edges.

use nalgebra::Vector3;
use parry3d_f64::math::Pose as Placed;
use parry3d_f64::query::details::NormalConstraints;
use parry3d_f64::query::{ContactManifold, DefaultQueryDispatcher, PersistentQueryDispatcher};
use parry3d_f64::shape::Shape as Solid;

use super::collider::{Collider, Form};
use super::convert::{from_vector, pose};
use crate::spatial::Pose;

/// How many points of one pair are kept.
pub(super) const POINTS: usize = 4;

/// Points of surfaces whose normals are this close (cosine) stand for one plane.
const ALIKE: f64 = 0.95;

/// Points closer than this, m, are one.
const SAME: f64 = 1e-5;

/// Where two shapes are closest, world.
#[derive(Clone, Copy, Debug)]
pub(super) struct Point {
    /// Halfway between the surfaces.
    pub at: Vector3<f64>,
    /// Out of the first, into the second.
    pub normal: Vector3<f64>,
    /// Distance along the normal, below zero where they overlap, m.
    pub gap: f64,
}

/// Memory of the narrow phase.
#[derive(Clone, Default)]
pub(super) struct Narrow {
    manifold: ContactManifold<(), ()>,
    /// What was found for the last pair.
    pub points: Vec<Point>,
    /// Triangles of a surface near the other shape.
    near: Vec<u32>,
}

impl std::fmt::Debug for Narrow {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Narrow").field("points", &self.points).finish()
    }
}

impl Narrow {
    /// Finds the points of two shapes, `at` the poses of what carries them, that are closer than `reach`.
    pub fn find(&mut self, a: (&Collider, &Pose), b: (&Collider, &Pose), reach: f64) {
        self.points.clear();
        let (outer, other) = (*a.1 * a.0.frame, *b.1 * b.0.frame);
        let between = pose(&outer.inverse_times(&other));
        match (&a.0.form, &b.0.form) {
            (Form::Convex(one), Form::Convex(two)) => {
                self.convex(&outer, &between, (&**one, None), (&**two, None), reach);
            }
            (Form::Convex(one), _) => {
                self.surface(&other, &between.inverse(), &b.0.form, &**one, reach, true)
            }
            (_, Form::Convex(two)) => self.surface(&outer, &between, &a.0.form, &**two, reach, false),
            // Two surfaces: every triangle of the second that is near the first.
            _ => {
                let bounds = a.0.bounds.transform_by(&between.inverse());
                let mut triangles = std::mem::take(&mut self.near);
                collect(&b.0.form, &loosened(bounds, reach), &mut triangles);
                for &t in &triangles {
                    if let Some((triangle, _)) = piece(&b.0.form, t) {
                        self.surface(&outer, &between, &a.0.form, &triangle, reach, false);
                    }
                }
                self.near = triangles;
            }
        }
        self.reduce();
    }

    /// Triangles of a surface against something convex.
    fn surface(
        &mut self,
        outer: &Pose,
        between: &Placed,
        surface: &Form,
        other: &dyn Solid,
        reach: f64,
        turned: bool,
    ) {
        let bounds = loosened(other.compute_aabb(between), reach);
        let first = self.points.len();
        let mut triangles = std::mem::take(&mut self.near);
        let nested = triangles.len();
        collect_more(surface, &bounds, &mut triangles);
        for &t in &triangles[nested..] {
            if let Some((triangle, limits)) = piece(surface, t) {
                let limits = limits.as_ref().map(|l| l as &dyn NormalConstraints);
                self.convex(outer, between, (&triangle, limits), (other, None), reach);
            }
        }
        triangles.truncate(nested);
        self.near = triangles;
        if turned {
            self.points[first..].iter_mut().for_each(|p| p.normal = -p.normal);
        }
    }

    /// Two convex pieces.
    fn convex(
        &mut self,
        outer: &Pose,
        between: &Placed,
        a: (&dyn Solid, Option<&dyn NormalConstraints>),
        b: (&dyn Solid, Option<&dyn NormalConstraints>),
        reach: f64,
    ) {
        self.manifold.points.clear();
        let found = DefaultQueryDispatcher.contact_manifold_convex_convex(
            between,
            a.0,
            b.0,
            a.1,
            b.1,
            reach,
            &mut self.manifold,
        );
        debug_assert!(found.is_ok(), "all pieces are of kinds that the library knows");
        let normal = outer.rotation * from_vector(self.manifold.local_n1);
        for point in &self.manifold.points {
            if point.dist < reach && point.dist.is_finite() {
                let on_first = outer.transform_point(&from_vector(point.local_p1));
                self.points.push(Point {
                    at: on_first + normal * (0.5 * point.dist),
                    normal,
                    gap: point.dist,
                });
            }
        }
    }

    /// Keeps, of points with normals alike, the deepest and those that span the widest area with it.
    fn reduce(&mut self) {
        let points = &mut self.points;
        // The deepest first; among equals the order in which they were found.
        points.sort_by(|a, b| a.gap.total_cmp(&b.gap));
        let mut kept = 0;
        for i in 0..points.len() {
            let p = points[i];
            if points[..kept].iter().all(|q| (q.at - p.at).norm() > SAME || q.normal.dot(&p.normal) < ALIKE) {
                points[kept] = p;
                kept += 1;
            }
        }
        points.truncate(kept);
        if points.len() <= POINTS {
            return;
        }
        // Groups of one normal stand one after the other, the deepest of each first.
        let (mut start, mut out) = (0, 0);
        while start < points.len() {
            let normal = points[start].normal;
            let mut end = start + 1;
            for i in end..points.len() {
                if points[i].normal.dot(&normal) > ALIKE {
                    points[end..=i].rotate_right(1);
                    end += 1;
                }
            }
            let count = spread(&mut points[start..end]);
            points.copy_within(start..start + count, out);
            out += count;
            start = end;
        }
        points.truncate(out);
    }
}

/// Brings up to [`POINTS`] points to the front: the first, that farthest from it, that farthest from their line, and that
/// farthest on its other side; how many.
fn spread(points: &mut [Point]) -> usize {
    if points.len() <= POINTS {
        return points.len();
    }
    let normal = points[0].normal;
    let farthest = |points: &[Point], from: usize, measure: &dyn Fn(&Point) -> f64| {
        let mut best = (from, f64::NEG_INFINITY);
        for (i, p) in points.iter().enumerate().skip(from) {
            let x = measure(p);
            if x > best.1 + SAME * SAME {
                best = (i, x);
            }
        }
        best.0
    };
    let a = points[0].at;
    let i = farthest(points, 1, &|p| (p.at - a).norm_squared());
    points.swap(1, i);
    let b = points[1].at;
    let side = |p: &Point| (b - a).cross(&(p.at - a)).dot(&normal);
    let i = farthest(points, 2, &|p| side(p).abs());
    points.swap(2, i);
    let sign = side(&points[2]).signum();
    let i = farthest(points, 3, &|p| -sign * side(p));
    points.swap(3, i);
    POINTS
}

fn loosened(bounds: parry3d_f64::bounding_volume::Aabb, by: f64) -> parry3d_f64::bounding_volume::Aabb {
    parry3d_f64::bounding_volume::BoundingVolume::loosened(&bounds, by)
}

/// A triangle of a surface, with the normals it may push along.
fn piece(
    surface: &Form,
    t: u32,
) -> Option<(parry3d_f64::shape::Triangle, Option<parry3d_f64::shape::TrianglePseudoNormals>)> {
    match surface {
        Form::Mesh(mesh) => Some((mesh.triangle(t), mesh.triangle_normal_constraints(t))),
        Form::Field(field) => Some((field.triangle_at_id(t)?, field.triangle_normal_constraints(t))),
        Form::Convex(_) => None,
    }
}

fn collect(surface: &Form, bounds: &parry3d_f64::bounding_volume::Aabb, into: &mut Vec<u32>) {
    into.clear();
    collect_more(surface, bounds, into);
}

/// Adds the triangles of a surface that are near a box.
fn collect_more(surface: &Form, bounds: &parry3d_f64::bounding_volume::Aabb, into: &mut Vec<u32>) {
    match surface {
        Form::Mesh(mesh) => into.extend(mesh.bvh().intersect_aabb(bounds)),
        Form::Field(field) => field.map_elements_in_local_aabb(bounds, &mut |t, _| into.push(t)),
        Form::Convex(_) => {}
    }
}
