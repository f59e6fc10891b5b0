//! Narrow phase: where two shapes touch or are about to, reduced to a few points.
//!
//! Balls on boxes and on faces and everything on a plane are closed forms; hulls meet by their patches (`patch.rs`); other convex
//! pieces are left to the collision library. Surfaces are gone through triangle by triangle, with memory that is kept, and
//! normals held within what each triangle's neighbours allow, so that nothing trips over inner edges. `narrow/piece.rs` has the convex
//! pieces, `narrow/polish.rs` their normals to the last digit, `narrow/choice.rs` which points are kept.

mod choice;
mod piece;
mod polish;
#[cfg(test)]
mod tests;

pub(super) use choice::{MORE, POINTS};

use nalgebra::Vector3;
use parry3d_f64::bounding_volume::{Aabb, BoundingVolume};
use parry3d_f64::math::{Pose as Placed, Vector};
use parry3d_f64::query::details::NormalConstraintsPair;
use parry3d_f64::query::epa::EPA;
use parry3d_f64::query::gjk::{self, CsoPoint, GJKResult, VoronoiSimplex};
use parry3d_f64::query::{
    ContactManifold, DefaultQueryDispatcher, PersistentQueryDispatcher, TrackedContact,
};
use parry3d_f64::shape::{
    Cuboid, PackedFeatureId, PolygonalFeature, PolygonalFeatureMap, Shape as Solid, ShapeType, Triangle,
};

use super::ball::{Ball, Meeting, Nearest};
use super::collider::{Collider, Form};
use super::convert::{from_vector, pose, vector};
use super::hull::Seen;
use super::patch::{self, Patch, View};
use super::spine;
use crate::spatial::{Pose, Twist};
use piece::{CORNERS, Facing, Piece, Scaled, Wedge, rim, to_unit, triangle_of};

/// A face's normal is taken for that of the nearest points if the pieces are apart along it as far to this, of the smaller shape's
/// radius.
const SNAP: f64 = 1e-4;

/// How far below the foremost corner of a hull others count as near the contact plane, of the smaller shape's radius: where nothing is
/// fast, and at most.
const SHALLOW: f64 = 0.03;
const DEEP: f64 = 0.25;

/// Points closer than this, of the smaller shape's radius, are one.
const SAME: f64 = 1e-4;

/// A point must be farther out than another by this, of the smaller shape's radius, to be taken for it.
const TIE: f64 = 1e-6;

/// A normal that the neighbours of a triangle turn by more than this (cosine) is another triangle's to find.
const STRAIGHT: f64 = 0.99;

/// A cylinder that is tilted by more than this, rad, has a lowest point.
const TILT: f64 = 1e-6;

/// A flat side is the normal where pieces are as far apart along it as they are, to this, of the smaller shape's radius: the digits that
/// the library's search has.
const FLAT_SIDE: f64 = 1e-7;

/// What moves by more than this in a step, of the smaller shape's radius, may come to a triangle that it is not over.
const FAST: f64 = 0.02;

/// How far outside a triangle what comes to it may be, of the smaller shape's radius.
const EDGE: f64 = 0.1;

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
    /// The same at the end of the step, as if nothing touched.
    then: f64,
    doubt: Doubt,
}

/// What speaks against a point. Those of a pair with the least doubt stand for all; alone, one with doubt is better than nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Doubt {
    None,
    /// Neighbours turned the normal far: what they find straight is meant.
    Bent,
    /// The shorter way out is to the back of the triangle: of something thin, the other side is meant.
    Behind,
}

impl Point {
    /// Of a soft surface.
    pub fn new(at: Vector3<f64>, normal: Vector3<f64>, gap: f64) -> Point {
        Point { at, normal, gap, then: gap, doubt: Doubt::None }
    }

    /// Where a ball, its centre in the world, meets something else, found in the frame of that.
    fn on_ball(outer: &Pose, center: &Vector3<f64>, radius: f64, found: &Nearest) -> Point {
        let normal = outer.rotation * from_vector(found.normal);
        let at = center - normal * (radius + 0.5 * found.gap);
        Point { at, normal, gap: found.gap, then: found.gap, doubt: Doubt::None }
    }
}

/// Memory of the narrow phase.
pub(super) struct Narrow {
    manifold: ContactManifold<(), ()>,
    simplex: VoronoiSimplex,
    polytope: EPA,
    /// What was found for the last pair.
    pub points: Vec<Point>,
    /// Triangles of a surface near the other shape.
    near: Vec<u32>,
    /// What two pieces show each other, and which corners of a hull are near a plane.
    patches: [Patch; 2],
    corners: Vec<u32>,
    seen: Seen,
    /// The smaller shape's radius.
    size: f64,
    /// How what meets a surface moves past that in the step as if nothing touched: world axes, at the origin.
    past: Twist,
    /// Whether that is far enough to come to triangles that it is not over yet.
    fast: bool,
}

/// How many points and corners there is memory for from the start.
const ROOM: usize = 256;

impl Default for Narrow {
    fn default() -> Narrow {
        Narrow {
            manifold: ContactManifold::default(),
            simplex: VoronoiSimplex::default(),
            polytope: EPA::default(),
            points: Vec::with_capacity(ROOM),
            near: Vec::with_capacity(ROOM),
            patches: [Patch::with_room(ROOM), Patch::with_room(ROOM)],
            corners: Vec::with_capacity(ROOM),
            seen: Seen::default(),
            size: 0.0,
            past: Twist::ZERO,
            fast: false,
        }
    }
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

impl Narrow {
    /// As [`Narrow::find`] for balls and capsules, where that is a closed form: they are too far apart, or one is a ball. Whether it
    /// was so.
    #[inline]
    pub fn find_round(
        &mut self,
        a: (&Collider, &Pose),
        b: (&Collider, &Pose),
        reach: f64,
        size: f64,
    ) -> bool {
        let (Some((half, radius)), Some((other_half, other_radius))) = (&a.0.spine, &b.0.spine) else {
            return false;
        };
        let segment = |(shape, at): (&Collider, &Pose), half: &Vector3<f64>| {
            (at.transform_point(&shape.center), at.rotation * half)
        };
        let (x, y) = spine::nearest(&segment(a, half), &segment(b, other_half));
        let distance = (y - x).norm();
        let gap = distance - radius - other_radius;
        let is_ball = *half == Vector3::zeros() || *other_half == Vector3::zeros();
        // Two capsules may lie along each other; and which way is out is not known where spines meet.
        if gap < reach && !(is_ball && distance > SAME * size) {
            return false;
        }
        self.points.clear();
        if gap < reach {
            let normal = (y - x) / distance;
            let at = x + normal * (radius + 0.5 * gap);
            self.points.push(Point { at, normal, gap, then: gap, doubt: Doubt::None });
        }
        true
    }

    /// Finds the points of two shapes with the poses of what carries them that are closer than `reach`; `size` is the smaller
    /// one's radius, `motion` how the second moves past the first in the step as if nothing touched: world axes, at the origin.
    pub fn find(
        &mut self,
        a: (&Collider, &Pose),
        b: (&Collider, &Pose),
        reach: f64,
        size: f64,
        motion: &Twist,
    ) {
        self.points.clear();
        self.patches.iter_mut().for_each(Patch::forget);
        (self.size, self.past) = (size, *motion);
        let way = motion.linear + motion.angular.cross(&b.1.position);
        self.fast = way.norm() + motion.angular.norm() * size > FAST * size;
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
        match (&a.0.form, &b.0.form) {
            (Form::Plane, _) => self.plane(&outer, &between, &b.0.form, reach),
            (_, Form::Plane) => {
                self.plane(&other, &between.inverse(), &a.0.form, reach);
                self.points.iter_mut().for_each(|p| p.normal = -p.normal);
            }
            _ if apart(&a.0.bounds, &b.0.bounds, &between, reach) => return,
            _ => self.meet((a.0, &outer), (b.0, &other), &between, reach),
        }
        if let Some(least) = self.points.iter().map(|p| p.doubt).min() {
            self.points.retain(|p| p.doubt == least);
        }
        for p in &mut self.points {
            p.then = p.gap + p.normal.dot(&(motion.linear + motion.angular.cross(&p.at)));
        }
        self.reduce();
    }

    /// Two shapes that are no planes, their frames in the world.
    fn meet(&mut self, a: (&Collider, &Pose), b: (&Collider, &Pose), between: &Placed, reach: f64) {
        let ((a, outer), (b, other)) = (a, b);
        match (Piece::of(&a.form), Piece::of(&b.form)) {
            (Some(one), Some(two)) => self.convex(outer, between, one, two, reach),
            (Some(one), None) => {
                let back = between.inverse();
                let bounds = a.bounds_at(&back).loosened(reach);
                self.past = Twist { linear: -self.past.linear, angular: -self.past.angular };
                self.surface(other, &back, &b.form, &bounds, one, reach);
                self.points.iter_mut().for_each(|p| p.normal = -p.normal);
            }
            (None, Some(two)) => {
                let bounds = b.bounds_at(between).loosened(reach);
                self.surface(outer, between, &a.form, &bounds, two, reach);
            }
            // Two surfaces: every triangle of the second that is near the first, with some thickness: a face that has sunk into
            // another must still be found.
            (None, None) => {
                let bounds = a.bounds.transform_by(&between.inverse());
                let thick = THICK * b.radius;
                let mut triangles = std::mem::take(&mut self.near);
                triangles.clear();
                each_near(&b.form, &bounds.loosened(reach), &mut |t, _| triangles.push(t));
                let count = triangles.len();
                self.near = triangles;
                for i in 0..count {
                    let Some((triangle, limits)) = triangle_of(&b.form, self.near[i]) else { continue };
                    let inward = triangle.normal().unwrap_or(Vector::ZERO) * -thick;
                    let wedge = Wedge { triangle, inward };
                    let bounds = triangle.compute_aabb(between).loosened(reach + thick);
                    let faces: (&dyn PolygonalFeatureMap, f64) = (&wedge, 0.0);
                    let piece = Piece { solid: None, hull: None, faces: Some(faces), limits: Some(&limits) };
                    self.surface(outer, between, &a.form, &bounds, piece, reach);
                }
            }
        }
    }

    /// Something on a plane, z = 0 of its frame with z outward.
    fn plane(&mut self, outer: &Pose, between: &Placed, other: &Form, reach: f64) {
        let normal = outer.rotation * Vector3::z();
        let down = between.rotation.inverse() * -Vector::Z;
        let points = &mut self.points;
        let mut add = |corner: Vector, radius: f64| {
            let local = between.transform_point(corner);
            let gap = local.z - radius;
            if gap < reach {
                let at = outer.transform_point(&Vector3::new(local.x, local.y, 0.5 * gap));
                points.push(Point { at, normal, gap, then: gap, doubt: Doubt::None });
            }
        };
        match other {
            Form::Hull(hull) | Form::Mesh(_, hull) | Form::Field(_, hull) => {
                let lowest = between.transform_point(hull.points[hull.farthest(down) as usize]).z;
                if lowest < reach {
                    let depth = (reach - lowest).min(DEEP * self.size);
                    hull.near_top(down, depth, &mut self.corners, &mut self.seen);
                    self.corners.iter().for_each(|corner| add(hull.points[*corner as usize], 0.0));
                }
            }
            Form::Convex(solid) => {
                if let Some(ball) = solid.as_ball() {
                    add(Vector::ZERO, ball.radius);
                } else if let Some(capsule) = solid.as_capsule() {
                    [capsule.segment.a, capsule.segment.b]
                        .into_iter()
                        .for_each(|end| add(end, capsule.radius));
                } else if let Some(cuboid) = solid.as_cuboid() {
                    let sign = |i: u32| if i & 1 == 0 { -1.0 } else { 1.0 };
                    for i in 0..8 {
                        add(cuboid.half_extents * Vector::new(sign(i), sign(i >> 1), sign(i >> 2)), 0.0);
                    }
                } else if let Some(cylinder) = solid.as_cylinder() {
                    // Eight points of each rim, always the same, and its lowest where it is tilted.
                    let (r, h) = (cylinder.radius, cylinder.half_height);
                    let tilt = (down.x * down.x + down.z * down.z).sqrt();
                    for end in [-h, h] {
                        let mut points = [Vector::ZERO; CORNERS];
                        rim(r, end, &mut points);
                        points.into_iter().for_each(|p| add(p, 0.0));
                        if tilt > TILT {
                            add(Vector::new(down.x / tilt * r, end, down.z / tilt * r), 0.0);
                        }
                    }
                }
            }
            Form::Plane | Form::Skin(_) => {}
        }
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
            if let Some((triangle, limits)) = triangle_of(surface, t) {
                let one = Piece { limits: Some(&limits), ..Piece::solid(&triangle) };
                let count = self.points.len();
                self.convex(outer, between, one, other, reach);
                if self.fast && self.points[count..].iter().all(|p| p.doubt != Doubt::None) {
                    self.arrive(outer, between, &triangle, other);
                }
            }
        }
        triangles.truncate(nested);
        self.near = triangles;
    }

    /// Where the foremost point of something convex comes through a triangle in this step, though it is not over that yet: what is nearest now may be an
    /// edge that a neighbour has too, and the neighbour's side of it.
    fn arrive(&mut self, outer: &Pose, between: &Placed, triangle: &Triangle, other: Piece) {
        let Some(normal) = triangle.normal() else { return };
        let (shape, round) = other.rounded();
        let local = between.rotation.inverse() * -normal;
        let foremost = between.transform_point(shape.local_support_point(local)) - normal * round;
        let gap = (foremost - triangle.a).dot(normal);
        let at = outer.transform_point(&from_vector(foremost));
        let way = self.past.linear + self.past.angular.cross(&at);
        let way = vector(&(outer.rotation.inverse() * way));
        let closing = -way.dot(normal);
        // What is slow is over it before it touches.
        if gap <= 0.0 || gap >= closing || way.length() < FAST * self.size {
            return;
        }
        let there = foremost + way * (gap / closing);
        let sides = [(triangle.a, triangle.b), (triangle.b, triangle.c), (triangle.c, triangle.a)];
        // What slides on a neighbour comes to it at the edge between them.
        let is_in = |(from, to): (Vector, Vector)| {
            let side = to - from;
            side.cross(there - from).dot(normal) > -EDGE * self.size * side.length()
        };
        if sides.into_iter().all(is_in) {
            let normal = outer.rotation * from_vector(normal);
            let at = at - normal * (0.5 * gap);
            self.points.push(Point { at, normal, gap, then: gap, doubt: Doubt::None });
        }
    }

    /// Two convex pieces.
    fn convex(&mut self, outer: &Pose, between: &Placed, a: Piece, b: Piece, reach: f64) {
        use ShapeType::{Capsule, Cuboid, Triangle};
        self.manifold.clear();
        self.manifold.local_n1 = Vector::ZERO;
        [a.limits, b.limits].into_iter().flatten().for_each(|limits| limits.doubt.set(Doubt::None));
        if a.hull.is_some() || b.hull.is_some() {
            return self.hulls(outer, between, a, b, reach);
        }
        // Kinds that the library has a closed form for.
        let known = match (a.solid, b.solid) {
            (Some(one), Some(two)) => matches!(
                (one.shape_type(), two.shape_type()),
                (Cuboid, Cuboid) | (Cuboid, Triangle) | (Triangle, Cuboid) | (Capsule, Capsule)
            ),
            _ => false,
        };
        match (a.faces, b.faces, a.solid, b.solid) {
            (Some(_), Some(_), ..) if !known => self.faces(between, &a, &b, reach),
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
        let doubt = doubt(&a, &b);
        let normal = outer.rotation * from_vector(self.manifold.local_n1);
        for point in &self.manifold.points {
            if point.dist < reach && point.dist.is_finite() {
                let on_first = outer.transform_point(&from_vector(point.local_p1));
                let at = on_first + normal * (0.5 * point.dist);
                self.points.push(Point { at, normal, gap: point.dist, then: point.dist, doubt });
            }
        }
    }

    /// Two convex pieces of which one at least is a hull.
    fn hulls(&mut self, outer: &Pose, between: &Placed, a: Piece, b: Piece, reach: f64) {
        let ((one, one_round), (two, two_round)) = (a.rounded(), b.rounded());
        let rounds = one_round + two_round;
        let back = between.inverse();
        let turned = |direction: Vector| back.rotation * -direction;
        // How far apart they are along a direction.
        let apart = |direction: Vector| {
            let near = between.transform_point(two.local_support_point(turned(direction)));
            (near - one.local_support_point(direction)).dot(direction)
        };
        let toward = between.translation.try_normalize().unwrap_or(Vector::X);
        let face = match (a.hull, b.hull) {
            (None, Some(hull)) => a.face_toward(hull, between),
            (Some(hull), None) => b.face_toward(hull, &back),
            _ => Facing::Other,
        };
        let (mut normal, distance, p, q) = match face {
            Facing::Away => return,
            Facing::Face { normal, .. } => {
                let normal = if a.hull.is_some() { between.rotation * -normal } else { normal };
                let distance = apart(normal);
                if distance >= reach + rounds {
                    return;
                }
                let p = one.local_support_point(normal);
                (normal, distance, p, p + normal * distance)
            }
            Facing::Other => {
                let Some(found) = self.nearest(between, one, two, reach + rounds) else { return };
                let (p, q, n) = found.unwrap_or((Vector::ZERO, Vector::ZERO, toward));
                // The normal of a face, rather than that of two nearest points, which has few digits where they are close: of
                // the faces around the foremost corners that along which they are farthest apart, and on from there.
                let (mut normal, mut distance) = (n, apart(n));
                let mut allowance = SNAP * self.size;
                for _ in 0..8 {
                    let faces = [
                        a.flattest(normal, p),
                        b.flattest(turned(normal), back.transform_point(q)).map(|m| between.rotation * -m),
                    ];
                    let before = normal;
                    for face in faces.into_iter().flatten() {
                        let far = apart(face);
                        if far > distance - allowance {
                            (normal, distance) = (face, far);
                            allowance = 0.0;
                        }
                    }
                    if normal == before {
                        break;
                    }
                }
                (normal, distance, p, q)
            }
        };
        let straight = normal;
        let mut opposite = turned(normal);
        let limits = (a.limits(), b.limits());
        if !limits.project_local_normals(between, &mut normal, &mut opposite) {
            return;
        }
        let doubt = match face {
            Facing::Face { is_behind: true, .. } => Doubt::Behind,
            _ => doubt(&a, &b),
        };
        let view = View::along(normal);
        // In a few sizes only, so that triangles next to each other see the same.
        let depth = if reach + rounds - distance < SHALLOW * self.size { SHALLOW } else { DEEP } * self.size;
        let [first, second] = &mut self.patches;
        let mut room = [Vector::ZERO; CORNERS];
        match a.hull {
            Some(hull) => first.of_hull(hull, &Placed::IDENTITY, &view, 1.0, depth),
            None => {
                let corners = a.corners(normal, p, &mut room);
                first.of_corners(corners, &Placed::IDENTITY, &view, 1.0);
            }
        }
        match b.hull {
            Some(hull) => second.of_hull(hull, between, &view, -1.0, depth),
            None => {
                let corners = b.corners(opposite, back.transform_point(q), &mut room);
                second.of_corners(corners, between, &view, -1.0);
            }
        }
        let world = outer.rotation * from_vector(normal);
        let is_bounded = a.limits.is_some() || b.limits.is_some();
        let count = self.points.len();
        let points = &mut self.points;
        let middle = normal * (0.5 * (one_round - two_round));
        let mut add = |at: Vector, gap: f64| {
            let gap = gap - rounds;
            // A normal that was turned can make points seem much deeper than the pieces overlap.
            if gap < reach && !(is_bounded && distance < 0.0 && gap < 5.0 * distance) {
                let at = outer.transform_point(&from_vector(at + middle));
                points.push(Point { at, normal: world, gap, then: gap, doubt });
            }
        };
        let hulls = [a.hull.map(|hull| (hull, &Placed::IDENTITY)), b.hull.map(|hull| (hull, between))];
        patch::meet(&mut self.patches, hulls, &view, TIE * self.size, &mut add);
        if self.points.len() == count && normal.dot(straight) > STRAIGHT {
            let gap = (q - p).dot(normal);
            if gap - rounds < reach {
                let at = outer.transform_point(&from_vector((p + q) * 0.5 + middle));
                self.points.push(Point { at, normal: world, gap: gap - rounds, then: gap - rounds, doubt });
            }
        }
    }

    /// Where two convex pieces are nearest, or which way out is shortest: a point of each in the frame of the first, and the normal out of
    /// the first; nothing if they are farther apart than `far`, and no points where the library finds none.
    #[allow(clippy::option_option)]
    fn nearest(
        &mut self,
        between: &Placed,
        one: &dyn PolygonalFeatureMap,
        two: &dyn PolygonalFeatureMap,
        far: f64,
    ) -> Option<Option<(Vector, Vector, Vector)>> {
        let by = to_unit(self.size);
        let (one, two) = (Scaled { piece: one, by }, Scaled { piece: two, by });
        let place = Placed { translation: between.translation * by, ..*between };
        let toward = between.translation.try_normalize().unwrap_or(Vector::X);
        self.simplex.reset(CsoPoint::from_shapes(&place, &one, &two, toward));
        let found = match gjk::closest_points(&place, &one, &two, far * by, true, &mut self.simplex) {
            GJKResult::ClosestPoints(p, q, n) => Some((p, q, n)),
            GJKResult::Intersection => self.polytope.closest_points(&place, &one, &two, &self.simplex),
            _ => return None,
        };
        Some(found.map(|(p, q, n)| (p / by, q / by, n)))
    }

    /// Two pieces with faces or edges, as the library does it, but with memory that is kept where they overlap, and with the normals of
    /// flat sides as they are: along any direction the pieces are at most as far apart as they are, so the direction along which
    /// they are farthest apart is the normal. What the library finds has seven digits, and none where two flat sides just touch.
    fn faces(&mut self, between: &Placed, a: &Piece, b: &Piece, reach: f64) {
        let ((one, one_round), (two, two_round)) = (a.rounded(), b.rounded());
        let limits = (a.limits(), b.limits());
        let back = between.inverse();
        let front = |n: Vector| between.transform_point(two.local_support_point(back.rotation * -n));
        let apart = |n: Vector| (front(n) - one.local_support_point(n)).dot(n);
        let far = reach + one_round + two_round;
        // The flat side along which they are farthest apart, and whether it is the first piece's.
        let mut flat: Option<(f64, Vector, bool)> = None;
        for (sides, is_first) in [(a.sides(between.translation), true), (b.sides(back.translation), false)] {
            for side in sides.into_iter().flatten() {
                let normal = if is_first { side } else { between.rotation * -side };
                let distance = apart(normal);
                if flat.is_none_or(|flat| distance > flat.0) {
                    flat = Some((distance, normal, is_first));
                }
            }
        }
        if flat.is_some_and(|flat| flat.0 >= far) {
            return;
        }
        let Some(found) = self.nearest(between, one, two, far) else { return };
        let found = found.map(|found| polish::polish((a, b), between, found, self.size));
        let is_flat = |flat: &(f64, Vector, bool)| {
            found.is_none_or(|(_, _, n)| {
                let distance = apart(n);
                distance.is_nan() || distance <= flat.0 + FLAT_SIDE * self.size
            })
        };
        let flat = flat.filter(is_flat);
        let (distance, p, q, n) = match (flat, found) {
            (Some((distance, n, is_first)), found) => {
                // The nearest points that were found, if they are that: those of two edges lie anywhere on them. A rim has one.
                let are_nearest = |(p, q, _): &(Vector, Vector, Vector)| {
                    ((*q - *p).dot(n) - distance).abs() <= FLAT_SIDE * self.size
                };
                let has_lowest = if is_first { b.has_lowest(back.rotation * -n) } else { a.has_lowest(n) };
                match (found.filter(|found| !has_lowest && are_nearest(found)), is_first) {
                    (Some((p, q, _)), _) => (distance, p, q, n),
                    (None, true) => (distance, front(n) - n * distance, front(n), n),
                    (None, false) => {
                        let p = one.local_support_point(n);
                        (distance, p, p + n * distance, n)
                    }
                }
            }
            (None, Some((p, q, n))) => ((q - p).dot(n), p, q, n),
            (None, None) => return,
        };
        let other = between.inverse_transform_point(q);
        let (mut normal, mut opposite) = (n, between.rotation.inverse() * -n);
        if !limits.project_local_normals(between, &mut normal, &mut opposite) {
            return;
        }
        let (mut face, mut other_face) = (PolygonalFeature::default(), PolygonalFeature::default());
        one.local_support_feature_toward(normal, p, &mut face);
        two.local_support_feature_toward(opposite, other, &mut other_face);
        let manifold = &mut self.manifold;
        PolygonalFeature::contacts(between, &back, normal, opposite, &face, &other_face, manifold, false);
        let unknown = PackedFeatureId::UNKNOWN;
        // On a triangle that something lies flat on, what the two faces share is enough: nearest points wander along edges.
        let lies =
            flat.is_some() && (limits.0.is_some() || limits.1.is_some()) && !manifold.points.is_empty();
        if normal == n && !lies {
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
}

/// What the neighbours of two pieces have against the normal that was last asked about.
fn doubt(a: &Piece, b: &Piece) -> Doubt {
    [a.limits, b.limits].into_iter().flatten().map(|limits| limits.doubt.get()).max().unwrap_or(Doubt::None)
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
        Form::Mesh(mesh, _) => mesh.bvh().intersect_aabb(bounds).for_each(|t| each(t, &mesh.triangle(t))),
        Form::Field(field, _) => field.map_elements_in_local_aabb(bounds, each),
        Form::Convex(_) | Form::Hull(_) | Form::Plane | Form::Skin(_) => {}
    }
}
