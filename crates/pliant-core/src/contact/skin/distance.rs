//! How far a point is from a shape, below zero inside of it, and the normal out of the shape there.

use nalgebra::Vector3;
use parry3d_f64::bounding_volume::Aabb;
use parry3d_f64::math::Vector;
use parry3d_f64::query::PointQueryWithLocation;
use parry3d_f64::shape::{HeightField, TriMesh, TrianglePointLocation, TypedShape};

use crate::contact::collider::Form;
use crate::contact::convert::{from_vector, vector};
use crate::contact::hull::Hull;

/// Distance and normal.
pub(super) type Away = (f64, Vector3<f64>);

/// A shape whose distances are asked for, found once for many points.
pub(super) enum Target<'f> {
    Plane,
    Ball(f64),
    /// From the first end along the second, with a radius.
    Capsule(Vector3<f64>, Vector3<f64>, f64),
    /// By half its edges.
    Box(Vector3<f64>),
    /// Along y: radius and half its length.
    Cylinder(f64, f64),
    Hull(&'f Hull),
    Mesh(&'f TriMesh),
    Field(&'f HeightField),
}

impl<'f> Target<'f> {
    /// `None` of a soft surface, which moves: [`finding`](super::finding).
    pub fn new(form: &'f Form) -> Option<Target<'f>> {
        Some(match form {
            Form::Plane => Target::Plane,
            Form::Hull(hull) => Target::Hull(hull),
            Form::Mesh(mesh, _) => Target::Mesh(mesh),
            Form::Field(field, _) => Target::Field(field),
            Form::Skin(_) => return None,
            Form::Convex(solid) => match solid.as_typed_shape() {
                TypedShape::Ball(ball) => Target::Ball(ball.radius),
                TypedShape::Capsule(capsule) => {
                    let (a, b) = (from_vector(capsule.segment.a), from_vector(capsule.segment.b));
                    Target::Capsule(a, b - a, capsule.radius)
                }
                TypedShape::Cuboid(cuboid) => Target::Box(from_vector(cuboid.half_extents)),
                TypedShape::Cylinder(cylinder) => Target::Cylinder(cylinder.radius, cylinder.half_height),
                _ => return None,
            },
        })
    }

    /// Whether the distance of a point bounds that of those near it: they differ by their way to each other at most. Triangles may have
    /// a point below a face next to one past an edge.
    pub fn is_even(&self) -> bool {
        !matches!(self, Target::Mesh(_) | Target::Field(_))
    }

    /// Of a point in the shape's frame that is nearer than `reach` to its box. `None` where a surface without an inside has nothing near.
    #[inline]
    pub fn away(&self, p: &Vector3<f64>, reach: f64) -> Option<Away> {
        match self {
            Target::Plane => Some((p.z, Vector3::z())),
            Target::Ball(radius) => Some(around(p, *radius)),
            Target::Capsule(start, along, radius) => {
                let from = p - start;
                let t = (from.dot(along) / along.norm_squared().max(f64::MIN_POSITIVE)).clamp(0.0, 1.0);
                Some(around(&(from - along * t), *radius))
            }
            Target::Box(half) => Some(of_box(half, p)),
            Target::Cylinder(radius, half_length) => Some(of_cylinder(*radius, *half_length, p)),
            Target::Hull(hull) => hull.distance(vector(p)).map(|(gap, normal)| (gap, from_vector(normal))),
            Target::Mesh(mesh) => of_mesh(mesh, p),
            Target::Field(field) => of_field(field, p, reach),
        }
    }
}

/// Of a ball around the origin.
#[inline]
fn around(p: &Vector3<f64>, radius: f64) -> Away {
    let length = p.norm();
    (length - radius, if length > 0.0 { p / length } else { Vector3::z() })
}

fn of_box(half: &Vector3<f64>, p: &Vector3<f64>) -> Away {
    let out = p.abs() - half;
    let outside = out.map(|x| x.max(0.0));
    let sign = p.map(|x| if x < 0.0 { -1.0 } else { 1.0 });
    let length = outside.norm();
    if length > 0.0 {
        return (length, outside.component_mul(&sign) / length);
    }
    let axis = out.imax();
    let mut normal = Vector3::zeros();
    normal[axis] = sign[axis];
    (out[axis], normal)
}

fn of_cylinder(radius: f64, half_length: f64, p: &Vector3<f64>) -> Away {
    let across = p.x.hypot(p.z);
    let radial = if across > 0.0 { Vector3::new(p.x / across, 0.0, p.z / across) } else { Vector3::x() };
    let axial = Vector3::new(0.0, if p.y < 0.0 { -1.0 } else { 1.0 }, 0.0);
    let (beside, beyond) = (across - radius, p.y.abs() - half_length);
    match (beside > 0.0, beyond > 0.0) {
        (true, true) => {
            let length = beside.hypot(beyond);
            (length, (radial * beside + axial * beyond) / length)
        }
        _ if beside > beyond => (beside, radial),
        _ => (beyond, axial),
    }
}

/// Only the triangle above or below it: heights over a rectangle.
fn of_field(field: &HeightField, p: &Vector3<f64>, reach: f64) -> Option<Away> {
    let (low, high) = (Vector::new(p.x, p.y - reach, p.z), Vector::new(p.x, p.y + reach, p.z));
    let mut nearest: Option<Away> = None;
    field.map_elements_in_local_aabb(&Aabb::new(low, high), &mut |_, triangle| {
        let Some(mut n) = (triangle.b - triangle.a).cross(triangle.c - triangle.a).try_normalize() else {
            return;
        };
        if n.y < 0.0 {
            n = -n;
        }
        let inside = |a: Vector, b: Vector, c: Vector| {
            let side = |q: Vector| (b.x - a.x) * (q.z - a.z) - (b.z - a.z) * (q.x - a.x);
            side(c) * side(vector(p)) >= 0.0
        };
        let [a, b, c] = [triangle.a, triangle.b, triangle.c];
        if inside(a, b, c) && inside(b, c, a) && inside(c, a, b) {
            let gap = n.dot(vector(p) - a);
            if nearest.is_none_or(|(other, _)| gap > other) {
                nearest = Some((gap, from_vector(n)));
            }
        }
    });
    nearest
}

/// Of triangles. Beside an edge or a corner it is outside, as of anything convex; above or below one it is as its face has it: flat
/// sides have edges too.
fn of_mesh(mesh: &TriMesh, p: &Vector3<f64>) -> Option<Away> {
    let (projection, (triangle, location)) = mesh.project_local_point_and_get_location(vector(p), false);
    let normal = from_vector(mesh.triangle(triangle).normal()?);
    let away = p - from_vector(projection.point);
    let (length, across) = (away.norm(), normal.dot(&away));
    let is_face = matches!(location, TrianglePointLocation::OnFace(..) | TrianglePointLocation::OnSolid);
    let beside = !is_face && length > 0.0 && across > -BELOW * length;
    Some(if beside { (length, away / length) } else { (across, normal) })
}

/// What is below an edge, not past it: the cosine of its way to the normal of the face.
const BELOW: f64 = 0.9;
