//! Links of SDF: mass, inertia and shapes.

use pliant_core::mechanism::{Body, Geometry, Shape};
use pliant_core::nalgebra::{Matrix3, Vector3};
use pliant_core::spatial::{Pose, SpatialInertia};

use super::super::context::Context;
use super::super::mesh::Mesh;
use super::super::parts::Link;
use super::super::shape;
use super::super::xml::Element;
use super::frames::{Frames, Node, read_pose};
use super::number;

/// Density where the format computes inertia and the file says nothing, kg/m³.
const WATER: f64 = 1000.0;

/// A link of a node.
pub(super) fn read_link(node: usize, frames: &Frames<'_>, context: &mut Context) -> Link {
    const KNOWN: [&str; 17] = [
        "pose",
        "inertial",
        "collision",
        "visual",
        "sensor",
        "light",
        "self_collide",
        "kinematic",
        "must_be_base_link",
        "enable_wind",
        "gravity",
        "projector",
        "audio_sink",
        "audio_source",
        "battery",
        "particle_emitter",
        "velocity_decay",
    ];
    let Node { element, name, fixed, .. } = &frames.nodes[node];
    element.check_children(&KNOWN, context);
    if element.child("gravity").is_some_and(|gravity| matches!(gravity.text.as_str(), "0" | "false")) {
        context.warning_of("weightless link", &element.place, || {
            format!("link `{name}` is without gravity in the file; in Pliant gravity acts on every link")
        });
    }
    let mut body = Body::new(name.as_str(), frames.pose(node));
    let mut densities = Vec::new();
    // What touches has mass; where nothing does, what is drawn.
    let collides = element.child("collision").is_some();
    for given in element.all("collision") {
        let Some(shape) = read_shape(given, node, true, frames, context) else { continue };
        densities.push(number(given, "density", context));
        body.shapes.push(shape);
    }
    for given in element.all("visual") {
        let read = |context: &mut Context| read_shape(given, node, false, frames, context);
        let Some(mut shape) = shape::drawn(element, context, read) else { continue };
        shape.color = color(given);
        if !collides {
            densities.push(number(given, "density", context));
        }
        body.shapes.push(shape);
    }
    let inertial = element.child("inertial");
    body.inertia = match inertial {
        Some(inertial) if inertial.flag("auto", context) == Some(true) => {
            let common = number(inertial, "density", context).unwrap_or(WATER);
            from_shapes(&body, &densities, common, inertial, context)
        }
        Some(inertial) => read_inertial(inertial, name, context),
        // Whatever does not move needs no mass.
        None if *fixed => SpatialInertia::ZERO,
        None => {
            context.warning_of("missing inertial", &element.place, || {
                format!(
                    "link `{name}` has no <inertial>; it got 1 kg and 1 kg·m², the defaults of the format"
                )
            });
            SpatialInertia { mass: 1.0, center_of_mass: Vector3::zeros(), inertia: Matrix3::identity() }
        }
    };
    Link { body, place: element.place_of("name").clone() }
}

fn read_inertial(inertial: &Element, link: &str, context: &mut Context) -> SpatialInertia {
    inertial.check_children(&["pose", "mass", "inertia", "density"], context);
    let pose = inertial.child("pose").map_or_else(Pose::identity, |pose| read_pose(pose, context));
    let mass = number(inertial, "mass", context).unwrap_or_else(|| {
        context.warning_of("missing mass", &inertial.place, || {
            format!("link `{link}`: <inertial> gives no mass; it got 1 kg, the default of the format")
        });
        1.0
    });
    let mut I = Matrix3::identity();
    if let Some(element) = inertial.child("inertia") {
        let mut entry = |name: &str, absent: f64| number(element, name, context).unwrap_or(absent);
        let [xx, yy, zz] = ["ixx", "iyy", "izz"].map(|name| entry(name, 1.0));
        let [xy, xz, yz] = ["ixy", "ixz", "iyz"].map(|name| entry(name, 0.0));
        I = Matrix3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz);
    } else if mass != 0.0 {
        context.warning_of("missing inertia", &inertial.place, || {
            format!("link `{link}`: <inertial> gives no inertia; it got 1 kg·m², the default of the format")
        });
    }
    SpatialInertia { mass, center_of_mass: Vector3::zeros(), inertia: I }.in_outer(&pose)
}

/// Mass and inertia from the volume of the shapes (SDF 1.11, `auto="true"`).
fn from_shapes(
    body: &Body,
    densities: &[Option<f64>],
    common: f64,
    inertial: &Element,
    context: &mut Context,
) -> SpatialInertia {
    let mut sum = SpatialInertia::ZERO;
    for (shape, density) in body.shapes.iter().zip(densities) {
        let density = density.unwrap_or(common);
        let own = match &shape.geometry {
            Geometry::Mesh { file, scale } | Geometry::Convex { file, scale } => {
                let solid = Mesh::load(file, scale).map(|mesh| mesh.solid());
                let solid = solid.map_err(|error| error.to_string()).and_then(|solid| {
                    if solid.mass > 0.0 { Ok(solid) } else { Err("it encloses no volume".into()) }
                });
                match solid {
                    Ok(M) => SpatialInertia { mass: M.mass * density, inertia: M.inertia * density, ..M }
                        .in_outer(&shape.pose),
                    Err(reason) => {
                        context.warning_of("mesh without volume", &inertial.place, || {
                            format!("link `{}`: no mass comes from the mesh `{file}`: {reason}", body.name)
                        });
                        continue;
                    }
                }
            }
            _ => match (Shape { density: Some(density), ..shape.clone() }).inertia() {
                Some(own) => own,
                None => continue,
            },
        };
        sum = sum.welded(&own);
    }
    sum
}

/// What scattered light shows.
fn color(visual: &Element) -> Option<[f64; 4]> {
    shape::color(&visual.child("material")?.child("diffuse")?.text)
}

fn read_shape(
    element: &Element,
    link: usize,
    collides: bool,
    frames: &Frames<'_>,
    context: &mut Context,
) -> Option<Shape> {
    let mut pose = element.child("pose").map_or_else(Pose::identity, |pose| read_pose(pose, context));
    let base = element.child("pose").and_then(|pose| pose.attribute("relative_to"));
    if let Some(base) = base.filter(|base| !base.value.is_empty()) {
        match frames.find(frames.nodes[link].scope, &base.value) {
            Some(frame) => pose = frames.pose(link).inverse_times(&frames.pose(frame)) * pose,
            None => {
                let message = format!("{}: there is no frame `{}`", element.what(), base.value);
                context.error(
                    &base.place,
                    message,
                    "the name of a link, joint, frame or model of the same model",
                );
            }
        }
    }
    let geometry = element.child("geometry")?;
    let kind = geometry.children.first()?;
    let (geometry, turn) = read_geometry(kind, collides, context)?;
    let mut shape = Shape::new(geometry).at(pose * turn);
    let friction = (element.child("surface"))
        .and_then(|surface| surface.child("friction"))
        .and_then(|friction| friction.child("ode"))
        .and_then(|ode| number(ode, "mu", context));
    shape.friction = friction.filter(|mu| *mu >= 0.0 && collides);
    shape.touches = collides;
    shape::is_sound(&shape, &kind.place, context).then_some(shape)
}

/// A geometry, and where it lies in the frame of the shape.
fn read_geometry(kind: &Element, collides: bool, context: &mut Context) -> Option<(Geometry, Pose)> {
    let here = Pose::identity();
    let mut length = |name: &str, absent: f64| number(kind, name, context).unwrap_or(absent);
    Some(match kind.name.as_str() {
        "box" => match kind.child("size") {
            Some(size) => (Geometry::Box { size: size.text_vector::<3>(context)?.into() }, here),
            None => (Geometry::Box { size: Vector3::repeat(1.0) }, here),
        },
        "sphere" => (Geometry::Ball { radius: length("radius", 1.0) }, here),
        "cylinder" => (
            Geometry::Cylinder { radius: length("radius", 1.0), half_length: length("length", 1.0) * 0.5 },
            here,
        ),
        "capsule" => (
            Geometry::Capsule { radius: length("radius", 0.5), half_length: length("length", 1.0) * 0.5 },
            here,
        ),
        "ellipsoid" => {
            let radii = match kind.child("radii") {
                Some(radii) => radii.text_vector::<3>(context)?,
                None => [1.0; 3],
            };
            return Some(ellipsoid(radii, kind, context));
        }
        "plane" => {
            let vector = |name: &str, context: &mut Context| {
                kind.child(name).map(|child| {
                    child.text.is_empty().then_some([0.0; 3]).or_else(|| child.text_vector::<3>(context))
                })
            };
            let normal: Vector3<f64> = vector("normal", context).map_or(Some([0.0, 0.0, 1.0]), |n| n)?.into();
            let normal = if normal.amax() > 0.0 { normal } else { Vector3::z() };
            (Geometry::Plane, Pose::with_z_along(normal, Vector3::zeros()))
        }
        "mesh" => {
            let Some(uri) = kind.child("uri").filter(|uri| !uri.text.is_empty()) else {
                context.error(&kind.place, "a <mesh> has no <uri>", "add <uri>…</uri>");
                return None;
            };
            if kind.child("submesh").is_some() {
                context
                    .warning_of("submesh", &kind.place, || "a <submesh> was read as the whole mesh".into());
            }
            let scale = match kind.child("scale") {
                Some(scale) => scale.text_vector::<3>(context)?,
                None => [1.0; 3],
            };
            (shape::mesh_of_file(&uri.text, scale.into(), collides, &uri.place, context)?, here)
        }
        "empty" => return None,
        other => {
            context.warning_of(format!("geometry {other}"), &kind.place, || {
                format!("a geometry <{other}> is not supported and was left out")
            });
            return None;
        }
    })
}

/// A ball where it is one, else the capsule along its longest axis.
fn ellipsoid(radii: [f64; 3], kind: &Element, context: &mut Context) -> (Geometry, Pose) {
    let [x, y, z] = radii;
    if x == y && y == z {
        return (Geometry::Ball { radius: x }, Pose::identity());
    }
    context.warning_of("ellipsoid", &kind.place, || {
        "an ellipsoid was read as a capsule along its longest axis".into()
    });
    let longest = if z >= x && z >= y { 2 } else { usize::from(y >= x) };
    let radius = (radii[(longest + 1) % 3] + radii[(longest + 2) % 3]) * 0.5;
    let half_length = radii[longest] - radius;
    let mut axis = Vector3::zeros();
    axis[longest] = 1.0;
    (Geometry::Capsule { radius, half_length }, Pose::with_z_along(axis, Vector3::zeros()))
}
