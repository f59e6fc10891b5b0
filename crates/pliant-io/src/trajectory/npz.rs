//! npz: `time` (T), `poses` (T×B×7: position, then quaternion w, x, y, z), `coordinates` (T×C),
//! `body_names` (B) and `joint_names` (C: whose coordinate each column is); where things touch `contacts` (T),
//! `penetration` (T), `residual` (T), `forces` (T×E×3) and `effector_names` (E).
//!
//! An array's shape comes before its numbers, and T is known only at the end. Until then the rows
//! are kept in a file of plain numbers, little end first.

use std::io::{self, BufReader, Read, Write};
use std::ops::Range;

use npyz::{DType, WriteOptions, WriterBuilder};
use pliant_core::mechanism::Mechanism;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::joints;
use crate::files::Output;

type Archive = ZipWriter<Output>;

/// What the rows hold.
#[derive(Debug)]
pub(super) struct Layout {
    body_names: Vec<String>,
    /// The joint of each coordinate.
    joint_names: Vec<String>,
    /// Of contact, if there are columns for it.
    effector_names: Option<Vec<String>>,
    rows: u64,
}

impl Layout {
    pub fn new(mechanism: &Mechanism, contact: bool) -> Layout {
        Layout {
            body_names: mechanism.bodies().iter().map(|body| body.name.clone()).collect(),
            joint_names: joints(mechanism)
                .flat_map(|(name, coordinates)| std::iter::repeat_n(name.to_string(), coordinates))
                .collect(),
            effector_names: contact
                .then(|| mechanism.effectors().iter().map(|effector| effector.name.clone()).collect()),
            rows: 0,
        }
    }

    pub fn write_row(&mut self, out: &mut impl Write, numbers: impl Iterator<Item = f64>) -> io::Result<()> {
        for number in numbers {
            out.write_all(&number.to_le_bytes())?;
        }
        self.rows += 1;
        Ok(())
    }

    /// Writes the archive from the file of rows.
    pub fn write_archive(&self, rows: &mut Output, archive: Output) -> io::Result<Output> {
        let (T, B, C) = (self.rows, self.body_names.len(), self.joint_names.len());
        let mut zip = ZipWriter::new(archive);
        let poses = 1 + 7 * B;
        self.write_columns(&mut zip, "time", &[T], rows, 0..1)?;
        self.write_columns(&mut zip, "poses", &[T, B as u64, 7], rows, 1..poses)?;
        self.write_columns(&mut zip, "coordinates", &[T, C as u64], rows, poses..poses + C)?;
        write_names(&mut zip, "body_names", &self.body_names)?;
        write_names(&mut zip, "joint_names", &self.joint_names)?;
        if let Some(effectors) = &self.effector_names {
            let (at, E) = (poses + C, effectors.len());
            for (k, name) in ["contacts", "penetration", "residual"].into_iter().enumerate() {
                self.write_columns(&mut zip, name, &[T], rows, at + k..at + k + 1)?;
            }
            self.write_columns(&mut zip, "forces", &[T, E as u64, 3], rows, at + 3..at + 3 + 3 * E)?;
            write_names(&mut zip, "effector_names", effectors)?;
        }
        Ok(zip.finish()?)
    }

    /// Writes some columns of the rows as one array.
    fn write_columns(
        &self,
        zip: &mut Archive,
        name: &str,
        shape: &[u64],
        rows: &mut Output,
        columns: Range<usize>,
    ) -> io::Result<()> {
        start(zip, name)?;
        WriteOptions::new_header_only()
            .dtype(scalar("<f8"))
            .shape(shape)
            .writer(&mut *zip)
            .write_header_only()?;
        let mut rows = BufReader::new(rows.reread()?);
        let contact = self.effector_names.as_ref().map_or(0, |effectors| 3 + 3 * effectors.len());
        let mut row = vec![0; 8 * (1 + 7 * self.body_names.len() + self.joint_names.len() + contact)];
        for _ in 0..self.rows {
            rows.read_exact(&mut row)?;
            zip.write_all(&row[8 * columns.start..8 * columns.end])?;
        }
        Ok(())
    }
}

fn write_names(zip: &mut Archive, name: &str, names: &[String]) -> io::Result<()> {
    let longest = names.iter().map(|name| name.chars().count()).max().unwrap_or(0).max(1);
    start(zip, name)?;
    let mut array = WriteOptions::<String>::new()
        .dtype(scalar(&format!("<U{longest}")))
        .shape(&[names.len() as u64])
        .writer(&mut *zip)
        .begin_nd()?;
    array.extend(names.iter().cloned())?;
    array.finish()
}

/// Begins an array of the archive, of any length, not compressed, as NumPy's `savez` does.
fn start(zip: &mut Archive, name: &str) -> io::Result<()> {
    let options = SimpleFileOptions::default().large_file(true);
    zip.start_file(npyz::npz::file_name_from_array_name(name), options)?;
    Ok(())
}

fn scalar(description: &str) -> DType {
    DType::new_scalar(description.parse().expect("a NumPy type"))
}
