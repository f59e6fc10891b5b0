//! Spatial algebra: poses, twists, wrenches and inertias as distinct types.
//!
//! Linear part first, everywhere. A twist (v, ω) and a wrench (f, τ) are given in the axes and at
//! the origin of some frame; `Pose` moves them between frames. The product of a wrench and a twist
//! of the same frame is power, whatever the frame.
//!
//! ```
//! use pliant_core::spatial::{Pose, Wrench};
//!
//! let wrist = Pose::translation([0.0, 0.0, 0.3]);
//! let at_base = wrist.wrench_to_outer(&Wrench::force([1.0, 0.0, 0.0]));
//! assert_eq!(at_base.torque.y, 0.3); // 1 N with a lever of 0.3 m
//! ```

mod exponential;
mod inertia;
mod pose;
mod tumbling;
mod twist;
mod wrench;

pub use exponential::{
    exp, exp_rotation, left_jacobian, left_jacobian_inverse, left_jacobian_rotation,
    left_jacobian_rotation_inverse, log, log_rotation, right_jacobian, right_jacobian_blocks,
    right_jacobian_inverse, right_jacobian_rotation, right_jacobian_rotation_inverse,
};
pub use inertia::SpatialInertia;
pub use pose::Pose;
pub(crate) use tumbling::free_turn;
pub use twist::Twist;
pub use wrench::Wrench;

use nalgebra::{Matrix3, Vector3};

/// The matrix \[a\]× with \[a\]× b = a × b.
#[inline]
pub fn skew(a: &Vector3<f64>) -> Matrix3<f64> {
    Matrix3::new(0.0, -a.z, a.y, a.z, 0.0, -a.x, -a.y, a.x, 0.0)
}
