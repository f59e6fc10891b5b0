//! Files of Pliant: scenes in TOML, and what is wrong with them, with the place underlined.

use std::path::Path;

use pliant_core::mechanism::Mechanism;

/// Reads a mechanism from a file, by its extension.
pub fn load(path: impl AsRef<Path>) -> Result<Mechanism, String> {
    Err(path.as_ref().display().to_string())
}
