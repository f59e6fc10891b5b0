//! Few motions of the joints.

mod bound;
mod contact;
mod estimate;
mod every_motion;
mod free_base;
mod loops;
mod moving;
mod resting;
