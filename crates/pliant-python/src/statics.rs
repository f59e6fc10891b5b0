//! Equilibrium and compliance, in the sequence of the commands `statics` and `compliance`.

use numpy::{PyArray1, PyArray2};
use pliant::contact::{Rest, Surfaces};
use pliant::engine::{self, Inputs, Simulation as _, StaticsSettings, Warning};
use pliant::full;
use pliant::linear::{Linearisation, Method, Reference};
use pliant::mechanism::Mechanism as Inner;
use pliant::shared::overlaps::{self, Overlap, Overlaps};
use pliant::shared::statics::{about_to_slip, not_converged, unheld, unstable, warnings};
use pliant::shared::{choosing, words};
use pliant::spatial::{Pose, Twist};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays;
use crate::errors::{guarded, input, job, warn, warn_of};
use crate::mechanism::Mechanism;
use crate::setup::{ByName, Setup, inputs, loads};
use crate::state::State;

/// Where a mechanism settles. Arrays are read-only.
#[pyclass(frozen, module = "pliant")]
pub struct Equilibrium {
    mechanism: Inner,
    state: engine::State,
    effectors: Vec<Pose>,
    warnings: Vec<String>,
    /// Of a rest on what it touches.
    friction_needed: Option<f64>,
    /// Of a model, its error in radii.
    estimate: Option<f64>,
    /// Residual, iterations, whether it is stable.
    found: (f64, usize, bool),
}

impl Equilibrium {
    /// Without contact; of a model with the estimate of its error.
    pub fn of(
        simulation: &mut dyn engine::Simulation,
        found: &engine::Equilibrium,
        estimate: Option<f64>,
        warnings: Vec<Warning>,
    ) -> Equilibrium {
        let mechanism = simulation.mechanism().clone();
        Equilibrium {
            effectors: poses(simulation, &mechanism),
            state: simulation.state().clone(),
            mechanism,
            warnings: warnings.into_iter().map(|warning| warning.text).collect(),
            friction_needed: None,
            estimate,
            found: (found.residual, found.iterations, found.stable),
        }
    }

    /// Gives its warnings to Python.
    pub fn warn(&self, py: Python<'_>) -> PyResult<()> {
        warn(py, self.warnings.iter().map(String::as_str))
    }
}

#[pymethods]
impl Equilibrium {
    /// Coordinates of all joints (`Mechanism.coordinates`), m or rad.
    #[getter]
    fn positions<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        arrays::vector(py, &self.state.coordinates)
    }

    /// Force of spring, damper and limit along each coordinate, N or N·m.
    #[getter]
    fn forces<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        arrays::vector(py, &self.state.forces)
    }

    /// Link frames of all bodies (`Mechanism.bodies`) in the world: x, y, z (m), quaternion w, x, y, z.
    #[getter]
    fn poses<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        arrays::rows(py, self.state.poses.iter().map(arrays::seven))
    }

    /// The frame of each effector in the world, by its name: x, y, z (m), quaternion w, x, y, z.
    #[getter]
    fn effectors<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        for (effector, pose) in self.mechanism.effectors().iter().zip(&self.effectors) {
            dict.set_item(&effector.name, arrays::vector(py, &arrays::seven(pose)))?;
        }
        Ok(dict)
    }

    /// Largest residual force on a body, N; with contact, the motion in the last step, m.
    #[getter]
    fn residual(&self) -> f64 {
        self.found.0
    }

    /// Newton iterations; with contact, time steps.
    #[getter]
    fn iterations(&self) -> usize {
        self.found.1
    }

    /// Whether it is stable (a minimum of energy).
    #[getter]
    fn stable(&self) -> bool {
        self.found.2
    }

    /// With contact, the part of the available friction that the equilibrium needs; else None.
    #[getter]
    fn friction_needed(&self) -> Option<f64> {
        self.friction_needed
    }

    /// Of a model: how far one Newton step of the full statics would move a link, in radii: an estimate of its error; else None.
    #[getter]
    fn estimate(&self) -> Option<f64> {
        self.estimate
    }

    /// The state, to start a simulation from (`Simulation.restore`), at rest.
    #[getter]
    fn state(&self) -> State {
        let mut state = self.state.clone();
        state.rates.fill(0.0);
        state.twists.fill(Twist::ZERO);
        state.private.clear();
        (state.time, state.steps) = (0.0, 0);
        State::new(&self.mechanism, state)
    }

    /// Its warnings, with measures.
    #[getter]
    fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Coordinates of one joint, m or rad.
    ///
    /// >>> pliant.gallery.arm().equilibrium(loads={"tip": [0, 0, -20]}).position("arm2")
    fn position<'py>(&self, py: Python<'py>, joint: &str) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let id = pliant::shared::setup::find_joint("joint", joint, &self.mechanism).map_err(input)?;
        Ok(arrays::vector(py, &self.state.coordinates[self.mechanism[id].coordinates()]))
    }

    /// By its state and its other numbers.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Pickled)> {
        let own = slf.get();
        let read = slf.py().import("pliant._native")?.getattr("equilibrium_from_numbers")?;
        let effectors = own.effectors.iter().map(arrays::seven).collect();
        let extra = (own.friction_needed, own.estimate);
        let state = State::new(&own.mechanism, own.state.clone());
        Ok((read, (state, effectors, own.warnings.clone(), extra, own.found)))
    }

    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let mechanism = Mechanism::of_gallery(slf.get().mechanism.clone());
        slf.py().import("pliant._html")?.getattr("equilibrium")?.call1((slf, mechanism))
    }

    fn __repr__(&self) -> String {
        let (residual, iterations, stable) = self.found;
        let stable = if stable { "" } else { ", unstable" };
        format!(
            "<pliant.Equilibrium of {:?}: residual {residual:.1e}, {iterations} iterations{stable}>",
            self.mechanism.name()
        )
    }
}

/// What a pickle has of an equilibrium: state, effectors, warnings, friction needed and estimate, and what was found.
type Pickled = (State, Vec<[f64; 7]>, Vec<String>, (Option<f64>, Option<f64>), (f64, usize, bool));

/// An equilibrium of what its pickle holds.
#[pyfunction]
pub fn equilibrium_from_numbers(
    state: &Bound<'_, State>,
    effectors: Vec<[f64; 7]>,
    warnings: Vec<String>,
    extra: (Option<f64>, Option<f64>),
    found: (f64, usize, bool),
) -> PyResult<Equilibrium> {
    let state = state.get();
    if effectors.len() != state.mechanism.effectors().len() {
        return Err(input("effectors: these are not those of the mechanism"));
    }
    Ok(Equilibrium {
        mechanism: state.mechanism.clone(),
        state: state.inner.clone(),
        effectors: effectors.iter().map(|seven| arrays::pose_of(seven)).collect(),
        warnings,
        friction_needed: extra.0,
        estimate: extra.1,
        found,
    })
}

/// The nonlinear equilibrium, as `pliant statics` looks for it.
pub fn equilibrium(
    py: Python<'_>,
    source: &Mechanism,
    setup: &Setup<'_, '_>,
    given: ByName<'_, '_>,
    gravity: Option<&Bound<'_, PyAny>>,
    scene_loads: bool,
) -> PyResult<Equilibrium> {
    guarded(|| {
        let loads = loads(given)?;
        let (mechanism, beyond) = setup.of(&source.inner, &loads)?;
        let inputs = inputs(&mechanism, &loads, gravity, scene_loads)?;
        let surfaces = if mechanism.has_contact() { Some(source.surfaces(py, &mechanism)?) } else { None };
        let mut found = py.detach(|| settle(&mechanism, &inputs, surfaces.as_ref()))?;
        found.warnings.splice(0..0, beyond.into_iter().map(|warning| warning.text));
        found.warn(py)?;
        Ok(found)
    })
}

fn settle(mechanism: &Inner, inputs: &Inputs, surfaces: Option<&Surfaces>) -> PyResult<Equilibrium> {
    // A free base and loose bodies rest on what they touch, or not at all.
    if let Some(surfaces) = surfaces.filter(|_| mechanism.bodies().iter().any(|body| body.free)) {
        return rest(mechanism, inputs, surfaces);
    }
    let (mut simulation, found, overlap) = settled(mechanism, inputs, surfaces)?;
    // It comes to lie on something on the way, unless it starts inside.
    if let (Some(surfaces), Some(overlap)) = (surfaces, overlap) {
        return rest(mechanism, inputs, surfaces).map_err(|_| job(overlaps::refusal(&overlap)));
    }
    let warnings = warnings(&mut simulation, &found, None);
    Ok(Equilibrium::of(&mut simulation, &found, None, warnings))
}

/// The equilibrium without contact, and the deepest overlap there.
fn settled(
    mechanism: &Inner,
    inputs: &Inputs,
    surfaces: Option<&Surfaces>,
) -> PyResult<(full::Simulation, engine::Equilibrium, Option<Overlap>)> {
    let mut simulation = full::Model::new(mechanism).simulate();
    simulation.inputs_mut().clone_from(inputs);
    let found = simulation.settle(&StaticsSettings::default()).map_err(job)?;
    if !found.converged {
        return Err(job(not_converged(&found, mechanism)));
    }
    let scene = surfaces.map(|surfaces| Overlaps::new(mechanism, &mechanism.take_apart(), surfaces));
    let deepest = match scene.transpose().map_err(job)?.flatten() {
        Some(mut scene) => scene.deepest(simulation.state(), |_| true).map_err(job)?,
        None => None,
    };
    let overlap = deepest.filter(|own| own.depth > overlaps::TOUCHING * mechanism.radius());
    Ok((simulation, found, overlap))
}

fn poses(simulation: &dyn pliant::engine::Simulation, mechanism: &Inner) -> Vec<Pose> {
    mechanism.effector_ids().filter_map(|id| simulation.effector_pose(id).ok()).collect()
}

/// Where a scene rests on what it touches.
fn rest(mechanism: &Inner, inputs: &Inputs, surfaces: &Surfaces) -> PyResult<Equilibrium> {
    let (engine, _) = choosing::choose(mechanism.take_apart().held.as_ref());
    let mut scene = engine.scene(mechanism, surfaces.clone()).map_err(input)?;
    scene.inputs_mut().clone_from(inputs);
    let found: Rest = scene.rest_with_margin().map_err(job)?;
    if !found.converged {
        return Err(job(unheld(&found)));
    }
    Ok(Equilibrium {
        effectors: poses(&scene, mechanism),
        state: scene.state().clone(),
        mechanism: mechanism.clone(),
        warnings: about_to_slip(&found).map(|warning| warning.text).into_iter().collect(),
        friction_needed: found.friction_needed,
        estimate: None,
        found: (found.moved, found.steps, true),
    })
}

/// The compliance, as `pliant compliance` computes it.
pub fn compliance<'py>(
    py: Python<'py>,
    source: &Mechanism,
    setup: &Setup<'_, '_>,
    given: ByName<'_, '_>,
    gravity: Option<&Bound<'_, PyAny>>,
    loaded: bool,
    method: &str,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    guarded(|| {
        let loads = loads(given)?;
        let acts = [("loads", !loads.is_empty()), ("gravity", gravity.is_some_and(|g| !g.is_none()))];
        if let (false, Some((argument, _))) = (loaded, acts.into_iter().find(|(_, acts)| *acts)) {
            return Err(input(format!("{argument} needs loaded=True: add it, or leave {argument} out")));
        }
        let method = match method {
            "exact" => Method::Exact,
            "incremental" => Method::Incremental,
            _ => {
                let guess = words::did_you_mean(method, ["exact", "incremental"].into_iter());
                return Err(input(format!(
                    "method: there is no method `{method}`{guess} (there are `exact` and `incremental`)"
                )));
            }
        };
        let (mechanism, mut warnings) = setup.of(&source.inner, &loads)?;
        let sprung = mechanism.with_springs_as_joints().map_err(input)?;
        let inputs = inputs(&sprung, &loads, gravity, true)?;
        let surfaces =
            if loaded && sprung.has_contact() { Some(source.surfaces(py, &sprung)?) } else { None };
        let effectors = setup.effectors;
        let C = py.detach(|| {
            let reference = match loaded {
                true => at_equilibrium(&sprung, &inputs, surfaces.as_ref(), &mut warnings)?,
                false => Reference::at_rest(&sprung),
            };
            let mut reduction = Linearisation::at(reference).method(method);
            if !effectors.is_empty() {
                reduction = reduction.effectors(effectors);
            }
            let projection = reduction.project().map_err(input)?;
            if !projection.is_exact() {
                let text = format!(
                    "the incremental method is not exact here: it assumes independence that does not hold, at {}; use `exact`",
                    projection.inexact_at().join(", ")
                );
                let measure = projection.inexact_at().len() as f64;
                warnings.push(Warning { kind: "inexact", measure, unit: "bodies", text });
            }
            Ok::<_, PyErr>(projection.compliance().clone())
        })?;
        warn_of(py, &warnings)?;
        arrays::matrix(py, &C)
    })
}

fn at_equilibrium(
    mechanism: &Inner,
    inputs: &Inputs,
    surfaces: Option<&Surfaces>,
    warnings: &mut Vec<Warning>,
) -> PyResult<Reference> {
    let (mut simulation, found, overlap) = settled(mechanism, inputs, surfaces)?;
    warnings.extend((!found.stable).then(unstable));
    if let Some(overlap) = overlap {
        return Err(job(overlaps::refusal(&overlap)));
    }
    Ok(Reference::at_equilibrium(&mut simulation))
}
