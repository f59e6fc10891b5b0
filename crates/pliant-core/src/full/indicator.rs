//! How far a pose is from an equilibrium that need not be known: one step of Newton's method on the exact statics.
//!
//! The step needs the forces μ in the joints, on which geometric stiffness depends, and a pose of another engine has none.
//! They are those of bodies that are let go there,
//!
//! ```text
//! [m Jᵀ; J 0] [δ; −μ] = [f; −C]
//! ```
//! with a pseudo-mass m so large that δ is small; then the step is that of the statics, with that μ. Its ratio to the true error
//! tends to one with the error, where a step without geometric stiffness (Gauss and Newton's) misses by a part that does not.

use nalgebra::Vector3;

use super::model::{Constants, Model};
use super::statics::{PSEUDO_MASS, Search, check_held};
use super::step::Workspace;
use crate::engine::{FOREIGN, Inputs, Simulation, State, StaticsError, StaticsSettings, Unsupported};

/// Solves for μ: each takes the rows' softness out of the one before.
const SOLVES: usize = 3;

/// [`Simulation::estimate`] of an engine that has no other.
pub(crate) fn estimate_by_full(simulation: &mut dyn Simulation) -> Result<f64, Unsupported> {
    let (engine, model) = (simulation.engine(), Model::new(simulation.mechanism()));
    if simulation.inputs().check(simulation.mechanism()).is_err() {
        return Err(Unsupported { engine, what: FOREIGN, engines: &[] });
    }
    model.distance_of(simulation).map_err(|_| Unsupported {
        engine,
        what: "estimate of its error with a free base that nothing holds",
        engines: &[],
    })
}

impl Model {
    /// Distance of the present pose of a simulation, of whichever engine, to the equilibrium under its present inputs: the
    /// longest way of a link or an effector in one Newton step of the statics, over the radius. An error where nothing holds a
    /// free base.
    fn distance_of(&self, simulation: &mut dyn Simulation) -> Result<f64, StaticsError> {
        let inputs = simulation.inputs().clone();
        // Of a linear model effectors are not on the links that the state has: what they are off counts.
        let ids = self.constants.mechanism.effector_ids();
        let effectors: Vec<Vector3<f64>> =
            ids.filter_map(|id| simulation.effector_pose(id).ok()).map(|pose| pose.position).collect();
        distance(
            &self.constants,
            &inputs,
            simulation.state(),
            &effectors,
            &mut Workspace::new(&self.constants),
        )
    }

    /// The same of a state of this mechanism, its effectors on the links.
    pub(crate) fn distance(&self, state: &State, inputs: &Inputs) -> Result<f64, StaticsError> {
        let effectors = self.constants.mechanism.effectors().iter();
        let effectors: Vec<Vector3<f64>> =
            effectors.map(|e| (state.poses[e.body.index()] * e.frame).position).collect();
        distance(&self.constants, inputs, state, &effectors, &mut Workspace::new(&self.constants))
    }
}

/// The longest way of a link in that step, or of an effector from where it is said to be, over the radius; infinite where there is
/// none. An error where nothing holds a free base.
fn distance(
    model: &Constants,
    inputs: &Inputs,
    state: &State,
    effectors: &[Vector3<f64>],
    work: &mut Workspace,
) -> Result<f64, StaticsError> {
    check_held(model, inputs)?;
    let settings = StaticsSettings::default();
    let search = Search::new(model, inputs, &settings);
    let mut at = state.clone();
    at.base = inputs.base;
    at.rates.fill(0.0);
    at.multipliers.fill(0.0);
    search.place(&mut at, work, 1.0);
    let [_, smallest, _] = PSEUDO_MASS.map(|m| m * search.augment[0] / search.inertia.0);
    let heavy = HEAVY * search.augment[0] / search.inertia.0;
    work.ahead.copy_from_slice(&at.coordinates);
    for _ in 0..SOLVES {
        search.solve(&at, work, heavy, 1.0);
        model.for_each_row(|row, unknown| at.multipliers[row] -= work.solution[unknown]);
    }
    search.place(&mut at, work, 1.0);
    search.solve_within_limits(&at, work, smallest, 1.0);
    if work.loads.iter().any(|load| load.wrench.torque != Vector3::zeros()) {
        search.make_exact(&at, work, 1.0);
    }
    let order = model.mechanism.order();
    let way = |body: crate::mechanism::BodyId, point: Vector3<f64>| {
        let Some(n) = order.node_of(body) else { return Vector3::zeros() };
        let x = &work.solution[model.nodes[n].unknown..];
        let (v, w) = (Vector3::new(x[0], x[1], x[2]), Vector3::new(x[3], x[4], x[5]));
        v + w.cross(&(point - work.frames[n].center))
    };
    let links = model.mechanism.body_ids().map(|b| way(b, state.poses[b.index()].position).norm());
    let effectors = model.mechanism.effectors().iter().zip(effectors).map(|(e, said)| {
        let place = (state.poses[e.body.index()] * e.frame).position;
        (place + way(e.body, place) - said).norm()
    });
    let longest = links.chain(effectors).fold(0.0f64, |most, way| {
        // What is not a number is no answer.
        if way.is_nan() { f64::INFINITY } else { most.max(way) }
    });
    Ok(longest / if model.radius > 0.0 { model.radius } else { 1.0 })
}

/// Pseudo-mass of bodies that are let go: what it is on the heaviest node, relative to the stiffness that stands for the
/// mechanism.
const HEAVY: f64 = 1.0;
