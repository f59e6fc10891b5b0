//! The blended engine. One program of many files: each file states its claim at its head.

#[path = "../common/mod.rs"]
mod common;
#[path = "../common/loads.rs"]
mod loads;

mod branches;
mod motion;
mod repeat;
mod samples;
mod sampling;
