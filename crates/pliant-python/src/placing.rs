//! States from coordinates: poses and twists of all bodies as joint coordinates and rates make them.

use pliant::articulated::{Dynamics, Model};
use pliant::engine::State;
use pliant::engines::articulated_model;
use pliant::mechanism::Mechanism;
use pliant::nalgebra::Vector3;
use pliant::spatial::Twist;
use pyo3::prelude::*;

use crate::arrays;
use crate::errors::input;

/// Gaps that are rounding, in radii: what the mechanism's own start may have.
const CLOSED: f64 = 1e-9;

/// Makes states of coordinates and rates.
#[derive(Clone)]
pub struct Placing {
    dynamics: Dynamics,
    /// What else a state has.
    base: State,
}

impl Placing {
    /// Of a mechanism whose coordinates are all that its state has: without a free base.
    pub fn new(mechanism: &Mechanism) -> PyResult<(Model, Placing)> {
        let model = articulated_model(mechanism).map_err(input)?;
        let placing = Placing::of(&model)?;
        Ok((model, placing))
    }

    /// By a model that no step is taken of, so that it may have any number of loops.
    pub fn of(model: &Model) -> PyResult<Placing> {
        let mechanism = model.mechanism();
        if let Some(body) = mechanism.bodies().iter().find(|body| body.free) {
            return Err(input(format!(
                "joint positions do not say where the free body `{}` is: take states of a simulation (`save`), or hold it by a joint",
                body.name
            )));
        }
        Ok(Placing { dynamics: model.dynamics(), base: State::at_rest(mechanism) })
    }

    /// With the time, the base and what contact, friction and loops apply of another state.
    pub fn about(mut self, base: &State) -> Placing {
        self.base.clone_from(base);
        self.base.private.clear();
        self
    }

    /// The state with these coordinates and rates.
    pub fn state(&mut self, positions: &[f64], velocities: &[f64]) -> PyResult<&State> {
        self.base.coordinates.copy_from_slice(positions);
        self.base.rates.copy_from_slice(velocities);
        self.dynamics.set_state(&self.base, Twist::ZERO).map_err(input)?;
        Ok(self.dynamics.state())
    }

    /// The same, refused where it leaves loops open.
    pub fn closed_state(
        &mut self,
        mechanism: &Mechanism,
        positions: &[f64],
        velocities: &[f64],
    ) -> PyResult<&State> {
        let state = self.state(positions, velocities)?;
        let radius = if mechanism.radius() > 0.0 { mechanism.radius() } else { 1.0 };
        let mut worst: Option<(f64, &str)> = None;
        for joint in mechanism.joints() {
            let X = state.relative_pose(mechanism, joint);
            let q = joint.kind.coordinates(&X, &state.coordinates[joint.coordinates()]);
            let left = joint.kind.transform(&q.as_slice()[..joint.kind.freedoms()]).inverse_times(&X);
            let turned: Vector3<f64> = left.rotation.scaled_axis();
            let gap = (left.position.norm() / radius).max(turned.norm());
            if gap > worst.map_or(CLOSED, |(most, _)| most) {
                worst = Some((gap, &joint.name));
            }
        }
        match worst {
            None => Ok(state),
            Some((gap, joint)) => Err(input(format!(
                "positions: they leave the loop of joint `{joint}` open by {gap:.1e} radii or rad; `Mechanism.at` closes loops"
            ))),
        }
    }
}

/// Positions or velocities of all coordinates; those of the start, or zero, if none are given.
pub fn coordinates(argument: &str, value: Option<&Bound<'_, PyAny>>, default: &[f64]) -> PyResult<Vec<f64>> {
    let Some(value) = value.filter(|value| !value.is_none()) else { return Ok(default.to_vec()) };
    let found = arrays::numbers(argument, value)?;
    if found.shape != [default.len()] {
        return Err(input(format!(
            "{argument}: expected one number for each of {} coordinates, got the shape {}",
            default.len(),
            arrays::shape(&found.shape)
        )));
    }
    Ok(found.values)
}
