#![doc = include_str!("README.md")]

mod closed;
mod condensing;
mod contact;
mod eigenvalues;
mod gathering;
mod inner;
mod kinematics;
mod loops;
mod model;
mod null_space;
mod plan;
pub(crate) mod rank;
mod rows;
mod simulation;
mod step;
#[cfg(test)]
mod tests;

pub use inner::Dropped;
pub use model::Model;
pub use simulation::Simulation;
