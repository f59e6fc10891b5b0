//! Mechanisms, joints and engines of Pliant, without any input or output.
//!
//! The way through: a [`mechanism::Mechanism`] is built once and never changes; its
//! [`order::Order`] says in which sequence engines visit it; engines step a state that the
//! caller owns. Symbols are explained in `NOTATION.md` at the root of the repository.

pub mod articulated;
pub mod blended;
pub mod contact;
pub mod elimination;
pub mod expression;
pub mod full;
pub mod gallery;
pub mod inputs;
pub mod joints;
pub mod live;
pub mod mechanism;
pub mod order;
pub mod reduced;
pub mod spatial;
pub mod state;
mod wide;

pub use nalgebra;
