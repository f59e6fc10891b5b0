//! Motions as numbers: what a model file holds, and what is added to them.

use std::sync::Arc;

use nalgebra::{DMatrix, DVector};

use super::choice::{norms, refuse_loops};
use super::model::{Constants, Model};
use super::tree::Tree;
use crate::mechanism::Mechanism;
use crate::reduced::ReductionError;

/// A motion of which this part of its size is not in those that are there is new.
const NEW: f64 = 1e-7;

/// Pivots of a Gram matrix below this part of the diagonal are rounding.
const DEPENDENT: f64 = 1e-10;

impl Model {
    /// The motions, one column each, with a row for each coordinate of the mechanism.
    pub fn columns(&self) -> DMatrix<f64> {
        let (tree, basis) = (&self.constants.tree, &self.constants.basis);
        let free = 6 * tree.floats.len();
        let mut columns = DMatrix::zeros(tree.mechanism.coordinate_count(), self.motions());
        for (i, freedom) in tree.freedoms.iter().enumerate() {
            let Some(at) = freedom.coordinate else { continue };
            (0..columns.ncols()).for_each(|k| columns[(at, k)] = basis.row(i)[free + k]);
        }
        columns
    }

    /// With the motions of [`Model::columns`]: the same bits.
    pub fn from_columns(mechanism: &Mechanism, columns: &DMatrix<f64>) -> Result<Model, ReductionError> {
        refuse_loops(mechanism)?;
        let tree = Tree::new(mechanism);
        let joints: Vec<usize> = tree.freedoms.iter().filter_map(|f| f.coordinate).collect();
        let wrong = |what: String| Err(ReductionError::Options(what));
        if columns.nrows() != mechanism.coordinate_count() {
            let (is, has) = (columns.nrows(), mechanism.coordinate_count());
            return wrong(format!("motions of {is} coordinates are none of a mechanism with {has}"));
        }
        if columns.ncols() > joints.len() {
            let (is, most) = (columns.ncols(), joints.len());
            return wrong(format!("{is} motions of {most} freedoms are not independent"));
        }
        if columns.iter().any(|x| !x.is_finite()) {
            return wrong("a motion has numbers that are not finite".into());
        }
        let motions = DMatrix::from_fn(joints.len(), columns.ncols(), |j, k| columns[(joints[j], k)]);
        let norms = norms(&tree);
        if !independent(&motions, &norms) {
            return wrong("the motions are not independent".into());
        }
        Ok(Model { constants: Arc::new(Constants::new(tree, &motions, &norms)) })
    }

    /// Every motion of the joints: what the articulated engine has.
    pub fn every_motion(mechanism: &Mechanism) -> Result<Model, ReductionError> {
        refuse_loops(mechanism)?;
        let tree = Tree::new(mechanism);
        let norms = norms(&tree);
        let unit = |i: usize, k: usize| if i == k { 1.0 / norms[i].sqrt() } else { 0.0 };
        let motions = DMatrix::from_fn(norms.len(), norms.len(), unit);
        Ok(Model { constants: Arc::new(Constants::new(tree, &motions, &norms)) })
    }

    /// With one motion more, given by coordinates of the mechanism; `None` if it is there already.
    pub(super) fn with_motion(&self, coordinates: &[f64]) -> Option<Model> {
        let tree = &self.constants.tree;
        let norms = norms(tree);
        let joints: Vec<usize> = tree.freedoms.iter().filter_map(|f| f.coordinate).collect();
        let columns = self.columns();
        let mut motions = DMatrix::from_fn(joints.len(), columns.ncols(), |j, k| columns[(joints[j], k)]);
        let mut x = DVector::from_iterator(joints.len(), joints.iter().map(|at| coordinates[*at]));
        let size = |x: &DVector<f64>| x.iter().zip(&norms).map(|(x, norm)| x * x * norm).sum::<f64>().sqrt();
        let before = size(&x);
        if !(before > 0.0 && before.is_finite()) || motions.ncols() >= joints.len() {
            return None;
        }
        x /= before;
        for _ in 0..2 {
            for column in motions.column_iter() {
                let along: f64 = column.iter().zip(x.iter()).zip(&norms).map(|((a, b), n)| a * b * n).sum();
                x.axpy(-along, &column, 1.0);
            }
        }
        let after = size(&x);
        if after <= NEW {
            return None;
        }
        let at = motions.ncols();
        motions = motions.insert_column(at, 0.0);
        motions.set_column(at, &(x / after));
        let constants = Constants::new(tree.clone(), &motions, &norms);
        Some(Model { constants: Arc::new(Constants { options: self.constants.options, ..constants }) })
    }
}

/// Whether the Gram matrix of the motions, each of size one, has a Cholesky factor.
fn independent(motions: &DMatrix<f64>, norms: &[f64]) -> bool {
    let weighed =
        DMatrix::from_fn(motions.nrows(), motions.ncols(), |i, k| motions[(i, k)] * norms[i].sqrt());
    let gram = weighed.tr_mul(&weighed);
    let sizes: Vec<f64> = gram.diagonal().iter().map(|x| x.sqrt()).collect();
    if sizes.iter().any(|x| !(*x > 0.0 && x.is_finite())) {
        return false;
    }
    let unit = DMatrix::from_fn(sizes.len(), sizes.len(), |i, k| gram[(i, k)] / (sizes[i] * sizes[k]));
    unit.cholesky().is_some_and(|factor| factor.l_dirty().diagonal().iter().all(|x| x * x > DEPENDENT))
}
