//! `pliant simulate`: how a mechanism moves.

use std::time::Instant;

use pliant::articulated;
use pliant::blended;
use pliant::contact::{Actor, Scene};
use pliant::full::{self, Energy, StepError};
use pliant::inputs::Inputs;
use pliant::io::trajectory::{Touch, Trajectory, TrajectoryError};
use pliant::live;
use pliant::mechanism::{EffectorId, Mechanism};
use pliant::reduced::{self, Reduction};
use pliant::spatial::Pose;
use pliant::state::State;
use serde_json::json;

use crate::args::{Common, Simulate};
use crate::blending::{Blended, radii};
use crate::engine::{Engine, Modes};
use crate::estimate;
use crate::failure::Failure;
use crate::output::{Answer, Format, count, quantity, table};
use crate::progress::{Bar, Spinner};
use crate::report;
use crate::timing::Timings;
use crate::touching::{self, Events, Stage, Worst};

/// More steps than this are a slip of the pen: at 1 µs each they take a quarter of an hour.
const MOST_STEPS: f64 = 1e9;

/// The motion from the file's pose at rest.
pub fn run(arguments: &Simulate, common: &Common) -> Result<Answer, Failure> {
    let steps = step_count(arguments)?;
    let is_model = arguments.mechanism.is_model();
    let Some(engine) = arguments.engine.or(is_model.then_some(Engine::Blended)) else {
        return Err(Failure::input(
            "--engine is missing: `full`, `articulated`, `reduced`, `live` or `blended`; only a model file (.pliant) needs \
             none",
        ));
    };
    refuse_foreign(arguments, engine)?;
    let source = arguments.mechanism.open(common)?;
    let mechanism = source.mechanism();
    let stage = arguments.touching.stage(mechanism, &arguments.mechanism, common)?;
    let motion = Motion { arguments, steps, mechanism, stage: stage.as_ref(), format: common.format() };
    // Loose bodies are left to contact.
    let Some(held) = stage.as_ref().map_or(Some(mechanism), Stage::held) else { return motion.run(None) };
    match engine {
        Engine::Full => {
            let model = full::Model::new(held);
            let mut simulation = model.simulate();
            let iterations = arguments.iterations.unwrap_or(full::DEFAULT_ITERATIONS);
            simulation.set_iterations(iterations).map_err(Failure::input)?;
            motion.run(Some(Running::Full(Box::new(simulation))))
        }
        Engine::Articulated => {
            too_many_loops(held).map_or(Ok(()), |why| Err(Failure::input(why)))?;
            let model = articulated::Model::new(held);
            motion.run(Some(Running::Articulated(Box::new(model.simulate()))))
        }
        Engine::Reduced => {
            let spinner = Spinner::new(common.format(), "building the reduced model");
            let model = reduction(arguments, held, stage.is_some()).build();
            let model = model.map_err(|error| arguments.mechanism.unreduced(error))?;
            let mut simulation = model.simulate();
            drop(spinner);
            simulation.set_threads(common.threads.get());
            simulation.set_reconstruction(arguments.reconstruction.unwrap_or_default());
            motion.run(Some(Running::Reduced(Box::new(simulation))))
        }
        Engine::Live => {
            let spinner = Spinner::new(common.format(), "choosing links");
            let model = live_model(arguments, held).and_then(|model| match arguments.modes {
                Some(Modes::Auto) => model.with_inner_links_for(arguments.dt),
                Some(Modes::Count(k)) => model.with_inner_links(k),
                None => Ok(model),
            });
            let model = model.map_err(Failure::input)?;
            // A mechanism that cannot be reduced at the file's pose may move all the same.
            let dropped = model.dropped().ok().flatten();
            drop(spinner);
            motion.run(Some(Running::Live(Box::new(model.simulate()), dropped)))
        }
        Engine::Blended => {
            // Bad input is told before a model is made.
            arguments.loading.apply(mechanism, &mut Inputs::new(mechanism))?;
            let blended = Blended::of(held, source.model(), &arguments.mechanism, common.format())?;
            let mut simulation = blended.model.simulate();
            // As every engine here: from the file's pose, as near as the model can come.
            simulation.set_state(&State::at_rest(held)).map_err(Failure::job)?;
            motion.run(Some(Running::Blended(Box::new(simulation), &blended)))
        }
    }
}

/// Why the articulated engine does not take a mechanism.
pub fn too_many_loops(mechanism: &Mechanism) -> Option<String> {
    let rows = articulated::closing_rows(mechanism);
    (rows > articulated::MOST_CLOSING_ROWS).then(|| {
        format!(
            "its loops and couplings have {rows} closing rows, and the engine `articulated` takes at most {}: take --engine full",
            articulated::MOST_CLOSING_ROWS
        )
    })
}

/// Refuses options that the engine does not have.
fn refuse_foreign(arguments: &Simulate, engine: Engine) -> Result<(), Failure> {
    let given: [(&str, &[Engine], bool); 4] = [
        ("--iterations", &[Engine::Full], arguments.iterations.is_some()),
        ("--modes", &[Engine::Reduced, Engine::Live], arguments.modes.is_some()),
        ("--reconstruction", &[Engine::Reduced], arguments.reconstruction.is_some()),
        ("--effector", &[Engine::Reduced, Engine::Live], !arguments.effectors.is_empty()),
    ];
    match given.into_iter().find(|(_, engines, given)| *given && !engines.contains(&engine)) {
        None => Ok(()),
        Some((option, engines, _)) => {
            let names: Vec<String> = engines.iter().map(|engine| format!("`{}`", engine.name())).collect();
            let (many, names) = (if names.len() > 1 { "s" } else { "" }, names.join(" and "));
            Err(Failure::input(format!(
                "{option} belongs to the engine{many} {names}, and this is `{}`: leave it out, or change --engine",
                engine.name()
            )))
        }
    }
}

/// The model that was asked for.
fn reduction<'m>(arguments: &Simulate, mechanism: &'m Mechanism, touches: bool) -> Reduction<'m> {
    let mut reduction = Reduction::at_rest(mechanism);
    if !arguments.effectors.is_empty() {
        reduction = reduction.effectors(&arguments.effectors);
    }
    match arguments.modes {
        Some(Modes::Count(k)) => reduction.modes(k),
        Some(Modes::Auto) | None if touches => reduction.modes_for_contact(arguments.dt),
        Some(Modes::Auto) => reduction.modes_for(arguments.dt),
        None => reduction,
    }
}

/// The live model that was asked for.
fn live_model<'m>(
    arguments: &Simulate,
    mechanism: &'m Mechanism,
) -> Result<live::Model<'m>, reduced::ReductionError> {
    if arguments.effectors.is_empty() {
        live::Model::new(mechanism)
    } else {
        live::Model::with_effectors(mechanism, &arguments.effectors)
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

/// A simulation of any engine.
enum Running<'m> {
    Full(Box<full::Simulation<'m>>),
    Articulated(Box<articulated::Simulation<'m>>),
    Reduced(Box<reduced::Simulation<'m>>),
    Live(Box<live::Simulation<'m>>, Option<live::Dropped>),
    Blended(Box<blended::Simulation<'m>>, &'m Blended<'m>),
    /// Any of them, with all that it touches, and the worst and the events of the steps so far.
    Touching(Box<Scene<'m>>, Worst, Events),
}

impl<'m> Running<'m> {
    /// What contact takes.
    fn actor(self) -> Actor<'m> {
        match self {
            Running::Full(simulation) => Actor::Full(simulation),
            Running::Articulated(simulation) => Actor::Articulated(simulation),
            Running::Reduced(simulation) => Actor::Reduced(simulation),
            Running::Live(simulation, _) => Actor::Live(simulation),
            Running::Blended(simulation, _) => Actor::Blended(simulation),
            Running::Touching(..) => unreachable!("it is made of an actor"),
        }
    }

    fn inputs_mut(&mut self) -> &mut Inputs {
        match self {
            Running::Full(simulation) => simulation.inputs_mut(),
            Running::Articulated(simulation) => simulation.inputs_mut(),
            Running::Reduced(simulation) => simulation.inputs_mut(),
            Running::Live(simulation, _) => simulation.inputs_mut(),
            Running::Blended(simulation, _) => simulation.inputs_mut(),
            Running::Touching(scene, ..) => scene.inputs_mut(),
        }
    }

    /// One step, with every link's pose.
    fn step(&mut self, dt: f64) -> Result<(), StepError> {
        match self {
            Running::Full(simulation) => simulation.step(dt),
            Running::Articulated(simulation) => simulation.step(dt),
            Running::Reduced(simulation) => simulation.step(dt),
            Running::Live(simulation, _) => simulation.step(dt),
            Running::Blended(simulation, _) => simulation.step(dt),
            Running::Touching(scene, worst, events) => {
                let report = scene.step(dt)?;
                // Every link's pose is part of a step.
                scene.state();
                worst.add(&report);
                events.add(scene);
                Ok(())
            }
        }
    }

    fn state(&mut self) -> &State {
        match self {
            Running::Full(simulation) => simulation.state(),
            Running::Articulated(simulation) => simulation.state(),
            Running::Reduced(simulation) => simulation.state(),
            Running::Live(simulation, _) => simulation.state(),
            Running::Blended(simulation, _) => simulation.state(),
            Running::Touching(scene, ..) => scene.state(),
        }
    }

    fn effector_pose(&self, effector: EffectorId) -> Pose {
        match self {
            Running::Full(simulation) => simulation.effector_pose(effector),
            Running::Articulated(simulation) => simulation.effector_pose(effector),
            Running::Reduced(simulation) => simulation.effector_pose(effector),
            Running::Live(simulation, _) => simulation.effector_pose(effector),
            Running::Blended(simulation, _) => simulation.effector_pose(effector),
            Running::Touching(scene, ..) => scene.effector_pose(effector),
        }
    }

    fn violation(&mut self) -> f64 {
        match self {
            Running::Full(simulation) => simulation.violation(),
            Running::Articulated(simulation) => simulation.violation(),
            Running::Reduced(simulation) => simulation.violation(),
            Running::Live(simulation, _) => simulation.violation(),
            Running::Blended(simulation, _) => simulation.violation(),
            Running::Touching(scene, ..) => scene.violation(),
        }
    }

    fn energy(&mut self) -> Energy {
        match self {
            Running::Full(simulation) => simulation.energy(),
            Running::Articulated(simulation) => simulation.energy(),
            Running::Reduced(simulation) => simulation.energy(),
            Running::Live(simulation, _) => simulation.energy(),
            Running::Blended(simulation, _) => simulation.energy(),
            Running::Touching(scene, ..) => scene.energy(),
        }
    }

    /// What the model says of its fitness.
    fn notes(&self) -> Vec<String> {
        match self {
            Running::Articulated(simulation) => simulation.model().notes(),
            Running::Blended(_, blended) => blended.warnings.clone(),
            Running::Full(_) | Running::Reduced(_) | Running::Live(..) | Running::Touching(..) => Vec::new(),
        }
    }

    /// How far one step of the live engine to balance would move the links, over the radius: at rest the error
    /// of the pose; of a blend that makes its own forces also in motion.
    fn estimate(&mut self, arguments: &Simulate) -> Option<f64> {
        let estimate = match self {
            Running::Full(_) | Running::Articulated(_) | Running::Touching(..) => return None,
            Running::Live(simulation, _) => simulation.estimate(),
            Running::Blended(simulation, _) => simulation.estimate(),
            Running::Reduced(simulation) => {
                let model = live_model(arguments, simulation.mechanism()).ok()?;
                return estimate::of_reduced(simulation, &mut model.simulate());
            }
        };
        Some(estimate)
    }

    /// Links that a live model keeps beside its effectors, and the slowest vibration that it drops all the same.
    fn inner(&self) -> Option<(Vec<&str>, Option<live::Dropped>)> {
        match self {
            Running::Live(simulation, dropped) => {
                let links = simulation.model().inner_links().iter().map(|e| e.name.as_str());
                Some((links.collect(), *dropped))
            }
            _ => None,
        }
    }

    /// Number of linear models in a blend.
    fn models(&self) -> Option<usize> {
        match self {
            Running::Blended(simulation, _) => Some(simulation.model().samples().len()),
            _ => None,
        }
    }

    /// Rank and number of modes of a reduced model.
    fn size(&self) -> Option<(usize, usize)> {
        let simulation = match self {
            Running::Reduced(simulation) => simulation,
            Running::Touching(scene, ..) => match scene.actor() {
                Some(Actor::Reduced(simulation)) => simulation,
                _ => return None,
            },
            _ => return None,
        };
        Some((simulation.model().rank(), simulation.model().modes()))
    }

    /// What touched in the last step.
    fn touch(&self) -> Option<Touch> {
        match self {
            Running::Touching(scene, ..) => Some(touching::touch(scene)),
            _ => None,
        }
    }
}

/// A motion to be made, by any engine.
struct Motion<'a> {
    arguments: &'a Simulate,
    steps: u64,
    mechanism: &'a Mechanism,
    /// What there is to touch.
    stage: Option<&'a Stage>,
    format: Format,
}

impl<'a> Motion<'a> {
    /// By the engine of what joints hold together, if they hold anything.
    fn run(&self, engine: Option<Running<'a>>) -> Result<Answer, Failure> {
        let Motion { arguments, mechanism, .. } = self;
        let mut warnings = mechanism.warnings();
        warnings.extend(engine.iter().flat_map(Running::notes));
        warnings.extend(arguments.touching.untouched(mechanism));
        let mut running = match (self.stage, engine) {
            (None, Some(engine)) => engine,
            (Some(stage), engine) => {
                let scene = stage.scene(mechanism, engine.map(Running::actor))?;
                warnings.extend(scene.world().warnings().iter().cloned());
                Running::Touching(Box::new(scene), Worst::default(), Events::default())
            }
            (None, None) => unreachable!("without contact the engine has all bodies"),
        };
        arguments.loading.apply(mechanism, running.inputs_mut())?;
        // Last of the checks, so that bad input leaves no file.
        let contact = self.stage.is_some();
        let trajectory = arguments.output.as_ref().map(|path| Trajectory::create(path, mechanism, contact));
        let trajectory = trajectory.transpose().map_err(unwritten)?;
        let timings = self.take_steps(&mut running, trajectory)?;
        if self.steps == 0 && arguments.duration > 0.0 {
            warnings.push("the duration is less than half a step: nothing moved".into());
        }
        let estimate = running.estimate(arguments);
        if let (Running::Blended(_, blended), Some(estimate)) = (&running, estimate)
            && blended.is_judged_in_motion()
        {
            warnings.extend(blended.beyond(estimate));
        }
        Ok(answer(arguments, mechanism, &mut running, estimate, &timings, warnings))
    }

    /// Takes all steps; only the engine's part is timed.
    fn take_steps(
        &self,
        running: &mut Running,
        mut trajectory: Option<Trajectory>,
    ) -> Result<Timings, Failure> {
        let dt = self.arguments.dt;
        let mut bar = Bar::new(self.format, self.steps);
        let mut timings = Timings::default();
        let mut time = 0.0;
        self.follow_targets(running, time);
        record(&mut trajectory, running)?;
        for step in 1..=self.steps {
            time += dt;
            self.follow_targets(running, time);
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
                return Err(reached(Failure::job(format!("{error}{note}")), running));
            }
            timings.push(now - start);
            record(&mut trajectory, running)?;
            bar.update(step, now);
        }
        if let Some(trajectory) = trajectory {
            trajectory.finish().map_err(|error| reached(unwritten(error), running))?;
        }
        Ok(timings)
    }

    /// Sets the targets of a time; without any, inputs are left alone, which saves a reduced model work.
    fn follow_targets(&self, running: &mut Running, time: f64) {
        if !self.mechanism.targets().is_empty() {
            running.inputs_mut().follow_targets(self.mechanism, time);
        }
    }
}

fn record(trajectory: &mut Option<Trajectory>, running: &mut Running) -> Result<(), Failure> {
    let Some(trajectory) = trajectory else { return Ok(()) };
    let touch = running.touch();
    trajectory.push(running.state(), touch.as_ref()).map_err(|error| reached(unwritten(error), running))
}

/// A failure, with how far the motion came.
fn reached(failure: Failure, running: &mut Running) -> Failure {
    let state = running.state();
    failure.detail("steps", state.steps).detail("time", state.time)
}

/// The frequency of a vibration, in three digits: it is that of the mechanism where it starts.
fn hertz(dropped: &live::Dropped) -> f64 {
    let hz = dropped.frequency / std::f64::consts::TAU;
    format!("{hz:.2e}").parse().unwrap_or(hz)
}

/// How many effectors were asked for.
fn mechanism_effectors(arguments: &Simulate, mechanism: &Mechanism) -> usize {
    if arguments.effectors.is_empty() { mechanism.effectors().len() } else { arguments.effectors.len() }
}

fn answer(
    arguments: &Simulate,
    mechanism: &Mechanism,
    running: &mut Running,
    estimate: Option<f64>,
    timings: &Timings,
    warnings: Vec<String>,
) -> Answer {
    let (violation, energy) = (running.violation(), running.energy());
    let state = running.state().clone();
    let running: &Running = running;
    let effector_pose = |effector| running.effector_pose(effector);
    let taken = timings.percentiles([0.5, 0.99]);

    let mut json = report::state(mechanism, &state, effector_pose);
    let energies = json!({
        "kinetic": energy.kinetic, "elastic": energy.elastic, "potential": energy.potential,
    });
    json.insert("energy".into(), energies);
    json.insert("violation".into(), violation.into());
    json.insert("time_per_step_us".into(), taken.map(|[median, _]| median).into());
    json.insert("p99_us".into(), taken.map(|[_, p99]| p99).into());
    if let Some((rank, modes)) = running.size() {
        json.insert("rank".into(), rank.into());
        json.insert("modes".into(), modes.into());
    }
    if let Some((links, dropped)) = running.inner() {
        json.insert("inner".into(), links.into());
        let of = |d: live::Dropped| json!({ "hz": hertz(&d), "body": mechanism.body(d.body).name });
        json.insert("dropped".into(), dropped.map(of).into());
    }
    if let Some(estimate) = estimate {
        json.insert("estimate".into(), estimate.into());
    }
    if let Some(models) = running.models() {
        json.insert("models".into(), models.into());
    }
    if let Running::Touching(scene, worst, events) = running {
        json.extend(touching::document(scene, worst, events));
    }
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
    let mut rows = [
        ("steps", format!("{} of {}", state.steps, quantity(arguments.dt, "s"))),
        ("time", quantity(state.time, "s")),
        ("time per step", per_step),
        ("violation", gap),
        ("energy", energies.join(", ")),
    ]
    .map(|(key, value)| vec![key.to_string(), value])
    .to_vec();
    if let Some(estimate) = estimate {
        let what = match running {
            Running::Blended(_, blended) if blended.is_judged_in_motion() => {
                format!("off by about {}", radii(estimate))
            }
            _ => format!("{} from rest, and off by that if this is rest", radii(estimate)),
        };
        rows.push(vec!["estimate".into(), what]);
    }
    if let Some(models) = running.models() {
        let what = format!("a blend of {}", count(models, "linear model"));
        rows.insert(0, vec!["model".into(), what]);
    }
    if let Some((rank, modes)) = running.size() {
        let what =
            format!("{} of the effectors and {}", count(rank, "independent motion"), count(modes, "mode"));
        rows.insert(0, vec!["model".into(), what]);
    }
    if let Some((links, dropped)) = running.inner() {
        let mut what = count(mechanism_effectors(arguments, mechanism), "effector");
        if !links.is_empty() {
            what.push_str(&format!(" and {} ({})", count(links.len(), "inner link"), links.join(", ")));
        }
        rows.insert(0, vec!["model".into(), what]);
        let told = dropped.map_or("none".into(), |d| {
            format!(
                "vibrations from {} on, first of `{}`",
                quantity(hertz(&d), "Hz"),
                mechanism.body(d.body).name
            )
        });
        rows.insert(1, vec!["dropped".into(), told]);
    }
    let mut contacts = String::new();
    if let Running::Touching(scene, worst, _) = running {
        rows.extend(touching::rows(worst));
        contacts = format!("\n{}", touching::contact_table(scene));
    }
    let effectors = report::effector_table(mechanism, effector_pose);
    let mut text = format!("{}\n{effectors}{contacts}", table(&rows));
    if let Some(path) = &arguments.output {
        text.push_str(&format!("\nwrote {}\n", path.display()));
    }
    Answer { text, warnings, json: json.into() }
}
