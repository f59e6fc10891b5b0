//! Bodies and shapes of a scene file.

use pliant_core::mechanism::{Body, Geometry, Shape};
use pliant_core::nalgebra::{Matrix3, Vector3};
use pliant_core::spatial::{Pose, SpatialInertia};

use super::expression::names;
use super::keys::{self, section};
use super::report::{Report, Reported};
use super::table::Table;

/// Stands in for an inertia that could not be read, so that nothing else is said about it.
fn stand_in() -> SpatialInertia {
    SpatialInertia { mass: 1.0, center_of_mass: Vector3::zeros(), inertia: Matrix3::identity() }
}

/// A body, with the tables of those of its shapes that could be read. What is wrong is reported and
/// replaced by something harmless.
pub(super) fn read_body<'t>(table: &Table<'t>, report: &mut Report) -> (Body, Vec<Table<'t>>) {
    if let Some(pattern) = table.value("match") {
        let message = "`match` is given, but the scene imports nothing".to_string();
        let help = "add import = \"…\" at the top, or write the body in full, with its name";
        table.error("match", pattern.span(), message, help, report);
        return (Body::new("match", Pose::identity()).free().inertia(stand_in()), Vec::new());
    }
    table.check_keys(&[section("[[body]]")], report);
    let name = table.required("name", "give it one: name = \"…\"", table.text("name", report), report);
    let mut body = Body::new(name.unwrap_or_default(), table.pose(report));
    body.free = table.flag("free", report).ok().flatten().unwrap_or_default();
    body.passes =
        names(table, "passes", report).unwrap_or_default().into_iter().map(|(name, _)| name.into()).collect();

    let (tables, complete) = read_shapes(table, table.what(), &mut body.shapes, report);
    body.inertia = match read_inertia(table, report) {
        Ok(Some(inertia)) => inertia,
        Ok(None) if complete => {
            from_shapes(table, &body.shapes, &tables, report).unwrap_or_else(|_| stand_in())
        }
        _ => stand_in(),
    };
    (body, tables)
}

/// The shapes of a body or of the world, the tables of those that could be read, and whether that is all.
pub(super) fn read_shapes<'t>(
    table: &Table<'t>,
    owner: String,
    shapes: &mut Vec<Shape>,
    report: &mut Report,
) -> (Vec<Table<'t>>, bool) {
    let Ok(mut tables) = table.tables("shape", Some(owner), report) else { return (Vec::new(), false) };
    let count = tables.len();
    tables.retain(|table| match read_shape(table, report) {
        Ok(shape) => {
            shapes.push(shape);
            true
        }
        Err(Reported) => false,
    });
    let complete = tables.len() == count;
    (tables, complete)
}

/// What the body itself says about its mass; `None` if nothing.
fn read_inertia(table: &Table<'_>, report: &mut Report) -> Result<Option<SpatialInertia>, Reported> {
    let mass = table.number("mass", report);
    let center_of_mass = table.vector::<3>("center_of_mass", report);
    let inertia = read_moments(table, report);
    let (mass, center_of_mass, inertia) = (mass?, center_of_mass?, inertia?);

    let Some(mass) = mass else {
        let Some(key) = ["inertia", "center_of_mass"].into_iter().find(|key| table.has(key)) else {
            return Ok(None);
        };
        let message = format!("`{key}` is given, but no `mass`");
        return Err(table.error(key, table.place(key), message, "add mass = …, kg", report));
    };
    let inertia = match inertia {
        Some(inertia) => inertia,
        None if mass == 0.0 => Matrix3::zeros(),
        None => {
            let message = "`mass` is given, but no `inertia`".to_string();
            let help = "add inertia = [xx, yy, zz], kg·m², or give no mass and shapes with a density";
            table.error("inertia", table.place("mass"), message, help, report);
            Matrix3::identity() * mass
        }
    };
    Ok(Some(SpatialInertia { mass, center_of_mass: center_of_mass.unwrap_or_default().into(), inertia }))
}

/// Three moments, or six: xx yy zz xy xz yz.
fn read_moments(table: &Table<'_>, report: &mut Report) -> Result<Option<Matrix3<f64>>, Reported> {
    let Some(numbers) = table.numbers("inertia", report)? else { return Ok(None) };
    match numbers[..] {
        [xx, yy, zz] => Ok(Some(Matrix3::from_diagonal(&Vector3::new(xx, yy, zz)))),
        [xx, yy, zz, xy, xz, yz] => Ok(Some(Matrix3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz))),
        _ => {
            let message = format!("`inertia` has {} entries, but takes 3 or 6", numbers.len());
            let help = "[xx, yy, zz] or [xx, yy, zz, xy, xz, yz], kg·m²";
            Err(table.error("inertia", table.place("inertia"), message, help, report))
        }
    }
}

/// The sum over shapes with a density; nothing, if there is none.
pub(super) fn from_shapes(
    table: &Table<'_>,
    shapes: &[Shape],
    tables: &[Table<'_>],
    report: &mut Report,
) -> Result<SpatialInertia, Reported> {
    let mut sum: Option<SpatialInertia> = None;
    let mut outcome = Ok(());
    for (shape, shape_table) in shapes.iter().zip(tables) {
        if shape.density.is_none() {
            continue;
        }
        let inertia = match report.inertia(shape) {
            Ok(inertia) => inertia.unwrap_or(SpatialInertia::ZERO),
            Err(reason) => {
                let message = format!("the volume of a {} is unknown: {reason}", shape.geometry.name());
                let help = format!("give {} mass and inertia instead of a density", table.what());
                let place = shape_table.place("density");
                outcome = Err(shape_table.error("density", place, message, help, report));
                continue;
            }
        };
        sum = Some(sum.map_or(inertia, |sum| sum.welded(&inertia)));
    }
    outcome.map(|()| sum.unwrap_or(SpatialInertia::ZERO))
}

/// A shape of a body, of the world, or where a zone is bonded.
pub(super) fn read_shape(table: &Table<'_>, report: &mut Report) -> Result<Shape, Reported> {
    let help = format!("one of {}", keys::shape_kinds().join(", "));
    let kind = table.required("kind", &help, table.text("kind", report), report)?;
    let Some(own) = keys::shape(kind) else {
        return Err(table.unknown_kind(kind, &keys::shape_kinds(), report));
    };
    table.check_keys(&[section("[[body.shape]] and [[world.shape]]"), own], report);

    let pose = table.pose(report);
    let density = table.number("density", report);
    let friction = table.number("friction", report);
    let restitution = table.number("restitution", report);
    let touches = table.flag("touches", report);
    let color = read_color(table, report);
    let geometry = read_geometry(kind, table, report)?;
    let (density, friction, restitution, color) = (density?, friction?, restitution?, color?);
    Ok(Shape { geometry, pose, density, friction, restitution, touches: touches?.unwrap_or(true), color })
}

/// Red, green and blue, and opacity where it is not 1.
fn read_color(table: &Table<'_>, report: &mut Report) -> Result<Option<[f64; 4]>, Reported> {
    let Some(numbers) = table.numbers("color", report)? else { return Ok(None) };
    match numbers[..] {
        [red, green, blue] => Ok(Some([red, green, blue, 1.0])),
        [red, green, blue, opacity] => Ok(Some([red, green, blue, opacity])),
        _ => {
            let message = format!("`color` has {} entries, but takes 3 or 4", numbers.len());
            let help = "[red, green, blue] or [red, green, blue, opacity], each from 0 to 1";
            Err(table.error("color", table.place("color"), message, help, report))
        }
    }
}

/// What a shape of a kind looks like.
pub(super) fn read_geometry(
    kind: &str,
    table: &Table<'_>,
    report: &mut Report,
) -> Result<Geometry, Reported> {
    let length = |key, report: &mut Report| {
        let help = format!("a {kind} needs {key} = …, m");
        table.required(key, &help, table.number(key, report), report)
    };
    match kind {
        "box" => {
            let size = table.vector::<3>("size", report);
            let size = table.required("size", "a box needs size = [x, y, z], m", size, report)?;
            Ok(Geometry::Box { size: size.into() })
        }
        "ball" => Ok(Geometry::Ball { radius: length("radius", report)? }),
        "capsule" | "cylinder" => {
            let (radius, half_length) = (length("radius", report), length("half_length", report));
            let (radius, half_length) = (radius?, half_length?);
            Ok(match kind {
                "capsule" => Geometry::Capsule { radius, half_length },
                _ => Geometry::Cylinder { radius, half_length },
            })
        }
        "mesh" | "convex" => {
            let help = format!("a {kind} needs file = \"…\", relative to this file");
            let file = table.required("file", &help, table.text("file", report), report);
            let scale = read_scale(table, report);
            let (file, scale) = (file?.to_string(), scale?);
            Ok(match kind {
                "mesh" => Geometry::Mesh { file, scale },
                _ => Geometry::Convex { file, scale },
            })
        }
        "plane" => Ok(Geometry::Plane),
        _ => {
            let size = table.vector::<2>("size", report);
            let size = table.required("size", "a heightfield needs size = [x, y], m", size, report);
            let heights = table.rows("heights", report);
            let help = "a heightfield needs heights = [[…], […]], rows along y, m";
            let heights = table.required("heights", help, heights, report);
            Ok(Geometry::Heightfield { size: size?, heights: heights? })
        }
    }
}

/// One factor, or one for each axis.
fn read_scale(table: &Table<'_>, report: &mut Report) -> Result<Vector3<f64>, Reported> {
    match table.value("scale") {
        None => Ok(Vector3::repeat(1.0)),
        Some(value) if value.get_ref().as_array().is_none_or(|list| list.len() == 1) => {
            Ok(Vector3::repeat(table.number("scale", report)?.unwrap_or(1.0)))
        }
        Some(_) => Ok(table.vector::<3>("scale", report)?.unwrap_or([1.0; 3]).into()),
    }
}
