#![doc = include_str!("README.md")]

mod actor;
mod collider;
mod convert;
mod delassus;
mod error;
mod exact;
mod free_body;
mod material;
mod narrow;
mod pairs;
mod pgs;
mod residual;
mod scene;
#[cfg(test)]
mod tests;
pub(crate) mod wide;
mod world;

pub use actor::Actor;
pub use collider::{Surface, Surfaces};
pub(crate) use delassus::Push;
pub use error::ContactError;
pub use free_body::FreeBody;
pub use scene::Scene;
pub use world::{ActorId, Contact, FreeBodyId, Report, Solver, Touched, World};
