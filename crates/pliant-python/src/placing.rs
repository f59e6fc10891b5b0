//! Coordinates that come in; states of them are those of `pliant::placing`.

use pyo3::prelude::*;

use crate::arrays;
use crate::errors::input;

/// Positions or velocities of all coordinates; those of the start, or zero, if none are given.
pub fn coordinates(argument: &str, value: Option<&Bound<'_, PyAny>>, default: &[f64]) -> PyResult<Vec<f64>> {
    let Some(value) = value.filter(|value| !value.is_none()) else { return Ok(default.to_vec()) };
    let found = arrays::numbers(argument, value)?;
    if found.shape != [default.len()] {
        return Err(input(format!(
            "{argument}: expected one number for each of {} coordinates, got the shape {}",
            default.len(),
            arrays::shape(&found.shape)
        )));
    }
    Ok(found.values)
}
