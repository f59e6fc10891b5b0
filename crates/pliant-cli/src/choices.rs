//! Options whose value is one of a few names.

use std::str::FromStr;

use pliant::contact::Solver;
use pliant::linear::{Method, Reconstruction};
pub use pliant::shared::words::did_you_mean;

use crate::page::text::listed;

/// How many modes a linear model keeps in addition to the motions of its effectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Modes {
    /// So many of each independent part.
    Count(usize),
    /// All that the time step can follow.
    Auto,
}

impl FromStr for Modes {
    type Err = String;

    fn from_str(text: &str) -> Result<Modes, String> {
        if text == "auto" {
            return Ok(Modes::Auto);
        }
        text.parse()
            .map(Modes::Count)
            .map_err(|_| "it must be a whole number, zero or above, or `auto`".into())
    }
}

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
