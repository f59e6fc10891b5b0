//! Collects everything that is wrong with a file, each key of each element at most once: what a broken
//! value leads to is not an error of its own.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use pliant_core::expression::Expression;
use pliant_core::mechanism::{Geometry, Shape};
use pliant_core::nalgebra::Vector3;
use pliant_core::spatial::SpatialInertia;

use crate::diagnostic::Finding;
use crate::files::{self, LARGEST_BINARY};
use crate::import::mesh::{Mesh, MeshError};
use crate::import::{Context, Options};

/// Marks a value that could not be read and was reported.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reported;

/// A value of the file: absent, there, or wrong and reported.
pub(super) type Optional<T> = Result<Option<T>, Reported>;

pub(super) struct Report<'t> {
    /// The text of the file.
    pub(super) source: &'t str,
    pub(super) findings: Vec<Finding>,
    /// The formulas that were read so far: joints of the same formula share it.
    pub(super) formulas: Vec<Arc<Expression>>,
    /// Where files that the scene names may lie.
    files: Context,
    /// Where the element's header starts, and the key.
    reported: HashSet<(usize, &'static str)>,
}

impl<'t> Report<'t> {
    pub(super) fn new(source: &'t str, file: &str, options: &Options) -> Report<'t> {
        let files = Context::new(String::new(), file, options);
        Report { source, findings: Vec::new(), formulas: Vec::new(), files, reported: HashSet::new() }
    }

    /// The inertia of a shape with a density; `None` without one. That of a mesh is what its triangles enclose, that of a
    /// convex shape what their hull does; otherwise the reason why it has none.
    pub(super) fn inertia(&mut self, shape: &Shape) -> Result<Option<SpatialInertia>, String> {
        let (Some(density), None) = (shape.density, shape.inertia()) else { return Ok(shape.inertia()) };
        let (file, scale) = match &shape.geometry {
            Geometry::Mesh { file, scale } | Geometry::Convex { file, scale } => (file, scale),
            _ => return Err("it encloses nothing".into()),
        };
        let text = |error: MeshError| error.to_string();
        let mut mesh = Mesh::load(self.files.resolve_mesh(file)?, scale).map_err(text)?;
        if matches!(shape.geometry, Geometry::Convex { .. }) {
            mesh = mesh.hull().map_err(text)?;
        }
        let solid = mesh.solid();
        if !mesh.is_closed() {
            let at = |p: Vector3<f64>| format!("({}, {}, {}) m", p.x, p.y, p.z);
            return Err(mesh.open_edges().map_or("it has no triangles".into(), |(count, [from, to])| {
                format!(
                    "{count} of its edges lack a triangle on one side, or have one twice, the first from {} to {}",
                    at(from),
                    at(to)
                )
            }));
        }
        if solid.mass <= 0.0 {
            return Err("its triangles are inside out".into());
        }
        let (mass, inertia) = (solid.mass * density, solid.inertia * density);
        Ok(Some(SpatialInertia { mass, inertia, ..solid }.in_outer(&shape.pose)))
    }

    /// The bytes of a file that the scene names.
    pub(super) fn bytes(&mut self, file: &str) -> Result<Vec<u8>, String> {
        let path = self.files.resolve_mesh(file)?;
        files::read(&path, LARGEST_BINARY).map_err(|error| format!("cannot read it: {error}"))
    }

    /// Reports what is wrong with some text of the file.
    pub(super) fn add(&mut self, span: Range<usize>, message: String, help: String) -> Reported {
        self.findings.push(Finding { span, message, help });
        Reported
    }

    /// Whether this is the first report on a key of the element whose header starts there.
    pub(super) fn first(&mut self, header: usize, field: &'static str) -> bool {
        self.reported.insert((header, field))
    }
}
