//! Linear elasticity of one solid, from a closed surface to its Green's functions, without any input or output.
//!
//! The way through: a [`Surface`] is filled with tetrahedra, a [`Mesh`]; with a [`Material`] and the nodes that are bonded to
//! something rigid it becomes a [`Solid`], which knows how every node of its surface moves under a force on any other.
//! Nothing here knows of mechanisms. Symbols are explained in `NOTATION.md` at the root of the repository.
//!
//! ```
//! use pliant_elastic::{Material, Mesh, Solid, nalgebra::Vector3};
//!
//! // A pad of 20 × 20 × 12 mm on its bone; a force of 1 N on one node moves it by Ξ f.
//! let mesh = Mesh::cuboid(Vector3::new(0.010, 0.010, 0.006), 0.004)?;
//! let rubber = Material::new(1e5, 0.45, 0.01, 1000.0)?; // Pa, –, s, kg/m³
//! let pad = Solid::new(&mesh, &rubber, |p| p.z < -0.006 + 1e-9, |_| {})?;
//! let push = Vector3::new(0.0, 0.0, -1.0);
//! let mut moved = vec![Vector3::zeros(); pad.points().len()];
//! pad.displacement(&[(0, push)], &mut moved);
//! assert!((moved[0] - pad.block(0, 0) * push).norm() < 1e-12);
//! # Ok::<(), pliant_elastic::ElasticError>(())
//! ```

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
mod solid;
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
