//! Pliant: a simulator for compliant articulated mechanisms.
//!
//! ```
//! use pliant::prelude::*;
//!
//! let mechanism = gallery::helix(50);
//! let mut simulation = full::Model::new(&mechanism).simulate();
//! let tip = simulation.effector("tip")?;
//! simulation.set_load(tip, Wrench::force([0.0, 0.0, -100.0]))?;
//! for _ in 0..60 {
//!     simulation.step(1.0 / 60.0)?;
//! }
//! assert!(simulation.effector_pose(tip)?.position.z < mechanism.bodies()[49].pose.position.z);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[doc(hidden)]
pub use pliant_core::{algebra, numbers};
pub use pliant_core::{
    articulated, blended, closest, contact, engine, engines, expression, full, gallery, joints, linear,
    mechanism, nalgebra, reduced, spatial,
};
pub use pliant_io as io;

mod linearization;
mod moving;
mod opening;
pub mod placing;
pub mod rollout;
#[doc(hidden)]
pub mod shared;

pub use linearization::{Linearization, LinearizationError, linearize};
pub use moving::{Moving, Touching};
pub use opening::{OpenError, open};

/// What most programs need. Engines go by their module: `full::Model`, `full::Simulation`; any simulation is a
/// [`Simulation`](pliant_core::engine::Simulation), and can be stored as `Box<dyn Simulation>`.
///
/// ```
/// use pliant::prelude::*;
///
/// let mechanism = gallery::build("y")?;
/// let mut exact = full::Model::new(&mechanism).simulate();
/// let mut fast = reduced::Reduction::at_rest(&mechanism).build()?.simulate();
/// let left = exact.effector("left")?;
/// let start = exact.effector_pose(left)?.position;
/// exact.inputs_mut().add_scene_loads(); // every engine takes the same inputs
/// fast.inputs_mut().add_scene_loads();
/// exact.settle(&StaticsSettings::default())?;
/// (0..100).try_for_each(|_| fast.step(0.05))?; // to rest
///
/// let goal = exact.effector_pose(left)?.position;
/// let error = (fast.effector_pose(left)?.position - goal).norm();
/// assert!(error < 1e-6 * (goal - start).norm());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub mod prelude {
    pub use crate::{articulated, blended, contact, full, gallery, io, linear, reduced};
    pub use pliant_core::engine::{Energy, Inputs, Simulation, Spring, State, StaticsSettings};
    pub use pliant_core::engines::Engine;
    pub use pliant_core::expression::Formula;
    pub use pliant_core::joints::JointKind;
    pub use pliant_core::mechanism::{
        Body, BodyId, EffectorDescription, EffectorId, Geometry, JointDescription, JointId, Mechanism,
        MechanismBuilder, Shape,
    };
    pub use pliant_core::reduced::Reduction;
    pub use pliant_core::spatial::{Pose, SpatialInertia, Twist, Wrench};
}

/// The example of the README, so that it stays true.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

/// The example of the guide.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guide/1-reduce-your-robot.md")]
struct Guide;
