//! `pliant simulate`: how a mechanism moves.

use std::io::Write as _;
use std::time::Instant;

use pliant::engine::{Simulation, State, StepError, Warning};
use pliant::engines::{Engine, Model, Options};
use pliant::full;
use pliant::io::trajectory::{Trajectory, TrajectoryError};
use pliant::mechanism::Mechanism;
use pliant::shared::choosing::Named;
use pliant::shared::watch::{self, Watch};
use serde_json::{Value, json};

use crate::args::{Common, Simulate};
use crate::blending::Blended;
use crate::contact_options::{self, Record, Stage};
use crate::failure::Failure;
use crate::load;
use crate::output::{Answer, Format, count, listing, quantity, radii};
use crate::page::text::listed;
use crate::progress::{Bar, Spinner};
use crate::report;
use crate::timing::Timings;

/// More steps than this are a slip of the pen: at 1 µs each they take a quarter of an hour.
const MOST_STEPS: f64 = 1e9;

/// Rows of curved loops that share joints, which are closed in dense matrices: with more, a step of `articulated` is faster.
const MANY_ROWS: usize = 64;

/// The motion from the file's pose at rest.
pub fn run(arguments: &Simulate, common: &Common) -> Result<Answer, Failure> {
    let steps = step_count(arguments)?;
    let named = match (arguments.linear, arguments.engine) {
        (true, Named::Auto | Named::Engine(Engine::Reduced)) => Named::Engine(Engine::Linear),
        (_, named) => named,
    };
    if let Named::Engine(engine) = named {
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
    let options = Options {
        modes: arguments.modes,
        effectors: &arguments.setup.effectors,
        motions: source.model.as_ref().map(|file| &file.motions),
        dt: arguments.dt,
        touches: stage.is_some(),
        acts: Some(&inputs).filter(|_| stage.is_none()),
        interactive: false,
    };
    let made = held.map(|held| made(engine, arguments, common, held, &options)).transpose()?;
    let (simulation, mut about) = made.unzip();
    let mut said = mechanism.warnings();
    said.extend(about.iter_mut().flat_map(|about| std::mem::take(&mut about.said)));
    said.extend(arguments.touching.untouched(mechanism));
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

/// What is reported of a model.
#[derive(Default)]
struct About {
    json: Vec<(&'static str, Value)>,
    rows: Vec<(&'static str, String)>,
    /// What its engine has to say.
    said: Vec<String>,
    warnings: Vec<Warning>,
    /// Whether its freedoms are few, so that its estimate is an error.
    few: bool,
    /// Of a blend the error that it was made for, over the radius.
    bound: Option<f64>,
    /// What springs exert at the end.
    springs: load::Report,
}

/// The simulation of what joints hold together, and what is reported of its model.
fn made(
    engine: Engine,
    arguments: &Simulate,
    common: &Common,
    held: &Mechanism,
    options: &Options<'_>,
) -> Result<(Box<dyn Simulation>, About), Failure> {
    let mut about = About {
        few: matches!(engine, Engine::Reduced | Engine::Linear | Engine::Blended),
        ..About::default()
    };
    let model = match engine {
        Engine::Blended if !options.touches => {
            let blended = Blended::of(held, &arguments.mechanism, common.format())?;
            (about.said, about.warnings) = (blended.advice.into_iter().collect(), blended.warnings);
            about.bound = Some(blended.bound);
            Model::Blended(blended.model)
        }
        engine => {
            let doing =
                if engine == Engine::Linear { "building the linear model" } else { "choosing motions" };
            let _spinner = about.few.then(|| Spinner::new(common.format(), doing));
            let model = engine.model(held, options);
            model.map_err(|error| arguments.mechanism.unmodelled(error))?
        }
    };
    about.warnings.extend(watch::left_out(&model, options.dt, options.acts));
    let simulation = match &model {
        Model::Full(model) => {
            let mut simulation = model.simulate();
            let iterations = arguments.iterations.unwrap_or(full::DEFAULT_ITERATIONS);
            simulation.set_iterations(iterations).map_err(Failure::input)?;
            simulation.into()
        }
        Model::Linear(model) => {
            let (rank, modes) = (model.rank(), model.modes());
            about.json = vec![("rank", rank.into()), ("modes", modes.into())];
            let (motions, kept) = (count(rank, "independent motion"), count(modes, "mode"));
            about.rows = vec![("model", format!("{motions} of the effectors and {kept}"))];
            let mut simulation = model.simulate();
            simulation.set_threads(common.threads.get());
            simulation.set_reconstruction(arguments.reconstruction.unwrap_or_default());
            simulation.into()
        }
        Model::Reduced(reduced) => {
            let (few, all, rows) = (reduced.motions(), reduced.freedoms(), reduced.closed_together());
            if rows > MANY_ROWS {
                about.said.push(format!(
                    "{rows} rows of loops that share joints are closed together in every step of `reduced`, which takes \
                     longer than a step of `articulated`"
                ));
            }
            about.json = vec![("coordinates", few.into()), ("freedoms", all.into())];
            about.rows = vec![("model", format!("{} of {}", count(few, "motion"), count(all, "freedom")))];
            model.simulate()
        }
        Model::Blended(blended) => {
            let models = blended.samples().len();
            about.json = vec![("models", models.into())];
            about.rows = vec![("model", format!("a blend of {}", count(models, "linear model")))];
            let mut simulation = blended.simulate();
            // As every engine here: from the file's pose, as near as the model can come.
            simulation.set_state(&State::at_rest(held)).map_err(Failure::job)?;
            simulation.into()
        }
        Model::Articulated(_) => model.simulate(),
    };
    Ok((simulation, about))
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
            Running::Touching(record) => Some(contact_options::touch(&record.scene)),
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
    let in_motion = about.bound.zip(estimate);
    counted.extend(in_motion.and_then(|(bound, estimate)| watch::beyond("blended", bound, estimate)));
    if let Some(estimate) = estimate.filter(|_| !touching) {
        counted.extend(watch::another(simulation, estimate));
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
        json.extend(contact_options::document(record, arguments.zone_nodes));
        rows.extend(contact_options::rows(record));
        contacts = format!("\n{}", contact_options::contact_table(&record.scene));
        if arguments.zone_nodes {
            contacts += &contact_options::node_tables(&record.scene);
        }
    }
    let mut text = format!("{}\n{effectors}{contacts}", listing(rows));
    if let Some(path) = &arguments.output {
        text.push_str(&format!("\nwrote {}\n", path.display()));
    }
    Answer::warned(text, said, counted, json.into())
}
