//! The stiffness of a mesh between its unknown nodes: every node of the mesh is an unknown, held, or the mean of two corners.

use faer::sparse::{SparseColMat, SymbolicSparseColMat};
use nalgebra::Matrix3;

use crate::element;
use crate::material::Material;
use crate::mesh::Mesh;
use crate::ordering::Graph;

/// How a node of the mesh moves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Motion {
    /// Not at all.
    Held,
    /// By its own unknown.
    Own(u32),
    /// As the mean of two unknowns, of which one or both may be held.
    Mean([Option<u32>; 2]),
}

impl Motion {
    /// The unknowns and their weights.
    pub(crate) fn parts(&self) -> impl Iterator<Item = (u32, f64)> {
        let (list, weight) = match *self {
            Motion::Held => ([None, None], 0.0),
            Motion::Own(i) => ([Some(i), None], 1.0),
            Motion::Mean(two) => (two, 0.5),
        };
        list.into_iter().flatten().map(move |i| (i, weight))
    }
}

/// Which unknowns are coupled by an element.
pub(crate) fn graph(mesh: &Mesh, motion: &[Motion], unknowns: usize) -> Graph {
    Graph::new(
        unknowns,
        mesh.tetrahedra().iter().map(|t| {
            let mut group: Vec<u32> =
                t.iter().flat_map(|&n| motion[n as usize].parts().map(|p| p.0)).collect();
            group.sort_unstable();
            group.dedup();
            group
        }),
    )
}

/// The lower triangle of the stiffness in blocks of three, by columns.
pub(crate) struct Stiffness {
    starts: Vec<usize>,
    rows: Vec<u32>,
    blocks: Vec<Matrix3<f64>>,
}

impl Stiffness {
    /// K = Tᵀ K_mesh T, T the motion of the mesh's nodes; `graph` has the same numbers as `motion`.
    pub(crate) fn new(
        mesh: &Mesh,
        material: &Material,
        motion: &[Motion],
        graph: &Graph,
        unknowns: usize,
    ) -> Self {
        let mut starts = vec![0];
        let mut rows = Vec::new();
        for c in 0..unknowns {
            rows.push(c as u32);
            rows.extend(graph.of(c).iter().copied().filter(|&r| r as usize > c));
            starts.push(rows.len());
        }
        let mut blocks = vec![Matrix3::zeros(); rows.len()];
        let lame = material.lame();
        for (e, t) in mesh.tetrahedra().iter().enumerate() {
            let K = element::stiffness(&mesh.corner_points(e), lame);
            for (b, &nb) in t.iter().enumerate() {
                for (c, wc) in motion[nb as usize].parts() {
                    let own = starts[c as usize]..starts[c as usize + 1];
                    for (a, &na) in t.iter().enumerate() {
                        for (r, wr) in motion[na as usize].parts() {
                            if r >= c {
                                let place =
                                    rows[own.clone()].binary_search(&r).expect("the graph has every pair");
                                blocks[own.start + place] += K[a][b] * (wr * wc);
                            }
                        }
                    }
                }
            }
        }
        Self { starts, rows, blocks }
    }

    pub(crate) fn unknowns(&self) -> usize {
        self.starts.len() - 1
    }

    /// The lower triangle as a sparse matrix of numbers.
    pub(crate) fn to_sparse(&self) -> SparseColMat<usize, f64> {
        let n = 3 * self.unknowns();
        let mut starts = Vec::with_capacity(n + 1);
        let mut rows = Vec::with_capacity(9 * self.rows.len());
        let mut values = Vec::with_capacity(9 * self.rows.len());
        starts.push(0);
        for c in 0..self.unknowns() {
            for axis in 0..3 {
                for k in self.starts[c]..self.starts[c + 1] {
                    let r = self.rows[k] as usize;
                    for i in (if r == c { axis } else { 0 })..3 {
                        rows.push(3 * r + i);
                        values.push(self.blocks[k][(i, axis)]);
                    }
                }
                starts.push(rows.len());
            }
        }
        SparseColMat::new(SymbolicSparseColMat::new_checked(n, n, starts, None, rows), values)
    }
}
