//! The models that are compared, made once; and the simulations of them that measurements start from.

use std::ops::ControlFlow;

use pliant::blended::{self, Doing, Options, Progress, Sampling};
use pliant::engine::{Simulation, State};
use pliant::engines::Engine;
use pliant::io::ModelFile;
use pliant::mechanism::Mechanism;
use pliant::reduced;

use crate::blending::Clock;

/// Random loads that a model of the comparison's own is trained on at first, and tested with; equilibria that are
/// searched for it at most, so that it is the same on every machine; and seconds that it may take all the same.
const LOADS: usize = 12;
const EQUILIBRIA: usize = 60;
const SECONDS: f64 = 6.0;

/// What there is of a mechanism, or why there is none.
pub struct Models {
    pub mechanism: Mechanism,
    pub reduced: Result<reduced::Model, String>,
    pub blended: Result<blended::Model, String>,
}

impl Models {
    /// A simulation at the file's pose, or as near as the model can come, under the scene's loads.
    pub fn simulate(&self, engine: Engine) -> Result<Box<dyn Simulation>, String> {
        let mut simulation: Box<dyn Simulation> = match engine {
            Engine::Reduced => self.reduced.clone()?.simulate().into(),
            Engine::Blended => self.start(self.blended.clone()?)?,
            _ => engine.simulate(&self.mechanism).map_err(|error| error.to_string())?,
        };
        simulation.inputs_mut().add_scene_loads();
        Ok(simulation)
    }

    fn start(&self, model: blended::Model) -> Result<Box<dyn Simulation>, String> {
        let mut simulation = model.simulate();
        simulation.set_state(&State::at_rest(&self.mechanism)).map_err(|error| error.to_string())?;
        Ok(simulation.into())
    }
}

/// What there is to know of the blended model.
pub struct BlendedModel {
    pub models: usize,
    pub of_file: bool,
    /// Error under loads that nothing was trained on, over the radius; and how many loads these were.
    pub held_out: Option<(f64, usize)>,
    /// Error that was asked for, over the radius, and the displacement up to which.
    pub asked: Option<(f64, f64)>,
}

/// The blended model of a file, or one made in a moment under random loads; or why there is none.
pub fn blended_model(
    mechanism: &Mechanism,
    file: Option<&ModelFile>,
    tick: &mut dyn FnMut(),
) -> Result<(blended::Model, BlendedModel), String> {
    let (model, report) = match file {
        Some(file) => (file.model().map_err(|error| error.to_string())?, file.report.clone()),
        None => {
            let sampling = Sampling { loads: LOADS, ..Sampling::default() };
            let clock = Clock::new(SECONDS);
            let told = |progress: Progress| {
                if progress.searched.is_multiple_of(EQUILIBRIA / 20) {
                    tick();
                }
                // Checking goes on: it is what tells the error.
                match progress.searched < EQUILIBRIA || progress.doing == Doing::Checking {
                    true => clock.allows(&progress),
                    false => ControlFlow::Break(()),
                }
            };
            let made = sampling.run(mechanism, Options::default(), told);
            let (model, outcome) = made.map_err(|error| error.to_string())?;
            (model, Some((sampling, outcome)))
        }
    };
    let about = BlendedModel {
        models: model.samples().len(),
        of_file: file.is_some(),
        held_out: report.as_ref().map(|(_, o)| (o.held_out, o.tested)).filter(|(error, _)| error.is_finite()),
        asked: report.map(|(sampling, _)| (sampling.max_error, sampling.displacement)),
    };
    Ok((model, about))
}
