//! Equilibria on the motions and of the mechanism, as many as may be searched for, and how far they are apart.

use super::{Doing, Search, Spent};
use crate::engine::{Simulation as _, State, StaticsSettings};
use crate::reduced::simulation::Simulation;
use crate::spatial::Wrench;

/// Newton iterations of an equilibrium on the motions.
const ITERATIONS: usize = 40;

/// The part of the equilibria that is for choosing motions; the rest shows their error.
const CHOOSING: f64 = 0.75;

impl Search<'_> {
    /// Before an equilibrium is searched for.
    pub(super) fn count(&mut self) -> Result<(), Spent> {
        (self.progress)(self.now);
        let part = if self.now.doing == Doing::Testing { 1.0 } else { CHOOSING };
        if self.now.searched as f64 >= part * self.sampling.most_equilibria as f64 {
            return Err(Spent);
        }
        self.now.searched += 1;
        Ok(())
    }

    /// The equilibrium on the motions, from the nearest that they have to a state.
    pub(super) fn rest_from(&mut self, from: &State, loads: &[Wrench]) -> Result<Option<State>, Spent> {
        self.count()?;
        let mut simulation = self.model.simulate();
        let mut from = from.clone();
        from.private.clear(); // of other motions
        simulation.set_state(&from).expect("it is a state of this mechanism");
        Ok(settle(&mut simulation, loads))
    }

    /// The same, or from the start.
    pub(super) fn rest_on_motions(&mut self, from: &State, loads: &[Wrench]) -> Result<Option<State>, Spent> {
        if let Some(state) = self.rest_from(from, loads)? {
            return Ok(Some(state));
        }
        self.count()?;
        Ok(settle(&mut self.model.simulate(), loads))
    }

    /// The equilibrium of the mechanism under loads, from a state.
    pub(super) fn rest_of_mechanism(
        &mut self,
        from: &State,
        loads: &[Wrench],
    ) -> Result<Option<State>, Spent> {
        self.count()?;
        let mut simulation = self.full.simulate();
        let mut from = from.clone();
        from.private.clear();
        if simulation.set_state(&from).is_err() {
            return Ok(None);
        }
        simulation.inputs_mut().effector_loads.copy_from_slice(loads);
        let found = simulation.settle(&StaticsSettings::default());
        Ok(found.is_ok_and(|found| found.converged).then(|| simulation.state().clone()))
    }

    /// How far links and effectors of two states are apart at most, in radii.
    pub(super) fn apart(&self, a: &State, b: &State) -> f64 {
        let links = a.poses.iter().zip(&b.poses).map(|(a, b)| (a.position - b.position).norm());
        let effectors = self.mechanism.effectors().iter().map(|e| {
            let [a, b] = [a, b].map(|state| (state.poses[e.body.index()] * e.frame).position);
            (a - b).norm()
        });
        links.chain(effectors).fold(0.0, f64::max) / self.radius
    }

    /// The largest displacement of an effector from rest, in radii.
    pub(super) fn displacement(&self, state: &State) -> f64 {
        let moved = self.mechanism.effectors().iter().map(|e| {
            let [a, b] = [state, &self.rest].map(|state| (state.poses[e.body.index()] * e.frame).position);
            (a - b).norm()
        });
        moved.fold(0.0, f64::max) / self.radius
    }
}

/// The equilibrium under loads.
fn settle(simulation: &mut Simulation, loads: &[Wrench]) -> Option<State> {
    simulation.inputs_mut().effector_loads.copy_from_slice(loads);
    let settings = StaticsSettings { iterations: ITERATIONS, ..StaticsSettings::default() };
    let found = simulation.settle(&settings);
    found.is_ok_and(|found| found.converged).then(|| simulation.state().clone())
}
