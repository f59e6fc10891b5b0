//! From a scene or robot file to something that moves, in one call.

use std::path::Path;

use pliant_core::engines::{Engine, EngineError};
use pliant_io::{LoadError, SurfaceError, import, load, surfaces};

use crate::Moving;
use crate::shared::choosing;

/// Why a file does not move.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// It cannot be loaded.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// A surface that it touches with cannot be read.
    #[error(transparent)]
    Surface(#[from] SurfaceError),
    /// The engine does not take it.
    #[error(transparent)]
    Engine(#[from] EngineError),
}

/// What a scene file (.toml), a robot file (.urdf, .xml, .sdf) or a model file (.pliant) describes, ready to step under its gravity: with
/// contact if something in it can touch, and by the engine that `pliant simulate` takes if none is named.
///
/// ```
/// use pliant::prelude::*;
///
/// let file = std::env::temp_dir().join(format!("pliant-{}-open.toml", std::process::id()));
/// io::save(&gallery::gripper_pick(), &file)?;
/// let mut moving = pliant::open(&file, None)?;
/// std::fs::remove_file(&file)?;
/// (0..50).try_for_each(|_| moving.simulation().step(0.008))?;
/// let scene = moving.scene().ok_or("nothing touches")?;
/// assert!(!scene.world().contacts().is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn open(path: impl AsRef<Path>, engine: Option<Engine>) -> Result<Moving, OpenError> {
    let path = path.as_ref();
    let mechanism = load(path)?;
    let chosen = || choosing::choose(mechanism.take_apart().held.as_ref()).0;
    let engine = engine.unwrap_or_else(chosen);
    let surfaces = surfaces(&mechanism, path, &import::Options::default())?;
    Ok(Moving::new(&mechanism, surfaces, engine)?)
}
