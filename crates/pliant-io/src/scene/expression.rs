//! Joints that are a formula: `transform` with `lengths`, `angles` and `parameters`, or a `ready` one.

use std::ops::Range;
use std::sync::Arc;

use pliant_core::expression::{ExpressionError, Formula, Parameter, Place};
use pliant_core::joints::JointKind;
use toml::de::DeValue;

use super::report::{Optional, Report, Reported};
use super::table::{Table, Value};

/// The kind of a joint whose `kind` is `expression`.
pub(super) fn read_expression(table: &Table<'_>, report: &mut Report) -> Result<JointKind, Reported> {
    let (text, ready) = (table.text("transform", report)?, table.text("ready", report)?);
    let (lengths, angles) = (names(table, "lengths", report)?, names(table, "angles", report)?);
    let parameters = parameters(table, report)?;
    let mut formula = match (text, ready) {
        (Some(text), None) => Formula::new(text),
        (None, Some(name)) => {
            let formula = Formula::ready(name).map_err(|error| refuse(table, &error, &[], report))?;
            if let Some(key) = ["lengths", "angles"].into_iter().find(|key| table.has(key)) {
                let message = format!("`{name}` has its own freedoms");
                let help = format!("leave it out; they are {}", formula.freedoms().join(", "));
                return Err(table.error(key, table.place(key), message, help, report));
            }
            formula
        }
        (Some(_), Some(_)) => {
            let message = "`transform` and `ready` are both given".to_string();
            return Err(table.error(
                "ready",
                table.place("ready"),
                message,
                "give only one of the two",
                report,
            ));
        }
        (None, None) => {
            let help = "write transform = \"\"\"…\"\"\" with its freedoms in lengths = […] and angles = […], or ready = \"…\"";
            let place = table.place("transform");
            return Err(table.error("transform", place, "`transform` is missing".into(), help, report));
        }
    };
    for (name, _) in &lengths {
        formula = formula.length(*name);
    }
    for (name, _) in &angles {
        formula = formula.angle(*name);
    }
    for (name, value, _) in &parameters {
        formula = formula.parameter(*name, value.clone());
    }
    let freedoms: Vec<Range<usize>> = lengths.into_iter().chain(angles).map(|(_, span)| span).collect();
    // As it was written, the signs of zeros included.
    let written = format!("{formula:?}");
    let known = report
        .formulas
        .iter()
        .find(|known| *known.formula() == formula && format!("{:?}", known.formula()) == written);
    if let Some(known) = known {
        return Ok(JointKind::Expression(known.clone()));
    }
    match formula.compile() {
        Ok(expression) => {
            let expression = Arc::new(expression);
            report.formulas.push(expression.clone());
            Ok(JointKind::Expression(expression))
        }
        Err(error) => Err(refuse(table, &error, &freedoms, report)),
    }
}

/// Reports what is wrong with a formula, at the place that it names.
fn refuse(
    table: &Table<'_>,
    error: &ExpressionError,
    freedoms: &[Range<usize>],
    report: &mut Report,
) -> Reported {
    let (field, span) = match &error.place {
        // Of a ready joint the text is not in the file.
        Place::Text(span) => match table.value("transform") {
            Some(value) => ("transform", inside(value, span, report)),
            None => ("ready", table.place("ready")),
        },
        Place::Freedom(k) => match freedoms.get(*k) {
            Some(span) => ("angles", span.clone()),
            None => ("ready", table.place("ready")),
        },
        Place::Parameter(name) => {
            let entries = table.value("parameters").and_then(|value| value.get_ref().as_table());
            let value = entries.and_then(|entries| entries.get(name.as_str()));
            ("parameters", value.map_or(table.place("parameters"), Value::span))
        }
        Place::Ready => ("ready", table.place("ready")),
    };
    table.error(field, span, error.message.clone(), error.help.clone(), report)
}

/// Where some of a string's text stands in the file: the whole string if it is not written as it reads.
fn inside(value: &Value<'_>, span: &Range<usize>, report: &Report) -> Range<usize> {
    let whole = value.span();
    let (Some(written), DeValue::String(text)) = (report.source.get(whole.clone()), value.get_ref()) else {
        return whole;
    };
    match written.find(text.as_ref()) {
        Some(start) => whole.start + start + span.start..whole.start + start + span.end,
        None => whole,
    }
}

/// A list of names, each with its place.
pub(super) fn names<'t>(
    table: &Table<'t>,
    key: &'static str,
    report: &mut Report,
) -> Result<Vec<(&'t str, Range<usize>)>, Reported> {
    let Some(value) = table.value(key) else { return Ok(Vec::new()) };
    let help = format!("write {key} = [\"…\"]");
    let name = |entry: &'t Value<'t>| match entry.get_ref() {
        DeValue::String(name) => Some((name.as_ref(), entry.span())),
        _ => None,
    };
    let list = match value.get_ref() {
        DeValue::Array(list) => list.iter().map(name).collect(),
        _ => name(value).map(|name| vec![name]),
    };
    list.ok_or_else(|| table.wrong(key, value, "a list of names", &help, report))
}

/// A parameter of a formula, with its place.
type Named<'t> = (&'t str, Parameter, Range<usize>);

/// The table of parameters.
fn parameters<'t>(table: &Table<'t>, report: &mut Report) -> Result<Vec<Named<'t>>, Reported> {
    const HELP: &str = "write parameters = { radius = 0.2, points = [[0, 0, 0], …] }";
    let Some(value) = table.value("parameters") else { return Ok(Vec::new()) };
    let DeValue::Table(entries) = value.get_ref() else {
        return Err(table.wrong("parameters", value, "a table", HELP, report));
    };
    let mut list = Vec::new();
    for (name, value) in entries {
        match parameter(table, value, report) {
            Ok(Some(parameter)) => list.push((name.get_ref().as_ref(), parameter, value.span())),
            Ok(None) => {
                return Err(table.wrong("parameters", value, "a number or a list of numbers", HELP, report));
            }
            Err(reported) => return Err(reported),
        }
    }
    Ok(list)
}

/// A number, or lists of numbers in each other; `None` for anything else.
fn parameter(table: &Table<'_>, value: &Value<'_>, report: &mut Report) -> Optional<Parameter> {
    match value.get_ref() {
        DeValue::Array(list) => {
            let mut entries = Vec::with_capacity(list.len());
            for entry in list.iter() {
                match parameter(table, entry, report)? {
                    Some(entry) => entries.push(entry),
                    None => return Ok(None),
                }
            }
            Ok(Some(Parameter::List(entries)))
        }
        DeValue::Integer(_) | DeValue::Float(_) => {
            table.float("parameters", value, report).map(|x| Some(Parameter::Number(x)))
        }
        _ => Ok(None),
    }
}
