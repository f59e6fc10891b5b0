//! A scene of contact by every engine that can take part, with the full one as the truth: as plain data.

use std::time::{Duration, Instant};

use pliant::contact::{Actor, Scene};
use pliant::io::ModelFile;
use pliant::mechanism::{BodyId, EffectorId, Mechanism};
use pliant::nalgebra::Vector3;
use pliant::reduced::Reduction;
use pliant::spatial::Pose;
use pliant::state::State;
use pliant::{articulated, full, live};

use super::measure::{blended_model, target_end};
use crate::commands::simulate::too_many_loops;
use crate::failure::Failure;
use crate::timing::Timings;
use crate::touching::{Stage, Worst};

/// Length of a step, s.
pub const DT: f64 = 1.0 / 240.0;

/// How long the motion is at least, s, and what it lasts beyond the last target, over the time of that.
const SHORTEST: f64 = 2.0;
const BEYOND: f64 = 1.25;

/// What one engine may take: the page is to be there within a minute.
const LONGEST: Duration = Duration::from_secs(10);

/// A scene by several engines.
pub struct Contest {
    /// Steps of the full engine, which are those of all unless they stop early.
    pub steps: usize,
    /// The full one first.
    pub runs: Vec<Run>,
    /// Engines that take no part, and why.
    pub absent: Vec<(&'static str, String)>,
    /// The effector with the largest force in the full simulation.
    pub loaded: Option<EffectorId>,
    /// What the scene says of itself.
    pub warnings: Vec<String>,
}

/// What one engine made of it.
pub struct Run {
    /// Its name.
    pub engine: &'static str,
    /// At the start and after each step.
    pub path: Vec<Moment>,
    /// Times, s, and link frames of some of them.
    pub frames: Vec<(f64, Vec<Pose>)>,
    /// The worst of all steps.
    pub worst: Worst,
    /// Median and 99th percentile of a step with every link's pose, µs.
    pub taken: Option<[f64; 2]>,
    /// Why it ends before it was meant to.
    pub stopped: Option<String>,
}

/// A moment of a run.
pub struct Moment {
    /// Effectors, then loose bodies, world, m.
    places: Vec<Vector3<f64>>,
    /// Size of the force of contact on the body of each effector, N.
    pub forces: Vec<f64>,
    /// How deep the deepest contact was, m.
    pub penetration: f64,
    /// How far impulses were from Coulomb's law, m/s.
    pub residual: f64,
}

impl Contest {
    /// The largest distance of an effector or loose body of a run from where the full one has it, by step, m.
    pub fn distances(&self, run: &Run) -> Vec<f64> {
        let between = |(a, b): (&Moment, &Moment)| {
            a.places.iter().zip(&b.places).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max)
        };
        self.runs[0].path.iter().zip(&run.path).map(between).collect()
    }

    /// The forces on the most loaded effector in a run, by step, N.
    pub fn forces<'r>(&self, run: &'r Run) -> Option<impl Iterator<Item = f64> + use<'r>> {
        let effector = self.loaded?.index();
        Some(run.path.iter().map(move |moment| moment.forces[effector]))
    }
}

/// Runs them all; `frames` is how many moments to keep the poses of.
pub fn measure(
    mechanism: &Mechanism,
    stage: &Stage,
    file: Option<&ModelFile>,
    frames: usize,
    tick: &mut dyn FnMut(),
) -> Result<Contest, Failure> {
    let wanted = (SHORTEST.max(BEYOND * target_end(mechanism)) / DT).round() as usize;
    let pace = |steps| Pace { steps, frames, loose: mechanism.loose() };
    let full_model = stage.held().map(full::Model::new);
    let actor = full_model.as_ref().map(|model| Actor::from(model.simulate()));
    let scene = stage.scene(mechanism, actor)?;
    let warnings = scene.world().warnings().to_vec();
    let first = pace(wanted).run("full", scene, tick);
    let steps = first.path.len() - 1;
    let mut contest = Contest { steps, runs: vec![first], absent: Vec::new(), loaded: None, warnings };
    if let Some(held) = stage.held() {
        let pace = pace(steps);
        let mut enter = |engine: &'static str, actor: Result<Actor, String>| {
            let scene = actor
                .and_then(|actor| stage.scene(mechanism, Some(actor)).map_err(|failure| failure.message));
            match scene {
                Ok(scene) => contest.runs.push(pace.run(engine, scene, tick)),
                Err(why) => contest.absent.push((engine, why)),
            }
        };
        match too_many_loops(held) {
            Some(why) => enter("articulated", Err(why)),
            None => {
                let model = articulated::Model::new(held);
                enter("articulated", Ok(model.simulate().into()));
            }
        }
        match Reduction::at_rest(held).modes_for_contact(DT).build() {
            Err(why) => enter("reduced", Err(why.to_string())),
            Ok(model) => enter("reduced", Ok(model.simulate().into())),
        }
        match live::Model::new(held) {
            Err(why) => enter("live", Err(why.to_string())),
            Ok(model) => enter("live", Ok(model.simulate().into())),
        }
        // Loose bodies are in the model of a file, and not here.
        let file = file.filter(|file| file.mechanism.bodies().len() == held.bodies().len());
        match blended_model(held, file, &mut || ()) {
            Err(why) => enter("blended", Err(why)),
            Ok((model, _)) => {
                let mut simulation = model.simulate();
                let placed = simulation.set_state(&State::at_rest(held));
                enter("blended", placed.map(|()| simulation.into()).map_err(|error| error.to_string()));
            }
        }
    }
    let most = |e: usize| contest.runs[0].path.iter().map(|m| m.forces[e]).fold(0.0, f64::max);
    let effectors = 0..mechanism.effectors().len();
    let loaded = effectors.max_by(|&a, &b| most(a).total_cmp(&most(b))).filter(|e| most(*e) > 0.0);
    contest.loaded = loaded.map(EffectorId::from_index);
    Ok(contest)
}

/// How far a run goes and what is kept of it.
struct Pace {
    steps: usize,
    frames: usize,
    loose: Vec<BodyId>,
}

impl Pace {
    fn run(&self, engine: &'static str, mut scene: Scene, tick: &mut dyn FnMut()) -> Run {
        let mechanism = scene.mechanism();
        scene.inputs_mut().add_scene_loads(mechanism);
        let mut run = Run {
            engine,
            path: vec![self.moment(&mut scene)],
            frames: Vec::new(),
            worst: Worst::default(),
            taken: None,
            stopped: None,
        };
        let stride = self.steps.div_ceil(self.frames.max(2) - 1).max(1);
        let mut timings = Timings::default();
        let started = Instant::now();
        run.frames.push((0.0, scene.state().poses.clone()));
        for step in 1..=self.steps {
            if started.elapsed() > LONGEST {
                run.stopped = Some(format!("its {} s of computing were up", LONGEST.as_secs()));
                break;
            }
            let time = step as f64 * DT;
            if !mechanism.targets().is_empty() {
                scene.inputs_mut().follow_targets(mechanism, time);
            }
            let start = Instant::now();
            match scene.step(DT) {
                Ok(report) => run.worst.add(&report),
                Err(error) => {
                    run.stopped = Some(error.to_string());
                    break;
                }
            }
            scene.state();
            timings.push(start.elapsed());
            run.path.push(self.moment(&mut scene));
            if step.is_multiple_of(stride) || step == self.steps {
                run.frames.push((time, scene.state().poses.clone()));
            }
            if step.is_multiple_of(self.steps.div_ceil(12)) {
                tick();
            }
        }
        run.taken = timings.percentiles([0.5, 0.99]);
        run
    }

    fn moment(&self, scene: &mut Scene) -> Moment {
        let mechanism = scene.mechanism();
        let effectors = (0..mechanism.effectors().len()).map(EffectorId::from_index);
        let mut places: Vec<_> = effectors.map(|e| scene.effector_pose(e).position).collect();
        for body in &self.loose {
            let center = mechanism.body(*body).inertia.center_of_mass;
            places.push(scene.pose(*body).transform_point(&center));
        }
        let force = |body| scene.world().force_on(scene.touched(body)).force.norm();
        let report = scene.world().report();
        Moment {
            places,
            forces: mechanism.effectors().iter().map(|e| force(e.body)).collect(),
            penetration: report.penetration,
            residual: report.residual,
        }
    }
}
