//! The full engine: every link in maximal coordinates, any loops, and statics; the reference that other engines are measured against.
//!
//! ```
//! use pliant_core::{engine::Simulation, full, gallery};
//!
//! let mut simulation = full::Model::new(&gallery::ladder(6)).simulate();
//! simulation.inputs_mut().add_scene_loads();
//! assert!(simulation.settle(&Default::default())?.stable);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
#![doc = include_str!("README.md")]

mod assembly;
mod carrying;
mod contact;
mod floating;
mod frames;
mod geometric;
mod indicator;
mod model;
mod placing;
mod simulation;
mod statics;
mod step;
mod tangent;
mod target;
#[cfg(test)]
mod tests;
mod unsymmetric;

pub use crate::engine::laws::{LIMIT_STIFFNESS, LIMIT_STIFFNESS_TRANSLATION};
pub(crate) use geometric::{geometric_stiffness, torques_on_nodes};
pub(crate) use indicator::estimate_by_full;
pub use model::Model;
pub(crate) use model::inverse_of as inverse_inertia;
pub use simulation::Simulation;
pub(crate) use statics::settle_by_full;
pub use tangent::Tangent;

/// Newton iterations of a step unless a user says otherwise.
pub const DEFAULT_ITERATIONS: usize = 2;
