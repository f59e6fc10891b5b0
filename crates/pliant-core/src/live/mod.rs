#![doc = include_str!("README.md")]

mod closed;
mod condensing;
mod contact;
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
