//! Balls against boxes and triangles, in closed form: what feet and fingertips are made of, asked in every step.

use parry3d_f64::math::Vector;
use parry3d_f64::shape::Triangle;

/// A ball in the frame of what it meets, m.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ball {
    pub center: Vector,
    pub radius: f64,
}

/// The point of another surface that is nearest to a ball.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Nearest {
    /// Toward the centre, or away from it where that is inside.
    pub normal: Vector,
    /// From the surface to the ball's, along the normal, below zero where they overlap, m.
    pub gap: f64,
}

/// How a ball and a triangle meet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Meeting {
    /// They are farther apart than was asked.
    Apart,
    /// On the face, from its front.
    Face(Nearest),
    /// On an edge, at a corner or from behind: what neighbours say counts too.
    Edge,
}

impl Ball {
    /// The nearest point of a box about the origin with these half lengths.
    pub fn nearest_of_box(&self, half: Vector) -> Nearest {
        let outside = self.center - self.center.clamp(-half, half);
        let distance = outside.length();
        if distance > 0.0 {
            return Nearest { normal: outside / distance, gap: distance - self.radius };
        }
        // Out through the nearest side.
        let depth = half - self.center.abs();
        let (axis, sign) = match depth.min_element() {
            least if depth.x == least => (Vector::X, self.center.x),
            least if depth.y == least => (Vector::Y, self.center.y),
            _ => (Vector::Z, self.center.z),
        };
        Nearest { normal: axis * 1f64.copysign(sign), gap: -depth.min_element() - self.radius }
    }

    /// Whether it is nearer to a triangle than `reach`, and on what of it.
    pub fn meet(&self, triangle: &Triangle, reach: f64) -> Meeting {
        let Triangle { a, b, c } = *triangle;
        let n = (b - a).cross(c - a);
        let (area, far) = (n.length_squared(), self.radius + reach);
        // The height over the triangle's plane is no more than the distance.
        let height = n.dot(self.center - a);
        if height * height >= far * far * area {
            return if area > 0.0 { Meeting::Apart } else { Meeting::Edge };
        }
        let mut on_face = true;
        let mut nearest = f64::INFINITY;
        for (from, to) in [(a, b), (b, c), (c, a)] {
            let (edge, out) = (to - from, self.center - from);
            if edge.cross(out).dot(n) < 0.0 {
                on_face = false;
                let along = (edge.dot(out) / edge.length_squared()).clamp(0.0, 1.0);
                nearest = nearest.min((out - edge * along).length_squared());
            }
        }
        if on_face && height > 0.0 {
            let scale = 1.0 / area.sqrt();
            return Meeting::Face(Nearest { normal: n * scale, gap: height * scale - self.radius });
        }
        if !on_face && nearest >= far * far { Meeting::Apart } else { Meeting::Edge }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numbers::Numbers;
    use parry3d_f64::query::PointQuery;
    use parry3d_f64::shape::Cuboid;

    fn anywhere(numbers: &mut Numbers, size: f64) -> Vector {
        let mut one = || numbers.between(-size, size);
        Vector::new(one(), one(), one())
    }

    /// The collision library's projection is the oracle; both are a few roundings of numbers near one.
    const ROUNDING: f64 = 1e-14;

    #[test]
    fn boxes() {
        let mut numbers = Numbers(1);
        for _ in 0..2000 {
            let half = anywhere(&mut numbers, 1.0).abs() + Vector::splat(0.1);
            let ball = Ball { center: anywhere(&mut numbers, 1.5), radius: 0.2 };
            let found = ball.nearest_of_box(half);
            let truth = Cuboid::new(half).project_local_point(ball.center, false);
            let distance = (ball.center - truth.point).length();
            let signed = if truth.is_inside { -distance } else { distance };
            assert!((found.gap - (signed - 0.2)).abs() < ROUNDING);
            let back = ball.center - found.normal * (found.gap + ball.radius);
            assert!((back - truth.point).length() < ROUNDING);
        }
        // At the very middle it goes out through the nearest side.
        let middle = Ball { center: Vector::ZERO, radius: 0.2 }.nearest_of_box(Vector::new(3.0, 1.0, 2.0));
        assert_eq!(middle, Nearest { normal: Vector::Y, gap: -1.2 });
        // On a side it goes out there; on an edge, by one of the two sides.
        let side = Ball { center: Vector::new(0.3, 0.1, 2.0), radius: 0.2 }
            .nearest_of_box(Vector::new(3.0, 1.0, 2.0));
        assert_eq!(side, Nearest { normal: Vector::Z, gap: -0.2 });
        let edge = Ball { center: Vector::new(-3.0, 1.0, 0.5), radius: 0.2 }
            .nearest_of_box(Vector::new(3.0, 1.0, 2.0));
        assert_eq!(edge, Nearest { normal: -Vector::X, gap: -0.2 });
        // What is not a number touches nothing.
        assert!(Ball { center: Vector::NAN, radius: 0.2 }.nearest_of_box(Vector::ONE).gap.is_nan());
    }

    #[test]
    fn triangles() {
        let mut numbers = Numbers(2);
        let mut seen = [0; 3];
        for _ in 0..20_000 {
            let [a, b, c] = std::array::from_fn(|_| anywhere(&mut numbers, 1.0));
            let triangle = Triangle::new(a, b, c);
            let ball = Ball { center: anywhere(&mut numbers, 0.5), radius: 0.2 };
            let truth = triangle.project_local_point(ball.center, false).point;
            let distance = (ball.center - truth).length();
            match ball.meet(&triangle, 0.1) {
                Meeting::Apart => {
                    assert!(distance >= 0.3 - ROUNDING);
                    seen[0] += 1;
                }
                Meeting::Face(Nearest { normal, gap }) => {
                    // The normal of a sliver of a triangle has fewer digits.
                    assert!((gap + 0.2 - distance).abs() < 1e-12);
                    assert!((ball.center - normal * (gap + 0.2) - truth).length() < 1e-10);
                    assert!(normal.dot((b - a).cross(c - a)) > 0.0);
                    seen[1] += 1;
                }
                Meeting::Edge => {
                    let inside = (ball.center - truth).dot(b - a).abs() < 1e-9
                        && (ball.center - truth).dot(c - a).abs() < 1e-9;
                    let behind = (b - a).cross(c - a).dot(ball.center - a) < 0.0;
                    assert!(distance < 0.3 + ROUNDING && (!inside || behind));
                    seen[2] += 1;
                }
            }
        }
        assert!(seen.iter().all(|count| *count > 500), "{seen:?}");
        // A line is left to those that ask its neighbours.
        let line = Triangle::new(Vector::ZERO, Vector::X, Vector::X * 2.0);
        assert_eq!(Ball { center: Vector::Y * 0.1, radius: 0.2 }.meet(&line, 0.1), Meeting::Edge);
    }
}
