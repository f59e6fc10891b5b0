//! Pliant's engines, as a user has them through the crate `pliant`.

use std::error::Error;
use std::time::Instant;

use pliant::blended::{self, Force, Links, Options};
use pliant::inputs::Inputs;
use pliant::mechanism::{EffectorId, Mechanism};
use pliant::reduced::{Reconstruction, Reduction};
use pliant::spatial::{Twist, Wrench};
use pliant::state::State;
use pliant::{articulated, full, live};

use crate::protocol::{Racer, serve};

const DT: f64 = 1.0 / 60.0;

/// The engine of the words: `full`, `articulated`, `live`, `reduced RECONSTRUCTION`, `blended LINKS MODELS`, `forward`.
pub fn race(
    mechanism: &Mechanism,
    words: &[&str],
    home: [f64; 3],
    started: Instant,
) -> Result<(), Box<dyn Error>> {
    let tip = tip(mechanism);
    match words {
        ["full"] => {
            let model = full::Model::new(mechanism);
            let mut simulation = model.simulate();
            simulation.inputs_mut().add_scene_loads(mechanism);
            simulation.set_iterations(1)?;
            serve(&mut Full { simulation, tip }, home, started)
        }
        ["articulated"] => {
            let model = articulated::Model::new(mechanism);
            let mut simulation = model.simulate();
            simulation.inputs_mut().add_scene_loads(mechanism);
            serve(&mut Articulated { simulation, tip }, home, started)
        }
        ["live"] => {
            let model = live::Model::new(mechanism)?;
            let mut simulation = model.simulate();
            simulation.inputs_mut().add_scene_loads(mechanism);
            serve(&mut Live { simulation, tip }, home, started)
        }
        ["reduced", reconstruction] => {
            let model = Reduction::at_rest(mechanism).build()?;
            let mut simulation = model.simulate();
            simulation.set_reconstruction(match *reconstruction {
                "twist" => Reconstruction::Twist,
                "joint" => Reconstruction::Joint,
                "corrected" => Reconstruction::Corrected,
                other => return Err(format!("no reconstruction `{other}`").into()),
            });
            simulation.inputs_mut().add_scene_loads(mechanism);
            serve(&mut Reduced { simulation, tip }, home, started)
        }
        ["blended", links, models] => {
            let model = sampled(mechanism, models.parse()?)?;
            let mut simulation = model.simulate();
            let links = if *links == "twist" { Links::Twist } else { Links::Joint };
            simulation.set_options(Options { force: Force::Blend, links, ..Options::default() });
            simulation.inputs_mut().add_scene_loads(mechanism);
            serve(&mut Blended { simulation, tip }, home, started)
        }
        ["forward"] => {
            let model = articulated::Model::new(mechanism);
            let (forces, accelerations) = (vec![0.1; model.speeds()], vec![0.0; model.speeds()]);
            let (dynamics, inputs) = (model.dynamics(), Inputs::new(mechanism));
            serve(&mut Forward { dynamics, inputs, forces, accelerations }, home, started)
        }
        _ => Err(format!("Pliant has no engine `{}`", words.join(":")).into()),
    }
}

/// The effector that is loaded, or the first.
pub fn tip(mechanism: &Mechanism) -> EffectorId {
    mechanism.loads().first().map_or(EffectorId::from_index(0), |load| load.effector)
}

/// Models at rest and along the scene's load, as in Andrews 2015, Fig. 7: the last of several is at the load itself.
fn sampled(mechanism: &Mechanism, models: usize) -> Result<blended::Model<'_>, Box<dyn Error>> {
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

fn speed(state: &State) -> Option<f64> {
    Some(state.rates.iter().map(|rate| rate * rate).sum())
}

fn halted(state: &State) -> State {
    let mut state = state.clone();
    state.rates.fill(0.0);
    state.twists.fill(Twist::ZERO);
    state
}

/// An engine whose state is where it is and how fast.
macro_rules! halting {
    ($name:ident, $engine:ident) => {
        struct $name<'m> {
            simulation: $engine::Simulation<'m>,
            tip: EffectorId,
        }

        impl Racer for $name<'_> {
            fn step(&mut self) -> Result<(), String> {
                self.simulation.step(DT).map_err(|why| why.to_string())
            }

            fn position(&mut self) -> [f64; 3] {
                self.simulation.effector_pose(self.tip).position.into()
            }

            fn speed(&mut self) -> Option<f64> {
                speed(self.simulation.state())
            }

            fn halt(&mut self) {
                let state = halted(self.simulation.state());
                self.simulation.set_state(&state).expect("a state of this mechanism");
            }
        }
    };
}

halting!(Full, full);
halting!(Articulated, articulated);
halting!(Live, live);

/// An engine with coordinates of its own, of few and fast steps: it comes to rest by its own damping.
macro_rules! damped {
    ($name:ident, $engine:path) => {
        struct $name<'m> {
            simulation: $engine,
            tip: EffectorId,
        }

        impl Racer for $name<'_> {
            fn step(&mut self) -> Result<(), String> {
                self.simulation.step(DT).map_err(|why| why.to_string())
            }

            fn position(&mut self) -> [f64; 3] {
                self.simulation.effector_pose(self.tip).position.into()
            }

            fn speed(&mut self) -> Option<f64> {
                None
            }

            fn halt(&mut self) {}
        }
    };
}

damped!(Reduced, pliant::reduced::Simulation<'m>);
damped!(Blended, blended::Simulation<'m>);

/// Forward dynamics alone: from coordinates and rates to accelerations, nothing moves.
struct Forward<'m> {
    dynamics: articulated::Dynamics<'m>,
    inputs: Inputs,
    forces: Vec<f64>,
    accelerations: Vec<f64>,
}

impl Racer for Forward<'_> {
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
