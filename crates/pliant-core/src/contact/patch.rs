//! Where two convex pieces that face each other along a normal are close: all corners near the contact plane, not those of one
//! exact face, because soles of scanned and tessellated hulls have none.
//!
//! Seen along the normal, each piece shows a patch: its corners within a depth of the foremost one, the polygon around them, and
//! the planes of its faces there. A convex surface is the lowest of its faces' planes, so the height of a patch over any
//! point of its polygon is exact. Points are the corners of either patch over the other's polygon, and where the two polygons'
//! edges cross; the gap at each is that of the two surfaces, or of the two edges.

use parry3d_f64::math::{Pose as Placed, Vector};

use super::hull::{Hull, Seen};

/// Planes that are steeper than this (cosine to the normal) say nothing about heights within a polygon.
const STEEP: f64 = 1e-6;

/// A normal and two directions across it.
#[derive(Clone, Copy, Debug)]
pub(super) struct View {
    pub normal: Vector,
    across: [Vector; 2],
}

impl View {
    /// Along a unit normal.
    pub fn along(normal: Vector) -> View {
        let axis = if normal.x.abs() < 0.6 { Vector::X } else { Vector::Y };
        let t = normal.cross(axis).normalize();
        View { normal, across: [t, normal.cross(t)] }
    }

    /// Where a point is seen.
    fn flat(&self, p: Vector) -> [f64; 2] {
        self.across.map(|t| t.dot(p))
    }

    /// A point by where it is seen and how far along the normal it is.
    fn point(&self, at: [f64; 2], height: f64) -> Vector {
        self.across[0] * at[0] + self.across[1] * at[1] + self.normal * height
    }
}

/// A plane as heights: c + a·u + b·v.
#[derive(Clone, Copy, Debug)]
struct Slope {
    at_zero: f64,
    by: [f64; 2],
}

/// A side of a polygon: its ends with their heights, and the unit normal out of the polygon.
#[derive(Clone, Copy, Debug)]
struct Side {
    from: ([f64; 2], f64),
    to: ([f64; 2], f64),
    out: [f64; 2],
}

/// What one piece shows, in the axes of a view; heights are along the way that it faces, `sign` times the normal.
#[derive(Clone, Debug, Default)]
pub(super) struct Patch {
    sign: f64,
    /// Where each corner is seen, and its height.
    corners: Vec<([f64; 2], f64)>,
    /// The sides of the polygon around them, anticlockwise: of two corners one, of one none.
    sides: Vec<Side>,
    contour: Vec<u32>,
    /// Planes of its faces, where a height was asked for.
    slopes: Vec<Slope>,
    order: Vec<u32>,
    /// Which corners of a hull these are.
    near: Vec<u32>,
    seen: Seen,
    /// Along which normal, and how deep, what was looked for last; a hull that many triangles meet shows most of them the same.
    last: Option<(Vector, f64)>,
}

impl Patch {
    /// With memory for so many corners.
    pub fn with_room(corners: usize) -> Patch {
        Patch {
            corners: Vec::with_capacity(corners),
            sides: Vec::with_capacity(corners),
            contour: Vec::with_capacity(corners),
            order: Vec::with_capacity(corners),
            near: Vec::with_capacity(corners),
            ..Patch::default()
        }
    }

    /// What a hull at a place shows along `sign` times the normal, to a depth.
    pub fn of_hull(&mut self, hull: &Hull, place: &Placed, view: &View, sign: f64, depth: f64) {
        if self.last == Some((view.normal * sign, depth)) {
            return;
        }
        self.clear(sign);
        self.last = Some((view.normal * sign, depth));
        let local = place.rotation.inverse() * (view.normal * sign);
        let mut near = std::mem::take(&mut self.near);
        hull.near_top(local, depth, &mut near, &mut self.seen);
        near.iter().for_each(|at| self.add_corner(place.transform_point(hull.points[*at as usize]), view));
        self.near = near;
        self.surround();
    }

    /// What was seen is of another hull, or that has moved.
    pub fn forget(&mut self) {
        self.last = None;
    }

    /// Takes in the planes of a hull's faces, once.
    fn find_slopes(&mut self, hull: &Hull, place: &Placed, view: &View) {
        if !self.slopes.is_empty() {
            return;
        }
        for i in 0..self.near.len() {
            for (normal, offset) in hull.planes_at(self.near[i]) {
                let normal = place.rotation * normal;
                self.add_plane(normal, offset + normal.dot(place.translation), view);
            }
        }
    }

    /// The same of a face, an edge or a corner.
    pub fn of_corners(&mut self, corners: &[Vector], place: &Placed, view: &View, sign: f64) {
        self.clear(sign);
        corners.iter().for_each(|corner| self.add_corner(place.transform_point(*corner), view));
        if let Some((normal, offset)) = plane(corners) {
            let normal = place.rotation * normal;
            let facing = if normal.dot(view.normal) * sign < 0.0 { -1.0 } else { 1.0 };
            self.add_plane(normal * facing, (offset + normal.dot(place.translation)) * facing, view);
        }
        self.surround();
    }

    fn clear(&mut self, sign: f64) {
        self.sign = sign;
        self.corners.clear();
        self.slopes.clear();
        self.last = None;
    }

    fn add_corner(&mut self, p: Vector, view: &View) {
        self.corners.push((view.flat(p), self.sign * view.normal.dot(p)));
    }

    /// The plane m·x = d, whose height h along w = ±n is (d − u m·t₁ − v m·t₂)/(m·w).
    fn add_plane(&mut self, m: Vector, d: f64, view: &View) {
        let along = self.sign * m.dot(view.normal);
        if along > STEEP {
            let by = view.across.map(|t| -m.dot(t) / along);
            self.slopes.push(Slope { at_zero: d / along, by });
        }
    }

    /// The polygon around all corners: Andrew's monotone chain.
    fn surround(&mut self) {
        let corners = &self.corners;
        self.order.clear();
        self.order.extend(0..corners.len() as u32);
        let at = |i: u32| corners[i as usize].0;
        self.order.sort_unstable_by(|a, b| {
            let (a, b) = (at(*a), at(*b));
            a[0].total_cmp(&b[0]).then(a[1].total_cmp(&b[1]))
        });
        let contour = &mut self.contour;
        contour.clear();
        for lower in [true, false] {
            let start = contour.len();
            for k in 0..self.order.len() {
                let i = self.order[if lower { k } else { self.order.len() - 1 - k }];
                while contour.len() >= start + 2
                    && turn(at(contour[contour.len() - 2]), at(contour[contour.len() - 1]), at(i)) <= 0.0
                {
                    contour.pop();
                }
                contour.push(i);
            }
            // Each chain's last corner is the other's first.
            contour.pop();
        }
        self.sides.clear();
        let n = contour.len();
        for k in 0..(if n == 2 { 1 } else { n }) {
            let (from, to) = (corners[contour[k] as usize], corners[contour[(k + 1) % n] as usize]);
            let along = [to.0[0] - from.0[0], to.0[1] - from.0[1]];
            let length = (along[0] * along[0] + along[1] * along[1]).sqrt();
            if length > 0.0 {
                self.sides.push(Side { from, to, out: [along[1] / length, -along[0] / length] });
            }
        }
    }

    /// Whether a point is seen within the polygon or at most `slack` from each of its sides.
    fn covers(&self, p: [f64; 2], slack: f64) -> bool {
        let beside = |side: &Side| {
            let from = side.from.0;
            side.out[0] * (p[0] - from[0]) + side.out[1] * (p[1] - from[1])
        };
        match self.sides[..] {
            [] => self.corners.first().is_some_and(|(at, _)| distance(p, *at) <= slack),
            [ref side] => distance(p, on_segment(p, side.from.0, side.to.0).0) <= slack,
            _ => self.sides.iter().all(|side| beside(side) <= slack),
        }
    }

    /// How high the surface is over a point of the polygon.
    fn height(&self, p: [f64; 2]) -> f64 {
        let planes = self.slopes.iter().map(|s| s.at_zero + s.by[0] * p[0] + s.by[1] * p[1]);
        let lowest = planes.fold(f64::INFINITY, f64::min);
        if lowest < f64::INFINITY {
            return lowest;
        }
        match self.corners[..] {
            [(a, x), (b, y), ..] => x + (y - x) * on_segment(p, a, b).1,
            [(_, x)] => x,
            [] => f64::NEG_INFINITY,
        }
    }
}

/// Calls `each` with the points, halfway between the surfaces, and gaps of two patches that face each other: the first along the
/// normal. Points at most `slack` outside a polygon are over it. `hulls` are those that show the patches, with their places.
pub(super) fn meet(
    [a, b]: &mut [Patch; 2],
    hulls: [Option<(&Hull, &Placed)>; 2],
    view: &View,
    slack: f64,
    mut each: impl FnMut(Vector, f64),
) {
    let mut add = |at: [f64; 2], height: f64, other: f64| {
        // Heights of the second are along −n.
        let gap = -other - height;
        each(view.point(at, height + 0.5 * gap), gap);
    };
    let needs = |over: &Patch, patch: &Patch| over.corners.iter().any(|corner| patch.covers(corner.0, slack));
    let inside = a.corners.iter().all(|corner| b.covers(corner.0, slack));
    if let Some((hull, place)) = hulls[0]
        && needs(b, a)
    {
        a.find_slopes(hull, place, view);
    }
    if let Some((hull, place)) = hulls[1]
        && (inside || needs(a, b))
    {
        b.find_slopes(hull, place, view);
    }
    for &(at, height) in &a.corners {
        if inside || b.covers(at, slack) {
            add(at, height, b.height(at));
        }
    }
    for &(at, height) in &b.corners {
        if a.covers(at, slack) {
            add(at, a.height(at), height);
        }
    }
    if inside {
        return;
    }
    for one in &a.sides {
        for two in &b.sides {
            if let Some((s, t)) = crossing(one.from.0, one.to.0, two.from.0, two.to.0) {
                let along = |a: f64, b: f64, part: f64| a + (b - a) * part;
                let at = [0, 1].map(|i| along(one.from.0[i], one.to.0[i], s));
                add(at, along(one.from.1, one.to.1, s), along(two.from.1, two.to.1, t));
            }
        }
    }
}

/// The plane of three or more corners, by the widest triangle with the first; none if they are on a line.
pub(super) fn plane(corners: &[Vector]) -> Option<(Vector, f64)> {
    let [a, rest @ ..] = corners else { return None };
    let normals = rest.windows(2).map(|bc| (bc[0] - *a).cross(bc[1] - *a));
    let normal = normals.max_by(|x, y| x.length_squared().total_cmp(&y.length_squared()))?.try_normalize()?;
    Some((normal, normal.dot(*a)))
}

/// Twice the area of a triangle, above zero if it runs anticlockwise.
fn turn(a: [f64; 2], b: [f64; 2], c: [f64; 2]) -> f64 {
    (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
}

fn distance(a: [f64; 2], b: [f64; 2]) -> f64 {
    ((a[0] - b[0]).powi(2) + (a[1] - b[1]).powi(2)).sqrt()
}

/// The point of a segment nearest to a point, and which part of the way it is.
fn on_segment(p: [f64; 2], a: [f64; 2], b: [f64; 2]) -> ([f64; 2], f64) {
    let (x, y) = (b[0] - a[0], b[1] - a[1]);
    let square = x * x + y * y;
    let t = if square > 0.0 { ((p[0] - a[0]) * x + (p[1] - a[1]) * y) / square } else { 0.0 };
    let t = t.clamp(0.0, 1.0);
    ([a[0] + t * x, a[1] + t * y], t)
}

/// Where two segments cross, as parts of each; none if they do not or are parallel.
fn crossing(p: [f64; 2], q: [f64; 2], r: [f64; 2], s: [f64; 2]) -> Option<(f64, f64)> {
    let (from, to) = (turn(r, s, p), turn(r, s, q));
    if (from > 0.0) == (to > 0.0) {
        return None;
    }
    let (before, after) = (turn(p, q, r), turn(p, q, s));
    ((before > 0.0) != (after > 0.0)).then(|| (from / (from - to), before / (before - after)))
}
