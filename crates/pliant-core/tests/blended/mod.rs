//! The blended engine.

mod branches;
mod motion;
mod samples;
mod sampling;
mod springs;
