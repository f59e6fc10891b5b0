//! A motion of a whole part in several columns: the twist of every node and the coordinates of every joint.

use nalgebra::{DMatrix, Matrix6, Vector6};

use super::component::Part;
use super::kkt::{Columns, Kkt, Undetermined};
use super::reference::Reference;
use crate::spatial::Pose;

/// Columns of motion, or of loads, on the nodes and coordinates of a part. Row by row.
#[derive(Clone, Debug)]
pub(super) struct Field {
    pub columns: usize,
    /// Six rows per node of the part.
    pub nodes: Vec<f64>,
    /// One row per coordinate of the part's joints.
    pub coordinates: Vec<f64>,
}

/// Which coordinates a part has: (joint of the reference, freedom, coordinate of the mechanism).
pub(super) fn coordinates_of(reference: &Reference, part: &Part) -> Vec<(usize, usize, usize)> {
    let of = |&j: &usize| {
        let joint = &reference.joints[j];
        (0..joint.freedoms()).map(move |k| (j, k, joint.coordinate + k))
    };
    part.joints.iter().flat_map(of).collect()
}

impl Field {
    pub fn zeros(nodes: usize, coordinates: usize, columns: usize) -> Field {
        Field {
            columns,
            nodes: vec![0.0; 6 * nodes * columns],
            coordinates: vec![0.0; coordinates * columns],
        }
    }

    /// What a part has of columns over the whole mechanism.
    pub fn gather(from: &Columns, part: &Part, coordinates: &[(usize, usize, usize)]) -> Field {
        let m = from.columns;
        let rows = |list: &[f64], to: &mut Vec<f64>, i: usize, count: usize| {
            to.extend_from_slice(&list[i * m..(i + count) * m]);
        };
        let mut nodes = Vec::with_capacity(6 * part.nodes.len() * m);
        part.nodes.iter().for_each(|&n| rows(&from.nodes, &mut nodes, 6 * n, 6));
        let mut own = Vec::with_capacity(coordinates.len() * m);
        coordinates.iter().for_each(|&(_, _, q)| rows(&from.coordinates, &mut own, q, 1));
        Field { columns: m, nodes, coordinates: own }
    }

    /// Puts a part's columns among those of the whole mechanism.
    pub fn scatter(&self, to: &mut Columns, part: &Part, coordinates: &[(usize, usize, usize)]) {
        let m = self.columns;
        for (at, &n) in part.nodes.iter().enumerate() {
            to.nodes[6 * n * m..6 * (n + 1) * m].copy_from_slice(&self.nodes[6 * at * m..6 * (at + 1) * m]);
        }
        for (at, &(_, _, q)) in coordinates.iter().enumerate() {
            to.coordinates[q * m..(q + 1) * m].copy_from_slice(&self.coordinates[at * m..(at + 1) * m]);
        }
    }

    /// The field times a matrix: other columns of it.
    pub fn times(&self, A: &DMatrix<f64>) -> Field {
        let (m, n) = (self.columns, A.ncols());
        let A: Vec<f64> = A.transpose().as_slice().to_vec(); // row by row
        let multiply = |list: &[f64]| {
            let mut out = vec![0.0; list.len() / m.max(1) * n];
            for (row, to) in list.chunks_exact(m.max(1)).zip(out.chunks_exact_mut(n.max(1))) {
                for (x, A) in row.iter().zip(A.chunks_exact(n.max(1))) {
                    to.iter_mut().zip(A).for_each(|(to, a)| *to += x * a);
                }
            }
            out
        };
        Field { columns: n, nodes: multiply(&self.nodes), coordinates: multiply(&self.coordinates) }
    }

    /// selfᵀ other, over all rows.
    pub fn dot(&self, other: &Field) -> DMatrix<f64> {
        let (m, n) = (self.columns, other.columns);
        let mut out = vec![0.0; m * n];
        if m == 0 || n == 0 {
            return DMatrix::zeros(m, n);
        }
        for (a, b) in [(&self.nodes, &other.nodes), (&self.coordinates, &other.coordinates)] {
            for (a, b) in a.chunks_exact(m).zip(b.chunks_exact(n)) {
                for (a, out) in a.iter().zip(out.chunks_exact_mut(n)) {
                    out.iter_mut().zip(b).for_each(|(out, b)| *out += a * b);
                }
            }
        }
        DMatrix::from_row_slice(m, n, &out)
    }

    /// Side by side with another.
    pub fn beside(&self, other: &Field) -> Field {
        let (m, n) = (self.columns, other.columns);
        let join = |a: &[f64], b: &[f64]| -> Vec<f64> {
            let rows = a.len().checked_div(m).unwrap_or(b.len() / n.max(1));
            (0..rows)
                .flat_map(|i| a[i * m..(i + 1) * m].iter().chain(&b[i * n..(i + 1) * n]))
                .copied()
                .collect()
        };
        Field {
            columns: m + n,
            nodes: join(&self.nodes, &other.nodes),
            coordinates: join(&self.coordinates, &other.coordinates),
        }
    }

    /// self −= other.
    pub fn subtract(&mut self, other: &Field) {
        self.nodes.iter_mut().zip(&other.nodes).for_each(|(a, b)| *a -= b);
        self.coordinates.iter_mut().zip(&other.coordinates).for_each(|(a, b)| *a -= b);
    }

    /// Column k of a node's rows.
    pub fn twist(&self, node: usize, k: usize) -> Vector6<f64> {
        Vector6::from_fn(|i, _| self.nodes[(6 * node + i) * self.columns + k])
    }
}

/// The inertia of a part's nodes and rotors.
#[derive(Clone, Debug)]
pub(super) struct Inertia {
    pub nodes: Vec<Matrix6<f64>>,
    pub rotors: Vec<f64>,
}

impl Inertia {
    pub fn of(reference: &Reference, part: &Part, coordinates: &[(usize, usize, usize)]) -> Inertia {
        let nodes = reference.mechanism.order().nodes();
        Inertia {
            nodes: part.nodes.iter().map(|&n| nodes[n].inertia.matrix()).collect(),
            rotors: per_freedom(reference, coordinates, |f| f.armature),
        }
    }

    /// Mass times a field.
    pub fn times(&self, field: &Field) -> Field {
        let m = field.columns;
        let mut out = field.clone();
        for (n, M) in self.nodes.iter().enumerate() {
            for c in 0..m {
                let momentum = M * field.twist(n, c);
                (0..6).for_each(|i| out.nodes[(6 * n + i) * m + c] = momentum[i]);
            }
        }
        for (row, rotor) in out.coordinates.chunks_exact_mut(m.max(1)).zip(&self.rotors) {
            row.iter_mut().for_each(|x| *x *= rotor);
        }
        out
    }
}

/// A property of each freedom of a part.
pub(super) fn per_freedom(
    reference: &Reference,
    coordinates: &[(usize, usize, usize)],
    property: impl Fn(&crate::mechanism::Freedom) -> f64,
) -> Vec<f64> {
    let joint = |j: usize| &reference.mechanism[reference.joints[j].id];
    coordinates.iter().map(|&(j, k, _)| property(&joint(j).freedoms[k])).collect()
}

/// The field of the part's nodes moving with a base as one rigid body, six columns: Ad(n, b).
pub(super) fn rigid(reference: &Reference, part: &Part, base: &Pose, coordinates: usize) -> Field {
    let mut field = Field::zeros(part.nodes.len(), coordinates, 6);
    for (at, &n) in part.nodes.iter().enumerate() {
        let Ad = reference.poses[n].inverse_times(base).adjoint();
        for i in 0..6 {
            for k in 0..6 {
                field.nodes[(6 * at + i) * 6 + k] = Ad[(i, k)];
            }
        }
    }
    field
}

/// The static answer of a part to a field of loads.
pub(super) fn respond(
    reference: &Reference,
    kkt: &Kkt,
    part: &Part,
    coordinates: &[(usize, usize, usize)],
    loads: &Field,
) -> Result<Field, Undetermined> {
    let mut columns = Columns::without_wrenches(reference, loads.columns);
    loads.scatter(&mut columns, part, coordinates);
    kkt.solve(&mut columns)?;
    Ok(Field::gather(&columns, part, coordinates))
}
