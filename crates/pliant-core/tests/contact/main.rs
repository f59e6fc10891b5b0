//! Contact and friction. One program of many files: each file states its claim at its head.

#[path = "../common/counting.rs"]
mod counting;

mod bodies;
mod engines;
mod errors;
mod repeat;
mod scenes;
mod shapes;
