//! Files of Pliant: scenes in TOML, robots in URDF, MJCF and SDF, and what is wrong with them, with the
//! place underlined; the surfaces that shapes have in files; reduced models; and trajectories.
//!
//! [`load`] and [`save`] go by a file's extension; [`scene::read`], [`import::read`] and
//! [`scene::write`] work on text.
//!
//! ```
//! let text = pliant_io::scene::write(&pliant_core::gallery::two_link());
//! let again = pliant_io::scene::read(&text, "two-link.toml")?;
//! assert_eq!(again, pliant_core::gallery::two_link()); // to the last bit
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod diagnostic;
pub mod files;
pub mod import;
pub mod model;
pub mod scene;
mod solids;
mod surfaces;
#[cfg(not(target_family = "wasm"))]
pub mod trajectory;
mod zones;

use std::io;
use std::path::{Path, PathBuf};

use pliant_core::mechanism::Mechanism;
use thiserror::Error;

pub use diagnostic::{Diagnostic, SceneErrors};
pub use import::Options;
pub use model::{ModelError, ModelFile};
pub use surfaces::{SurfaceError, drawn_surfaces, surfaces};
pub use zones::ZoneCache;

/// Why a file could not be loaded.
#[derive(Debug, Error)]
pub enum LoadError {
    /// The file cannot be read at all.
    #[error("cannot read `{}`: {reason}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        #[source]
        reason: io::Error,
    },
    /// The path is a directory.
    #[error("cannot read `{}`: it is a directory, not a file", .0.display())]
    Directory(PathBuf),
    /// The file is not UTF-8 text.
    #[error("cannot read `{}`: it is not UTF-8 text (first broken byte on line {line})", path.display())]
    NotText {
        /// The file.
        path: PathBuf,
        /// The line of the first byte that is no text, from 1.
        line: usize,
    },
    /// The extension is not one that this version reads.
    #[error("cannot read `{}`: {}", path.display(), unsupported(.path, "reads"))]
    Unsupported {
        /// The file.
        path: PathBuf,
    },
    /// The scene has errors.
    #[error(transparent)]
    Scene(#[from] SceneErrors),
    /// The model file is none, or damaged.
    #[error("cannot read `{}`: {reason}", path.display())]
    Model {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: Box<ModelError>,
    },
}

/// Why a mechanism could not be saved.
#[derive(Debug, Error)]
pub enum SaveError {
    /// The file cannot be written.
    #[error("cannot write `{}`: {reason}", path.display())]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        #[source]
        reason: io::Error,
    },
    /// The extension is not one that this version writes.
    #[error("cannot write `{}`: {}", path.display(), unsupported(.path, "writes"))]
    Unsupported {
        /// The file.
        path: PathBuf,
    },
    /// The extension is not that of a model file.
    #[error("cannot write `{}`: a model file's extension is .pliant", path.display())]
    NotAModel {
        /// The file.
        path: PathBuf,
    },
}

/// Reads a mechanism from a file, by its extension: .toml, .urdf, .xml (MJCF), .sdf or .pliant.
///
/// ```
/// use pliant_io::{LoadError, load, save};
///
/// let gripper = pliant_core::gallery::gripper();
/// let file = std::env::temp_dir().join(format!("gripper-{}.toml", std::process::id()));
/// save(&gripper, &file)?;
/// let again = load(&file)?;
/// std::fs::remove_file(&file)?;
/// assert_eq!(again, gripper); // to the last bit
///
/// assert!(matches!(load("gripper.step"), Err(LoadError::Unsupported { .. })));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn load(path: impl AsRef<Path>) -> Result<Mechanism, LoadError> {
    load_with(path, &Options::default())
}

/// The same, with what the user says about a robot file.
pub fn load_with(path: impl AsRef<Path>, options: &Options) -> Result<Mechanism, LoadError> {
    let path = path.as_ref();
    let owned = || path.to_path_buf();
    if path.is_dir() {
        return Err(LoadError::Directory(owned()));
    }
    if model::is_model(path) {
        return Ok(ModelFile::load(path)?.mechanism);
    }
    let is_robot = import::Format::of(path).is_some();
    if !is_scene(path) && !is_robot {
        return Err(LoadError::Unsupported { path: owned() });
    }
    let bytes = files::read(path, files::LARGEST_TEXT)
        .map_err(|reason| LoadError::Unreadable { path: owned(), reason })?;
    let name = path.display().to_string();
    if is_robot {
        // Comments in other encodings are common, and other tools never look at them.
        let text = String::from_utf8_lossy(&bytes);
        return Ok(import::read(&text, &name, options)?);
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        LoadError::NotText { path: owned(), line: 1 + valid.iter().filter(|b| **b == b'\n').count() }
    })?;
    Ok(scene::read_with(&text, &name, options)?)
}

/// Writes a mechanism to a file, by its extension. A file that cannot be written whole leaves what was there before.
pub fn save(mechanism: &Mechanism, path: impl AsRef<Path>) -> Result<(), SaveError> {
    let path = path.as_ref();
    if !is_scene(path) {
        return Err(SaveError::Unsupported { path: path.to_path_buf() });
    }
    files::write(path, scene::write(mechanism))
        .map_err(|reason| SaveError::Unwritable { path: path.to_path_buf(), reason })
}

fn extension(path: &Path) -> Option<String> {
    Some(path.extension()?.to_string_lossy().to_lowercase())
}

fn is_scene(path: &Path) -> bool {
    extension(path).as_deref() == Some("toml")
}

/// What an extension means, and what is supported in its place.
fn unsupported(path: &Path, does: &str) -> String {
    let instead = match does {
        "reads" => {
            "this version reads scene files (.toml), robot files (.urdf, .xml, .sdf) and model files (.pliant)".into()
        }
        does => format!("this version {does} only scene files (.toml)"),
    };
    let format = match extension(path).as_deref() {
        Some("urdf") => "URDF",
        Some("xml") => "MJCF",
        Some("sdf") => "SDF",
        Some("pliant") => return "model files (.pliant) hold reduced models, not mechanisms alone".into(),
        Some(other) => return format!("the extension `.{other}` is unknown; {instead}"),
        None => return format!("it has no extension; {instead}"),
    };
    format!("{format} files are not supported yet; {instead}")
}
