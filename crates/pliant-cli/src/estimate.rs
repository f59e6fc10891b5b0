//! How far a reduced model's pose is off, without the full statics.

use pliant::mechanism::EffectorId;
use pliant::spatial::Twist;
use pliant::{live, reduced};

/// The error of a reduced model's pose if it is meant to be at rest, over the radius: how far one Gauss–Newton step of
/// the live engine moves the links that the model's joint coordinates give, and how far the effectors, which the model
/// has where its linear motion takes them, are from these links.
pub fn of_reduced(simulation: &mut reduced::Simulation, live: &mut live::Simulation) -> Option<f64> {
    let mechanism = simulation.mechanism();
    let mut state = simulation.state().clone();
    state.rates.fill(0.0);
    state.twists.fill(Twist::ZERO);
    state.private.clear();
    live.set_state(&state).ok()?;
    live.inputs_mut().clone_from(simulation.inputs());
    let gaps = (0..mechanism.effectors().len())
        .map(EffectorId::from_index)
        .map(|e| (simulation.effector_pose(e).position - live.effector_pose(e).position).norm());
    let radius = if mechanism.radius() > 0.0 { mechanism.radius() } else { 1.0 };
    let gap = gaps.fold(0.0, f64::max) / radius;
    Some(gap + live.estimate())
}
