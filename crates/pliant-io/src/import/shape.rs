//! What the readers share about shapes.

use std::path::{Component, PathBuf};

use pliant_core::mechanism::{Geometry, Shape};
use pliant_core::nalgebra::Vector3;
use pliant_core::spatial::Pose;

use super::context::{Context, Place};
use super::xml::Element;

/// A mesh by its file, as other tools name it: `convex` for contact, `mesh` for drawing. A file that is not there is a warning and no
/// shape. For contact it is opened, and one that is no mesh or has no hull is a warning too; for drawing it is opened when it is drawn.
pub(super) fn mesh_of_file(
    uri: &str,
    scale: Vector3<f64>,
    collides: bool,
    place: &Place,
    context: &mut Context,
) -> Option<Geometry> {
    let path = context.resolve(uri, place).map(plain);
    match path.and_then(|path| if collides { context.open_mesh(path, true) } else { Ok(path) }) {
        Ok(path) => {
            let file = path.display().to_string();
            Some(if collides { Geometry::Convex { file, scale } } else { Geometry::Mesh { file, scale } })
        }
        Err(reason) => {
            context.warning_of(format!("mesh: {reason}"), place, || {
                format!("the mesh `{uri}` was left out: {reason}")
            });
            None
        }
    }
}

/// A shape that is drawn only: what is wrong with it is reported where its link has nothing else to be drawn.
pub(super) fn drawn(
    link: &Element,
    context: &mut Context,
    read: impl FnOnce(&mut Context) -> Option<Shape>,
) -> Option<Shape> {
    match link.child("collision") {
        // A plane of its own would be drawn as a box.
        Some(_) => context.quietly(read).filter(|shape| shape.geometry != Geometry::Plane),
        None => read(context),
    }
}

/// Red, green, blue and opacity as files write them. It is for drawing: what is no color is none.
pub(super) fn color(text: &str) -> Option<[f64; 4]> {
    let parts: Vec<f64> = text.split_whitespace().map(str::parse).collect::<Result<_, _>>().ok()?;
    let [red, green, blue, opacity] = match parts[..] {
        [red, green, blue] => [red, green, blue, 1.0],
        [red, green, blue, opacity] => [red, green, blue, opacity],
        _ => return None,
    };
    let parts = [red, green, blue, opacity].map(|part: f64| part.clamp(0.0, 1.0));
    (!parts.iter().any(|part| part.is_nan())).then_some(parts)
}

/// The whole path, without steps back: it serves wherever the mechanism is written to.
pub(super) fn plain(path: PathBuf) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in std::path::absolute(&path).unwrap_or(path).components() {
        match part {
            Component::ParentDir => drop(plain.pop()),
            part => plain.push(part),
        }
    }
    plain
}

/// Shapes of a link that is part of the world, where all is drawn: what touches, or else what is drawn.
pub(super) fn of_world(shapes: Vec<Shape>) -> impl Iterator<Item = Shape> {
    let touches = shapes.iter().any(|shape| shape.touches);
    shapes.into_iter().filter(move |shape| shape.touches == touches)
}

/// Whether a shape has an extent; one that has none is left out with a warning.
pub(super) fn is_sound(shape: &Shape, place: &Place, context: &mut Context) -> bool {
    let length = |x: &f64| x.is_finite() && *x > 0.0;
    let sound = match &shape.geometry {
        Geometry::Box { size } => size.iter().all(length),
        Geometry::Ball { radius } => length(radius),
        Geometry::Capsule { radius, half_length } | Geometry::Cylinder { radius, half_length } => {
            length(radius) && length(half_length)
        }
        Geometry::Mesh { scale, .. } | Geometry::Convex { scale, .. } => {
            scale.iter().all(|s| s.is_finite() && *s != 0.0)
        }
        Geometry::Heightfield { size, .. } => size.iter().all(length),
        Geometry::Plane => true,
    };
    if !sound {
        context.warning_of("shape without extent", place, || {
            format!("a {} without extent was left out", shape.geometry.name())
        });
    }
    sound
}

/// How wide and thick a plane is on a body, which may move, m.
const WIDE: f64 = 200.0;
const THICK: f64 = 1.0;

/// Only the world has planes without an end: those of a body become thick boxes, their upper faces in the planes.
pub(super) fn end_planes(shapes: &mut [Shape], place: &Place, context: &mut Context) {
    for shape in shapes.iter_mut().filter(|shape| shape.geometry == Geometry::Plane) {
        shape.geometry = Geometry::Box { size: Vector3::new(WIDE, WIDE, THICK) };
        shape.pose = shape.pose * Pose::translation([0.0, 0.0, -0.5 * THICK]);
        context.warning_of("plane", place, || {
            format!("an infinite plane of a body was read as a box of {WIDE} m by {WIDE} m")
        });
    }
}
