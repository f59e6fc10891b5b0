//! `pliant info`: what a mechanism is made of.

use pliant::mechanism::Summary;
use serde_json::json;

use crate::args::{Common, Info};
use crate::failure::Failure;
use crate::output::{Answer, quantity, table};

/// Counts, size, mass and warnings.
pub fn run(arguments: &Info, common: &Common) -> Result<Answer, Failure> {
    let mechanism = arguments.mechanism.load(common)?;
    let summary = mechanism.summary();
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
    // The warnings are part of the answer here, not beside it.
    Ok(Answer { text: text(mechanism.name(), &summary), warnings: Vec::new(), json })
}

fn text(name: &str, summary: &Summary) -> String {
    let mut rows: Vec<Vec<String>> = [
        ("name", if name.is_empty() { "-".to_string() } else { name.to_string() }),
        ("bodies", summary.bodies.to_string()),
        ("joints", summary.joints.to_string()),
        ("freedoms", summary.freedoms.to_string()),
        ("loops", summary.loops.to_string()),
        ("effectors", listed(&summary.effectors)),
        ("radius", quantity(summary.radius, "m")),
        ("mass", quantity(summary.mass, "kg")),
    ]
    .map(|(key, value)| vec![key.to_string(), value])
    .to_vec();
    if summary.warnings.is_empty() {
        rows.push(vec!["warnings".into(), "none".into()]);
    }
    for (i, warning) in summary.warnings.iter().enumerate() {
        rows.push(vec![if i == 0 { "warnings".into() } else { String::new() }, warning.clone()]);
    }
    table(&rows)
}

fn listed(names: &[String]) -> String {
    if names.is_empty() { "none".into() } else { names.join(", ") }
}
