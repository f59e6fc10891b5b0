//! The normal of two nearest features, exactly: the library's search ends with seven digits of it, and other ones when the same scene is
//! turned or in other units.
//!
//! With a direction n from the search, a piece shows along it a corner, an edge, or a face. Those determine the normal in closed form: of two
//! edges it is u×v, of a corner and an edge the way across the edge, of two corners the way between them. The side of a cylinder is an edge, its
//! axis, that is as thick as its radius. Faces are taken as they are elsewhere ([`super::Narrow`]); a cylinder's rim is left to the search.

use parry3d_f64::math::{Pose as Placed, Vector};

use super::piece::Piece;

/// What a piece shows along a direction.
#[derive(Clone, Copy, Debug)]
enum Shown {
    Corner(Vector),
    /// A point of it, its direction, and how thick it is.
    Edge(Vector, Vector, f64),
    Other,
}

/// An edge is across a direction if the cosine between them is less than this; edges whose cross product is less are parallel; and corners
/// nearer than this, of the smaller size, are one.
const ACROSS: f64 = 1e-5;
const PARALLEL: f64 = 1e-2;
const APART: f64 = 1e-5;

/// A new normal differs from that of the search by no more than its digits: one less the cosine.
const SAME: f64 = 1e-8;

impl Shown {
    /// Of a piece at a place, along a direction outside.
    fn of(piece: &Piece, place: &Placed, direction: Vector) -> Shown {
        let Some(solid) = piece.solid else { return Shown::Other };
        let n = place.rotation.inverse() * direction;
        let corner = |x: Vector| Shown::Corner(place.transform_point(x));
        let edge = |x: Vector, along: Vector, thick: f64| {
            Shown::Edge(place.transform_point(x), place.rotation * along, thick)
        };
        if let Some(cuboid) = solid.as_cuboid() {
            let at = cuboid.half_extents * n.signum();
            let mut across = (0..3).filter(|i| n[*i].abs() < ACROSS);
            return match (across.next(), across.next()) {
                (None, _) => corner(at),
                (Some(i), None) => {
                    let (mut middle, mut along) = (at, Vector::ZERO);
                    (middle[i], along[i]) = (0.0, 1.0);
                    edge(middle, along, 0.0)
                }
                _ => Shown::Other,
            };
        }
        if let Some(capsule) = solid.as_capsule() {
            // Its radius is not of the search.
            let (a, b) = (capsule.segment.a, capsule.segment.b);
            let Some(along) = (b - a).try_normalize() else { return corner(a) };
            return match along.dot(n) {
                x if x.abs() < ACROSS => edge((a + b) * 0.5, along, 0.0),
                x if x > 0.0 => corner(b),
                _ => corner(a),
            };
        }
        if let Some(cylinder) = solid.as_cylinder() {
            return if n.y.abs() < ACROSS {
                edge(Vector::ZERO, Vector::Y, cylinder.radius)
            } else {
                Shown::Other
            };
        }
        if let Some(triangle) = solid.as_triangle() {
            let corners = [triangle.a, triangle.b, triangle.c];
            let far = corners.map(|x| x.dot(n));
            let top = (0..3).max_by(|i, k| far[*i].total_cmp(&far[*k])).unwrap_or(0);
            let is_across = |k: usize| {
                let side = corners[(top + k) % 3] - corners[top];
                side.dot(n).abs() < ACROSS * side.length()
            };
            return match (is_across(1), is_across(2)) {
                (false, false) => corner(corners[top]),
                (true, true) => Shown::Other,
                (one, _) => {
                    let side = corners[(top + if one { 1 } else { 2 }) % 3] - corners[top];
                    side.try_normalize().map_or(Shown::Other, |along| edge(corners[top], along, 0.0))
                }
            };
        }
        Shown::Other
    }
}

/// The nearest points and the normal of two pieces, the second at a place in the frame of the first, where the features that the search
/// found determine them; otherwise as they are.
pub(super) fn polish(
    (a, b): (&Piece, &Piece),
    between: &Placed,
    found: (Vector, Vector, Vector),
    size: f64,
) -> (Vector, Vector, Vector) {
    let n = found.2;
    let exact = match (Shown::of(a, &Placed::IDENTITY, n), Shown::of(b, between, -n)) {
        (Shown::Edge(p, u, thick), Shown::Edge(q, v, other)) => {
            let c = u.cross(v);
            let length = c.length();
            if length < PARALLEL {
                return found;
            }
            let normal = c * (n.dot(c).signum() / length);
            // p + su and q + tv with nothing but the normal between them.
            let w = q - p;
            let (s, t) = (w.cross(v).dot(c) / (length * length), w.cross(u).dot(c) / (length * length));
            (p + u * s + normal * thick, q + v * t - normal * other, normal)
        }
        (Shown::Corner(p), Shown::Edge(q, v, thick)) => {
            let w = (q - p) - v * v.dot(q - p);
            if w.length() < APART * size {
                return found;
            }
            let normal = w.normalize();
            (p, p + w - normal * thick, normal)
        }
        (Shown::Edge(p, u, thick), Shown::Corner(q)) => {
            let w = (q - p) - u * u.dot(q - p);
            if w.length() < APART * size {
                return found;
            }
            let normal = w.normalize();
            (q - w + normal * thick, q, normal)
        }
        (Shown::Corner(p), Shown::Corner(q)) if (q - p).length() >= APART * size => {
            (p, q, (q - p).normalize())
        }
        _ => return found,
    };
    // That of a corner that is inside is the other way round, and one that is much another is not what was found.
    if exact.2.dot(n) > 1.0 - SAME && exact.0.is_finite() && exact.1.is_finite() { exact } else { found }
}
