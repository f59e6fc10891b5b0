//! What a user holds: a model, its inputs and its state, with the engine's memory.

use super::loads::pull_wrench;
use super::model::Model;
use super::placing::place;
use super::step::{self, Workspace, base_twist};
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
}

/// A running simulation.
#[derive(Clone, Debug)]
pub struct Simulation<'m> {
    model: &'m Model<'m>,
    inputs: Inputs,
    state: State,
    work: Workspace,
}

impl<'m> Model<'m> {
    /// A simulation that starts in the file's pose, at rest, in the mechanism's gravity, without loads.
    pub fn simulate(&'m self) -> Simulation<'m> {
        let mut state = State::at_rest(self.mechanism);
        state.private = vec![0.0; 6]; // the base's twist
        let mut work = Workspace::new(self, &state);
        place(&mut work.slots, self, &mut state, &Twist::ZERO);
        work.placed = true;
        Simulation { model: self, inputs: Inputs::new(self.mechanism), state, work }
    }
}

impl<'m> Simulation<'m> {
    /// The model that moves.
    pub fn model(&self) -> &'m Model<'m> {
        self.model
    }

    /// The mechanism that moves.
    pub fn mechanism(&self) -> &Mechanism {
        self.model.mechanism
    }

    /// Where everything is.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Puts a saved state back, and the base with it, at rest there. Of a state that another engine or a caller made,
    /// coordinates and rates follow from poses and twists where they do not agree; then poses follow from the
    /// coordinates, so that no joint of the forest is open.
    pub fn set_state(&mut self, state: &State) -> Result<(), InputError> {
        state.check(self.model.mechanism)?;
        self.inputs.set_base(state.base, Twist::ZERO)?;
        self.state.clone_from(state);
        if self.state.private.len() != 6 {
            self.state.private.clear();
            self.state.private.resize(6, 0.0);
        }
        self.agree();
        let twist = base_twist(&self.state);
        place(&mut self.work.slots, self.model, &mut self.state, &twist);
        self.work.placed = true;
        Ok(())
    }

    /// Makes the coordinates and rates of tree joints those of the poses and twists, unless they are already.
    fn agree(&mut self) {
        let mechanism = self.model.mechanism;
        let twist = base_twist(&self.state);
        let Rt = self.state.base.rotation.inverse();
        let base = Twist::new(Rt * twist.linear, Rt * twist.angular);
        for j in 0..mechanism.joints().len() {
            let id = JointId::from_index(j);
            let joint = mechanism.joint(id);
            let at = mechanism.coordinates_of(id);
            if at.is_empty() {
                continue;
            }
            let X = self.state.relative_pose(mechanism, id);
            let q = &self.state.coordinates[at.clone()];
            let made = joint.kind.transform(q).inverse_times(&X);
            let far = made.position.norm() > AGREES * self.model.radius
                || made.rotation.imag().norm() > AGREES;
            if far {
                let q = joint.kind.coordinates(&X, q);
                self.state.coordinates[at.clone()].copy_from_slice(&q.as_slice()[..at.len()]);
            }
            // The child frame's twist relative to the parent's, in child axes.
            let in_child = mechanism.frame_in_child(id);
            let own = in_child.twist_to_local(&self.state.twists[joint.child.index()]);
            let outer = joint.parent.map_or(base, |p| self.state.twists[p.index()]);
            let carried = mechanism.frame_in_parent(id).twist_to_local(&outer);
            let relative = own - X.twist_to_local(&carried);
            let q = &self.state.coordinates[at.clone()];
            let S = joint.kind.subspace(q);
            let rates = &self.state.rates[at.clone()];
            let mut off = relative.to_vector();
            (0..at.len()).for_each(|k| off -= S.column(k) * rates[k]);
            let size = own.to_vector().amax().max(carried.to_vector().amax()).max(1e-3);
            if off.amax() > AGREES * size {
                let J = joint.kind.coordinates_jacobian(&X, q);
                let rates = J * relative.to_vector();
                self.state.rates[at.clone()].copy_from_slice(&rates.as_slice()[..at.len()]);
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

    /// Goes on by dt seconds. On an error the state is what it was.
    pub fn step(&mut self, dt: f64) -> Result<(), StepError> {
        step::step(self.model, &self.inputs, dt, &mut self.state, &mut self.work)
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
        let twist = turned(base_twist(&self.state));
        self.state.private.copy_from_slice(twist.to_vector().as_slice());
        self.inputs.set_base(*motion * self.inputs.base, turned(self.inputs.base_twist))?;
        place(&mut self.work.slots, self.model, &mut self.state, &twist);
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
        Energy {
            kinetic: self.state.kinetic_energy(mechanism),
            elastic: self.state.elastic_energy(mechanism, self.inputs.rest()),
            potential: self.state.potential_energy(mechanism, self.inputs.gravity()),
        }
    }

    /// Sum over joints of the gap between the attachment points, over the mechanism's radius: of loop joints, and
    /// rounding of the others.
    pub fn violation(&self) -> f64 {
        self.state.violation(self.model.mechanism)
    }

    /// The force and torque that a pull exerts on its body now, world axes, at the pulled frame's origin.
    pub fn pull_force(&mut self, id: PullId) -> Wrench {
        let Some(&pull) = self.inputs.pull(id) else {
            return Wrench::ZERO; // let go
        };
        if !self.work.placed {
            let twist = base_twist(&self.state);
            place(&mut self.work.slots, self.model, &mut self.state, &twist);
            self.work.placed = true;
        }
        let (slot, frame) = self.model.frame_in_slot(pull.body, &pull.frame);
        if slot == 0 {
            return Wrench::ZERO;
        }
        let (force, torque, _) = pull_wrench(&pull, &frame, &self.work.slots.slots[slot], 0.0);
        Wrench { force, torque }
    }
}

/// How far coordinates may be from poses, in radii or rad, and rates from twists, relative, and still be what a step of
/// this engine left: rounding along a long chain.
const AGREES: f64 = 1e-9;
