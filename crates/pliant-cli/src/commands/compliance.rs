//! `pliant compliance`: how soft a mechanism is at its effectors.

use pliant::contact::Stuck;
use pliant::engine::{Simulation, StaticsSettings, Warning};
use pliant::full;
use pliant::linear::{Linearisation, Projection, Reference};
use pliant::mechanism::Mechanism;
use pliant::nalgebra::DMatrix;
use pliant::shared::statics::{not_converged, warnings};
use serde_json::{Value, json};

use super::rest;
use crate::args::{Common, Compliance};
use crate::contact_options::{self, Stage};
use crate::failure::Failure;
use crate::mechanism::Source;
use crate::output::{Answer, count, listing, table};
use crate::progress::Spinner;
use crate::setup::Setup;

/// Entries below this part of the largest, lengths over the radius, are what rounding leaves of none.
const NONE: f64 = 1e-12;

/// With more effectors than this, unless they are named, tables are of each under a wrench on itself.
const CROSSED: usize = 3;

/// What rolling changes is warned of from this part of the compliance on.
const ROLLS: f64 = 1e-3;

/// What the columns of a table are, with the units of translations and of rotations.
const COLUMNS: [(&[&str; 3], [&str; 2]); 2] =
    [(&[" fx", " fy", " fz"], ["m/N", "rad/N"]), (&[" tx", " ty", " tz"], ["m/(N·m)", "rad/(N·m)"])];

/// What the rows of a table are.
const ROWS: [&str; 6] = ["x", "y", "z", "rx", "ry", "rz"];

/// From wrenches on effectors to their motion.
pub fn run(arguments: &Compliance, common: &Common) -> Result<Answer, Failure> {
    if let (false, Some(option)) = (arguments.loaded || arguments.resting, arguments.loading.option()) {
        return Err(Failure::input(format!(
            "{option} needs --loaded or --resting: add one, or leave it out"
        )));
    }
    let Setup { effectors, .. } = &arguments.setup;
    let opened = arguments.setup.open(&arguments.mechanism, common, |name| arguments.loading.acts_on(name));
    let (Source { mechanism, .. }, mut counted) = opened?;
    let _spinner = Spinner::new(common.format(), "computing the compliance");
    let sprung = || mechanism.with_springs_as_joints().map_err(Failure::input);
    let (reference, stuck) = match (arguments.loaded, arguments.resting) {
        (true, _) => (loaded(arguments, common, &sprung()?, &mut counted)?, None),
        (_, true) => {
            let mut stuck = resting(arguments, common, &mechanism, &mut counted)?;
            (Reference::at_equilibrium(&mut stuck.simulation), Some(stuck))
        }
        _ => (Reference::at_rest(&sprung()?), None),
    };
    let mut reduction = Linearisation::at(reference).method(arguments.method);
    if !effectors.is_empty() {
        reduction = reduction.effectors(effectors);
    }
    let projection = reduction.project().map_err(|error| arguments.mechanism.unreduced(error))?;
    let least = stuck.as_ref().map_or(0.0, Stuck::least_compliance);
    let rank = projection.rank_above(reduction.reference(), least);
    let shown = Shown::new(projection.compliance(), mechanism.radius(), least);
    let rolled = stuck
        .map(|stuck| stuck.left_out_by_rolling(&projection, reduction.reference()))
        .transpose()
        .map_err(Failure::job)?;
    counted.extend(rolled.and_then(|change| rolling(&shown, &change)));
    let json = json!({
        "effectors": projection.effectors().iter().map(|e| e.name.as_str()).collect::<Vec<_>>(),
        "compliance": projection.compliance().row_iter().map(|r| r.iter().copied().collect()).collect::<Vec<Value>>(),
        "rank": rank,
        "exact": projection.is_exact(),
        "inexact_at": projection.inexact_at(),
    });
    let text = text(&projection, rank, &shown, !effectors.is_empty());
    Ok(Answer::warned(text, mechanism.warnings(), counted, json))
}

/// The equilibrium under loads.
fn loaded(
    arguments: &Compliance,
    common: &Common,
    mechanism: &Mechanism,
    counted: &mut Vec<Warning>,
) -> Result<Reference, Failure> {
    let mut simulation = full::Model::new(mechanism).simulate();
    simulation.inputs_mut().clone_from(&arguments.loading.inputs(mechanism, true)?);
    let unsettled = |failure: Failure| failure.detail("converged", false);
    let found =
        simulation.settle(&StaticsSettings::default()).map_err(|error| unsettled(Failure::job(error)))?;
    if !found.converged {
        return Err(unsettled(Failure::job(not_converged(&found, mechanism))));
    }
    counted.extend(warnings(&mut simulation, &found, None));
    let state = simulation.state().clone();
    counted.extend(contact_options::refuse_overlap(mechanism, &arguments.mechanism, common, &state)?);
    Ok(Reference::at_equilibrium(&mut simulation))
}

/// The rest on what it touches, contacts as constraints.
fn resting(
    arguments: &Compliance,
    common: &Common,
    mechanism: &Mechanism,
    counted: &mut Vec<Warning>,
) -> Result<Stuck, Failure> {
    let Some(stage) = Stage::of(mechanism, &arguments.mechanism, common)? else {
        return Err(Failure::input(
            "--resting: there is no contact in this scene; for the equilibrium of springs and loads use --loaded",
        ));
    };
    let inputs = arguments.loading.inputs(mechanism, true)?;
    match rest::stuck(&stage, &inputs, counted) {
        Some(stuck) => stuck,
        None => Err(Failure::job("--resting: shapes overlap at the start; `pliant info` lists them")),
    }
}

/// Warns where round surfaces roll.
fn rolling(shown: &Shown<'_>, change: &DMatrix<f64>) -> Option<Warning> {
    let largest = Shown::new(change, shown.radius, 0.0).largest;
    let part = if largest > 0.0 { largest / shown.largest } else { 0.0 };
    (part > ROLLS).then(|| Warning {
        kind: "rolling left out",
        measure: part,
        unit: "",
        text: format!(
            "round surfaces in contact are held at one point, and rolling is left out: it would change the compliance by about {:.2} %",
            100.0 * part
        ),
    })
}

fn text(projection: &Projection, rank: usize, shown: &Shown<'_>, named: bool) -> String {
    let C = projection.compliance();
    let effectors = projection.effectors();
    let names: Vec<&str> = effectors.iter().map(|e| e.name.as_str()).collect();
    let exact = if projection.is_exact() { "yes" } else { "no" };
    let rows = [
        ("effectors", names.join(", ")),
        ("rank", format!("{rank} of {}", C.nrows())),
        ("exact", exact.to_string()),
    ];
    let mut text = listing(rows);
    if !projection.is_exact() {
        let bodies: Vec<String> = projection.inexact_at().iter().map(|body| format!("`{body}`")).collect();
        text.push_str(&format!(
            "the incremental method is not exact here: it assumes independence that does not hold, at {}; use `--method exact`\n",
            bodies.join(", ")
        ));
    }
    let crossed = named || names.len() <= CROSSED;
    let mut left_out = 0;
    for a in 0..names.len() {
        // What is symmetric is shown once.
        let from = if C == &C.transpose() { a } else { 0 };
        for b in (from..names.len()).filter(|&b| shown.couples(a, b)) {
            if a != b && !crossed {
                left_out += 1;
                continue;
            }
            let whom = if a == b { "itself".into() } else { format!("`{}`", names[b]) };
            text.push_str(&format!("\n`{}` under a wrench on {whom}, effector frames\n", names[a]));
            text.push_str(&shown.block(a, b));
        }
    }
    if left_out > 0 {
        text.push_str(&format!(
            "\n{} of effectors move under each other's wrenches too: --effector A --effector B shows a pair, --json all\n",
            count(left_out, "pair")
        ));
    }
    text
}

/// A compliance in blocks of two effectors, what rounding left taken out, and what contacts yield.
struct Shown<'a> {
    compliance: &'a DMatrix<f64>,
    radius: f64,
    largest: f64,
    least: f64,
}

impl Shown<'_> {
    fn new(compliance: &DMatrix<f64>, radius: f64, least: f64) -> Shown<'_> {
        let radius = if radius > 0.0 { radius } else { 1.0 };
        let mut shown = Shown { compliance, radius, largest: 0.0, least };
        let m = compliance.nrows();
        shown.largest = (0..m)
            .flat_map(|i| (0..m).map(move |k| (i, k)))
            .map(|(i, k)| shown.size(i, k))
            .fold(0.0, f64::max);
        shown
    }

    /// An entry in units of the radius.
    fn size(&self, i: usize, k: usize) -> f64 {
        let length = |i: usize| if i % 6 < 3 { self.radius } else { 1.0 };
        self.compliance[(i, k)].abs() / (length(i) * length(k))
    }

    fn entry(&self, i: usize, k: usize) -> f64 {
        if self.size(i, k) <= self.least.max(NONE * self.largest) { 0.0 } else { self.compliance[(i, k)] }
    }

    /// Whether a wrench on one of two effectors moves the other.
    fn couples(&self, a: usize, b: usize) -> bool {
        a == b || (0..6).any(|i| (0..6).any(|k| self.entry(6 * a + i, 6 * b + k) != 0.0))
    }

    fn block(&self, a: usize, b: usize) -> String {
        let head = COLUMNS.iter().flat_map(|(names, _)| names.iter().copied().chain([""]));
        let mut rows = vec![[""].into_iter().chain(head).map(String::from).collect::<Vec<String>>()];
        for (i, name) in ROWS.into_iter().enumerate() {
            let mut row = vec![name.to_string()];
            for (part, (_, units)) in COLUMNS.iter().enumerate() {
                row.extend((0..3).map(|k| digits(self.entry(6 * a + i, 6 * b + 3 * part + k))));
                row.push(units[i / 3].into());
            }
            rows.push(row);
        }
        table(&rows)
    }
}

/// Four digits, signs below each other.
fn digits(x: f64) -> String {
    if x == 0.0 { " 0".into() } else { format!("{}{:.3e}", if x < 0.0 { '-' } else { ' ' }, x.abs()) }
}
