//! Few motions of the joints.

mod contact;
mod every_motion;
mod free_base;
mod loops;
mod moving;
mod resting;
