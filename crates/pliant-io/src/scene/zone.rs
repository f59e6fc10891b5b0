//! Elastic zones of a scene file.

use pliant_core::mechanism::{Geometry, Shape, ZoneDescription, ZoneSolid};

use super::body::{read_geometry, read_shape};
use super::keys::{self, section};
use super::report::{Optional, Report, Reported};
use super::table::Table;
use crate::solids;

/// Kinds of shapes that have no inside.
const HOLLOW: [&str; 2] = ["heightfield", "plane"];

/// A zone. What is wrong is reported.
pub(super) fn read_zone(table: &Table<'_>, report: &mut Report) -> Result<ZoneDescription, Reported> {
    let kinds: Vec<&str> = keys::shape_kinds().into_iter().filter(|kind| !HOLLOW.contains(kind)).collect();
    let help = format!("one of {}", kinds.join(", "));
    let kind = table.required("kind", &help, table.text("kind", report), report)?;
    let Some(own) = keys::shape(kind).filter(|_| kinds.contains(&kind)) else {
        return Err(table.unknown_kind(kind, &kinds, report));
    };
    table.check_keys(&[section("[[zone]]"), own], report);
    let name = table.required("name", "give it one: name = \"…\"", table.text("name", report), report);
    let help = "name the body that carries it: body = \"…\", or \"world\"";
    let body = table.required("body", help, table.text("body", report), report);
    let file = if kind == "mesh" { table.text("file", report)? } else { None };
    let extension = file.and_then(|file| Some(file.rsplit_once('.')?.1.to_lowercase()));
    let source = match extension.as_deref() {
        Some("msh") => Source::Tetrahedra,
        Some("npz") => Source::Green,
        _ => Source::Shape,
    };
    source.refuse(table, report)?;
    let (young, poisson) = if source == Source::Green {
        (Ok(1.0), Ok(0.0))
    } else {
        let help = "give young = …, Pa; rubber has 1e5 to 1e7";
        let young = table.required("young", help, table.number("young", report), report);
        let help = "give poisson = …; rubber has 0.45 to 0.499";
        (young, table.required("poisson", help, table.number("poisson", report), report))
    };
    let numbers = ["damping", "density", "friction", "resolution"].map(|key| table.number(key, report));
    let nodes = whole("nodes", "a whole number from 8 to 20000", table, report);
    let pieces = whole("pieces", "a whole number from 1 to 200", table, report);
    let to = table.text("to", report)?;
    let pose = table.pose(report);
    let geometry = read_geometry(kind, table, report);
    let bonded = match table.table("bonded", report)? {
        Some(region) => Some(read_shape(&region, report)?),
        None => None,
    };
    let [damping, density, friction, resolution] = numbers;
    let shape = Shape { density: density?, friction: friction?, ..Shape::new(geometry?).at(pose) };
    let mut zone = ZoneDescription::new(name?, body?, shape).elasticity(young?, poisson?);
    (zone.damping, zone.resolution, zone.bonded) = (damping?.unwrap_or(0.0), resolution?, bonded);
    (zone.nodes, zone.pieces, zone.to) = (nodes?, pieces?, to.map(str::to_string));
    if source != Source::Shape {
        read_solid(source, &mut zone, table, report)?;
    }
    if zone.inertia.is_none() && zone.shape.inertia().is_none() && keys::is_file(own) {
        let weighed = Shape { density: Some(zone.density()), ..zone.shape.clone() };
        zone.inertia = report.inertia(&weighed).map_err(|reason| {
            let message = format!("the mass of zone `{}` is unknown: {reason}", zone.name);
            table.error(
                "file",
                table.place("file"),
                message,
                "a closed surface, triangles counter-clockwise seen from outside",
                report,
            )
        })?;
    }
    Ok(zone)
}

/// What a zone is made from, by its file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Source {
    Shape,
    /// Of Gmsh.
    Tetrahedra,
    /// Measured, or made elsewhere.
    Green,
}

impl Source {
    /// Reports keys of which the file has the answer.
    fn refuse(self, table: &Table<'_>, report: &mut Report) -> Result<(), Reported> {
        let (keys, has): (&[&'static str], _) = match self {
            Source::Shape => return Ok(()),
            Source::Tetrahedra => (&["resolution", "nodes", "to"], "has its tetrahedra"),
            Source::Green => {
                (&["resolution", "nodes", "to", "young", "poisson", "bonded"], "has its Green's functions")
            }
        };
        match keys.iter().find(|key| table.has(key)) {
            None => Ok(()),
            Some(key) => {
                let message = format!("the file of this zone {has}, and `{key}` is given");
                Err(table.error(key, table.place(key), message, "leave it out", report))
            }
        }
    }
}

/// Reads what a zone is made from.
fn read_solid(
    source: Source,
    zone: &mut ZoneDescription,
    table: &Table<'_>,
    report: &mut Report,
) -> Result<(), Reported> {
    let Geometry::Mesh { file, scale } = &zone.shape.geometry else { unreachable!("a file of a mesh") };
    let (damping, density) = (zone.damping, zone.density());
    if scale.x != scale.y || scale.y != scale.z || scale.x.is_nan() || scale.x <= 0.0 {
        let help = "one factor above zero, of length: 0.001 for a file in millimetres";
        let message = format!("`scale` of zone `{}` is {:?}", zone.name, scale.as_slice());
        return Err(table.error("scale", table.place("scale"), message, help, report));
    }
    let made = report.bytes(file).and_then(|bytes| match source {
        Source::Tetrahedra => Ok((ZoneSolid::Tetrahedra(solids::tetrahedra(&bytes, scale.x)?.into()), None)),
        _ => {
            let (solid, inertia) = solids::Measured::read(&bytes)?.solid(scale.x, damping, density)?;
            Ok((ZoneSolid::Green(solid.into()), Some(inertia)))
        }
    });
    match made {
        Ok((solid, inertia)) => {
            zone.solid = Some(solid);
            zone.inertia = inertia.map(|inertia| inertia.in_outer(&zone.shape.pose));
            Ok(())
        }
        Err(reason) => {
            let message = format!("zone `{}` cannot be built from `{file}`: {reason}", zone.name);
            let help = match source {
                Source::Tetrahedra => "a Gmsh file of tetrahedra, MSH 2.2 or 4.1 as text",
                _ => "an .npz file with points, triangles and green: docs/scene.md",
            };
            Err(table.error("file", table.place("file"), message, help, report))
        }
    }
}

/// A count; what is none is reported.
fn whole(key: &'static str, help: &str, table: &Table<'_>, report: &mut Report) -> Optional<usize> {
    let Some(x) = table.number(key, report)? else { return Ok(None) };
    if x.fract() != 0.0 || x < 0.0 {
        return Err(table.error(key, table.place(key), format!("`{key}` is {x}"), help, report));
    }
    Ok(Some(x as usize))
}
