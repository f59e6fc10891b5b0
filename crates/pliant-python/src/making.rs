//! Simulations of a mechanism, as `pliant simulate` makes them.

use std::sync::Mutex;

use pliant::Moving;
use pliant::contact::Scene;
use pliant::engine::{self, Inputs, Warning};
use pliant::engines::Engine;
use pliant::linear::Linearisation;
use pliant::mechanism::Mechanism as Inner;
use pliant::nalgebra::DMatrix;
use pliant::reduced::{self, Reduction};
use pliant::shared::{choosing, watch};
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
        let named = match choice.engine {
            "auto" => None,
            name => Some(name.parse::<Engine>().map_err(|error| input(format!("engine: {error}")))?),
        };
        let loads = loads(given)?;
        let (mechanism, warnings) = setup.of(&source.inner, &loads)?;
        let inputs = inputs(&mechanism, &loads, gravity, scene_loads)?;
        let touches = choice.contact && mechanism.has_contact();
        let surfaces = if touches { Some(source.surfaces(py, &mechanism)?) } else { None };
        let apart = touches.then(|| mechanism.take_apart());
        let held = apart.as_ref().map_or(Some(&mechanism), |apart| apart.held.as_ref());
        let (engine, why) = match named {
            Some(engine) => (engine, None),
            None => {
                let (engine, why) = choosing::choose(held);
                (engine, Some(why))
            }
        };
        if choice.modes.is_some() && !matches!(engine, Engine::Linear | Engine::Reduced) {
            return Err(input(format!(
                "modes is for the engines `reduced` and `linear`, but this is `{}`: leave it out, or change engine",
                engine.name()
            )));
        }
        if touches && engine == Engine::Blended {
            return Err(input(
                "the engine `blended` does not support contact: use `reduced`, `articulated` or `full`, or contact=False",
            ));
        }
        let acts = Some(&inputs).filter(|_| !touches && (!loads.is_empty() || scene_loads));
        let (mut moving, left_out) = py.detach(|| {
            let made = held.map(|held| engine_of(engine, held, &choice, acts)).transpose()?;
            let (held, left_out) = made.unzip();
            let moving = match (&apart, surfaces, held) {
                (Some(apart), Some(surfaces), held) => {
                    let scene = Scene::of(&mechanism, apart.clone(), surfaces, held).map_err(input)?;
                    scene
                        .check_start()
                        .map_err(|error| input(format!("{error}; contact=False runs without contact")))?;
                    scene.into()
                }
                (_, _, Some(simulation)) => Moving::from(simulation),
                _ => return Err(input("the mechanism has nothing that moves")),
            };
            Ok::<_, PyErr>((moving, left_out.flatten()))
        })?;
        moving.simulation().inputs_mut().clone_from(&inputs);
        moving.simulation().inputs_mut().follow_targets(0.0);
        warn_of(py, &warnings)?;
        warn_of(py, left_out.as_slice())?;
        let (whole, engine) = (source.with(mechanism.clone()), moving.simulation().engine());
        Ok(Simulation { moving: Mutex::new(moving), mechanism, whole, engine, why, warned: Mutex::default() })
    })
}

/// The simulation of what joints hold together, and what a linear model leaves out under what acts.
fn engine_of(
    engine: Engine,
    held: &Inner,
    choice: &Choice<'_>,
    acts: Option<&Inputs>,
) -> PyResult<(Box<dyn engine::Simulation>, Option<Warning>)> {
    let simulation: Box<dyn engine::Simulation> = match engine {
        Engine::Linear => {
            let linearisation = Linearisation::at_rest(held).modes(choice.modes.unwrap_or(0));
            let model = linearisation.build().map_err(input)?;
            let left_out = acts.and_then(|inputs| watch::prestress(&model, inputs));
            return Ok((model.simulate().into(), left_out));
        }
        // Coordinates are the same without loose bodies.
        Engine::Reduced if let Some(motions) = choice.motions => {
            reduced::Model::from_columns(held, motions).map_err(input)?.simulate().into()
        }
        Engine::Reduced => {
            let mut reduction = Reduction::at_rest(held);
            if let Some(inputs) = acts {
                reduction = reduction.unloaded().under(inputs);
            }
            if let Some(modes) = choice.modes {
                reduction = reduction.modes(modes);
            }
            reduction.build().map_err(input)?.simulate().into()
        }
        Engine::Full | Engine::Articulated | Engine::Blended => engine.simulate(held).map_err(input)?,
    };
    Ok((simulation, None))
}
