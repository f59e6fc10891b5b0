//! The reduced engine: a few motions of the joints, with exact kinematics, energy, loads and inertia on them.

mod basis;
mod contact;
mod model;
mod momentum;
mod placing;
mod simulation;
mod springs;
mod step;
mod system;
mod tree;

pub use model::{Model, Options};
pub use simulation::Simulation;

#[cfg(test)]
mod tests;
