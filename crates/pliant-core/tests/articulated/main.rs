//! The articulated engine. One program of many files: each file states its claim at its head.

#[path = "../common/mod.rs"]
mod common;
#[path = "../common/forest.rs"]
mod forest;
#[path = "../common/scenes.rs"]
mod scenes;

mod conservation;
mod dynamics;
mod equilibrium;
mod formulas;
mod motion;
mod repeat;
mod stability;
