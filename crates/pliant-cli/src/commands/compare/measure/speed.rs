//! How long a step takes here, and how long building a model does.

use std::time::{Duration, Instant};

use pliant::engine::{Simulation, StepError};
use pliant::engines::Engine;
use pliant::full;
use pliant::reduced::{Model, Reduction, ReductionError};

use super::DEFAULT;
use super::models::Models;
use crate::choices::RECONSTRUCTIONS;
use crate::timing::Timings;

/// Least number of timed blocks, and least time, of one figure.
const LEAST: (usize, Duration) = (30, Duration::from_millis(150));

/// Least length of a timed block: the clock itself takes some 30 ns.
const BLOCK: Duration = Duration::from_micros(20);

/// Figures of this machine, µs.
pub struct Speed {
    /// Length of a step, s.
    pub dt: f64,
    /// Median steps with every link placed; `None` where there is no model, or a step fails.
    engines: Vec<(Engine, Option<f64>)>,
    /// Those of the reduced model, by reconstruction.
    pub reduced: [Option<f64>; 3],
    /// Median step of the reduced one, effectors only.
    pub effectors: Option<f64>,
    /// Building the full model.
    pub build_full: f64,
    /// Building the reduced model.
    pub build_reduced: f64,
}

impl Speed {
    /// The median step of an engine, with its defaults.
    pub fn of(&self, engine: Engine) -> Option<f64> {
        match engine {
            Engine::Reduced => self.reduced[DEFAULT],
            _ => self.engines.iter().find(|(other, _)| *other == engine).and_then(|(_, us)| *us),
        }
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
    std::hint::black_box(Reduction::at_rest(&models.mechanism).build()?);
    let build_reduced = start.elapsed().as_secs_f64() * 1e6;

    let whole = Engine::ALL.into_iter().filter(|engine| *engine != Engine::Reduced);
    let engines = whole.map(|engine| {
        tick();
        let simulation = models.simulate(engine).ok();
        (engine, simulation.and_then(|mut simulation| median(|| simulation.step(dt))))
    });
    let engines = engines.collect();
    let mut simulation = model.simulate();
    simulation.inputs_mut().add_scene_loads();
    let reduced = RECONSTRUCTIONS.map(|(_, reconstruction)| {
        simulation.set_reconstruction(reconstruction);
        tick();
        median(|| simulation.step(dt))
    });
    let effectors = median(|| simulation.step_effectors(dt));
    Ok(Speed { dt, engines, reduced, effectors, build_full, build_reduced })
}

/// The median time of a step, µs; `None` if one fails.
fn median(mut step: impl FnMut() -> Result<(), StepError>) -> Option<f64> {
    // Warm up, and see how many steps make a block.
    let mut block = 1u32;
    loop {
        let start = Instant::now();
        for _ in 0..block {
            step().ok()?;
        }
        if start.elapsed() >= BLOCK {
            break;
        }
        block *= 2;
    }
    let mut timings = Timings::default();
    let (mut blocks, started) = (0, Instant::now());
    while blocks < LEAST.0 || started.elapsed() < LEAST.1 {
        let start = Instant::now();
        for _ in 0..block {
            step().ok()?;
        }
        timings.push(start.elapsed());
        blocks += 1;
    }
    timings.percentiles([0.5]).map(|[median]| median / f64::from(block))
}
