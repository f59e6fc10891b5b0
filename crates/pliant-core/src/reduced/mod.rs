//! Reduced models.

mod effectors;
mod error;
mod incremental;
mod kkt;
mod projection;
mod reduction;
mod reference;

pub use effectors::EffectorFrame;
pub use error::ReductionError;
pub use projection::{Method, Projection};
pub use reduction::Reduction;
pub use reference::Reference;
