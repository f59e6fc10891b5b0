//! The state of a mechanism in motion: the same for every engine, so that any two can be compared
//! link by link and one can go on where another stopped.

use super::InputError;
use crate::mechanism::{BodyId, EffectorId, Joint, JointId, Mechanism, UnknownHandle};
use crate::spatial::{Pose, Twist};

/// Poses, twists, joint coordinates, rates and forces, and multipliers.
///
/// A clone is a saved state; giving it back to an engine restores it bit for bit.
///
/// ```
/// use pliant_core::{engine::Simulation, full, gallery};
///
/// let mechanism = gallery::chain(5);
/// let mut simulation = full::Model::new(&mechanism).simulate();
/// (0..10).try_for_each(|_| simulation.step(0.01))?;
/// let saved = simulation.state().clone();
/// (0..10).try_for_each(|_| simulation.step(0.01))?;
/// let later = simulation.state().clone();
///
/// simulation.set_state(&saved)?; // back in time
/// assert_eq!(simulation.state().steps, 10);
/// (0..10).try_for_each(|_| simulation.step(0.01))?;
/// assert_eq!(*simulation.state(), later); // and forth again, the same bits
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, PartialEq)]
pub struct State {
    /// Time, s.
    pub time: f64,
    /// Number of steps taken.
    pub steps: u64,
    /// The link frame of each body in the world.
    pub poses: Vec<Pose>,
    /// The body twist of each body: body axes, at the link frame's origin.
    pub twists: Vec<Twist>,
    /// Coordinates of all joints ([`Joint::coordinates`]), angles unwrapped, m or rad.
    pub coordinates: Vec<f64>,
    /// Their rates, m/s or rad/s.
    pub rates: Vec<f64>,
    /// What spring, damper and limit apply along each coordinate, N or N·m.
    pub forces: Vec<f64>,
    /// What dry friction applies along each coordinate, N or N·m.
    pub friction: Vec<f64>,
    /// Constraint forces of all joints ([`Joint::rows`]), N or N·m, then those of the couplings.
    pub multipliers: Vec<f64>,
    /// Pose of what joints call the world: a scripted moving base.
    pub base: Pose,
    /// Coordinates that only one engine knows.
    pub private: Vec<f64>,
    stamp: u64,
}

impl Clone for State {
    fn clone(&self) -> State {
        State {
            poses: self.poses.clone(),
            twists: self.twists.clone(),
            coordinates: self.coordinates.clone(),
            rates: self.rates.clone(),
            forces: self.forces.clone(),
            friction: self.friction.clone(),
            multipliers: self.multipliers.clone(),
            private: self.private.clone(),
            ..*self
        }
    }

    /// In the memory that it has.
    fn clone_from(&mut self, other: &State) {
        let State { poses, twists, coordinates, rates, forces, friction, multipliers, private, .. } = other;
        (self.time, self.steps, self.base, self.stamp) = (other.time, other.steps, other.base, other.stamp);
        self.poses.clone_from(poses);
        self.twists.clone_from(twists);
        for (to, from) in [
            (&mut self.coordinates, coordinates),
            (&mut self.rates, rates),
            (&mut self.forces, forces),
            (&mut self.friction, friction),
            (&mut self.multipliers, multipliers),
            (&mut self.private, private),
        ] {
            to.clone_from(from);
        }
    }
}

impl State {
    /// Where the mechanism starts (the file's pose, unless its joints say `start`), at rest.
    pub fn at_rest(mechanism: &Mechanism) -> State {
        let (coordinates, start) = (mechanism.coordinate_count(), mechanism.start());
        let rows = 6 * mechanism.joints().len() - coordinates + mechanism.couplings().len();
        State {
            time: 0.0,
            steps: 0,
            poses: match start {
                Some(start) => start.poses.clone(),
                None => mechanism.bodies().iter().map(|b| b.pose).collect(),
            },
            twists: vec![Twist::ZERO; mechanism.bodies().len()],
            coordinates: start.map_or_else(|| vec![0.0; coordinates], |start| start.coordinates.clone()),
            rates: vec![0.0; coordinates],
            forces: vec![0.0; coordinates],
            friction: vec![0.0; coordinates],
            multipliers: vec![0.0; rows],
            base: Pose::identity(),
            private: Vec::new(),
            stamp: mechanism.marks().structure,
        }
    }

    /// Whether this is a state of the mechanism.
    pub fn belongs_to(&self, mechanism: &Mechanism) -> bool {
        let (bodies, coordinates) = (mechanism.bodies().len(), mechanism.coordinate_count());
        let rows = 6 * mechanism.joints().len() - coordinates + mechanism.couplings().len();
        self.stamp == mechanism.marks().structure
            && [self.poses.len(), self.twists.len()] == [bodies; 2]
            && [&self.coordinates, &self.rates, &self.forces, &self.friction]
                .iter()
                .all(|list| list.len() == coordinates)
            && self.multipliers.len() == rows
    }

    /// Whether it is a state of the mechanism with finite numbers; the error says what is not.
    pub(crate) fn check(&self, mechanism: &Mechanism) -> Result<(), InputError> {
        if !self.belongs_to(mechanism) {
            return Err(InputError::new("the state belongs to another mechanism"));
        }
        if let Some(body) = self.first_not_finite() {
            let name = &mechanism[body].name;
            return Err(InputError::new(format!("the state's body `{name}` is not finite")));
        }
        if !self.is_finite() {
            return Err(InputError::new("the state has numbers that are not finite"));
        }
        Ok(())
    }

    /// Takes all but time, poses and twists from a state of a mechanism with the same joints.
    pub(crate) fn copy_joints(&mut self, other: &State) {
        self.coordinates.copy_from_slice(&other.coordinates);
        self.rates.copy_from_slice(&other.rates);
        self.forces.copy_from_slice(&other.forces);
        self.friction.copy_from_slice(&other.friction);
        self.multipliers.copy_from_slice(&other.multipliers);
        self.private.clone_from(&other.private);
        self.base = other.base;
    }

    /// The link frame of a body in the world.
    pub fn pose(&self, body: BodyId) -> Result<Pose, UnknownHandle> {
        body.check(self.stamp as u32, self.poses.len()).map(|b| self.poses[b])
    }

    /// The frame of an effector in the world.
    pub fn effector_pose(&self, mechanism: &Mechanism, effector: EffectorId) -> Result<Pose, UnknownHandle> {
        let effector = mechanism.effector(effector)?;
        Ok(self.pose(effector.body)? * effector.frame)
    }

    /// The twist of a body in world axes, at the link frame's origin.
    pub fn world_twist(&self, body: BodyId) -> Result<Twist, UnknownHandle> {
        body.check(self.stamp as u32, self.twists.len()).map(|b| self.world_twist_at(b))
    }

    /// The same, by the position in the list.
    pub(crate) fn world_twist_at(&self, body: usize) -> Twist {
        let (rotation, twist) = (self.poses[body].rotation, self.twists[body]);
        Twist { linear: rotation * twist.linear, angular: rotation * twist.angular }
    }

    /// The coordinates of a joint.
    pub fn coordinates_of(&self, mechanism: &Mechanism, joint: JointId) -> Result<&[f64], UnknownHandle> {
        let own = mechanism.joint(joint)?.coordinates();
        let unknown = UnknownHandle { what: "joint", index: joint.index() };
        self.coordinates.get(own).filter(|_| self.stamp == mechanism.marks().structure).ok_or(unknown)
    }

    /// The first body whose pose or twist is not finite.
    pub fn first_not_finite(&self) -> Option<BodyId> {
        let finite = |b: &usize| self.poses[*b].is_finite() && self.twists[*b].is_finite();
        (0..self.poses.len()).find(|b| !finite(b)).map(|b| BodyId::new(b, self.stamp as u32))
    }

    /// Whether every number is finite.
    pub fn is_finite(&self) -> bool {
        let lists =
            [&self.coordinates, &self.rates, &self.forces, &self.friction, &self.multipliers, &self.private];
        self.first_not_finite().is_none()
            && self.base.is_finite()
            && self.time.is_finite()
            && lists.iter().all(|list| list.iter().all(|x| x.is_finite()))
    }

    /// The joint's relative pose X: its child frame in its parent frame.
    pub fn relative_pose(&self, mechanism: &Mechanism, joint: &Joint) -> Pose {
        let parent = joint.parent.map_or(self.base, |b| self.poses[b.index()]);
        let outer = parent * mechanism.frame_in_parent(joint);
        outer.inverse_times(&(self.poses[joint.child.index()] * mechanism.frame_in_child(joint)))
    }

    /// Of each joint the gap between the two attachment points, m: how far X is from X(θ), along the translations.
    pub fn gaps<'a>(&'a self, mechanism: &'a Mechanism) -> impl Iterator<Item = f64> + 'a {
        mechanism.joints().iter().map(|joint| {
            let X = self.relative_pose(mechanism, joint);
            let q = joint.kind.coordinates(&X, &self.coordinates[joint.coordinates()]);
            (X.position - joint.kind.transform(&q.as_slice()[..joint.kind.freedoms()]).position).norm()
        })
    }

    /// Sum of the gaps of all joints, over the mechanism's radius (over one metre if it has none).
    pub fn violation(&self, mechanism: &Mechanism) -> f64 {
        let radius = mechanism.radius();
        self.gaps(mechanism).sum::<f64>() / if radius > 0.0 { radius } else { 1.0 }
    }

    /// Kinetic energy of all bodies and rotors, J.
    pub fn kinetic_energy(&self, mechanism: &Mechanism) -> f64 {
        let bodies = mechanism.bodies().iter().zip(&self.twists);
        let rotors = mechanism.joints().iter().flat_map(|j| &j.freedoms).zip(&self.rates);
        bodies.map(|(body, twist)| body.inertia.kinetic_energy(twist)).sum::<f64>()
            + rotors.map(|(freedom, rate)| 0.5 * freedom.armature * rate * rate).sum::<f64>()
    }

    /// Energy in a field of gravity (world axes, m/s²), zero at the world's origin, J.
    pub fn potential_energy(&self, mechanism: &Mechanism, gravity: nalgebra::Vector3<f64>) -> f64 {
        let height = |(body, pose): (&crate::mechanism::Body, &Pose)| {
            body.inertia.mass * gravity.dot(&pose.transform_point(&body.inertia.center_of_mass))
        };
        -mechanism.bodies().iter().zip(&self.poses).map(height).sum::<f64>()
    }
}
