//! A few motions of the joints, with exact kinematics, energy, loads and inertia on them: right for large motions.
//!
//! ```
//! use pliant_core::{engine::Simulation, gallery, reduced::Reduction};
//!
//! let model = Reduction::at_rest(&gallery::arm()).build()?;
//! let mut simulation = model.simulate();
//! simulation.inputs_mut().add_scene_loads();
//! (0..60).try_for_each(|_| simulation.step(1.0 / 60.0))?;
//! assert!(simulation.violation() < 1e-12); // nothing comes apart
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
#![doc = include_str!("README.md")]

mod acting;
mod balls;
mod basis;
mod closed_statics;
mod closures;
mod columns;
mod compliance;
mod contact;
mod failing;
mod floating;
mod limits;
mod loop_joint;
mod manifold;
mod matrix;
mod model;
mod modes;
mod momentum;
mod motion;
mod owed;
mod placing;
mod reduction;
mod sampling;
mod shapes;
mod simulation;
mod springs;
mod statics;
mod step;
mod system;
mod tree;

pub use crate::linear::ReductionError;
pub use model::{Model, Options};
pub use reduction::Reduction;
pub use sampling::{Doing, Every, Limit, Outcome, Progress, Sampling, too_few_to_reduce};
pub use simulation::Simulation;
