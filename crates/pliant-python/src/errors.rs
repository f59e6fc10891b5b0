//! Errors of Rust as exceptions of Python, with the same text; warnings; and the place where panics stop.

use std::ffi::CString;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::{Duration, Instant};

use pliant::engine::{StepError, Warning};
use pliant::io::{LoadError, SaveError};
use pyo3::import_exception;
use pyo3::prelude::*;

import_exception!(pliant._errors, InputError);
import_exception!(pliant._errors, FileError);
import_exception!(pliant._errors, SimulationError);
import_exception!(pliant._errors, InternalError);
import_exception!(pliant._errors, PliantWarning);

/// Bad input: what the command line ends with exit code 2 for.
pub fn input(message: impl ToString) -> PyErr {
    InputError::new_err(message.to_string())
}

/// The input was good, the job failed: exit code 1 of the command line.
pub fn job(message: impl ToString) -> PyErr {
    SimulationError::new_err(message.to_string())
}

/// A step that was not taken.
pub fn not_taken(error: StepError) -> PyErr {
    match error {
        StepError::TimeStep { .. } => input(format!("dt: {error}")),
        _ => job(error),
    }
}

/// A file that cannot be read, or has errors.
pub fn unloaded(error: LoadError) -> PyErr {
    match error {
        LoadError::Scene(_) | LoadError::Model { .. } => input(error),
        _ => FileError::new_err(error.to_string()),
    }
}

/// A file that cannot be written.
pub fn unsaved(error: SaveError) -> PyErr {
    FileError::new_err(error.to_string())
}

/// Runs what may panic because of a fault of Pliant; Python gets an exception then.
pub fn guarded<T>(run: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<&str>().map(|text| text.to_string());
        let text = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
        Err(InternalError::new_err(format!("this is an internal error of Pliant, please report it: {text}")))
    })
}

/// So long work goes on before it asks for a keyboard interrupt.
const ATTENTION: Duration = Duration::from_millis(50);

/// What a keyboard interrupt throws through work that has no other way out.
struct Interrupted(PyErr);

/// Work without the interpreter lock that calls a function on the way, where a keyboard interrupt ends it. It must change nothing outside.
pub fn interruptible<T: Send>(
    py: Python<'_>,
    work: impl FnOnce(&mut dyn FnMut()) -> T + Send,
) -> PyResult<T> {
    let done = py.detach(|| {
        let mut asked = Instant::now();
        catch_unwind(AssertUnwindSafe(|| {
            work(&mut || {
                if asked.elapsed() > ATTENTION {
                    asked = Instant::now();
                    Python::attach(|py| py.check_signals())
                        .unwrap_or_else(|error| resume_unwind(Box::new(Interrupted(error))));
                }
            })
        }))
    });
    done.map_err(|thrown| match thrown.downcast::<Interrupted>() {
        Ok(interrupted) => interrupted.0,
        Err(panic) => resume_unwind(panic),
    })
}

/// Gives warnings to Python's own.
pub fn warn<'w>(py: Python<'_>, texts: impl IntoIterator<Item = &'w str>) -> PyResult<()> {
    let category = py.get_type::<PliantWarning>();
    for text in texts {
        let text = CString::new(text.replace('\0', " ")).map_err(input)?;
        PyErr::warn(py, category.as_any(), &text, 1)?;
    }
    Ok(())
}

/// The same of warnings of a run.
pub fn warn_of(py: Python<'_>, warnings: &[Warning]) -> PyResult<()> {
    warn(py, warnings.iter().map(|warning| warning.text.as_str()))
}
