//! `<geom>`: shapes, and the mass that they give to their bodies.

use std::collections::HashSet;
use std::f64::consts::PI;
use std::path::PathBuf;

use pliant_core::mechanism::{Geometry, Shape};
use pliant_core::nalgebra::{Matrix3, Vector3};
use pliant_core::spatial::{Pose, SpatialInertia};

use super::assets::{Assets, Solid};
use super::compiler::Compiler;
use crate::import::context::{Context, Place};
use crate::import::shape;
use crate::import::xml::Element;

/// Density of a geom that gives none, kg/m³.
const WATER: f64 = 1000.0;

const ATTRIBUTES: [&str; 36] = [
    "adhesion",
    "axisangle",
    "castshadow",
    "class",
    "conaffinity",
    "condim",
    "contype",
    "density",
    "euler",
    "fitscale",
    "fluidcoef",
    "fluidshape",
    "friction",
    "fromto",
    "gap",
    "group",
    "hfield",
    "margin",
    "mass",
    "material",
    "mesh",
    "name",
    "pos",
    "priority",
    "quat",
    "rgba",
    "shellinertia",
    "size",
    "solimp",
    "solmix",
    "solref",
    "surfacevel",
    "type",
    "user",
    "xyaxes",
    "zaxis",
];

/// A geom in the frame of its body.
#[derive(Clone, Debug)]
pub(super) struct Geom {
    /// What touches or is drawn, if it can be read.
    pub(super) shape: Option<Shape>,
    /// Its name; empty if it has none.
    pub(super) name: String,
    /// Whether it touches.
    pub(super) collides: bool,
    /// Whether it touches only what a `<pair>` names it with.
    pub(super) by_pair: bool,
    /// Group, for the choice of those that have mass.
    pub(super) group: f64,
    /// Where it was read.
    pub(super) place: Place,
    pose: Pose,
    mass: Option<f64>,
    density: f64,
    shell: bool,
    kind: Kind,
}

/// Half sizes.
#[derive(Clone, Debug, PartialEq)]
enum Kind {
    Plane,
    Field,
    Sphere(f64),
    Capsule(f64, f64),
    Cylinder(f64, f64),
    Ellipsoid(Vector3<f64>),
    Box(Vector3<f64>),
    Mesh(String),
}

/// Reads a geom that has its defaults; `frame` is where it lies in its body.
pub(super) fn read(
    element: &Element,
    frame: &Pose,
    compiler: &Compiler,
    assets: &Assets,
    paired: &HashSet<String>,
    context: &mut Context,
) -> Option<Geom> {
    element.check_attributes(&ATTRIBUTES, context);
    let mut pose = compiler.pose(element, context);
    let mut size = element.numbers("size", context).unwrap_or_default();
    let kind = element.value("type").map_or("sphere", str::trim);
    if let Some(span) = element.vector::<6>("fromto", context) {
        let (middle, half, along) = from_to(span);
        let Some(along) = along else {
            let message = format!("{}: the two ends of `fromto` are the same point", element.what());
            context.error(element.place_of("fromto"), message, "two points");
            return None;
        };
        pose = Pose::with_z_along(along, middle);
        // A box and an ellipsoid are as wide as they are thick, whatever else is given, as MuJoCo has them.
        let around = if matches!(kind, "box" | "ellipsoid") { 2 } else { 1 };
        size = vec![size.first().copied().unwrap_or(0.0); around];
        size.push(half);
    }
    let length = |i: usize| size.get(i).copied().unwrap_or(0.0);
    let needed = match kind {
        "sphere" => 1,
        "capsule" | "cylinder" => 2,
        "box" | "ellipsoid" => 3,
        _ => 0,
    };
    let kind = match kind {
        _ if needed > 0 && element.attribute("mesh").is_some() => {
            context.warning_of("fitted geom", element.place_of("mesh"), || {
                format!(
                    "{}: a {kind} fitted to a mesh is not supported; the mesh itself was used",
                    element.what()
                )
            });
            Kind::Mesh(element.value("mesh").unwrap_or_default().to_string())
        }
        _ if size.len() < needed || size[..needed].iter().any(|s| *s <= 0.0) => {
            let message = format!("{}: `size` is not that of a {kind}", element.what());
            let help = format!("{needed} numbers above zero");
            context.error(element.place_of("size"), message, help);
            return None;
        }
        "sphere" => Kind::Sphere(length(0)),
        "capsule" => Kind::Capsule(length(0), length(1)),
        "cylinder" => Kind::Cylinder(length(0), length(1)),
        "ellipsoid" => Kind::Ellipsoid(Vector3::new(length(0), length(1), length(2))),
        "box" => Kind::Box(Vector3::new(length(0), length(1), length(2))),
        "plane" => Kind::Plane,
        "hfield" => Kind::Field,
        "mesh" | "sdf" => Kind::Mesh(element.required("mesh", context)?.to_string()),
        other => {
            let message = format!("{}: `type` is `{other}`", element.what());
            let help = "plane, hfield, sphere, capsule, ellipsoid, cylinder, box or mesh";
            context.error(element.place_of("type"), message, help);
            return None;
        }
    };
    let pose = *frame * pose;
    let bits = |name: &str, context: &mut Context| element.number(name, context).unwrap_or(1.0) != 0.0;
    let by_itself = bits("contype", context) | bits("conaffinity", context);
    let name = element.value("name").unwrap_or_default().to_string();
    let collides = by_itself || paired.contains(&name);
    let friction = element.numbers("friction", context).and_then(|f| f.first().copied()).unwrap_or(1.0);
    let mut geom = Geom {
        shape: None,
        name,
        collides,
        by_pair: !by_itself && collides,
        group: element.number("group", context).unwrap_or(0.0),
        place: element.place.clone(),
        pose,
        mass: element.number("mass", context),
        density: element.number("density", context).unwrap_or(WATER),
        shell: element.flag("shellinertia", context) == Some(true),
        kind,
    };
    for (name, value) in [("mass", geom.mass), ("density", Some(geom.density))] {
        if value.is_some_and(|value| value < 0.0) {
            let message = format!("{}: `{name}` is below zero", element.what());
            context.error(element.place_of(name), message, "zero or above");
        }
    }
    geom.shape = geom.find_shape(element, assets, context).map(|(geometry, offset)| Shape {
        friction: Some(friction).filter(|_| collides),
        touches: collides,
        color: color(element, assets),
        ..Shape::new(geometry).at(pose * offset)
    });
    geom.shape = geom.shape.take().filter(|shape| shape::is_sound(shape, &element.place, context));
    Some(geom)
}

/// Its own color, unless that is what MuJoCo takes for none; then that of its material.
fn color(element: &Element, assets: &Assets) -> Option<[f64; 4]> {
    let own = element.value("rgba").and_then(shape::color).filter(|color| *color != [0.5, 0.5, 0.5, 1.0]);
    own.or_else(|| assets.colors.get(element.value("material")?).copied())
}

/// The middle of two points, half their distance and the direction between them.
pub(super) fn from_to(span: [f64; 6]) -> (Vector3<f64>, f64, Option<Vector3<f64>>) {
    let [a, b, c, d, e, f] = span;
    let (from, to) = (Vector3::new(a, b, c), Vector3::new(d, e, f));
    let along = from - to;
    let half = 0.5 * along.norm();
    ((from + to) * 0.5, half, Some(along).filter(|_| half > 1e-150 && half.is_finite()))
}

impl Geom {
    /// Whether MuJoCo draws it where nothing else is chosen.
    pub(super) fn is_seen(&self) -> bool {
        self.group < 3.0
            && self.shape.as_ref().is_none_or(|shape| shape.color.is_none_or(|color| color[3] > 0.0))
    }

    /// Opens the mesh of its shape; one that is no mesh, or has no hull where it touches, is left out with a warning.
    pub(super) fn open(&mut self, context: &mut Context) {
        let (file, hull) = match self.shape.as_ref().map(|shape| &shape.geometry) {
            Some(Geometry::Convex { file, .. }) => (file.clone(), true),
            Some(Geometry::Mesh { file, .. }) => (file.clone(), false),
            _ => return,
        };
        if let Err(reason) = context.open_mesh(PathBuf::from(&file), hull) {
            context.warning_of(format!("mesh: {reason}"), &self.place, || {
                format!("the mesh `{file}` was left out: {reason}")
            });
            self.shape = None;
        }
    }

    /// The geometry and its place on the geom.
    fn find_shape(
        &self,
        element: &Element,
        assets: &Assets,
        context: &mut Context,
    ) -> Option<(Geometry, Pose)> {
        let here = Pose::identity();
        Some(match &self.kind {
            Kind::Sphere(radius) => (Geometry::Ball { radius: *radius }, here),
            Kind::Capsule(radius, half) => (Geometry::Capsule { radius: *radius, half_length: *half }, here),
            Kind::Cylinder(radius, half) => {
                (Geometry::Cylinder { radius: *radius, half_length: *half }, here)
            }
            Kind::Box(half) => (Geometry::Box { size: half * 2.0 }, here),
            Kind::Ellipsoid(half) => {
                let (geometry, offset) = near_ellipsoid(half);
                context.warning_of("ellipsoid", &element.place, || {
                    format!(
                        "an ellipsoid has the contact shape of a {} of about its size; its mass is exact",
                        geometry.name()
                    )
                });
                (geometry, offset)
            }
            // Without an end, whatever size is drawn.
            Kind::Plane => (Geometry::Plane, here),
            Kind::Field => {
                let field = assets.fields.get(element.value("hfield")?)?;
                let size = field.half.map(|half| 2.0 * half);
                (Geometry::Heightfield { size, heights: field.heights.clone() }, here)
            }
            Kind::Mesh(name) => {
                let Some(mesh) = assets.meshes.get(name) else {
                    let message = format!("{}: there is no mesh `{name}`", element.what());
                    context.error(element.place_of("mesh"), message, "the name of a <mesh> of <asset>");
                    return None;
                };
                let (file, place) = mesh.file_and_place(context)?;
                let scale = mesh.scale;
                match self.collides {
                    true => (Geometry::Convex { file, scale }, place),
                    false => (Geometry::Mesh { file, scale }, place),
                }
            }
        })
    }

    /// What it adds to its body, in the body's frame.
    pub(super) fn inertia(&self, assets: &mut Assets, context: &mut Context) -> SpatialInertia {
        let empty = self.mass.unwrap_or(self.density) == 0.0;
        if empty || matches!(self.kind, Kind::Plane | Kind::Field) {
            return SpatialInertia::ZERO;
        }
        let solid = match &self.kind {
            Kind::Mesh(name) => assets.solid(name, context),
            kind if self.shell => shell(kind).or_else(|| {
                context.warning_of("shellinertia", &self.place, || {
                    "`shellinertia` is supported for spheres, boxes, capsules, cylinders and meshes only; the geom was read as solid".into()
                });
                solid(kind)
            }),
            kind => solid(kind),
        };
        let own = match (solid, self.mass) {
            (Some(Solid { volume, center, inertia }), mass) => {
                let mass = mass.unwrap_or(self.density * volume);
                SpatialInertia { mass, center_of_mass: center, inertia: inertia * (mass / volume) }
            }
            // A mesh that cannot be had: its mass is in a point.
            (None, Some(mass)) => SpatialInertia { mass, ..SpatialInertia::ZERO },
            (None, None) => SpatialInertia::ZERO,
        };
        own.in_outer(&self.pose)
    }
}

/// The volume of a shape and its inertia about its centre.
fn solid(kind: &Kind) -> Option<Solid> {
    let of = |geometry: Geometry| {
        let shape = Shape { density: Some(1.0), ..Shape::new(geometry) };
        let M = shape.inertia()?;
        Some(Solid { volume: M.mass, center: Vector3::zeros(), inertia: M.inertia })
    };
    match *kind {
        Kind::Sphere(radius) => of(Geometry::Ball { radius }),
        Kind::Capsule(radius, half_length) => of(Geometry::Capsule { radius, half_length }),
        Kind::Cylinder(radius, half_length) => of(Geometry::Cylinder { radius, half_length }),
        Kind::Box(half) => of(Geometry::Box { size: half * 2.0 }),
        Kind::Ellipsoid(half) => {
            let volume = 4.0 / 3.0 * PI * half.product();
            let s = half.component_mul(&half) * (volume / 5.0);
            let inertia = Matrix3::from_diagonal(&Vector3::new(s.y + s.z, s.x + s.z, s.x + s.y));
            Some(Solid { volume, center: Vector3::zeros(), inertia })
        }
        Kind::Plane | Kind::Field | Kind::Mesh(_) => None,
    }
}

/// The same for mass on the surface alone; volume is the area then.
fn shell(kind: &Kind) -> Option<Solid> {
    let (area, diagonal) = match *kind {
        Kind::Sphere(r) => (4.0 * PI * r * r, Vector3::repeat(2.0 / 3.0 * r * r)),
        Kind::Box(h) => {
            // Two faces across each axis: ∫x² = Σ over faces.
            let faces = Vector3::new(h.y * h.z, h.x * h.z, h.x * h.y) * 8.0;
            let area = faces.sum();
            let square = |i: usize| h[i] * h[i] * (faces[i] + (area - faces[i]) / 3.0) / area;
            let [x, y, z] = [square(0), square(1), square(2)];
            (area, Vector3::new(y + z, x + z, x + y))
        }
        Kind::Cylinder(r, h) => {
            // The side and two discs.
            let (side, discs) = (4.0 * PI * r * h, 2.0 * PI * r * r);
            let along = side * r * r + discs * r * r / 2.0;
            let across = side * (r * r / 2.0 + h * h / 3.0) + discs * (r * r / 4.0 + h * h);
            (side + discs, Vector3::new(across, across, along) / (side + discs))
        }
        Kind::Capsule(r, h) => {
            // The side and two half spheres, their centres r/2 from the rims.
            let (side, caps) = (4.0 * PI * r * h, 4.0 * PI * r * r);
            let along = side * r * r + caps * 2.0 / 3.0 * r * r;
            let across = side * (r * r / 2.0 + h * h / 3.0) + caps * (2.0 / 3.0 * r * r + h * h + h * r);
            (side + caps, Vector3::new(across, across, along) / (side + caps))
        }
        _ => return None,
    };
    Some(Solid {
        volume: area,
        center: Vector3::zeros(),
        inertia: Matrix3::from_diagonal(&(diagonal * area)),
    })
}

/// A ball of the same volume where the axes are alike, else a capsule along the longest.
fn near_ellipsoid(half: &Vector3<f64>) -> (Geometry, Pose) {
    let longest = half.imax();
    if half.max() < 1.2 * half.min() {
        return (Geometry::Ball { radius: half.product().cbrt() }, Pose::identity());
    }
    let radius = 0.5 * (half.sum() - half[longest]);
    let half_length = (half[longest] - radius).max(1e-3 * radius);
    let mut axis = Vector3::zeros();
    axis[longest] = 1.0;
    (Geometry::Capsule { radius, half_length }, Pose::with_z_along(axis, Vector3::zeros()))
}
