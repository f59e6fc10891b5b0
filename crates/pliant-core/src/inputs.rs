//! What acts on a mechanism from outside, the same for every engine: loads, set-points, gravity, a
//! moving base, and springs to a moving frame. Every setter checks its numbers.

use nalgebra::Vector3;

use crate::mechanism::{BodyId, EffectorId, JointId, Mechanism};
use crate::spatial::{Pose, Twist, Wrench};

/// A number that is not finite, or a list of the wrong length.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct InputError {
    message: String,
}

impl InputError {
    pub(crate) fn new(message: String) -> InputError {
        InputError { message }
    }
}

/// A spring with damper between a frame on a body and a frame that moves: a mouse, a haptic device.
///
/// ```
/// use pliant_core::{full, gallery, inputs::Pull, spatial::*};
///
/// let mechanism = gallery::two_link();
/// let model = full::Model::new(&mechanism);
/// let mut simulation = model.simulate();
/// let tip = mechanism.effectors()[0].clone();
/// let hand = simulation.inputs_mut().add_pull(Pull {
///     body: tip.body,
///     frame: tip.frame,
///     target: Pose::translation([1.0, 0.2, 0.0]), // the tip is at [1, 0, 0]
///     target_twist: Twist::ZERO,
///     stiffness: 80.0, // as stiff as the tip itself
///     turning_stiffness: 0.0,
///     damping: 0.0,
///     turning_damping: 0.0,
/// })?;
/// simulation.settle(&Default::default())?;
/// let felt = simulation.pull_force(hand).force;
/// assert!((felt.y - 8.0).abs() < 0.2); // the spring is stretched by half of the 0.2 m
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pull {
    /// The body that is pulled.
    pub body: BodyId,
    /// The frame on it, in the link frame.
    pub frame: Pose,
    /// Where that frame is pulled to, in the world, at the end of the next step.
    pub target: Pose,
    /// How the target moves, world axes at its origin.
    pub target_twist: Twist,
    /// Stiffness of the translations, N/m.
    pub stiffness: f64,
    /// Stiffness of the rotations, N·m/rad.
    pub turning_stiffness: f64,
    /// Damping of the translations, N·s/m.
    pub damping: f64,
    /// Damping of the rotations, N·m·s/rad.
    pub turning_damping: f64,
}

/// A pull of an engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PullId(pub(crate) usize);

/// Everything that acts from outside.
///
/// ```
/// use pliant_core::{full, gallery, spatial::Wrench};
///
/// let mechanism = gallery::two_link(); // no gravity; hinges of 100 N·m/rad
/// let elbow = mechanism.find_joint("elbow").ok_or("no elbow")?;
/// let model = full::Model::new(&mechanism);
/// let mut simulation = model.simulate();
/// simulation.inputs_mut().set_target(&mechanism, elbow, &[0.5])?; // where the spring is relaxed, rad
/// simulation.settle(&Default::default())?;
/// assert!((simulation.state().coordinates_of(&mechanism, elbow)[0] - 0.5).abs() < 1e-9);
///
/// let tip = simulation.effector("tip")?;
/// simulation.inputs_mut().set_load(tip, Wrench::torque([0.0, 0.0, 10.0]))?;
/// simulation.settle(&Default::default())?;
/// let angle = simulation.state().coordinates_of(&mechanism, elbow)[0];
/// assert!((angle - 0.6).abs() < 1e-9); // 10 N·m turn it by 0.1 rad
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Inputs {
    /// Gravity, world axes, m/s².
    pub(crate) gravity: Vector3<f64>,
    /// Dead load at each effector's origin, world axes.
    pub(crate) effector_loads: Vec<Wrench>,
    /// Dead load at each body's link frame, world axes.
    pub(crate) body_loads: Vec<Wrench>,
    /// Spring rest of each coordinate.
    pub(crate) rest: Vec<f64>,
    /// Base at the end of the next step, and how it moves (world axes at its origin).
    pub(crate) base: Pose,
    pub(crate) base_twist: Twist,
    pub(crate) pulls: Vec<Pull>,
}

impl Inputs {
    /// Gravity and spring rests of the mechanism, no loads, base at rest.
    pub fn new(mechanism: &Mechanism) -> Inputs {
        Inputs {
            gravity: mechanism.gravity(),
            effector_loads: vec![Wrench::ZERO; mechanism.effectors().len()],
            body_loads: vec![Wrench::ZERO; mechanism.bodies().len()],
            rest: mechanism.joints().iter().flat_map(|j| &j.freedoms).map(|f| f.rest).collect(),
            base: Pose::identity(),
            base_twist: Twist::ZERO,
            pulls: Vec::new(),
        }
    }

    /// The handle of an effector, to be looked up once.
    pub(crate) fn find_effector(&self, mechanism: &Mechanism, name: &str) -> Result<EffectorId, InputError> {
        mechanism.find_effector(name).ok_or_else(|| {
            let names: Vec<_> = mechanism.effectors().iter().map(|e| format!("`{}`", e.name)).collect();
            let there = if names.is_empty() { "none".into() } else { names.join(", ") };
            InputError::new(format!("there is no effector `{name}`; there are: {there}"))
        })
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
        finite(load.is_finite(), || format!("the load on effector {}", effector.index()))?;
        *known(self.effector_loads.get_mut(effector.index()), "effector", effector.index())? = load;
        Ok(())
    }

    /// Sets the dead load on a body: world axes, at its link frame.
    pub fn set_body_load(&mut self, body: BodyId, load: Wrench) -> Result<(), InputError> {
        finite(load.is_finite(), || format!("the load on body {}", body.index()))?;
        *known(self.body_loads.get_mut(body.index()), "body", body.index())? = load;
        Ok(())
    }

    /// Takes over everything but pulls, without new memory.
    pub(crate) fn copy_from(&mut self, other: &Inputs) {
        (self.gravity, self.base, self.base_twist) = (other.gravity, other.base, other.base_twist);
        self.effector_loads.copy_from_slice(&other.effector_loads);
        self.body_loads.copy_from_slice(&other.body_loads);
        self.rest.copy_from_slice(&other.rest);
    }

    /// Takes over pulls, without new memory once there were as many.
    pub(crate) fn copy_pulls(&mut self, other: &Inputs) {
        self.pulls.clone_from(&other.pulls);
    }

    /// Sets the dead loads on all effectors.
    pub(crate) fn set_effector_loads(&mut self, loads: &[Wrench]) {
        self.effector_loads.copy_from_slice(loads);
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
    pub fn add_scene_loads(&mut self, mechanism: &Mechanism) {
        for load in mechanism.loads() {
            let sum = self.effector_loads[load.effector.index()] + load.wrench;
            self.effector_loads[load.effector.index()] = sum;
        }
    }

    /// Sets the spring rest (the set-point of a PD control) of a joint, one number per freedom.
    pub fn set_target(
        &mut self,
        mechanism: &Mechanism,
        joint: JointId,
        rest: &[f64],
    ) -> Result<(), InputError> {
        let name = || format!("the target of joint `{}`", mechanism.joint(joint).name);
        let range = mechanism.coordinates_of(joint);
        if rest.len() != range.len() {
            return Err(InputError::new(format!(
                "{} has {} numbers, but the joint has {} freedoms",
                name(),
                rest.len(),
                range.len()
            )));
        }
        finite(rest.iter().all(|x| x.is_finite()), name)?;
        self.rest[range].copy_from_slice(rest);
        Ok(())
    }

    /// Sets the spring rests that the scene's targets have at a time, s.
    pub fn follow_targets(&mut self, mechanism: &Mechanism, time: f64) {
        for target in mechanism.targets() {
            let range = mechanism.coordinates_of(target.joint);
            let after = target.time.partition_point(|t| *t <= time);
            let (a, b) = (after.max(1) - 1, after.min(target.time.len() - 1));
            let span = target.time[b] - target.time[a];
            let s = if span > 0.0 { (time - target.time[a]) / span } else { 0.0 };
            for (k, rest) in self.rest[range].iter_mut().enumerate() {
                *rest = target.position[a][k] * (1.0 - s) + target.position[b][k] * s;
            }
        }
    }

    /// Moves what joints call the world: its pose at the end of the next step and its twist (world
    /// axes, at its origin).
    pub fn set_base(&mut self, pose: Pose, twist: Twist) -> Result<(), InputError> {
        finite(pose.is_finite() && twist.is_finite(), || "the base's motion".into())?;
        self.base = pose;
        self.base_twist = twist;
        Ok(())
    }

    /// Adds a spring to a moving frame.
    pub fn add_pull(&mut self, pull: Pull) -> Result<PullId, InputError> {
        check_pull(&pull)?;
        self.pulls.push(pull);
        Ok(PullId(self.pulls.len() - 1))
    }

    /// A pull; `None` if it was let go.
    pub fn pull(&self, id: PullId) -> Option<&Pull> {
        self.pulls.get(id.0)
    }

    /// Moves the frame that a pull goes to, and says how it moves.
    pub fn set_pull(&mut self, id: PullId, target: Pose, target_twist: Twist) -> Result<(), InputError> {
        let pull = known(self.pulls.get_mut(id.0), "pull", id.0)?;
        let moved = Pull { target, target_twist, ..*pull };
        check_pull(&moved)?;
        *pull = moved;
        Ok(())
    }

    /// Lets go of everything that is pulled.
    pub fn clear_pulls(&mut self) {
        self.pulls.clear();
    }
}

/// An element by its handle, which may be of another mechanism or of something that is gone.
fn known<'a, T>(element: Option<&'a mut T>, what: &str, index: usize) -> Result<&'a mut T, InputError> {
    element.ok_or_else(|| InputError::new(format!("there is no {what} number {index} here")))
}

fn finite(ok: bool, what: impl FnOnce() -> String) -> Result<(), InputError> {
    if ok { Ok(()) } else { Err(InputError::new(format!("{} is not finite", what()))) }
}

fn check_pull(pull: &Pull) -> Result<(), InputError> {
    let strengths = [pull.stiffness, pull.turning_stiffness, pull.damping, pull.turning_damping];
    if strengths.iter().any(|s| !s.is_finite() || *s < 0.0) {
        return Err(InputError::new(
            "a pull's stiffness and damping must be finite and zero or above".into(),
        ));
    }
    let frames = pull.frame.is_finite() && pull.target.is_finite() && pull.target_twist.is_finite();
    finite(frames, || "a pull's frame or target".into())
}
