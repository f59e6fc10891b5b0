//! Trajectories: one row for each state of a motion, as CSV or as npz (NumPy), by the file's extension. Where things
//! touch, a row also says how.
//!
//! Rows go to a file of the run's own next to it as they come ([`Output`]), so that memory stays small however long the
//! motion is; [`Trajectory::finish`] puts the whole file in its place, whatever was there before. A run that fails to write
//! leaves nothing; one that is killed leaves only its `.part`.
//!
//! ```
//! use pliant_core::{articulated, engine::Simulation as _, gallery};
//! use pliant_io::trajectory::Trajectory;
//!
//! let arm = gallery::arm();
//! let mut simulation = articulated::Model::new(&arm).simulate();
//! let file = std::env::temp_dir().join(format!("pliant-{}-arm.csv", std::process::id()));
//! let mut rows = Trajectory::create(&file, &arm, false)?;
//! rows.push(simulation.state(), None)?;
//! simulation.step(0.01)?;
//! rows.push(simulation.state(), None)?;
//! rows.finish()?;
//! assert_eq!(std::fs::read_to_string(&file)?.lines().count(), 3); // names, start, one step
//! std::fs::remove_file(&file)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod csv;
mod npz;

use std::io;
use std::path::{Path, PathBuf};

use pliant_core::engine::State;
use pliant_core::mechanism::Mechanism;
use pliant_core::spatial::Pose;
use thiserror::Error;

use crate::files::Output;

/// Why a trajectory could not be written.
#[derive(Debug, Error)]
pub enum TrajectoryError {
    /// The file cannot be written.
    #[error("cannot write `{}`: {reason}", path.display())]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        #[source]
        reason: io::Error,
    },
    /// The path is a directory.
    #[error("cannot write `{}`: it is a directory, not a file", .0.display())]
    Directory(PathBuf),
    /// The extension is not one of a trajectory.
    #[error("cannot write `{}`: a trajectory is a .csv or an .npz file", .0.display())]
    Unsupported(PathBuf),
}

/// What touched in the step before a state; all zero before the first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Touch {
    /// Number of contacts that pushed.
    pub pushing: usize,
    /// How deep the deepest was, m.
    pub penetration: f64,
    /// How far the impulses are from Coulomb's law, m/s.
    pub residual: f64,
    /// The force of all contacts of the body that carries an effector, one for each effector, world axes, N.
    pub forces: Vec<[f64; 3]>,
}

impl Touch {
    /// In the order of the columns.
    fn numbers(&self) -> impl Iterator<Item = f64> {
        [self.pushing as f64, self.penetration, self.residual]
            .into_iter()
            .chain(self.forces.iter().copied().flatten())
    }
}

/// A trajectory file that is being written.
#[derive(Debug)]
pub struct Trajectory {
    path: PathBuf,
    rows: Output,
    format: Format,
}

#[derive(Debug)]
enum Format {
    Csv,
    Npz(npz::Layout),
}

impl Trajectory {
    /// Starts a trajectory, with columns for contact or without; what cannot be written is found out here.
    pub fn create(
        path: impl AsRef<Path>,
        mechanism: &Mechanism,
        contact: bool,
    ) -> Result<Trajectory, TrajectoryError> {
        let path = path.as_ref().to_path_buf();
        let format = match crate::extension(&path).as_deref() {
            Some("csv") => Format::Csv,
            Some("npz") => Format::Npz(npz::Layout::new(mechanism, contact)),
            _ => return Err(TrajectoryError::Unsupported(path)),
        };
        if path.is_dir() {
            return Err(TrajectoryError::Directory(path));
        }
        let start = || -> io::Result<Output> {
            let mut rows = Output::create(&path)?;
            if let Format::Csv = format {
                csv::write_header(&mut rows, mechanism, contact)?;
            }
            Ok(rows)
        };
        match start() {
            Ok(rows) => Ok(Trajectory { path, rows, format }),
            Err(reason) => Err(TrajectoryError::Unwritable { path, reason }),
        }
    }

    /// Adds a row, with what touched if the trajectory has columns for it.
    pub fn push(&mut self, state: &State, touch: Option<&Touch>) -> Result<(), TrajectoryError> {
        let numbers = numbers(state, touch);
        let written = match &mut self.format {
            Format::Csv => csv::write_row(&mut self.rows, numbers),
            Format::Npz(layout) => layout.write_row(&mut self.rows, numbers),
        };
        written.map_err(|reason| TrajectoryError::Unwritable { path: self.path.clone(), reason })
    }

    /// Puts the file in its place.
    pub fn finish(self) -> Result<(), TrajectoryError> {
        let Trajectory { path, mut rows, format } = self;
        let placed = match format {
            Format::Csv => rows.finish(),
            Format::Npz(layout) => {
                Output::create(&path).and_then(|archive| layout.write_archive(&mut rows, archive)?.finish())
            }
        };
        placed.map_err(|reason| TrajectoryError::Unwritable { path, reason })
    }
}

/// All numbers of a row.
fn numbers(state: &State, touch: Option<&Touch>) -> impl Iterator<Item = f64> {
    let poses = state.poses.iter().flat_map(pose_numbers);
    let contact = touch.into_iter().flat_map(Touch::numbers);
    std::iter::once(state.time).chain(poses).chain(state.coordinates.iter().copied()).chain(contact)
}

/// Position, then quaternion w, x, y, z.
fn pose_numbers(pose: &Pose) -> [f64; 7] {
    let (p, q) = (pose.position, pose.rotation);
    [p.x, p.y, p.z, q.w, q.i, q.j, q.k]
}

/// Every joint with the number of its coordinates.
fn joints(mechanism: &Mechanism) -> impl Iterator<Item = (&str, usize)> {
    mechanism.joints().iter().map(|joint| (joint.name.as_str(), joint.freedoms.len()))
}
