//! A comparison of the engines, as `pliant compare` makes it.

use pliant::mechanism::LoadDescription;
use pliant::shared::setup::{Place, find};
use pyo3::prelude::*;

use crate::arrays;
use crate::errors::{guarded, input, interruptible, job, warn_of};
use crate::mechanism::Mechanism;
use crate::setup::{ByName, Setup, loads};

/// Its page and its figures, as `pliant.Comparison`.
pub fn compare<'py>(
    py: Python<'py>,
    source: &Mechanism,
    setup: &Setup<'_, '_>,
    given: ByName<'_, '_>,
    gravity: Option<&Bound<'_, PyAny>>,
    dt: Option<&Bound<'_, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    guarded(|| {
        let dt = dt.map(|dt| arrays::positive("dt", arrays::number("dt", dt)?, "seconds")).transpose()?;
        let loads = loads(given)?;
        let (mut mechanism, beyond) = setup.of(&source.inner, &loads)?;
        let mut builder = mechanism.to_builder();
        if let Some(gravity) = gravity.filter(|gravity| !gravity.is_none()) {
            builder.gravity(arrays::exactly("gravity", "m/s² along x, y, z", gravity)?);
        }
        for (name, wrench) in &loads {
            if let Place::Body(_) = find("loads", name, &mechanism).map_err(input)? {
                return Err(input(format!(
                    "loads: here loads act on effectors, and `{name}` is a body without one: add one with effectors=[{name:?}]"
                )));
            }
            builder.load(LoadDescription { effector: name.clone(), wrench: *wrench });
        }
        mechanism = builder.build().map_err(input)?;
        // A surface that cannot be read is not drawn, where it does not touch.
        let surfaces = match (source.surfaces(py, &mechanism), mechanism.has_contact()) {
            (Err(error), true) => return Err(error),
            (surfaces, _) => surfaces.unwrap_or_default(),
        };
        let compared = interruptible(py, |tick| pliant_cli::compare(&mechanism, &surfaces, dt, tick))?;
        let (page, figures, warnings) =
            compared.map_err(|(of_input, message)| if of_input { input(message) } else { job(message) })?;
        warn_of(py, &beyond)?;
        warn_of(py, &warnings)?;
        let texts: Vec<&str> = beyond.iter().chain(&warnings).map(|warning| warning.text.as_str()).collect();
        py.import("pliant._comparison")?.getattr("Comparison")?.call1((page, figures, texts))
    })
}
