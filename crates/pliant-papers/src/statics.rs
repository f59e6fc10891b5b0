//! Where mechanisms settle in full under parts of the scene's load: what models are measured against.

use pliant::engine::{Simulation, State, StaticsSettings};
use pliant::full;
use pliant::linear;
use pliant::mechanism::Mechanism;
use pliant::spatial::Wrench;

/// Halvings in the search for a load.
const HALVINGS: usize = 30;

/// `size` times the scene's loads, by effector.
pub fn loads(mechanism: &Mechanism, size: f64) -> Vec<Wrench> {
    let mut loads = vec![Wrench::ZERO; mechanism.effectors().len()];
    for load in mechanism.loads() {
        loads[load.effector.index()] = loads[load.effector.index()] + load.wrench * size;
    }
    loads
}

/// Puts `size` times the scene's loads on a simulation.
pub fn load(simulation: &mut dyn Simulation, size: f64) {
    let mechanism = simulation.mechanism().clone();
    for (effector, load) in mechanism.effector_ids().zip(loads(&mechanism, size)) {
        simulation.set_load(effector, load).expect("a finite load on an effector of its own");
    }
}

/// Settles a simulation under `size` times the scene's loads; whether it converged.
pub fn settle(simulation: &mut dyn Simulation, size: f64) -> bool {
    let loads = loads(simulation.mechanism(), size);
    settle_under(simulation, &loads)
}

/// The equilibrium of the full statics under these loads on the effectors, if one is found.
pub fn settled_under(model: &full::Model, loads: &[Wrench]) -> Option<State> {
    let mut simulation = model.simulate();
    settle_under(&mut simulation, loads).then(|| simulation.state().clone())
}

/// Settles a simulation under these loads on its effectors; whether it converged.
pub fn settle_under(simulation: &mut dyn Simulation, loads: &[Wrench]) -> bool {
    let mechanism = simulation.mechanism().clone();
    for (effector, load) in mechanism.effector_ids().zip(loads) {
        simulation.set_load(effector, *load).expect("a finite load on an effector of its own");
    }
    simulation.settle(&StaticsSettings::default()).is_ok_and(|found| found.converged)
}

/// The equilibrium of the full statics under `size` times the scene's loads, if one is found.
pub fn settled(model: &full::Model, size: f64) -> Option<State> {
    let mut simulation = model.simulate();
    settle(&mut simulation, size).then(|| simulation.state().clone())
}

/// How many times the scene's loads move the effector that goes furthest by so many radii.
pub fn size_for(model: &full::Model, displacement: f64) -> f64 {
    let rest = State::at_rest(model.mechanism());
    let (mut low, mut high) = (0.0, 1.0);
    let reaches = |size: f64| {
        let moved = settled(model, size).map(|state| apart(model.mechanism(), &state, &rest));
        moved.is_none_or(|moved| moved >= displacement)
    };
    while !reaches(high) && high < 1e4 {
        (low, high) = (high, 2.0 * high);
    }
    for _ in 0..HALVINGS {
        let middle = 0.5 * (low + high);
        if reaches(middle) { high = middle } else { low = middle }
    }
    low
}

/// The largest distance between the effectors of two states, over the radius.
pub fn apart(mechanism: &Mechanism, a: &State, b: &State) -> f64 {
    let distances = mechanism.effectors().iter().map(|e| {
        let at = |state: &State| (state.poses[e.body.index()] * e.frame).position;
        (at(a) - at(b)).norm()
    });
    distances.fold(0.0, f64::max) / mechanism.radius()
}

/// How far the effectors of a simulation are from those of a state, over the radius.
pub fn error_of(simulation: &dyn Simulation, truth: &State) -> f64 {
    let mechanism = simulation.mechanism();
    let distances = mechanism.effector_ids().zip(mechanism.effectors()).map(|(id, e)| {
        let own = simulation.effector_pose(id).expect("an effector of its own");
        (own.position - (truth.poses[e.body.index()] * e.frame).position).norm()
    });
    distances.fold(0.0, f64::max) / mechanism.radius()
}

/// How far the effectors of a linear model are from those of a state, over the radius, where it comes to rest under `size`
/// times the scene's loads; `None` if it does not.
pub fn error_of_linear(model: &linear::Model, size: f64, truth: &State) -> Option<f64> {
    let mut simulation = model.simulate();
    settle(&mut simulation, size).then(|| error_of(&simulation, truth))
}
