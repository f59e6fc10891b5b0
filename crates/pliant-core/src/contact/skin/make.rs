//! From an elastic zone of a mechanism to its Green's functions.

use std::sync::Arc;

use nalgebra::Vector3;
use pliant_elastic::{ElasticError, Material, Mesh, Solid, Surface as Closed};

use super::distance::Target;
use crate::contact::collider::{Collider, Surfaces};
use crate::contact::error::ContactError;
use crate::contact::quickhull::{FINEST, convex_hull};
use crate::mechanism::{Geometry, Ingredients, Shape, ZoneDescription};

/// The length of edges of a zone that gives none, of the radius of the ball around it.
const RESOLUTION: f64 = 0.125;

/// Nodes this near to what bonds them, of the radius, are bonded.
const TOUCHES: f64 = 1e-6;

/// Green's functions of a zone whose bone has these shapes, those that were made before if nothing changed; and how thick it is over
/// what it is bonded to, m.
pub(in crate::contact) fn solid_of(
    zone: &ZoneDescription,
    bone: &[Shape],
    surfaces: &Surfaces,
) -> Result<(Arc<Solid>, f64), ContactError> {
    let bonding: Vec<Shape> =
        zone.bonded.as_ref().map_or_else(|| bone.to_vec(), |region| vec![region.clone()]);
    let files = bonding.iter().chain([&zone.shape]).filter_map(|shape| match &shape.geometry {
        Geometry::Mesh { file, .. } | Geometry::Convex { file, .. } => surfaces.get(file),
        _ => None,
    });
    let surfaces_used = files.map(|surface| (surface.points.clone(), surface.triangles.clone())).collect();
    let of = Ingredients { zone: zone.clone(), bone: bonding, surfaces: surfaces_used };
    let bones = colliders(&of, surfaces)?;
    let solid = zone.made.get_or_make(of, |of| make(of, &bones, surfaces))?;
    let gap = |point: &Vector3<f64>| away(zone, &bones, point, f64::INFINITY);
    let thickness = solid.points().iter().map(gap).filter(|x| x.is_finite()).fold(0.0, f64::max);
    Ok((solid, thickness))
}

/// What bonds a zone.
fn colliders(of: &Ingredients, surfaces: &Surfaces) -> Result<Vec<Collider>, ContactError> {
    let owner = format!("what bonds zone `{}`", of.zone.name);
    of.bone.iter().map(|shape| Collider::new(shape, &owner, surfaces)).collect()
}

/// How far a point of a zone, in its own frame, is from what bonds it.
fn away(zone: &ZoneDescription, bones: &[Collider], point: &Vector3<f64>, reach: f64) -> f64 {
    let at = zone.shape.pose.transform_point(point);
    let gap =
        |bone: &Collider| Target::new(&bone.form)?.away(&bone.frame.inverse().transform_point(&at), reach);
    bones.iter().filter_map(gap).map(|(gap, _)| gap).fold(f64::INFINITY, f64::min)
}

fn make(of: &Ingredients, bones: &[Collider], surfaces: &Surfaces) -> Result<Solid, ContactError> {
    let zone = &of.zone;
    let owner = format!("zone `{}`", zone.name);
    let bad = |error: ElasticError| ContactError::Zone { zone: zone.name.clone(), why: error.to_string() };
    let around = Collider::new(&zone.shape, &owner, surfaces)?;
    let resolution = zone.resolution.unwrap_or(RESOLUTION * around.radius);
    let mesh = mesh(&zone.shape.geometry, (resolution, zone.nodes), surfaces).map_err(bad)?;
    let material = Material::new(zone.young, zone.poisson, zone.damping, zone.density()).map_err(bad)?;
    let near = TOUCHES * around.radius;
    let is_bonded = |point: &Vector3<f64>| away(zone, bones, point, near) <= near;
    Solid::new(&mesh, &material, is_bonded, |_| ()).map_err(bad)
}

/// Tetrahedra that fill a shape, with edges of about so many metres, or so many nodes on the surface.
fn mesh(
    geometry: &Geometry,
    (resolution, nodes): (f64, Option<usize>),
    surfaces: &Surfaces,
) -> Result<Mesh, ElasticError> {
    let surface = match geometry {
        Geometry::Box { size } => {
            return match nodes {
                Some(nodes) => Mesh::cuboid_with_nodes(size * 0.5, nodes),
                None => Mesh::cuboid(size * 0.5, resolution),
            };
        }
        Geometry::Ball { radius } => Closed::ball(*radius)?,
        Geometry::Capsule { radius, half_length } => Closed::capsule(*half_length, *radius)?,
        Geometry::Cylinder { radius, half_length } => Closed::cylinder(*half_length, *radius)?,
        Geometry::Convex { file, scale } => {
            let points = surfaces.get(file).map_or(&[][..], |surface| &surface.points);
            let points: Vec<_> = points.iter().map(|p| Vector3::from(*p).component_mul(scale)).collect();
            let (points, triangles) = convex_hull(&points, FINEST).unwrap_or_default();
            Closed::new(points, triangles)?
        }
        Geometry::Mesh { file, scale } => {
            let none = Default::default();
            let surface = surfaces.get(file).unwrap_or(&none);
            let points: Vec<Vector3<f64>> =
                surface.points.iter().map(|p| Vector3::from(*p).component_mul(scale)).collect();
            let corner =
                |i: u32| points.get(i as usize).copied().unwrap_or_else(|| Vector3::repeat(f64::NAN));
            let soup: Vec<[Vector3<f64>; 3]> = surface.triangles.iter().map(|t| t.map(corner)).collect();
            Closed::from_soup(&soup, WELD * resolution)?
        }
        Geometry::Heightfield { .. } | Geometry::Plane => unreachable!("a zone is solid"),
    };
    match nodes {
        Some(nodes) => Mesh::from_surface_with_nodes(&surface, nodes),
        None => Mesh::from_surface(&surface, resolution),
    }
}

/// Corners of triangles this near each other are one, of the length of edges.
const WELD: f64 = 1e-3;
