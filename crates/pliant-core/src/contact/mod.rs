//! Contact with friction for every engine: a world of static shapes, free bodies and simulations, stepped together.
//!
//! ```
//! use pliant_core::{contact::*, engine::Simulation, gallery, reduced};
//!
//! let simulate = |held: &_| reduced::Reduction::at_rest(held).build().expect("springs hold it").simulate();
//! let mut scene = Scene::new(&gallery::hand_grasp(gallery::Grasped::Ball), Surfaces::new(), simulate)?;
//! scene.step(0.004)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
#![doc = include_str!("README.md")]

mod attaching;
mod attachments;
mod ball;
mod broad;
mod collider;
mod convert;
mod delassus;
mod error;
mod events;
mod exact;
mod free_body;
mod hull;
mod impact;
mod material;
mod narrow;
mod newton;
mod pairs;
mod patch;
mod pgs;
mod quickhull;
mod residual;
mod rest;
mod rolling;
mod scene;
mod skin;
mod spine;
mod sticking;
#[cfg(test)]
mod tests;
mod world;
mod zones;

pub use collider::{Surface, Surfaces};
pub use error::ContactError;
pub use events::{Change, Event};
pub use free_body::FreeBody;
pub use quickhull::{FINEST, convex_hull};
pub use rest::{Grip, Rest};
pub use scene::Scene;
pub use skin::{Making, make_zones};
pub use sticking::Stuck;
pub use world::{
    Contact, FreeBodyId, RECOVERY_TIME, Report, SavedWorld, SimulationId, Solver, Touched, World,
};
pub use zones::{TouchedNode, ZoneId, ZoneState};
