//! The joints' compliance at a pose with loops and couplings closed, for the choice of motions.
//!
//! ```text
//! C Z = 0,  ZᵀNZ = 1,   K_z = Zᵀ(K + SᵀK_l S)Z = V Λ Vᵀ,   x = Z V Λ⁺VᵀZᵀ τ
//! ```
//! Z are all motions that the closures leave, S rows of the loop joints' coordinates with springs K_l. What has no stiffness
//! is a free motion: held while compliance is asked for.

use nalgebra::{DMatrix, DVector};

use super::closures::Closures;
use super::placing::Places;
use super::tree::Tree;
use crate::algebra::dense::eigen;
use crate::algebra::dense::orthogonal::Orthogonal;

/// Of rows of length 1 in the metric N, what counts as repeated by others.
const REPEATED: f64 = 1e-6;

/// Stiffness over the largest that is none.
const FREE: f64 = 1e-11;

/// Torques on the motions below this part of those on the joints, both in the metric N, are rounding.
const ROUNDING: f64 = 1e-12;

/// A tree's joints with closures at a pose.
pub(super) struct Compliance {
    /// Z V, and Λ.
    motions: DMatrix<f64>,
    stiffness: DVector<f64>,
    norms: DVector<f64>,
    /// Springs of loop joints with their rows S.
    pub springs: Vec<(f64, DVector<f64>)>,
    /// Rows S of all loop joints' freedoms.
    pub coordinates: Vec<DVector<f64>>,
}

impl Compliance {
    /// With weights and stiffness of the freedoms of joints, and stiffness of the loop joints' freedoms.
    pub fn new(
        tree: &Tree,
        closures: &Closures,
        (joints, norms): (&[usize], &[f64]),
        (stiffness, loop_stiffness): (&[f64], &[f64]),
        places: &Places,
    ) -> Compliance {
        let n = joints.len();
        let (rows, loops) = closures.dense_rows(tree, places);
        let of_joints = |x: &DVector<f64>| DVector::from_iterator(n, joints.iter().map(|i| x[*i]));
        let mut A = DMatrix::zeros(rows.len(), n);
        for (r, row) in rows.iter().enumerate() {
            let scaled =
                DVector::from_iterator(n, of_joints(row).iter().zip(norms).map(|(c, n)| c / n.sqrt()));
            let size = scaled.norm();
            if size > 0.0 {
                A.row_mut(r).copy_from(&(scaled / size).transpose());
            }
        }
        let mut Z = Orthogonal::new(&A, REPEATED).null();
        for (mut row, norm) in Z.row_iter_mut().zip(norms) {
            row /= norm.sqrt();
        }
        let coordinates: Vec<DVector<f64>> = loops.iter().map(of_joints).collect();
        let mut weighed = Z.clone();
        weighed.row_iter_mut().zip(stiffness).for_each(|(mut row, k)| row *= *k);
        let mut K = Z.transpose() * weighed;
        let mut springs = Vec::new();
        for (S, k) in coordinates.iter().zip(loop_stiffness).filter(|(_, k)| **k > 0.0) {
            let own = Z.transpose() * S;
            K.ger(*k, &own, &own, 1.0);
            springs.push((*k, S.clone()));
        }
        let found = eigen::sorted((&K + K.transpose()) * 0.5);
        Compliance {
            motions: Z * found.eigenvectors,
            stiffness: found.eigenvalues,
            norms: DVector::from_column_slice(norms),
            springs,
            coordinates,
        }
    }

    /// How many motions the closures leave.
    pub fn freedoms(&self) -> usize {
        self.motions.ncols()
    }

    fn is_free(&self, k: usize) -> bool {
        let most = self.stiffness.iter().fold(0.0f64, |most, x| most.max(*x));
        self.stiffness[k] <= FREE * most
    }

    /// Motions without stiffness.
    pub fn free(&self) -> Vec<DVector<f64>> {
        let own = (0..self.freedoms()).filter(|k| self.is_free(*k));
        own.map(|k| self.motions.column(k).into_owned()).collect()
    }

    /// What torques do, free motions held.
    pub fn soften(&self, tau: &DVector<f64>) -> DVector<f64> {
        let mut x = self.motions.tr_mul(tau);
        let whole = tau.iter().zip(&self.norms).map(|(tau, n)| tau * tau / n).sum::<f64>().sqrt();
        for k in 0..x.len() {
            let none = self.is_free(k) || x[k].abs() <= ROUNDING * whole;
            x[k] = if none { 0.0 } else { x[k] / self.stiffness[k] };
        }
        &self.motions * x
    }
}
