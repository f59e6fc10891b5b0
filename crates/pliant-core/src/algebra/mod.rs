//! Linear algebra: lanes and rows of numbers by vector instructions, vectors of three, dense factorisations, block
//! elimination on graphs.

pub(crate) mod angle;
pub(crate) mod dense;
pub mod elimination;
pub(crate) mod lanes;
pub(crate) mod three;
pub(crate) mod wide;
