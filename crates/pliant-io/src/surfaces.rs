//! The surfaces of shapes that lie in files: what contact needs in addition to the mechanism.

use std::path::Path;

use pliant_core::contact::{Surface, Surfaces};
use pliant_core::mechanism::{Geometry, Mechanism, Shape};
use pliant_core::nalgebra::Vector3;
use thiserror::Error;

use crate::import::mesh::Mesh;
use crate::import::{Context, Options};

/// Why the surface of a shape cannot be had.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("the {kind} of {owner} cannot be used for contact: `{file}`: {reason}")]
pub struct SurfaceError {
    /// `mesh` or `convex`.
    pub kind: &'static str,
    /// What carries it.
    pub owner: String,
    /// Its file, as the shape names it.
    pub file: String,
    /// What is wrong.
    pub reason: String,
}

/// Reads the surfaces of all shapes of a mechanism that can be touched and lie in files. Relative paths start at `scene`,
/// the file of the mechanism; all must stay below its package or the folder above it, or in a folder of the options.
pub fn surfaces(mechanism: &Mechanism, scene: &Path, options: &Options) -> Result<Surfaces, SurfaceError> {
    let mut context = Context::new(String::new(), &scene.display().to_string(), options);
    let mut found = Surfaces::new();
    let of_world = mechanism.world_shapes().iter().map(|shape| (shape, "the world".to_string()));
    let of_bodies = (mechanism.bodies().iter())
        .flat_map(|body| body.shapes.iter().map(move |shape| (shape, format!("body `{}`", body.name))));
    let of_zones = mechanism.zones().iter().map(|zone| &zone.description).flat_map(|zone| {
        let shapes = std::iter::once(&zone.shape).chain(&zone.bonded);
        shapes.map(move |shape| (shape, format!("zone `{}`", zone.name)))
    });
    for (shape, owner) in of_world.chain(of_bodies).chain(of_zones) {
        let Some(file) = file_of(shape).filter(|file| shape.touches && !found.contains_key(*file)) else {
            continue;
        };
        let surface = read(file, &mut context).map_err(|reason| SurfaceError {
            kind: shape.geometry.name(),
            owner,
            file: file.into(),
            reason,
        })?;
        found.insert(file.into(), surface);
    }
    Ok(found)
}

/// The same of all shapes, for drawing: what cannot be read is left out.
pub fn drawn_surfaces(mechanism: &Mechanism, scene: &Path, options: &Options) -> Surfaces {
    let mut context = Context::new(String::new(), &scene.display().to_string(), options);
    let mut found = Surfaces::new();
    let of_bodies = mechanism.bodies().iter().flat_map(|body| &body.shapes);
    let of_zones = mechanism.zones().iter().map(|zone| &zone.description);
    let of_zones = of_zones.flat_map(|zone| std::iter::once(&zone.shape).chain(&zone.bonded));
    for file in mechanism.world_shapes().iter().chain(of_bodies).chain(of_zones).filter_map(file_of) {
        if !found.contains_key(file)
            && let Ok(surface) = read(file, &mut context)
        {
            found.insert(file.into(), surface);
        }
    }
    found
}

fn file_of(shape: &Shape) -> Option<&str> {
    match &shape.geometry {
        Geometry::Mesh { file, .. } | Geometry::Convex { file, .. } => Some(file),
        _ => None,
    }
}

fn read(file: &str, context: &mut Context) -> Result<Surface, String> {
    let path = context.resolve_mesh(file)?;
    let mesh = Mesh::load(path, &Vector3::repeat(1.0)).map_err(|error| error.to_string())?;
    let points = mesh.points.iter().map(|p| [p.x, p.y, p.z]).collect();
    Ok(Surface { points, triangles: mesh.triangles })
}
