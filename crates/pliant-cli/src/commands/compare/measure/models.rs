//! The models that are compared, made once; and the simulations of them that measurements start from.

use std::ops::ControlFlow;

use pliant::blended::{self, Doing, Progress, Sampling};
use pliant::engine::Simulation;
use pliant::engines::{Engine, Model, Options};
use pliant::mechanism::Mechanism;
use pliant::{linear, reduced};

use crate::blending::Clock;

/// Random loads that a model of the comparison's own is trained on at first, and tested with; equilibria that are
/// searched for it at most, so that it is the same on every machine; and seconds that it may take all the same.
const LOADS: usize = 12;
const EQUILIBRIA: usize = 60;
const SECONDS: f64 = 6.0;

/// What there is of a mechanism, or why there is none.
pub struct Models {
    pub mechanism: Mechanism,
    pub linear: linear::Model,
    pub blended: Result<blended::Model, String>,
    /// Those of a model file.
    pub reduced: Option<reduced::Model>,
}

impl Models {
    /// A simulation at the file's pose, or as near as the model can come, under the scene's loads.
    pub fn simulate(&self, engine: Engine) -> Result<Box<dyn Simulation>, String> {
        let model = match engine {
            Engine::Linear => Model::Linear(self.linear.clone()),
            Engine::Blended => Model::Blended(self.blended.clone()?),
            Engine::OF_MODEL_FILES if let Some(model) = &self.reduced => Model::Reduced(model.clone()),
            _ => engine.model(&self.mechanism, &Options::default()).map_err(|error| error.to_string())?,
        };
        let mut simulation = model.simulate();
        simulation.inputs_mut().add_scene_loads();
        Ok(simulation)
    }
}

/// What there is to know of the blended model.
pub struct BlendedModel {
    pub models: usize,
    /// Error under loads that nothing was trained on, over the radius; and how many loads these were.
    pub held_out: Option<(f64, usize)>,
    /// Error that was asked for, over the radius, and the displacement up to which.
    pub asked: Option<(f64, f64)>,
}

/// A blended model, made in a moment under random loads; or why there is none.
pub fn blended_model(
    mechanism: &Mechanism,
    tick: &mut dyn FnMut(),
) -> Result<(blended::Model, BlendedModel), String> {
    let sampling = Sampling { loads: LOADS, ..Sampling::default() };
    let clock = Clock::new(SECONDS);
    let told = |progress: Progress| {
        if progress.searched.is_multiple_of(EQUILIBRIA / 20) {
            tick();
        }
        // Checking goes on: it is what shows the error.
        match progress.searched < EQUILIBRIA || progress.doing == Doing::Checking {
            true => clock.allows(&progress),
            false => ControlFlow::Break(()),
        }
    };
    let made = sampling.run(mechanism, Default::default(), told);
    let (model, outcome) = made.map_err(|error| error.to_string())?;
    let about = BlendedModel {
        models: model.samples().len(),
        held_out: Some((outcome.held_out, outcome.tested)).filter(|(error, _)| error.is_finite()),
        asked: Some((sampling.max_error, sampling.displacement)),
    };
    Ok((model, about))
}
