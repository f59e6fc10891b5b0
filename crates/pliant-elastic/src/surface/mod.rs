//! A closed surface of triangles: its checks, its volume, distances to it.
//!
//! ```
//! use pliant_elastic::{Surface, nalgebra::Vector3};
//!
//! let block = Surface::cuboid(Vector3::new(0.5, 1.0, 1.5))?;
//! assert!((block.volume() - 6.0).abs() < 1e-12);
//! assert!(Surface::new(block.points().to_vec(), block.triangles()[1..].to_vec()).is_err()); // open
//! # Ok::<(), pliant_elastic::ElasticError>(())
//! ```

mod shapes;
mod tree;

use nalgebra::Vector3;

pub(crate) use shapes::positive;
pub(crate) use tree::nearest_on_triangle;
pub use tree::{Nearest, SurfaceTree};

use crate::ElasticError;

/// A closed surface, its triangles counter-clockwise seen from outside.
#[derive(Clone, Debug, PartialEq)]
pub struct Surface {
    points: Vec<Vector3<f64>>,
    triangles: Vec<[u32; 3]>,
}

impl Surface {
    /// A surface that is closed, oriented outward and encloses a volume; points in m.
    pub fn new(points: Vec<Vector3<f64>>, triangles: Vec<[u32; 3]>) -> Result<Self, ElasticError> {
        check_points(&points)?;
        for (element, t) in triangles.iter().enumerate() {
            let inside = t.iter().all(|&i| (i as usize) < points.len());
            if !inside || t[0] == t[1] || t[1] == t[2] || t[2] == t[0] {
                return Err(ElasticError::BadIndex {
                    kind: "triangle",
                    element,
                    points: t.to_vec(),
                    count: points.len(),
                });
            }
        }
        check_edges(&points, &triangles)?;
        let surface = Self { points, triangles };
        let volume = surface.volume();
        if !(volume.is_finite() && volume > 0.0) {
            return Err(ElasticError::Volume { volume });
        }
        Ok(surface)
    }

    /// A surface of loose triangles, as STL files have them: corners within `tolerance` (m) become one point, triangles that
    /// collapse by it are left out, of equal triangles one stays, and a surface that is inside out is turned.
    pub fn from_soup(soup: &[[Vector3<f64>; 3]], tolerance: f64) -> Result<Self, ElasticError> {
        if !(tolerance.is_finite() && tolerance >= 0.0) {
            let hint = " or zero".into();
            return Err(ElasticError::Size { what: "the tolerance of welding", value: tolerance, hint });
        }
        let corners: Vec<Vector3<f64>> = soup.iter().flatten().copied().collect();
        check_points(&corners)?;
        let (points, of_corner) = weld(&corners, tolerance);
        let mut seen = std::collections::BTreeSet::new();
        let mut triangles = Vec::new();
        for t in of_corner.chunks_exact(3) {
            let t = [t[0], t[1], t[2]];
            // The same triangle from another corner, or a flat pair of opposite ones, which encloses nothing.
            let mut key = t;
            key.sort_unstable();
            if t[0] == t[1] || t[1] == t[2] || t[2] == t[0] || !seen.insert((key, is_even(t))) {
                continue;
            }
            triangles.push(t);
        }
        let volume = (Self { points: points.clone(), triangles: triangles.clone() }).volume();
        if volume < 0.0 {
            triangles.iter_mut().for_each(|t| t.swap(1, 2));
        }
        Self::new(points, triangles)
    }

    /// Points, m.
    pub fn points(&self) -> &[Vector3<f64>] {
        &self.points
    }

    /// Triangles as indices of points, counter-clockwise seen from outside.
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// The corners of a triangle.
    pub fn corners(&self, triangle: usize) -> [Vector3<f64>; 3] {
        self.triangles[triangle].map(|i| self.points[i as usize])
    }

    /// The enclosed volume, m³: the sum of tetrahedra to the first point.
    pub fn volume(&self) -> f64 {
        let Some(&o) = self.points.first() else { return 0.0 };
        (0..self.triangles.len())
            .map(|t| {
                let [a, b, c] = self.corners(t).map(|p| p - o);
                a.dot(&b.cross(&c)) / 6.0
            })
            .sum()
    }

    /// The area, m².
    pub fn area(&self) -> f64 {
        (0..self.triangles.len())
            .map(|t| {
                let [a, b, c] = self.corners(t);
                (b - a).cross(&(c - a)).norm() / 2.0
            })
            .sum()
    }

    /// The least and the largest coordinates.
    pub fn bounds(&self) -> (Vector3<f64>, Vector3<f64>) {
        bounds(&self.points)
    }
}

/// The least and the largest coordinates of points.
pub(crate) fn bounds(points: &[Vector3<f64>]) -> (Vector3<f64>, Vector3<f64>) {
    let infinite = Vector3::repeat(f64::INFINITY);
    points.iter().fold((infinite, -infinite), |(low, high), p| (low.inf(p), high.sup(p)))
}

pub(crate) fn check_points(points: &[Vector3<f64>]) -> Result<(), ElasticError> {
    match points.iter().position(|p| !p.iter().all(|x| x.is_finite() && x.abs() < 1e9)) {
        Some(point) => Err(ElasticError::NotFinite { point }),
        None => Ok(()),
    }
}

/// Every edge must be run along equally often in both directions: two triangles usually, four where solids touch in an edge.
fn check_edges(points: &[Vector3<f64>], triangles: &[[u32; 3]]) -> Result<(), ElasticError> {
    // (lower point, upper point, direction, triangle), sorted: what shares an edge is adjacent.
    let mut edges: Vec<(u32, u32, bool, usize)> = Vec::with_capacity(3 * triangles.len());
    for (t, &[a, b, c]) in triangles.iter().enumerate() {
        for (p, q) in [(a, b), (b, c), (c, a)] {
            edges.push((p.min(q), p.max(q), p < q, t));
        }
    }
    edges.sort_unstable();
    let (mut open, mut first) = (0, None);
    for group in edges.chunk_by(|x, y| (x.0, x.1) == (y.0, y.1)) {
        let forward = group.iter().filter(|e| e.2).count();
        if 2 * forward == group.len() {
            continue;
        }
        let (p, q) = (group[0].0, group[0].1);
        if group.len() == 2 {
            let near = (points[p as usize] + points[q as usize]) / 2.0;
            return Err(ElasticError::Orientation {
                edge: [p, q],
                triangles: [group[0].3, group[1].3],
                near,
            });
        }
        open += 1;
        first.get_or_insert([p, q]);
    }
    match first {
        Some(edge) => Err(ElasticError::Open {
            edge,
            from: points[edge[0] as usize],
            to: points[edge[1] as usize],
            count: open,
        }),
        None => Ok(()),
    }
}

/// Whether the corners are an even permutation of their sorted selves: distinguishes a triangle from its reverse.
fn is_even(t: [u32; 3]) -> bool {
    let [a, b, c] = t;
    (a < b) as u8 + (b < c) as u8 + (c < a) as u8 == 2
}

/// Points within the tolerance of an earlier one become that one: the points that stay, and which one each became.
fn weld(corners: &[Vector3<f64>], tolerance: f64) -> (Vec<Vector3<f64>>, Vec<u32>) {
    // Along x only: corners within the tolerance are near in the sorted sequence.
    let mut order: Vec<usize> = (0..corners.len()).collect();
    order.sort_by(|&i, &j| corners[i].x.total_cmp(&corners[j].x).then(i.cmp(&j)));
    let mut first = vec![u32::MAX; corners.len()];
    for (k, &i) in order.iter().enumerate() {
        if first[i] != u32::MAX {
            continue;
        }
        first[i] = i as u32;
        for &j in &order[k + 1..] {
            if corners[j].x - corners[i].x > tolerance {
                break;
            }
            if first[j] == u32::MAX && (corners[j] - corners[i]).norm() <= tolerance {
                first[j] = i as u32;
            }
        }
    }
    let mut number = vec![u32::MAX; corners.len()];
    let mut points = Vec::new();
    let of_corner = first
        .iter()
        .map(|&i| {
            let slot = &mut number[i as usize];
            if *slot == u32::MAX {
                *slot = points.len() as u32;
                points.push(corners[i as usize]);
            }
            *slot
        })
        .collect();
    (points, of_corner)
}
