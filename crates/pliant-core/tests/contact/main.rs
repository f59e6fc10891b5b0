//! Contact and friction. One program of many files: each file states its claim at its head.

#[path = "../common/counting.rs"]
mod counting;
#[path = "../common/models.rs"]
mod models;

mod bodies;
mod engines;
mod errors;
mod friction;
mod holding;
mod impulses;
mod repeat;
mod scenes;
mod shapes;
