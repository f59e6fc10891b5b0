//! From an elastic zone of a mechanism to its Green's functions.

use std::sync::Arc;

use nalgebra::Vector3;
use pliant_elastic::{ElasticError, Material, Mesh, Solid, Surface as Closed};

use super::distance::Target;
use crate::contact::collider::{Collider, Surfaces};
use crate::contact::error::ContactError;
use crate::contact::quickhull::{FINEST, convex_hull};
use crate::mechanism::{Geometry, Ingredients, Mechanism, Shape, ZoneDescription, ZoneSolid};

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
    let (of, bones) = ingredients(zone, bone, surfaces)?;
    let solid = match &zone.solid {
        Some(ZoneSolid::Green(solid)) => solid.clone(),
        _ => zone.made.get_or_make(of, |of| make(of, &bones, surfaces, |_| ()))?,
    };
    let gap = |point: &Vector3<f64>| away(zone, &bones, point, f64::INFINITY);
    let thickness = solid.points().iter().map(gap).filter(|x| x.is_finite()).fold(0.0, f64::max);
    Ok((solid, thickness))
}

/// What watches while Green's functions of zones are made, and knows those of earlier runs.
pub struct Making<'m> {
    /// Called with the name of a zone and the part of it that is done, 0 to 1.
    pub progress: &'m mut dyn FnMut(&str, f64),
    /// Finds Green's functions by a text of all that they follow from.
    pub known: &'m mut dyn FnMut(&str) -> Option<Solid>,
    /// Called with that text and what was made.
    pub made: &'m mut dyn FnMut(&str, &Solid),
}

/// Makes the Green's functions of all zones of a mechanism that are not there yet; scenes and worlds of it and its copies have them then. They
/// make them themselves otherwise.
pub fn make_zones(
    mechanism: &Mechanism,
    surfaces: &Surfaces,
    making: &mut Making<'_>,
) -> Result<(), ContactError> {
    for zone in mechanism.zones() {
        let description = &zone.description;
        let bone = zone.body.map_or(mechanism.world_shapes(), |body| &mechanism[body].shapes);
        let (of, bones) = ingredients(description, bone, surfaces)?;
        if matches!(description.solid, Some(ZoneSolid::Green(_))) {
            continue;
        }
        description.made.get_or_make(of, |of| {
            let text = of.text();
            if let Some(solid) = (making.known)(&text) {
                return Ok::<_, ContactError>(solid);
            }
            let solid = make(of, &bones, surfaces, |part| (making.progress)(&zone.name, part))?;
            (making.made)(&text, &solid);
            Ok(solid)
        })?;
    }
    Ok(())
}

/// What the Green's functions of a zone follow from, and what bonds it.
fn ingredients(
    zone: &ZoneDescription,
    bone: &[Shape],
    surfaces: &Surfaces,
) -> Result<(Ingredients, Vec<Collider>), ContactError> {
    let bonding: Vec<Shape> =
        zone.bonded.as_ref().map_or_else(|| bone.to_vec(), |region| vec![region.clone()]);
    let files = bonding.iter().chain([&zone.shape]).filter_map(|shape| match &shape.geometry {
        Geometry::Mesh { file, .. } | Geometry::Convex { file, .. } => surfaces.get(file),
        _ => None,
    });
    let surfaces_used = files.map(|surface| (surface.points.clone(), surface.triangles.clone())).collect();
    let of = Ingredients { zone: zone.clone(), bone: bonding, surfaces: surfaces_used };
    let bones = colliders(&of, surfaces)?;
    Ok((of, bones))
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

fn make(
    of: &Ingredients,
    bones: &[Collider],
    surfaces: &Surfaces,
    progress: impl FnMut(f64),
) -> Result<Solid, ContactError> {
    let zone = &of.zone;
    let owner = format!("zone `{}`", zone.name);
    let file = match &zone.shape.geometry {
        Geometry::Mesh { file, .. } | Geometry::Convex { file, .. } => format!("`{file}`: "),
        _ => String::new(),
    };
    let bad =
        |error: ElasticError| ContactError::Zone { zone: zone.name.clone(), why: format!("{file}{error}") };
    let around = Collider::new(&zone.shape, &owner, surfaces)?;
    let material = Material::new(zone.young, zone.poisson, zone.damping, zone.density()).map_err(bad)?;
    let near = TOUCHES * around.radius;
    let is_bonded = |point: &Vector3<f64>| away(zone, bones, point, near) <= near;
    if let Some(ZoneSolid::Tetrahedra(mesh)) = &zone.solid {
        return Solid::new(mesh, &material, is_bonded, progress).map_err(bad);
    }
    let resolution = zone.resolution.unwrap_or(RESOLUTION * around.radius);
    let mesh = mesh(&zone.shape.geometry, (resolution, zone.nodes), surfaces).map_err(bad)?;
    Solid::new(&mesh, &material, is_bonded, progress).map_err(bad)
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
