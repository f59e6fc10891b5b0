//! `pliant bench`: how long a step takes on this machine.

use std::ffi::OsString;
use std::time::{Duration, Instant};

use pliant::articulated;
use pliant::blended;
use pliant::full::{self, StepError};
use pliant::live;
use pliant::mechanism::Mechanism;
use pliant::reduced::{Reconstruction, Reduction};
use serde_json::{Map, Value};

use crate::args::{Bench, Common};
use crate::commands::simulate::too_many_loops;
use crate::engine::{Engine, RECONSTRUCTIONS};
use crate::failure::Failure;
use crate::mechanism::{MechanismArgument, Source};
use crate::output::{Answer, quantity, table};
use crate::progress::Bar;
use crate::timing::{Pace, Timings};

const DEFAULT: [&str; 8] =
    ["chain:100", "chain:1000", "helix:50", "helix:400", "ladder:36", "ladder:48", "rungs:48", "arm"];

/// Length of a step, s.
const DT: f64 = 1.0 / 60.0;

/// Newton iterations of a step.
const ITERATIONS: usize = 1;

/// Steps of a reduced model's effectors that are timed together: one alone is too short for a clock.
const TOGETHER: u32 = 100;

const COLUMNS: [&str; 5] = ["median_us", "p10_us", "p90_us", "p99_us", "us_per_link"];

/// Each mechanism by each engine that takes it.
pub fn run(arguments: &Bench, common: &Common) -> Result<Answer, Failure> {
    let names: Vec<OsString> = match arguments.names.as_slice() {
        [] => DEFAULT.map(OsString::from).to_vec(),
        names => names.to_vec(),
    };
    // All of them are read before the first is timed: a misspelt name is told at once.
    let mechanisms: Vec<(String, Source)> = (names.iter())
        .map(|name| {
            let source = MechanismArgument::new(name).open(common)?;
            Ok((name.to_string_lossy().into_owned(), source))
        })
        .collect::<Result<_, Failure>>()?;
    let mut bar = Bar::new(common.format(), 4 * mechanisms.len() as u64);
    let mut lines = Lines::default();
    for (m, (name, source)) in mechanisms.iter().enumerate() {
        let mechanism = source.mechanism();
        bar.update(4 * m as u64, Instant::now());
        let failed = |error: StepError| Failure::job(format!("{name}: {error}"));
        let pace = &Pace::STEADY;
        lines.push(name, &full(mechanism, pace).map_err(failed)?);
        bar.update(4 * m as u64 + 1, Instant::now());
        match articulated(mechanism, pace).map_err(failed)? {
            Ok(figures) => lines.push(name, &figures),
            Err(why) => lines.refuse(name, Engine::Articulated, &why),
        }
        bar.update(4 * m as u64 + 2, Instant::now());
        match reduced(mechanism, pace).map_err(failed)? {
            Ok(figures) => figures.iter().for_each(|figures| lines.push(name, figures)),
            Err(why) => lines.refuse(name, Engine::Reduced, &why),
        }
        bar.update(4 * m as u64 + 3, Instant::now());
        match live(mechanism, pace).map_err(failed)? {
            Ok(figures) => lines.push(name, &figures),
            Err(why) => lines.refuse(name, Engine::Live, &why),
        }
        if let Some(file) = source.model() {
            let start = Instant::now();
            match file.model() {
                Ok(model) => {
                    let build = start.elapsed();
                    let step = blended(&model, *model.options(), pace).map_err(failed)?;
                    let engine = Engine::Blended;
                    lines.push(name, &Figures { engine, reconstruction: None, step, dynamics: None, build });
                }
                Err(why) => lines.refuse(name, Engine::Blended, &why.to_string()),
            }
        }
    }
    Ok(lines.answer())
}

/// What was measured of one engine on one mechanism.
pub struct Figures {
    engine: Engine,
    /// How the links of a reduced model follow.
    pub reconstruction: Option<&'static str>,
    /// Median, p10, p90, p99 and median a link, µs.
    pub step: [f64; 5],
    /// Of a step without links, µs.
    dynamics: Option<f64>,
    /// Building the model.
    build: Duration,
}

/// The answer, line by line.
#[derive(Default)]
struct Lines {
    rows: Vec<Vec<String>>,
    json: Vec<Value>,
    warnings: Vec<String>,
}

impl Lines {
    fn push(&mut self, name: &str, figures: &Figures) {
        let mut entry: Map<String, Value> =
            COLUMNS.into_iter().map(String::from).zip(figures.step.map(Value::from)).collect();
        entry.insert("name".into(), name.into());
        entry.insert("engine".into(), figures.engine.name().into());
        entry.insert("build_seconds".into(), figures.build.as_secs_f64().into());
        match figures.engine {
            Engine::Full => {
                entry.insert("iterations".into(), ITERATIONS.into());
            }
            Engine::Articulated => {}
            Engine::Reduced => {
                entry.insert("dynamics_us".into(), figures.dynamics.into());
                entry.insert("reconstruction".into(), figures.reconstruction.into());
            }
            Engine::Live | Engine::Blended => {}
        }
        self.json.push(Value::Object(entry));
        let us = |x: f64| quantity(x, "µs");
        let engine = [figures.engine.name()].into_iter().chain(figures.reconstruction);
        let mut row = vec![name.to_string(), engine.collect::<Vec<_>>().join(" ")];
        row.extend(figures.step.map(us));
        row.push(figures.dynamics.map_or("-".into(), us));
        row.push(quantity(figures.build.as_secs_f64() * 1e3, "ms"));
        self.rows.push(row);
    }

    /// A mechanism that an engine does not take: it has fewer lines.
    fn refuse(&mut self, name: &str, engine: Engine, why: &str) {
        let entry = [("name", name), ("engine", engine.name()), ("error", why)];
        self.json.push(entry.into_iter().map(|(key, value)| (key.to_string(), Value::from(value))).collect());
        self.warnings.push(format!("{name} is not timed by `{}`: {why}", engine.name()));
    }

    fn answer(self) -> Answer {
        let head = ["NAME", "ENGINE", "MEDIAN", "P10", "P90", "P99", "PER LINK", "DYNAMICS", "BUILD"]
            .map(String::from);
        let rows: Vec<Vec<String>> = std::iter::once(head.to_vec()).chain(self.rows).collect();
        Answer { text: table(&rows), warnings: self.warnings, json: self.json.into() }
    }
}

/// Times the full engine.
pub fn full(mechanism: &Mechanism, pace: &Pace) -> Result<Figures, StepError> {
    let start = Instant::now();
    let model = full::Model::new(mechanism);
    let build = start.elapsed();
    let mut simulation = model.simulate();
    simulation.inputs_mut().add_scene_loads(mechanism);
    simulation.set_iterations(ITERATIONS).expect("one iteration is enough");
    let step = columns(&pace.time(|| simulation.step(DT))?, mechanism);
    Ok(Figures { engine: Engine::Full, reconstruction: None, step, dynamics: None, build })
}

/// Times the articulated engine, or tells why it does not take the mechanism.
pub fn articulated(mechanism: &Mechanism, pace: &Pace) -> Result<Result<Figures, String>, StepError> {
    if let Some(why) = too_many_loops(mechanism) {
        return Ok(Err(why));
    }
    let start = Instant::now();
    let model = articulated::Model::new(mechanism);
    let build = start.elapsed();
    let mut simulation = model.simulate();
    simulation.inputs_mut().add_scene_loads(mechanism);
    let step = columns(&pace.time(|| simulation.step(DT))?, mechanism);
    Ok(Ok(Figures { engine: Engine::Articulated, reconstruction: None, step, dynamics: None, build }))
}

/// Times the reduced engine with its two plain reconstructions, or tells why there is no model.
pub fn reduced(mechanism: &Mechanism, pace: &Pace) -> Result<Result<Vec<Figures>, String>, StepError> {
    let start = Instant::now();
    let model = match Reduction::at_rest(mechanism).build() {
        Ok(model) => model,
        Err(error) => return Ok(Err(error.to_string())),
    };
    let build = start.elapsed();
    let mut simulation = model.simulate();
    simulation.inputs_mut().add_scene_loads(mechanism);
    let together = pace.time(|| (0..TOGETHER).try_for_each(|_| simulation.step_effectors(DT)))?;
    let [median] = together.percentiles([0.5]).expect("some steps");
    let dynamics = Some(median / f64::from(TOGETHER));
    let mut figures = Vec::new();
    for (name, reconstruction) in RECONSTRUCTIONS {
        if reconstruction == Reconstruction::Corrected {
            continue;
        }
        simulation.set_reconstruction(reconstruction);
        let step = columns(&pace.time(|| simulation.step(DT))?, mechanism);
        figures.push(Figures { engine: Engine::Reduced, reconstruction: Some(name), step, dynamics, build });
    }
    Ok(Ok(figures))
}

/// Times the live engine, or tells why there is no model.
fn live(mechanism: &Mechanism, pace: &Pace) -> Result<Result<Figures, String>, StepError> {
    let start = Instant::now();
    let model = match live::Model::new(mechanism) {
        Ok(model) => model,
        Err(error) => return Ok(Err(error.to_string())),
    };
    let build = start.elapsed();
    let mut simulation = model.simulate();
    simulation.inputs_mut().add_scene_loads(mechanism);
    let step = columns(&pace.time(|| simulation.step(DT))?, mechanism);
    Ok(Ok(Figures { engine: Engine::Live, reconstruction: None, step, dynamics: None, build }))
}

/// Times the blended engine.
pub fn blended(
    model: &blended::Model,
    options: blended::Options,
    pace: &Pace,
) -> Result<[f64; 5], StepError> {
    let mut simulation = model.simulate();
    simulation.set_options(options);
    simulation.inputs_mut().add_scene_loads(model.mechanism());
    Ok(columns(&pace.time(|| simulation.step(DT))?, model.mechanism()))
}

/// The numbers of [`COLUMNS`], µs.
fn columns(timings: &Timings, mechanism: &Mechanism) -> [f64; 5] {
    let [p10, median, p90, p99] = timings.percentiles([0.1, 0.5, 0.9, 0.99]).expect("some steps");
    [median, p10, p90, p99, median / mechanism.bodies().len() as f64]
}
