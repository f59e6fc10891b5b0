//! Many runs at once: a batch of starting states and control sequences to trajectories, on all cores, without the interpreter lock, in one
//! array that is made once. Each run starts on a simulation in the same state, so that its bits do not depend on the number of threads or
//! on what else there is.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex};
use std::thread;
use std::time::Duration;

use numpy::{PyArrayDyn, PyArrayMethods};
use pliant::articulated;
use pliant::engine::{Balance, Simulation, State as EngineState, StepError, Warning};
use pliant::engines::articulated_model;
use pliant::mechanism::{JointId, Mechanism as Inner};
use pyo3::exceptions::{PyMemoryError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::PySequence;

use crate::arrays::{self, Many};
use crate::errors::{InternalError, guarded, input, job, warn};
use crate::mechanism::Mechanism;
use crate::model::Model;
use crate::placing::Placing;
use crate::simulation::Moving;
use crate::state::{State, WITHOUT_PUSHES};

/// So long it goes on before it asks for a keyboard interrupt.
const ATTENTION: Duration = Duration::from_millis(20);

/// More threads than this are a slip of the pen.
const MOST_THREADS: u64 = 1024;

/// Threads for each core at most: more of them only take turns.
const PER_CORE: usize = 4;

/// How often the energy of a run is looked at.
const LOOKS: usize = 64;

/// Starts that are farther from a model's motions, in radii, are warned of where the model has no bound of its own.
const OFF: f64 = 0.01;

/// Where runs start.
enum Starts<'a> {
    States(Vec<&'a State>),
    /// Positions and velocities: batch × 2n.
    Rows(&'a [f64], Box<Placing>),
}

impl Starts<'_> {
    /// What a worker needs of its own to make states.
    fn placing(&self) -> Option<Placing> {
        match self {
            Starts::States(_) => None,
            Starts::Rows(_, placing) => Some(Placing::clone(placing)),
        }
    }

    /// Puts a simulation where a run starts; the state is that which was asked for.
    fn begin<'s>(
        &'s self,
        work: &Batch<'_>,
        placing: &'s mut Option<Placing>,
        run: usize,
        moving: &mut Moving,
    ) -> PyResult<&'s EngineState> {
        match (self, placing) {
            (Starts::Rows(rows, _), Some(placing)) => {
                let (positions, velocities) = rows[run * 2 * work.n..(run + 1) * 2 * work.n].split_at(work.n);
                let state = placing.closed_state(work.mechanism, positions, velocities)?;
                moving.simulation().set_state(state).map_err(input)?;
                Ok(state)
            }
            (Starts::Rows(..), None) => unreachable!("rows come with a placing"),
            (Starts::States(list), _) => {
                if !moving.restore(list[run])? {
                    work.without_pushes.store(true, Ordering::Relaxed);
                }
                Ok(&list[run].inner)
            }
        }
    }
}

/// Set-points of a batch.
enum Controls<'a> {
    /// Those of the scene.
    None,
    /// The same for a whole run: batch × n.
    Constant(&'a [f64]),
    /// Of each step: batch × steps × n.
    Each(&'a [f64]),
}

impl<'a> Controls<'a> {
    fn new(value: Option<&'a Many<'_>>, batch: usize, steps: usize, n: usize) -> PyResult<Controls<'a>> {
        let Some(found) = value else { return Ok(Controls::None) };
        if found.shape() == [batch, n] {
            Ok(Controls::Constant(found.values()))
        } else if found.shape() == [batch, steps, n] {
            Ok(Controls::Each(found.values()))
        } else {
            Err(input(format!(
                "controls: expected set-points of the shape ({batch}, {steps}, {n}), or ({batch}, {n}) for the same in all steps, got the \
                 shape {}",
                arrays::shape(found.shape())
            )))
        }
    }

    /// Of a step of a run, where they change.
    fn of(&self, run: usize, step: usize, steps: usize, n: usize) -> Option<&[f64]> {
        match self {
            Controls::None => None,
            Controls::Constant(values) => (step == 0).then(|| &values[run * n..(run + 1) * n]),
            Controls::Each(values) => {
                let at = (run * steps + step) * n;
                Some(&values[at..at + n])
            }
        }
    }
}

/// A batch, the same for all threads.
struct Batch<'a> {
    mechanism: &'a Inner,
    joints: Vec<JointId>,
    starts: Starts<'a>,
    controls: Controls<'a>,
    dt: f64,
    steps: usize,
    n: usize,
    /// Whether things touch, so that energy is lost and recovered.
    touches: bool,
    /// Whether a run that fails is NaN from there on, and the others go on.
    lenient: bool,
    /// Of a model: the farthest start from its motions, in radii, and the first run of it.
    off: Option<Mutex<(f64, usize)>>,
    stop: AtomicBool,
    /// The first run that failed.
    failed: AtomicUsize,
    /// Whether a thread panicked.
    broken: AtomicBool,
    /// Whether a run started from a state whose contact is that of another scene.
    without_pushes: AtomicBool,
    /// Where runs ended; empty if nobody wants to know.
    ends: Mutex<Vec<Option<State>>>,
    /// The worst of each kind of all runs.
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

/// Why a run did not end.
struct Failed {
    run: usize,
    why: PyErr,
}

impl Batch<'_> {
    /// Takes runs until there are none.
    fn take(&self, moving: &mut Moving, jobs: &Mutex<Jobs<'_>>, failures: &Mutex<Vec<Failed>>) {
        let (inputs, mut placing) = (moving.simulation().inputs().clone(), self.starts.placing());
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
            moving.simulation().inputs_mut().clone_from(&inputs);
            if let Err(why) = self.run(moving, &mut placing, run, part) {
                self.failed.fetch_min(run, Ordering::Relaxed);
                failures.lock().map(|mut list| list.push(Failed { run, why })).unwrap_or_default();
            }
        }
    }

    /// One run, into its part of the array.
    fn run(
        &self,
        moving: &mut Moving,
        placing: &mut Option<Placing>,
        run: usize,
        out: &mut [f64],
    ) -> PyResult<()> {
        let named = |error: PyErr| Python::attach(|py| input(format!("states[{run}]: {}", error.value(py))));
        let start = self.starts.begin(self, placing, run, moving).map_err(named)?;
        let simulation = moving.simulation();
        if let Some(off) = &self.off {
            let away = self.away(start, simulation.state());
            if let Ok(mut worst) = off.lock()
                && (away > worst.0 || (away == worst.0 && run < worst.1))
            {
                *worst = (away, run);
            }
        }
        let (stride, mut balance, mut gained) = (self.steps.div_ceil(LOOKS).max(1), None, Vec::new());
        for step in 0..self.steps {
            if self.stop.load(Ordering::Relaxed) {
                return Ok(());
            }
            if let Err(error) = self.step(simulation, run, step) {
                if self.lenient {
                    out[step * 2 * self.n..].fill(f64::NAN);
                    break;
                }
                return Err(job(format!("run {run}, step {}: {error}", step + 1)));
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
        simulation.step(self.dt).map_err(|error: StepError| error.to_string())
    }

    /// How far two states are apart, in radii.
    fn away(&self, one: &EngineState, other: &EngineState) -> f64 {
        let radius = if self.mechanism.radius() > 0.0 { self.mechanism.radius() } else { 1.0 };
        let apart = one.poses.iter().zip(&other.poses).map(|(a, b)| (a.position - b.position).norm());
        apart.fold(0.0, f64::max) / radius
    }
}

/// Simulates a batch: from each of the starting states, so many steps, under its own set-points. Gives positions and velocities after each
/// step, of the shape (batch, steps, 2n), with n coordinates (`Mechanism.coordinates`).
///
/// model: a Mechanism (by the engine "articulated"), or a Model (by "reduced").
/// states: positions and velocities of each run, of the shape (batch, 2n), or a list of States. A Model starts from the nearest of its motions,
/// with a warning if that is farther than its bound.
/// controls: set-points (rad or m), of the shape (batch, steps, n), or (batch, n); the scene's own if None.
/// dt: s. threads: 0 takes all cores; the bits do not depend on it.
/// final: gives the last States too, (array, list): runs that start from them go on to the last bit. Positions and velocities alone leave out the
/// momenta that links carry, a term of order dt.
/// errors: "raise" for the error of the first run that fails; with "nan" such a run is NaN from the step that failed, its last State is the one
/// before, and the others go on.
///
/// Loads, gravity and springs are those of the mechanism. Where something can touch, runs have contact, but not those of a Model, which are refused;
/// loose bodies are part of States alone. Arrays of contiguous float64 are read where they are: leave them alone meanwhile.
///
/// >>> pliant.rollout(pliant.gallery.arm(), numpy.zeros((8, 40)), None, 0.01, 5).shape
/// (8, 5, 40)
#[pyfunction]
#[pyo3(
    signature = (model, states, controls, dt, steps, threads=None, r#final=false, errors="raise"),
    text_signature = "(model, states, controls, dt, steps, threads=0, final=False, errors='raise')"
)]
#[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
pub fn rollout<'py>(
    py: Python<'py>,
    model: &Bound<'py, PyAny>,
    states: &Bound<'py, PyAny>,
    controls: Option<&Bound<'py, PyAny>>,
    dt: &Bound<'py, PyAny>,
    steps: &Bound<'py, PyAny>,
    threads: Option<&Bound<'py, PyAny>>,
    r#final: bool,
    errors: &str,
) -> PyResult<Bound<'py, PyAny>> {
    guarded(|| {
        let dt = arrays::positive("dt", arrays::number("dt", dt)?, "seconds")?;
        let steps = arrays::whole("steps", "a whole number of steps", (0, u64::MAX), steps)?;
        let steps = usize::try_from(steps).map_err(input)?;
        let threads = threads.map_or(Ok(0), |threads| {
            arrays::whole("threads", "a whole number of threads", (0, MOST_THREADS), threads)
        })?;
        let lenient = match errors {
            "raise" => false,
            "nan" => true,
            _ => return Err(input(format!("errors: expected \"raise\" or \"nan\", got {errors:?}"))),
        };
        let (mechanism, reduced) = if let Ok(mechanism) = model.cast::<Mechanism>() {
            (mechanism.get().inner.clone(), None)
        } else if let Ok(model) = model.cast::<Model>() {
            (model.get().source.get().inner.clone(), Some(model.get()))
        } else {
            let got = model.get_type().name()?;
            return Err(PyTypeError::new_err(format!("model: expected a Mechanism or a Model, got {got}")));
        };
        if mechanism.has_contact() && reduced.is_some() {
            return Err(input(
                "model: things can touch in it, and a rollout of a Model leaves contact out: give its mechanism, or run its simulations",
            ));
        }
        let n = mechanism.coordinate_count();
        let (articulated, first) = match (reduced, model.cast::<Mechanism>()) {
            // Its articulated model takes no step: any number of loops.
            (Some(model), _) => (None, Moving::Alone(model.inner.simulate().into())),
            (None, Ok(source)) if mechanism.has_contact() => {
                (None, Moving::Touching(Box::new(source.get().scene(py)?)))
            }
            (None, _) => {
                let model = articulated_model(&mechanism).map_err(input)?;
                (Some(model.clone()), Moving::Alone(model.simulate().into()))
            }
        };
        let (saved, rows) = match list_of_states(states) {
            Some(saved) => (saved, None),
            None => (Vec::new(), Some(rows_of(states, n)?)),
        };
        let starts = match &rows {
            Some(rows) => {
                let model = articulated.unwrap_or_else(|| articulated::Model::new(&mechanism));
                Starts::Rows(rows.values(), Box::new(Placing::of(&model)?))
            }
            None => Starts::States(states_of(&saved, &mechanism)?),
        };
        let batch = rows.as_ref().map_or(saved.len(), |rows| rows.shape()[0]);
        let controls = controls.map(|controls| Many::new("controls", controls)).transpose()?;
        let work = Batch {
            joints: mechanism.joint_ids().filter(|id| !mechanism[*id].freedoms.is_empty()).collect(),
            mechanism: &mechanism,
            starts,
            controls: Controls::new(controls.as_ref(), batch, steps, n)?,
            dt,
            steps,
            n,
            touches: mechanism.has_contact(),
            lenient,
            off: reduced.map(|_| Mutex::new((0.0, usize::MAX))),
            stop: AtomicBool::new(false),
            failed: AtomicUsize::new(usize::MAX),
            broken: AtomicBool::new(false),
            without_pushes: AtomicBool::new(false),
            warnings: Mutex::default(),
            ends: Mutex::new(std::iter::repeat_with(|| None).take(if r#final { batch } else { 0 }).collect()),
        };
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let threads = match usize::try_from(threads).map_err(input)? {
            0 => cores,
            n => n.min(PER_CORE * cores),
        };
        // Of zeros that the system has ready: it is filled by the threads.
        let motion = py.import("numpy")?.getattr("zeros")?.call1(((batch, steps, 2 * n),));
        let motion = motion.map_err(|_| {
            PyMemoryError::new_err(format!("{batch} runs of {steps} steps are more than memory holds"))
        })?;
        let motion: Bound<'py, PyArrayDyn<f64>> = motion.cast_into()?;
        let mut writing = motion.readwrite();
        let out = writing.as_slice_mut().map_err(input)?;
        let simulations = py.detach(|| vec![first; threads.min(batch)]);
        run_all(py, &work, simulations, batch, out)?;
        drop(writing);
        if let (Some(off), Some(model)) = (&work.off, reduced) {
            warn_of_starts(py, off, model.bound().unwrap_or(OFF))?;
        }
        if work.without_pushes.load(Ordering::Relaxed) {
            warn(py, [format!("states: some are of another simulation: {WITHOUT_PUSHES}").as_str()])?;
        }
        let warnings = work.warnings.into_inner().unwrap_or_default();
        let of_runs: Vec<String> =
            warnings.iter().map(|warning| format!("of all runs: {}", warning.text)).collect();
        warn(py, of_runs.iter().map(String::as_str))?;
        if !r#final {
            return Ok(motion.into_any());
        }
        let ends = work.ends.into_inner().unwrap_or_default().into_iter().flatten();
        Ok((motion, ends.collect::<Vec<_>>()).into_pyobject(py)?.into_any())
    })
}

/// Saved states, if these are such.
fn list_of_states<'py>(states: &Bound<'py, PyAny>) -> Option<Vec<Bound<'py, State>>> {
    let list = states.cast::<PySequence>().ok().filter(|list| list.len().is_ok_and(|n| n > 0))?;
    list.try_iter().ok()?.map(|item| item.ok()?.cast_into::<State>().ok()).collect()
}

fn states_of<'a>(list: &'a [Bound<'_, State>], mechanism: &Inner) -> PyResult<Vec<&'a State>> {
    let own = |(run, state): (usize, &'a Bound<'_, State>)| match state.get().inner.belongs_to(mechanism) {
        true => Ok(state.get()),
        false => Err(input(format!("states[{run}]: it belongs to another mechanism"))),
    };
    list.iter().enumerate().map(own).collect()
}

/// Positions and velocities of each run.
fn rows_of<'py>(states: &Bound<'py, PyAny>, n: usize) -> PyResult<Many<'py>> {
    let rows = Many::new("states", states)?;
    match rows.shape() {
        [_, width] if *width == 2 * n => Ok(rows),
        other => Err(input(format!(
            "states: expected positions and velocities of the shape (batch, {}), or States, got the shape {}",
            2 * n,
            arrays::shape(other)
        ))),
    }
}

/// Warns of starts that a model cannot have.
fn warn_of_starts(py: Python<'_>, off: &Mutex<(f64, usize)>, bound: f64) -> PyResult<()> {
    let (off, run) = off.lock().map_or((0.0, 0), |worst| *worst);
    if off <= bound {
        return Ok(());
    }
    let text = format!(
        "states[{run}]: it is none that the model's motions can have; the nearest, where the run started, is off by {:.2} % of the radius",
        100.0 * off
    );
    warn(py, [text.as_str()])
}

fn run_all(
    py: Python<'_>,
    work: &Batch<'_>,
    simulations: Vec<Moving>,
    batch: usize,
    out: &mut [f64],
) -> PyResult<()> {
    let jobs = Mutex::new(Jobs { next: 0, batch, width: work.steps * 2 * work.n, left: out });
    let failures: Mutex<Vec<Failed>> = Mutex::default();
    let (left, ended) = (Mutex::new(0), Condvar::new());
    let (mut interrupted, mut started, mut refused) = (Ok(()), 0, None);
    thread::scope(|scope| {
        for mut simulation in simulations {
            let (jobs, failures, left, ended) = (&jobs, &failures, &left, &ended);
            left.lock().map(|mut left| *left += 1).unwrap_or_default();
            let spawned = thread::Builder::new().spawn_scoped(scope, move || {
                // A fault ends this thread's part alone, and is reported below.
                let run = catch_unwind(AssertUnwindSafe(|| work.take(&mut simulation, jobs, failures)));
                if run.is_err() {
                    work.broken.store(true, Ordering::Relaxed);
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
            let done = py.detach(|| {
                let Ok(left) = left.lock() else { return true };
                ended
                    .wait_timeout_while(left, ATTENTION, |left| *left > 0)
                    .map_or(true, |(left, _)| *left == 0)
            });
            if done {
                break;
            }
            if interrupted.is_ok() {
                interrupted = py.check_signals();
                work.stop.store(interrupted.is_err(), Ordering::Relaxed);
            }
        }
    });
    interrupted?;
    if let (0, Some(error)) = (started, refused) {
        return Err(job(format!("threads: none can be started: {error}")));
    }
    if work.broken.load(Ordering::Relaxed) {
        return Err(InternalError::new_err(
            "this is a fault of Pliant, please report it: a run of the batch panicked",
        ));
    }
    let failures = failures.into_inner().unwrap_or_default();
    failures.into_iter().min_by_key(|failure| failure.run).map_or(Ok(()), |failure| Err(failure.why))
}
