//! A running simulation: a model, its inputs and its state, with the engine's workspace.

use std::sync::Arc;

use super::contact::Answers;
use super::model::{Constants, Model};
use super::placing::place;
use super::runge_kutta::{self, Stages};
use super::step::{self, Workspace};
use crate::engine::{
    self, Equilibrium, InputError, Inputs, State, StaticsError, StaticsSettings, StepError, Unsupported,
    Warning,
};
use crate::full::{estimate_by_full, settle_by_full};
use crate::spatial::Pose;

/// How a step integrates in time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Integrator {
    /// Springs, dampers, limits and spring couplings at the end of the step, all else at its start: stable for any stiffness, of
    /// first order.
    #[default]
    SemiImplicit,
    /// The explicit method of Runge and Kutta, of fourth order: for studies of what is conserved, at steps that follow the
    /// stiffest spring. Only for mechanisms without loops and couplings; the base goes steadily during a step.
    RungeKutta4,
}

/// A running simulation of the articulated engine.
#[derive(Clone, Debug)]
pub struct Simulation {
    pub(super) model: Arc<Constants>,
    pub(super) inputs: Inputs,
    pub(super) state: State,
    pub(super) work: Workspace,
    pub(super) answers: Answers,
    pub(super) integrator: Integrator,
    stages: Option<Stages>,
}

impl Model {
    /// A simulation that starts where the mechanism does, at rest, in the mechanism's gravity, without loads.
    pub fn simulate(&self) -> Simulation {
        let constants = &self.constants;
        let mut state = State::at_rest(&constants.mechanism);
        let mut work = Workspace::new(constants, &state);
        place(&mut work.slots, constants, &mut state);
        work.placed = true;
        Simulation {
            model: constants.clone(),
            inputs: Inputs::new(&constants.mechanism),
            state,
            work,
            answers: Answers::default(),
            integrator: Integrator::default(),
            stages: None,
        }
    }
}

impl Simulation {
    /// The model that moves.
    pub fn model(&self) -> Model {
        Model { constants: self.model.clone() }
    }

    /// Makes coordinates those of the poses, unless they are already. Rates are those of the last step: only rotors
    /// and limits ask for them, all else for twists.
    fn agree(&mut self) {
        let mechanism = &self.model.mechanism;
        for joint in mechanism.joints().iter().filter(|joint| !joint.freedoms.is_empty()) {
            let (at, kind) = (joint.coordinates(), &joint.kind);
            let X = self.state.relative_pose(mechanism, joint);
            let q = &self.state.coordinates[at.clone()];
            let made = kind.transform(q).inverse_times(&X);
            let far = made.position.norm() > AGREES * self.model.radius;
            if far || made.rotation.imag().norm() > AGREES {
                let q = kind.coordinates(&X, q);
                self.state.coordinates[at.clone()].copy_from_slice(&q.as_slice()[..at.len()]);
            }
        }
    }

    /// Sets how steps integrate in time.
    pub fn set_integrator(&mut self, integrator: Integrator) -> Result<(), InputError> {
        if integrator == Integrator::RungeKutta4 {
            if !self.model.closures.is_empty() {
                let message =
                    "the integrator of Runge and Kutta is for mechanisms without loops and couplings";
                return Err(InputError::new(message));
            }
            self.stages.get_or_insert_with(|| Stages::new(&self.model));
        }
        self.integrator = integrator;
        Ok(())
    }

    /// Makes the next state, in memory; nothing moves.
    pub(super) fn attempt_step(&mut self, dt: f64) -> Result<(), StepError> {
        let (model, inputs, state, work) = (&*self.model, &self.inputs, &mut self.state, &mut self.work);
        match (self.integrator, &mut self.stages) {
            (Integrator::RungeKutta4, Some(_)) if inputs.has_friction() => {
                Err(StepError::Unsupported(Unsupported {
                    engine: "articulated",
                    what: "dry friction with the integrator of Runge and Kutta",
                    engines: &["full", "articulated with its own integrator"],
                }))
            }
            (Integrator::RungeKutta4, Some(stages)) => {
                runge_kutta::attempt(model, inputs, dt, state, work, stages)
            }
            _ => step::attempt(model, inputs, dt, state, work),
        }
    }

    /// Takes the step that was attempted.
    pub(super) fn take_step(&mut self) {
        std::mem::swap(&mut self.state, &mut self.work.next);
        // Slots of an explicit step move: a step that carries momentum places them again.
        self.work.placed = self.integrator == Integrator::SemiImplicit;
    }
}

impl engine::Simulation for Simulation {
    fn largest_turn(&self) -> f64 {
        self.work.floating.largest_turn
    }

    fn step(&mut self, dt: f64) -> Result<(), StepError> {
        self.inputs.begin(&self.model.mechanism, self.state.time + dt)?;
        let attempted = self.attempt_step(dt);
        if self.is_open(&attempted) {
            return self.step_in_pieces(dt, attempted);
        }
        attempted?;
        self.take_step();
        Ok(())
    }

    /// Of a state that another engine or a caller made, coordinates follow from poses where they do not agree; then poses
    /// follow from the coordinates, so that no joint of the forest is open.
    fn set_state(&mut self, state: &State) -> Result<(), InputError> {
        self.inputs.take_state(state, &mut self.state)?;
        self.agree();
        place(&mut self.work.slots, &self.model, &mut self.state);
        self.work.next.clone_from(&self.state); // rows of joints within a node are written by no step
        (self.work.placed, self.work.evaluated) = (true, false);
        Ok(())
    }

    fn warnings(&self) -> Vec<Warning> {
        let mut found = Warning::of_limits(&self.model.mechanism, "articulated", &self.state);
        found.extend(Warning::of_turning(self.largest_turn()));
        found.extend(Warning::of_unsolved_friction(self.work.pieces.worst()));
        found
    }

    fn teleport(&mut self, motion: &Pose) -> Result<(), InputError> {
        self.inputs.teleport_base(motion)?;
        self.state.poses.iter_mut().for_each(|pose| *pose = *motion * *pose);
        self.state.base = *motion * self.state.base;
        place(&mut self.work.slots, &self.model, &mut self.state);
        (self.work.placed, self.work.evaluated) = (true, false);
        Ok(())
    }

    fn settle(&mut self, settings: &StaticsSettings) -> Result<Equilibrium, StaticsError> {
        settle_by_full(self, settings)
    }

    fn estimate(&mut self) -> Result<f64, Unsupported> {
        estimate_by_full(self)
    }
}

/// How far coordinates may be from poses, in radii or rad, and still be what a step of this engine left: rounding along
/// a long chain.
const AGREES: f64 = 1e-9;
