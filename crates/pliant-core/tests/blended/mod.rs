//! The blended engine.

mod branches;
mod fading;
mod motion;
mod samples;
mod sampling;
mod springs;

use pliant_core::engine::Spring;
use pliant_core::mechanism::BodyId;
use pliant_core::spatial::{Pose, Twist};

/// A spring with a damper from a frame on a body to a pose in the world.
fn pull(body: BodyId, frame: Pose, target: Pose, stiffness: f64) -> Spring {
    Spring {
        body,
        frame,
        target,
        target_twist: Twist::ZERO,
        stiffness,
        turning_stiffness: 0.0,
        damping: 10.0,
        turning_damping: 0.0,
    }
}
