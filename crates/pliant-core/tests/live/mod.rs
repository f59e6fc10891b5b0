//! The live engine.

mod estimate;
mod free_base;
mod holding;
mod limits;
mod motion;
mod refused;
mod statics;
