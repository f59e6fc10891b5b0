//! `pliant bench`: how long a step takes on this machine.

use std::ffi::OsString;
use std::time::{Duration, Instant};

use pliant::engine::{Simulation, StepError};
use pliant::engines::Engine;
use pliant::full;
use pliant::io::ModelFile;
use pliant::linear::{Linearisation, Model, Reconstruction};
use pliant::mechanism::Mechanism;
use serde_json::{Map, Value};

use crate::args::{Bench, Common};
use crate::choices::RECONSTRUCTIONS;
use crate::failure::Failure;
use crate::mechanism::{MechanismArgument, Source};
use crate::output::{Answer, quantity, table};
use crate::progress::Bar;
use crate::timing::Pace;

const DEFAULT: [&str; 8] =
    ["chain:100", "chain:1000", "helix:50", "helix:400", "ladder:36", "ladder:48", "rungs:48", "arm"];

/// Length of a step, s.
const DT: f64 = 1.0 / 60.0;

/// Newton iterations of a step of the full engine.
const ITERATIONS: usize = 1;

const COLUMNS: [&str; 5] = ["median_us", "p10_us", "p90_us", "p99_us", "us_per_link"];

/// Each mechanism by each engine that takes it.
pub fn run(arguments: &Bench, common: &Common) -> Result<Answer, Failure> {
    let names: Vec<OsString> = match arguments.names.as_slice() {
        [] => DEFAULT.map(OsString::from).to_vec(),
        names => names.to_vec(),
    };
    // All of them are read before the first is timed: a misspelt name is an error at once.
    let mechanisms: Vec<(String, Source)> = (names.iter())
        .map(|name| {
            let source = MechanismArgument::new(name).open(common)?;
            Ok((name.to_string_lossy().into_owned(), source))
        })
        .collect::<Result<_, Failure>>()?;
    let mut bar = Bar::new(common.format(), (Engine::ALL.len() * mechanisms.len()) as u64);
    let mut lines = Lines::default();
    let mut done = 0;
    for (name, Source { mechanism, model }) in &mechanisms {
        for engine in Engine::ALL {
            bar.update(done, Instant::now());
            done += 1;
            // Only a file has a blended model that is ready.
            if engine == Engine::Blended && model.is_none() {
                continue;
            }
            let timed = measure(engine, mechanism, model.as_ref(), &Pace::STEADY);
            match timed.map_err(|error| Failure::job(format!("{name}: {error}")))? {
                Ok(all) => all.iter().for_each(|figures| lines.push(name, engine, figures)),
                Err(why) => lines.refuse(name, engine, &why),
            }
        }
    }
    Ok(lines.answer())
}

/// What was measured of one engine on one mechanism.
#[derive(Default)]
pub struct Figures {
    /// How the links of a linear model follow.
    pub reconstruction: Option<&'static str>,
    /// Median, p10, p90, p99 and median a link, µs.
    pub step: [f64; 5],
    /// Of a step without links, µs.
    dynamics: Option<f64>,
    /// Making the model and its simulation.
    build: Duration,
}

#[derive(Default)]
struct Lines {
    rows: Vec<Vec<String>>,
    json: Vec<Value>,
    warnings: Vec<String>,
}

impl Lines {
    fn push(&mut self, name: &str, engine: Engine, figures: &Figures) {
        let mut entry: Map<String, Value> =
            COLUMNS.into_iter().map(String::from).zip(figures.step.map(Value::from)).collect();
        entry.insert("name".into(), name.into());
        entry.insert("engine".into(), engine.name().into());
        entry.insert("build_seconds".into(), figures.build.as_secs_f64().into());
        if engine == Engine::Full {
            entry.insert("iterations".into(), ITERATIONS.into());
        }
        if engine == Engine::Linear {
            entry.insert("dynamics_us".into(), figures.dynamics.into());
            entry.insert("reconstruction".into(), figures.reconstruction.into());
        }
        self.json.push(Value::Object(entry));
        let us = |x: f64| quantity(x, "µs");
        let engine = [engine.name()].into_iter().chain(figures.reconstruction);
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
        self.warnings.push(format!("{name} is not timed with `{}`: {why}", engine.name()));
    }

    fn answer(self) -> Answer {
        let head = ["NAME", "ENGINE", "MEDIAN", "P10", "P90", "P99", "PER LINK", "DYNAMICS", "BUILD"]
            .map(String::from);
        let rows: Vec<Vec<String>> = std::iter::once(head.to_vec()).chain(self.rows).collect();
        Answer { text: table(&rows), warnings: self.warnings, counted: Vec::new(), json: self.json.into() }
    }
}

/// Times an engine, or reports why it does not take the mechanism; that of `reduced` is of a model file.
fn measure(
    engine: Engine,
    mechanism: &Mechanism,
    file: Option<&ModelFile>,
    pace: &Pace,
) -> Result<Result<Vec<Figures>, String>, StepError> {
    let start = Instant::now();
    let simulation: Result<Box<dyn Simulation>, String> = match (engine, file) {
        (Engine::Full, _) => Ok(full(mechanism).into()),
        (Engine::OF_MODEL_FILES, Some(file)) => {
            file.model().map(|model| model.simulate().into()).map_err(|error| error.to_string())
        }
        (Engine::Linear, _) => match Linearisation::at_rest(mechanism).build() {
            Ok(model) => {
                let build = start.elapsed();
                let all = linear(&model, pace)?.into_iter();
                return Ok(Ok(all.map(|figures| Figures { build, ..figures }).collect()));
            }
            Err(error) => Err(error.to_string()),
        },
        _ => engine.simulate(mechanism).map_err(|error| error.to_string()),
    };
    let build = start.elapsed();
    Ok(match simulation {
        Ok(simulation) => Ok(vec![Figures { step: steps(simulation, pace)?, build, ..Figures::default() }]),
        Err(why) => Err(why),
    })
}

/// A simulation of the full engine as it is timed.
pub fn full(mechanism: &Mechanism) -> full::Simulation {
    let mut simulation = full::Model::new(mechanism).simulate();
    simulation.set_iterations(ITERATIONS).expect("one iteration is enough");
    simulation
}

/// Times steps under the scene's loads: the numbers of [`Figures::step`], µs.
pub fn steps(simulation: impl Into<Box<dyn Simulation>>, pace: &Pace) -> Result<[f64; 5], StepError> {
    let mut simulation = simulation.into();
    simulation.inputs_mut().add_scene_loads();
    let timings = pace.time(|| simulation.step(DT))?;
    let [p10, median, p90, p99] = timings.percentiles([0.1, 0.5, 0.9, 0.99]).expect("some steps");
    Ok([median, p10, p90, p99, median / simulation.mechanism().bodies().len() as f64])
}

/// Times a linear model with its two plain reconstructions, and its effectors alone.
pub fn linear(model: &Model, pace: &Pace) -> Result<Vec<Figures>, StepError> {
    let mut simulation = model.simulate();
    simulation.inputs_mut().add_scene_loads();
    let dynamics = Some(pace.median(|| simulation.step_effectors(DT))?);
    let plain = RECONSTRUCTIONS.into_iter().filter(|(_, how)| *how != Reconstruction::Corrected);
    plain
        .map(|(name, reconstruction)| {
            let mut simulation = model.simulate();
            simulation.set_reconstruction(reconstruction);
            let step = steps(simulation, pace)?;
            Ok(Figures { reconstruction: Some(name), step, dynamics, build: Duration::ZERO })
        })
        .collect()
}
