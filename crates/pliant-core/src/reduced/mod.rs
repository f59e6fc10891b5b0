//! Reduced models.

mod basis;
mod cholesky;
mod component;
mod dynamics;
mod effectors;
mod error;
mod field;
mod incremental;
mod kkt;
mod mass;
mod model;
mod modes;
mod projection;
mod reduction;
mod reference;

pub use effectors::EffectorFrame;
pub use error::ReductionError;
pub use mass::Mass;
pub use model::Model;
pub use projection::{Method, Projection};
pub use reduction::{FreeBase, Reduction};
pub use reference::Reference;
