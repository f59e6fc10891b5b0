//! Options whose value is one of a few names.

use pliant::contact::Solver;
use pliant::linear::{Method, Reconstruction};
pub use pliant::shared::words::did_you_mean;

use crate::page::text::listed;

/// The reconstructions by their names; the default one is `joint`.
pub const RECONSTRUCTIONS: [(&str, Reconstruction); 3] = [
    ("twist", Reconstruction::Twist),
    ("joint", Reconstruction::Joint),
    ("corrected", Reconstruction::Corrected),
];

/// The tolerance of the solver `exact`, m/s.
const TOLERANCE: f64 = 1e-9;

pub fn reconstruction(text: &str) -> Result<Reconstruction, String> {
    one_of("reconstruction", text, &RECONSTRUCTIONS)
}

pub fn method(text: &str) -> Result<Method, String> {
    one_of("method", text, &[("exact", Method::Exact), ("incremental", Method::Incremental)])
}

pub fn solver(text: &str) -> Result<Solver, String> {
    one_of("solver", text, &[("pgs", Solver::default()), ("exact", Solver::Exact { tolerance: TOLERANCE })])
}

fn one_of<T: Copy>(what: &str, text: &str, values: &[(&str, T)]) -> Result<T, String> {
    if let Some((_, value)) = values.iter().find(|(name, _)| *name == text) {
        return Ok(*value);
    }
    let names: Vec<String> = values.iter().map(|(name, _)| format!("`{name}`")).collect();
    let guess = did_you_mean(text, values.iter().map(|(name, _)| *name));
    Err(format!("there is no {what} `{text}`{guess} (there are {})", listed(&names)))
}
