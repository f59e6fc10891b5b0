//! Contact and friction.

mod bodies;
mod engines;
mod errors;
mod friction;
mod holding;
mod impulses;
mod repeat;
mod scenes;
mod shapes;
mod tumbling;
