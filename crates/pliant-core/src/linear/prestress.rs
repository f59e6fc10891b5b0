//! How far dead loads change the stiffness that a linear model has, before anything moves far: a column under half its
//! buckling load is twice as soft as one without.
//!
//! K_g is the geometric stiffness of the forces that hold small loads at the reference, over how small they are. Loads of
//! the size that acts make the stiffness K + K_g, so that along each motion it changes by the eigenvalues of CK_g: −1 is
//! buckling.

use nalgebra::DMatrix;

use super::linearisation::Linearisation;
use super::model::Model;
use super::segments::Segments;
use crate::algebra::dense::eigen;
use crate::engine::{Inputs, Simulation as _, StaticsSettings};
use crate::full;
use crate::mechanism::Mechanism;

/// How small loads are, the next where a mechanism is too soft for the one before; and Newton's iterations for each.
const PARTS: [f64; 3] = [1e-4, 1e-6, 1e-8];
const ITERATIONS: usize = 6;

/// How much of K_g is added for a difference: the square is left.
const SMALL: f64 = 1e-4;

/// Motions that are stiffer than this part of the softest are left out: differences have eight digits.
const STIFF: f64 = 1e-4;

impl Model {
    /// The largest part by which the loads and the gravity of these inputs change the stiffness of a motion of the effectors
    /// where the model was made: at 1, that is buckling or twice as stiff. For small motions a linear model is off by about
    /// as much. `None` where that has no answer, as on a free base.
    ///
    /// ```
    /// use pliant_core::{engine::Inputs, gallery, linear::Linearisation, spatial::Wrench};
    ///
    /// let mechanism = gallery::two_link(); // along x
    /// let tip = mechanism.find_effector("tip").ok_or("no tip")?;
    /// let model = Linearisation::at_rest(&mechanism).build()?;
    /// let mut inputs = Inputs::new(&mechanism);
    /// inputs.set_load(tip, Wrench::force([-10.0, 0.0, 0.0]))?;
    /// let one = model.prestress(&inputs).ok_or("no answer")?;
    /// inputs.set_load(tip, Wrench::force([-20.0, 0.0, 0.0]))?;
    /// let two = model.prestress(&inputs).ok_or("no answer")?;
    /// assert!(one > 0.0 && (two / one - 2.0).abs() < 1e-3); // in proportion to the load
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn prestress(&self, inputs: &Inputs) -> Option<f64> {
        let reference = &self.constants.reference;
        if reference.loads.is_some() {
            return None;
        }
        let effectors = self.constants.projection.effectors().iter().map(|e| e.name.clone());
        let project = |reference| {
            let reduction = Linearisation::at(reference).effectors(effectors.clone());
            Some(reduction.project().ok()?.compliance().clone())
        };
        let mut loaded = reference.clone();
        let blocks = |part: f64| geometric(&reference.mechanism, inputs, part);
        let without = blocks(0.0)?;
        let (part, with) = PARTS.into_iter().find_map(|part| Some((part, blocks(part)?)))?;
        let added = with.into_iter().chain(without.into_iter().map(|(a, b, K)| (a, b, -K)));
        loaded.geometric.extend(added.map(|(a, b, K)| (a, b, K * (SMALL / part))));
        let (C, changed) = (project(reference.clone())?, project(loaded)?);
        let length = |i: usize| if i % 6 < 3 { reference.radius } else { 1.0 };
        let scaled = |A: DMatrix<f64>| {
            DMatrix::from_fn(A.nrows(), A.ncols(), |i, k| A[(i, k)] / (length(i) * length(k)))
        };
        // −CK_gC, and by the eigenvectors of C its eigenvalues over those of C.
        let (C, change) = (scaled(C.clone()), scaled((changed - C) / SMALL));
        let softness = eigen::sorted(C);
        let top = *softness.eigenvalues.iter().next()?;
        let soft: Vec<usize> =
            (0..softness.eigenvalues.len()).filter(|&i| softness.eigenvalues[i] > STIFF * top).collect();
        let U = softness.eigenvectors.select_columns(&soft);
        let root = |i: usize| softness.eigenvalues[soft[i]].sqrt();
        let relative = U.transpose() * change * &U;
        let relative = DMatrix::from_fn(soft.len(), soft.len(), |i, k| {
            0.5 * (relative[(i, k)] + relative[(k, i)]) / (root(i) * root(k))
        });
        Some(eigen::sorted(relative).eigenvalues.amax())
    }
}

type Blocks = Vec<(usize, usize, nalgebra::Matrix6<f64>)>;

/// Geometric stiffness at the equilibrium under a part of the loads.
fn geometric(mechanism: &Mechanism, inputs: &Inputs, part: f64) -> Option<Blocks> {
    let mut simulation = full::Model::new(mechanism).simulate();
    let own = simulation.inputs_mut();
    own.clone_from(inputs);
    own.gravity *= part;
    own.effector_loads.iter_mut().chain(&mut own.body_loads).for_each(|load| *load = *load * part);
    let settings = StaticsSettings { iterations: ITERATIONS, halvings: 0, ..StaticsSettings::default() };
    simulation.settle(&settings).ok().filter(|found| found.converged)?;
    let whole = Segments::whole(mechanism);
    Some(full::geometric_stiffness(&mut simulation, &whole.base_of_node))
}
