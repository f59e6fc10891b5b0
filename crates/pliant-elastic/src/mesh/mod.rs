//! Tetrahedra with quadratic nodes: corners first, then one node in the middle of each edge.
//!
//! ```
//! use pliant_elastic::{Mesh, nalgebra::Vector3};
//!
//! let one = Mesh::new(&[Vector3::zeros(), Vector3::x(), Vector3::y(), Vector3::z()], &[[0, 1, 2, 3]])?;
//! assert_eq!((one.corners(), one.points().len()), (4, 10)); // six nodes in the middle of edges
//! assert!((one.volume() - 1.0 / 6.0).abs() < 1e-15);
//! # Ok::<(), pliant_elastic::ElasticError>(())
//! ```

mod gmsh;
mod grid;
mod sizing;
mod stuffing;

use nalgebra::{Matrix3, Vector3};

pub use gmsh::GmshMesh;

use crate::ElasticError;
use crate::surface::check_points;

/// The two corners of each midside node of a tetrahedron, whose local number is this index plus four.
pub const EDGES: [(usize, usize); 6] = [(0, 1), (1, 2), (0, 2), (0, 3), (1, 3), (2, 3)];
/// The corners of each face, counter-clockwise seen from outside.
const FACES: [[usize; 3]; 4] = [[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]];
/// Elements of lower quality are refused: the stiffness would lose as many digits.
pub const LEAST_QUALITY: f64 = 1e-4;

/// A mesh of straight tetrahedra with ten nodes.
#[derive(Clone, Debug, PartialEq)]
pub struct Mesh {
    /// Corners, then midside nodes.
    points: Vec<Vector3<f64>>,
    corners: usize,
    tetrahedra: Vec<[u32; 10]>,
    /// The two corners of each midside node.
    edges: Vec<[u32; 2]>,
    /// Triangles of the boundary between corners, counter-clockwise seen from outside.
    boundary: Vec<[u32; 3]>,
}

/// The shapes of a mesh's elements.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeshQuality {
    /// The least quality of an element, 1 for a regular one: 6√2 V over the cube of the root mean square of its edges.
    pub least: f64,
    /// The element that has it.
    pub element: usize,
    /// The least angle between two faces, rad.
    pub least_dihedral: f64,
    /// The largest angle between two faces, rad.
    pub largest_dihedral: f64,
}

impl Mesh {
    /// A mesh of tetrahedra given by their corners (m), each with a positive Jacobian (b − a)×(c − a)·(d − a). Points that no
    /// tetrahedron uses are left out.
    pub fn new(points: &[Vector3<f64>], tetrahedra: &[[u32; 4]]) -> Result<Self, ElasticError> {
        check_points(points)?;
        if tetrahedra.is_empty() {
            return Err(ElasticError::Empty { hint: "give one at least".into() });
        }
        let mut used = vec![u32::MAX; points.len()];
        for (element, t) in tetrahedra.iter().enumerate() {
            let mut sorted = *t;
            sorted.sort_unstable();
            if sorted[3] as usize >= points.len() || sorted.windows(2).any(|w| w[0] == w[1]) {
                return Err(ElasticError::BadIndex {
                    kind: "tetrahedron",
                    element,
                    points: t.to_vec(),
                    count: points.len(),
                });
            }
            let x = t.map(|i| points[i as usize]);
            let (jacobian, quality) = (jacobian(&x), quality(&x));
            if quality < LEAST_QUALITY || quality.is_nan() {
                let near = x.iter().sum::<Vector3<f64>>() / 4.0;
                return Err(ElasticError::Element { element, jacobian, quality, least: LEAST_QUALITY, near });
            }
            t.iter().for_each(|&i| used[i as usize] = 0);
        }
        let mut kept = Vec::new();
        for (i, p) in points.iter().enumerate() {
            if used[i] == 0 {
                used[i] = kept.len() as u32;
                kept.push(*p);
            }
        }
        let tetrahedra: Vec<[u32; 4]> = tetrahedra.iter().map(|t| t.map(|i| used[i as usize])).collect();
        Ok(Self::quadratic(kept, &tetrahedra))
    }

    /// Adds the midside nodes and finds the boundary.
    fn quadratic(mut points: Vec<Vector3<f64>>, tetrahedra: &[[u32; 4]]) -> Self {
        let corners = points.len();
        let key = |a: u32, b: u32| [a.min(b), a.max(b)];
        let mut edges: Vec<[u32; 2]> =
            tetrahedra.iter().flat_map(|t| EDGES.map(|(i, j)| key(t[i], t[j]))).collect();
        edges.sort_unstable();
        edges.dedup();
        points.extend(
            edges.iter().map(|e| (points[e[0] as usize] + points[e[1] as usize]) / 2.0).collect::<Vec<_>>(),
        );
        let middle = |a: u32, b: u32| {
            let place = edges.binary_search(&key(a, b)).expect("every edge is in the list");
            (corners + place) as u32
        };
        let quadratic = tetrahedra
            .iter()
            .map(|t| {
                let mut nodes = [0; 10];
                nodes[..4].copy_from_slice(t);
                for (k, &(i, j)) in EDGES.iter().enumerate() {
                    nodes[4 + k] = middle(t[i], t[j]);
                }
                nodes
            })
            .collect();
        // Faces that one tetrahedron alone has.
        let mut faces: Vec<([u32; 3], usize, usize)> = Vec::with_capacity(4 * tetrahedra.len());
        for (e, t) in tetrahedra.iter().enumerate() {
            for (f, face) in FACES.iter().enumerate() {
                let mut sorted = face.map(|i| t[i]);
                sorted.sort_unstable();
                faces.push((sorted, e, f));
            }
        }
        faces.sort_unstable();
        let mut alone: Vec<(usize, usize)> =
            faces.chunk_by(|x, y| x.0 == y.0).filter(|g| g.len() == 1).map(|g| (g[0].1, g[0].2)).collect();
        alone.sort_unstable();
        let boundary = alone.iter().map(|&(e, f)| FACES[f].map(|i| tetrahedra[e][i])).collect();
        Self { points, corners, tetrahedra: quadratic, edges, boundary }
    }

    /// All nodes, corners first, m.
    pub fn points(&self) -> &[Vector3<f64>] {
        &self.points
    }

    /// How many of the nodes are corners.
    pub fn corners(&self) -> usize {
        self.corners
    }

    /// Nodes of each tetrahedron: four corners, then the middles of [`EDGES`].
    pub fn tetrahedra(&self) -> &[[u32; 10]] {
        &self.tetrahedra
    }

    /// The two corners next to each midside node; the first one's node is [`corners`](Self::corners).
    pub fn edges(&self) -> &[[u32; 2]] {
        &self.edges
    }

    /// Triangles of the boundary between corners, counter-clockwise seen from outside.
    pub fn boundary(&self) -> &[[u32; 3]] {
        &self.boundary
    }

    /// The four corners of a tetrahedron.
    pub fn corner_points(&self, element: usize) -> [Vector3<f64>; 4] {
        std::array::from_fn(|i| self.points[self.tetrahedra[element][i] as usize])
    }

    /// The volume, m³.
    pub fn volume(&self) -> f64 {
        (0..self.tetrahedra.len()).map(|e| jacobian(&self.corner_points(e)) / 6.0).sum()
    }

    /// The shapes of the elements.
    pub fn quality(&self) -> MeshQuality {
        let start = MeshQuality {
            least: f64::INFINITY,
            element: 0,
            least_dihedral: f64::INFINITY,
            largest_dihedral: 0.0,
        };
        (0..self.tetrahedra.len()).fold(start, |mut worst, element| {
            let x = self.corner_points(element);
            let q = quality(&x);
            if q < worst.least {
                (worst.least, worst.element) = (q, element);
            }
            for angle in dihedrals(&x) {
                worst.least_dihedral = worst.least_dihedral.min(angle);
                worst.largest_dihedral = worst.largest_dihedral.max(angle);
            }
            worst
        })
    }
}

/// Six times the signed volume.
pub(crate) fn jacobian(x: &[Vector3<f64>; 4]) -> f64 {
    Matrix3::from_columns(&[x[1] - x[0], x[2] - x[0], x[3] - x[0]]).determinant()
}

/// 6√2 V / (root mean square edge)³: 1 for a regular tetrahedron, 0 for a flat one, negative inside out.
fn quality(x: &[Vector3<f64>; 4]) -> f64 {
    let mean = EDGES.iter().map(|&(i, j)| (x[i] - x[j]).norm_squared()).sum::<f64>() / 6.0;
    2f64.sqrt() * jacobian(x) / mean.powf(1.5)
}

/// The angles between faces at the six edges, rad.
fn dihedrals(x: &[Vector3<f64>; 4]) -> [f64; 6] {
    EDGES.map(|(i, j)| {
        let others: Vec<usize> = (0..4).filter(|&k| k != i && k != j).collect();
        let along = (x[j] - x[i]).normalize();
        let [a, b] = [others[0], others[1]].map(|k| {
            let r = x[k] - x[i];
            r - along * along.dot(&r)
        });
        a.angle(&b)
    })
}
