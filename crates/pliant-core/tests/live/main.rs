//! The live engine. One program of many files: each file states its claim at its head.

#[path = "../common/mod.rs"]
mod common;
#[path = "../common/loads.rs"]
mod loads;

mod estimate;
mod free_base;
mod limits;
mod motion;
mod repeat;
mod statics;
