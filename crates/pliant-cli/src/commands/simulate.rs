//! `pliant simulate`: how a mechanism moves.

use std::io::Write as _;
use std::time::Instant;

use pliant::engine::{Inputs, Simulation, State, StepError, Warning};
use pliant::engines::{self, Engine};
use pliant::io::trajectory::{Trajectory, TrajectoryError};
use pliant::linear::{self, Linearisation, Truncated};
use pliant::mechanism::Mechanism;
use pliant::shared::watch::{self, SIGNIFICANT, Watch, three_digits, unchecked};
use pliant::{full, reduced};
use serde_json::{Value, json};

use crate::args::{Common, Simulate};
use crate::blending::{Blended, another, radii};
use crate::choices::Modes;
use crate::choosing::EngineArgument;
use crate::failure::Failure;
use crate::load;
use crate::mechanism::Source;
use crate::output::{Answer, Format, count, listing, quantity};
use crate::page::text::listed;
use crate::progress::{Bar, Spinner};
use crate::report;
use crate::timing::Timings;
use crate::touching::{self, Record, Stage};

/// More steps than this are a slip of the pen: at 1 µs each they take a quarter of an hour.
const MOST_STEPS: f64 = 1e9;

/// Rows of curved loops that share joints, which are closed in dense matrices: with more, a step of `articulated` is faster.
const MANY_ROWS: usize = 64;

/// The motion from the file's pose at rest.
pub fn run(arguments: &Simulate, common: &Common) -> Result<Answer, Failure> {
    let steps = step_count(arguments)?;
    let named = match (arguments.linear, arguments.engine) {
        (true, EngineArgument::Auto | EngineArgument::Named(Engine::Reduced)) => {
            EngineArgument::Named(Engine::Linear)
        }
        (_, named) => named,
    };
    if let EngineArgument::Named(engine) = named {
        refuse_foreign(arguments, engine)?;
    }
    let opened = arguments.setup.open(&arguments.mechanism, common, |name| arguments.acting.acts_on(name));
    let (source, beyond) = opened?;
    let mechanism = &source.mechanism;
    let stage = arguments.touching.stage(mechanism, &arguments.mechanism, common)?;
    // Bad input is reported before a model is made.
    if arguments.zone_nodes
        && !mechanism.zones().iter().any(|zone| stage.is_some() && zone.description.to.is_none())
    {
        return Err(Failure::input(format!(
            "--zone-nodes is for contact with elastic zones, and `{}` has none: leave it out, or give a body a [[zone]]",
            arguments.mechanism.label()
        )));
    }
    let inputs = arguments.acting.inputs(mechanism)?;
    // Loose bodies are left to contact.
    let held = stage.as_ref().map_or(Some(mechanism), Stage::held);
    let (engine, why) = named.choose(held, source.model.is_some());
    refuse_foreign(arguments, engine)?;
    if engine == Engine::Reduced && source.model.is_some() && arguments.modes.is_some() {
        return Err(Failure::input(
            "--modes chooses motions, and a model file has its own: give the mechanism that it was made from, or build a model by \
             `pliant reduce --frequency`",
        ));
    }
    if let (Some(why), Format::Text) = (&why, common.format()) {
        // Nothing can be done about a standard error that is closed.
        let _ = writeln!(std::io::stderr(), "note: the engine is `{}`: {why}", engine.name());
    }
    let acts = Some(&inputs).filter(|_| stage.is_none());
    let made = held.map(|held| Made::new(engine, arguments, common, &source, held, acts));
    let (simulation, mut about) = made.transpose()?.map(|made| (made.simulation, made.about)).unzip();
    let mut said = mechanism.warnings();
    said.extend(about.iter_mut().flat_map(|about| std::mem::take(&mut about.said)));
    said.extend(arguments.touching.untouched(mechanism));
    if let Some(about) = &mut about {
        about.foresee(Some(&inputs).filter(|_| stage.is_none()), arguments.dt);
    }
    let mut running = match (&stage, simulation) {
        (None, Some(simulation)) => Running::Alone(simulation),
        (Some(stage), simulation) => Running::Touching(Box::new(Record::new(stage.scene(simulation)?))),
        (None, None) => unreachable!("without contact the engine simulates all bodies"),
    };
    running.simulation().inputs_mut().clone_from(&inputs);
    running.simulation().inputs_mut().follow_targets(0.0);
    let overlaps = || stage.as_ref().and_then(|stage| stage.overlaps().ok().flatten());
    let start = (running.simulation(), steps);
    let mut watch =
        Watch::new(mechanism, engine, &arguments.setup.effectors, (stage.is_some(), overlaps), start);
    if let Some(about) = &mut about {
        watch.found.append(&mut about.warnings);
    }
    // Last of the checks, so that bad input leaves no file.
    let contact = matches!(running, Running::Touching(_));
    let trajectory = arguments.output.as_ref().map(|path| Trajectory::create(path, mechanism, contact));
    let trajectory = trajectory.transpose().map_err(unwritten)?;
    let bar = Bar::new(common.format(), steps);
    let timings = take_steps(&mut running, steps, arguments.dt, trajectory, bar, &mut watch)?;
    if steps == 0 && arguments.duration > 0.0 {
        said.push("the duration is less than half a step: no step was taken".into());
    }
    let mut about = about.unwrap_or_default();
    about.json.extend([("engine", engine.name().into()), ("engine_why", why.into())]);
    about.springs = load::report(running.simulation());
    let mut counted = beyond;
    counted.append(&mut running.simulation().warnings());
    // Limits that are passed at the end were passed on the way, where that was worse.
    if watch.found.iter().any(|warning| warning.kind == "limits") {
        counted.retain(|warning| warning.kind != "limits" || warning.text.starts_with("--at"));
    }
    counted.append(&mut watch.found);
    Ok(answer(arguments, &mut running, &about, &timings, said, counted))
}

/// The simulation of what joints hold together.
struct Made {
    simulation: Box<dyn Simulation>,
    about: About,
}

/// What is reported of a model.
#[derive(Default)]
struct About {
    json: Vec<(&'static str, Value)>,
    rows: Vec<(&'static str, String)>,
    /// What its engine has to say.
    said: Vec<String>,
    warnings: Vec<Warning>,
    /// The linear model, to be judged by the loads.
    linear: Option<linear::Model>,
    /// The slowest truncated mode, and the body that moves most in it.
    truncated: Option<(Truncated, String)>,
    /// Whether its freedoms are few, so that its estimate is an error.
    few: bool,
    blended: Option<Blended>,
    /// What springs exert at the end.
    springs: load::Report,
}

impl Made {
    fn new(
        engine: Engine,
        arguments: &Simulate,
        common: &Common,
        source: &Source,
        held: &Mechanism,
        acts: Option<&Inputs>,
    ) -> Result<Made, Failure> {
        let touches = acts.is_none();
        let mut about = About::default();
        let simulation: Box<dyn Simulation> = match engine {
            Engine::Full => {
                let mut simulation = full::Model::new(held).simulate();
                let iterations = arguments.iterations.unwrap_or(full::DEFAULT_ITERATIONS);
                simulation.set_iterations(iterations).map_err(Failure::input)?;
                simulation.into()
            }
            Engine::Articulated => {
                engines::articulated_model(held).map_err(Failure::input)?.simulate().into()
            }
            Engine::Linear => {
                let _spinner = Spinner::new(common.format(), "building the linear model");
                let model = linearisation(arguments, held, touches).build();
                let model = model.map_err(|error| arguments.mechanism.unreduced(error))?;
                let (rank, modes) = (model.rank(), model.modes());
                about.json = vec![("rank", rank.into()), ("modes", modes.into())];
                let (motions, kept) = (count(rank, "independent motion"), count(modes, "mode"));
                about.rows = vec![("model", format!("{motions} of the effectors and {kept}"))];
                if modes == 0 {
                    let left_out = unchecked(held, "which modes are truncated");
                    // A mechanism whose modes are not found may move all the same.
                    let truncated = left_out.is_none().then(|| model.truncated().ok().flatten()).flatten();
                    about.truncated = truncated.map(|t| (t, held[t.body].name.clone()));
                    about.warnings.extend(left_out);
                }
                about.linear = Some(model.clone());
                let mut simulation = model.simulate();
                simulation.set_threads(common.threads.get());
                simulation.set_reconstruction(arguments.reconstruction.unwrap_or_default());
                simulation.into()
            }
            Engine::Reduced => {
                let _spinner = Spinner::new(common.format(), "choosing motions");
                let model = match &source.model {
                    // Coordinates are the same without loose bodies.
                    Some(file) => reduced::Model::from_columns(held, &file.motions),
                    None => reduction(arguments, held, acts).build(),
                };
                let model = model.map_err(|error| arguments.mechanism.unreduced(error))?;
                let (few, all, rows) = (model.motions(), model.freedoms(), model.closed_together());
                if rows > MANY_ROWS {
                    about.said.push(format!(
                        "{rows} rows of loops that share joints are closed together in every step of `reduced`, which takes \
                         longer than a step of `articulated`"
                    ));
                }
                about.json = vec![("coordinates", few.into()), ("freedoms", all.into())];
                about.rows =
                    vec![("model", format!("{} of {}", count(few, "motion"), count(all, "freedom")))];
                model.simulate().into()
            }
            Engine::Blended => {
                if touches {
                    return Err(Failure::input(
                        "the engine `blended` does not support contact: use --engine reduced, articulated or full, or --no-contact",
                    ));
                }
                let blended = Blended::of(held, &arguments.mechanism, common.format())?;
                about.of_blended(&blended);
                about.said.extend(blended.advice.clone());
                about.warnings = blended.warnings.clone();
                let mut simulation = blended.model.simulate();
                // As every engine here: from the file's pose, as near as the model can come.
                simulation.set_state(&State::at_rest(held)).map_err(Failure::job)?;
                about.blended = Some(blended);
                simulation.into()
            }
        };
        about.few = matches!(engine, Engine::Reduced | Engine::Linear | Engine::Blended);
        Ok(Made { simulation, about })
    }
}

impl About {
    /// What a linear model leaves out in steps of dt, and under these inputs where they are all that acts.
    fn foresee(&mut self, inputs: Option<&Inputs>, dt: f64) {
        if let Some((truncated, body)) = &self.truncated {
            // A mode n times as fast takes some 1/n² of the path.
            let measure = (truncated.slowest / truncated.frequency).powi(2);
            if measure > SIGNIFICANT && dt * truncated.frequency < 1.0 {
                let hz = quantity(three_digits(truncated.frequency / std::f64::consts::TAU), "Hz");
                let text = format!(
                    "modes from {hz} up, the first of `{body}`, are truncated, and would contribute about {:.0} % of the path: \
                     `--modes auto` keeps them",
                    100.0 * measure.min(1.0)
                );
                self.warnings.push(Warning { kind: "modes", measure, unit: "of the path", text });
            }
        }
        let linear = self.linear.as_ref().zip(inputs);
        self.warnings.extend(linear.and_then(|(model, inputs)| watch::prestress(model, inputs)));
    }

    /// How many models a blend has.
    fn of_blended(&mut self, blended: &Blended) {
        let models = blended.model.samples().len();
        self.json = vec![("models", models.into())];
        self.rows = vec![("model", format!("a blend of {}", count(models, "linear model")))];
    }
}

/// Refuses options that the engine does not have.
fn refuse_foreign(arguments: &Simulate, engine: Engine) -> Result<(), Failure> {
    let given: [(&str, &[Engine], bool); 4] = [
        ("--iterations", &[Engine::Full], arguments.iterations.is_some()),
        ("--modes", &[Engine::Reduced, Engine::Linear], arguments.modes.is_some()),
        ("--linear", &[Engine::Reduced, Engine::Linear], arguments.linear),
        ("--reconstruction", &[Engine::Linear], arguments.reconstruction.is_some()),
    ];
    match given.into_iter().find(|(_, engines, given)| *given && !engines.contains(&engine)) {
        None => Ok(()),
        Some((option, engines, _)) => {
            let names: Vec<String> = engines.iter().map(|engine| format!("`{}`", engine.name())).collect();
            let (many, names) = (if names.len() > 1 { "s" } else { "" }, listed(&names));
            Err(Failure::input(format!(
                "{option} is for the engine{many} {names}, but this is `{}`: leave it out, or change --engine",
                engine.name()
            )))
        }
    }
}

fn linearisation(arguments: &Simulate, mechanism: &Mechanism, touches: bool) -> Linearisation {
    let mut reduction = Linearisation::at_rest(mechanism);
    if !arguments.setup.effectors.is_empty() {
        reduction = reduction.effectors(&arguments.setup.effectors);
    }
    match arguments.modes {
        Some(Modes::Count(k)) => reduction.modes(k),
        Some(Modes::Auto) | None if touches => reduction.modes_for_contact(arguments.dt),
        Some(Modes::Auto) => reduction.modes_for(arguments.dt),
        None => reduction,
    }
}

/// Motions that serve under what acts in this run.
fn reduction(arguments: &Simulate, mechanism: &Mechanism, acts: Option<&Inputs>) -> reduced::Reduction {
    let mut choice = reduced::Reduction::at_rest(mechanism);
    if let Some(inputs) = acts {
        choice = choice.unloaded().under(inputs);
    }
    if !arguments.setup.effectors.is_empty() {
        choice = choice.effectors(&arguments.setup.effectors);
    }
    match arguments.modes {
        Some(Modes::Count(k)) => choice.modes(k),
        Some(Modes::Auto) => choice.modes_for(arguments.dt),
        None => choice,
    }
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

/// What moves: a simulation alone, or in a scene of contact.
enum Running {
    Alone(Box<dyn Simulation>),
    Touching(Box<Record>),
}

impl Running {
    fn simulation(&mut self) -> &mut dyn Simulation {
        match self {
            Running::Alone(simulation) => &mut **simulation,
            Running::Touching(record) => &mut record.scene,
        }
    }

    /// One step, with every link's pose.
    fn step(&mut self, dt: f64) -> Result<(), StepError> {
        match self {
            Running::Alone(simulation) => simulation.step(dt),
            Running::Touching(record) => record.step(dt),
        }
    }

    /// Writes where everything is.
    fn record(&mut self, trajectory: &mut Option<Trajectory>) -> Result<(), Failure> {
        let Some(trajectory) = trajectory else { return Ok(()) };
        let touch = match self {
            Running::Alone(_) => None,
            Running::Touching(record) => Some(touching::touch(&record.scene)),
        };
        let written = trajectory.push(self.simulation().state(), touch.as_ref());
        written.map_err(|error| self.reached(unwritten(error)))
    }

    /// A failure, with how far the motion came.
    fn reached(&mut self, failure: Failure) -> Failure {
        let state = self.simulation().state();
        failure.detail("steps", state.steps).detail("time", state.time)
    }
}

/// Takes all steps; only the engine's part is timed.
fn take_steps(
    running: &mut Running,
    steps: u64,
    dt: f64,
    mut trajectory: Option<Trajectory>,
    mut bar: Bar,
    watch: &mut Watch,
) -> Result<Timings, Failure> {
    let mut timings = Timings::default();
    running.record(&mut trajectory)?;
    for step in 1..=steps {
        let start = Instant::now();
        let stepped = running.step(dt);
        let now = Instant::now();
        if let Err(error) = stepped {
            // What led there is worth keeping.
            let note = match trajectory.map(Trajectory::finish) {
                None => String::new(),
                Some(Ok(())) => "\nthe steps before it were written".into(),
                Some(Err(error)) => format!("\n{error}"),
            };
            return Err(running.reached(Failure::job(format!("{error}{note}"))));
        }
        timings.push(now - start);
        running.record(&mut trajectory)?;
        watch.look(running.simulation(), step);
        bar.update(step, now);
    }
    if let Some(trajectory) = trajectory {
        trajectory.finish().map_err(|error| running.reached(unwritten(error)))?;
    }
    Ok(timings)
}

fn answer(
    arguments: &Simulate,
    running: &mut Running,
    about: &About,
    timings: &Timings,
    said: Vec<String>,
    mut counted: Vec<Warning>,
) -> Answer {
    let touching = matches!(running, Running::Touching(_));
    let simulation = running.simulation();
    let estimate = simulation.estimate().ok().filter(|_| about.few);
    // Of a blend the estimate is an error in motion too.
    let in_motion = about.blended.as_ref();
    counted.extend(in_motion.zip(estimate).and_then(|(blended, estimate)| blended.beyond(estimate)));
    if let Some(estimate) = estimate.filter(|_| !touching) {
        counted.extend(another(simulation, estimate));
    }
    let (violation, energy) = (simulation.violation(), simulation.energy());
    let mut json = report::state(simulation);
    let effectors = report::effector_table(simulation);
    let (steps, time) = (simulation.steps(), simulation.time());
    let taken = timings.percentiles([0.5, 0.99]);
    let energies = json!({
        "kinetic": energy.kinetic, "elastic": energy.elastic, "potential": energy.potential,
    });
    json.insert("energy".into(), energies);
    json.insert("violation".into(), violation.into());
    json.insert("time_per_step_us".into(), taken.map(|[median, _]| median).into());
    json.insert("p99_us".into(), taken.map(|[_, p99]| p99).into());
    json.extend(about.json.iter().map(|(key, value)| (key.to_string(), value.clone())));
    json.insert("steps".into(), steps.into());
    json.insert("time".into(), time.into());

    let per_step = match taken {
        Some([median, p99]) => {
            format!("{} median, {} p99", quantity(median, "µs"), quantity(p99, "µs"))
        }
        None => "-".into(),
    };
    let energies =
        [(energy.kinetic, "kinetic"), (energy.elastic, "elastic"), (energy.potential, "potential")]
            .map(|(joules, kind)| format!("{} {kind}", quantity(joules, "J")));
    let mut rows = about.rows.clone();
    rows.extend([
        ("steps", format!("{steps} of {}", quantity(arguments.dt, "s"))),
        ("time", quantity(time, "s")),
        ("time per step", per_step),
        ("violation", quantity(violation, "of the radius")),
        ("energy", energies.join(", ")),
    ]);
    if let Some(estimate) = estimate {
        json.insert("estimate".into(), estimate.into());
        let what = match in_motion {
            Some(_) => format!(
                "links are {} off relative to the effectors; the error of the effectors in motion is not included (`pliant compare` has it)",
                radii(estimate)
            ),
            None => format!("{} from equilibrium; once at rest, this is the error", radii(estimate)),
        };
        rows.push(("estimate", what));
    }
    json.extend(about.springs.json.clone());
    rows.extend(about.springs.rows.iter().cloned());
    let mut contacts = String::new();
    if let Running::Touching(record) = running {
        json.extend(touching::document(record, arguments.zone_nodes));
        rows.extend(touching::rows(record));
        contacts = format!("\n{}", touching::contact_table(&record.scene));
        if arguments.zone_nodes {
            contacts += &touching::node_tables(&record.scene);
        }
    }
    let mut text = format!("{}\n{effectors}{contacts}", listing(rows));
    if let Some(path) = &arguments.output {
        text.push_str(&format!("\nwrote {}\n", path.display()));
    }
    Answer::warned(text, said, counted, json.into())
}
