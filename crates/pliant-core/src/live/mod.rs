//! The live engine: the motions of the effectors, linearised in every step, and exact at rest.
//!
//! ```
//! use pliant_core::{engine::Simulation, gallery, live};
//!
//! let mut simulation = live::Model::new(&gallery::arm())?.simulate();
//! simulation.settle(&Default::default())?;
//! assert!(simulation.estimate()? < 1e-9);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
#![doc = include_str!("README.md")]

mod closed;
mod condensing;
mod contact;
mod floating;
mod gathering;
mod inner;
mod kinematics;
mod loops;
mod model;
mod plan;
mod rows;
mod simulation;
mod step;
#[cfg(test)]
mod tests;

pub use inner::Dropped;
pub use model::Model;
pub use simulation::Simulation;
