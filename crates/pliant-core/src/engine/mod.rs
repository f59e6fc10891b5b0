//! What all engines share: the inputs that act on a mechanism, its state, and one interface to a running simulation.
//!
//! An engine's model is made of a mechanism, and a simulation of a model; each owns what it needs, so that any of them
//! can be stored, moved to another thread or boxed:
//!
//! ```
//! use pliant_core::engine::Simulation;
//! use pliant_core::{articulated, full, gallery, reduced, spatial::Wrench};
//!
//! let mechanism = gallery::chain(10);
//! let mut all: Vec<Box<dyn Simulation>> = vec![
//!     full::Model::new(&mechanism).simulate().into(),
//!     articulated::Model::new(&mechanism).simulate().into(),
//!     reduced::Reduction::at_rest(&mechanism).build()?.simulate().into(),
//! ];
//! for simulation in &mut all {
//!     let tip = simulation.effector("tip")?;
//!     simulation.set_load(tip, Wrench::force([0.0, 0.0, -1.0]))?;
//!     (0..200).try_for_each(|_| simulation.step(0.05))?; // to rest
//! }
//! let tip = all[0].effector("tip")?;
//! let exact = all[0].effector_pose(tip)?.position;
//! for simulation in &all {
//!     assert!((simulation.effector_pose(tip)?.position - exact).norm() < 1e-6);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod balance;
mod energy;
mod error;
mod inputs;
pub(crate) mod laws;
mod spring;
mod state;
mod statics;
pub(crate) mod touch;
mod warning;
pub(crate) mod whole;

pub use balance::Balance;
pub use energy::Energy;
pub use error::{InputError, StepError, Unsupported};
pub(crate) use inputs::Version;
pub use inputs::{Inputs, JointProperty};
pub use spring::{Spring, SpringId};
pub use state::State;
pub use statics::{Equilibrium, StaticsError, StaticsSettings};
pub use warning::Warning;

use crate::mechanism::{BodyId, EffectorId, JointId, Mechanism, UnknownHandle};
use crate::spatial::{Pose, Wrench};
use touch::Internal;

/// A running simulation, of whichever engine. It owns its model and its mechanism.
pub trait Simulation: Internal + Send + 'static {
    /// The engine's name.
    fn engine(&self) -> &'static str {
        self.name()
    }

    /// The mechanism that moves.
    fn mechanism(&self) -> &Mechanism {
        self.whole()
    }

    /// What acts from outside.
    fn inputs(&self) -> &Inputs {
        self.state_and_inputs().1
    }

    /// What acts from outside, to change it.
    fn inputs_mut(&mut self) -> &mut Inputs {
        self.own_inputs()
    }

    /// Time since the start, s.
    fn time(&self) -> f64 {
        self.state_and_inputs().0.time
    }

    /// Number of steps taken.
    fn steps(&self) -> u64 {
        self.state_and_inputs().0.steps
    }

    /// The most that something free with joints turned as a whole in a step, rad.
    fn largest_turn(&self) -> f64 {
        0.0
    }

    /// Advances by `dt` seconds, and the scene's targets with it ([`Inputs::follow_targets`]). On an error the state is
    /// unchanged.
    fn step(&mut self, dt: f64) -> Result<(), StepError>;

    /// The whole state. Some engines compute it at the first call after a step.
    fn state(&mut self) -> &State {
        self.refresh();
        self.state_and_inputs().0
    }

    /// Restores a saved state, and the base with it. The state of another engine gives what this engine can take of it;
    /// the base is at rest then.
    fn set_state(&mut self, state: &State) -> Result<(), InputError>;

    /// Moves the whole mechanism, base included, without any time passing: every pose H becomes motion·H; velocities turn
    /// with it. Loads and spring couplings stay where they are in the world.
    fn teleport(&mut self, motion: &Pose) -> Result<(), InputError>;

    /// Brings the state to the equilibrium under the present inputs, from where it is. Without convergence it is left at
    /// the last equilibrium on the way, under part of the loads, or where it was; on an error it is unchanged.
    fn settle(&mut self, settings: &StaticsSettings) -> Result<Equilibrium, StaticsError>;

    /// Distance to equilibrium: the longest way that one Newton step of the full statics would move a link or an effector, over the
    /// radius. Once at rest, this is the error of the pose. There is none where things touch, and where nothing holds a free base.
    fn estimate(&mut self) -> Result<f64, Unsupported>;

    /// What it has left out of the run so far, or done otherwise than asked.
    fn warnings(&self) -> Vec<Warning> {
        let left_out = Warning::of_left_out(self.engine(), self.mechanism(), self.inputs());
        Warning::of_turning(self.largest_turn()).into_iter().chain(left_out).collect()
    }

    /// The handle of an effector, to be looked up once.
    fn effector(&self, name: &str) -> Result<EffectorId, InputError> {
        let mechanism = self.mechanism();
        mechanism.find_effector(name).ok_or_else(|| {
            let names: Vec<_> = mechanism.effectors().iter().map(|e| format!("`{}`", e.name)).collect();
            let there = if names.is_empty() { "none".into() } else { names.join(", ") };
            InputError::new(format!("there is no effector `{name}`; there are: {there}"))
        })
    }

    /// Sets the dead load on an effector: world axes, at its origin.
    fn set_load(&mut self, effector: EffectorId, load: Wrench) -> Result<(), InputError> {
        self.inputs_mut().set_load(effector, load)
    }

    /// Changes what acts along the freedoms of a joint from the next step on, one number per freedom. The engines `full`,
    /// `articulated` and `reduced` can.
    fn set_joint(
        &mut self,
        joint: JointId,
        property: JointProperty,
        values: &[f64],
    ) -> Result<(), InputError> {
        if !self.bound_friction() {
            return Err(InputError::new(format!(
                "the engine `{}` cannot change the {} of joints while it runs: its model is built with them; build another model, \
                 or use the engine `full`, `articulated` or `reduced`",
                self.engine(),
                property.name()
            )));
        }
        self.inputs_mut().set_joint(joint, property, values)?;
        self.bound_friction();
        Ok(())
    }

    /// The link frame of a body in the world.
    fn pose(&self, body: BodyId) -> Result<Pose, UnknownHandle> {
        self.mechanism().body(body).map(|_| self.body_pose(body.index()))
    }

    /// Every body with its link frame in the world.
    fn poses(&self) -> Poses<'_> {
        Poses { simulation: self.as_simulation(), next: 0 }
    }

    /// The frame of an effector in the world.
    fn effector_pose(&self, effector: EffectorId) -> Result<Pose, UnknownHandle> {
        let effector = self.mechanism().effector(effector)?;
        Ok(self.body_pose(effector.body.index()) * effector.frame)
    }

    /// The coordinates of a joint, m or rad.
    fn joint_positions(&mut self, joint: JointId) -> Result<&[f64], UnknownHandle> {
        let own = self.mechanism().joint(joint)?.coordinates();
        Ok(&self.state().coordinates[own])
    }

    /// What spring, damper and limit of a joint apply along its coordinates, N or N·m.
    fn joint_forces(&mut self, joint: JointId) -> Result<&[f64], UnknownHandle> {
        let own = self.mechanism().joint(joint)?.coordinates();
        Ok(&self.state().forces[own])
    }

    /// The force and torque that a spring coupling exerts on its body now, world axes, at the origin of its frame.
    fn spring_force(&mut self, id: SpringId) -> Result<Wrench, UnknownHandle> {
        let spring = *self.inputs().spring(id)?;
        Ok(spring.on(self.state()))
    }

    /// Kinetic, elastic and potential energy.
    fn energy(&mut self) -> Energy {
        self.state();
        let (state, inputs) = self.state_and_inputs();
        Energy::of(state, self.mechanism(), inputs)
    }

    /// Sum over joints of the gap between the attachment points, over the mechanism's radius.
    fn violation(&mut self) -> f64 {
        self.state();
        self.state_and_inputs().0.violation(self.mechanism())
    }

    /// Writes the link frames of all bodies for drawing: sixteen numbers each, the columns of a 4×4 matrix one after the
    /// other. Allocates only until the buffer is large enough.
    fn transforms(&self, out: &mut Vec<f32>) {
        out.clear();
        for (_, pose) in self.poses() {
            let R = pose.rotation_matrix();
            for column in 0..3 {
                out.extend((0..3).map(|row| R[(row, column)] as f32));
                out.push(0.0);
            }
            out.extend(pose.position.iter().map(|x| *x as f32));
            out.push(1.0);
        }
    }
}

impl Clone for Box<dyn Simulation> {
    fn clone(&self) -> Self {
        self.boxed()
    }
}

impl std::fmt::Debug for dyn Simulation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (name, time) = (self.mechanism().name(), self.time());
        write!(f, "simulation of `{name}` by the engine `{}`, at {time} s", self.engine())
    }
}

impl<S: Simulation> From<S> for Box<dyn Simulation> {
    fn from(simulation: S) -> Box<dyn Simulation> {
        Box::new(simulation)
    }
}

/// Every body of a simulation with its link frame in the world: [`Simulation::poses`].
#[derive(Clone, Debug)]
pub struct Poses<'s> {
    simulation: &'s dyn Simulation,
    next: usize,
}

impl Iterator for Poses<'_> {
    type Item = (BodyId, Pose);

    fn next(&mut self) -> Option<(BodyId, Pose)> {
        let mechanism = self.simulation.mechanism();
        let at = self.next;
        (at < mechanism.bodies().len()).then(|| {
            self.next += 1;
            (mechanism.body_id(at), self.simulation.body_pose(at))
        })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.simulation.mechanism().bodies().len() - self.next;
        (left, Some(left))
    }
}

impl ExactSizeIterator for Poses<'_> {}
