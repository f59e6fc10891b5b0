//! Where mechanisms settle in full under parts of the scene's load: what models are measured against.

use pliant::full::{self, StaticsSettings};
use pliant::mechanism::{EffectorId, Mechanism};
use pliant::reduced;
use pliant::spatial::Wrench;
use pliant::state::State;

use pliant_cli::rest::settle;

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

/// Effectors of a mechanism with their loads.
pub fn each(loads: &[Wrench]) -> impl Iterator<Item = (EffectorId, Wrench)> + '_ {
    loads.iter().enumerate().map(|(e, load)| (EffectorId::from_index(e), *load))
}

/// The equilibrium of the full statics under `size` times the scene's loads, if one is found.
pub fn settled(model: &full::Model, size: f64) -> Option<State> {
    let mut simulation = model.simulate();
    for (effector, load) in each(&loads(model.mechanism(), size)) {
        simulation.set_load(effector, load).ok()?;
    }
    let found = simulation.settle(&StaticsSettings::default()).ok()?;
    found.converged.then(|| simulation.state().clone())
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
    let of = |state: &State, e: usize| state.effector_pose(mechanism, EffectorId::from_index(e)).position;
    let distances = (0..mechanism.effectors().len()).map(|e| (of(a, e) - of(b, e)).norm());
    distances.fold(0.0, f64::max) / mechanism.radius()
}

/// How far the effectors of a reduced model are from those of a state, over the radius, where it comes to rest under `size`
/// times the scene's loads; `None` if it does not.
pub fn error_of_reduced(model: &reduced::Model, size: f64, truth: &State) -> Option<f64> {
    let mechanism = model.mechanism();
    let mut simulation = model.simulate();
    for (effector, load) in each(&loads(mechanism, size)) {
        simulation.set_load(effector, load).ok()?;
    }
    let period = model.full_frequencies(1).ok()?.first().map(|w| std::f64::consts::TAU / w);
    if !settle(&mut simulation, period, mechanism.radius()) {
        return None;
    }
    let distance = |e: EffectorId| {
        (simulation.effector_pose(e).position - truth.effector_pose(mechanism, e).position).norm()
    };
    let effectors = (0..mechanism.effectors().len()).map(EffectorId::from_index);
    Some(effectors.map(distance).fold(0.0, f64::max) / mechanism.radius())
}
