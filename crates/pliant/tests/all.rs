//! The tests of this crate, as one program.

mod documents;
mod linearization;
mod rollout;
