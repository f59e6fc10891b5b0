//! Mechanisms, joints and engines of Pliant, without any input or output.
//!
//! The way through: a [`mechanism::Mechanism`] is built once and never changes; its
//! [`mechanism::Mechanism`] says in which sequence engines visit it; engines step a state that the
//! caller owns. Symbols are explained in `NOTATION.md` at the root of the repository.

#[doc(hidden)]
pub mod algebra;
pub mod articulated;
pub mod blended;
pub mod contact;
pub mod engine;
pub mod engines;
pub mod expression;
pub mod full;
pub mod gallery;
pub mod joints;
pub mod linear;
pub mod mechanism;
#[doc(hidden)]
pub mod numbers;
pub mod reduced;
pub mod spatial;
mod words;

pub use nalgebra;
pub use pliant_elastic as elastic;
pub use words::closest;
