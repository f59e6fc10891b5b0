//! A running simulation: a model, its inputs and its state, with the engine's workspace.

use std::sync::Arc;

use super::contact::Answers;
use super::model::{Constants, Model};
use super::step::{self, Workspace};
use super::{DEFAULT_ITERATIONS, estimate_by_full, statics};
use crate::engine::{
    self, Equilibrium, InputError, Inputs, State, StaticsError, StaticsSettings, StepError, Unsupported,
    Warning,
};
use crate::spatial::Pose;

/// A running simulation of the full engine.
#[derive(Clone, Debug)]
pub struct Simulation {
    pub(super) model: Arc<Constants>,
    pub(super) inputs: Inputs,
    pub(super) state: State,
    pub(super) iterations: usize,
    pub(super) work: Workspace,
    pub(super) answers: Answers,
}

impl Model {
    /// A simulation that starts where the mechanism does, at rest, in the mechanism's gravity, without loads.
    pub fn simulate(&self) -> Simulation {
        let constants = &self.constants;
        Simulation {
            inputs: Inputs::new(&constants.mechanism),
            state: State::at_rest(&constants.mechanism),
            iterations: DEFAULT_ITERATIONS,
            work: Workspace::new(constants),
            answers: Answers::default(),
            model: constants.clone(),
        }
    }
}

impl Simulation {
    /// The model that moves.
    pub fn model(&self) -> Model {
        Model { constants: self.model.clone() }
    }

    /// Model, inputs, state and workspace, for the engine's own other uses of them.
    pub(super) fn parts(&mut self) -> (&Arc<Constants>, &Inputs, &State, &mut Workspace) {
        (&self.model, &self.inputs, &self.state, &mut self.work)
    }

    /// Sets the number of Newton iterations of a step, at least 1.
    pub fn set_iterations(&mut self, iterations: usize) -> Result<(), InputError> {
        if iterations == 0 {
            return Err(InputError::new("a step needs at least one Newton iteration"));
        }
        self.iterations = iterations;
        Ok(())
    }
}

impl engine::Simulation for Simulation {
    fn largest_turn(&self) -> f64 {
        self.work.floating.largest_turn
    }

    fn step(&mut self, dt: f64) -> Result<(), StepError> {
        self.inputs.begin(&self.model.mechanism, self.state.time + dt)?;
        step::step(&self.model, &self.inputs, self.iterations, dt, &mut self.state, &mut self.work)
    }

    fn set_state(&mut self, state: &State) -> Result<(), InputError> {
        self.inputs.take_state(state, &mut self.state)
    }

    fn warnings(&self) -> Vec<Warning> {
        let mut found = Warning::of_limits(&self.model.mechanism, "full", &self.state);
        found.extend(Warning::of_turning(self.largest_turn()));
        found.extend(Warning::of_unsolved_friction(self.work.pieces.worst()));
        found
    }

    fn teleport(&mut self, motion: &Pose) -> Result<(), InputError> {
        self.inputs.teleport_base(motion)?;
        self.state.poses.iter_mut().for_each(|pose| *pose = *motion * *pose);
        self.state.base = *motion * self.state.base;
        Ok(())
    }

    /// ```
    /// use pliant_core::{engine::Simulation, full, gallery, spatial::Wrench};
    ///
    /// let mechanism = gallery::two_link(); // hinges of 100 N·m/rad about z
    /// let mut simulation = full::Model::new(&mechanism).simulate();
    /// let tip = simulation.effector("tip")?;
    /// simulation.set_load(tip, Wrench::force([0.0, 40.0, 0.0]))?;
    /// let equilibrium = simulation.settle(&Default::default())?;
    /// assert!(equilibrium.converged && equilibrium.stable);
    ///
    /// // The shoulder's spring holds the force with the lever that the tip has there.
    /// let shoulder = simulation.state().coordinates[0];
    /// let lever = simulation.effector_pose(tip)?.position.x;
    /// assert!((100.0 * shoulder - 40.0 * lever).abs() < 1e-6);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn settle(&mut self, settings: &StaticsSettings) -> Result<Equilibrium, StaticsError> {
        statics::settle(&self.model, &self.inputs, settings, &mut self.state, &mut self.work)
    }

    fn estimate(&mut self) -> Result<f64, Unsupported> {
        estimate_by_full(self)
    }
}
