//! Natural frequencies: those of the whole linear mechanism, and those that linear models have.

use std::f64::consts::TAU;

use pliant::linear::{Linearisation, Model, ReductionError};
use pliant::mechanism::Mechanism;

/// How many of the lowest are compared.
const LOWEST: usize = 6;

/// Models that are compared: what they are called and their number of modes.
const MODELS: [(&str, usize); 3] =
    [("condensed (default)", 0), ("condensed and 1 mode", 1), ("condensed and 4 modes", 4)];

/// Natural frequencies, Hz, ascending.
pub struct Frequencies {
    /// The lowest of the whole mechanism.
    pub full: Vec<f64>,
    /// Those of linear models, as many as are compared.
    pub models: Vec<FrequencyRow>,
}

pub struct FrequencyRow {
    pub name: &'static str,
    pub modes: usize,
    /// Coordinates it has, and its lowest frequencies, Hz; or why there is no such model.
    pub result: Result<(usize, Vec<f64>), String>,
}

/// Builds every model and takes its frequencies.
pub fn measure(
    mechanism: &Mechanism,
    model: &Model,
    tick: &mut dyn FnMut(),
) -> Result<Frequencies, ReductionError> {
    let hertz = |all: Vec<f64>| all.into_iter().map(|w| w / TAU).collect::<Vec<f64>>();
    let full = hertz(model.full_frequencies(LOWEST)?);
    let compared = full.len();
    let models = MODELS.map(|(name, modes)| {
        let built = Linearisation::at_rest(mechanism).modes(modes).build();
        tick();
        let result = built.map_err(|error| error.to_string()).map(|model| {
            let mut own = hertz(model.frequencies());
            own.truncate(compared);
            (super::coordinates_of(&model), own)
        });
        FrequencyRow { name, modes, result }
    });
    Ok(Frequencies { full, models: models.into() })
}
