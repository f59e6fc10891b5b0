//! Springs and dampers from a frame on a link to a frame that moves: a mouse, a haptic device.
//!
//! The wrench at the end of a step is w = w₀ − (hK + D)·(the frame's motion), w₀ with the frame at rest: w₀ is a load,
//! and h²K + hD on the frame, which is a port, joins the small system.

use nalgebra::{Matrix3, Vector3};

use super::rows::{Row, V3, angular, cross, linear, plus};
use crate::inputs::Pull;
use crate::spatial::{Pose, Wrench, left_jacobian_rotation_inverse, log_rotation};

/// What a pull exerts on a frame at rest, world axes at its origin, and the stiffness of its turning.
pub(super) fn spring(pull: &Pull, pose: &Pose) -> (Wrench, Matrix3<f64>) {
    // R R_tᵀ turned by θ in world axes: ė = Jl(e)⁻¹ θ.
    let e = log_rotation(&(pose.rotation * pull.target.rotation.inverse()));
    let force =
        (pull.target.position - pose.position) * pull.stiffness + pull.target_twist.linear * pull.damping;
    let torque = e * -pull.turning_stiffness + pull.target_twist.angular * pull.turning_damping;
    let B = left_jacobian_rotation_inverse(&e);
    (Wrench { force, torque }, (B + B.transpose()) * (0.5 * pull.turning_stiffness))
}

/// What a pull exerts on a link that moves, world axes at the pulled frame's origin.
pub(super) fn force(pull: &Pull, pose: &Pose, twist: &Row, arm: V3) -> Wrench {
    let (mut wrench, _) = spring(pull, pose);
    let velocity = plus(linear(twist), cross::<false>(angular(twist), arm));
    wrench.force -= Vector3::from(velocity) * pull.damping;
    wrench.torque -= Vector3::from(angular(twist)) * pull.turning_damping;
    wrench
}
