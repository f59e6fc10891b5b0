//! The linearization of a step about a state: that of `pliant::linearize`, as matrices of NumPy.

use numpy::{PyArray2, PyReadonlyArray2, PyUntypedArrayMethods};
use pliant::LinearizationError;
use pliant::engine::State as EngineState;
use pliant::nalgebra::DMatrix;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use crate::arrays;
use crate::errors::{guarded, input, not_taken, warn_of};
use crate::mechanism::Mechanism;
use crate::setup::{ByName, inputs, loads};
use crate::simulation::Simulation;
use crate::state::State;

/// A step about a state: x' = A x + B u + B_loads w, y = C x, all as differences from the state. Made by `Mechanism.linearize`. Its matrices are
/// read-only.
#[pyclass(frozen, module = "pliant")]
pub struct Linearization {
    A: Py<PyArray2<f64>>,
    B: Py<PyArray2<f64>>,
    B_loads: Py<PyArray2<f64>>,
    C: Py<PyArray2<f64>>,
    /// Coordinates and outputs.
    sizes: (usize, usize),
    dt: f64,
}

#[pymethods]
impl Linearization {
    /// From positions and velocities to those after a step: 2n×2n.
    #[getter]
    #[pyo3(name = "A")]
    fn A(&self, py: Python<'_>) -> Py<PyArray2<f64>> {
        self.A.clone_ref(py)
    }

    /// From set-points of all coordinates (rad or m) to positions and velocities after a step: 2n×n.
    #[getter]
    #[pyo3(name = "B")]
    fn B(&self, py: Python<'_>) -> Py<PyArray2<f64>> {
        self.B.clone_ref(py)
    }

    /// From forces and torques on the effectors (N, N·m, world axes) to positions and velocities after a step: 2n×6e.
    #[getter]
    #[pyo3(name = "B_loads")]
    fn B_loads(&self, py: Python<'_>) -> Py<PyArray2<f64>> {
        self.B_loads.clone_ref(py)
    }

    /// From positions and velocities to the poses of the effectors (m, rad, world axes): 6e×2n.
    #[getter]
    #[pyo3(name = "C")]
    fn C(&self, py: Python<'_>) -> Py<PyArray2<f64>> {
        self.C.clone_ref(py)
    }

    /// The time step, s.
    #[getter]
    fn dt(&self) -> f64 {
        self.dt
    }

    /// By its matrices.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Pickled)> {
        let (py, own) = (slf.py(), slf.get());
        let read = py.import("pliant._native")?.getattr("linearization_from_matrices")?;
        Ok((read, (own.A(py), own.B(py), own.B_loads(py), own.C(py), own.dt)))
    }

    fn __repr__(&self) -> String {
        format!(
            "<pliant.Linearization of {} coordinates and {} outputs, dt = {} s>",
            self.sizes.0, self.sizes.1, self.dt
        )
    }
}

impl Linearization {
    fn new(py: Python<'_>, [A, B, B_loads, C]: [DMatrix<f64>; 4], dt: f64) -> PyResult<Linearization> {
        let kept = |matrix: &DMatrix<f64>| Ok::<_, PyErr>(arrays::fixed_matrix(py, matrix)?.unbind());
        Ok(Linearization {
            sizes: (B.ncols(), C.nrows()),
            A: kept(&A)?,
            B: kept(&B)?,
            B_loads: kept(&B_loads)?,
            C: kept(&C)?,
            dt,
        })
    }
}

/// What a pickle has of a linearization: its matrices and the time step.
type Pickled = (Py<PyArray2<f64>>, Py<PyArray2<f64>>, Py<PyArray2<f64>>, Py<PyArray2<f64>>, f64);

/// A linearization of what its pickle holds.
#[pyfunction]
#[pyo3(signature = (A, B, B_loads, C, dt))]
pub fn linearization_from_matrices(
    py: Python<'_>,
    A: PyReadonlyArray2<'_, f64>,
    B: PyReadonlyArray2<'_, f64>,
    B_loads: PyReadonlyArray2<'_, f64>,
    C: PyReadonlyArray2<'_, f64>,
    dt: f64,
) -> PyResult<Linearization> {
    let (n, e) = (B.shape()[1], C.shape()[0]);
    let shapes = [A.shape(), B.shape(), B_loads.shape(), C.shape()];
    if shapes != [[2 * n, 2 * n], [2 * n, n], [2 * n, e], [e, 2 * n]] {
        return Err(input("A, B, B_loads, C: these are not the matrices of a linearization"));
    }
    let of = |matrix: PyReadonlyArray2<'_, f64>| {
        let matrix = matrix.as_array();
        DMatrix::from_fn(matrix.nrows(), matrix.ncols(), |i, j| matrix[[i, j]])
    };
    Linearization::new(py, [of(A), of(B), of(B_loads), of(C)], dt)
}

/// The linearization about a state, or about that of a simulation with what acts there.
pub fn linearize(
    py: Python<'_>,
    source: &Mechanism,
    about: Option<&Bound<'_, PyAny>>,
    dt: &Bound<'_, PyAny>,
    given: ByName<'_, '_>,
    gravity: Option<&Bound<'_, PyAny>>,
) -> PyResult<Linearization> {
    guarded(|| {
        let dt = arrays::positive("dt", arrays::number("dt", dt)?, "seconds")?;
        let mechanism = &source.inner;
        let loads = loads(given)?;
        let about = about.filter(|about| !about.is_none());
        let mut acts = inputs(mechanism, &loads, gravity, false)?;
        let state = match about {
            None => EngineState::at_rest(mechanism),
            Some(about) => {
                if let Ok(state) = about.cast::<State>() {
                    state.get().inner.clone()
                } else if let Ok(simulation) = about.cast::<Simulation>() {
                    if !loads.is_empty() || gravity.is_some_and(|gravity| !gravity.is_none()) {
                        return Err(input(
                            "loads and gravity are those of the simulation: leave them out, or give its state",
                        ));
                    }
                    simulation.get().with(|simulation| {
                        acts.clone_from(simulation.inputs());
                        Ok(simulation.state().clone())
                    })?
                } else {
                    let got = about.get_type().name()?;
                    return Err(PyTypeError::new_err(format!(
                        "state: expected a State or a Simulation, got {got}"
                    )));
                }
            }
        };
        let found = py.detach(|| pliant::linearize(mechanism, &state, &acts, dt));
        let found = found.map_err(|error| match error {
            LinearizationError::Step(error) => not_taken(error),
            error => input(error),
        })?;
        warn_of(py, &found.warnings)?;
        Linearization::new(py, [found.A, found.B, found.B_loads, found.C], found.dt)
    })
}
