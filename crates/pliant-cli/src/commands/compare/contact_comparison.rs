//! A scene of contact by every engine that can take part, with the full one as the truth: as plain data.

use std::time::{Duration, Instant};

use pliant::contact::Scene;
use pliant::engine::{Simulation, Warning};
use pliant::engines::{Engine, EngineError, Options};
use pliant::io::ModelFile;
use pliant::mechanism::{BodyId, EffectorId, Mechanism};
use pliant::nalgebra::Vector3;
use pliant::shared::watch::Watch;
use pliant::spatial::Pose;

use super::measure::target_end;
use crate::contact_options::{Stage, Worst, force_on};
use crate::failure::Failure;
use crate::report::effector_poses;
use crate::timing::Timings;

/// How long the motion is at least, s, and what it lasts beyond the last target, over the time of that.
const SHORTEST: f64 = 2.0;
const BEYOND: f64 = 1.25;

/// What one engine may take: the page is to be there within a minute.
const LONGEST: Duration = Duration::from_secs(10);

pub struct ContactComparison {
    /// Length of a step, s.
    pub dt: f64,
    /// Steps of the full engine, which are those of all unless they stop early.
    pub steps: usize,
    /// The full one first.
    pub runs: Vec<Run>,
    /// Engines that take no part, and why.
    pub absent: Vec<(&'static str, String)>,
    /// The effector with the largest force in the full simulation.
    pub loaded: Option<EffectorId>,
    /// What the scene says of itself.
    pub warnings: Vec<Warning>,
}

pub struct Run {
    pub engine: &'static str,
    /// At the start and after each step.
    pub path: Vec<Moment>,
    /// Times, s, and link frames of some of them.
    pub frames: Vec<(f64, Vec<Pose>)>,
    pub worst: Worst,
    /// Median and 99th percentile of a step with every link's pose, µs.
    pub taken: Option<[f64; 2]>,
    pub stopped: Option<String>,
}

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

impl ContactComparison {
    /// The largest distance of an effector or loose body of a run from where the full one has it, by step, m.
    pub fn distances(&self, run: &Run) -> Vec<f64> {
        let between = |(a, b): (&Moment, &Moment)| {
            a.places.iter().zip(&b.places).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max)
        };
        self.runs[0].path.iter().zip(&run.path).map(between).collect()
    }

    /// The fastest engine with every freedom, which others are to be measured against, and its median step, µs.
    pub fn exact(&self) -> Option<(&'static str, f64)> {
        let exact = self.runs.iter().filter(|run| ["full", "articulated"].contains(&run.engine));
        let steps = exact.filter_map(|run| Some((run.engine, run.taken?[0])));
        steps.min_by(|a, b| a.1.total_cmp(&b.1))
    }

    /// How many times as fast as that a run was.
    pub fn gain(&self, run: &Run) -> Option<f64> {
        Some(self.exact()?.1 / run.taken?[0])
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
    dt: f64,
    frames: usize,
    tick: &mut dyn FnMut(),
) -> Result<ContactComparison, Failure> {
    let wanted = (SHORTEST.max(BEYOND * target_end(mechanism)) / dt).round().max(1.0) as usize;
    let mut compared = ContactComparison {
        dt,
        steps: wanted,
        runs: Vec::new(),
        absent: Vec::new(),
        loaded: None,
        warnings: Vec::new(),
    };
    let motions = file.map(|file| &file.motions);
    let options = Options { motions, dt, touches: true, ..Options::default() };
    // Without anything held there is one engine: that of contact.
    for engine in Engine::ALL.into_iter().filter(|engine| stage.held().is_some() || *engine == Engine::Full) {
        let model = stage.held().map(|held| engine.model(held, &options)).transpose();
        let scene = match model.map(|model| stage.scene(model.map(|model| model.simulate()))) {
            Err(EngineError::Contact(_)) => Err("it does not support contact".into()),
            Err(error) => Err(error.to_string()),
            Ok(Err(failure)) if engine == Engine::Full => return Err(failure),
            Ok(scene) => scene.map_err(|failure| failure.message),
        };
        match scene {
            Err(why) => compared.absent.push((engine.name(), why)),
            Ok(mut scene) => {
                let pace = Pace { dt, steps: compared.steps, frames, loose: mechanism.loose() };
                let overlaps = || stage.overlaps().ok().flatten();
                let start: (&mut dyn Simulation, u64) = (&mut scene, compared.steps as u64);
                let mut watch = Watch::new(mechanism, engine, &[], (true, overlaps), start);
                let (run, noticed) = pace.run(engine.name(), scene, &mut watch, tick);
                // What overlaps at the start does so by every engine.
                for warning in noticed {
                    if compared.warnings.iter().all(|known| known.text != warning.text) {
                        compared.warnings.push(warning);
                    }
                }
                compared.warnings.append(&mut watch.found);
                if engine == Engine::Full {
                    compared.steps = run.path.len() - 1;
                }
                compared.runs.push(run);
            }
        }
    }
    let most = |e: usize| compared.runs[0].path.iter().map(|m| m.forces[e]).fold(0.0, f64::max);
    let effectors = mechanism.effector_ids();
    let loaded = effectors.max_by(|a, b| most(a.index()).total_cmp(&most(b.index())));
    compared.loaded = loaded.filter(|e| most(e.index()) > 0.0);
    Ok(compared)
}

/// How far a run goes and what is kept of it.
struct Pace {
    /// s.
    dt: f64,
    steps: usize,
    frames: usize,
    loose: Vec<BodyId>,
}

impl Pace {
    /// A run, and what contact noticed in it.
    fn run(
        &self,
        engine: &'static str,
        mut scene: Scene,
        watch: &mut Watch,
        tick: &mut dyn FnMut(),
    ) -> (Run, Vec<Warning>) {
        scene.inputs_mut().add_scene_loads();
        let mut run = Run {
            engine,
            path: vec![self.moment(&scene)],
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
                run.stopped = Some(format!("its limit of {} s of computing was reached", LONGEST.as_secs()));
                break;
            }
            let time = step as f64 * self.dt;
            let start = Instant::now();
            if let Err(error) = scene.step(self.dt) {
                run.stopped = Some(error.to_string());
                break;
            }
            scene.state();
            timings.push(start.elapsed());
            watch.look(&mut scene, step as u64);
            run.worst.add(&scene.report());
            run.path.push(self.moment(&scene));
            if step.is_multiple_of(stride) || step == self.steps {
                run.frames.push((time, scene.state().poses.clone()));
            }
            if step.is_multiple_of(self.steps.div_ceil(12)) {
                tick();
            }
        }
        run.taken = timings.percentiles([0.5, 0.99]);
        (run, scene.world().warnings())
    }

    fn moment(&self, scene: &Scene) -> Moment {
        let mechanism = scene.mechanism();
        let mut places: Vec<_> = effector_poses(scene).iter().map(|pose| pose.position).collect();
        for &body in &self.loose {
            let center = mechanism[body].inertia.center_of_mass;
            places.push(scene.pose(body).expect("a body of the scene").transform_point(&center));
        }
        let report = scene.report();
        Moment {
            places,
            forces: mechanism.effectors().iter().map(|e| force_on(scene, e.body).norm()).collect(),
            penetration: report.penetration,
            residual: report.residual,
        }
    }
}
