//! The full engine.

mod elements;
mod errors;
mod momentum;
mod motion;
mod repeat;
mod stability;
mod statics;
mod tangent;
mod torques;
