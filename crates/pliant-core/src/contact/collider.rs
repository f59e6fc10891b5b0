//! A shape as the collision library has it, with what broad and narrow phase ask for.

use std::collections::BTreeMap;
use std::sync::Arc;

use nalgebra::Vector3;
use parry3d_f64::bounding_volume::Aabb;
use parry3d_f64::math::{Pose as Placed, Vector};
use parry3d_f64::shape::{
    Ball, Capsule, Cuboid, Cylinder, HeightField, HeightFieldFlags, Shape as Solid, TriMesh, TriMeshFlags,
};
use parry3d_f64::utils::Array2;

use super::convert::{from_vector, pose, upright, vector};
use super::error::ContactError;
use super::hull::Hull;
use super::material::Material;
use super::quickhull::FINEST;
use crate::mechanism::{Geometry, Shape};
use crate::spatial::Pose;

/// Points and triangles of a surface, in the shape's frame before it is scaled.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Surface {
    /// Corners, m.
    pub points: Vec<[f64; 3]>,
    /// Their numbers, three a triangle, counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
}

/// Surfaces by the file name that a shape has.
pub type Surfaces = BTreeMap<String, Surface>;

/// What is touched.
#[derive(Clone)]
pub(super) enum Form {
    /// A ball, a box, a capsule or a cylinder.
    Convex(Arc<dyn Solid>),
    /// A convex hull.
    Hull(Arc<Hull>),
    /// Triangles, and the hull around them.
    Mesh(Arc<TriMesh>, Arc<Hull>),
    /// Heights over a rectangle, and the hull around them.
    Field(Arc<HeightField>, Arc<Hull>),
    /// All below z = 0.
    Plane,
    /// The soft surface of a zone, by its place among those of the world.
    Skin(usize),
}

/// A shape on something that may move.
#[derive(Clone)]
pub(super) struct Collider {
    pub form: Form,
    /// Its frame, as the library has it, in the frame of what carries it.
    pub frame: Pose,
    /// Around it, in its own frame, and the same as a ball in the frame of what carries it.
    pub bounds: Aabb,
    pub center: Vector3<f64>,
    pub radius: f64,
    /// How far any of it is from the origin of what carries it, at most.
    pub farthest: f64,
    /// Whether it is a ball about that origin.
    pub round: bool,
    /// Of a ball or a capsule: half of its axis, from the centre, in the frame of what carries it, and its radius.
    pub spine: Option<(Vector3<f64>, f64)>,
    pub material: Material,
    /// How far a soft surface may be from where it is at rest, m.
    pub grown: f64,
}

impl std::fmt::Debug for Collider {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Collider").field("frame", &self.frame).field("radius", &self.radius).finish()
    }
}

impl Collider {
    /// Of a shape that `owner` carries.
    pub fn new(shape: &Shape, owner: &str, surfaces: &Surfaces) -> Result<Collider, ContactError> {
        let material = Material::new(shape, owner)?;
        let bad = |why: String| ContactError::Shape { kind: shape.geometry.name(), owner: owner.into(), why };
        let (form, turn) = form(&shape.geometry, surfaces).map_err(bad)?;
        let frame = shape.pose * turn;
        let (everywhere, top) =
            (Vector::splat(f64::INFINITY), Vector::new(f64::INFINITY, f64::INFINITY, 0.0));
        let (bounds, is_plane) = match &form {
            Form::Convex(solid) => (solid.compute_local_aabb(), false),
            Form::Hull(hull) => (Aabb::from_points(hull.points.iter().copied()), false),
            Form::Mesh(mesh, _) => (mesh.local_aabb(), false),
            Form::Field(field, _) => (*field.root_aabb(), false),
            Form::Plane => (Aabb::new(-everywhere, top), true),
            Form::Skin(_) => unreachable!("no shape is one"),
        };
        let middle = if is_plane { Vector::ZERO } else { bounds.center() };
        let center = frame.transform_point(&from_vector(middle));
        let radius = from_vector(bounds.half_extents()).norm();
        if !((radius.is_finite() || is_plane) && frame.is_finite()) {
            return Err(bad("it is not finite".into()));
        }
        // A plane does not turn.
        let farthest = if is_plane { 0.0 } else { center.norm() + radius };
        let round = matches!(shape.geometry, Geometry::Ball { .. }) && center == Vector3::zeros();
        let spine = match &form {
            Form::Convex(solid) => {
                (solid.as_ball().map(|ball| (Vector3::zeros(), ball.radius))).or_else(|| {
                    let capsule = solid.as_capsule()?;
                    let half = from_vector((capsule.segment.b - capsule.segment.a) * 0.5);
                    Some((frame.rotation * half, capsule.radius))
                })
            }
            _ => None,
        };
        Ok(Collider { form, frame, bounds, center, radius, farthest, round, spine, material, grown: 0.0 })
    }

    /// Of the soft surface of a zone, by its place among those of the world: its points at rest in its frame, of the shape that it has there.
    pub fn of_skin(
        skin: usize,
        points: &[Vector3<f64>],
        shape: &Shape,
        owner: &str,
    ) -> Result<Collider, ContactError> {
        let bounds = Aabb::from_points(points.iter().map(vector));
        let center = shape.pose.transform_point(&from_vector(bounds.center()));
        let radius = from_vector(bounds.half_extents()).norm();
        Ok(Collider {
            form: Form::Skin(skin),
            frame: shape.pose,
            bounds,
            center,
            radius,
            farthest: center.norm() + radius,
            round: false,
            spine: None,
            material: Material::new(shape, owner)?,
            grown: 0.0,
        })
    }

    /// The box around it, axes of what carries it.
    pub fn bounds_in_carrier(&self) -> (Vector3<f64>, Vector3<f64>) {
        if matches!(self.form, Form::Plane) {
            return (Vector3::repeat(f64::NEG_INFINITY), Vector3::repeat(f64::INFINITY));
        }
        let half = self.frame.rotation_matrix().abs() * from_vector(self.bounds.half_extents());
        (self.center - half, self.center + half)
    }

    /// The box around it where it is at a place, in the axes of that.
    pub fn bounds_at(&self, place: &Placed) -> Aabb {
        match &self.form {
            Form::Convex(solid) => solid.compute_aabb(place),
            _ => self.bounds.transform_by(place),
        }
    }

    /// How far a point, in the frame of what carries it, is from its box, squared.
    pub fn distance_squared(&self, point: &Vector3<f64>) -> f64 {
        let local = from_vector(pose(&self.frame).inverse_transform_point(vector(point)));
        let outside =
            |i: usize| (self.bounds.mins[i] - local[i]).max(local[i] - self.bounds.maxs[i]).max(0.0);
        Vector3::new(outside(0), outside(1), outside(2)).norm_squared()
    }
}

/// The library's shape, and its frame in ours.
fn form(geometry: &Geometry, surfaces: &Surfaces) -> Result<(Form, Pose), String> {
    let positive = |sizes: &[f64]| {
        if sizes.iter().all(|x| x.is_finite() && *x > 0.0) {
            Ok(())
        } else {
            Err("its sizes must be finite and above zero".to_string())
        }
    };
    let convex = |solid: Arc<dyn Solid>, turn: Pose| Ok((Form::Convex(solid), turn));
    match geometry {
        Geometry::Box { size } => {
            positive(size.as_slice())?;
            convex(Arc::new(Cuboid::new(vector(&(size * 0.5)))), Pose::identity())
        }
        &Geometry::Ball { radius } => {
            positive(&[radius])?;
            convex(Arc::new(Ball::new(radius)), Pose::identity())
        }
        &Geometry::Capsule { radius, half_length } => {
            positive(&[radius, half_length])?;
            convex(Arc::new(Capsule::new_z(half_length, radius)), Pose::identity())
        }
        &Geometry::Cylinder { radius, half_length } => {
            positive(&[radius, half_length])?;
            convex(Arc::new(Cylinder::new(half_length, radius)), upright())
        }
        Geometry::Convex { file, scale } => {
            let (points, _) = scaled(file, scale, surfaces)?;
            let flat = || format!("the points of `{file}` do not span a volume");
            if spread(&points) < FLAT {
                return Err(flat());
            }
            let hull = Hull::new(&points, COARSE).ok_or_else(flat)?;
            Ok((Form::Hull(Arc::new(hull)), Pose::identity()))
        }
        Geometry::Mesh { file, scale } => {
            let (points, triangles) = scaled(file, scale, surfaces)?;
            let inside_out = scale.product() < 0.0;
            let turned = |t: [u32; 3]| if inside_out { [t[0], t[2], t[1]] } else { t };
            let has_area = |t: &[u32; 3]| {
                let [a, b, c] = t.map(|i| points[i as usize]);
                let longest =
                    (b - a).length_squared().max((c - a).length_squared()).max((c - b).length_squared());
                (b - a).cross(c - a).length() > FLAT * longest
            };
            let triangles: Vec<[u32; 3]> = triangles.into_iter().filter(has_area).map(turned).collect();
            if triangles.is_empty() {
                return Err(format!("`{file}` has no triangle with an area"));
            }
            let flags = TriMeshFlags::FIX_INTERNAL_EDGES | TriMeshFlags::MERGE_DUPLICATE_VERTICES;
            let mesh = TriMesh::with_flags(points, triangles, flags)
                .map_err(|error| format!("the surface of `{file}` is broken: {error}"))?;
            let hull = around(mesh.vertices());
            Ok((Form::Mesh(Arc::new(mesh), hull), Pose::identity()))
        }
        Geometry::Plane => Ok((Form::Plane, Pose::identity())),
        Geometry::Heightfield { size, heights } => {
            positive(size)?;
            let (rows, columns) = (heights.len(), heights.first().map_or(0, Vec::len));
            if rows < 2 || columns < 2 || heights.iter().any(|row| row.len() != columns) {
                return Err("it needs two or more rows of two or more heights, all rows alike".into());
            }
            if heights.iter().flatten().any(|z| !z.is_finite()) {
                return Err("its heights must be finite".into());
            }
            // The library's rows go along its z, which is −y here.
            let grid = Array2::new(
                rows,
                columns,
                (0..columns).flat_map(|k| (0..rows).map(move |i| heights[rows - 1 - i][k])).collect(),
            );
            let scale = vector(&Vector3::new(size[0], 1.0, size[1]));
            let field = HeightField::with_flags(grid, scale, HeightFieldFlags::FIX_INTERNAL_EDGES);
            let corners: Vec<_> = field.triangles().flat_map(|t| [t.a, t.b, t.c]).collect();
            Ok((Form::Field(Arc::new(field), around(&corners)), upright()))
        }
    }
}

/// How far points may stay outside of a hull, of half its extent: rounded rims of files have hundreds of corners.
const COARSE: f64 = 1e-4;

/// The hull around the points of a surface, or these themselves if they lie in a plane.
fn around(points: &[Vector]) -> Arc<Hull> {
    Arc::new(Hull::new(points, FINEST).unwrap_or_else(|| Hull::flat(points)))
}

/// Points closer to a plane, or to a line, than this, of their size, are flat.
const FLAT: f64 = 1e-9;

type Corners = (Vec<Vector>, Vec<[u32; 3]>);

/// Points and triangles of a file, scaled and checked.
fn scaled(file: &str, scale: &Vector3<f64>, surfaces: &Surfaces) -> Result<Corners, String> {
    let surface = surfaces.get(file).ok_or_else(|| format!("its file `{file}` was not read"))?;
    if !scale.iter().all(|x| x.is_finite() && *x != 0.0) {
        return Err("its scale must be finite and not zero".into());
    }
    let points: Vec<_> =
        surface.points.iter().map(|p| vector(&Vector3::from(*p).component_mul(scale))).collect();
    if points.iter().any(|p| !p.is_finite()) {
        return Err(format!("`{file}` has points that are not finite"));
    }
    let known = |t: &[u32; 3]| t.iter().all(|i| (*i as usize) < points.len());
    if !surface.triangles.iter().all(known) {
        return Err(format!("`{file}` has triangles without corners"));
    }
    Ok((points, surface.triangles.clone()))
}

/// The smallest of the three principal extents of points, over the largest: zero for those in a plane.
fn spread(points: &[Vector]) -> f64 {
    let points: Vec<Vector3<f64>> = points.iter().map(|p| from_vector(*p)).collect();
    let mean = points.iter().sum::<Vector3<f64>>() / points.len().max(1) as f64;
    let covariance: nalgebra::Matrix3<f64> = points.iter().map(|p| (p - mean) * (p - mean).transpose()).sum();
    let of = covariance.symmetric_eigenvalues();
    if of.max() > 0.0 { (of.min().max(0.0) / of.max()).sqrt() } else { 0.0 }
}
