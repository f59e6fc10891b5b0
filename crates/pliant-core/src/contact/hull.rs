//! A convex hull as the narrow phase asks for it: its farthest corner in a direction, all corners nearly as far, and the height of
//! its surface over a point.
//!
//! The farthest corner is found by climbing from neighbour to neighbour: on a convex body a corner that no neighbour exceeds is
//! the farthest, also among equals. The same holds for corners nearly as far: they hang together.

use nalgebra::Vector3;
use parry3d_f64::bounding_volume::Aabb;
use parry3d_f64::math::Vector;
use parry3d_f64::shape::{PolygonalFeature, PolygonalFeatureMap, SupportMap};

use super::convert::{from_vector, vector};
use super::quickhull::convex_hull;

/// Hulls with fewer corners are gone through from one end to the other.
const FEW: usize = 32;

/// Directions from which climbing starts: cells on each side of a cube, along each edge.
const CELLS: usize = 8;

/// A face whose plane cuts off a corner by more than this, of the hull's size, is too thin to have one.
const CONVEX: f64 = 1e-6;

/// A convex hull.
#[derive(Clone, Debug)]
pub(super) struct Hull {
    pub points: Vec<Vector>,
    /// Of the box around it.
    pub center: Vector,
    /// Corners next to each corner, and planes of the faces there: where those of a corner begin, and one more.
    first_neighbour: Vec<u32>,
    neighbours: Vec<u32>,
    first_plane: Vec<u32>,
    planes_at: Vec<u32>,
    /// Outward normals and how far each plane is from the origin.
    planes: Vec<(Vector, f64)>,
    /// A corner that is far out in the direction of each cell.
    starts: Vec<u32>,
}

impl Hull {
    /// How far a point is from the farthest of its planes, and the normal of that: its distance where it is inside or over a face, and
    /// less past an edge. `None` for what has no volume.
    pub fn distance(&self, p: Vector) -> Option<(f64, Vector)> {
        let gaps = self.planes.iter().map(|(normal, offset)| (normal.dot(p) - offset, *normal));
        gaps.max_by(|a, b| a.0.total_cmp(&b.0))
    }

    /// Of points that span a volume, of which some may stay outside by `tolerance` of half their extent; none if they do not.
    pub fn new(points: &[Vector], tolerance: f64) -> Option<Hull> {
        let given: Vec<Vector3<f64>> = points.iter().map(|p| from_vector(*p)).collect();
        let (corners, triangles) = convex_hull(&given, tolerance)?;
        let size = corners.iter().map(|p| (p - corners[0]).norm()).fold(0.0, f64::max);
        let points: Vec<Vector> = corners.iter().map(vector).collect();
        let mut edges: Vec<(u32, u32)> = Vec::new();
        let mut sides: Vec<(u32, u32)> = Vec::new();
        let mut planes = Vec::new();
        for triangle in &triangles {
            edges.extend((0..3).flat_map(|k| {
                let (a, b) = (triangle[k], triangle[(k + 1) % 3]);
                [(a, b), (b, a)]
            }));
            let [a, b, c] = triangle.map(|i| points[i as usize]);
            let Some(normal) = (b - a).cross(c - a).try_normalize() else { continue };
            let offset = normal.dot(a);
            if points.iter().all(|p| normal.dot(*p) - offset <= CONVEX * size) {
                sides.extend(triangle.map(|corner| (corner, planes.len() as u32)));
                planes.push((normal, offset));
            }
        }
        let (first_neighbour, neighbours) = lists(edges, points.len());
        let (first_plane, planes_at) = lists(sides, points.len());
        let starts = Vec::new();
        let mut hull = Hull {
            center: middle_of(&points),
            points,
            first_neighbour,
            neighbours,
            first_plane,
            planes_at,
            planes,
            starts,
        };
        if hull.points.len() > FEW {
            hull.starts = (0..6 * CELLS * CELLS).map(|cell| hull.scan(middle(cell))).collect();
        }
        Some(hull)
    }

    /// Of points that all lie in a plane: only the farthest of them can be asked for.
    pub fn flat(points: &[Vector]) -> Hull {
        Hull {
            center: middle_of(points),
            points: points.to_vec(),
            first_neighbour: Vec::new(),
            neighbours: Vec::new(),
            first_plane: Vec::new(),
            planes_at: Vec::new(),
            planes: Vec::new(),
            starts: Vec::new(),
        }
    }

    /// The farthest corner of all.
    fn scan(&self, direction: Vector) -> u32 {
        let mut best = (0, f64::NEG_INFINITY);
        for (i, p) in self.points.iter().enumerate() {
            let far = direction.dot(*p);
            if far > best.1 {
                best = (i as u32, far);
            }
        }
        best.0
    }

    /// The farthest corner in a direction.
    pub fn farthest(&self, direction: Vector) -> u32 {
        let Some(&start) = cell(direction).and_then(|cell| self.starts.get(cell)) else {
            return self.scan(direction);
        };
        let mut best = (start, direction.dot(self.points[start as usize]));
        loop {
            let before = best.0;
            for &next in self.next_to(before) {
                let far = direction.dot(self.points[next as usize]);
                if far > best.1 {
                    best = (next, far);
                }
            }
            if best.0 == before {
                return before;
            }
        }
    }

    fn next_to(&self, corner: u32) -> &[u32] {
        let at = corner as usize;
        &self.neighbours[self.first_neighbour[at] as usize..self.first_neighbour[at + 1] as usize]
    }

    /// All corners that are at most `depth` less far in a direction than the farthest, that first.
    pub fn near_top(&self, direction: Vector, depth: f64, out: &mut Vec<u32>, seen: &mut Seen) {
        out.clear();
        let top = self.farthest(direction);
        let least = direction.dot(self.points[top as usize]) - depth;
        let is_near = |corner: &u32| direction.dot(self.points[*corner as usize]) >= least;
        out.push(top);
        if self.neighbours.is_empty() || self.points.len() <= FEW {
            out.extend((0..self.points.len() as u32).filter(|corner| *corner != top && is_near(corner)));
            return;
        }
        seen.clear(self.points.len());
        seen.is_new(top);
        let mut at = 0;
        while at < out.len() {
            for &next in self.next_to(out[at]) {
                if seen.is_new(next) && is_near(&next) {
                    out.push(next);
                }
            }
            at += 1;
        }
    }

    /// The planes of the faces at a corner.
    pub fn planes_at(&self, corner: u32) -> impl Iterator<Item = (Vector, f64)> {
        let at = corner as usize;
        let range = match self.first_plane.get(at + 1) {
            Some(&end) => self.first_plane[at] as usize..end as usize,
            None => 0..0,
        };
        self.planes_at[range].iter().map(|plane| self.planes[*plane as usize])
    }
}

/// Which corners were seen, without clearing a list of them each time.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen {
    round: u32,
    last: Vec<u32>,
}

impl Seen {
    fn clear(&mut self, count: usize) {
        self.round = self.round.wrapping_add(1);
        if self.last.len() < count || self.round == 0 {
            self.last.clear();
            self.last.resize(count, 0);
            self.round = 1;
        }
    }

    /// Whether it had not been seen.
    fn is_new(&mut self, corner: u32) -> bool {
        let last = &mut self.last[corner as usize];
        std::mem::replace(last, self.round) != self.round
    }
}

impl SupportMap for Hull {
    fn local_support_point(&self, direction: Vector) -> Vector {
        self.points[self.farthest(direction) as usize]
    }
}

/// The library needs one to look for the nearest points; faces are found by `patch.rs`.
impl PolygonalFeatureMap for Hull {
    fn local_support_feature(&self, direction: Vector, out: &mut PolygonalFeature) {
        out.vertices[0] = self.local_support_point(direction);
        out.num_vertices = 1;
    }
}

fn middle_of(points: &[Vector]) -> Vector {
    Aabb::from_points(points.iter().copied()).center()
}

/// Values by key, each pair once: where those of a key begin, and all of them.
fn lists(mut pairs: Vec<(u32, u32)>, keys: usize) -> (Vec<u32>, Vec<u32>) {
    pairs.sort_unstable();
    pairs.dedup();
    let first = (0..=keys).map(|key| pairs.partition_point(|pair| (pair.0 as usize) < key) as u32).collect();
    (first, pairs.into_iter().map(|pair| pair.1).collect())
}

/// The cell of a cube's surface that a direction points at; none for no direction.
fn cell(direction: Vector) -> Option<usize> {
    let size = direction.abs();
    let axis = if size.x >= size.y && size.x >= size.z {
        0
    } else if size.y >= size.z {
        1
    } else {
        2
    };
    let largest = direction[axis];
    if !(largest.abs() > 0.0 && largest.is_finite()) {
        return None;
    }
    let along = |i: usize| {
        let x = 0.5 + 0.5 * direction[(axis + i) % 3] / largest.abs();
        ((x * CELLS as f64) as usize).min(CELLS - 1)
    };
    Some(((2 * axis + usize::from(largest < 0.0)) * CELLS + along(1)) * CELLS + along(2))
}

/// The direction of a cell's middle.
fn middle(cell: usize) -> Vector {
    let (side, i, k) = (cell / (CELLS * CELLS), cell / CELLS % CELLS, cell % CELLS);
    let along = |i: usize| (2 * i + 1) as f64 / CELLS as f64 - 1.0;
    let mut direction = Vector::ZERO;
    let axis = side / 2;
    direction[axis] = if side % 2 == 0 { 1.0 } else { -1.0 };
    direction[(axis + 1) % 3] = along(i);
    direction[(axis + 2) % 3] = along(k);
    direction
}

#[cfg(test)]
mod tests {
    use super::super::quickhull::FINEST;
    use super::*;
    use crate::numbers::Numbers;

    /// The farthest corner is as far as that of all points, and corners near the top are all of them, on hulls of few and many
    /// corners, with many equals and with rounded digits.
    #[test]
    fn finds_what_going_through_all_finds() {
        let mut numbers = Numbers(11);
        for (count, digits) in [(8, 1.0), (30, 1e12), (200, 1e12), (3000, 1e12), (3000, 50.0), (400, 4.0)] {
            let points: Vec<Vector> = (0..count)
                .map(|_| {
                    let p = Vector3::from_fn(|_, _| numbers.between(-1.0, 1.0));
                    let p = p * (1.0 / p.norm().max(0.1));
                    vector(&p.map(|x| (x * digits).round() / digits))
                })
                .collect();
            let hull = Hull::new(&points, FINEST).expect("they span a volume");
            let (mut near, mut seen) = (Vec::new(), Seen::default());
            for _ in 0..200 {
                let d = vector(&Vector3::from_fn(|_, _| numbers.between(-1.0, 1.0)));
                let top = points.iter().map(|p| d.dot(*p)).fold(f64::NEG_INFINITY, f64::max);
                // The hull leaves out what is within 1e-7 of it.
                assert!((d.dot(hull.local_support_point(d)) - top).abs() < 1e-6);
                hull.near_top(d, 0.2, &mut near, &mut seen);
                let least = d.dot(hull.points[near[0] as usize]) - 0.2;
                let mut all: Vec<u32> = (0..hull.points.len() as u32)
                    .filter(|i| d.dot(hull.points[*i as usize]) >= least)
                    .collect();
                near.sort_unstable();
                all.sort_unstable();
                assert_eq!(near, all, "{count} points");
                // No corner is above a plane.
                for (normal, offset) in &hull.planes {
                    assert!(normal.dot(hull.points[near[0] as usize]) <= offset + 1e-5);
                }
            }
        }
    }
}
