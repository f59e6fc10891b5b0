//! Joints of a scene file.

use pliant_core::joints::JointKind;
use pliant_core::mechanism::{JointDescription, PerFreedom};

use super::expression::read_expression;
use super::keys::section;
use super::overlay::Springs;
use super::report::{Optional, Report, Reported};
use super::table::Table;

/// Keys of a joint of kind `expression` only.
const EXPRESSION: &str = "[[joint]] of kind expression";
/// Keys of any joint, also of one with `match`.
pub(super) const SPRINGS: &str = "[[joint]]: springs and limits";

/// A joint, and whether its kind is known. What is wrong is reported and replaced by something harmless.
pub(super) fn read_joint(table: &Table<'_>, report: &mut Report) -> (JointDescription, bool) {
    table.check_keys(&[section("[[joint]]"), section(SPRINGS), section(EXPRESSION)], report);
    let name = table.required("name", "give it one: name = \"…\"", table.text("name", report), report);
    let kind = read_kind(table, report);
    let known = kind.is_ok();
    let parent = table.text("parent", report);
    let parent = table.required("parent", "name a body, or \"world\"", parent, report);
    let child = table.required("child", "name a body", table.text("child", report), report);

    let mut joint = JointDescription::new(
        name.unwrap_or_default(),
        kind.unwrap_or(JointKind::Hinge),
        parent.unwrap_or_default(),
        child.unwrap_or_default(),
    );
    joint.frame = table.pose(report);
    let Springs { stiffness, damping, limits, rest, armature, friction, torque_limit, linear_to, start } =
        read_springs(table, report);
    if known {
        joint = JointDescription {
            stiffness,
            damping,
            limits,
            rest,
            armature,
            friction,
            torque_limit,
            linear_to,
            start,
            ..joint
        };
    }
    (joint, known)
}

/// What acts on the freedoms, and where they start.
pub(super) fn read_springs(table: &Table<'_>, report: &mut Report) -> Springs {
    Springs {
        stiffness: read_stiffness(table, report).ok().flatten(),
        damping: table.per_freedom("damping", report).ok().flatten(),
        limits: table.pairs("limits", report).ok().flatten(),
        rest: table.per_freedom("rest", report).ok().flatten(),
        armature: table.per_freedom("armature", report).ok().flatten(),
        friction: table.per_freedom("friction", report).ok().flatten(),
        torque_limit: table.per_freedom("torque_limit", report).ok().flatten(),
        linear_to: table.per_freedom("linear_to", report).ok().flatten(),
        start: table.per_freedom("start", report).ok().flatten(),
    }
}

fn read_kind(table: &Table<'_>, report: &mut Report) -> Result<JointKind, Reported> {
    let mut kinds: Vec<&str> = JointKind::ALL.iter().map(|kind| kind.name()).collect();
    kinds.push("expression");
    let help = format!("one of {}", kinds.join(", "));
    let word = table.required("kind", &help, table.text("kind", report), report)?;
    if word == "expression" {
        return read_expression(table, report);
    }
    for &key in section(EXPRESSION).keys().iter().filter(|key| table.has(key)) {
        let message = format!("`{key}` is not for a {word} joint");
        table.error(key, table.place(key), message, "leave it out, or say kind = \"expression\"", report);
    }
    JointKind::from_name(word).ok_or_else(|| table.unknown_kind(word, &kinds, report))
}

/// `stiffness`, or one over `compliance`.
fn read_stiffness(table: &Table<'_>, report: &mut Report) -> Optional<PerFreedom<f64>> {
    let stiffness = table.per_freedom("stiffness", report)?;
    let Some(compliance) = table.per_freedom("compliance", report)? else { return Ok(stiffness) };
    let place = table.place("compliance");
    if let Some(both) = table.value("compliance").filter(|_| stiffness.is_some()) {
        let message = "`stiffness` and `compliance` are both given".to_string();
        return Err(table.error("stiffness", both.span(), message, "give only one of the two", report));
    }
    let invert = |c: f64| {
        let valid = c.is_finite() && c > 0.0 && c.recip().is_finite();
        if valid { Ok(c.recip()) } else { Err(c) }
    };
    let inverted = match compliance {
        PerFreedom::All(c) => invert(c).map(PerFreedom::All),
        PerFreedom::Each(list) => {
            list.into_iter().map(invert).collect::<Result<_, _>>().map(PerFreedom::Each)
        }
    };
    inverted.map(Some).map_err(|c| {
        let message = format!("compliance is {c}");
        let help = "it must be finite and above zero; a rigid freedom is a joint kind without it, \
                    a passive one has stiffness = 0";
        table.error("stiffness", place, message, help, report)
    })
}
