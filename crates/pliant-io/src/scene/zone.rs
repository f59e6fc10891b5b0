//! Elastic zones of a scene file.

use pliant_core::mechanism::{Shape, ZoneDescription};

use super::body::{read_geometry, read_shape};
use super::keys::{self, section};
use super::report::{Optional, Report, Reported};
use super::table::Table;

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
    let young = table.required(
        "young",
        "give young = …, Pa; rubber has 1e5 to 1e7",
        table.number("young", report),
        report,
    );
    let help = "give poisson = …; rubber has 0.45 to 0.499";
    let poisson = table.required("poisson", help, table.number("poisson", report), report);
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
    if zone.shape.inertia().is_none() && keys::is_file(own) {
        let weighed = Shape { density: Some(zone.density()), ..zone.shape.clone() };
        zone.inertia = report.inertia(&weighed).map_err(|reason| {
            let message = format!("the mass of zone `{}` is not known: {reason}", zone.name);
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

/// A count; what is none is reported.
fn whole(key: &'static str, help: &str, table: &Table<'_>, report: &mut Report) -> Optional<usize> {
    let Some(x) = table.number(key, report)? else { return Ok(None) };
    if x.fract() != 0.0 || x < 0.0 {
        return Err(table.error(key, table.place(key), format!("`{key}` is {x}"), help, report));
    }
    Ok(Some(x as usize))
}
