//! Linear algebra: rows of numbers by vector instructions, block elimination on graphs.

pub mod elimination;
pub(crate) mod wide;
