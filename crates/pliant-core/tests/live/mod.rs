//! The live engine.

mod estimate;
mod free_base;
mod limits;
mod motion;
mod repeat;
mod statics;
