//! Few motions of the joints.

mod bound;
mod contact;
mod estimate;
mod every_motion;
mod free_base;
mod kept_mass;
mod loops;
mod moving;
mod pulled;
mod resting;
mod turning_balls;
