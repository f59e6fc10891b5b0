//! What is set in motion: engine, ghost, stiffness and damping, set-points, poses. Simulation and ghost always have the same: where one of
//! them does not take something, both are left as they are.

use pliant_core::engine::{Inputs, JointProperty, Simulation, State};
use pliant_core::engines::Engine;
use pliant_core::mechanism::{JointId, Mechanism};

use super::Session;
use crate::running::Running;

/// The largest factor on stiffness and damping.
const MOST_SCALE: f64 = 1e4;

/// What acts along joints, relative to their file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Scaled {
    /// Factors.
    pub stiffness: f64,
    pub damping: f64,
    /// Whether springs act.
    pub torques: bool,
}

impl Default for Scaled {
    fn default() -> Scaled {
        Scaled { stiffness: 1.0, damping: 1.0, torques: true }
    }
}

/// Whether an engine can have joints other than those of the file: linear models are made of them.
fn can_scale(engine: Engine) -> bool {
    !matches!(engine, Engine::Linear | Engine::Blended)
}

impl Session {
    /// The simulation and the ghost, each given something by a setter that changes nothing where it fails.
    pub(super) fn each_input(
        &mut self,
        give: impl Fn(&mut dyn Simulation) -> Result<(), String>,
    ) -> Result<(), String> {
        let simulation = self.running.simulation();
        let Some((engine, ghost)) = &mut self.ghost else { return give(simulation) };
        let before = simulation.inputs().clone();
        give(simulation)?;
        give(ghost.simulation()).map_err(|error| {
            simulation.inputs_mut().clone_from(&before);
            of_ghost(*engine, &error)
        })
    }

    pub(super) fn reset(&mut self) -> Result<(), String> {
        let start = |engine| self.fresh(engine, &self.loaded.inputs);
        let running = start(self.engine)?;
        let ghost = match &self.ghost {
            Some((engine, _)) => Some((*engine, start(*engine).map_err(|error| of_ghost(*engine, &error))?)),
            None => None,
        };
        (self.running, self.ghost, self.held) = (running, ghost, None);
        self.scaled = Scaled::default();
        self.stopped = None;
        self.warned.clear();
        self.times.clear();
        Ok(())
    }

    /// Goes on with another engine. One that cannot have scaled joints gets those of the file.
    pub(super) fn set_engine(&mut self, engine: Engine) -> Result<(), String> {
        let before = self.scaled;
        let unscaled = !can_scale(engine) && before != Scaled::default();
        if unscaled {
            self.scale_joints(Scaled::default())?;
        }
        match self.in_place(engine) {
            Ok(running) => self.running = running,
            Err(error) => {
                if unscaled {
                    self.scale_joints(before)?;
                }
                return Err(error);
            }
        }
        self.engine = engine;
        self.times.clear();
        self.stopped = None;
        self.keep_models();
        if unscaled {
            let name = engine.name();
            self.note(
                true,
                &format!("joints have the stiffness and damping of the file again: the engine `{name}` is built with them"),
            );
        }
        Ok(())
    }

    pub(super) fn set_ghost(&mut self, engine: Option<Engine>) -> Result<(), String> {
        let Some(engine) = engine else {
            self.ghost = None;
            return Ok(());
        };
        if !can_scale(engine) && self.scaled != Scaled::default() {
            let name = engine.name();
            return Err(format!(
                "the engine `{name}` is built with the file's stiffness and damping: set their factors to 1 first"
            ));
        }
        let ghost = self.in_place(engine).map_err(|error| of_ghost(engine, &error))?;
        self.ghost = Some((engine, ghost));
        self.keep_models();
        Ok(())
    }

    /// By an engine, where the mechanism starts.
    fn fresh(&self, engine: Engine, inputs: &Inputs) -> Result<Running, String> {
        Running::new(engine, &self.loaded, &self.apart, inputs, self.dt, self.models.as_ref())
    }

    /// Another engine under the same inputs, in the same state as far as it has it.
    pub(super) fn in_place(&mut self, engine: Engine) -> Result<Running, String> {
        let simulation = self.running.simulation();
        let (inputs, mut state) = (simulation.inputs().clone(), simulation.state().clone());
        let mut running = self.fresh(engine, &inputs)?;
        if engine != self.engine {
            state.private.clear();
        }
        running.simulation().set_state(&state).map_err(|error| error.to_string())?;
        if can_scale(engine) {
            scale(running.simulation(), &self.loaded.mechanism, self.scaled)?;
        }
        Ok(running)
    }

    pub(super) fn set_state(&mut self, state: &State) -> Result<(), String> {
        let (own, name) = (self.engine, self.engine.name());
        let before = self.running.simulation().state().clone();
        // What an engine keeps for itself is of the models that it had then.
        let mut bare = state.clone();
        bare.private.clear();
        let set = self.running.simulation().set_state(&bare);
        set.map_err(|error| format!("the engine `{name}` does not support this pose: {error}"))?;
        let Some((engine, ghost)) = &mut self.ghost else { return Ok(()) };
        let set = ghost.simulation().set_state(if *engine == own { state } else { &bare });
        set.map_err(|error| {
            // It had this state a moment ago.
            let _ = self.running.simulation().set_state(&before);
            of_ghost(*engine, &error.to_string())
        })
    }

    /// Scales what acts along joints.
    pub(super) fn scale_joints(&mut self, scaled: Scaled) -> Result<(), String> {
        let sensible = |x: f64| (0.0..=MOST_SCALE).contains(&x);
        if !(sensible(scaled.stiffness) && sensible(scaled.damping)) {
            return Err("factors on stiffness and damping are from 0 to 10,000".into());
        }
        let mechanism = &self.loaded.mechanism;
        scale(self.running.simulation(), mechanism, scaled)?;
        if let Some((engine, ghost)) = &mut self.ghost
            && let Err(error) = scale(ghost.simulation(), mechanism, scaled)
        {
            scale(self.running.simulation(), mechanism, self.scaled)?;
            return Err(of_ghost(*engine, &error));
        }
        self.scaled = scaled;
        Ok(())
    }

    pub(super) fn set_target(&mut self, joint: u32, freedom: u32, value: f64) -> Result<(), String> {
        let mechanism = self.loaded.mechanism.clone();
        let id: JointId = mechanism.joint_ids().nth(joint as usize).ok_or("there is no such joint")?;
        let own = &mechanism[id];
        let limits = own.freedoms.get(freedom as usize).ok_or("the joint has no such freedom")?;
        let value = value.clamp(limits.lower, limits.upper);
        self.each_input(|simulation| {
            let mut rest = simulation.inputs().rest()[own.coordinates()].to_vec();
            rest[freedom as usize] = value;
            simulation.inputs_mut().set_target(id, &rest).map_err(|error| error.to_string())
        })
    }
}

pub(super) fn of_ghost(engine: Engine, error: &str) -> String {
    format!("the ghost (`{}`): {error}", engine.name())
}

/// Gives joints their stiffness and damping, where they are not those of the file or were changed before. On an error all are as they were.
fn scale(simulation: &mut dyn Simulation, mechanism: &Mechanism, scaled: Scaled) -> Result<(), String> {
    let factors = [
        (JointProperty::Stiffness, if scaled.torques { scaled.stiffness } else { 0.0 }),
        (JointProperty::Damping, scaled.damping),
    ];
    let mut changed: Vec<(JointId, JointProperty, Vec<f64>)> = Vec::new();
    for id in mechanism.joint_ids() {
        for (property, factor) in factors {
            let freedoms = mechanism[id].freedoms.iter();
            let own = freedoms.map(|freedom| match property {
                JointProperty::Stiffness => freedom.stiffness * factor,
                _ => freedom.damping * factor,
            });
            let wanted: Vec<f64> = own.collect();
            let now = simulation.inputs().joint_property(id, property).map_err(|error| error.to_string())?;
            if now == wanted && (factor == 1.0 || wanted.is_empty()) {
                continue;
            }
            if let Err(error) = simulation.set_joint(id, property, &wanted) {
                // It had those before a moment ago, and takes them again.
                for (id, property, before) in changed.iter().rev() {
                    let _ = simulation.set_joint(*id, *property, before);
                }
                return Err(error.to_string());
            }
            changed.push((id, property, now));
        }
    }
    Ok(())
}
