//! Green's functions of elastic zones kept in a folder from one run to the next.
//!
//! A file has the head of a model file (`model/envelope.rs`) with a mark of its own, then the text that says what the Green's functions follow from, and
//! the numbers. One that is not whole, or of something else, is as if it were not there, and is replaced.

use std::io;
use std::path::PathBuf;

use pliant_core::elastic::{Material, Solid, SolidParts};
use pliant_core::nalgebra::{Matrix3, Vector3};

use crate::files;
use crate::model::envelope::{self, checksum};

/// Of a file of this folder, and its version: any change of what follows makes another.
const MARK: envelope::Mark = envelope::Mark { magic: *b"plzone\r\n", version: 1 };

/// The largest file that is read, bytes.
const LARGEST: u64 = 4 << 30;

/// A folder of Green's functions.
#[derive(Clone, Debug)]
pub struct ZoneCache {
    folder: PathBuf,
}

impl ZoneCache {
    /// In a folder, which is made once something is kept.
    pub fn new(folder: impl Into<PathBuf>) -> ZoneCache {
        ZoneCache { folder: folder.into() }
    }

    fn path(&self, text: &str) -> PathBuf {
        self.folder.join(format!("{:016x}.zone", checksum(text.as_bytes())))
    }

    /// What was kept for this text; `None` if nothing was, or if it is damaged.
    pub fn get(&self, text: &str) -> Option<Solid> {
        let bytes = files::read(&self.path(text), LARGEST).ok()?;
        let archive = envelope::open(&bytes, &MARK).ok()?;
        let numbers =
            archive.strip_prefix(&(text.len() as u64).to_le_bytes())?.strip_prefix(text.as_bytes())?;
        Solid::from_parts(parts(numbers)?).ok()
    }

    /// Keeps it.
    pub fn put(&self, text: &str, solid: &Solid) -> io::Result<()> {
        std::fs::create_dir_all(&self.folder)?;
        let mut archive = Vec::with_capacity(text.len() + 8 * solid.green().len() + (1 << 16));
        archive.extend((text.len() as u64).to_le_bytes());
        archive.extend(text.as_bytes());
        let counts = [solid.nodes(), solid.points().len(), solid.triangles().len()];
        counts.iter().for_each(|n| archive.extend((*n as u64).to_le_bytes()));
        let material = solid.material();
        let own =
            [material.young(), material.poisson(), material.damping(), material.density(), solid.mass()];
        let (centre, inertia) = (solid.centre(), solid.inertia());
        let floats = own.iter().chain(centre.iter()).chain(inertia.iter());
        let floats = floats.chain(solid.points().iter().flatten()).chain(solid.green());
        floats.for_each(|x| archive.extend(x.to_le_bytes()));
        solid.triangles().iter().flatten().for_each(|i| archive.extend(i.to_le_bytes()));
        files::write(self.path(text), envelope::seal(&archive, &MARK))
    }
}

/// What comes after the text; `None` if it is too short or too long.
fn parts(bytes: &[u8]) -> Option<SolidParts> {
    let (counts, rest) = bytes.split_at_checked(24)?;
    let count = |i: usize| usize::try_from(u64::from_le_bytes(counts[8 * i..][..8].try_into().ok()?)).ok();
    let (nodes, points, triangles) = (count(0)?, count(1)?, count(2)?);
    let square = nodes.checked_mul(3)?.checked_pow(2)?;
    let floats = points.checked_mul(3)?.checked_add(17)?.checked_add(square)?;
    let (floats, indices) = rest.split_at_checked(floats.checked_mul(8)?)?;
    if Some(indices.len()) != triangles.checked_mul(12) {
        return None;
    }
    let floats: Vec<f64> = floats.as_chunks::<8>().0.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect();
    let indices: Vec<u32> =
        indices.as_chunks::<4>().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect();
    let (own, rest) = floats.split_at(17);
    let (places, green) = rest.split_at(3 * points);
    Some(SolidParts {
        material: Material::new(own[0], own[1], own[2], own[3]).ok()?,
        points: places.chunks_exact(3).map(Vector3::from_column_slice).collect(),
        triangles: indices.as_chunks::<3>().0.to_vec(),
        nodes,
        green: green.to_vec(),
        mass: own[4],
        centre: Vector3::from_column_slice(&own[5..8]),
        inertia: Matrix3::from_column_slice(&own[8..17]),
    })
}
