//! `pliant bench`: how long a step takes on this machine.

use std::ffi::OsString;
use std::time::{Duration, Instant};

use pliant::full;
use pliant::mechanism::Mechanism;
use serde_json::{Value, json};

use crate::args::{Bench, Common};
use crate::engine::Engine;
use crate::failure::Failure;
use crate::mechanism::MechanismArgument;
use crate::output::{Answer, quantity, table};
use crate::progress::Bar;
use crate::timing::Timings;

const DEFAULT: [&str; 8] =
    ["chain:100", "chain:1000", "helix:50", "helix:400", "ladder:36", "ladder:48", "rungs:48", "arm"];

/// Length of a step, s.
const DT: f64 = 1.0 / 60.0;

/// Newton iterations of a step.
const ITERATIONS: usize = 1;

/// Steps that are not timed: caches and branch predictors get to know the mechanism.
const WARM_UP: usize = 50;

/// Least number of steps, and least time, that a figure rests on.
const LEAST: (usize, Duration) = (200, Duration::from_millis(500));

const COLUMNS: [&str; 5] = ["median_us", "p10_us", "p90_us", "p99_us", "us_per_link"];

/// One line for each mechanism.
pub fn run(arguments: &Bench, common: &Common) -> Result<Answer, Failure> {
    let names: Vec<OsString> = match arguments.names.as_slice() {
        [] => DEFAULT.map(OsString::from).to_vec(),
        names => names.to_vec(),
    };
    // All of them are read before the first is timed: a misspelt name is told at once.
    let mechanisms: Vec<(String, Mechanism)> = (names.iter())
        .map(|name| {
            let mechanism = MechanismArgument::new(name).load(common)?;
            Ok((name.to_string_lossy().into_owned(), mechanism))
        })
        .collect::<Result<_, Failure>>()?;
    let mut bar = Bar::new(common.format(), mechanisms.len() as u64);
    let mut rows = vec![["NAME", "MEDIAN", "P10", "P90", "P99", "PER LINK"].map(String::from).to_vec()];
    let mut json = Vec::new();
    for (done, (name, mechanism)) in mechanisms.iter().enumerate() {
        bar.update(done as u64, Instant::now());
        let numbers = time(mechanism).map_err(|error| Failure::job(format!("{name}: {error}")))?;
        let mut entry: serde_json::Map<String, Value> =
            COLUMNS.into_iter().map(String::from).zip(numbers.map(Value::from)).collect();
        entry.insert("name".into(), name.as_str().into());
        entry.insert("engine".into(), Engine::Full.name().into());
        entry.insert("iterations".into(), json!(ITERATIONS));
        json.push(Value::Object(entry));
        rows.push(std::iter::once(name.clone()).chain(numbers.map(|x| quantity(x, "µs"))).collect());
    }
    Ok(Answer { text: table(&rows), warnings: Vec::new(), json: json.into() })
}

/// The numbers of [`COLUMNS`], µs.
fn time(mechanism: &Mechanism) -> Result<[f64; 5], full::StepError> {
    let model = full::Model::new(mechanism);
    let mut simulation = model.simulate();
    simulation.inputs_mut().add_scene_loads(mechanism);
    simulation.set_iterations(ITERATIONS).expect("one iteration is enough");
    for _ in 0..WARM_UP {
        simulation.step(DT)?;
    }
    let mut timings = Timings::new();
    let (mut steps, started) = (0, Instant::now());
    while steps < LEAST.0 || started.elapsed() < LEAST.1 {
        let start = Instant::now();
        simulation.step(DT)?;
        timings.push(start.elapsed());
        steps += 1;
    }
    let [p10, median, p90, p99] = timings.percentiles([0.1, 0.5, 0.9, 0.99]).expect("some steps");
    Ok([median, p10, p90, p99, median / mechanism.bodies().len() as f64])
}
