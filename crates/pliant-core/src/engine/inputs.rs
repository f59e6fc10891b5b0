//! What acts on a mechanism from outside, the same for every engine: loads, set-points, gravity, a moving base, and
//! spring couplings. Every setter checks its handles and numbers; after an error nothing has changed.

use std::sync::atomic::{AtomicU64, Ordering};

use nalgebra::Vector3;

use super::laws::{self, Governed, Law};
use super::spring::{Spring, SpringId};
use super::{InputError, State};
use crate::mechanism::{BodyId, EffectorId, JointId, Mechanism, UnknownHandle};
use crate::spatial::{Pose, Twist, Wrench};

/// Everything that acts from outside.
///
/// ```
/// use pliant_core::{engine::Simulation, full, gallery, spatial::Wrench};
///
/// let mechanism = gallery::two_link(); // no gravity; hinges of 100 N·m/rad
/// let elbow = mechanism.find_joint("elbow").ok_or("no elbow")?;
/// let mut simulation = full::Model::new(&mechanism).simulate();
/// simulation.inputs_mut().set_target(elbow, &[0.5])?; // where the spring is relaxed, rad
/// simulation.settle(&Default::default())?;
/// assert!((simulation.joint_positions(elbow)?[0] - 0.5).abs() < 1e-9);
///
/// let tip = simulation.effector("tip")?;
/// simulation.inputs_mut().set_load(tip, Wrench::torque([0.0, 0.0, 10.0]))?;
/// simulation.settle(&Default::default())?;
/// let angle = simulation.joint_positions(elbow)?[0];
/// assert!((angle - 0.6).abs() < 1e-9); // 10 N·m turn it by 0.1 rad
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Inputs {
    mechanism: Mechanism,
    /// Gravity, world axes, m/s².
    pub(crate) gravity: Vector3<f64>,
    /// Dead load at each effector's origin, world axes.
    pub(crate) effector_loads: Vec<Wrench>,
    /// Dead load at each body's link frame, world axes.
    pub(crate) body_loads: Vec<Wrench>,
    /// Spring rest of each coordinate.
    pub(crate) rest: Vec<f64>,
    /// What acts along each coordinate, and its dry friction; the coordinates with that or a torque limit.
    pub(crate) laws: Vec<Law>,
    friction: Vec<f64>,
    pub(crate) governed: Vec<Governed>,
    /// Base at the end of the next step, and how it moves (world axes at its origin).
    pub(crate) base: Pose,
    pub(crate) base_twist: Twist,
    pub(crate) springs: Vec<Spring>,
    /// Of each spring.
    spring_ids: Vec<SpringId>,
    /// Of each target and then of each spring of the scene, whether steps follow it.
    followed: Vec<bool>,
    changes: Changes,
}

/// What there is not under the inputs of another mechanism.
pub(crate) const FOREIGN: &str = "estimate of its error under the inputs of another mechanism";

/// Stands for laws and spring rests: inputs with the same numbers have the same ones. Numbers are unique in this process.
#[derive(Clone, Copy, Debug)]
struct Changes {
    laws: Version,
    rests: Version,
}

/// One of these numbers; the default is that of no inputs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Version(u64);

impl Version {
    fn new() -> Version {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Version(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// What is equal does not depend on when it was set.
impl PartialEq for Changes {
    fn eq(&self, _: &Changes) -> bool {
        true
    }
}

impl Inputs {
    /// Gravity, spring rests and springs of the mechanism, no loads, base at rest.
    pub fn new(mechanism: &Mechanism) -> Inputs {
        let freedoms = || mechanism.joints().iter().flat_map(|joint| &joint.freedoms);
        let (laws, friction) = (laws::laws(mechanism), freedoms().map(|f| f.friction).collect::<Vec<_>>());
        Inputs {
            governed: laws::governed(mechanism, &friction, &laws),
            laws,
            friction,
            gravity: mechanism.gravity(),
            effector_loads: vec![Wrench::ZERO; mechanism.effectors().len()],
            body_loads: vec![Wrench::ZERO; mechanism.bodies().len()],
            rest: freedoms().map(|f| f.rest).collect(),
            base: Pose::identity(),
            base_twist: Twist::ZERO,
            springs: mechanism.springs().iter().map(|spring| Spring::of_scene(mechanism, spring)).collect(),
            spring_ids: (0..mechanism.springs().len()).map(|i| SpringId::of_scene(mechanism, i)).collect(),
            followed: vec![true; mechanism.targets().len() + mechanism.springs().len()],
            changes: Changes { laws: Version::new(), rests: Version::new() },
            mechanism: mechanism.clone(),
        }
    }

    /// An error if these are the inputs of another mechanism, which were put in the place of a simulation's.
    pub(crate) fn check(&self, mechanism: &Mechanism) -> Result<(), InputError> {
        if self.mechanism.marks() == mechanism.marks() {
            return Ok(());
        }
        Err(InputError::new(format!(
            "the inputs are those of another mechanism, `{}`: make them by `Inputs::new` of the mechanism that is simulated, `{}`",
            self.mechanism.name(),
            mechanism.name()
        )))
    }

    /// Begins a step of a mechanism that ends at a time, s: follows the scene's targets.
    pub(crate) fn begin(&mut self, mechanism: &Mechanism, time: f64) -> Result<(), InputError> {
        self.check(mechanism)?;
        self.follow_targets(time);
        Ok(())
    }

    /// Which laws and which spring rests these are.
    pub(crate) fn versions(&self) -> [Version; 2] {
        [self.changes.laws, self.changes.rests]
    }

    /// Takes the spring rests of others.
    pub(crate) fn copy_rests(&mut self, other: &Inputs) {
        self.rest.copy_from_slice(&other.rest);
        self.changes.rests = other.changes.rests;
    }

    /// Gravity, world axes, m/s².
    pub fn gravity(&self) -> Vector3<f64> {
        self.gravity
    }

    /// Sets gravity, world axes, m/s².
    pub fn set_gravity(&mut self, gravity: [f64; 3]) -> Result<(), InputError> {
        finite(gravity.iter().all(|x| x.is_finite()), || "gravity".into())?;
        self.gravity = gravity.into();
        Ok(())
    }

    /// Spring rests of all coordinates, m or rad.
    pub fn rest(&self) -> &[f64] {
        &self.rest
    }

    /// Sets the dead load on an effector: world axes, at its origin.
    pub fn set_load(&mut self, effector: EffectorId, load: Wrench) -> Result<(), InputError> {
        let name = &self.mechanism.effector(effector)?.name;
        finite(load.is_finite(), || format!("the load on effector `{name}`"))?;
        self.effector_loads[effector.index()] = load;
        Ok(())
    }

    /// The dead load on an effector: world axes, at its origin.
    pub fn load(&self, effector: EffectorId) -> Result<Wrench, UnknownHandle> {
        self.mechanism.effector(effector).map(|_| self.effector_loads[effector.index()])
    }

    /// Sets the dead load on a body: world axes, at its link frame.
    pub fn set_body_load(&mut self, body: BodyId, load: Wrench) -> Result<(), InputError> {
        let name = &self.mechanism.body(body)?.name;
        finite(load.is_finite(), || format!("the load on body `{name}`"))?;
        self.body_loads[body.index()] = load;
        Ok(())
    }

    /// The dead load on a body: world axes, at its link frame.
    pub fn body_load(&self, body: BodyId) -> Result<Wrench, UnknownHandle> {
        self.mechanism.body(body).map(|_| self.body_loads[body.index()])
    }

    /// Copies spring couplings, without new memory once there were as many.
    pub(crate) fn copy_springs(&mut self, other: &Inputs) {
        self.springs.clone_from(&other.springs);
        self.spring_ids.clone_from(&other.spring_ids);
    }

    /// Adds forces to the loads on bodies, whose loads before are kept for [`Inputs::take_forces_off`].
    pub(crate) fn add_forces(&mut self, forces: &[(usize, Wrench)], before: &mut Vec<Wrench>) {
        before.clear();
        for (body, force) in forces {
            before.push(self.body_loads[*body]);
            self.body_loads[*body] = self.body_loads[*body] + *force;
        }
    }

    /// Puts the loads back to the last bit; the last that was changed first, so that a body may stand twice.
    pub(crate) fn take_forces_off(&mut self, forces: &[(usize, Wrench)], before: &[Wrench]) {
        for ((body, _), before) in forces.iter().zip(before).rev() {
            self.body_loads[*body] = *before;
        }
    }

    /// Adds the loads that the scene shows to those on its effectors.
    pub fn add_scene_loads(&mut self) {
        for load in self.mechanism.loads() {
            let at = &mut self.effector_loads[load.effector.index()];
            *at = *at + load.wrench;
        }
    }

    /// Sets the spring rest (the set-point of a PD control) of a joint, one number per freedom. Steps no longer follow
    /// the scene's targets of that joint.
    pub fn set_target(&mut self, joint: JointId, rest: &[f64]) -> Result<(), InputError> {
        let own = self.mechanism.joint(joint)?;
        let range = own.coordinates();
        if rest.len() != range.len() {
            return Err(InputError::new(format!(
                "the target of joint `{}` has {} numbers, but the joint has {} freedoms",
                own.name,
                rest.len(),
                range.len()
            )));
        }
        finite(rest.iter().all(|x| x.is_finite()), || format!("the target of joint `{}`", own.name))?;
        self.rest[range].copy_from_slice(rest);
        self.changes.rests = Version::new();
        for (followed, target) in self.followed.iter_mut().zip(self.mechanism.targets()) {
            *followed &= target.joint != joint;
        }
        Ok(())
    }

    /// What a property of a joint's freedoms is now.
    pub fn joint_property(&self, joint: JointId, property: JointProperty) -> Result<Vec<f64>, UnknownHandle> {
        let own = self.mechanism.joint(joint)?.coordinates();
        Ok(own.map(|at| *property.of(&mut self.laws[at].clone(), &mut self.friction[at].clone())).collect())
    }

    /// Sets a property of a joint's freedoms, one number per freedom.
    pub(crate) fn set_joint(
        &mut self,
        joint: JointId,
        property: JointProperty,
        values: &[f64],
    ) -> Result<(), InputError> {
        let own = self.mechanism.joint(joint)?;
        let (name, what, range) = (&own.name, property.name(), own.coordinates());
        if values.len() != range.len() {
            return Err(InputError::new(format!(
                "the {what} of joint `{name}` has {} numbers, but the joint has {} freedoms",
                values.len(),
                range.len()
            )));
        }
        let (valid, right): (fn(&f64) -> bool, _) = match property {
            JointProperty::TorqueLimit => (|x| *x > 0.0, "above zero, inf for none"),
            _ => (|x| x.is_finite() && *x >= 0.0, "finite and zero or above"),
        };
        if let Some(bad) = values.iter().find(|x| !valid(x)) {
            return Err(InputError::new(format!(
                "the {what} of joint `{name}` cannot be {bad}: it must be {right}"
            )));
        }
        for (at, value) in range.zip(values) {
            *property.of(&mut self.laws[at], &mut self.friction[at]) = *value;
        }
        self.changes.laws = Version::new();
        if property == JointProperty::Stiffness {
            laws::stiffen_limits(&self.mechanism, &mut self.laws);
        }
        if matches!(property, JointProperty::Friction | JointProperty::TorqueLimit) {
            self.governed = laws::governed(&self.mechanism, &self.friction, &self.laws);
        }
        Ok(())
    }

    /// Takes away what of the friction in a state is more than there is now.
    pub(crate) fn bound_friction(&self, state: &mut State) {
        for (force, bound) in state.friction.iter_mut().zip(&self.friction) {
            *force = force.clamp(-bound, *bound);
        }
    }

    /// Takes a saved state of any engine, and its base, which is at rest then.
    pub(crate) fn take_state(&mut self, saved: &State, state: &mut State) -> Result<(), InputError> {
        saved.check(&self.mechanism)?;
        self.set_base(saved.base, Twist::ZERO)?;
        state.clone_from(saved);
        state.private.clear(); // of another engine
        self.bound_friction(state);
        Ok(())
    }

    /// Whether any joint has dry friction.
    pub(crate) fn has_friction(&self) -> bool {
        self.governed.iter().any(|own| own.friction > 0.0)
    }

    /// Energy of all joint springs, J; limits not included.
    pub(crate) fn elastic_energy(&self, state: &State) -> f64 {
        let stretch = state.coordinates.iter().zip(&self.rest).map(|(q, rest)| q - rest);
        self.laws.iter().zip(stretch).map(|(law, s)| law.energy(s)).sum()
    }

    /// Sets the spring rests that the scene's targets have at a time, s, and the points that its springs go to. Steps do so for the time
    /// that they end at.
    pub fn follow_targets(&mut self, time: f64) {
        let followed = self.mechanism.targets().iter().zip(&self.followed);
        for (target, _) in followed.filter(|(_, followed)| **followed) {
            let range = self.mechanism[target.joint].coordinates();
            let after = target.time.partition_point(|t| *t <= time);
            let (a, b) = (after.max(1) - 1, after.min(target.time.len() - 1));
            let span = target.time[b] - target.time[a];
            let s = if span > 0.0 { (time - target.time[a]) / span } else { 0.0 };
            for (k, rest) in self.rest[range].iter_mut().enumerate() {
                let now = target.position[a][k] * (1.0 - s) + target.position[b][k] * s;
                if now != *rest {
                    *rest = now;
                    self.changes.rests = Version::new();
                }
            }
        }
        let first = self.mechanism.targets().len();
        for (i, spring) in self.mechanism.springs().iter().enumerate() {
            if spring.time.is_empty() || !self.followed[first + i] {
                continue;
            }
            let id = SpringId::of_scene(&self.mechanism, i);
            if let Some(at) = self.spring_ids.iter().position(|other| *other == id) {
                let (point, speed) = spring.point_at(time);
                self.springs[at].target.position = point;
                self.springs[at].target_twist.linear = speed;
            }
        }
    }

    /// Springs of the scene, in its order: their names and handles. One that was removed has its handle still.
    pub fn scene_springs(&self) -> impl Iterator<Item = (&str, SpringId)> {
        let springs = self.mechanism.springs().iter().enumerate();
        springs.map(|(i, spring)| (spring.name.as_str(), SpringId::of_scene(&self.mechanism, i)))
    }

    /// Whether the point of a spring moves with time.
    pub(crate) fn follows_springs(&self) -> bool {
        let springs = self.mechanism.springs().iter();
        springs.zip(&self.followed[self.mechanism.targets().len()..]).any(|(s, f)| *f && !s.time.is_empty())
    }

    /// Stops following the scene's targets; gives what [`Inputs::follow_again`] takes.
    pub(crate) fn hold_targets(&mut self) -> Vec<bool> {
        let none = vec![false; self.followed.len()];
        std::mem::replace(&mut self.followed, none)
    }

    pub(crate) fn follow_again(&mut self, followed: Vec<bool>) {
        self.followed = followed;
    }

    /// Follows what others follow, of a mechanism with the same targets; of springs, those that both have, which come first.
    pub(crate) fn follow_as(&mut self, other: &Inputs) {
        for (own, other) in self.followed.iter_mut().zip(&other.followed) {
            *own = *other;
        }
    }

    /// Whether steps follow targets or moving springs of the scene.
    pub fn follows_targets(&self) -> bool {
        self.followed[..self.mechanism.targets().len()].iter().any(|followed| *followed)
            || self.follows_springs()
    }

    /// Moves what joints call the world: its pose at the end of the next step and its twist (world
    /// axes, at its origin).
    pub fn set_base(&mut self, pose: Pose, twist: Twist) -> Result<(), InputError> {
        finite(pose.is_finite() && twist.is_finite(), || "the base's motion".into())?;
        self.base = pose;
        self.base_twist = twist;
        Ok(())
    }

    /// The twist of the base, world axes, at its origin.
    pub fn base_twist(&self) -> Twist {
        self.base_twist
    }

    /// Moves the base, without any time passing: its pose H becomes motion·H, and its twist turns with it.
    pub(crate) fn teleport_base(&mut self, motion: &Pose) -> Result<(), InputError> {
        finite(motion.is_finite(), || "the motion of a teleport".into())?;
        self.set_base(*motion * self.base, self.base_twist.turned(&motion.rotation))
    }

    /// Adds a spring coupling.
    pub fn add_spring(&mut self, spring: Spring) -> Result<SpringId, InputError> {
        self.mechanism.body(spring.body)?;
        spring.check()?;
        let id = SpringId::new(self.springs.len());
        self.springs.push(spring);
        self.spring_ids.push(id);
        Ok(id)
    }

    /// A spring coupling.
    pub fn spring(&self, id: SpringId) -> Result<&Spring, UnknownHandle> {
        self.find_spring(id).map(|at| &self.springs[at])
    }

    /// Moves the frame that a spring coupling goes to, and says how it moves: world axes at its origin. Steps no longer move that of the
    /// scene.
    pub fn set_spring_target(
        &mut self,
        id: SpringId,
        target: Pose,
        target_twist: Twist,
    ) -> Result<(), InputError> {
        let at = self.find_spring(id)?;
        let moved = Spring { target, target_twist, ..self.springs[at] };
        moved.check()?;
        self.springs[at] = moved;
        let scene = self.mechanism.springs().len();
        if let Some(i) = (0..scene).find(|i| SpringId::of_scene(&self.mechanism, *i) == id) {
            self.followed[self.mechanism.targets().len() + i] = false;
        }
        Ok(())
    }

    /// Removes a spring coupling.
    pub fn remove_spring(&mut self, id: SpringId) -> Result<Spring, UnknownHandle> {
        let at = self.find_spring(id)?;
        self.spring_ids.remove(at);
        Ok(self.springs.remove(at))
    }

    /// Removes all spring couplings.
    pub fn clear_springs(&mut self) {
        self.springs.clear();
        self.spring_ids.clear();
    }

    fn find_spring(&self, id: SpringId) -> Result<usize, UnknownHandle> {
        let unknown = UnknownHandle { what: "spring coupling", index: id.index as usize };
        self.spring_ids.iter().position(|other| *other == id).ok_or(unknown)
    }
}

/// What acts along the freedoms of a joint, each N/m or N·m/rad, N·s/m or N·m·s/rad, N or N·m:
/// [`Simulation::set_joint`](super::Simulation::set_joint).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JointProperty {
    /// Of its springs.
    Stiffness,
    /// Of its dampers.
    Damping,
    /// The most that spring and damper together apply; +∞ for no bound.
    TorqueLimit,
    /// Dry friction.
    Friction,
}

impl JointProperty {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            JointProperty::Stiffness => "stiffness",
            JointProperty::Damping => "damping",
            JointProperty::TorqueLimit => "torque limit",
            JointProperty::Friction => "friction",
        }
    }

    /// The words for its change during a run.
    pub(super) fn change(self) -> &'static str {
        match self {
            JointProperty::Stiffness => "change of joint stiffness during a run",
            JointProperty::Damping => "change of joint damping during a run",
            JointProperty::TorqueLimit => "change of torque limits during a run",
            JointProperty::Friction => "change of joint friction during a run",
        }
    }

    fn of<'a>(self, law: &'a mut Law, friction: &'a mut f64) -> &'a mut f64 {
        match self {
            JointProperty::Stiffness => &mut law.stiffness,
            JointProperty::Damping => &mut law.damping,
            JointProperty::TorqueLimit => &mut law.torque_limit,
            JointProperty::Friction => friction,
        }
    }
}

fn finite(ok: bool, what: impl FnOnce() -> String) -> Result<(), InputError> {
    if ok { Ok(()) } else { Err(InputError::new(format!("{} is not finite", what()))) }
}
