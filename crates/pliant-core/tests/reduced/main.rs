//! The reduced engine. One program of many files: each file states its claim at its head.

#[path = "../common/mod.rs"]
mod common;
#[path = "../common/counting.rs"]
mod counting;
#[path = "../common/dense.rs"]
mod dense;
#[path = "../common/maps.rs"]
mod maps;

mod errors;
mod exact;
mod free_base;
mod incremental;
mod model;
mod motion;
mod reconstruction;
mod reference;
mod repeated_modes;
