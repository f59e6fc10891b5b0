#![doc = include_str!("README.md")]

mod aligned;
mod contact;
mod evaluation;
mod model;
mod options;
mod pulls;
mod sampling;
mod simulation;
mod statics;
mod step;
mod tree;
mod weights;

pub use model::{Model, Sample, SampleError};
pub use options::{Force, Links, Matrices, Options};
pub use sampling::{Doing, Limit, Outcome, Progress, Sampling};
pub use simulation::Simulation;
