//! `Joint` and `Body`: what a mechanism consists of.

use numpy::{PyArray1, PyArray2};
use pliant::mechanism::{Freedom, Mechanism};
use pyo3::prelude::*;

use crate::arrays;

/// A joint of a mechanism. Units are those of its freedoms: translations (m, N) before rotations (rad, N·m).
#[pyclass(frozen, module = "pliant")]
pub struct Joint {
    pub mechanism: Mechanism,
    pub at: usize,
}

impl Joint {
    fn inner(&self) -> &pliant::mechanism::Joint {
        &self.mechanism.joints()[self.at]
    }

    fn each<'py>(&self, py: Python<'py>, of: impl Fn(&Freedom) -> f64) -> Bound<'py, PyArray1<f64>> {
        arrays::vector(py, &self.inner().freedoms.iter().map(of).collect::<Vec<_>>())
    }
}

#[pymethods]
impl Joint {
    #[getter]
    fn name(&self) -> &str {
        &self.inner().name
    }

    /// hinge, ball, universal, prismatic, cylindrical, planar, fixed, bushing or expression.
    #[getter]
    fn kind(&self) -> &str {
        self.inner().kind.name()
    }

    /// Its parent body, or "world".
    #[getter]
    fn parent(&self) -> &str {
        self.mechanism.parent_name(self.inner())
    }

    /// Its child body.
    #[getter]
    fn child(&self) -> &str {
        &self.mechanism[self.inner().child].name
    }

    /// The range of its coordinates in `positions`: (first, one past the last).
    #[getter]
    fn coordinates(&self) -> (usize, usize) {
        let range = self.inner().coordinates();
        (range.start, range.end)
    }

    /// Spring stiffness of each freedom, N/m or N·m/rad.
    #[getter]
    fn stiffness<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.each(py, |freedom| freedom.stiffness)
    }

    /// Damping of each freedom, N·s/m or N·m·s/rad.
    #[getter]
    fn damping<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.each(py, |freedom| freedom.damping)
    }

    /// Lower limit of each freedom, -inf for none, m or rad.
    #[getter]
    fn lower<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.each(py, |freedom| freedom.lower)
    }

    /// Upper limit of each freedom, inf for none, m or rad.
    #[getter]
    fn upper<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.each(py, |freedom| freedom.upper)
    }

    /// Rest position of the spring of each freedom, m or rad.
    #[getter]
    fn rest<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.each(py, |freedom| freedom.rest)
    }

    fn __repr__(&self) -> String {
        format!(
            "<pliant.Joint {:?}: {} from {:?} to {:?}>",
            self.name(),
            self.kind(),
            self.parent(),
            self.child()
        )
    }
}

/// A body (link) of a mechanism.
#[pyclass(frozen, module = "pliant")]
pub struct Body {
    pub mechanism: Mechanism,
    pub at: usize,
}

impl Body {
    fn inner(&self) -> &pliant::mechanism::Body {
        &self.mechanism.bodies()[self.at]
    }
}

#[pymethods]
impl Body {
    #[getter]
    fn name(&self) -> &str {
        &self.inner().name
    }

    /// kg.
    #[getter]
    fn mass(&self) -> f64 {
        self.inner().inertia.mass
    }

    /// In the link frame, m.
    #[getter]
    fn center_of_mass<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        arrays::vector(py, self.inner().inertia.center_of_mass.as_slice())
    }

    /// About the centre of mass, link axes, 3×3, kg·m².
    #[getter]
    fn inertia<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let I = self.inner().inertia.inertia;
        arrays::rows(py, (0..3).map(|i| [I[(i, 0)], I[(i, 1)], I[(i, 2)]]))
    }

    /// The link frame in the world, in the file's pose: x, y, z (m), quaternion w, x, y, z.
    #[getter]
    fn pose<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        arrays::vector(py, &arrays::seven(&self.inner().pose))
    }

    /// Whether it is free, without a joint to a parent.
    #[getter]
    fn free(&self) -> bool {
        self.inner().free
    }

    fn __repr__(&self) -> String {
        format!("<pliant.Body {:?}: {} kg>", self.name(), self.mass())
    }
}
