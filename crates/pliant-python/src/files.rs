//! Mechanisms from files, from text and from the gallery; the files of their shapes, also in pickles.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use numpy::{PyArray2, PyArrayMethods};
use pliant::contact::{Surface, Surfaces};
use pliant::mechanism::Mechanism as Inner;
use pliant::{gallery, io};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use crate::arrays;
use crate::errors::{guarded, input, unloaded, warn};
use crate::mechanism::Mechanism;

/// Where the files of a mechanism's shapes are.
#[derive(Clone, Default)]
pub struct Files {
    /// Its own file, absolute; empty if it is of none.
    origin: PathBuf,
    options: io::Options,
    /// What a pickle has brought of them.
    brought: Option<Arc<Surfaces>>,
}

/// The same in a pickle: file, packages, and points and triangles by name.
pub type PickledFiles = (PathBuf, Vec<PathBuf>, BTreeMap<String, Mesh>);

/// Points and triangles.
pub type Mesh = (Py<PyArray2<f64>>, Py<PyArray2<u32>>);

impl Files {
    /// Of a file, as it was given: that is where it is also after a change of the folder.
    pub fn new(origin: &Path, options: io::Options) -> Files {
        let origin = match origin == Path::new("") {
            true => PathBuf::new(),
            false => std::path::absolute(origin).unwrap_or_else(|_| origin.into()),
        };
        Files { origin, options, brought: None }
    }

    /// Surfaces of the shapes of a mechanism.
    pub fn surfaces(&self, mechanism: &Inner) -> PyResult<Surfaces> {
        match &self.brought {
            Some(brought) => Ok(Surfaces::clone(brought)),
            None => io::surfaces(mechanism, &self.origin, &self.options).map_err(input),
        }
    }

    /// With the surfaces, if they can be read: another machine does not have their files.
    pub fn pickled(&self, py: Python<'_>, mechanism: &Inner) -> PyResult<PickledFiles> {
        let mut meshes = BTreeMap::new();
        for (name, surface) in py.detach(|| self.surfaces(mechanism)).unwrap_or_default() {
            let points = arrays::rows(py, surface.points.into_iter())?;
            let triangles = arrays::rows(py, surface.triangles.into_iter())?;
            meshes.insert(name, (points.unbind(), triangles.unbind()));
        }
        Ok((self.origin.clone(), self.options.packages.clone(), meshes))
    }

    /// Of a pickle.
    pub fn unpickled(py: Python<'_>, (origin, packages, meshes): PickledFiles) -> PyResult<Files> {
        let mut brought = Surfaces::new();
        for (name, (points, triangles)) in meshes {
            let (points, triangles) = (points.bind(py).readonly(), triangles.bind(py).readonly());
            let wrong = || input(format!("files: `{name}` is not a valid surface"));
            let (points, triangles) = (points.as_array(), triangles.as_array());
            if points.ncols() != 3 || triangles.ncols() != 3 {
                return Err(wrong());
            }
            let count = points.nrows();
            if triangles.iter().any(|corner| *corner as usize >= count) {
                return Err(wrong());
            }
            let points = points.rows().into_iter().map(|row| [row[0], row[1], row[2]]).collect();
            let triangles = triangles.rows().into_iter().map(|row| [row[0], row[1], row[2]]).collect();
            brought.insert(name, Surface { points, triangles });
        }
        let brought = (!brought.is_empty()).then(|| Arc::new(brought));
        Ok(Files { origin, options: io::Options { packages, ..io::Options::default() }, brought })
    }

    /// The name of the file in errors.
    pub fn name(&self) -> String {
        self.origin.with_extension("toml").display().to_string()
    }

    /// How files are read.
    pub fn options(&self) -> &io::Options {
        &self.options
    }
}

/// Reads a mechanism from a file: a scene (.toml), a robot (.urdf, .xml of MJCF, .sdf) or a model file (.pliant).
///
/// free_base: frees the root of a robot file.
/// packages: additional folders of meshes and packages.
/// What was left out or repaired is a `PliantWarning`.
///
/// >>> m = pliant.load("hand.urdf")
#[pyfunction]
#[pyo3(signature = (path, *, free_base=false, packages=Vec::new()))]
pub fn load(py: Python<'_>, path: PathBuf, free_base: bool, packages: Vec<PathBuf>) -> PyResult<Mechanism> {
    guarded(|| {
        let options = io::Options { free_base, packages, ..io::Options::default() }.with_ros_packages();
        let inner = py.detach(|| io::load_with(&path, &options)).map_err(unloaded)?;
        warn(py, inner.reader_warnings().iter().map(String::as_str))?;
        Ok(Mechanism::new(inner, Files::new(&path, options)))
    })
}

/// Reads a mechanism from the text of a file.
///
/// format: "toml", "urdf", "mjcf" or "sdf".
/// path: the file to which relative paths in the text refer.
///
/// >>> pliant.parse(pliant.gallery.arm().to_toml(), "toml").name
/// 'arm'
#[pyfunction]
#[pyo3(signature = (text, format="toml", path=PathBuf::new(), packages=Vec::new()))]
pub fn parse(
    py: Python<'_>,
    text: &str,
    format: &str,
    path: PathBuf,
    packages: Vec<PathBuf>,
) -> PyResult<Mechanism> {
    guarded(|| {
        let options = io::Options { packages, ..io::Options::default() }.with_ros_packages();
        let extension = match format {
            "toml" => "toml",
            "urdf" => "urdf",
            "mjcf" => "xml",
            "sdf" => "sdf",
            _ => {
                return Err(input(format!(
                    "format: there is no `{format}` (there are `toml`, `urdf`, `mjcf` and `sdf`)"
                )));
            }
        };
        let named = if path == Path::new("") { PathBuf::from(format!("text.{extension}")) } else { path };
        let name = named.with_extension(extension).display().to_string();
        let read = py.detach(|| match extension {
            "toml" => io::scene::read_with(text, &name, &options),
            _ => io::import::read(text, &name, &options),
        });
        let inner = read.map_err(input)?;
        warn(py, inner.reader_warnings().iter().map(String::as_str))?;
        Ok(Mechanism::new(inner, Files::new(&named, options)))
    })
}

/// A mechanism of what its pickle holds: the text of its scene file, its other files (its own place, packages, points and triangles of
/// meshes by name), and what its reader said (warnings, notes).
#[pyfunction]
pub fn mechanism_from_text(
    py: Python<'_>,
    text: &str,
    files: PickledFiles,
    remarks: (Vec<String>, Vec<String>),
) -> PyResult<Mechanism> {
    guarded(|| {
        let files = Files::unpickled(py, files)?;
        let inner = io::scene::read_with(text, &files.name(), files.options()).map_err(input)?;
        Ok(Mechanism::new(inner.with_remarks(remarks.0, remarks.1), files))
    })
}

/// The mechanism of a gallery name with optional size, such as "helix:400".
#[pyfunction]
#[pyo3(signature = (name, size=None))]
pub fn from_gallery(name: &str, size: Option<&Bound<'_, PyAny>>) -> PyResult<Mechanism> {
    guarded(|| {
        let name = match size {
            None => name.to_string(),
            Some(size) => {
                let size: i64 = size.extract().map_err(|_| {
                    PyTypeError::new_err(format!("size: expected a whole number of links, got {size}"))
                })?;
                format!("{name}:{size}")
            }
        };
        gallery::build(&name).map(Mechanism::of_gallery).map_err(input)
    })
}

/// Names of the gallery's mechanisms and scenes, what each shows, and its default size if it has sizes.
#[pyfunction]
pub fn gallery_entries() -> Vec<(&'static str, &'static str, Option<usize>)> {
    let entries = gallery::entries().iter().chain(gallery::scenes());
    entries.map(|entry| (entry.name, entry.about, entry.size.map(|size| size.default))).collect()
}
