//! Where the paper's blend of compliances needs more than it says: signs of eigenvectors.
//!
//! Andrews 2015, Algorithm 3 blends eigenvalues and eigenvectors apart: C̄ = V̄ Λ̄ V̄ᵀ with Λ̄ = ΣαΛ_i and the columns of
//! V̄ = ΣαV_i made one long. An eigenvector and its opposite are the same, but their blends are not. Here: two models of a
//! helix, at rest and under the scene's load, half and half, against the model under half the load.

use pliant::engine::{Simulation, StaticsSettings};
use pliant::full;
use pliant::gallery;
use pliant::linear::{Linearisation, Reference};
use pliant::nalgebra::{DMatrix, DVector};

use crate::section::Finding;
use crate::statics::load;
use pliant_cli::failure::Failure;
use pliant_cli::page::text::percent;

/// The helix.
const NAME: &str = "helix:50";

/// Compliance at the equilibrium under so many times the scene's load, translations in radii.
fn compliance(model: &full::Model, size: f64) -> Result<DMatrix<f64>, Failure> {
    let mut simulation = model.simulate();
    load(&mut simulation, size);
    simulation.settle(&StaticsSettings::default()).map_err(Failure::job)?;
    let reference = Reference::at_equilibrium(&mut simulation);
    let projection = Linearisation::at(reference).project().map_err(Failure::job)?;
    let scale = |k: usize| if k % 6 < 3 { 1.0 / model.mechanism().radius() } else { 1.0 };
    let C = projection.compliance();
    Ok(DMatrix::from_fn(C.nrows(), C.ncols(), |i, k| scale(i) * C[(i, k)] * scale(k)))
}

/// Eigenvalues from small to large, with their eigenvectors.
fn sorted(C: &DMatrix<f64>) -> (DVector<f64>, DMatrix<f64>) {
    let eigen = C.clone().symmetric_eigen();
    let mut order: Vec<usize> = (0..C.nrows()).collect();
    order.sort_by(|&a, &b| eigen.eigenvalues[a].total_cmp(&eigen.eigenvalues[b]));
    let values = DVector::from_iterator(order.len(), order.iter().map(|&k| eigen.eigenvalues[k]));
    let columns: Vec<_> = order.iter().map(|&k| eigen.eigenvectors.column(k).into_owned()).collect();
    (values, DMatrix::from_columns(&columns))
}

/// Blends with every choice of signs.
pub fn finding() -> Result<Finding, Failure> {
    let mechanism = gallery::build(NAME).map_err(Failure::job)?;
    let model = full::Model::new(&mechanism);
    let [rest, half, whole] = [0.0, 0.5, 1.0].map(|size| compliance(&model, size));
    let (rest, half, whole) = (rest?, half?, whole?);
    let off = |C: &DMatrix<f64>| (C - &half).norm() / half.norm();
    let linear = off(&((&rest + &whole) * 0.5));
    let ((values1, V1), (values2, V2)) = (sorted(&rest), sorted(&whole));
    let values = (values1 + values2) * 0.5;
    let n = values.len();
    let (mut best, mut worst) = (f64::INFINITY, 0.0f64);
    for signs in 0..1u32 << n {
        let mut V = DMatrix::from_fn(n, n, |i, k| {
            let sign = if signs >> k & 1 == 0 { 1.0 } else { -1.0 };
            0.5 * (V1[(i, k)] + sign * V2[(i, k)])
        });
        for mut column in V.column_iter_mut() {
            column /= column.norm().max(f64::MIN_POSITIVE);
        }
        let error = off(&(&V * DMatrix::from_diagonal(&values) * V.transpose()));
        (best, worst) = (best.min(error), worst.max(error));
    }
    Ok(Finding {
        place: "[A] Algorithm 3",
        claim: "Eigenvectors of the models are blended. Their signs mean nothing, and a blend of opposite ones is another direction: \
                they must be turned alike first, or compliances blended as they are, which needs no eigenvectors."
            .into(),
        shown: format!(
            "{NAME}, two models half and half against the one halfway: off by {} with the best choice of signs, {} with the worst, {} by the plain \
             mean of compliances.",
            percent(best),
            percent(worst),
            percent(linear)
        ),
        number: worst,
        meaning: "error of the blended compliance over its norm, with the worst choice of signs",
    })
}
