//! `pliant info`: what a mechanism is made of.

use pliant::engine::Warning;
use pliant::engines::Engine;
use pliant::expression::COMPILED;
use pliant::joints::JointKind;
use pliant::mechanism::{Mechanism, PointSpring, REPEATED_WITHIN, Summary, Zone, ZoneSolid};
use serde_json::{Value, json};

use crate::args::{Common, Info};
use crate::contact_options::{Stage, untouched};
use crate::failure::{Failure, with_options};
use crate::mechanism::refused;
use crate::output::{Answer, count, listing, quantity, radii};

/// Counts, size, mass and warnings; of a model file its motions and errors too.
pub fn run(arguments: &Info, common: &Common) -> Result<Answer, Failure> {
    let source = arguments.mechanism.open_silently(common)?;
    let mechanism = &source.mechanism;
    let mut summary = mechanism.summary();
    summary.warnings.extend(of_contact(arguments, common, mechanism)?);
    summary.warnings.extend(Warning::of_closures(mechanism).map(|warning| warning.text));
    summary.warnings.iter_mut().for_each(|warning| *warning = with_options(warning));
    let mut json = json!({
        "name": mechanism.name(),
        "bodies": summary.bodies,
        "joints": summary.joints,
        "freedoms": summary.freedoms,
        "loops": summary.loops,
        "effectors": summary.effectors,
        "radius": summary.radius,
        "mass": summary.mass,
        "warnings": summary.warnings,
    });
    if !mechanism.notes().is_empty() {
        json["notes"] = mechanism.notes().into();
    }
    let mut rows = Vec::new();
    let (repeated, of_repeated) = repeated(mechanism);
    rows.extend(repeated.map(|row| ("redundant", row)));
    json["repeated"] = of_repeated;
    let springs = springs(mechanism);
    if !springs.is_empty() {
        json["springs"] = springs.iter().map(|(_, json)| json.clone()).collect();
        rows.extend(
            springs.into_iter().enumerate().map(|(i, (row, _))| (if i == 0 { "springs" } else { "" }, row)),
        );
    }
    let zones = zones(mechanism);
    if !zones.is_empty() {
        json["zones"] = zones.iter().map(|(_, json)| json.clone()).collect();
        rows.extend(
            zones.into_iter().enumerate().map(|(i, (row, _))| (if i == 0 { "zones" } else { "" }, row)),
        );
    }
    if mechanism.joints().iter().any(|joint| matches!(joint.kind, JointKind::Expression(_))) {
        let runs = match COMPILED {
            true => "run as machine code",
            false => "interpreted; as machine code after `cargo build --release --features compiled`",
        };
        rows.push(("formulas", runs.to_string()));
    }
    let counts = [
        ("world_shapes", "world shapes", mechanism.world_shapes().len()),
        ("loose_bodies", "loose bodies", mechanism.loose().len()),
    ];
    for (key, label, n) in counts {
        if mechanism.has_contact() {
            json[key] = n.into();
            rows.push((label, n.to_string()));
        }
    }
    if let Some(file) = &source.model {
        json["coordinates"] = file.motions.ncols().into();
        rows.push(("coordinates", file.motions.ncols().to_string()));
        for key in ["error", "held_out", "bound"] {
            json[key] = Value::Null;
        }
        if let Some((sampling, outcome)) = &file.report {
            json["error"] = outcome.error.into();
            json["samples"] = outcome.samples.len().into();
            json["held_out"] = outcome.held_out.into();
            json["bound"] = sampling.max_error.into();
            json["displacement"] = sampling.displacement.into();
            json["seed"] = sampling.seed.into();
            rows.push((
                "error",
                format!("{} where motions were chosen, by its estimate", radii(outcome.error)),
            ));
            rows.push(("held out", format!("{} at most elsewhere", radii(outcome.held_out))));
            let bound = radii(sampling.max_error);
            rows.push(("bound", format!("{bound} up to a displacement of {}", sampling.displacement)));
        }
    }
    // The warnings are part of the answer here, not next to it.
    Ok(Answer {
        text: text(mechanism.name(), &summary, mechanism.notes(), rows),
        warnings: Vec::new(),
        counted: Vec::new(),
        json,
    })
}

/// Elastic zones, for people and as JSON.
fn zones(mechanism: &Mechanism) -> Vec<(String, Value)> {
    let about = |zone: &Zone| {
        let Zone { name, description: zone, .. } = zone;
        let kind = zone.shape.geometry.name();
        let is_measured = matches!(zone.solid, Some(ZoneSolid::Green(_)));
        let elastic = match is_measured {
            true => "measured Green's functions".to_string(),
            false => format!("{}, Poisson's ratio {}", quantity(zone.young, "Pa"), zone.poisson),
        };
        let row = format!("`{name}` on `{}`: a {kind} of {elastic}", zone.body);
        let known = |x: f64| (!is_measured).then_some(x);
        let json = json!({
            "name": name, "body": zone.body, "kind": kind, "young": known(zone.young), "poisson": known(zone.poisson),
            "damping": zone.damping, "density": zone.density(), "resolution": zone.resolution,
            "measured": is_measured,
        });
        (row, json)
    };
    mechanism.zones().iter().map(about).collect()
}

/// Springs of the scene to points of the world; those between bodies are joints.
fn springs(mechanism: &Mechanism) -> Vec<(String, Value)> {
    let about = |spring: &PointSpring| {
        let on = spring.effector.map_or(&mechanism[spring.body].name, |effector| &mechanism[effector].name);
        let [x, y, z] = spring.point[0].map(|x| quantity(x, "m"));
        let moves = match spring.time.last() {
            Some(end) => format!(", which moves until {}", quantity(*end, "s")),
            None => String::new(),
        };
        let mut strengths = Vec::new();
        for (value, unit) in [
            (spring.stiffness, "N/m"),
            (spring.turning_stiffness, "N·m/rad"),
            (spring.damping, "N·s/m"),
            (spring.turning_damping, "N·m·s/rad"),
        ] {
            strengths.extend((value != 0.0).then(|| quantity(value, unit)));
        }
        let row =
            format!("`{}` of {} from `{on}` to {x}, {y}, {z}{moves}", spring.name, strengths.join(", "));
        let json = json!({
            "name": spring.name, "on": on, "point": spring.point, "time": spring.time,
            "stiffness": spring.stiffness, "turning_stiffness": spring.turning_stiffness,
            "damping": spring.damping, "turning_damping": spring.turning_damping,
        });
        (row, json)
    };
    mechanism.springs().iter().map(about).collect()
}

/// Redundant loop constraints: directions of loop joints that the other loops close too, and how far they stay open.
fn repeated(mechanism: &Mechanism) -> (Option<String>, Value) {
    /// Names that are printed; JSON has all.
    const MOST: usize = 6;
    let list = mechanism.repeated();
    let directions: usize = list.iter().map(|r| r.directions).sum();
    let names: Vec<String> = list.iter().map(|r| mechanism[r.joint].name.clone()).collect();
    let gap = list.iter().fold([0.0f64; 2], |[m, rad], r| [m.max(r.gap[0]), rad.max(r.gap[1])]);
    let more = match names.len().saturating_sub(MOST) {
        0 => String::new(),
        n => format!(" and {n} more"),
    };
    let open = match gap {
        [0.0, 0.0] => "none left open".into(),
        [m, rad] => format!("left open by up to {} and {}", quantity(m, "m"), quantity(rad, "rad")),
    };
    let of = names[..names.len().min(MOST)].join(", ");
    let passed_over = match mechanism.loops_passed_over() {
        0 => String::new(),
        n => format!("; {n} loop joints were not checked"),
    };
    let text = format!(
        "{} at loop joints {of}{more}, closed by the other loops to {REPEATED_WITHIN} of the radius: {open}{passed_over}",
        count(directions, "constraint")
    );
    let mut json = json!({
        "directions": directions,
        "joints": names,
        "tolerance": REPEATED_WITHIN,
        "passed_over": mechanism.loops_passed_over(),
        "gap": { "length": gap[0], "angle": gap[1] },
    });
    if let Some(near) = mechanism.nearly_repeated() {
        json["nearly"] = json!({ "directions": near.directions, "opened": near.opened });
    }
    ((!list.is_empty()).then_some(text), json)
}

/// Warnings of contact before anything moves. Where contact is not possible that is a warning too, not a failure: the rest of the report
/// is still right.
fn of_contact(arguments: &Info, common: &Common, mechanism: &Mechanism) -> Result<Vec<String>, Failure> {
    let warned = |failure: Failure| if common.strict { Err(failure) } else { Ok(vec![failure.message]) };
    let stage = match Stage::of(mechanism, &arguments.mechanism, common) {
        Ok(Some(stage)) => stage,
        Ok(None) => return Ok(untouched(mechanism).into_iter().collect()),
        Err(failure) => return warned(failure),
    };
    let simulation =
        stage.held().map(|held| Engine::Full.simulate(held)).transpose().map_err(Failure::job)?;
    let scene = stage.scene(simulation);
    let warnings = match scene {
        Ok(scene) => scene.world().warnings().iter().map(|warning| warning.text.clone()).collect(),
        Err(failure) => return warned(failure),
    };
    // They are known before anything moves: as those of the file.
    if common.strict && !Vec::is_empty(&warnings) { Err(refused(warnings)) } else { Ok(warnings) }
}

fn text(name: &str, summary: &Summary, notes: &[String], more: Vec<(&str, String)>) -> String {
    let mut rows = vec![
        ("name", if name.is_empty() { "-".to_string() } else { name.to_string() }),
        ("bodies", summary.bodies.to_string()),
        ("joints", summary.joints.to_string()),
        ("freedoms", summary.freedoms.to_string()),
        ("loops", summary.loops.to_string()),
        ("effectors", listed(&summary.effectors)),
        ("radius", quantity(summary.radius, "m")),
        ("mass", quantity(summary.mass, "kg")),
    ];
    rows.extend(more);
    for (i, note) in notes.iter().enumerate() {
        rows.push((if i == 0 { "assumed" } else { "" }, note.clone()));
    }
    if summary.warnings.is_empty() {
        rows.push(("warnings", "none".into()));
    }
    for (i, warning) in summary.warnings.iter().enumerate() {
        rows.push((if i == 0 { "warnings" } else { "" }, warning.clone()));
    }
    listing(rows)
}

fn listed(names: &[String]) -> String {
    if names.is_empty() { "none".into() } else { names.join(", ") }
}
