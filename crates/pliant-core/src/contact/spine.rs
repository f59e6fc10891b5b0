//! Balls and capsules against each other: all points within a radius of a segment, a ball's of no length.
//!
//! The nearest points of two segments c ± d and c' ± d' are at s, t in −1..1 where |c + sd − c' − td'|² is least: of the
//! whole lines, then the nearest within the bounds (Ericson 2005, §5.1.9).

use nalgebra::Vector3;

/// The middle of a segment, and half of it.
pub(super) type Segment = (Vector3<f64>, Vector3<f64>);

/// The nearest points of two segments.
#[inline]
pub(super) fn nearest(one: &Segment, two: &Segment) -> (Vector3<f64>, Vector3<f64>) {
    let ((p, d), (q, e)) = (one, two);
    let between = p - q;
    let (a, b, c) = (d.norm_squared(), d.dot(e), e.norm_squared());
    let (f, g) = (d.dot(&between), e.dot(&between));
    // Of parallel lines any point of the first will do: its middle.
    let across = a * c - b * b;
    let s = if across > 0.0 { ((b * g - c * f) / across).clamp(-1.0, 1.0) } else { 0.0 };
    let t = if c > 0.0 { ((b * s + g) / c).clamp(-1.0, 1.0) } else { 0.0 };
    let s = if a > 0.0 { ((b * t - f) / a).clamp(-1.0, 1.0) } else { 0.0 };
    (p + d * s, q + e * t)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numbers::Numbers;

    /// No other two points of the segments are nearer: a fine grid of them is the oracle, with segments that are points, parallel,
    /// on one line and crossing among the random ones.
    #[test]
    fn nothing_is_nearer() {
        let mut numbers = Numbers(5);
        let mut random = |size: f64| Vector3::from_fn(|_, _| numbers.between(-size, size));
        let mut cases = Vec::new();
        for i in 0..200 {
            let (p, d, q, e) = (random(1.0), random(1.0), random(1.0), random(1.0));
            let zero = Vector3::zeros();
            cases.push(match i % 8 {
                0 => ((p, zero), (q, zero)),
                1 => ((p, d), (q, zero)),
                2 => ((p, zero), (q, e)),
                3 => ((p, d), (q, d * 0.7)),
                4 => ((p, d), (p + d * 3.0, d * -0.4)),
                5 => ((p, d), (p + d * 0.5 + e * 0.2, e)),
                _ => ((p, d), (q, e)),
            });
        }
        for (one, two) in cases {
            let (x, y) = nearest(&one, &two);
            let on = |point: &Vector3<f64>, (middle, half): &Segment| {
                let along = (point - middle).dot(half) / half.norm_squared().max(1e-300);
                assert!(along.abs() < 1.0 + 1e-12 && (middle + half * along - point).norm() < 1e-12);
            };
            on(&x, &one);
            on(&y, &two);
            let found = (x - y).norm();
            // The distance is convex in both places: between points of the grid it is less by no more than the grid is wide.
            let grid = |i: i32| f64::from(i) / 40.0;
            let mut least = f64::INFINITY;
            for (i, k) in (-40..=40).flat_map(|i| (-40..=40).map(move |k| (i, k))) {
                least = least.min((one.0 + one.1 * grid(i) - two.0 - two.1 * grid(k)).norm());
            }
            assert!(found <= least + 1e-12 && least - found < 0.05, "{one:?} {two:?}: {found} {least}");
        }
    }
}
