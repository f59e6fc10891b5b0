//! `Model`: a few motions of a mechanism's joints, chosen to a bound, with its report; its file.

use std::path::PathBuf;

use numpy::PyArray2;
use pliant::engine::{Simulation as _, StaticsSettings};
use pliant::io::{self, ModelFile};
use pliant::reduced::{self, Every, Limit, Sampling};
use pliant::shared::statics::warnings;
use pliant::shared::words::count;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::arrays;
use crate::errors::{guarded, input, interruptible, job, unloaded, unsaved, warn};
use crate::files::{Files, PickledFiles};
use crate::making;
use crate::mechanism::Mechanism;
use crate::setup::{ByName, Setup, inputs, loads};
use crate::simulation::Simulation;
use crate::statics::Equilibrium;

/// A reduced model: a few motions of the joints with exact energy, and its error. Made by `Mechanism.reduce` or `pliant.load_model`.
///
/// >>> model = pliant.gallery.helix(50).reduce(max_error=0.01)
/// >>> model.motions, model.held_out
#[pyclass(frozen, module = "pliant")]
pub struct Model {
    file: ModelFile,
    pub inner: reduced::Model,
    pub source: Py<Mechanism>,
    columns: Py<PyArray2<f64>>,
}

impl Model {
    fn of(py: Python<'_>, file: ModelFile, inner: reduced::Model, source: Mechanism) -> PyResult<Model> {
        let columns = arrays::fixed_matrix(py, &file.motions)?.unbind();
        Ok(Model { file, inner, source: Py::new(py, source)?, columns })
    }

    /// The bound that it was built for, in radii.
    pub fn bound(&self) -> Option<f64> {
        self.file.report.as_ref().map(|(sampling, _)| sampling.max_error)
    }

    fn outcome<T>(&self, of: impl Fn(&reduced::Outcome) -> T) -> Option<T> {
        self.file.report.as_ref().map(|(_, outcome)| of(outcome))
    }
}

#[pymethods]
impl Model {
    /// The mechanism that it is of.
    #[getter]
    fn mechanism(&self, py: Python<'_>) -> Py<Mechanism> {
        self.source.clone_ref(py)
    }

    /// Number of motions that are kept.
    #[getter]
    fn motions(&self) -> usize {
        self.inner.motions()
    }

    /// Number of freedoms that they are of.
    #[getter]
    fn freedoms(&self) -> usize {
        self.inner.freedoms()
    }

    /// The motions, one column each, with a row for each coordinate; read-only.
    #[getter]
    fn columns(&self, py: Python<'_>) -> Py<PyArray2<f64>> {
        self.columns.clone_ref(py)
    }

    /// The largest estimate of the error under the loads used to choose motions, in radii; None for a model without a report.
    #[getter]
    fn error(&self) -> Option<f64> {
        self.outcome(|outcome| outcome.error)
    }

    /// The largest true error under loads not used to choose motions, in radii.
    #[getter]
    fn held_out(&self) -> Option<f64> {
        self.outcome(|outcome| outcome.held_out)
    }

    /// Whether the bound is met.
    #[getter]
    fn within_bound(&self) -> Option<bool> {
        self.outcome(|outcome| outcome.limit == Limit::None)
    }

    /// The settings and the result, with the keys of `pliant reduce --json`; None if motions were not chosen to a bound.
    #[getter]
    fn report<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let Some((sampling, outcome)) = &self.file.report else { return Ok(None) };
        let dict = PyDict::new(py);
        dict.set_item("coordinates", self.inner.motions())?;
        dict.set_item("freedoms", self.inner.freedoms())?;
        dict.set_item("samples", outcome.samples.len())?;
        dict.set_item("error", outcome.error)?;
        dict.set_item("held_out", outcome.held_out)?;
        dict.set_item("held_out_median", outcome.held_out_median)?;
        dict.set_item("bound", sampling.max_error)?;
        dict.set_item("displacement", sampling.displacement)?;
        dict.set_item("frequency", sampling.frequency)?;
        dict.set_item("seed", sampling.seed)?;
        dict.set_item("tested", outcome.tested)?;
        dict.set_item("within", outcome.within)?;
        dict.set_item("out_of_reach", outcome.out_of_reach)?;
        dict.set_item("unsolved", outcome.unsolved.len())?;
        dict.set_item("unsettled", outcome.unsettled.len())?;
        dict.set_item("several", outcome.several.len())?;
        dict.set_item("equilibria", outcome.searched)?;
        let every = outcome.every.as_ref().map(|every| match every {
            Every::Few => "few",
            Every::Restless(_) => "restless",
            Every::Untested => "untested",
        });
        dict.set_item("every", every)?;
        let limit = match outcome.limit {
            Limit::None => None,
            Limit::Equilibria => Some("equilibria"),
            Limit::Stalled => Some("stalled"),
        };
        dict.set_item("limit", limit)?;
        Ok(Some(dict))
    }

    /// A simulation by the engine `reduced` with these motions.
    ///
    /// >>> model = pliant.gallery.helix(50).reduce()
    /// >>> model.simulate().run(0.1, 0.01)
    #[pyo3(signature = (*, loads=None, gravity=None, scene_loads=false, contact=true))]
    fn simulate(
        &self,
        py: Python<'_>,
        loads: ByName<'_, '_>,
        gravity: Option<&Bound<'_, PyAny>>,
        scene_loads: bool,
        contact: bool,
    ) -> PyResult<Simulation> {
        let choice =
            making::Choice { engine: "reduced", contact, modes: None, motions: Some(&self.file.motions) };
        making::simulate(py, self.source.get(), &Setup::default(), choice, loads, gravity, scene_loads)
    }

    /// The equilibrium of the model under gravity and loads, with an `estimate` of its error in radii.
    ///
    /// >>> model = pliant.gallery.helix(50).reduce()
    /// >>> model.equilibrium(loads={"tip": [0, 0, -30]}).estimate < 0.01
    /// True
    #[pyo3(signature = (loads=None, gravity=None, scene_loads=false))]
    fn equilibrium(
        &self,
        py: Python<'_>,
        loads: ByName<'_, '_>,
        gravity: Option<&Bound<'_, PyAny>>,
        scene_loads: bool,
    ) -> PyResult<Equilibrium> {
        guarded(|| {
            let mechanism = &self.file.mechanism;
            let inputs = inputs(mechanism, &self::loads(loads)?, gravity, scene_loads)?;
            let found = py.detach(|| {
                let mut simulation = self.inner.simulate();
                simulation.inputs_mut().clone_from(&inputs);
                let found = simulation.settle(&StaticsSettings::default()).map_err(job)?;
                if !found.converged {
                    return Err(job(format!(
                        "{} did not converge in {} iterations; the loads may be beyond those it was built for: try smaller ones, or the \
                         mechanism's own `equilibrium`",
                        count(self.inner.motions(), "motion"),
                        found.iterations
                    )));
                }
                let estimate = simulation.estimate().map_err(job)?;
                let warnings = warnings(&mut simulation, &found, Some((estimate, self.bound())));
                Ok::<_, PyErr>(Equilibrium::of(&mut simulation, &found, Some(estimate), warnings))
            })?;
            found.warn(py)?;
            Ok(found)
        })
    }

    /// Writes its file (.pliant), which holds the mechanism too.
    ///
    /// >>> pliant.gallery.helix(50).reduce().save("helix.pliant")
    fn save(&self, path: PathBuf) -> PyResult<()> {
        guarded(|| self.file.save(path).map_err(unsaved))
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Model>().is_ok_and(|other| other.get().file == self.file)
    }

    fn __hash__(&self) -> u64 {
        self.source.get().__hash__() ^ self.inner.motions() as u64
    }

    /// By its file, with the surfaces of its mechanism's meshes.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<PickledModel<'py>> {
        let (py, own) = (slf.py(), slf.get());
        let read = py.import("pliant._native")?.getattr("model_from_bytes")?;
        let source = own.source.get();
        let files = guarded(|| source.files.pickled(py, &source.inner))?;
        Ok((read, (PyBytes::new(py, &own.file.to_bytes()), files)))
    }

    fn __repr__(&self) -> String {
        let error =
            self.held_out().map(|error| format!(", held out {:.2} %", 100.0 * error)).unwrap_or_default();
        format!(
            "<pliant.Model of {:?}: {} motions of {} freedoms{error}>",
            self.file.mechanism.name(),
            self.inner.motions(),
            self.inner.freedoms()
        )
    }
}

/// A function and its arguments, as pickles have them: the bytes of its file, and other files.
type PickledModel<'py> = (Bound<'py, PyAny>, (Bound<'py, PyBytes>, PickledFiles));

/// Reads a model file (.pliant).
///
/// >>> pliant.gallery.helix(50).reduce().save("helix.pliant")
/// >>> pliant.load_model("helix.pliant").freedoms
/// 50
#[pyfunction]
pub fn load_model(py: Python<'_>, path: PathBuf) -> PyResult<Model> {
    guarded(|| {
        let (file, inner) = py.detach(|| {
            let file = ModelFile::load(&path).map_err(unloaded)?;
            let inner = file.model().map_err(input)?;
            Ok::<_, PyErr>((file, inner))
        })?;
        let files = Files::new(&path, io::Options::default());
        let source = Mechanism::new(file.mechanism.clone(), files);
        Model::of(py, file, inner, source)
    })
}

/// A model of what its pickle holds: the bytes of its file, and other files of its mechanism.
#[pyfunction]
pub fn model_from_bytes(py: Python<'_>, data: &[u8], files: PickledFiles) -> PyResult<Model> {
    guarded(|| {
        let file = ModelFile::from_bytes(data).map_err(input)?;
        let inner = file.model().map_err(input)?;
        let source = Mechanism::new(file.mechanism.clone(), Files::unpickled(py, files)?);
        Model::of(py, file, inner, source)
    })
}

/// A model to a bound, as `pliant reduce` makes it.
pub fn reduce(py: Python<'_>, source: &Mechanism, sampling: Sampling) -> PyResult<Model> {
    guarded(|| {
        let whole = &source.inner;
        let mechanism = match whole.loose().as_slice() {
            [] => whole.clone(),
            _ => whole.take_apart().held.unwrap_or_else(|| whole.clone()),
        };
        let chosen = interruptible(py, |tick| sampling.run(&mechanism, |_| tick()))?;
        let (inner, outcome) = chosen.map_err(input)?;
        let mut said = Vec::new();
        if mechanism.bodies().len() != whole.bodies().len() {
            said.push("the model leaves out loose bodies, which only contact moves".to_string());
        }
        if mechanism.bodies().iter().any(|body| body.free) {
            said.push(
                "motions are chosen, and errors found, with the free base held where it starts".to_string(),
            );
        }
        if outcome.limit != Limit::None {
            said.push(format!(
                "the error is not within the bound: the best model has {} and an error of {:.3e} radii (by its own estimate {:.3e}), \
                 above the bound of {:.3e}",
                count(inner.motions(), "motion"),
                outcome.held_out,
                outcome.error,
                sampling.max_error
            ));
        }
        warn(py, said.iter().map(String::as_str))?;
        let file = ModelFile::new(&inner, Some((sampling, outcome)));
        Model::of(py, file, inner, source.with(mechanism))
    })
}
