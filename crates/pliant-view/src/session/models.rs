//! Models of the engine `blended`: made where the mechanism is, by whatever engine it moves, and kept when another one goes on (Andrews 2015,
//! §8.1: switch to the full simulation, let it settle, add a model, switch back).

use pliant_core::blended;
use pliant_core::engines::Engine;

use super::Session;
use crate::running::Running;

/// Models of a blend, at most: every step weighs them all.
const MOST_MODELS: usize = 64;

impl Session {
    /// Number of models, the first one at rest included; 0 before there are any.
    pub(super) fn model_count(&self) -> usize {
        self.models.as_ref().map_or(0, |models| models.samples().len())
    }

    /// Keeps the models of the first blend that runs.
    pub(super) fn keep_models(&mut self) {
        if self.models.is_some() {
            return;
        }
        let ghost = self.ghost.as_ref().map(|(_, ghost)| ghost);
        for running in [Some(&self.running), ghost].into_iter().flatten() {
            if let Running::Blended(simulation) = running {
                self.models = Some(simulation.model());
                return;
            }
        }
    }

    /// One more model: where a blend's ghost is, and else where the mechanism is. A blend that runs fades it in.
    pub(super) fn add_model(&mut self) -> Result<(), String> {
        if self.loaded.touches() {
            return Err("the engine `blended` does not support contact, so there are no models to add".into());
        }
        if self.model_count() >= MOST_MODELS {
            return Err(format!("a blend has at most {MOST_MODELS} models here"));
        }
        let state = match (self.engine, &mut self.ghost) {
            (Engine::Blended, Some((_, ghost))) => ghost.simulation().state().clone(),
            _ => self.running.simulation().state().clone(),
        };
        let none = |error: blended::SampleError| format!("a model cannot be added here: {error}");
        let blend = match (&mut self.running, &mut self.ghost) {
            (Running::Blended(simulation), _) | (_, Some((_, Running::Blended(simulation)))) => {
                Some(simulation)
            }
            _ => None,
        };
        let models = match blend {
            Some(simulation) => {
                simulation.add_model(&state).map_err(none)?;
                simulation.model()
            }
            None => {
                let mut models = match &self.models {
                    Some(models) => models.clone(),
                    None => blended::Model::new(&self.loaded.mechanism, Default::default()).map_err(none)?,
                };
                models.add_at(&state).map_err(none)?;
                models
            }
        };
        let count = models.samples().len();
        self.models = Some(models);
        let shown =
            if self.engine == Engine::Blended { "" } else { "; the engine `blended` shows their weights" };
        self.note(false, &format!("the blend has {count} models now{shown}"));
        Ok(())
    }

    /// Only the model at rest is left.
    pub(super) fn forget_models(&mut self) -> Result<(), String> {
        let before = self.models.take();
        self.restart_blends().inspect_err(|_| self.models = before)
    }

    /// Blends that run, rebuilt from the models there are.
    fn restart_blends(&mut self) -> Result<(), String> {
        let own = if self.engine == Engine::Blended { Some(self.in_place(Engine::Blended)?) } else { None };
        if let Some((engine @ Engine::Blended, _)) = self.ghost {
            self.set_ghost(Some(engine))?;
        }
        if let Some(own) = own {
            self.running = own;
        }
        self.keep_models();
        Ok(())
    }
}
