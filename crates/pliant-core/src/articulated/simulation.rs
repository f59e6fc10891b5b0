//! What a user holds: a model, its inputs and its state, with the engine's memory.

use super::contact::Answers;
use super::loads::pull_wrench;
use super::model::Model;
use super::placing::place;
use super::runge_kutta::{self, Stages};
use super::step::{self, Workspace};
use crate::full::{Energy, StepError};
use crate::inputs::{InputError, Inputs, PullId};
use crate::mechanism::{BodyId, EffectorId, JointId, Mechanism};
use crate::spatial::{Pose, Twist, Wrench};
use crate::state::State;

/// How a step goes on in time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Integrator {
    /// Springs, dampers, limits and pulls at the end of the step, all else at its start: stable for any stiffness, of
    /// first order.
    #[default]
    SemiImplicit,
    /// The explicit method of Runge and Kutta, of fourth order: for studies of what is conserved, at steps that follow the
    /// stiffest spring. Only for mechanisms without loops and couplings; the base goes steadily during a step.
    RungeKutta4,
}

/// A running simulation.
#[derive(Clone, Debug)]
pub struct Simulation<'m> {
    pub(super) model: &'m Model<'m>,
    pub(super) inputs: Inputs,
    pub(super) state: State,
    pub(super) work: Workspace,
    pub(super) answers: Answers,
    integrator: Integrator,
    stages: Option<Stages>,
}

impl<'m> Model<'m> {
    /// A simulation that starts where the mechanism does, at rest, in the mechanism's gravity, without loads.
    pub fn simulate(&'m self) -> Simulation<'m> {
        let mut state = State::at_rest(self.mechanism);
        let mut work = Workspace::new(self, &state);
        place(&mut work.slots, self, &mut state);
        work.placed = true;
        Simulation {
            model: self,
            inputs: Inputs::new(self.mechanism),
            state,
            work,
            answers: Answers::default(),
            integrator: Integrator::default(),
            stages: None,
        }
    }
}

impl<'m> Simulation<'m> {
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

    /// Puts a saved state back, and the base with it, at rest there. Of a state that another engine or a caller made,
    /// coordinates follow from poses where they do not agree; then poses follow from the coordinates, so that no
    /// joint of the forest is open.
    pub fn set_state(&mut self, state: &State) -> Result<(), InputError> {
        state.check(self.model.mechanism)?;
        self.inputs.set_base(state.base, Twist::ZERO)?;
        self.state.clone_from(state);
        self.state.private.clear(); // of an engine that this one moves on without
        self.agree();
        place(&mut self.work.slots, self.model, &mut self.state);
        self.work.next.clone_from(&self.state); // rows of joints within a node are written by no step
        self.work.placed = true;
        Ok(())
    }

    /// Makes coordinates those of the poses, unless they are already. Rates are those of the last step: only rotors
    /// and limits ask for them, all else for twists.
    fn agree(&mut self) {
        let mechanism = self.model.mechanism;
        for j in 0..mechanism.joints().len() {
            let id = JointId::from_index(j);
            let at = mechanism.coordinates_of(id);
            if at.is_empty() {
                continue;
            }
            let kind = &mechanism.joint(id).kind;
            let X = self.state.relative_pose(mechanism, id);
            let q = &self.state.coordinates[at.clone()];
            let made = kind.transform(q).inverse_times(&X);
            let far = made.position.norm() > AGREES * self.model.radius;
            if far || made.rotation.imag().norm() > AGREES {
                let q = kind.coordinates(&X, q);
                self.state.coordinates[at.clone()].copy_from_slice(&q.as_slice()[..at.len()]);
            }
        }
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

    /// Sets how steps go on in time.
    pub fn set_integrator(&mut self, integrator: Integrator) -> Result<(), InputError> {
        if integrator == Integrator::RungeKutta4 {
            if !self.model.closures.is_empty() {
                let message =
                    "the integrator of Runge and Kutta is for mechanisms without loops and couplings";
                return Err(InputError::new(message.into()));
            }
            self.stages.get_or_insert_with(|| Stages::new(self.model));
        }
        self.integrator = integrator;
        Ok(())
    }

    /// Goes on by dt seconds. On an error the state is what it was.
    pub fn step(&mut self, dt: f64) -> Result<(), StepError> {
        self.attempt_step(dt)?;
        self.take_step();
        Ok(())
    }

    /// Makes the next state, in memory; nothing moves.
    pub(super) fn attempt_step(&mut self, dt: f64) -> Result<(), StepError> {
        let (model, inputs, state, work) = (self.model, &self.inputs, &mut self.state, &mut self.work);
        match (self.integrator, &mut self.stages) {
            (Integrator::RungeKutta4, Some(stages)) => {
                runge_kutta::attempt(model, inputs, dt, state, work, stages)
            }
            _ => step::attempt(model, inputs, dt, state, work),
        }
    }

    /// Takes the step that was attempted.
    pub(super) fn take_step(&mut self) {
        std::mem::swap(&mut self.state, &mut self.work.next);
        // Slots of an explicit step move: a step that carries momentum places them anew.
        self.work.placed = self.integrator == Integrator::SemiImplicit;
    }

    /// Moves the whole mechanism, base included, without any time passing: every pose H becomes
    /// motion·H; speeds go along. Loads and the frames of pulls stay where they are in the world.
    pub fn teleport(&mut self, motion: &Pose) -> Result<(), InputError> {
        if !motion.is_finite() {
            return Err(InputError::new("the motion of a teleport is not finite".into()));
        }
        let turned = |t: Twist| Twist::new(motion.rotation * t.linear, motion.rotation * t.angular);
        for pose in &mut self.state.poses {
            *pose = *motion * *pose;
        }
        self.state.base = *motion * self.state.base;
        self.inputs.set_base(*motion * self.inputs.base, turned(self.inputs.base_twist))?;
        place(&mut self.work.slots, self.model, &mut self.state);
        self.work.placed = true;
        Ok(())
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

    /// Sum over joints of the gap between the attachment points, over the mechanism's radius: of loop joints, and
    /// rounding of the others.
    pub fn violation(&self) -> f64 {
        self.state.violation(self.model.mechanism)
    }

    /// The force and torque that a pull exerts on its body now, world axes, at the pulled frame's origin.
    pub fn pull_force(&self, id: PullId) -> Wrench {
        let Some(&pull) = self.inputs.pull(id) else {
            return Wrench::ZERO; // let go
        };
        let (slot, frame) = self.model.frame_in_slot(pull.body, &pull.frame);
        let Some(n) = slot.checked_sub(1) else { return Wrench::ZERO };
        let head = self.model.nodes[n].head;
        let (pose, twist) = (self.state.poses[head], self.state.twists[head]);
        let at = pose * frame;
        let moving = frame.twist_to_local(&twist);
        let (velocity, w) = (at.rotation * moving.linear, at.rotation * moving.angular);
        let (force, torque) = pull_wrench(&pull, &at, &velocity, &w);
        Wrench { force, torque }
    }
}

/// How far coordinates may be from poses, in radii or rad, and still be what a step of this engine left: rounding along
/// a long chain.
const AGREES: f64 = 1e-9;
