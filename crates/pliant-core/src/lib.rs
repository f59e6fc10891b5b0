//! Mechanisms, joints and engines of Pliant, without any input or output.
//!
//! The way through: a [`mechanism::MechanismBuilder`] makes a [`mechanism::Mechanism`], which never changes and is cheap to clone; an engine
//! prepares a model of it, `full::Model` for one; a simulation owns its model, what acts ([`engine::Inputs`]) and the state
//! ([`engine::State`]), and steps it. Symbols are explained in `NOTATION.md` at the root of the repository.
//!
//! ```
//! use pliant_core::{articulated, engine::Simulation as _, gallery};
//!
//! let mut simulation = articulated::Model::new(&gallery::arm()).simulate();
//! simulation.step(1.0 / 240.0)?;
//! assert!(simulation.energy().kinetic > 0.0); // it begins to sag
//! # Ok::<(), pliant_core::engine::StepError>(())
//! ```

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
