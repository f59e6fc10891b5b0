//! Contact and friction.

mod bodies;
mod bounces;
mod engines;
mod errors;
mod fields;
mod fixed;
mod friction;
mod holding;
mod hulls;
mod humans;
mod impulses;
mod links;
mod machines;
mod masses;
mod overlaps;
mod passing;
mod repeat;
mod rest;
mod scenes;
mod shapes;
mod slabs;
mod tumbling;
mod zones;
