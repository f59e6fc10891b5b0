//! The full engine. One program of many files: each file states its claim at its head.

#[path = "../common/mod.rs"]
mod common;
#[path = "../common/scenes.rs"]
mod scenes;

mod elements;
mod errors;
mod momentum;
mod motion;
mod repeat;
mod stability;
mod statics;
mod tangent;
mod torques;
