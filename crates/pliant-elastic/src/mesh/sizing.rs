//! Meshes with about a given number of nodes on their surface, by the spacing that gives it.

use nalgebra::Vector3;

use super::Mesh;
use crate::ElasticError;
use crate::surface::{Surface, positive};

/// Meshes that are tried at most: the number falls as the square of the spacing, with steps where a lattice gains a row.
const TRIALS: usize = 10;
/// A mesh this near to the number is taken at once.
const NEAR: f64 = 0.05;

impl Mesh {
    /// How many corners are on the surface.
    pub fn surface_nodes(&self) -> usize {
        let mut on = vec![false; self.corners()];
        self.boundary().iter().flatten().for_each(|&i| on[i as usize] = true);
        on.iter().filter(|x| **x).count()
    }

    /// Fills a closed surface with a lattice so that about `nodes` corners are on the mesh's surface; see
    /// [`from_surface`](Self::from_surface).
    pub fn from_surface_with_nodes(surface: &Surface, nodes: usize) -> Result<Self, ElasticError> {
        nearest(nodes, surface.area(), |spacing| Self::from_surface(surface, spacing))
    }

    /// Cuts a box into cells so that about `nodes` corners are on its surface; see [`cuboid`](Self::cuboid).
    pub fn cuboid_with_nodes(half_extents: Vector3<f64>, nodes: usize) -> Result<Self, ElasticError> {
        let h = half_extents;
        let area = 8.0 * (h.x * h.y + h.y * h.z + h.z * h.x);
        positive("the area of the box", area)?;
        nearest(nodes, area, |spacing| Self::cuboid(half_extents, spacing))
    }
}

/// The mesh whose surface has the nearest number of nodes, of a few.
fn nearest(
    nodes: usize,
    area: f64,
    make: impl Fn(f64) -> Result<Mesh, ElasticError>,
) -> Result<Mesh, ElasticError> {
    if nodes < 8 {
        let hint = ": give 8 or more".into();
        return Err(ElasticError::Size { what: "the number of nodes", value: nodes as f64, hint });
    }
    let mut spacing = (area / nodes as f64).sqrt();
    let mut best: Option<(f64, Mesh)> = None;
    let mut failed = None;
    let (mut coarse, mut fine) = (f64::INFINITY, 0.0);
    for _ in 0..TRIALS {
        match make(spacing) {
            Ok(mesh) => {
                let ratio = mesh.surface_nodes() as f64 / nodes as f64;
                let off = ratio.ln().abs();
                if best.as_ref().is_none_or(|b| off < b.0) {
                    best = Some((off, mesh));
                }
                if off < NEAR {
                    break;
                }
                if ratio < 1.0 {
                    coarse = spacing
                } else {
                    fine = spacing
                }
                // Between what had too few and too many, or as far as the square says.
                let both = fine > 0.0 && coarse.is_finite() && fine < coarse;
                spacing = if both { (coarse * fine).sqrt() } else { spacing * ratio.sqrt() };
            }
            // Too coarse for the shape, most likely: finer.
            Err(error) => {
                failed = Some(error);
                spacing *= 0.7;
            }
        }
    }
    match best {
        Some((_, mesh)) => Ok(mesh),
        None => Err(failed.expect("every trial failed")),
    }
}
