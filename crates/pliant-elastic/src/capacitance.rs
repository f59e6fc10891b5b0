//! Boundary conditions that change: directions of nodes held at a displacement, one by one, and released again.
//!
//! [James 2002, §4]: with held rows S, each a direction n of a node, the forces along them solve C f = d with the capacitance
//! C_ab = n_aᵀ Ξ_ab n_b and d what the displacements lack without them. C is positive definite; its Cholesky factor grows by a
//! row when one is held, and by rotations loses one when it is released: O(n²) either way. A whole node is three rows.
//!
//! ```
//! use pliant_elastic::{Capacitance, Material, Mesh, Solid, nalgebra::Vector3};
//!
//! let mesh = Mesh::cuboid(Vector3::new(0.010, 0.010, 0.006), 0.004)?;
//! let pad = Solid::new(&mesh, &Material::new(1e5, 0.45, 0.0, 1000.0)?, |p| p.z < -0.006 + 1e-9, |_| {})?;
//! let mut held = Capacitance::new(2);
//! (0..2).try_for_each(|node| held.hold(&pad, node, Vector3::z())).expect("unlike directions");
//! let forces = held.solve(&pad, &[], [-1e-3, -1e-3]).to_vec(); // N that press both down by 1 mm
//! let first = pad.block(0, 0)[(2, 2)] * forces[0] + pad.block(0, 1)[(2, 2)] * forces[1];
//! assert!((first + 1e-3).abs() < 1e-12);
//! # Ok::<(), pliant_elastic::ElasticError>(())
//! ```

use nalgebra::Vector3;

use crate::solid::Solid;

/// A row is refused if what is new in it is less than this part of its compliance.
const NEW: f64 = 1e-12;

/// The directions of a solid's nodes that are held, with the factor of their capacitance.
///
/// Nothing is allocated while no more rows are held than it was made for.
#[derive(Clone, Debug)]
pub struct Capacitance {
    rows: Vec<(usize, Vector3<f64>)>,
    /// L by rows, row r from r(r+1)/2.
    factor: Vec<f64>,
    forces: Vec<f64>,
}

/// A direction that is held already, or nearly so.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("node {node} is held along ({:.3}, {:.3}, {:.3}) already, within {part:.1e}", .direction.x, .direction.y, .direction.z)]
pub struct HeldAlready {
    /// The node.
    pub node: usize,
    /// The direction.
    pub direction: Vector3<f64>,
    /// How much of the row's compliance is new.
    pub part: f64,
}

impl Capacitance {
    /// Nothing held, with room for this many rows.
    pub fn new(rows: usize) -> Self {
        Self {
            rows: Vec::with_capacity(rows),
            factor: Vec::with_capacity(rows * (rows + 1) / 2),
            forces: Vec::with_capacity(rows),
        }
    }

    /// The nodes and directions that are held, in the sequence of their displacements and forces.
    pub fn rows(&self) -> &[(usize, Vector3<f64>)] {
        &self.rows
    }

    /// Releases all.
    pub fn clear(&mut self) {
        self.rows.clear();
        self.factor.clear();
    }

    /// Holds a node along a unit direction, as the last row. An error leaves all as it was.
    pub fn hold(&mut self, solid: &Solid, node: usize, direction: Vector3<f64>) -> Result<(), HeldAlready> {
        let start = self.factor.len();
        for &(other, along) in &self.rows {
            self.factor.push(along.dot(&(solid.block(other, node) * direction)));
        }
        let own = direction.dot(&(solid.block(node, node) * direction));
        // L y = C_s,new, then the pivot √(C_new − y·y).
        let (before, y) = self.factor.split_at_mut(start);
        for r in 0..y.len() {
            let row = &before[r * (r + 1) / 2..][..=r];
            let (done, rest) = y.split_at_mut(r);
            rest[0] = (rest[0] - dot(&row[..r], done)) / row[r];
        }
        let pivot = own - dot(y, y);
        if pivot.is_nan() || pivot <= NEW * own {
            self.factor.truncate(start);
            return Err(HeldAlready { node, direction, part: pivot / own });
        }
        self.factor.push(pivot.sqrt());
        self.rows.push((node, direction));
        Ok(())
    }

    /// Releases a row; those behind it move up by one.
    pub fn release(&mut self, row: usize) {
        let n = self.rows.len();
        self.rows.remove(row);
        // Without row k, the columns behind it satisfy L₃₃L₃₃ᵀ + v vᵀ with v the rest of column k: rotate v into them.
        let at = |r: usize, c: usize| r * (r + 1) / 2 + c;
        for j in row + 1..n {
            let (l, v) = (self.factor[at(j, j)], self.factor[at(j, row)]);
            let length = l.hypot(v);
            let (cos, sin) = (l / length, v / length);
            self.factor[at(j, j)] = length;
            for i in j + 1..n {
                let (l, v) = (self.factor[at(i, j)], self.factor[at(i, row)]);
                self.factor[at(i, j)] = cos * l + sin * v;
                self.factor[at(i, row)] = cos * v - sin * l;
            }
        }
        for i in row + 1..n {
            self.factor.copy_within(at(i, 0)..at(i, row), at(i - 1, 0));
            self.factor.copy_within(at(i, row + 1)..at(i, i) + 1, at(i - 1, row));
        }
        self.factor.truncate(at(n - 1, 0));
    }

    /// The forces along the held rows (N) that give them the displacements (m, one for each row) while `loads` act as well.
    pub fn solve(
        &mut self,
        solid: &Solid,
        loads: &[(usize, Vector3<f64>)],
        displacements: impl IntoIterator<Item = f64>,
    ) -> &[f64] {
        self.forces.clear();
        self.forces.extend(self.rows.iter().zip(displacements).map(|(&(node, n), d)| {
            let by_loads: f64 = loads.iter().map(|&(j, f)| n.dot(&(solid.block(node, j) * f))).sum();
            d - by_loads
        }));
        assert_eq!(self.forces.len(), self.rows.len(), "one displacement for each held row");
        let x = &mut self.forces;
        for r in 0..x.len() {
            let row = &self.factor[r * (r + 1) / 2..][..=r];
            let (done, rest) = x.split_at_mut(r);
            rest[0] = (rest[0] - dot(&row[..r], done)) / row[r];
        }
        for r in (0..x.len()).rev() {
            let row = &self.factor[r * (r + 1) / 2..][..=r];
            let value = x[r] / row[r];
            x[r] = value;
            x[..r].iter_mut().zip(row).for_each(|(x, l)| *x -= l * value);
        }
        x
    }
}

/// A sum in four lanes, the same for any length of vector registers.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut lanes = [0.0; 4];
    let (a4, b4) = (a.chunks_exact(4), b[..a.len()].chunks_exact(4));
    let rest: f64 = a4.remainder().iter().zip(b4.remainder()).map(|(x, y)| x * y).sum();
    for (x, y) in a4.zip(b4) {
        for k in 0..4 {
            lanes[k] += x[k] * y[k];
        }
    }
    (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]) + rest
}
