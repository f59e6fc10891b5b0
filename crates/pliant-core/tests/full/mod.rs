//! The full engine.

mod elements;
mod errors;
mod momentum;
mod motion;
mod stability;
mod statics;
mod tangent;
mod torques;
