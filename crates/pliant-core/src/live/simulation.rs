//! What a user holds: a model, its inputs and its motion, with the engine's memory.

use nalgebra::{Quaternion, UnitQuaternion};

use super::contact::Answers;
use super::kinematics::Float;
use super::model::Model;
use super::pulls;
use super::step::{self, Motion, Workspace};
use crate::full::{Energy, StepError};
use crate::inputs::{InputError, Inputs, PullId};
use crate::mechanism::{BodyId, EffectorId, Mechanism};
use crate::spatial::{Pose, Twist, Wrench};
use crate::state::State;

/// Marks what this engine keeps in [`State::private`]: the base's twist, and rotation, position and twist of free bases.
const STAMP: f64 = 0.716_531_310_573_789_2;

/// A running simulation.
#[derive(Clone, Debug)]
pub struct Simulation<'m> {
    pub(super) model: &'m Model<'m>,
    pub(super) inputs: Inputs,
    pub(super) motion: Motion,
    pub(super) work: Workspace,
    pub(super) answers: Answers,
    state: State,
    /// Whether the state tells where the simulation is.
    pub(super) filled: bool,
}

impl<'m> Model<'m> {
    /// A simulation that starts where the mechanism does, at rest, in the mechanism's gravity, without loads.
    pub fn simulate(&'m self) -> Simulation<'m> {
        Simulation {
            model: self,
            inputs: Inputs::new(self.mechanism),
            motion: Motion::at_rest(self),
            work: Workspace::new(self),
            answers: Answers::default(),
            state: State::at_rest(self.mechanism),
            filled: false,
        }
    }
}

impl<'m> Simulation<'m> {
    /// The mechanism that moves.
    pub fn mechanism(&self) -> &'m Mechanism {
        self.model.mechanism
    }

    /// The model that moves.
    pub fn model(&self) -> &'m Model<'m> {
        self.model
    }

    /// Time since the start, s.
    pub fn time(&self) -> f64 {
        self.motion.time
    }

    /// Number of steps taken.
    pub fn steps(&self) -> u64 {
        self.motion.steps
    }

    /// How many motions of the effectors had mass in the last step.
    pub fn rank(&self) -> usize {
        self.work.rank()
    }

    /// What acts from outside.
    pub fn inputs(&self) -> &Inputs {
        &self.inputs
    }

    /// What acts from outside, to change it.
    pub fn inputs_mut(&mut self) -> &mut Inputs {
        self.filled = false; // forces of springs depend on their rests
        &mut self.inputs
    }

    /// The handle of an effector, to be looked up once.
    pub fn effector(&self, name: &str) -> Result<EffectorId, InputError> {
        self.inputs.find_effector(self.mechanism(), name)
    }

    /// Sets the dead load on an effector: world axes, at its origin.
    pub fn set_load(&mut self, effector: EffectorId, load: Wrench) -> Result<(), InputError> {
        self.inputs.set_load(effector, load)
    }

    /// Goes on by dt seconds. On an error everything is what it was.
    pub fn step(&mut self, dt: f64) -> Result<(), StepError> {
        step::step(self.model, &self.inputs, dt, &mut self.motion, &mut self.work)?;
        self.filled = false;
        Ok(())
    }

    /// Where everything is. A step leaves this to the first call after it.
    pub fn state(&mut self) -> &State {
        if !self.filled {
            self.fill();
            self.filled = true;
        }
        &self.state
    }

    fn fill(&mut self) {
        let (model, motion, state) = (self.model, &self.motion, &mut self.state);
        (state.time, state.steps, state.base) = (motion.time, motion.steps, motion.base);
        for b in 0..state.poses.len() {
            let body = BodyId::from_index(b);
            let (node, offset) = model.place(body);
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
            let r = outer.rotation.inverse();
            let local = Twist { linear: r * twist.linear, angular: r * twist.angular };
            state.poses[b] = outer * offset;
            state.twists[b] = offset.twist_to_local(&local);
        }
        let tree = model.freedoms.iter().zip(motion.theta.iter().zip(&motion.rates));
        let loops = model.loops.freedoms.iter().zip(motion.loop_theta.iter().zip(&motion.loop_rates));
        for (freedom, (&q, &rate)) in tree.chain(loops) {
            let at = freedom.coordinate;
            let beyond = (q - freedom.upper).max(0.0) + (q - freedom.lower).min(0.0);
            state.coordinates[at] = q;
            state.rates[at] = rate;
            state.forces[at] = freedom.stiffness * (self.inputs.rest[at] - q)
                - freedom.damping * rate
                - freedom.limit * beyond;
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

    /// Puts a saved state back, and the base with it; of a state of another engine, coordinates and rates of the
    /// joints in the tree, and the base at rest.
    pub fn set_state(&mut self, state: &State) -> Result<(), InputError> {
        state.check(self.mechanism())?;
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
            *float = Float { pose: state.pose(head), twist: state.world_twist(head) };
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

    /// Puts the links where the motion has them.
    fn place(&mut self) {
        self.motion.place(self.model);
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

    /// Coordinates of the tree's joints after the step of the last [`Simulation::estimate`], in the order of the model's freedoms.
    pub(crate) fn relaxed(&self) -> &[f64] {
        self.work.relaxed()
    }

    /// Moves the whole mechanism, base included, without any time passing: every pose H becomes motion·H;
    /// speeds go along. Loads and the frames of pulls stay where they are in the world.
    pub fn teleport(&mut self, motion: &Pose) -> Result<(), InputError> {
        if !motion.is_finite() {
            return Err(InputError::new("the motion of a teleport is not finite".into()));
        }
        let turned = |twist: &Twist| Twist {
            linear: motion.rotation * twist.linear,
            angular: motion.rotation * twist.angular,
        };
        self.inputs.set_base(*motion * self.inputs.base, turned(&self.inputs.base_twist))?;
        self.motion.base = *motion * self.motion.base;
        self.motion.base_twist = turned(&self.motion.base_twist);
        for float in &mut self.motion.floats {
            *float = Float { pose: *motion * float.pose, twist: turned(&float.twist) };
        }
        self.place();
        Ok(())
    }

    /// Every body with its link frame in the world.
    pub fn poses(&self) -> impl Iterator<Item = (BodyId, Pose)> + '_ {
        (0..self.mechanism().bodies().len()).map(BodyId::from_index).map(|body| (body, self.pose(body)))
    }

    /// The link frame of a body in the world.
    pub fn pose(&self, body: BodyId) -> Pose {
        let (node, offset) = self.model.place(body);
        node.map_or(self.motion.base, |n| self.motion.places.link(n).pose()) * offset
    }

    /// The frame of an effector in the world.
    pub fn effector_pose(&self, effector: EffectorId) -> Pose {
        let effector = self.mechanism().effector(effector);
        self.pose(effector.body) * effector.frame
    }

    /// Kinetic, elastic and potential energy.
    pub fn energy(&mut self) -> Energy {
        let mechanism = self.model.mechanism;
        self.state();
        Energy::of(&self.state, mechanism, &self.inputs)
    }

    /// Sum over joints of the gap between the attachment points, over the mechanism's radius.
    pub fn violation(&mut self) -> f64 {
        let mechanism = self.model.mechanism;
        self.state().violation(mechanism)
    }

    /// How far the links are from rest under the present inputs: the longest way that one Gauss–Newton step to
    /// balance would move one, over the radius. Near rest that is the error of a pose that is meant to be the
    /// equilibrium, such as that of another engine after [`Simulation::set_state`].
    ///
    /// ```
    /// use pliant_core::{full, gallery, live, reduced::Reduction};
    ///
    /// let mechanism = gallery::helix(20);
    /// let linear = Reduction::at_rest(&mechanism).build()?;
    /// let (full, live) = (full::Model::new(&mechanism), live::Model::new(&mechanism)?);
    /// let (mut exact, mut fast, mut judge) = (full.simulate(), linear.simulate(), live.simulate());
    /// for inputs in [exact.inputs_mut(), fast.inputs_mut(), judge.inputs_mut()] {
    ///     inputs.add_scene_loads(&mechanism);
    /// }
    /// exact.settle(&Default::default())?;
    /// (0..200).try_for_each(|_| fast.step(0.1))?; // to rest
    /// judge.set_state(fast.state())?;
    /// let estimate = judge.estimate() * mechanism.radius(); // needs no full simulation, m
    ///
    /// let both = exact.state().poses.iter().zip(&fast.state().poses);
    /// let error = both.map(|(a, b)| (a.position - b.position).norm()).fold(0.0, f64::max);
    /// assert!((estimate / error - 1.0).abs() < 0.1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn estimate(&mut self) -> f64 {
        step::estimate(self.model, &self.inputs, &self.motion, &mut self.work)
    }

    /// The force and torque that a pull exerts on its body now, world axes, at the pulled frame's origin.
    pub fn pull_force(&self, id: PullId) -> Wrench {
        let Some(pull) = self.inputs.pull(id) else {
            return Wrench::ZERO; // let go
        };
        let (Some(n), offset) = self.model.place(pull.body) else {
            return Wrench::ZERO;
        };
        let place = &self.motion.places.link(n);
        let pose = place.pose() * offset * pull.frame;
        let arm = pose.position - nalgebra::Vector3::from(self.motion.places.point);
        pulls::force(pull, &pose, &place.twist, arm.into())
    }
}
