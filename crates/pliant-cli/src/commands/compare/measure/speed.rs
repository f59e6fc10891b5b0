//! How long a step takes here, and how long building a model does.

use std::time::{Duration, Instant};

use pliant::articulated;
use pliant::blended;
use pliant::full::{self, StepError};
use pliant::live;
use pliant::mechanism::Mechanism;
use pliant::reduced::{Model, Reduction, ReductionError};

use super::RECONSTRUCTIONS;
use crate::commands::simulate::too_many_loops;
use crate::timing::Timings;

/// Least number of timed blocks, and least time, of one figure.
const LEAST: (usize, Duration) = (30, Duration::from_millis(150));

/// Least length of a timed block: the clock itself takes some 30 ns.
const BLOCK: Duration = Duration::from_micros(20);

/// Figures of this machine, µs.
pub struct Speed {
    /// Length of a step, s.
    pub dt: f64,
    /// Median step of the full simulation; `None` if it fails.
    pub full: Option<f64>,
    /// Median steps of the reduced one with all links rebuilt, by reconstruction.
    pub reduced: [Option<f64>; 3],
    /// Median step of the reduced one, effectors only.
    pub effectors: Option<f64>,
    /// Median step of the articulated engine, where it takes the mechanism.
    pub articulated: Option<f64>,
    /// Median steps of the live and the blended engine, where there are models.
    pub live: Option<f64>,
    pub blended: Option<f64>,
    /// Building the full model.
    pub build_full: f64,
    /// Building the reduced model.
    pub build_reduced: f64,
}

/// Times everything, under the scene's loads.
pub fn measure(
    mechanism: &Mechanism,
    model: &Model,
    blended: Option<&blended::Model>,
    dt: f64,
    tick: &mut dyn FnMut(),
) -> Result<Speed, ReductionError> {
    let start = Instant::now();
    let full_model = full::Model::new(mechanism);
    let build_full = start.elapsed().as_secs_f64() * 1e6;
    let start = Instant::now();
    std::hint::black_box(Reduction::at_rest(mechanism).build()?);
    let build_reduced = start.elapsed().as_secs_f64() * 1e6;

    let mut simulation = full_model.simulate();
    simulation.inputs_mut().add_scene_loads(mechanism);
    let full = median(|| simulation.step(dt));
    tick();
    let articulated = too_many_loops(mechanism).is_none().then(|| {
        let model = articulated::Model::new(mechanism);
        let mut simulation = model.simulate();
        simulation.inputs_mut().add_scene_loads(mechanism);
        median(|| simulation.step(dt))
    });
    tick();
    let mut simulation = model.simulate();
    simulation.inputs_mut().add_scene_loads(mechanism);
    let reduced = RECONSTRUCTIONS.map(|(reconstruction, _)| {
        simulation.set_reconstruction(reconstruction);
        tick();
        median(|| simulation.step(dt))
    });
    let effectors = median(|| simulation.step_effectors(dt));
    tick();
    let live = live::Model::new(mechanism).ok().and_then(|model| {
        let mut simulation = model.simulate();
        simulation.inputs_mut().add_scene_loads(mechanism);
        median(|| simulation.step(dt))
    });
    tick();
    let blended = blended.and_then(|model| {
        let mut simulation = model.simulate();
        simulation.inputs_mut().add_scene_loads(mechanism);
        median(|| simulation.step(dt))
    });
    let articulated = articulated.flatten();
    Ok(Speed { dt, full, articulated, reduced, effectors, live, blended, build_full, build_reduced })
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
