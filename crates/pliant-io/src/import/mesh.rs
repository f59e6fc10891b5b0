//! Triangles of a mesh file: their bounds, volume, inertia and convex hull.
//!
//! STL (binary and ASCII) and OBJ are read by `mesh-loader`, with `stl_io` for ASCII STL that it rejects;
//! DAE by a reader of our own (`dae.rs`), since that of `mesh-loader` panics on indices out of range and never
//! ends on arrays of names. Lengths are as the file has them; only DAE has a unit.
//!
//! ```
//! use pliant_io::import::mesh::Mesh;
//!
//! let tetrahedron = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n";
//! let mesh = Mesh::read(tetrahedron.as_bytes(), "obj")?;
//! assert!(mesh.is_closed());
//! assert!((mesh.solid().mass - 1.0 / 6.0).abs() < 1e-12); // of density 1
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod dae;

use std::collections::HashMap;
use std::io::Cursor;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use pliant_core::contact::{FINEST, convex_hull};
use pliant_core::nalgebra::{Matrix3, Vector3};
use pliant_core::spatial::SpatialInertia;
use thiserror::Error;

use crate::files::{self, LARGEST_BINARY};
use crate::solids;

/// The most triangles of a mesh.
const MOST_TRIANGLES: usize = 8_000_000;

/// Why a mesh cannot be had.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum MeshError {
    /// The file cannot be read at all.
    #[error("cannot read `{}`: {reason}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said, or that the file is too large.
        reason: String,
    },
    /// The file is no mesh of its format.
    #[error("{reason}")]
    Malformed {
        /// What is wrong.
        reason: String,
    },
    /// The format is none that is read.
    #[error("meshes are read from .stl, .obj, .dae, .msh and .npz files, not from `{extension}`")]
    Unknown {
        /// The file's extension.
        extension: String,
    },
    /// All points lie in one plane, on one line or on one point, so that there is no hull.
    #[error("all points lie in one plane")]
    Flat,
}

fn malformed(reason: impl Into<String>) -> MeshError {
    MeshError::Malformed { reason: reason.into() }
}

/// Triangles on points that are each there once. Seen from outside, a triangle runs anticlockwise.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mesh {
    /// Points, m.
    pub points: Vec<Vector3<f64>>,
    /// Positions of three points each.
    pub triangles: Vec<[u32; 3]>,
}

impl Mesh {
    /// Reads a file, by its extension, with each axis times a factor.
    pub fn load(path: impl AsRef<Path>, scale: &Vector3<f64>) -> Result<Mesh, MeshError> {
        let path = path.as_ref();
        let unreadable = |reason: String| MeshError::Unreadable { path: path.to_path_buf(), reason };
        let bytes = files::read(path, LARGEST_BINARY).map_err(|reason| unreadable(reason.to_string()))?;
        let extension = path.extension().unwrap_or_default().to_string_lossy();
        Ok(Mesh::read(&bytes, &extension)?.scaled(scale))
    }

    /// Reads the bytes of a file of an extension, in any case: `stl`, `obj` or `dae`; of `msh` the triangles around its tetrahedra, of `npz` those
    /// of measured Green's functions.
    pub fn read(bytes: &[u8], extension: &str) -> Result<Mesh, MeshError> {
        let mut builder = Builder::default();
        match extension.to_lowercase().as_str() {
            "msh" => {
                return solids::tetrahedra(bytes, 1.0).map(|mesh| solids::boundary(&mesh)).map_err(malformed);
            }
            "npz" => {
                return solids::Measured::read(bytes).map(|measured| measured.surface).map_err(malformed);
            }
            "stl" => read_stl(bytes, &mut builder)?,
            "obj" => read_obj(bytes, &mut builder)?,
            "dae" => dae::read(bytes, &mut builder)?,
            _ => return Err(MeshError::Unknown { extension: format!(".{extension}") }),
        }
        if builder.mesh.triangles.is_empty() {
            return Err(malformed("it has no triangles"));
        }
        Ok(builder.mesh)
    }

    /// Scaled along the axes; a mirrored one is turned inside out again.
    pub fn scaled(mut self, scale: &Vector3<f64>) -> Mesh {
        self.points.iter_mut().for_each(|point| point.component_mul_assign(scale));
        if scale.product() < 0.0 {
            self.triangles.iter_mut().for_each(|[_, b, c]| std::mem::swap(b, c));
        }
        self
    }

    /// Lowest and highest coordinates; `None` without points.
    pub fn bounds(&self) -> Option<(Vector3<f64>, Vector3<f64>)> {
        let first = *self.points.first()?;
        Some(self.points.iter().fold((first, first), |(low, high), point| (low.inf(point), high.sup(point))))
    }

    /// Whether every edge has one triangle on either side, so that there is an inside.
    pub fn is_closed(&self) -> bool {
        !self.triangles.is_empty() && self.open_edges().is_none()
    }

    /// How many edges have more triangles on one side than on the other, and the two ends of the first.
    pub fn open_edges(&self) -> Option<(usize, [Vector3<f64>; 2])> {
        let mut open: HashMap<(u32, u32), i32> = HashMap::new();
        for &[a, b, c] in &self.triangles {
            for (from, to) in [(a, b), (b, c), (c, a)] {
                let (edge, side) = if from < to { ((from, to), 1) } else { ((to, from), -1) };
                *open.entry(edge).or_default() += side;
            }
        }
        open.retain(|_, sides| *sides != 0);
        let &(from, to) = open.keys().min()?;
        Some((open.len(), [from, to].map(|i| self.points[i as usize])))
    }

    /// Mass, centre of mass and inertia of what the triangles enclose, per unit of density. The mass is
    /// the volume; it is negative where the triangles are inside out. Of a mesh that is not closed it is
    /// that of the cones from the centre of its bounds.
    pub fn solid(&self) -> SpatialInertia {
        let Some((low, high)) = self.bounds() else { return SpatialInertia::ZERO };
        // Near the mesh, so that nothing is lost to cancellation.
        let o = (low + high) * 0.5;
        let (mut V, mut m, mut C) = (0.0, Vector3::zeros(), Matrix3::zeros());
        for triangle in &self.triangles {
            let [a, b, c] = triangle.map(|i| self.points[i as usize] - o);
            // Divergence theorem, the tetrahedra (o, a, b, c) with d = 6 V:
            // ∫dV = d/6, ∫x dV = d/24 s, ∫x xᵀ dV = d/120 (a aᵀ + b bᵀ + c cᵀ + s sᵀ), s = a + b + c.
            let (d, s) = (a.dot(&b.cross(&c)), a + b + c);
            V += d / 6.0;
            m += s * (d / 24.0);
            C +=
                (a * a.transpose() + b * b.transpose() + c * c.transpose() + s * s.transpose()) * (d / 120.0);
        }
        if V == 0.0 {
            return SpatialInertia { center_of_mass: o, ..SpatialInertia::ZERO };
        }
        let c = m / V;
        let about_center = C - c * c.transpose() * V;
        let inertia = Matrix3::identity() * about_center.trace() - about_center;
        SpatialInertia { mass: V, center_of_mass: o + c, inertia }
    }

    /// The convex hull of the points.
    pub fn hull(&self) -> Result<Mesh, MeshError> {
        let (points, triangles) = convex_hull(&self.points, FINEST).ok_or(MeshError::Flat)?;
        Ok(Mesh { points, triangles })
    }
}

/// Takes in triangles; points with the same coordinates become one, triangles without area go.
#[derive(Default)]
struct Builder {
    mesh: Mesh,
    index: HashMap<[u64; 3], u32>,
}

impl Builder {
    fn triangle(&mut self, corners: [Vector3<f64>; 3]) -> Result<(), MeshError> {
        if corners.iter().any(|point| point.iter().any(|x| !x.is_finite())) {
            return Err(malformed("a coordinate is not finite"));
        }
        if self.mesh.triangles.len() == MOST_TRIANGLES {
            return Err(malformed(format!("it has more than {MOST_TRIANGLES} triangles")));
        }
        let triangle = corners.map(|point| {
            // −0 is 0.
            let point = point.map(|x| x + 0.0);
            *self.index.entry([point.x, point.y, point.z].map(f64::to_bits)).or_insert_with(|| {
                self.mesh.points.push(point);
                (self.mesh.points.len() - 1) as u32
            })
        });
        let [a, b, c] = triangle;
        if a != b && b != c && c != a {
            self.mesh.triangles.push(triangle);
        }
        Ok(())
    }

    fn scene(&mut self, scene: &mesh_loader::Scene) -> Result<(), MeshError> {
        for mesh in &scene.meshes {
            for face in &mesh.faces {
                let corner = |i: u32| mesh.vertices.get(i as usize).map(|v| Vector3::from(*v).cast::<f64>());
                let [Some(a), Some(b), Some(c)] = face.map(corner) else {
                    return Err(malformed("a triangle refers to a missing point"));
                };
                self.triangle([a, b, c])?;
            }
        }
        Ok(())
    }
}

/// A library's answer; that it breaks down is a fault of the file.
fn guarded<T>(read: impl FnOnce() -> std::io::Result<T>) -> Result<T, MeshError> {
    match catch_unwind(AssertUnwindSafe(read)) {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => Err(malformed(error.to_string())),
        Err(_) => Err(malformed("it is damaged")),
    }
}

fn read_stl(bytes: &[u8], builder: &mut Builder) -> Result<(), MeshError> {
    let loader: mesh_loader::Loader = mesh_loader::Loader::default();
    let error = match guarded(|| loader.load_stl_from_slice(bytes, "")) {
        Ok(scene) if scene.meshes.iter().any(|mesh| !mesh.faces.is_empty()) => return builder.scene(&scene),
        Ok(_) => malformed("it has no triangles"),
        Err(error) => error,
    };
    if !bytes.trim_ascii_start().get(..5).is_some_and(|word| word.eq_ignore_ascii_case(b"solid")) {
        return Err(error);
    }
    let triangles = guarded(|| {
        // It knows the words of the format in small letters only, and no solid without a name.
        let mut text = bytes.trim_ascii_start().to_ascii_lowercase();
        if matches!(text.get(5), Some(b'\n' | b'\r')) {
            text.splice(5..5, *b" a");
        }
        let mut text = Cursor::new(text);
        stl_io::create_stl_reader(&mut text)?.take(MOST_TRIANGLES + 1).collect::<std::io::Result<Vec<_>>>()
    });
    // What the first reader said is more to the point.
    for triangle in triangles.map_err(|_| error)? {
        builder.triangle(triangle.vertices.map(|v| Vector3::new(v[0], v[1], v[2]).cast()))?;
    }
    Ok(())
}

fn read_obj(bytes: &[u8], builder: &mut Builder) -> Result<(), MeshError> {
    let loader: mesh_loader::Loader = mesh_loader::Loader::default();
    // Materials are files of their own: they are taken as empty, nothing else is opened.
    let scene = guarded(|| loader.load_obj_from_slice_with_reader(bytes, "", |_| Ok(Vec::new())))?;
    builder.scene(&scene)
}

#[cfg(test)]
mod tests;
