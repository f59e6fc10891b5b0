//! The only place where files are opened: read whole within a bound, written next to and put in their place.
//!
//! ```
//! let file = std::env::temp_dir().join(format!("pliant-{}-whole.txt", std::process::id()));
//! pliant_io::files::write(&file, "all of it, or what was there before")?;
//! assert!(std::fs::read_to_string(&file)?.starts_with("all"));
//! std::fs::remove_file(&file)?;
//! # Ok::<(), std::io::Error>(())
//! ```

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// The largest file of text that is read, and the most of all that one includes together, bytes.
pub(crate) const LARGEST_TEXT: u64 = 64 << 20;
/// The largest mesh or model file that is read, bytes.
pub(crate) const LARGEST_BINARY: u64 = 256 << 20;

/// The bytes of a regular file that has at most so many. What is none (a device, a pipe) is not opened, and no more is
/// read than the size that the file says it has: what the system makes up as it is read (`/proc`) says none.
pub(crate) fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let regular = |about: fs::Metadata| match about.is_file() {
        true if about.len() <= most => Ok(about.len()),
        true => Err(io::Error::other(format!("it has {} bytes, but at most {most} are read", about.len()))),
        false if about.is_dir() => Err(io::Error::other("it is a directory, not a file")),
        false => Err(io::Error::other("it is not a regular file")),
    };
    regular(fs::metadata(path)?)?;
    let file = File::open(path)?;
    // Another may be there by now.
    let size = regular(file.metadata()?)?;
    let mut bytes = Vec::with_capacity(size as usize);
    if size > 0 {
        file.take(size).read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

/// Writes a whole file, or leaves what was there: see [`Output`].
pub fn write(path: impl AsRef<Path>, bytes: impl AsRef<[u8]>) -> io::Result<()> {
    let mut output = Output::create(path.as_ref())?;
    output.write_all(bytes.as_ref())?;
    output.finish()
}

const THERE: &str = "it is there until it is dropped";

/// A file that is being written: next to its place, under a name that no other run and no other output of this one has,
/// until [`Output::finish`] puts it there. Dropped before that, it leaves nothing, and what was there stays.
///
/// After an error nothing more is written: what comes is taken and forgotten, and `finish` fails. (A library that writes a
/// tail when it is dropped has no complaint then.)
#[derive(Debug)]
pub struct Output {
    place: PathBuf,
    part: PathBuf,
    file: Option<BufWriter<File>>,
    failed: bool,
}

impl Output {
    /// Starts a file; a link to one is followed.
    pub fn create(path: &Path) -> io::Result<Output> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let place = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
        match fs::metadata(&place) {
            Ok(about) if about.is_dir() => return Err(io::Error::other("it is a directory, not a file")),
            Ok(about) if !about.is_file() => return Err(io::Error::other("it is not a regular file")),
            Ok(about) if about.permissions().readonly() => return Err(io::ErrorKind::PermissionDenied.into()),
            _ => {}
        }
        loop {
            let mut part = OsString::from(&place);
            part.push(format!(".{}-{}.part", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed)));
            let part = PathBuf::from(part);
            match File::options().read(true).write(true).create_new(true).open(&part) {
                Ok(file) => {
                    return Ok(Output { place, part, file: Some(BufWriter::new(file)), failed: false });
                }
                // Of a process of the same number, on another machine or one that was killed.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Puts the file in its place.
    pub fn finish(mut self) -> io::Result<()> {
        self.flush()?;
        self.check()?;
        self.file.as_ref().expect(THERE).get_ref().sync_all()?;
        fs::rename(&self.part, &self.place)?;
        self.part.clear();
        Ok(())
    }

    #[cfg(not(target_family = "wasm"))] // of trajectories
    /// What was written, to be read from its beginning: the end of writing.
    pub(crate) fn reread(&mut self) -> io::Result<&File> {
        self.check()?;
        self.seek(SeekFrom::Start(0))?;
        Ok(self.file.as_ref().expect(THERE).get_ref())
    }

    fn check(&self) -> io::Result<()> {
        if self.failed { Err(io::Error::other("some of it could not be written")) } else { Ok(()) }
    }

    fn unless_failed<T>(
        &mut self,
        otherwise: T,
        what: impl FnOnce(&mut BufWriter<File>) -> io::Result<T>,
    ) -> io::Result<T> {
        match &mut self.file {
            Some(file) if !self.failed => what(file).inspect_err(|_| self.failed = true),
            _ => Ok(otherwise),
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.unless_failed(bytes.len(), |file| file.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.unless_failed((), |file| file.flush())
    }
}

impl Seek for Output {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.unless_failed(0, |file| file.seek(to))
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        if let Some(file) = self.file.take() {
            // Without what its buffer still holds.
            drop(file.into_parts());
        }
        if !self.part.as_os_str().is_empty() {
            // Nothing can be done about one that stays.
            let _ = fs::remove_file(&self.part);
        }
    }
}
