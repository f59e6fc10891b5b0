//! Convex pieces as the narrow phase takes them: what the library has, hulls, triangles of surfaces with the normals that they may push
//! along.

use std::cell::Cell;

use parry3d_f64::math::{Pose as Placed, Vector};
use parry3d_f64::query::details::NormalConstraints;
use parry3d_f64::shape::{
    HeightField, PolygonalFeature, PolygonalFeatureMap, Shape as Solid, SupportMap, Triangle,
};

use super::{Doubt, STRAIGHT};
use crate::contact::collider::Form;
use crate::contact::hull::Hull;
use crate::contact::patch;

/// A normal this close (cosine) to that of a triangle is that.
const OWN: f64 = 1.0 - 1e-12;

/// How many points of a cylinder's rim stand for it, and the cosine of its axis to a direction in which a flat end is foremost.
pub(super) const CORNERS: usize = 8;
const FLAT_END: f64 = 0.7;

/// A cylinder that is tilted by more than this, rad, has one foremost point: from here on it lies over the flat side that is its normal, to 1e-3 of
/// the size.
const LEAN: f64 = 1e-4;

/// The normals that a triangle of a surface may push along, and whether the last one had to be turned far. They are computed
/// where they are needed: most triangles are too far away, and its own normal it may always push along.
pub(super) struct Limits {
    pub(super) surface: Form,
    pub(super) at: u32,
    pub(super) triangle: Triangle,
    pub(super) doubt: Cell<Doubt>,
}

impl NormalConstraints for Limits {
    fn project_local_normal_mut(&self, normal: &mut Vector) -> bool {
        self.doubt.set(Doubt::None);
        let own = self.triangle.normal();
        if own.is_some_and(|own| own.dot(*normal) > OWN) {
            return true;
        }
        if let Form::Field(field, _) = &self.surface
            && is_summit(field, self.at, *normal)
        {
            return true;
        }
        let cone = match &self.surface {
            Form::Mesh(mesh, _) => mesh.triangle_normal_constraints(self.at),
            Form::Field(field, _) => field.triangle_normal_constraints(self.at),
            Form::Convex(_) | Form::Hull(_) | Form::Plane | Form::Skin(_) => None,
        };
        let before = *normal;
        let allowed = cone.is_none_or(|cone| cone.project_local_normal_mut(normal));
        if before.dot(*normal) < STRAIGHT {
            self.doubt.set(Doubt::Bent);
        }
        allowed
    }
}

/// A surface leans back from a corner where none of the next corners is higher than by this, of the way to it.
const LEVEL: f64 = 1e-5;

/// Whether the foremost corner of a triangle of a field is so on all sides: what the surface may push along at a corner is more than what its
/// triangles and edges may.
fn is_summit(field: &HeightField, t: u32, normal: Vector) -> bool {
    let (rows, cells) = (field.nrows(), field.nrows() * field.ncols());
    let (cell, is_first) = (t as usize % cells, (t as usize) < cells);
    let corners = if is_first { [(0, 0), (1, 0), (0, 1)] } else { [(1, 0), (1, 1), (0, 1)] };
    let heights = field.heights();
    let corner = |i: usize, k: usize| {
        let z = heights[(i, k)] * field.scale().y;
        Vector::new(field.x_at(k), z, field.z_at(i))
    };
    let height = |&(i, k): &(usize, usize)| corner(i, k).dot(normal);
    let own = corners.map(|(i, k)| (cell % rows + i, cell / rows + k));
    let Some((i, k)) = own.into_iter().max_by(|a, b| height(a).total_cmp(&height(b))) else { return false };
    let top = corner(i, k);
    let around = [(1, 0), (-1, 0), (0, 1), (0, -1), (1, -1), (-1, 1)];
    around.into_iter().all(|(di, dk)| {
        let next = i.checked_add_signed(di).zip(k.checked_add_signed(dk));
        next.filter(|(i, k)| *i < heights.nrows() && *k < heights.ncols()).is_none_or(|(i, k)| {
            let way = corner(i, k) - top;
            way.dot(normal) < LEVEL * way.length()
        })
    })
}

/// A triangle with some thickness behind it.
pub(super) struct Wedge {
    pub(super) triangle: Triangle,
    pub(super) inward: Vector,
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

/// A point, which a ball is but for its radius.
pub(super) struct Dot;

impl SupportMap for Dot {
    fn local_support_point(&self, _: Vector) -> Vector {
        Vector::ZERO
    }
}

impl PolygonalFeatureMap for Dot {
    fn local_support_feature(&self, _: Vector, out: &mut PolygonalFeature) {
        out.vertices[0] = Vector::ZERO;
        out.num_vertices = 1;
    }
}

/// How a box or a triangle and a hull face each other.
pub(super) enum Facing {
    /// With a face of the box or triangle: its normal, and whether the shorter way out of an overlap is to its back.
    Face { normal: Vector, is_behind: bool },
    /// With something else.
    Other,
    /// The hull is behind the triangle.
    Away,
}

/// Something convex.
#[derive(Clone, Copy)]
pub(super) struct Piece<'a> {
    /// As the library has it, if it does.
    pub(super) solid: Option<&'a dyn Solid>,
    /// Itself, if it is a hull.
    pub(super) hull: Option<&'a Hull>,
    /// Its faces, and how much they are rounded; balls have none.
    pub(super) faces: Option<(&'a dyn PolygonalFeatureMap, f64)>,
    pub(super) limits: Option<&'a Limits>,
}

impl<'a> Piece<'a> {
    pub(super) fn solid(solid: &'a dyn Solid) -> Piece<'a> {
        Piece { solid: Some(solid), hull: None, faces: solid.as_polygonal_feature_map(), limits: None }
    }

    /// Of a form that is convex.
    pub(super) fn of(form: &'a Form) -> Option<Piece<'a>> {
        match form {
            Form::Convex(solid) => Some(Piece::solid(&**solid)),
            Form::Hull(hull) => {
                Some(Piece { solid: None, hull: Some(hull), faces: Some((&**hull, 0.0)), limits: None })
            }
            Form::Mesh(..) | Form::Field(..) | Form::Plane | Form::Skin(_) => None,
        }
    }

    /// As something with corners, and how much it is rounded.
    pub(super) fn rounded(&self) -> (&'a dyn PolygonalFeatureMap, f64) {
        let ball = self.solid.and_then(|solid| solid.as_ball());
        self.faces.unwrap_or((&Dot, ball.map_or(0.0, |ball| ball.radius)))
    }

    /// The face of this box or triangle over which the foremost corner of a hull at a place lies, outside or with
    /// no other face nearer: then the two are exactly as far apart, or overlap as deep, as this corner and that face.
    pub(super) fn face_toward(&self, hull: &Hull, place: &Placed) -> Facing {
        let Some(solid) = self.solid else { return Facing::Other };
        let foremost = |normal: Vector| {
            let local = place.rotation.inverse() * -normal;
            place.transform_point(hull.local_support_point(local))
        };
        if let Some(cuboid) = solid.as_cuboid() {
            // The side that the middle of the hull is beyond most.
            let middle = place.transform_point(hull.center);
            let beyond = middle.abs() - cuboid.half_extents;
            let axis = (1..3).fold(0, |best, i| if beyond[i] >= beyond[best] { i } else { best });
            let mut normal = Vector::ZERO;
            normal[axis] = middle[axis].signum();
            let corner = foremost(normal).abs() - cuboid.half_extents;
            let over = (0..3).all(|i| i == axis || corner[i] < corner[axis].min(0.0));
            return if over { Facing::Face { normal, is_behind: false } } else { Facing::Other };
        }
        let Some((triangle, normal)) = solid.as_triangle().and_then(|t| Some((t, t.normal()?))) else {
            return Facing::Other;
        };
        let corner = foremost(normal);
        // A triangle has one side: what is behind its plane as a whole does not touch it. With the foremost corner at −d and the
        // last at e along the normal, the way out is d to the outside and e back: where e < d, the hull has come from behind,
        // as through the other side of something thin, whose triangles have the shorter way.
        let depth = (triangle.a - corner).dot(normal);
        let before = if depth > 0.0 { (foremost(-normal) - triangle.a).dot(normal) } else { f64::INFINITY };
        if before <= 0.0 {
            return Facing::Away;
        }
        let sides = [(triangle.a, triangle.b), (triangle.b, triangle.c), (triangle.c, triangle.a)];
        let over = sides.into_iter().all(|(from, to)| (to - from).cross(corner - from).dot(normal) > 0.0);
        if over { Facing::Face { normal, is_behind: before < depth } } else { Facing::Other }
    }

    /// Corners of the face, edge or point that is foremost in a direction. A cylinder's flat end has points of its rim, always the
    /// same, so that they last from step to step.
    pub(super) fn corners<'r>(
        &self,
        direction: Vector,
        near: Vector,
        room: &'r mut [Vector; CORNERS],
    ) -> &'r [Vector] {
        if let Some(cylinder) = self.solid.and_then(|solid| solid.as_cylinder())
            && direction.y.abs() > FLAT_END * direction.length()
        {
            let end = cylinder.half_height * direction.y.signum();
            rim(cylinder.radius, end, room);
            return room;
        }
        let mut feature = PolygonalFeature::default();
        self.rounded().0.local_support_feature_toward(direction, near, &mut feature);
        let count = feature.num_vertices;
        room[..count].copy_from_slice(&feature.vertices[..count]);
        &room[..count]
    }

    /// The plane of a face at its farthest corner, the one that is closest to a direction: its outward normal.
    pub(super) fn flattest(&self, direction: Vector, near: Vector) -> Option<Vector> {
        if let Some(hull) = self.hull {
            let planes = hull.planes_at(hull.farthest(direction)).map(|plane| plane.0);
            return planes.max_by(|a, b| a.dot(direction).total_cmp(&b.dot(direction)));
        }
        let mut room = [Vector::ZERO; CORNERS];
        let (normal, _) = patch::plane(self.corners(direction, near, &mut room))?;
        Some(if normal.dot(direction) < 0.0 { -normal } else { normal })
    }

    /// The outward normals of the flat sides toward a point, of a box or a cylinder; of a triangle that to its outside.
    pub(super) fn sides(&self, point: Vector) -> [Option<Vector>; 3] {
        let Some(solid) = self.solid else { return [None; 3] };
        if solid.as_cuboid().is_some() {
            let [x, y, z] = [Vector::X, Vector::Y, Vector::Z];
            return [x * point.x.signum(), y * point.y.signum(), z * point.z.signum()].map(Some);
        }
        let cylinder = solid.as_cylinder().map(|_| Vector::Y * point.y.signum());
        [cylinder.or_else(|| solid.as_triangle()?.normal()), None, None]
    }

    /// Whether it is a cylinder of which one point of a rim is foremost in a direction, in closed form: the search finds it to half of its
    /// digits only.
    pub(super) fn has_lowest(&self, direction: Vector) -> bool {
        let across = (direction.x * direction.x + direction.z * direction.z).sqrt();
        let is_tilted = across.min(direction.y.abs()) > LEAN;
        is_tilted && self.solid.is_some_and(|solid| solid.as_cylinder().is_some())
    }

    pub(super) fn limits(&self) -> Option<&dyn NormalConstraints> {
        self.limits.map(|limits| limits as &dyn NormalConstraints)
    }
}

/// Points of a circle about y.
pub(super) fn rim(radius: f64, height: f64, points: &mut [Vector; CORNERS]) {
    for (k, point) in points.iter_mut().enumerate() {
        let (sin, cos) = (k as f64 * std::f64::consts::TAU / CORNERS as f64).sin_cos();
        *point = Vector::new(radius * cos, height, radius * sin);
    }
}

/// A triangle of a surface, with the normals it may push along.
pub(super) fn triangle_of(surface: &Form, t: u32) -> Option<(Triangle, Limits)> {
    let triangle = match surface {
        Form::Mesh(mesh, _) => mesh.triangle(t),
        Form::Field(field, _) => field.triangle_at_id(t)?,
        Form::Convex(_) | Form::Hull(_) | Form::Plane | Form::Skin(_) => return None,
    };
    Some((triangle, Limits { surface: surface.clone(), at: t, triangle, doubt: Cell::new(Doubt::None) }))
}

/// A piece so many times as large. The tolerances of the library's searches are absolute, made for things of about one metre: they are asked
/// about pieces of that size, by a power of two, which changes no digit.
pub(super) struct Scaled<'a> {
    pub(super) piece: &'a dyn PolygonalFeatureMap,
    pub(super) by: f64,
}

impl SupportMap for Scaled<'_> {
    fn local_support_point(&self, direction: Vector) -> Vector {
        self.piece.local_support_point(direction) * self.by
    }
}

/// The power of two that brings a size to between one and two.
pub(super) fn to_unit(size: f64) -> f64 {
    let exponent = (size.to_bits() >> 52).clamp(1, 2045);
    f64::from_bits((2046 - exponent) << 52)
}
