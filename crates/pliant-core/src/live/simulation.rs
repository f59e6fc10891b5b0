//! A running simulation: a model, its inputs and its motion, with the engine's workspace.

use std::sync::Arc;

use nalgebra::{Quaternion, UnitQuaternion};

use super::contact::Answers;
use super::kinematics::Float;
use super::model::{Constants, Model};
use super::step::{self, Motion, Workspace};
use crate::engine::{
    self, Equilibrium, InputError, Inputs, JointProperty, State, StaticsError, StaticsSettings, StepError,
    Unsupported,
};
use crate::full::settle_by_full;
use crate::mechanism::{JointId, Mechanism};
use crate::spatial::{Pose, Twist};

/// Marks what this engine keeps in [`State::private`]: the base's twist, and rotation, position and twist of free bases.
const STAMP: f64 = 0.716_531_310_573_789_2;

/// A running simulation of the live engine.
#[derive(Clone, Debug)]
pub struct Simulation {
    pub(super) model: Arc<Constants>,
    pub(super) inputs: Inputs,
    pub(super) motion: Motion,
    pub(super) work: Workspace,
    pub(super) answers: Answers,
    pub(super) state: State,
    /// Whether the state is that of the motion.
    pub(super) filled: bool,
}

impl Model {
    /// A simulation that starts where the mechanism does, at rest, in the mechanism's gravity, without loads.
    pub fn simulate(&self) -> Simulation {
        let constants = &self.constants;
        Simulation {
            model: constants.clone(),
            inputs: Inputs::new(&constants.mechanism),
            motion: Motion::at_rest(constants),
            work: Workspace::new(constants),
            answers: Answers::default(),
            state: State::at_rest(&constants.mechanism),
            filled: false,
        }
    }
}

impl Simulation {
    /// The model that moves.
    pub fn model(&self) -> Model {
        Model { constants: self.model.clone() }
    }

    /// How many motions of the effectors had mass in the last step.
    pub fn rank(&self) -> usize {
        self.work.rank()
    }

    fn fill(&mut self) {
        let (model, motion, state) = (&self.model, &self.motion, &mut self.state);
        (state.time, state.steps, state.base) = (motion.time, motion.steps, motion.base);
        for b in 0..state.poses.len() {
            let (node, offset) = model.place(model.mechanism.body_id(b));
            let (outer, twist) = match node {
                None => (motion.base, motion.base_twist),
                Some(n) => {
                    let place = &motion.places.link(n);
                    let (pose, at) = (place.pose(), &place.twist);
                    let arm = pose.position - nalgebra::Vector3::from(motion.places.point);
                    let angular = nalgebra::Vector3::new(at[3], at[4], at[5]);
                    let linear = nalgebra::Vector3::new(at[0], at[1], at[2]) + angular.cross(&arm);
                    (pose, Twist { linear, angular })
                }
            };
            state.poses[b] = outer * offset;
            state.twists[b] = offset.twist_to_local(&twist.turned(&outer.rotation.inverse()));
        }
        let tree = model.freedoms.iter().zip(motion.theta.iter().zip(&motion.rates));
        let loops = model.loops.freedoms.iter().zip(motion.loop_theta.iter().zip(&motion.loop_rates));
        for (freedom, (&q, &rate)) in tree.chain(loops) {
            let at = freedom.coordinate;
            let beyond = (q - freedom.upper).max(0.0) + (q - freedom.lower).min(0.0);
            state.coordinates[at] = q;
            state.rates[at] = rate;
            let motor = freedom.stiffness * (self.inputs.rest[at] - q) - freedom.damping * rate;
            // A set-point that no step was taken with yet may be any number.
            state.forces[at] = (motor - freedom.limit * beyond).clamp(-f64::MAX, f64::MAX);
        }
        state.private.clear();
        state.private.push(STAMP);
        state.private.extend_from_slice(motion.base_twist.to_vector().as_slice());
        for Float { pose, twist } in &motion.floats {
            state.private.extend_from_slice(pose.rotation.coords.as_slice());
            state.private.extend_from_slice(pose.position.as_slice());
            state.private.extend_from_slice(twist.to_vector().as_slice());
        }
    }

    /// Puts the links where the motion has them.
    fn place(&mut self) {
        self.motion.place(&self.model);
        self.filled = false;
    }

    /// Puts base and joints of the tree where they are said to be, these in the order of the model's freedoms.
    pub(crate) fn put(&mut self, base: &Pose, base_twist: &Twist, theta: &[f64], rates: &[f64]) {
        (self.motion.base, self.motion.base_twist) = (*base, *base_twist);
        self.motion.theta.copy_from_slice(theta);
        self.motion.rates.copy_from_slice(rates);
        self.place();
    }

    /// Says where loop joints were, by their coordinates in the state: those of the next pose are the nearest to these.
    pub(crate) fn hint(&mut self, of: impl Fn(usize) -> f64) {
        for (q, freedom) in self.motion.loop_theta.iter_mut().zip(&self.model.loops.freedoms) {
            *q = of(freedom.coordinate);
        }
    }

    /// Coordinates of the tree's joints after the step of the last [`estimate`](engine::Simulation::estimate), in the order of the model's freedoms.
    pub(crate) fn relaxed(&self) -> &[f64] {
        self.work.relaxed()
    }
}

impl engine::Simulation for Simulation {
    fn engine(&self) -> &'static str {
        "live"
    }

    fn mechanism(&self) -> &Mechanism {
        &self.model.mechanism
    }

    fn inputs(&self) -> &Inputs {
        &self.inputs
    }

    fn inputs_mut(&mut self) -> &mut Inputs {
        self.filled = false; // forces of springs depend on their rests
        &mut self.inputs
    }

    fn time(&self) -> f64 {
        self.motion.time
    }

    fn steps(&self) -> u64 {
        self.motion.steps
    }

    fn capped_steps(&self) -> u64 {
        self.motion.capped
    }

    fn largest_turn(&self) -> f64 {
        self.motion.largest_turn
    }

    fn step(&mut self, dt: f64) -> Result<(), StepError> {
        self.inputs.follow_targets(self.motion.time + dt);
        step::step(&self.model, &self.inputs, dt, &mut self.motion, &mut self.work)?;
        self.filled = false;
        Ok(())
    }

    fn state(&mut self) -> &State {
        if !self.filled {
            self.fill();
            self.filled = true;
        }
        &self.state
    }

    /// Of a state of another engine, coordinates and rates of the joints in the tree count.
    fn set_state(&mut self, state: &State) -> Result<(), InputError> {
        state.check(&self.model.mechanism)?;
        let own = state.private.len() == 7 + 13 * self.motion.floats.len() && state.private[0] == STAMP;
        let twist_at =
            |at: usize| Twist::from_vector(&nalgebra::Vector6::from_column_slice(&state.private[at..at + 6]));
        let twist = if own { twist_at(1) } else { Twist::ZERO };
        self.inputs.set_base(state.base, twist)?;
        let motion = &mut self.motion;
        (motion.time, motion.steps, motion.base, motion.base_twist) =
            (state.time, state.steps, state.base, twist);
        for (i, freedom) in self.model.freedoms.iter().enumerate() {
            motion.theta[i] = state.coordinates[freedom.coordinate];
            motion.rates[i] = state.rates[freedom.coordinate];
        }
        for (f, float) in motion.floats.iter_mut().enumerate() {
            let head = self.model.links[self.model.floats[f]].head;
            *float = Float { pose: state.poses[head.index()], twist: state.world_twist_at(head.index()) };
            if own {
                let at = 7 + 13 * f;
                let [x, y, z, w] = [0, 1, 2, 3].map(|k| state.private[at + k]);
                let rotation = UnitQuaternion::new_unchecked(Quaternion::new(w, x, y, z));
                let position = nalgebra::Vector3::from_column_slice(&state.private[at + 4..at + 7]);
                *float = Float { pose: Pose::new(rotation, position), twist: twist_at(at + 7) };
            }
        }
        for (k, freedom) in self.model.loops.freedoms.iter().enumerate() {
            motion.loop_theta[k] = state.coordinates[freedom.coordinate];
        }
        self.place();
        Ok(())
    }

    fn set_joint(
        &mut self,
        joint: JointId,
        property: JointProperty,
        values: &[f64],
    ) -> Result<(), InputError> {
        if !matches!(property, JointProperty::Stiffness | JointProperty::Damping) {
            let what = property.name();
            let message = format!("the engine `live` has no {what} in joints; use `full` or `articulated`");
            return Err(InputError::new(message));
        }
        let before = self.inputs.joint_property(joint, property)?;
        self.inputs.set_joint(joint, property, values)?;
        // A model of its own from now on, if others move the same one.
        let model = Arc::make_mut(&mut self.model);
        model.take_springs(&self.inputs.laws);
        let held = model.check_held();
        if held.is_err() {
            self.inputs.set_joint(joint, property, &before)?;
            model.take_springs(&self.inputs.laws);
        }
        held.map_err(|error| InputError::new(error.to_string()))
    }

    fn teleport(&mut self, motion: &Pose) -> Result<(), InputError> {
        self.inputs.teleport_base(motion)?;
        self.motion.base = *motion * self.motion.base;
        self.motion.base_twist = self.motion.base_twist.turned(&motion.rotation);
        for float in &mut self.motion.floats {
            *float = Float { pose: *motion * float.pose, twist: float.twist.turned(&motion.rotation) };
        }
        self.place();
        Ok(())
    }

    fn settle(&mut self, settings: &StaticsSettings) -> Result<Equilibrium, StaticsError> {
        settle_by_full(self, settings)
    }

    /// ```
    /// use pliant_core::{engine::Simulation, full, gallery, live, reduced::Reduction};
    ///
    /// let mechanism = gallery::helix(20);
    /// let mut exact = full::Model::new(&mechanism).simulate();
    /// let mut fast = Reduction::at_rest(&mechanism).build()?.simulate();
    /// let mut judge = live::Model::new(&mechanism)?.simulate();
    /// for inputs in [exact.inputs_mut(), fast.inputs_mut(), judge.inputs_mut()] {
    ///     inputs.add_scene_loads();
    /// }
    /// exact.settle(&Default::default())?;
    /// (0..200).try_for_each(|_| fast.step(0.1))?; // to rest
    /// judge.set_state(fast.state())?;
    /// let estimate = judge.estimate()? * mechanism.radius(); // needs no full simulation, m
    ///
    /// let both = exact.state().poses.iter().zip(&fast.state().poses);
    /// let error = both.map(|(a, b)| (a.position - b.position).norm()).fold(0.0, f64::max);
    /// assert!((estimate / error - 1.0).abs() < 0.1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn estimate(&mut self) -> Result<f64, Unsupported> {
        Ok(step::estimate(&self.model, &self.inputs, &self.motion, &mut self.work))
    }
}
