//! Expression joints.

mod compiled;
mod engines;
mod joints;
mod language;
mod motion;
