//! Pliant: a simulator for compliant articulated mechanisms.

pub use pliant_core::{gallery, joints, mechanism, nalgebra, order, spatial};
pub use pliant_io as io;

/// What most programs need.
pub mod prelude {
    pub use crate::{gallery, io};
    pub use pliant_core::joints::JointKind;
    pub use pliant_core::mechanism::{
        Body, BodyId, EffectorId, JointDescription, JointId, Mechanism, MechanismBuilder,
    };
    pub use pliant_core::spatial::{Pose, SpatialInertia, Twist, Wrench};
}
