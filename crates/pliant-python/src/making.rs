//! Simulations of a mechanism, as `pliant simulate` makes them.

use std::sync::Mutex;

use pliant::Moving;
use pliant::contact::Scene;
use pliant::engines::{Engine, EngineError, Modes, Options};
use pliant::nalgebra::DMatrix;
use pliant::shared::choosing::Named;
use pliant::shared::watch;
use pyo3::prelude::*;

use crate::errors::{guarded, input, warn_of};
use crate::mechanism::Mechanism;
use crate::setup::{ByName, Setup, inputs, loads};
use crate::simulation::Simulation;

/// How a simulation is made.
pub struct Choice<'a> {
    pub engine: &'a str,
    pub contact: bool,
    pub modes: Option<usize>,
    /// Those of a model, which "reduced" takes.
    pub motions: Option<&'a DMatrix<f64>>,
}

/// A simulation of a mechanism so set up, as `pliant simulate` makes it.
pub fn simulate(
    py: Python<'_>,
    source: &Mechanism,
    setup: &Setup<'_, '_>,
    choice: Choice<'_>,
    given: ByName<'_, '_>,
    gravity: Option<&Bound<'_, PyAny>>,
    scene_loads: bool,
) -> PyResult<Simulation> {
    guarded(|| {
        let named: Named = choice.engine.parse().map_err(|error| input(format!("engine: {error}")))?;
        let loads = loads(given)?;
        let (mechanism, warnings) = setup.of(&source.inner, &loads)?;
        let inputs = inputs(&mechanism, &loads, gravity, scene_loads)?;
        let touches = choice.contact && mechanism.has_contact();
        let surfaces = if touches { Some(source.surfaces(py, &mechanism)?) } else { None };
        let apart = touches.then(|| mechanism.take_apart());
        let held = apart.as_ref().map_or(Some(&mechanism), |apart| apart.held.as_ref());
        let (engine, why) = named.choose(held, false);
        if choice.modes.is_some() && !matches!(engine, Engine::Linear | Engine::Reduced) {
            return Err(input(format!(
                "modes is for the engines `reduced` and `linear`, but this is `{}`: leave it out, or change engine",
                engine.name()
            )));
        }
        let options = Options {
            modes: choice.modes.map(Modes::Count),
            motions: choice.motions,
            touches,
            acts: Some(&inputs).filter(|_| !touches && (!loads.is_empty() || scene_loads)),
            ..Options::default()
        };
        let unmodelled = |error: EngineError| match error {
            EngineError::Contact(error) => input(format!("{error}; contact=False runs without contact")),
            error => input(error),
        };
        let (mut moving, left_out) = py.detach(|| {
            let model = held.map(|held| engine.model(held, &options)).transpose().map_err(unmodelled)?;
            let left_out = model.as_ref().map(|model| watch::left_out(model, options.dt, options.acts));
            let held = model.map(|model| model.simulate());
            let moving = match (&apart, surfaces, held) {
                (Some(apart), Some(surfaces), held) => {
                    let scene = Scene::of(&mechanism, apart.clone(), surfaces, held).map_err(input)?;
                    scene.check_start().map_err(|error| unmodelled(error.into()))?;
                    scene.into()
                }
                (_, _, Some(simulation)) => Moving::from(simulation),
                _ => return Err(input("the mechanism has nothing that moves")),
            };
            Ok::<_, PyErr>((moving, left_out.unwrap_or_default()))
        })?;
        moving.simulation().inputs_mut().clone_from(&inputs);
        moving.simulation().inputs_mut().follow_targets(0.0);
        warn_of(py, &warnings)?;
        warn_of(py, &left_out)?;
        let (whole, engine) = (source.with(mechanism.clone()), moving.simulation().engine());
        Ok(Simulation { moving: Mutex::new(moving), mechanism, whole, engine, why, warned: Mutex::default() })
    })
}
