//! The reduced engine: a few motions of the joints, with exact kinematics, energy, loads and inertia on them.

mod basis;
mod choice;
mod contact;
mod floating;
mod model;
mod momentum;
mod placing;
mod simulation;
mod springs;
mod statics;
mod step;
mod system;
mod tree;

pub use choice::Choice;
pub use model::{Model, Options};
pub use simulation::Simulation;
