//! The blended engine.

mod branches;
mod fading;
mod motion;
mod samples;
mod sampling;
mod springs;
