//! Many runs at once: those of `pliant::rollout`, without the interpreter lock, into one array of NumPy that is made once.

use numpy::{PyArrayDyn, PyArrayMethods};
use pliant::engines::articulated_model;
use pliant::mechanism::Mechanism as Inner;
use pliant::rollout::{Controls, Rollout, RolloutError, Starts};
use pliant::{Moving, Touching, engine};
use pyo3::exceptions::{PyMemoryError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::PySequence;

use crate::arrays::{self, Many};
use crate::errors::{InternalError, guarded, input, job, warn};
use crate::mechanism::Mechanism;
use crate::model::Model;
use crate::state::{State, WITHOUT_PUSHES};

/// More threads than this are a slip of the pen.
const MOST_THREADS: u64 = 1024;

/// Starts that are farther from a model's motions, in radii, are warned of where the model has no bound of its own.
const OFF: f64 = 0.01;

/// Simulates a batch: from each of the starting states, so many steps, under its own set-points. Returns positions and velocities after each step, of the shape (batch, steps, 2n), with n coordinates (`Mechanism.coordinates`).
///
/// model: a Mechanism (by the engine "articulated"), or a Model (by "reduced").
/// states: positions and velocities of each run, of the shape (batch, 2n), or a list of States. A Model starts from the nearest state within its
/// motions, with a warning if that is farther than its bound.
/// controls: set-points (rad or m), of the shape (batch, steps, n), or (batch, n); the scene's own if None.
/// dt: s. threads: 0 uses all cores; results do not depend on it, to the last bit.
/// final: also returns the last States, (array, list): runs that start from them continue to the last bit. Positions and velocities alone leave out
/// the momenta of the links, a term of order dt.
/// errors: "raise" for the error of the first run that fails; with "nan" such a run is NaN from the step that failed, its last State is the one
/// before, and the others continue.
///
/// Loads, gravity and springs are those of the mechanism. In scenes with contact, runs have contact, and those of a Model are refused; loose bodies
/// are in States only. Arrays of contiguous float64 are read in place: do not change them meanwhile.
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
                "model: it has contact, and a rollout of a Model leaves contact out: give its mechanism, or run its simulations",
            ));
        }
        let n = mechanism.coordinate_count();
        let moving = match (reduced, model.cast::<Mechanism>()) {
            (Some(model), _) => Moving::Alone(model.inner.simulate().into()),
            (None, Ok(source)) if mechanism.has_contact() => source.get().scene(py)?.into(),
            (None, _) => Moving::Alone(articulated_model(&mechanism).map_err(input)?.simulate().into()),
        };
        let (saved, rows) = match list_of_states(states) {
            Some(saved) => (saved, None),
            None => (Vec::new(), Some(rows_of(states, n)?)),
        };
        let batch = rows.as_ref().map_or(saved.len(), |rows| rows.shape()[0]);
        let starts = match &rows {
            Some(rows) => Starts::Rows(batch, rows.values()),
            None => Starts::States(states_of(&saved, &mechanism)?),
        };
        let controls = controls.map(|controls| Many::new("controls", controls)).transpose()?;
        let rollout = Rollout {
            moving,
            starts,
            controls: set_points(controls.as_ref(), batch, steps, n)?,
            dt,
            steps,
            threads: usize::try_from(threads).map_err(input)?,
            lenient,
            keep_ends: r#final,
        };
        // Of zeros that the system has ready: it is filled by the threads.
        let motion = py.import("numpy")?.getattr("zeros")?.call1(((batch, steps, 2 * n),));
        let motion = motion.map_err(|_| {
            PyMemoryError::new_err(format!("{batch} runs of {steps} steps do not fit in memory"))
        })?;
        let motion: Bound<'py, PyArrayDyn<f64>> = motion.cast_into()?;
        let mut writing = motion.readwrite();
        let out = writing.as_slice_mut().map_err(input)?;
        let mut interrupted = Ok(());
        let outcome = py.detach(|| {
            rollout.run(out, || {
                interrupted = Python::attach(|py| py.check_signals());
                interrupted.is_ok()
            })
        });
        interrupted?;
        let outcome = outcome.map_err(|error| match error {
            RolloutError::Step { .. } | RolloutError::Threads { .. } => job(error),
            RolloutError::Panicked => InternalError::new_err(error.to_string()),
            _ => input(error),
        })?;
        drop(writing);
        if let Some(model) = reduced {
            warn_of_starts(py, outcome.farthest_start, model.bound().unwrap_or(OFF))?;
        }
        if outcome.without_pushes {
            warn(py, [format!("states: some are of another simulation: {WITHOUT_PUSHES}").as_str()])?;
        }
        let of_runs: Vec<String> =
            outcome.warnings.iter().map(|warning| format!("of all runs: {}", warning.text)).collect();
        warn(py, of_runs.iter().map(String::as_str))?;
        if !r#final {
            return Ok(motion.into_any());
        }
        let ends = outcome.ends.into_iter();
        let ends = ends.map(|(inner, touching)| State { mechanism: mechanism.clone(), inner, touching });
        Ok((motion, ends.collect::<Vec<_>>()).into_pyobject(py)?.into_any())
    })
}

fn set_points<'a>(
    value: Option<&'a Many<'_>>,
    batch: usize,
    steps: usize,
    n: usize,
) -> PyResult<Controls<'a>> {
    let Some(found) = value else { return Ok(Controls::Scene) };
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

/// Saved states, if these are such.
fn list_of_states<'py>(states: &Bound<'py, PyAny>) -> Option<Vec<Bound<'py, State>>> {
    let list = states.cast::<PySequence>().ok().filter(|list| list.len().is_ok_and(|n| n > 0))?;
    list.try_iter().ok()?.map(|item| item.ok()?.cast_into::<State>().ok()).collect()
}

/// States and what contact has in them.
type Saved<'a> = Vec<(&'a engine::State, Option<&'a Touching>)>;

fn states_of<'a>(list: &'a [Bound<'_, State>], mechanism: &Inner) -> PyResult<Saved<'a>> {
    let own = |(run, state): (usize, &'a Bound<'_, State>)| match state.get().inner.belongs_to(mechanism) {
        true => Ok((&state.get().inner, state.get().touching.as_ref())),
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
fn warn_of_starts(py: Python<'_>, (off, run): (f64, usize), bound: f64) -> PyResult<()> {
    if off <= bound {
        return Ok(());
    }
    let text = format!(
        "states[{run}]: it is outside the motions of the model; the run started from the nearest state in them, {:.2} % of the radius away",
        100.0 * off
    );
    warn(py, [text.as_str()])
}
