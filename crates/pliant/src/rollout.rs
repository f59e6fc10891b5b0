//! Many runs at once: a batch of starting states and control sequences to trajectories, on all cores, into one array of the caller. Each run
//! starts on a simulation in the same state, so that its bits do not depend on the number of threads or on what else there is.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex};
use std::thread;
use std::time::Duration;

use pliant_core::articulated;
use pliant_core::engine::{Balance, Inputs, Simulation, State, Warning};
use pliant_core::mechanism::{JointId, Mechanism};

use crate::moving::{Moving, Touching};
use crate::placing::{Placing, PlacingError};

/// So long it goes on before it asks whether it shall.
const ATTENTION: Duration = Duration::from_millis(20);

/// How often the energy of a run is looked at.
const LOOKS: usize = 64;

/// Threads for each core at most: more of them only take turns.
const PER_CORE: usize = 4;

/// Where runs start.
pub enum Starts<'a> {
    /// States, with what contact had in them.
    States(Vec<(&'a State, Option<&'a Touching>)>),
    /// Coordinates and rates of so many runs, batch × 2n; of mechanisms without a free base.
    Rows(usize, &'a [f64]),
}

/// Set-points of a batch, n for each step, rad or m.
pub enum Controls<'a> {
    /// Those of the scene.
    Scene,
    /// The same for a whole run: batch × n.
    Constant(&'a [f64]),
    /// Of each step: batch × steps × n.
    Each(&'a [f64]),
}

impl<'a> Controls<'a> {
    /// Of a step of a run, where they change.
    fn of(&self, run: usize, step: usize, steps: usize, n: usize) -> Option<&'a [f64]> {
        match self {
            Controls::Scene => None,
            Controls::Constant(values) => (step == 0).then(|| &values[run * n..(run + 1) * n]),
            Controls::Each(values) => {
                let at = (run * steps + step) * n;
                Some(&values[at..at + n])
            }
        }
    }
}

/// A batch of runs.
///
/// ```
/// use pliant::prelude::*;
/// use pliant::rollout::{Controls, Rollout, Starts};
///
/// let mechanism = gallery::arm();
/// let (batch, steps, n) = (8, 5, mechanism.coordinate_count());
/// let starts = vec![0.0; batch * 2 * n]; // coordinates and rates of each run
/// let mut motion = vec![0.0; batch * steps * 2 * n]; // and after each step
/// let rollout = Rollout {
///     moving: Engine::Articulated.simulate(&mechanism)?.into(),
///     starts: Starts::Rows(batch, &starts),
///     controls: Controls::Scene,
///     dt: 0.01,
///     steps,
///     threads: 0,
///     lenient: false,
///     keep_ends: false,
/// };
/// rollout.run(&mut motion, || true)?;
/// assert_eq!(motion[..steps * 2 * n], motion[steps * 2 * n..][..steps * 2 * n]); // all runs are alike here
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Rollout<'a> {
    /// Each run takes place on a clone of it, with its inputs.
    pub moving: Moving,
    /// Where the runs start.
    pub starts: Starts<'a>,
    /// Their set-points.
    pub controls: Controls<'a>,
    /// Time step, s.
    pub dt: f64,
    /// Steps of each run.
    pub steps: usize,
    /// Threads; 0 takes all cores. The bits do not depend on it.
    pub threads: usize,
    /// Whether a run that fails is NaN from there on, and the others go on.
    pub lenient: bool,
    /// Whether the last states are kept.
    pub keep_ends: bool,
}

/// What came of a batch, next to its trajectories.
pub struct Outcome {
    /// Where each run ended, with what contact has there, if they are kept: runs that start from them go on to the last bit.
    pub ends: Vec<(State, Option<Touching>)>,
    /// The worst of each kind of all runs.
    pub warnings: Vec<Warning>,
    /// Whether a run started from a state whose contact is that of another scene, without what pushed in it.
    pub without_pushes: bool,
    /// How far, in radii, a run started at most from where it was asked to start, and the first such run: engines of few motions take the
    /// nearest state that they have.
    pub farthest_start: (f64, usize),
}

/// Why a batch has no outcome.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RolloutError {
    /// An array has not the length that batch, steps and coordinates make.
    #[error("{what} has {got} numbers, but {wanted} are expected")]
    Length {
        /// Which: `starts`, `controls` or `out`.
        what: &'static str,
        /// Its length.
        got: usize,
        /// That which it must have.
        wanted: usize,
    },
    /// Coordinates do not say where everything is.
    #[error(transparent)]
    Placing(#[from] PlacingError),
    /// A run cannot start.
    #[error("states[{run}]: {why}")]
    Start {
        /// Which.
        run: usize,
        /// Why.
        why: String,
    },
    /// A step cannot be taken, in the first run in which that is so.
    #[error("run {run}, step {step}: {why}")]
    Step {
        /// Which run.
        run: usize,
        /// Which of its steps, counted from 1.
        step: usize,
        /// Why.
        why: String,
    },
    /// The system starts no thread.
    #[error("threads: cannot start a thread: {why}")]
    Threads {
        /// Why.
        why: String,
    },
    /// It was asked to stop.
    #[error("the runs were stopped")]
    Stopped,
    /// A fault of Pliant.
    #[error("this is an internal error of Pliant, please report it: a run of the batch panicked")]
    Panicked,
}

impl Rollout<'_> {
    /// Runs all, and writes coordinates and rates after each step to `out`: batch × steps × 2n. `go_on` is asked every some milliseconds, on
    /// the caller's thread.
    pub fn run(self, out: &mut [f64], go_on: impl FnMut() -> bool) -> Result<Outcome, RolloutError> {
        let Rollout { mut moving, starts, controls, dt, steps, threads, lenient, keep_ends } = self;
        let mechanism = moving.simulation().mechanism().clone();
        let n = mechanism.coordinate_count();
        let (batch, starts) = match starts {
            Starts::States(list) => (list.len(), Begin::States(list)),
            Starts::Rows(batch, rows) => {
                expect("starts", rows.len(), batch * 2 * n)?;
                // It takes no step: any number of loops.
                (batch, Begin::Rows(rows, Box::new(Placing::of(&articulated::Model::new(&mechanism))?)))
            }
        };
        match controls {
            Controls::Scene => {}
            Controls::Constant(values) => expect("controls", values.len(), batch * n)?,
            Controls::Each(values) => expect("controls", values.len(), batch * steps * n)?,
        }
        expect("out", out.len(), batch * steps * 2 * n)?;
        let work = Work {
            joints: mechanism.joint_ids().filter(|id| !mechanism[*id].freedoms.is_empty()).collect(),
            inputs: moving.simulation().inputs().clone(),
            mechanism: &mechanism,
            starts,
            controls,
            dt,
            steps,
            n,
            touches: mechanism.has_contact(),
            lenient,
            stop: AtomicBool::new(false),
            failed: AtomicUsize::new(usize::MAX),
            broken: AtomicBool::new(false),
            without_pushes: AtomicBool::new(false),
            farthest: Mutex::new((0.0, usize::MAX)),
            ends: Mutex::new(
                std::iter::repeat_with(|| None).take(if keep_ends { batch } else { 0 }).collect(),
            ),
            warnings: Mutex::default(),
        };
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let threads = if threads == 0 { cores } else { threads.min(PER_CORE * cores) };
        work.run_all(vec![moving; threads.min(batch)], batch, out, go_on)?;
        Ok(Outcome {
            ends: work.ends.into_inner().unwrap_or_default().into_iter().flatten().collect(),
            warnings: work.warnings.into_inner().unwrap_or_default(),
            without_pushes: work.without_pushes.into_inner(),
            farthest_start: work.farthest.into_inner().unwrap_or((0.0, usize::MAX)),
        })
    }
}

fn expect(what: &'static str, got: usize, wanted: usize) -> Result<(), RolloutError> {
    if got == wanted { Ok(()) } else { Err(RolloutError::Length { what, got, wanted }) }
}

/// Starts, with what makes states of rows.
enum Begin<'a> {
    States(Vec<(&'a State, Option<&'a Touching>)>),
    Rows(&'a [f64], Box<Placing>),
}

impl Begin<'_> {
    /// What a thread needs of its own to make states.
    fn placing(&self) -> Option<Placing> {
        match self {
            Begin::States(_) => None,
            Begin::Rows(_, placing) => Some(Placing::clone(placing)),
        }
    }
}

/// Where a run ended.
type End = (State, Option<Touching>);

/// A batch, the same for all threads.
struct Work<'a> {
    mechanism: &'a Mechanism,
    joints: Vec<JointId>,
    inputs: Inputs,
    starts: Begin<'a>,
    controls: Controls<'a>,
    dt: f64,
    steps: usize,
    n: usize,
    /// Whether things touch, so that energy is lost and recovered.
    touches: bool,
    lenient: bool,
    stop: AtomicBool,
    /// The first run that failed.
    failed: AtomicUsize,
    /// Whether a thread panicked.
    broken: AtomicBool,
    without_pushes: AtomicBool,
    farthest: Mutex<(f64, usize)>,
    /// Where runs ended; empty if nobody wants to know.
    ends: Mutex<Vec<Option<End>>>,
    warnings: Mutex<Vec<Warning>>,
}

/// Runs that are left, with their parts of the array.
struct Jobs<'o> {
    next: usize,
    batch: usize,
    width: usize,
    left: &'o mut [f64],
}

impl<'o> Jobs<'o> {
    fn take(&mut self) -> Option<(usize, &'o mut [f64])> {
        if self.next == self.batch {
            return None;
        }
        let (part, left) = std::mem::take(&mut self.left).split_at_mut(self.width);
        self.left = left;
        self.next += 1;
        Some((self.next - 1, part))
    }
}

/// The run that failed, and why.
type Failures = Mutex<Vec<(usize, RolloutError)>>;

impl Work<'_> {
    fn run_all(
        &self,
        simulations: Vec<Moving>,
        batch: usize,
        out: &mut [f64],
        mut go_on: impl FnMut() -> bool,
    ) -> Result<(), RolloutError> {
        let jobs = Mutex::new(Jobs { next: 0, batch, width: self.steps * 2 * self.n, left: out });
        let failures = Failures::default();
        let (left, ended) = (Mutex::new(0), Condvar::new());
        let (mut stopped, mut started, mut refused) = (false, 0, None);
        thread::scope(|scope| {
            for mut simulation in simulations {
                let (jobs, failures, left, ended) = (&jobs, &failures, &left, &ended);
                left.lock().map(|mut left| *left += 1).unwrap_or_default();
                let spawned = thread::Builder::new().spawn_scoped(scope, move || {
                    // A fault ends this thread's part alone, and is reported below.
                    let run = catch_unwind(AssertUnwindSafe(|| self.take(&mut simulation, jobs, failures)));
                    if run.is_err() {
                        self.broken.store(true, Ordering::Relaxed);
                    }
                    left.lock().map(|mut left| *left -= 1).unwrap_or_default();
                    ended.notify_all();
                });
                // Where the system has no more threads, those that there are take all runs.
                if let Err(error) = spawned {
                    left.lock().map(|mut left| *left -= 1).unwrap_or_default();
                    refused = Some(error);
                    break;
                }
                started += 1;
            }
            loop {
                let Ok(waiting) = left.lock() else { break };
                let done = ended
                    .wait_timeout_while(waiting, ATTENTION, |left| *left > 0)
                    .map_or(true, |(left, _)| *left == 0);
                if done {
                    break;
                }
                if !stopped {
                    stopped = !go_on();
                    self.stop.store(stopped, Ordering::Relaxed);
                }
            }
        });
        if stopped {
            return Err(RolloutError::Stopped);
        }
        if let (0, Some(error)) = (started, refused) {
            return Err(RolloutError::Threads { why: error.to_string() });
        }
        if self.broken.load(Ordering::Relaxed) {
            return Err(RolloutError::Panicked);
        }
        let failures = failures.into_inner().unwrap_or_default();
        failures.into_iter().min_by_key(|(run, _)| *run).map_or(Ok(()), |(_, why)| Err(why))
    }

    /// Takes runs until there are none.
    fn take(&self, moving: &mut Moving, jobs: &Mutex<Jobs<'_>>, failures: &Failures) {
        let mut placing = self.starts.placing();
        // Contact has a memory, which no run may leave to the next.
        let fresh = match moving {
            Moving::Touching(scene) => Some(scene.world().save()),
            Moving::Alone(_) => None,
        };
        loop {
            let job = jobs.lock().ok().and_then(|mut jobs| jobs.take());
            // Runs are taken in their order: what comes after one that failed is not needed.
            let wanted = |(run, _): &(usize, &mut [f64])| *run < self.failed.load(Ordering::Relaxed);
            let Some((run, part)) = job.filter(wanted) else { break };
            if let (Moving::Touching(scene), Some(fresh)) = (&mut *moving, &fresh) {
                scene.world_mut().restore(fresh).unwrap_or_default(); // it is its own
            }
            moving.simulation().inputs_mut().clone_from(&self.inputs);
            if let Err(why) = self.run(moving, &mut placing, run, part) {
                self.failed.fetch_min(run, Ordering::Relaxed);
                failures.lock().map(|mut list| list.push((run, why))).unwrap_or_default();
            }
        }
    }

    /// Puts a simulation where a run starts.
    fn begin(&self, placing: &mut Option<Placing>, run: usize, moving: &mut Moving) -> Result<(), String> {
        let off = match (&self.starts, placing) {
            (Begin::Rows(rows, _), Some(placing)) => {
                let (positions, rates) = rows[run * 2 * self.n..(run + 1) * 2 * self.n].split_at(self.n);
                let state = placing.closed_state(positions, rates).map_err(|error| error.to_string())?;
                moving.simulation().set_state(state).map_err(|error| error.to_string())?;
                self.away(state, moving.simulation().state())
            }
            (Begin::Rows(..), None) => unreachable!("rows come with a placing"),
            (Begin::States(list), _) => {
                let (state, touching) = list[run];
                if !moving.restore(state, touching).map_err(|error| error.to_string())? {
                    self.without_pushes.store(true, Ordering::Relaxed);
                }
                self.away(state, moving.simulation().state())
            }
        };
        if let Ok(mut worst) = self.farthest.lock()
            && (off > worst.0 || (off == worst.0 && run < worst.1))
        {
            *worst = (off, run);
        }
        Ok(())
    }

    /// One run, into its part of the array.
    fn run(
        &self,
        moving: &mut Moving,
        placing: &mut Option<Placing>,
        run: usize,
        out: &mut [f64],
    ) -> Result<(), RolloutError> {
        self.begin(placing, run, moving).map_err(|why| RolloutError::Start { run, why })?;
        let simulation = moving.simulation();
        let (stride, mut balance, mut gained) = (self.steps.div_ceil(LOOKS).max(1), None, Vec::new());
        for step in 0..self.steps {
            if self.stop.load(Ordering::Relaxed) {
                return Ok(());
            }
            if let Err(why) = self.step(simulation, run, step) {
                if self.lenient {
                    out[step * 2 * self.n..].fill(f64::NAN);
                    break;
                }
                return Err(RolloutError::Step { run, step: step + 1, why });
            }
            let (state, row) = (simulation.state(), &mut out[step * 2 * self.n..(step + 1) * 2 * self.n]);
            row[..self.n].copy_from_slice(&state.coordinates);
            row[self.n..].copy_from_slice(&state.rates);
            // Set-points that stay are there from the first step on.
            if step == 0 && !self.touches && !matches!(self.controls, Controls::Each(_)) {
                balance = Balance::new(simulation);
            } else if (step + 1).is_multiple_of(stride) {
                let found = balance.as_mut().and_then(|balance| balance.look(simulation));
                found.into_iter().for_each(|found| Warning::keep_worst(&mut gained, found));
            }
        }
        let mut warnings = simulation.warnings();
        warnings.append(&mut gained);
        if !warnings.is_empty()
            && let Ok(mut known) = self.warnings.lock()
        {
            warnings.into_iter().for_each(|warning| Warning::keep_worst(&mut known, warning));
        }
        if let Ok(mut ends) = self.ends.lock()
            && let Some(end) = ends.get_mut(run)
        {
            *end = Some(moving.save());
        }
        Ok(())
    }

    fn step(&self, simulation: &mut dyn Simulation, run: usize, step: usize) -> Result<(), String> {
        if let Some(targets) = self.controls.of(run, step, self.steps, self.n) {
            for joint in &self.joints {
                let own = self.mechanism[*joint].coordinates();
                let set = simulation.inputs_mut().set_target(*joint, &targets[own]);
                set.map_err(|error| error.to_string())?;
            }
        }
        simulation.step(self.dt).map_err(|error| error.to_string())
    }

    /// How far two states are apart, in radii.
    fn away(&self, one: &State, other: &State) -> f64 {
        let radius = if self.mechanism.radius() > 0.0 { self.mechanism.radius() } else { 1.0 };
        let apart = one.poses.iter().zip(&other.poses).map(|(a, b)| (a.position - b.position).norm());
        apart.fold(0.0, f64::max) / radius
    }
}
