//! Distance to a surface and whether a point is inside, by a tree of boxes.
//!
//! Inside is where the generalised winding number exceeds one half (Jacobson, Kavan, Sorkine 2013): it also holds where
//! triangles cross each other or miss by a little. Far branches are dipoles, the sum of their area vectors (Barill et al. 2018).

use std::f64::consts::PI;

use nalgebra::Vector3;

use super::{Surface, bounds};

/// Triangles of a leaf.
const LEAF: usize = 4;
/// A branch is a dipole for points further away than its radius times this: below 1 % of the winding number.
const FAR: f64 = 3.0;

/// Answers where the surface is nearest and whether a point is inside.
#[derive(Clone, Debug)]
pub struct SurfaceTree {
    corners: Vec<[Vector3<f64>; 3]>,
    /// Triangle of the surface that each entry of `corners` is.
    triangles: Vec<u32>,
    branches: Vec<Branch>,
}

#[derive(Clone, Debug)]
struct Branch {
    low: Vector3<f64>,
    high: Vector3<f64>,
    /// Triangles `first..end` in the tree's order.
    first: usize,
    end: usize,
    /// Both children, or zero: a leaf.
    children: [usize; 2],
    /// Sum of area vectors, its centre and radius.
    area: Vector3<f64>,
    centre: Vector3<f64>,
    radius: f64,
}

/// The point of the surface nearest to a query.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Nearest {
    /// The point on the surface, m.
    pub point: Vector3<f64>,
    /// Its triangle.
    pub triangle: usize,
    /// The distance, m.
    pub distance: f64,
}

impl SurfaceTree {
    /// The tree of a surface.
    pub fn new(surface: &Surface) -> Self {
        let all: Vec<[Vector3<f64>; 3]> =
            (0..surface.triangles().len()).map(|t| surface.corners(t)).collect();
        let mut order: Vec<u32> = (0..all.len() as u32).collect();
        let mut branches = Vec::new();
        split(&all, &mut order, 0, &mut branches);
        let corners = order.iter().map(|&t| all[t as usize]).collect();
        Self { corners, triangles: order, branches }
    }

    /// The nearest point of the surface.
    pub fn nearest(&self, p: &Vector3<f64>) -> Nearest {
        let mut best = Nearest { point: *p, triangle: 0, distance: f64::INFINITY };
        let mut stack = vec![0];
        while let Some(b) = stack.pop() {
            let branch = &self.branches[b];
            if branch.distance(p) >= best.distance {
                continue;
            }
            if branch.children == [0, 0] {
                for t in branch.first..branch.end {
                    let point = nearest_on_triangle(&self.corners[t], p);
                    let distance = (point - p).norm();
                    let triangle = self.triangles[t] as usize;
                    if distance < best.distance || (distance == best.distance && triangle < best.triangle) {
                        best = Nearest { point, triangle, distance };
                    }
                }
            } else {
                // The nearer child first.
                let [l, r] = branch.children;
                let (dl, dr) = (self.branches[l].distance(p), self.branches[r].distance(p));
                stack.extend(if dl <= dr { [r, l] } else { [l, r] });
            }
        }
        best
    }

    /// Whether a point is inside.
    pub fn inside(&self, p: &Vector3<f64>) -> bool {
        self.winding(p) > 0.5
    }

    /// Distance to the surface, negative inside, m.
    pub fn signed_distance(&self, p: &Vector3<f64>) -> f64 {
        let d = self.nearest(p).distance;
        if self.inside(p) { -d } else { d }
    }

    /// Solid angle under which the surface is seen, over 4π: 1 inside, 0 outside.
    fn winding(&self, p: &Vector3<f64>) -> f64 {
        let (mut sum, mut stack) = (0.0, vec![0]);
        while let Some(b) = stack.pop() {
            let branch = &self.branches[b];
            let r = branch.centre - p;
            let d = r.norm();
            if d > FAR * branch.radius {
                sum += branch.area.dot(&r) / (d * d * d);
            } else if branch.children == [0, 0] {
                sum += self.corners[branch.first..branch.end].iter().map(|t| solid_angle(t, p)).sum::<f64>();
            } else {
                stack.extend(branch.children);
            }
        }
        sum / (4.0 * PI)
    }
}

impl Branch {
    fn distance(&self, p: &Vector3<f64>) -> f64 {
        (p - p.sup(&self.low).inf(&self.high)).norm()
    }
}

/// Splits the triangles `order` at the median of their centres along the longest side; returns the branch.
fn split(all: &[[Vector3<f64>; 3]], order: &mut [u32], first: usize, branches: &mut Vec<Branch>) -> usize {
    let corners: Vec<Vector3<f64>> = order.iter().flat_map(|&t| all[t as usize]).collect();
    let (low, high) = bounds(&corners);
    let (mut area, mut weight, mut centre) = (Vector3::zeros(), 0.0, Vector3::zeros());
    for &t in order.iter() {
        let [a, b, c] = all[t as usize];
        let n = (b - a).cross(&(c - a)) / 2.0;
        area += n;
        weight += n.norm();
        centre += (a + b + c) / 3.0 * n.norm();
    }
    let centre = if weight > 0.0 { centre / weight } else { (low + high) / 2.0 };
    let radius = corners.iter().map(|c| (c - centre).norm()).fold(0.0, f64::max);
    let own = branches.len();
    let end = first + order.len();
    branches.push(Branch { low, high, first, end, children: [0, 0], area, centre, radius });
    if order.len() > LEAF {
        let axis = (high - low).imax();
        let key = |t: u32| all[t as usize].iter().map(|c| c[axis]).sum::<f64>();
        let middle = order.len() / 2;
        order.select_nth_unstable_by(middle, |&s, &t| key(s).total_cmp(&key(t)).then(s.cmp(&t)));
        let (left, right) = order.split_at_mut(middle);
        let l = split(all, left, first, branches);
        let r = split(all, right, first + middle, branches);
        branches[own].children = [l, r];
    }
    own
}

/// Signed solid angle of a triangle (Van Oosterom, Strackee 1983).
fn solid_angle(t: &[Vector3<f64>; 3], p: &Vector3<f64>) -> f64 {
    let [a, b, c] = t.map(|x| x - p);
    let (la, lb, lc) = (a.norm(), b.norm(), c.norm());
    let y = a.dot(&b.cross(&c));
    let x = la * lb * lc + a.dot(&b) * lc + b.dot(&c) * la + c.dot(&a) * lb;
    2.0 * y.atan2(x)
}

/// The point of a triangle nearest to p (Ericson 2005, §5.1.5): by the regions of its corners, edges and face.
pub(crate) fn nearest_on_triangle(t: &[Vector3<f64>; 3], p: &Vector3<f64>) -> Vector3<f64> {
    let [a, b, c] = *t;
    let (ab, ac, ap) = (b - a, c - a, p - a);
    let (d1, d2) = (ab.dot(&ap), ac.dot(&ap));
    if d1 <= 0.0 && d2 <= 0.0 {
        return a;
    }
    let bp = p - b;
    let (d3, d4) = (ab.dot(&bp), ac.dot(&bp));
    if d3 >= 0.0 && d4 <= d3 {
        return b;
    }
    let vc = d1 * d4 - d3 * d2;
    if vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
        return a + ab * part(d1, d1 - d3);
    }
    let cp = p - c;
    let (d5, d6) = (ab.dot(&cp), ac.dot(&cp));
    if d6 >= 0.0 && d5 <= d6 {
        return c;
    }
    let vb = d5 * d2 - d1 * d6;
    if vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
        return a + ac * part(d2, d2 - d6);
    }
    let va = d3 * d6 - d5 * d4;
    if va <= 0.0 && d4 >= d3 && d5 >= d6 {
        return b + (c - b) * part(d4 - d3, (d4 - d3) + (d5 - d6));
    }
    let sum = va + vb + vc;
    if sum > 0.0 { a + ab * (vb / sum) + ac * (vc / sum) } else { a }
}

/// A quotient that is zero where an edge has no length.
fn part(x: f64, whole: f64) -> f64 {
    if whole > 0.0 { x / whole } else { 0.0 }
}
