//! The articulated engine: every joint coordinate, implicit; and the equations of motion as functions.
//!
//! ```
//! use pliant_core::{articulated, engine::Simulation, gallery};
//!
//! let mut simulation = articulated::Model::new(&gallery::arm()).simulate();
//! simulation.step(1.0 / 60.0)?;
//! assert!(simulation.violation() < 1e-12);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
#![doc = include_str!("README.md")]

mod closures;
mod contact;
mod dynamics;
mod floating;
mod inverse;
mod loads;
mod mass_matrix;
mod model;
mod pieces;
mod placing;
mod runge_kutta;
mod simulation;
mod slot;
mod small;
mod step;
mod sweeps;

pub use dynamics::{Dynamics, NoMass};
pub use model::{MOST_CLOSING_ROWS, Model, closing_rows};
pub use simulation::{Integrator, Simulation};
