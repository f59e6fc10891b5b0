//! Narrow phase: where two shapes touch or are about to, reduced to a few points.
//!
//! Balls on boxes and on faces are closed forms; other convex pieces are left to the collision library. Surfaces are gone
//! through triangle by triangle, with memory that is kept, and normals held within what each triangle's neighbours allow, so
//! that nothing trips over inner edges.

use std::cell::Cell;

use nalgebra::Vector3;
use parry3d_f64::bounding_volume::{Aabb, BoundingVolume};
use parry3d_f64::math::{Pose as Placed, Vector};
use parry3d_f64::query::details::{NormalConstraints, NormalConstraintsPair};
use parry3d_f64::query::epa::EPA;
use parry3d_f64::query::gjk::{self, CsoPoint, GJKResult, VoronoiSimplex};
use parry3d_f64::query::{
    ContactManifold, DefaultQueryDispatcher, PersistentQueryDispatcher, TrackedContact,
};
use parry3d_f64::shape::{
    Cuboid, PackedFeatureId, PolygonalFeature, PolygonalFeatureMap, Shape as Solid, ShapeType, SupportMap,
    Triangle,
};

use super::ball::{Ball, Meeting, Nearest};
use super::collider::{Collider, Form};
use super::convert::{from_vector, pose, vector};
use crate::spatial::Pose;

/// How many points of one pair are kept.
pub(super) const POINTS: usize = 4;

/// Points of surfaces whose normals are this close (cosine) stand for one plane.
const ALIKE: f64 = 0.95;

/// Points closer than this, of the smaller shape's radius, are one.
const SAME: f64 = 1e-4;

/// A point must be farther out than another by this, of the smaller shape's radius, to be taken for it.
const TIE: f64 = 1e-6;

/// A normal that the neighbours of a triangle turn by more than this (cosine) is another triangle's to find.
const STRAIGHT: f64 = 0.99;

/// A normal this close (cosine) to that of a triangle is that.
const OWN: f64 = 1.0 - 1e-12;

/// How thick the triangles of a surface are where it meets another, of its radius.
const THICK: f64 = 0.05;

/// Where two shapes are closest, world.
#[derive(Clone, Copy, Debug)]
pub(super) struct Point {
    /// Halfway between the surfaces.
    pub at: Vector3<f64>,
    /// Out of the first, into the second.
    pub normal: Vector3<f64>,
    /// Distance along the normal, below zero where they overlap, m.
    pub gap: f64,
    /// Whether neighbours turned the normal far.
    bent: bool,
}

impl Point {
    /// Where a ball, its centre in the world, meets something else, found in the frame of that.
    fn on_ball(outer: &Pose, center: &Vector3<f64>, radius: f64, found: &Nearest) -> Point {
        let normal = outer.rotation * from_vector(found.normal);
        Point { at: center - normal * (radius + 0.5 * found.gap), normal, gap: found.gap, bent: false }
    }
}

/// Memory of the narrow phase.
#[derive(Default)]
pub(super) struct Narrow {
    manifold: ContactManifold<(), ()>,
    simplex: VoronoiSimplex,
    polytope: EPA,
    /// What was found for the last pair.
    pub points: Vec<Point>,
    /// Triangles of a surface near the other shape.
    near: Vec<u32>,
}

/// Nothing in it lasts: a clone starts with empty memory.
impl Clone for Narrow {
    fn clone(&self) -> Narrow {
        Narrow::default()
    }
}

impl std::fmt::Debug for Narrow {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Narrow").field("points", &self.points).finish()
    }
}

/// The normals that a triangle of a surface may push along, and whether the last one had to be turned far. They are computed
/// where they are needed: most triangles are too far away, and its own normal it may always push along.
struct Limits {
    surface: Form,
    at: u32,
    triangle: Triangle,
    bent: Cell<bool>,
}

impl NormalConstraints for Limits {
    fn project_local_normal_mut(&self, normal: &mut Vector) -> bool {
        self.bent.set(false);
        if self.triangle.normal().is_some_and(|own| own.dot(*normal) > OWN) {
            return true;
        }
        let cone = match &self.surface {
            Form::Mesh(mesh) => mesh.triangle_normal_constraints(self.at),
            Form::Field(field) => field.triangle_normal_constraints(self.at),
            Form::Convex(_) => None,
        };
        let before = *normal;
        let allowed = cone.is_none_or(|cone| cone.project_local_normal_mut(normal));
        self.bent.set(before.dot(*normal) < STRAIGHT);
        allowed
    }
}

/// A triangle with some thickness behind it.
struct Wedge {
    triangle: Triangle,
    inward: Vector,
}

impl SupportMap for Wedge {
    fn local_support_point(&self, direction: Vector) -> Vector {
        let back = if self.inward.dot(direction) > 0.0 { self.inward } else { Vector::ZERO };
        self.triangle.local_support_point(direction) + back
    }
}

impl PolygonalFeatureMap for Wedge {
    fn local_support_feature(&self, direction: Vector, out: &mut PolygonalFeature) {
        self.triangle.local_support_feature(direction, out);
        if self.inward.dot(direction) > 0.0 {
            out.vertices.iter_mut().for_each(|x| *x += self.inward);
        }
    }
}

/// Something convex.
#[derive(Clone, Copy)]
struct Piece<'a> {
    /// As the library has it, if it does.
    solid: Option<&'a dyn Solid>,
    /// Its faces, and how much they are rounded; balls have none.
    faces: Option<(&'a dyn PolygonalFeatureMap, f64)>,
    limits: Option<&'a Limits>,
}

impl<'a> Piece<'a> {
    fn solid(solid: &'a dyn Solid) -> Piece<'a> {
        Piece { solid: Some(solid), faces: solid.as_polygonal_feature_map(), limits: None }
    }

    fn bounds(&self, at: &Placed, wedge: f64) -> Aabb {
        self.solid.map_or(Aabb::new_invalid(), |solid| solid.compute_aabb(at)).loosened(wedge)
    }

    fn limits(&self) -> Option<&dyn NormalConstraints> {
        self.limits.map(|limits| limits as &dyn NormalConstraints)
    }
}

impl Narrow {
    /// Finds the points of two shapes with the poses of what carries them that are closer than `reach`; `size` is the smaller
    /// one's radius.
    pub fn find(&mut self, a: (&Collider, &Pose), b: (&Collider, &Pose), reach: f64, size: f64) {
        self.points.clear();
        let (outer, other) = (*a.1 * a.0.frame, *b.1 * b.0.frame);
        if let (Form::Convex(one), Form::Convex(two)) = (&a.0.form, &b.0.form) {
            // A ball and a box need no more than this.
            if let (Some(solid), Some(ball)) = (one.as_cuboid(), two.as_ball()) {
                return self.ball_on_box(&outer, solid, &other.position, ball.radius, reach);
            }
            if let (Some(ball), Some(solid)) = (one.as_ball(), two.as_cuboid()) {
                self.ball_on_box(&other, solid, &outer.position, ball.radius, reach);
                return self.points.iter_mut().for_each(|p| p.normal = -p.normal);
            }
        }
        let between = pose(&outer.inverse_times(&other));
        if apart(&a.0.bounds, &b.0.bounds, &between, reach) {
            return;
        }
        match (&a.0.form, &b.0.form) {
            (Form::Convex(one), Form::Convex(two)) => {
                self.convex(&outer, &between, Piece::solid(&**one), Piece::solid(&**two), reach);
            }
            (Form::Convex(one), _) => {
                let piece = Piece::solid(&**one);
                let first = self.points.len();
                let bounds = piece.bounds(&between.inverse(), reach);
                self.surface(&other, &between.inverse(), &b.0.form, &bounds, piece, reach);
                self.points[first..].iter_mut().for_each(|p| p.normal = -p.normal);
            }
            (_, Form::Convex(two)) => {
                let piece = Piece::solid(&**two);
                self.surface(&outer, &between, &a.0.form, &piece.bounds(&between, reach), piece, reach);
            }
            // Two surfaces: every triangle of the second that is near the first, with some thickness: a face that has sunk into
            // another must still be found.
            _ => {
                let bounds = a.0.bounds.transform_by(&between.inverse());
                let thick = THICK * b.0.radius;
                let mut triangles = std::mem::take(&mut self.near);
                triangles.clear();
                each_near(&b.0.form, &bounds.loosened(reach), &mut |t, _| triangles.push(t));
                let count = triangles.len();
                self.near = triangles;
                for i in 0..count {
                    let Some((triangle, limits)) = piece(&b.0.form, self.near[i]) else { continue };
                    let inward = triangle.normal().unwrap_or(Vector::ZERO) * -thick;
                    let wedge = Wedge { triangle, inward };
                    let bounds = Piece::solid(&triangle).bounds(&between, reach + thick);
                    let piece = Piece { solid: None, faces: Some((&wedge, 0.0)), limits: Some(&limits) };
                    self.surface(&outer, &between, &a.0.form, &bounds, piece, reach);
                }
            }
        }
        // What neighbours find straight stands for what they bend; alone, it is better than nothing.
        if self.points.iter().any(|p| !p.bent) {
            self.points.retain(|p| !p.bent);
        }
        self.reduce(size);
    }

    /// A ball on a box.
    fn ball_on_box(&mut self, outer: &Pose, solid: &Cuboid, center: &Vector3<f64>, radius: f64, reach: f64) {
        let local = outer.rotation.inverse() * (center - outer.position);
        let found = Ball { center: vector(&local), radius }.nearest_of_box(solid.half_extents);
        if found.gap < reach {
            self.points.push(Point::on_ball(outer, center, radius, &found));
        }
    }

    /// Triangles of a surface within bounds, against something convex.
    fn surface(
        &mut self,
        outer: &Pose,
        between: &Placed,
        surface: &Form,
        bounds: &Aabb,
        other: Piece,
        reach: f64,
    ) {
        let mut triangles = std::mem::take(&mut self.near);
        let nested = triangles.len();
        match other.solid.and_then(|solid| solid.as_ball()) {
            None => each_near(surface, bounds, &mut |t, _| triangles.push(t)),
            Some(ball) => {
                let center = outer.transform_point(&from_vector(between.translation));
                let ball = Ball { center: between.translation, radius: ball.radius };
                each_near(surface, bounds, &mut |t, triangle| match ball.meet(triangle, reach) {
                    Meeting::Apart => {}
                    Meeting::Face(found) => {
                        self.points.push(Point::on_ball(outer, &center, ball.radius, &found));
                    }
                    Meeting::Edge => triangles.push(t),
                });
            }
        }
        for &t in &triangles[nested..] {
            if let Some((triangle, limits)) = piece(surface, t) {
                let one = Piece { limits: Some(&limits), ..Piece::solid(&triangle) };
                self.convex(outer, between, one, other, reach);
            }
        }
        triangles.truncate(nested);
        self.near = triangles;
    }

    /// Two convex pieces.
    fn convex(&mut self, outer: &Pose, between: &Placed, a: Piece, b: Piece, reach: f64) {
        use ShapeType::{Capsule, Cuboid, Triangle};
        self.manifold.clear();
        self.manifold.local_n1 = Vector::ZERO;
        [a.limits, b.limits].into_iter().flatten().for_each(|limits| limits.bent.set(false));
        // Kinds that the library has a closed form for.
        let known = match (a.solid, b.solid) {
            (Some(one), Some(two)) => matches!(
                (one.shape_type(), two.shape_type()),
                (Cuboid, Cuboid) | (Cuboid, Triangle) | (Triangle, Cuboid) | (Capsule, Capsule)
            ),
            _ => false,
        };
        match (a.faces, b.faces, a.solid, b.solid) {
            (Some(x), Some(y), ..) if !known => self.faces(between, x, y, (a.limits(), b.limits()), reach),
            (_, _, Some(one), Some(two)) => {
                let (limits, others) = (a.limits(), b.limits());
                let manifold = &mut self.manifold;
                let found = DefaultQueryDispatcher
                    .contact_manifold_convex_convex(between, one, two, limits, others, reach, manifold);
                debug_assert!(found.is_ok(), "all pieces are of kinds that the library knows");
            }
            // A wedge and a ball: no surface is made of balls.
            _ => return,
        }
        let bent = [a.limits, b.limits].into_iter().flatten().any(|limits| limits.bent.get());
        let normal = outer.rotation * from_vector(self.manifold.local_n1);
        for point in &self.manifold.points {
            if point.dist < reach && point.dist.is_finite() {
                let on_first = outer.transform_point(&from_vector(point.local_p1));
                let at = on_first + normal * (0.5 * point.dist);
                self.points.push(Point { at, normal, gap: point.dist, bent });
            }
        }
    }

    /// Two pieces with faces or edges, as the library does it, but with memory that is kept where they overlap.
    fn faces(
        &mut self,
        between: &Placed,
        (one, one_round): (&dyn PolygonalFeatureMap, f64),
        (two, two_round): (&dyn PolygonalFeatureMap, f64),
        limits: (Option<&dyn NormalConstraints>, Option<&dyn NormalConstraints>),
        reach: f64,
    ) {
        let toward = between.translation.try_normalize().unwrap_or(Vector::X);
        self.simplex.reset(CsoPoint::from_shapes(between, one, two, toward));
        let far = reach + one_round + two_round;
        let found = match gjk::closest_points(between, one, two, far, true, &mut self.simplex) {
            GJKResult::ClosestPoints(p, q, n) => Some((p, q, n)),
            GJKResult::Intersection => self.polytope.closest_points(between, one, two, &self.simplex),
            _ => None,
        };
        let Some((p, q, n)) = found else { return };
        let (distance, other) = ((q - p).dot(n), between.inverse_transform_point(q));
        let (mut normal, mut opposite) = (n, between.rotation.inverse() * -n);
        if !limits.project_local_normals(between, &mut normal, &mut opposite) {
            return;
        }
        let (mut face, mut other_face) = (PolygonalFeature::default(), PolygonalFeature::default());
        one.local_support_feature_toward(normal, p, &mut face);
        two.local_support_feature_toward(opposite, other, &mut other_face);
        let manifold = &mut self.manifold;
        let back = between.inverse();
        PolygonalFeature::contacts(between, &back, normal, opposite, &face, &other_face, manifold, false);
        let unknown = PackedFeatureId::UNKNOWN;
        if normal == n {
            manifold.points.push(TrackedContact::new(p, other, unknown, unknown, distance));
        }
        // A normal that was turned can make points seem much deeper than the pieces overlap.
        if limits.0.is_some() || limits.1.is_some() {
            manifold.points.retain(|x| distance >= 0.0 || x.dist >= 5.0 * distance);
        }
        for point in &mut manifold.points {
            point.local_p1 += normal * one_round;
            point.local_p2 += opposite * two_round;
            point.dist -= one_round + two_round;
        }
        (manifold.local_n1, manifold.local_n2) = (normal, opposite);
    }

    /// Keeps, of points with normals alike, the deepest and those that span the widest area with it.
    fn reduce(&mut self, size: f64) {
        let points = &mut self.points;
        // The deepest first; among equals the order in which they were found.
        points.sort_by(|a, b| a.gap.total_cmp(&b.gap));
        let mut kept = 0;
        for i in 0..points.len() {
            let p = points[i];
            if points[..kept]
                .iter()
                .all(|q| (q.at - p.at).norm() > SAME * size || q.normal.dot(&p.normal) < ALIKE)
            {
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
            for i in start + 1..points.len() {
                if points[i].normal.dot(&normal) > ALIKE {
                    points[end..=i].rotate_right(1);
                    end += 1;
                }
            }
            let count = spread(&mut points[start..end], size);
            points.copy_within(start..start + count, out);
            out += count;
            start = end;
        }
        points.truncate(out);
    }
}

/// Brings up to [`POINTS`] points to the front: the first, that farthest from it, that farthest from their line, and that
/// farthest on its other side, all across the normal and less what they are farther from touching; how many.
fn spread(points: &mut [Point], size: f64) -> usize {
    if points.len() <= POINTS {
        return points.len();
    }
    let (normal, deepest, a) = (points[0].normal, points[0].gap, points[0].at);
    let farthest = |points: &[Point], from: usize, measure: &dyn Fn(&Point) -> f64| {
        let mut best = (from, f64::NEG_INFINITY);
        for (i, p) in points.iter().enumerate().skip(from) {
            let x = measure(p) - (p.gap - deepest);
            if x > best.1 + TIE * size {
                best = (i, x);
            }
        }
        best.0
    };
    let across = |p: &Point| (p.at - a) - normal * normal.dot(&(p.at - a));
    let i = farthest(points, 1, &|p| across(p).norm());
    points.swap(1, i);
    let line = across(&points[1]);
    let side = |p: &Point| line.cross(&(p.at - a)).dot(&normal) / line.norm().max(SAME * size);
    let i = farthest(points, 2, &|p| side(p).abs());
    points.swap(2, i);
    let sign = side(&points[2]).signum();
    let i = farthest(points, 3, &|p| -sign * side(p));
    points.swap(3, i);
    POINTS
}

/// A triangle of a surface, with the normals it may push along.
fn piece(surface: &Form, t: u32) -> Option<(Triangle, Limits)> {
    let triangle = match surface {
        Form::Mesh(mesh) => mesh.triangle(t),
        Form::Field(field) => field.triangle_at_id(t)?,
        Form::Convex(_) => return None,
    };
    Some((triangle, Limits { surface: surface.clone(), at: t, triangle, bent: Cell::new(false) }))
}

/// Whether two boxes, the second at a place in the frame of the first, are farther apart than `reach` along an axis of
/// either.
fn apart(a: &Aabb, b: &Aabb, between: &Placed, reach: f64) -> bool {
    let (left, right) = (a.half_extents(), b.half_extents());
    let middle = between.transform_point(b.center()) - a.center();
    let back = between.rotation.inverse() * middle;
    let axes = [Vector::X, Vector::Y, Vector::Z].map(|axis| between.rotation * axis);
    let [x, y, z] = axes.map(|axis| axis.abs());
    let first = middle.abs() - left - (x * right.x + y * right.y + z * right.z);
    let second = back.abs() - right - Vector::new(x.dot(left), y.dot(left), z.dot(left));
    first.max_element() > reach || second.max_element() > reach
}

/// Does something with each triangle of a surface that is near a box.
fn each_near(surface: &Form, bounds: &Aabb, each: &mut impl FnMut(u32, &Triangle)) {
    match surface {
        Form::Mesh(mesh) => mesh.bvh().intersect_aabb(bounds).for_each(|t| each(t, &mesh.triangle(t))),
        Form::Field(field) => field.map_elements_in_local_aabb(bounds, each),
        Form::Convex(_) => {}
    }
}
