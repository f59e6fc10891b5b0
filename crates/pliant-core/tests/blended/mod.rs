//! The blended engine.

mod branches;
mod motion;
mod repeat;
mod samples;
mod sampling;
