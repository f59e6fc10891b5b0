//! Pliant's engines, as a user has them through the crate `pliant`.

use std::error::Error;
use std::time::Instant;

use pliant::blended::{self, Links, Options};
use pliant::engine::{Inputs, Simulation, State};
use pliant::engines::Engine;
use pliant::mechanism::{EffectorId, Mechanism};
use pliant::linear::{Reconstruction, Linearisation};
use pliant::spatial::{Twist, Wrench};
use pliant::{articulated, full};

use crate::protocol::{Racer, serve};

const DT: f64 = 1.0 / 60.0;

/// The engine of the words: `full`, `articulated`, `reduced`, `linear RECONSTRUCTION`, `blended LINKS MODELS`, `forward`.
pub fn race(
    mechanism: &Mechanism,
    words: &[&str],
    home: [f64; 3],
    started: Instant,
) -> Result<(), Box<dyn Error>> {
    // Engines with coordinates of their own, of few and fast steps, come to rest by their own damping.
    let (mut simulation, halts): (Box<dyn Simulation>, bool) = match words {
        ["full"] => {
            let mut simulation = full::Model::new(mechanism).simulate();
            simulation.set_iterations(1)?;
            (simulation.into(), true)
        }
        ["articulated"] => (Engine::Articulated.simulate(mechanism)?, true),
        ["reduced"] => (Engine::Reduced.simulate(mechanism)?, true),
        ["linear", reconstruction] => {
            let mut simulation = Linearisation::at_rest(mechanism).build()?.simulate();
            simulation.set_reconstruction(match *reconstruction {
                "twist" => Reconstruction::Twist,
                "joint" => Reconstruction::Joint,
                "corrected" => Reconstruction::Corrected,
                other => return Err(format!("no reconstruction `{other}`").into()),
            });
            (simulation.into(), false)
        }
        ["blended", links, models] => {
            let mut simulation = sampled(mechanism, models.parse()?)?.simulate();
            let links = if *links == "twist" { Links::Twist } else { Links::Joint };
            simulation.set_options(Options { links, ..Options::default() });
            (simulation.into(), false)
        }
        ["forward"] => {
            let model = articulated::Model::new(mechanism);
            let (forces, accelerations) = (vec![0.1; model.speeds()], vec![0.0; model.speeds()]);
            let (dynamics, inputs) = (model.dynamics(), Inputs::new(mechanism));
            return serve(&mut Forward { dynamics, inputs, forces, accelerations }, home, started);
        }
        _ => return Err(format!("Pliant has no engine `{}`", words.join(":")).into()),
    };
    simulation.inputs_mut().add_scene_loads();
    serve(&mut Moving { simulation, tip: tip(mechanism), halts }, home, started)
}

/// The effector that is loaded, or the first.
pub fn tip(mechanism: &Mechanism) -> EffectorId {
    let first = mechanism.effector_ids().next();
    mechanism
        .loads()
        .first()
        .map(|load| load.effector)
        .or(first)
        .expect("a scene of the race has an effector")
}

/// Models at rest and along the scene's load, as in Andrews 2015, Fig. 7: the last of several is at the load itself.
fn sampled(mechanism: &Mechanism, models: usize) -> Result<blended::Model, Box<dyn Error>> {
    let parts: &[f64] = match models {
        1 => &[],
        2 => &[1.0],
        4 => &[0.35, 0.7, 1.0],
        _ => return Err("blended takes 1, 2 or 4 models here".into()),
    };
    if !parts.is_empty() && mechanism.loads().is_empty() {
        return Err("the scene has no load to place models along".into());
    }
    let mut model = blended::Model::new(mechanism, Options::default())?;
    for part in parts {
        let mut loads = vec![Wrench::ZERO; mechanism.effectors().len()];
        for load in mechanism.loads() {
            loads[load.effector.index()] = load.wrench * *part;
        }
        model.add(&loads)?;
    }
    Ok(model)
}

fn halted(state: &State) -> State {
    let mut state = state.clone();
    state.rates.fill(0.0);
    state.twists.fill(Twist::ZERO);
    state
}

/// A simulation; one that halts has a state that is where it is and how fast.
struct Moving {
    simulation: Box<dyn Simulation>,
    tip: EffectorId,
    halts: bool,
}

impl Racer for Moving {
    fn step(&mut self) -> Result<(), String> {
        self.simulation.step(DT).map_err(|why| why.to_string())
    }

    fn position(&mut self) -> [f64; 3] {
        self.simulation.effector_pose(self.tip).expect("an effector of the scene").position.into()
    }

    fn speed(&mut self) -> Option<f64> {
        self.halts.then(|| self.simulation.state().rates.iter().map(|rate| rate * rate).sum())
    }

    fn halt(&mut self) {
        if self.halts {
            let state = halted(self.simulation.state());
            self.simulation.set_state(&state).expect("a state of this mechanism");
        }
    }
}

/// Forward dynamics alone: from coordinates and rates to accelerations, nothing moves.
struct Forward {
    dynamics: articulated::Dynamics,
    inputs: Inputs,
    forces: Vec<f64>,
    accelerations: Vec<f64>,
}

impl Racer for Forward {
    fn step(&mut self) -> Result<(), String> {
        self.dynamics
            .accelerations(&self.inputs, &self.forces, &mut self.accelerations)
            .map_err(|why| why.to_string())
    }

    fn position(&mut self) -> [f64; 3] {
        [0.0; 3]
    }

    fn speed(&mut self) -> Option<f64> {
        None
    }

    fn halt(&mut self) {}
}
