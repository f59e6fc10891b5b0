//! The gallery: parametric mechanisms, one definition for tests, benches, docs and viewer.

use crate::mechanism::Mechanism;

/// One line of the gallery.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// The name on the command line.
    pub name: &'static str,
    /// What it shows, in one line.
    pub about: &'static str,
}

/// Every entry, in the order of the documentation.
pub fn entries() -> &'static [Entry] {
    &[]
}

/// A gallery name, or a size, that does not exist.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct GalleryError {
    message: String,
}

/// The mechanism of a gallery name with optional size, such as `helix:400`.
pub fn build(name: &str) -> Result<Mechanism, GalleryError> {
    Err(GalleryError { message: format!("there is no `{name}` in the gallery") })
}
