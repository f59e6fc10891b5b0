//! What a user holds: a model, its inputs and its state, with the engine's memory.

use super::contact::Answers;
use super::frames;
use super::model::Model;
use super::statics::{self, Equilibrium, StaticsError, StaticsSettings};
use super::step::{self, StepError, Workspace};
use super::{DEFAULT_ITERATIONS, assembly};
use crate::inputs::{InputError, Inputs, PullId};
use crate::mechanism::{BodyId, EffectorId, Mechanism};
use crate::spatial::{Pose, Twist, Wrench};
use crate::state::State;

/// Energies of a state, J.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Energy {
    /// Of motion.
    pub kinetic: f64,
    /// Of the joints' springs.
    pub elastic: f64,
    /// Of gravity, zero at the world's origin.
    pub potential: f64,
}

impl Energy {
    /// Of a state of any engine, under its inputs.
    pub(crate) fn of(state: &State, mechanism: &Mechanism, inputs: &Inputs) -> Energy {
        Energy {
            kinetic: state.kinetic_energy(mechanism),
            elastic: state.elastic_energy(mechanism, inputs.rest()),
            potential: state.potential_energy(mechanism, inputs.gravity()),
        }
    }

    /// All three together.
    pub fn total(&self) -> f64 {
        self.kinetic + self.elastic + self.potential
    }
}

/// A running simulation.
#[derive(Clone, Debug)]
pub struct Simulation<'m> {
    pub(super) model: &'m Model<'m>,
    pub(super) inputs: Inputs,
    pub(super) state: State,
    pub(super) iterations: usize,
    pub(super) work: Workspace,
    pub(super) answers: Answers,
}

impl<'m> Model<'m> {
    /// A simulation that starts where the mechanism does, at rest, in the mechanism's gravity, without loads.
    pub fn simulate(&'m self) -> Simulation<'m> {
        Simulation {
            model: self,
            inputs: Inputs::new(self.mechanism),
            state: State::at_rest(self.mechanism),
            iterations: DEFAULT_ITERATIONS,
            work: Workspace::new(self),
            answers: Answers::default(),
        }
    }
}

impl<'m> Simulation<'m> {
    /// Model, inputs, state and memory, for the engine's own other uses of them.
    pub(super) fn parts(&mut self) -> (&'m Model<'m>, &Inputs, &State, &mut Workspace) {
        (self.model, &self.inputs, &self.state, &mut self.work)
    }

    /// The model that moves.
    pub fn model(&self) -> &'m Model<'m> {
        self.model
    }

    /// The mechanism that moves.
    pub fn mechanism(&self) -> &'m Mechanism {
        self.model.mechanism
    }

    /// Where everything is.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Puts a saved state back, and the base with it, at rest there.
    pub fn set_state(&mut self, state: &State) -> Result<(), InputError> {
        state.check(self.model.mechanism)?;
        self.inputs.set_base(state.base, Twist::ZERO)?;
        self.state.clone_from(state);
        self.state.private.clear(); // of an engine that this one moves on without
        Ok(())
    }

    /// What acts from outside.
    pub fn inputs(&self) -> &Inputs {
        &self.inputs
    }

    /// What acts from outside, to change it.
    pub fn inputs_mut(&mut self) -> &mut Inputs {
        &mut self.inputs
    }

    /// The handle of an effector, to be looked up once.
    pub fn effector(&self, name: &str) -> Result<EffectorId, InputError> {
        self.inputs.find_effector(self.model.mechanism, name)
    }

    /// Sets the dead load on an effector: world axes, at its origin.
    pub fn set_load(&mut self, effector: EffectorId, load: Wrench) -> Result<(), InputError> {
        self.inputs.set_load(effector, load)
    }

    /// Sets the number of Newton iterations of a step, at least 1.
    pub fn set_iterations(&mut self, iterations: usize) -> Result<(), InputError> {
        if iterations == 0 {
            return Err(InputError::new("a step needs at least one Newton iteration".into()));
        }
        self.iterations = iterations;
        Ok(())
    }

    /// Goes on by dt seconds. On an error the state is what it was.
    pub fn step(&mut self, dt: f64) -> Result<(), StepError> {
        step::step(self.model, &self.inputs, self.iterations, dt, &mut self.state, &mut self.work)
    }

    /// Brings the state to the nonlinear equilibrium under the present inputs, starting from where it
    /// is. Without convergence it is left at the last equilibrium on the way, under part of the loads; on an
    /// error it is what it was.
    ///
    /// ```
    /// use pliant_core::{full, gallery, spatial::Wrench};
    ///
    /// let mechanism = gallery::two_link(); // hinges of 100 N·m/rad about z
    /// let model = full::Model::new(&mechanism);
    /// let mut simulation = model.simulate();
    /// let tip = simulation.effector("tip")?;
    /// simulation.set_load(tip, Wrench::force([0.0, 40.0, 0.0]))?;
    /// let equilibrium = simulation.settle(&Default::default())?;
    /// assert!(equilibrium.converged && equilibrium.stable);
    ///
    /// // The shoulder's spring holds the force with the lever that the tip has there.
    /// let shoulder = simulation.state().coordinates[0];
    /// let lever = simulation.effector_pose(tip).position.x;
    /// assert!((100.0 * shoulder - 40.0 * lever).abs() < 1e-6);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn settle(&mut self, settings: &StaticsSettings) -> Result<Equilibrium, StaticsError> {
        statics::settle(self.model, &self.inputs, settings, &mut self.state, &mut self.work)
    }

    /// Moves the whole mechanism, base included, without any time passing: every pose H becomes
    /// motion·H; speeds go along. Loads and the frames of pulls stay where they are in the world.
    pub fn teleport(&mut self, motion: &Pose) -> Result<(), InputError> {
        if !motion.is_finite() {
            return Err(InputError::new("the motion of a teleport is not finite".into()));
        }
        for pose in &mut self.state.poses {
            *pose = *motion * *pose;
        }
        self.state.base = *motion * self.state.base;
        let (base, mut twist) = (*motion * self.inputs.base, self.inputs.base_twist);
        twist.linear = motion.rotation * twist.linear;
        twist.angular = motion.rotation * twist.angular;
        self.inputs.set_base(base, twist)
    }

    /// Every body with its link frame in the world.
    pub fn poses(&self) -> impl Iterator<Item = (BodyId, &Pose)> {
        self.state.poses.iter().enumerate().map(|(b, pose)| (BodyId::from_index(b), pose))
    }

    /// The frame of an effector in the world.
    pub fn effector_pose(&self, effector: EffectorId) -> Pose {
        self.state.effector_pose(self.model.mechanism, effector)
    }

    /// Kinetic, elastic and potential energy.
    pub fn energy(&self) -> Energy {
        let mechanism = self.model.mechanism;
        Energy::of(&self.state, mechanism, &self.inputs)
    }

    /// Sum over joints of the gap between the attachment points, over the mechanism's radius.
    pub fn violation(&self) -> f64 {
        self.state.violation(self.model.mechanism)
    }

    /// The force and torque that a pull exerts on its body now, world axes, at the pulled frame's origin.
    pub fn pull_force(&mut self, id: PullId) -> Wrench {
        let Some(&pull) = self.inputs.pull(id) else {
            return Wrench::ZERO; // let go
        };
        let Some((node, frame)) = self.model.frame_in_node(pull.body, pull.frame) else {
            return Wrench::ZERO;
        };
        frames::load(self.model, &self.inputs, &self.state, 0.0, &mut self.work.frames);
        let body = &mut self.work.frames[node];
        (body.v, body.w) = (body.v0, body.w0);
        let (force, torque) = assembly::pull_wrench(&pull, body, &frame, true);
        Wrench { force, torque }
    }
}
