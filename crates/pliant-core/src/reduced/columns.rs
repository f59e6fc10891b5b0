//! Motions as numbers: what a model file holds.

use nalgebra::DMatrix;

use super::model::Model;

impl Model {
    /// The motions, one column each, with a row for each coordinate of the mechanism; zero for those of joints that close
    /// loops, which follow.
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
}
