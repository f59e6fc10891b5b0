//! How long a step takes here, and how long building a model does.

use std::time::Instant;

use pliant::engine::Simulation;
use pliant::engines::Engine;
use pliant::full;
use pliant::linear::{Linearisation, Model, ReductionError};

use super::DEFAULT;
use super::models::Models;
use crate::choices::RECONSTRUCTIONS;
use crate::timing::Pace;

/// Figures of this machine, µs.
pub struct Speed {
    /// Length of a step, s.
    pub dt: f64,
    /// Median steps with every link placed; `None` where there is no model, or a step fails.
    engines: Vec<(Engine, Option<f64>)>,
    /// Those of the linear model, by reconstruction.
    pub linear: [Option<f64>; 3],
    /// Median step of the linear one, effectors only.
    pub effectors: Option<f64>,
    pub build_full: f64,
    pub build_linear: f64,
}

impl Speed {
    /// The median step of an engine, with its defaults.
    pub fn of(&self, engine: Engine) -> Option<f64> {
        match engine {
            Engine::Linear => self.linear[DEFAULT],
            _ => self.engines.iter().find(|(other, _)| *other == engine).and_then(|(_, us)| *us),
        }
    }

    /// The fastest engine with every freedom, which others are to be measured against, and its median step.
    pub fn exact(&self) -> Option<(Engine, f64)> {
        let exact = [Engine::Articulated, Engine::Full].into_iter();
        exact.filter_map(|engine| Some((engine, self.of(engine)?))).min_by(|a, b| a.1.total_cmp(&b.1))
    }

    /// How many times as fast as that a step is.
    pub fn gain(&self, us: f64) -> Option<f64> {
        self.exact().map(|(_, exact)| exact / us)
    }
}

/// Times everything, under the scene's loads.
pub fn measure(
    models: &Models,
    model: &Model,
    dt: f64,
    tick: &mut dyn FnMut(),
) -> Result<Speed, ReductionError> {
    let start = Instant::now();
    std::hint::black_box(full::Model::new(&models.mechanism));
    let build_full = start.elapsed().as_secs_f64() * 1e6;
    let start = Instant::now();
    std::hint::black_box(Linearisation::at_rest(&models.mechanism).build()?);
    let build_linear = start.elapsed().as_secs_f64() * 1e6;

    let time = |mut simulation: Box<dyn Simulation>| Pace::BRIEF.median(|| simulation.step(dt)).ok();
    let whole = Engine::ALL.into_iter().filter(|engine| *engine != Engine::Linear);
    let engines = whole.map(|engine| {
        tick();
        let simulation = models.simulate(engine).ok();
        (engine, simulation.and_then(time))
    });
    let engines = engines.collect();
    let mut simulation = model.simulate();
    simulation.inputs_mut().add_scene_loads();
    let linear = RECONSTRUCTIONS.map(|(_, reconstruction)| {
        simulation.set_reconstruction(reconstruction);
        tick();
        Pace::BRIEF.median(|| simulation.step(dt)).ok()
    });
    let effectors = Pace::BRIEF.median(|| simulation.step_effectors(dt)).ok();
    Ok(Speed { dt, engines, linear, effectors, build_full, build_linear })
}
