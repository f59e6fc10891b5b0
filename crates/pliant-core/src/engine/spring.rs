//! Spring couplings: a spring with damper between a frame on a body and a frame that moves, such as a mouse or a haptic
//! device.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};

use nalgebra::{Matrix3, Matrix6, Vector6};

use super::{InputError, State};
use crate::mechanism::{BodyId, Mechanism, PointSpring};
use crate::spatial::{Pose, Twist, Wrench, left_jacobian_rotation_inverse, log_rotation};

/// A spring with damper between a frame on a body and a frame that moves: a mouse, a haptic device.
///
/// ```
/// use pliant_core::{engine::*, full, gallery, spatial::*};
///
/// let mechanism = gallery::two_link();
/// let mut simulation = full::Model::new(&mechanism).simulate();
/// let tip = mechanism.effectors()[0].clone();
/// let device = simulation.inputs_mut().add_spring(Spring {
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
/// let force = simulation.spring_force(device)?.force;
/// assert!((force.y - 8.0).abs() < 0.2); // the spring is stretched by half of the 0.2 m
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spring {
    /// The body it acts on.
    pub body: BodyId,
    /// The frame on it, in the link frame.
    pub frame: Pose,
    /// The frame that it goes to, in the world, at the end of the next step.
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

/// A spring coupling of one simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SpringId {
    /// Its position when it was added.
    pub(super) index: u32,
    mark: u64,
}

impl SpringId {
    /// That of a spring which is added at a position. Unique in this process: the handle of another simulation, or of a spring that was
    /// removed, is never mistaken.
    pub(super) fn new(index: usize) -> SpringId {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        SpringId { index: index as u32, mark: NEXT.fetch_add(1, Ordering::Relaxed) }
    }

    /// That of a spring of the scene: the same in all simulations of mechanisms that have the same structure and this spring in this place.
    pub(super) fn of_scene(mechanism: &Mechanism, i: usize) -> SpringId {
        let mut hasher = DefaultHasher::new();
        let spring = &mechanism.springs()[i];
        (mechanism.marks().structure, &spring.name, spring.body, i).hash(&mut hasher);
        SpringId { index: i as u32, mark: 1 << 63 | hasher.finish() }
    }
}

impl Spring {
    /// A spring of the scene, where its point is at time 0, at rest.
    pub(super) fn of_scene(mechanism: &Mechanism, spring: &PointSpring) -> Spring {
        let turned = (mechanism[spring.body].pose * spring.frame).rotation;
        Spring {
            body: spring.body,
            frame: spring.frame,
            target: Pose::new(turned, spring.point_at(0.0).0),
            target_twist: Twist::ZERO,
            stiffness: spring.stiffness,
            turning_stiffness: spring.turning_stiffness,
            damping: spring.damping,
            turning_damping: spring.turning_damping,
        }
    }

    /// f = k(x_t − x) + d(ẋ_t − ẋ), τ = −k_r log(R R_tᵀ) + d_r(ω_t − ω) on its frame, which is at a pose and has a twist,
    /// world axes at the frame's origin.
    pub(crate) fn wrench(&self, pose: &Pose, twist: &Twist) -> Wrench {
        let turned = log_rotation(&(pose.rotation * self.target.rotation.inverse()));
        let behind = self.target_twist - *twist;
        Wrench {
            force: (self.target.position - pose.position) * self.stiffness + behind.linear * self.damping,
            torque: turned * -self.turning_stiffness + behind.angular * self.turning_damping,
        }
    }

    /// Its energy at a state, J.
    pub(crate) fn energy(&self, state: &State) -> f64 {
        let pose = state.poses[self.body.index()] * self.frame;
        let turned = pose.rotation.angle_to(&self.target.rotation);
        let stretched = (pose.position - self.target.position).norm_squared();
        0.5 * (self.stiffness * stretched + self.turning_stiffness * turned * turned)
    }

    /// The same on its body at a state.
    pub(crate) fn on(&self, state: &State) -> Wrench {
        let pose = state.poses[self.body.index()] * self.frame;
        let twist = self.frame.twist_to_local(&state.twists[self.body.index()]);
        self.wrench(&pose, &twist.turned(&pose.rotation))
    }

    /// Resistance to small turns of the frame, world axes: R R_tᵀ turned by θ has ė = Jl(e)⁻¹θ, and the symmetric part
    /// keeps the matrix of a step definite.
    pub(crate) fn turning(&self, pose: &Pose) -> Matrix3<f64> {
        let B =
            left_jacobian_rotation_inverse(&log_rotation(&(pose.rotation * self.target.rotation.inverse())));
        (B + B.transpose()) * (0.5 * self.turning_stiffness)
    }

    /// In the axes of its frame at rest: wrench, stiffness and damping.
    pub(crate) fn in_frame(&self, pose: &Pose) -> (Vector6<f64>, Matrix6<f64>, Matrix6<f64>) {
        let (R, Wrench { force, torque }) = (pose.rotation_matrix(), self.wrench(pose, &Twist::ZERO));
        let mut K = Matrix6::from_diagonal_element(self.stiffness);
        K.fixed_view_mut::<3, 3>(3, 3).copy_from(&(R.tr_mul(&self.turning(pose)) * R));
        let mut D = Matrix6::from_diagonal_element(self.damping);
        D.fixed_view_mut::<3, 3>(3, 3).copy_from(&(Matrix3::identity() * self.turning_damping));
        (Wrench { force: R.tr_mul(&force), torque: R.tr_mul(&torque) }.to_vector(), K, D)
    }

    pub(super) fn check(&self) -> Result<(), InputError> {
        let strengths = [self.stiffness, self.turning_stiffness, self.damping, self.turning_damping];
        // More leaves no number when it is multiplied by the square of a step.
        if strengths.iter().any(|s| !(0.0..=1e200).contains(s)) {
            let message =
                "stiffness and damping of a spring coupling must be finite, zero or above, and at most 1e200";
            return Err(InputError::new(message));
        }
        if !(self.frame.is_finite() && self.target.is_finite() && self.target_twist.is_finite()) {
            return Err(InputError::new("the frame or target of a spring coupling is not finite"));
        }
        Ok(())
    }
}
