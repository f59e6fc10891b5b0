//! Model files (.pliant): a mechanism with the motions that are kept of it, so that choosing them, which takes
//! seconds, is done once.
//!
//! | file | does |
//! |---|---|
//! | `envelope.rs` | the head of a file, by which a whole one is known from any other |
//! | `content.rs` | what is behind it, as an archive |
//!
//! A file holds the mechanism as the text of its scene and what its reader said of it, the motions to the last bit, and, if they
//! were chosen to a bound, what was asked for, the loads that gave motions and those that were left out, and the errors.
//! Versions 1 and 2 held samples of blended models; they are refused.

mod content;
pub(crate) mod envelope;

use std::path::Path;

use pliant_core::linear::ReductionError;
use pliant_core::mechanism::Mechanism;
use pliant_core::nalgebra::DMatrix;
use pliant_core::reduced::{Model, Outcome, Sampling};
use thiserror::Error;

pub use envelope::VERSION;

use crate::{LoadError, SaveError, SceneErrors, extension, files};

/// What a model file holds.
///
/// ```
/// use pliant_core::{gallery, reduced::Reduction};
/// use pliant_io::{ModelError, ModelFile};
///
/// let model = Reduction::at_rest(&gallery::arm()).build()?;
/// let mut bytes = ModelFile::new(&model, None).to_bytes(); // or save("arm.pliant")
///
/// let file = ModelFile::from_bytes(&bytes)?; // or load("arm.pliant")
/// assert_eq!(file.model()?.columns(), model.columns());
///
/// *bytes.last_mut().ok_or("empty")? ^= 1;
/// assert_eq!(ModelFile::from_bytes(&bytes), Err(ModelError::Damaged));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ModelFile {
    /// The mechanism.
    pub mechanism: Mechanism,
    /// The motions, one column each, with a row for each coordinate of the mechanism.
    pub motions: DMatrix<f64>,
    /// What was asked for and what came out, if motions were chosen to a bound.
    pub report: Option<(Sampling, Outcome)>,
}

/// What is wrong with a model file.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum ModelError {
    /// There is nothing in it.
    #[error("it is empty, not a model file")]
    Empty,
    /// It does not begin as a model file does.
    #[error("it is not a model file")]
    Foreign,
    /// It is of another version.
    #[error(
        "it is a model file of version {0}, but this program reads version {VERSION}: build the model again from its mechanism"
    )]
    Version(u32),
    /// It ends too early.
    #[error("it is truncated: it has {has} bytes of {whole}")]
    Short {
        /// Bytes that are there.
        has: u64,
        /// Bytes that there should be.
        whole: u64,
    },
    /// It continues beyond its end.
    #[error("it has more bytes than the {0} that it should have")]
    Long(u64),
    /// Its bytes are not those that were written.
    #[error("it is damaged: its checksum does not match")]
    Damaged,
    /// It is whole, but no model.
    #[error("its content is not a valid model: {0}")]
    Content(String),
    /// Its scene has errors.
    #[error("its scene is not a valid mechanism:\n{0}")]
    Scene(SceneErrors),
}

impl ModelFile {
    /// What there is to write of a model.
    pub fn new(model: &Model, report: Option<(Sampling, Outcome)>) -> ModelFile {
        ModelFile { mechanism: model.mechanism().clone(), motions: model.columns(), report }
    }

    /// The model: the same bits as that which was written.
    pub fn model(&self) -> Result<Model, ReductionError> {
        Model::from_columns(&self.mechanism, &self.motions)
    }

    /// The bytes of a file.
    pub fn to_bytes(&self) -> Vec<u8> {
        envelope::seal(&content::write(self), &envelope::MODEL)
    }

    /// Reads the bytes of a file.
    pub fn from_bytes(bytes: &[u8]) -> Result<ModelFile, ModelError> {
        content::read(envelope::open(bytes, &envelope::MODEL)?)
    }

    /// Reads a file, whatever its extension.
    pub fn load(path: impl AsRef<Path>) -> Result<ModelFile, LoadError> {
        let path = path.as_ref();
        if path.is_dir() {
            return Err(LoadError::Directory(path.to_path_buf()));
        }
        let bytes = files::read(path, files::LARGEST_BINARY)
            .map_err(|reason| LoadError::Unreadable { path: path.to_path_buf(), reason })?;
        ModelFile::from_bytes(&bytes)
            .map_err(|reason| LoadError::Model { path: path.to_path_buf(), reason: Box::new(reason) })
    }

    /// Writes a file, whose extension is .pliant. A file that cannot be written whole leaves what was there before.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), SaveError> {
        let path = path.as_ref();
        if !is_model(path) {
            return Err(SaveError::NotAModel { path: path.to_path_buf() });
        }
        files::write(path, self.to_bytes())
            .map_err(|reason| SaveError::Unwritable { path: path.to_path_buf(), reason })
    }
}

/// Whether a path is that of a model file.
pub fn is_model(path: &Path) -> bool {
    extension(path).as_deref() == Some("pliant")
}
