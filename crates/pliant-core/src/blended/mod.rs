//! The blended engine: several linear models at loaded equilibria, weighed by the pose of the effectors.
//!
//! ```
//! use pliant_core::{blended, engine::Simulation, gallery, spatial::Wrench};
//!
//! let mut model = blended::Model::new(&gallery::two_link(), Default::default())?;
//! model.add(&[Wrench::force([0.0, 40.0, 0.0])])?; // one more sample
//! model.simulate().step(1.0 / 60.0)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
#![doc = include_str!("README.md")]

mod aligned;
mod contact;
mod evaluation;
mod fading;
mod model;
mod options;
mod sampling;
mod simulation;
mod spring_couplings;
mod statics;
mod step;
mod tree;
mod weights;

pub use model::{Model, Sample, SampleError};
pub use options::{Links, Matrices, Options};
pub use sampling::{Doing, Limit, Outcome, Progress, Sampling};
pub use simulation::Simulation;
