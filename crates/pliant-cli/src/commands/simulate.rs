//! `pliant simulate`: how a mechanism moves.

use std::time::Instant;

use pliant::full::{self, Simulation};
use pliant::io::trajectory::{Trajectory, TrajectoryError};
use pliant::mechanism::Mechanism;
use serde_json::json;

use crate::args::{Common, Simulate};
use crate::engine::Engine;
use crate::failure::Failure;
use crate::output::{Answer, Format, quantity, table};
use crate::progress::Bar;
use crate::report;
use crate::timing::Timings;

/// More steps than this are a slip of the pen: at 1 µs each they take a quarter of an hour.
const MOST_STEPS: f64 = 1e9;

/// The motion from the file's pose at rest.
pub fn run(arguments: &Simulate, common: &Common) -> Result<Answer, Failure> {
    let Engine::Full = arguments.engine;
    let steps = step_count(arguments)?;
    let mechanism = arguments.mechanism.load(common)?;
    let model = full::Model::new(&mechanism);
    let mut simulation = model.simulate();
    arguments.loading.apply(&mechanism, simulation.inputs_mut())?;
    simulation.set_iterations(arguments.iterations).map_err(Failure::input)?;
    // Last of the checks, so that bad input leaves no file.
    let trajectory = arguments.output.as_ref().map(|path| Trajectory::create(path, &mechanism));
    let trajectory = trajectory.transpose().map_err(unwritten)?;

    let motion = Motion { dt: arguments.dt, steps, format: common.format() };
    let timings = motion.run(&mut simulation, &mechanism, trajectory)?;
    let mut warnings = mechanism.warnings();
    if steps == 0 && arguments.duration > 0.0 {
        warnings.push("the duration is less than half a step: nothing moved".into());
    }
    Ok(answer(arguments, &mechanism, &simulation, &timings, warnings))
}

fn step_count(arguments: &Simulate) -> Result<u64, Failure> {
    let steps = (arguments.duration / arguments.dt).round();
    if steps > MOST_STEPS {
        return Err(Failure::input(format!(
            "a duration of {} s in steps of {} s makes {steps:.1e} steps, more than {MOST_STEPS:e}; \
             take a longer --dt or a shorter --duration",
            arguments.duration, arguments.dt
        )));
    }
    Ok(steps as u64)
}

fn unwritten(error: TrajectoryError) -> Failure {
    match error {
        TrajectoryError::Unsupported(_) => Failure::input(error),
        _ => Failure::job(error),
    }
}

struct Motion {
    dt: f64,
    steps: u64,
    format: Format,
}

impl Motion {
    /// Takes all steps; only the engine's part is timed.
    fn run(
        &self,
        simulation: &mut Simulation,
        mechanism: &Mechanism,
        mut trajectory: Option<Trajectory>,
    ) -> Result<Timings, Failure> {
        let mut bar = Bar::new(self.format, self.steps);
        let mut timings = Timings::new();
        simulation.inputs_mut().follow_targets(mechanism, 0.0);
        record(&mut trajectory, simulation)?;
        for step in 1..=self.steps {
            let end = simulation.state().time + self.dt;
            simulation.inputs_mut().follow_targets(mechanism, end);
            let start = Instant::now();
            let stepped = simulation.step(self.dt);
            let now = Instant::now();
            if let Err(error) = stepped {
                // What led there is worth keeping.
                let note = match trajectory.map(Trajectory::finish) {
                    None => String::new(),
                    Some(Ok(())) => "\nthe steps before it were written".into(),
                    Some(Err(error)) => format!("\n{error}"),
                };
                return Err(reached(Failure::job(format!("{error}{note}")), simulation));
            }
            timings.push(now - start);
            record(&mut trajectory, simulation)?;
            bar.update(step, now);
        }
        if let Some(trajectory) = trajectory {
            trajectory.finish().map_err(|error| reached(unwritten(error), simulation))?;
        }
        Ok(timings)
    }
}

fn record(trajectory: &mut Option<Trajectory>, simulation: &Simulation) -> Result<(), Failure> {
    match trajectory {
        Some(trajectory) => {
            trajectory.push(simulation.state()).map_err(|error| reached(unwritten(error), simulation))
        }
        None => Ok(()),
    }
}

/// A failure, with how far the motion came.
fn reached(failure: Failure, simulation: &Simulation) -> Failure {
    let state = simulation.state();
    failure.detail("steps", state.steps).detail("time", state.time)
}

fn answer(
    arguments: &Simulate,
    mechanism: &Mechanism,
    simulation: &Simulation,
    timings: &Timings,
    warnings: Vec<String>,
) -> Answer {
    let state = simulation.state();
    let (violation, energy) = (simulation.violation(), simulation.energy());
    let taken = timings.percentiles([0.5, 0.99]);

    let mut json = report::state(mechanism, state);
    let energies = json!({
        "kinetic": energy.kinetic, "elastic": energy.elastic, "potential": energy.potential,
    });
    json.insert("energy".into(), energies);
    json.insert("violation".into(), violation.into());
    json.insert("time_per_step_us".into(), taken.map(|[median, _]| median).into());
    json.insert("p99_us".into(), taken.map(|[_, p99]| p99).into());
    json.insert("steps".into(), state.steps.into());
    json.insert("time".into(), state.time.into());
    json.insert("warnings".into(), warnings.clone().into());

    let per_step = match taken {
        Some([median, p99]) => {
            format!("{} median, {} p99", quantity(median, "µs"), quantity(p99, "µs"))
        }
        None => "-".into(),
    };
    let gap = quantity(violation, "of the radius");
    let energies =
        [(energy.kinetic, "kinetic"), (energy.elastic, "elastic"), (energy.potential, "potential")]
            .map(|(joules, kind)| format!("{} {kind}", quantity(joules, "J")));
    let rows = [
        ("steps", format!("{} of {}", state.steps, quantity(arguments.dt, "s"))),
        ("time", quantity(state.time, "s")),
        ("time per step", per_step),
        ("violation", gap),
        ("energy", energies.join(", ")),
    ]
    .map(|(key, value)| vec![key.to_string(), value]);
    let mut text = format!("{}\n{}", table(&rows), report::effector_table(mechanism, state));
    if let Some(path) = &arguments.output {
        text.push_str(&format!("\nwrote {}\n", path.display()));
    }
    Answer { text, warnings, json: json.into() }
}
