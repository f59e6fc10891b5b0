//! Linear elasticity of one solid, from a closed surface to its Green's functions, without any input or output.
//!
//! The way through: a [`Surface`] is filled with tetrahedra, a [`Mesh`]; with a [`Material`] and the nodes that are bonded to
//! something rigid it becomes a [`Solid`], which knows how every node of its surface moves under a force on any other.
//! Nothing here knows of mechanisms. Symbols are explained in `NOTATION.md` at the root of the repository.

pub mod capacitance;
mod cholesky;
mod element;
mod error;
pub mod flexure;
mod material;
pub mod mesh;
mod ordering;
pub mod probe;
pub mod seams;
pub mod solid;
mod stiffness;
pub mod stored;
pub mod surface;

pub use capacitance::Capacitance;
pub use cholesky::MEMORY_LIMIT;
pub use error::ElasticError;
pub use flexure::Flexure;
pub use material::Material;
pub use mesh::Mesh;
pub use nalgebra;
pub use probe::Probe;
pub use seams::{Seam, Seams};
pub use solid::Solid;
pub use stored::SolidParts;
pub use surface::Surface;
