//! What moves: a simulation by one engine, alone, as a blend to which models are added, or in a scene of contact.

use pliant_core::contact::{Contact, Scene, Solver, Surfaces};
use pliant_core::engine::{Inputs, Simulation, State};
use pliant_core::engines::{Engine, articulated_model};
use pliant_core::linear::Linearisation;
use pliant_core::mechanism::{Apart, Mechanism};
use pliant_core::nalgebra::DMatrix;
use pliant_core::{blended, full, reduced};

/// A mechanism with what is needed to simulate and to draw it.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// What moves.
    pub mechanism: Mechanism,
    /// Surfaces of shapes that lie in files, for drawing too.
    pub surfaces: Surfaces,
    /// Motions of a model file, for the engine `reduced`.
    pub motions: Option<DMatrix<f64>>,
    /// What acts from the start.
    pub inputs: Inputs,
    /// Whether things touch, if they can.
    pub contact: bool,
    /// How contact is solved.
    pub solver: Solver,
    /// The engine to start with.
    pub engine: Engine,
    /// The engine to compare it with from the start.
    pub ghost: Option<Engine>,
}

impl Loaded {
    /// A mechanism alone, as the engine `full` or `articulated` has it.
    pub fn of(mechanism: Mechanism) -> Loaded {
        let engine = match articulated_model(&mechanism) {
            Ok(_) => Engine::Articulated,
            Err(_) => Engine::Full,
        };
        Loaded {
            surfaces: Surfaces::new(),
            motions: None,
            inputs: Inputs::new(&mechanism),
            contact: true,
            solver: Solver::default(),
            engine,
            ghost: None,
            mechanism,
        }
    }

    /// Whether anything touches.
    pub fn touches(&self) -> bool {
        self.contact && self.mechanism.has_contact()
    }
}

/// A simulation.
#[derive(Debug)]
pub(crate) enum Running {
    Alone(Box<dyn Simulation>),
    Blended(Box<blended::Simulation>),
    Touching(Box<Scene>),
}

impl Running {
    /// By an engine, where the mechanism starts, under the first inputs; `blended` with these models, or the one at rest.
    pub fn new(
        engine: Engine,
        loaded: &Loaded,
        apart: &Apart,
        inputs: &Inputs,
        models: Option<&blended::Model>,
    ) -> Result<Running, String> {
        let mut running = if loaded.touches() {
            if engine == Engine::Blended {
                return Err(
                    "the engine `blended` does not support contact: use another, or leave contact out".into(),
                );
            }
            let held = apart.held.as_ref().map(|held| simulation(engine, held, loaded, None)).transpose()?;
            let surfaces = loaded.surfaces.clone();
            let mut scene = Scene::of(&loaded.mechanism, apart.clone(), surfaces, held)
                .map_err(|error| error.to_string())?;
            scene.check_start().map_err(|error| error.to_string())?;
            scene.world_mut().set_solver(loaded.solver);
            Running::Touching(Box::new(scene))
        } else if engine == Engine::Blended {
            let model = match models {
                Some(models) => models.clone(),
                None => {
                    blended::Model::new(&loaded.mechanism, Default::default()).map_err(|e| e.to_string())?
                }
            };
            let mut simulation = model.simulate();
            let start = State::at_rest(&loaded.mechanism);
            simulation.set_state(&start).map_err(|error| error.to_string())?;
            Running::Blended(Box::new(simulation))
        } else {
            Running::Alone(simulation(engine, &loaded.mechanism, loaded, Some(inputs))?)
        };
        let simulation = running.simulation();
        simulation.inputs_mut().clone_from(inputs);
        let time = simulation.time();
        simulation.inputs_mut().follow_targets(time);
        Ok(running)
    }

    pub fn simulation(&mut self) -> &mut dyn Simulation {
        match self {
            Running::Alone(simulation) => &mut **simulation,
            Running::Blended(simulation) => &mut **simulation,
            Running::Touching(scene) => &mut **scene,
        }
    }

    /// The contacts that pushed in the last step.
    pub fn contacts(&self) -> impl Iterator<Item = &Contact> {
        let contacts = match self {
            Running::Touching(scene) => scene.world().contacts(),
            _ => &[],
        };
        contacts.iter().filter(|contact| contact.force.norm() > 0.0)
    }
}

/// By an engine other than `blended`, without contact; `acts` is what acts where nothing touches.
fn simulation(
    engine: Engine,
    mechanism: &Mechanism,
    loaded: &Loaded,
    acts: Option<&Inputs>,
) -> Result<Box<dyn Simulation>, String> {
    Ok(match engine {
        Engine::Full => full::Model::new(mechanism).simulate().into(),
        Engine::Articulated => {
            articulated_model(mechanism).map_err(|error| error.to_string())?.simulate().into()
        }
        Engine::Linear | Engine::Blended => {
            let linearisation = Linearisation::at_rest(mechanism);
            linearisation.build().map_err(|error| error.to_string())?.simulate().into()
        }
        Engine::Reduced => {
            let model = match (&loaded.motions, acts) {
                (Some(columns), _) => reduced::Model::from_columns(mechanism, columns),
                (None, Some(inputs)) => reduced::Reduction::at_rest(mechanism).under(inputs).build(),
                (None, None) => reduced::Reduction::at_rest(mechanism).build(),
            };
            model.map_err(|error| error.to_string())?.simulate().into()
        }
    })
}
