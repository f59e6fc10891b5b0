//! Looks whether a file has changed, and loads it again.

use std::fs;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, SystemTime};

use super::engine::{self, Engine};
use crate::running::Loaded;

/// How often it looks.
const EVERY: Duration = Duration::from_millis(200);

/// Loads a scene; the error is shown in the page as it is, with the place underlined.
type Load = Box<dyn FnMut() -> Result<Loaded, String> + Send>;

/// A scene file, and how it is loaded.
pub struct Watched {
    file: PathBuf,
    load: Load,
    /// How the file was when it was loaded last.
    loaded: Option<Stamp>,
}

/// When a file was changed, and its length.
type Stamp = (SystemTime, u64);

impl Watched {
    /// A file, and how it is loaded; those that it takes in are not watched. It is to be made before the file is loaded for the first time:
    /// what changes from then on is seen.
    pub fn new(file: PathBuf, load: impl FnMut() -> Result<Loaded, String> + Send + 'static) -> Watched {
        let mut watched = Watched { file, load: Box::new(load), loaded: None };
        watched.loaded = watched.stamp();
        watched
    }

    pub(super) fn start(mut self, engine: Engine) -> io::Result<()> {
        let mut seen = self.loaded;
        thread::Builder::new().name("watching".into()).spawn(move || {
            loop {
                thread::sleep(EVERY);
                let now = self.stamp();
                // While it changes from one look to the next, it is being written.
                if now == seen && now != self.loaded {
                    self.loaded = now;
                    let loaded = catch_unwind(AssertUnwindSafe(|| (self.load)()));
                    engine.load(loaded.unwrap_or_else(|panic| Err(engine::defect(&*panic))));
                }
                seen = now;
            }
        })?;
        Ok(())
    }

    /// `None` while there is no file.
    fn stamp(&self) -> Option<Stamp> {
        let about = fs::metadata(&self.file).ok()?;
        Some((about.modified().ok()?, about.len()))
    }
}
