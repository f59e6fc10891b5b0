//! Which of the points that two shapes touch at are kept.

use nalgebra::Vector3;

use super::{FAST, Narrow, Point, SAME, TIE};

/// How many points of one pair and normal are kept, and how many more that the step would reach.
pub(in crate::contact) const POINTS: usize = 4;
pub(in crate::contact) const MORE: usize = 8;

/// Of these more, how many lie outside of the area that the others span, and how many stick out between them.
const OUTSIDE: usize = 4;
const BETWEEN: usize = MORE - OUTSIDE;

/// How many points are compared with each other.
const COMPARED: usize = 32;

/// Points of surfaces whose normals are this close (cosine) stand for one plane.
const ALIKE: f64 = 0.95;

/// How far outside of those that are kept a point must be to be kept too, of the smaller shape's radius.
const NEAR: f64 = 0.1;

/// How much wider apart points must be for each metre that they are farther from touching, to be taken for others: what a sole
/// rests on is its lowest corners, not its widest.
const FLAT: f64 = 1000.0;

/// How far a point must stick out between those that are kept, to be kept too, of the smaller shape's radius.
const STICKS_OUT: f64 = 1e-4;

/// How far points may come, of how far the fastest of them would come as if nothing touched.
const SWING: f64 = 2.0;

impl Narrow {
    /// Keeps, of points with normals alike, the deepest and those that span the widest area with it, and some more that the
    /// step would reach.
    pub(super) fn reduce(&mut self) {
        let (points, size) = (&mut self.points, self.size);
        // The deepest first; among equals the order in which they were found.
        points.sort_by(|a, b| a.gap.total_cmp(&b.gap));
        // Of many, the widest are chosen before they are compared with each other.
        if points.len() <= COMPARED {
            leave_out_doubles(points, size);
        }
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
        leave_out_doubles(points, size);
    }
}

/// Leaves out points that are where one before them is, with the same normal.
fn leave_out_doubles(points: &mut Vec<Point>, size: f64) {
    let mut kept = 0;
    for i in 0..points.len() {
        let p = points[i];
        let differs = |q: &Point| (q.at - p.at).norm() > SAME * size || q.normal.dot(&p.normal) < ALIKE;
        if points[..kept].iter().all(differs) {
            points[kept] = p;
            kept += 1;
        }
    }
    points.truncate(kept);
}

/// Brings up to [`POINTS`] points to the front: the first, that farthest from it, that farthest from their line, and that
/// farthest on its other side, all across the normal and less what they are farther from touching; up to [`OUTSIDE`] of
/// those that lie outside of these, and up to [`BETWEEN`] of those that stick out between them; how many.
fn spread(points: &mut [Point], size: f64) -> usize {
    if points.len() <= POINTS {
        return points.len();
    }
    let (normal, deepest, a) = (points[0].normal, points[0].gap, points[0].at);
    let farthest = |points: &[Point], from: usize, measure: &dyn Fn(&Point) -> f64| {
        let measure = |p: &Point, _| measure(p) - FLAT * (p.gap - deepest);
        from + best(&points[from..], |_| true, f64::NEG_INFINITY, size, measure).unwrap_or(0)
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
    // Those that lie outside of the area that is spanned so far, the farthest first: what the step would reach, and then what the push
    // on the others may swing there. A rod that is stopped at one end goes half as fast again at its other.
    let most = points.iter().map(|p| p.gap - p.then).fold(0.0, f64::max);
    let mut count = POINTS;
    for swung in [f64::NEG_INFINITY, SWING * most] {
        while count < points.len().min(POINTS + OUTSIDE) {
            let (kept, rest) = points.split_at(count);
            let middle = kept.iter().map(|k| k.at).sum::<Vector3<f64>>() / count as f64;
            let outside = |p: &Point, _| {
                let out = across(p) - (middle - a);
                let far = out.norm();
                far - kept.iter().map(|k| out.dot(&(k.at - middle))).fold(0.0, f64::max) / far
            };
            let Some(next) = best(rest, |p| p.then < 0.0 || p.gap < swung, NEAR * size, size, outside) else {
                break;
            };
            points.swap(count, count + next);
            count += 1;
        }
    }
    // Those that stick out between these, the farthest first: a box comes down on the peak in the middle of it.
    let between = if most > FAST * size { BETWEEN } else { 0 };
    for _ in 0..between {
        let (kept, rest) = points.split_at(count);
        let sticks = |p: &Point, enough| sticks_out(kept, p, &normal, enough);
        let Some(next) = best(rest, |p| p.then < 0.0, STICKS_OUT * size, size, sticks) else { break };
        points.swap(count, count + next);
        count += 1;
    }
    count
}

/// Which of the points that count has the largest measure, above some least one. The measure is given the largest so far, below which
/// it need not be exact; of points alike the first is taken.
#[inline(always)]
fn best(
    points: &[Point],
    counts: impl Fn(&Point) -> bool,
    least: f64,
    size: f64,
    measure: impl Fn(&Point, f64) -> f64,
) -> Option<usize> {
    let mut best = (None, least);
    for (i, p) in points.iter().enumerate().filter(|(_, p)| counts(p)) {
        let x = measure(p, best.1);
        if x > best.1 + TIE * size {
            best = (Some(i), x);
        }
    }
    best.0
}

/// How much nearer a point is than three of those that are kept, which it lies between, let what touches come there: each as far as its gap. As soon as
/// that is less than enough, it is not looked further; and a point that lies between none does not stick out.
fn sticks_out(kept: &[Point], p: &Point, normal: &Vector3<f64>, enough: f64) -> f64 {
    let area = |a: &Point, b: &Point, c: &Point| (b.at - a.at).cross(&(c.at - a.at)).dot(normal);
    let mut least = f64::INFINITY;
    for (i, a) in kept.iter().enumerate() {
        for (k, b) in kept.iter().enumerate().skip(i + 1) {
            for c in &kept[k + 1..] {
                let all = area(a, b, c);
                let parts = [area(p, b, c), area(a, p, c), area(a, b, p)].map(|part| part / all);
                if parts.iter().all(|part| *part >= 0.0) {
                    let between = parts[0] * a.gap + parts[1] * b.gap + parts[2] * c.gap;
                    least = least.min(between - p.gap);
                    if least <= enough {
                        return least;
                    }
                }
            }
        }
    }
    if least.is_finite() { least } else { 0.0 }
}
