#![doc = include_str!("README.md")]

mod basis;
pub(crate) mod cholesky;
mod closures;
mod component;
mod dynamics;
mod effectors;
mod error;
mod field;
mod filling;
mod floating;
mod incremental;
mod kkt;
mod loads;
mod mass;
mod model;
mod modes;
mod projection;
mod pulls;
mod rebuild;
pub mod reconstruction;
mod reduction;
mod reference;
mod simulation;
mod softness;
mod system;

pub use effectors::EffectorFrame;
pub(crate) use effectors::choose as choose_effectors;
pub use error::ReductionError;
pub use mass::Mass;
pub use model::Model;
pub use projection::{Method, Projection};
pub use rebuild::Reconstruction;
pub use reduction::{FreeBase, Reduction};
pub use reference::Reference;
pub use simulation::Simulation;
