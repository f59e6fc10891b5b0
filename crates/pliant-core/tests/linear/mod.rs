//! The linear engine.

mod errors;
mod exact;
mod free_base;
mod incremental;
mod model;
mod motion;
mod reconstruction;
mod reference;
mod repeated_modes;
mod torques;
