//! What moves: a simulation by one engine, alone, as a blend to which models are added, or in a scene of contact.

use pliant_core::blended;
use pliant_core::contact::{Contact, Scene, Solver, Surfaces};
use pliant_core::engine::{Inputs, Simulation, State};
use pliant_core::engines::{Engine, Model, Options, articulated_model};
use pliant_core::mechanism::{Apart, Mechanism};
use pliant_core::nalgebra::DMatrix;

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
    /// By an engine, where the mechanism starts, under the first inputs, for steps of dt seconds; `blended` with these models, or the one at
    /// rest.
    pub fn new(
        engine: Engine,
        loaded: &Loaded,
        apart: &Apart,
        inputs: &Inputs,
        dt: f64,
        models: Option<&blended::Model>,
    ) -> Result<Running, String> {
        let touches = loaded.touches();
        let acts = Some(inputs).filter(|_| !touches);
        let motions = loaded.motions.as_ref();
        let options = Options { motions, dt, touches, acts, interactive: true, ..Options::default() };
        let model = |mechanism| match models {
            Some(models) if engine == Engine::Blended => Ok(Model::Blended(models.clone())),
            _ => engine.model(mechanism, &options).map_err(|error| error.to_string()),
        };
        let mut running = if touches {
            let held = apart.held.as_ref().map(model).transpose()?.map(|held| held.simulate());
            let surfaces = loaded.surfaces.clone();
            let mut scene = Scene::of(&loaded.mechanism, apart.clone(), surfaces, held)
                .map_err(|error| error.to_string())?;
            scene.check_start().map_err(|error| error.to_string())?;
            scene.world_mut().set_solver(loaded.solver);
            Running::Touching(Box::new(scene))
        } else {
            match model(&loaded.mechanism)? {
                Model::Blended(model) => {
                    let mut simulation = model.simulate();
                    let start = State::at_rest(&loaded.mechanism);
                    simulation.set_state(&start).map_err(|error| error.to_string())?;
                    Running::Blended(Box::new(simulation))
                }
                model => Running::Alone(model.simulate()),
            }
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
