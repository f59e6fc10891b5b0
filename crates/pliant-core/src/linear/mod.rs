//! The linear engine: one linear model of the effectors, from which every link follows; and the compliance that it is made of.
//!
//! ```
//! use pliant_core::{engine::Simulation, gallery, linear::Linearisation};
//!
//! let model = Linearisation::at_rest(&gallery::rungs(48)).build()?;
//! assert_eq!(model.rank(), 1); // one coordinate instead of 288
//! model.simulate().step(1.0 / 60.0)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
#![doc = include_str!("README.md")]

mod basis;
mod component;
mod contact;
mod dynamics;
mod effectors;
mod error;
mod field;
mod filling;
mod floating;
mod incremental;
mod kkt;
mod linearisation;
mod loads;
mod model;
mod modes;
mod per_wrench;
mod prestress;
mod projection;
mod rebuild;
#[doc(hidden)]
pub mod reconstruction;
mod reference;
mod segments;
mod simulation;
mod softness;
mod spring_couplings;
mod statics;
mod system;
mod truncated;

pub use effectors::EffectorFrame;
pub(crate) use effectors::choose as choose_effectors;
pub use error::ReductionError;
pub use linearisation::{FreeBase, Linearisation};
pub(crate) use loads::felt;
pub use model::Model;
pub(crate) use per_wrench::{Layout, PerWrench, Shifts};
pub use projection::{Method, Projection};
pub use rebuild::Reconstruction;
pub use reference::Reference;
pub(crate) use segments::Segments;
pub use simulation::Simulation;
pub use truncated::Truncated;
