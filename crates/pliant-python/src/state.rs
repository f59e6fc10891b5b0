//! `State`: what a simulation saves.

use numpy::{PyArray1, PyArray2};
use pliant::mechanism::Mechanism as Inner;
use pliant::nalgebra::Vector6;
use pliant::shared::setup::{Place, find};
use pliant::spatial::Twist;
use pliant::{Moving, Touching, engine};
use pyo3::prelude::*;

use crate::arrays;
use crate::errors::{guarded, input, warn};
use crate::mechanism::Mechanism;

/// A saved state of a simulation. Arrays are read-only.
#[pyclass(frozen, module = "pliant")]
pub struct State {
    pub mechanism: Inner,
    pub inner: engine::State,
    /// What contact has next to it.
    pub touching: Option<Touching>,
}

impl State {
    pub fn new(mechanism: &Inner, inner: engine::State) -> State {
        State { mechanism: mechanism.clone(), inner, touching: None }
    }

    /// That of a simulation.
    pub fn of(moving: &mut Moving) -> State {
        let (inner, touching) = moving.save();
        State { mechanism: moving.simulation().mechanism().clone(), inner, touching }
    }
}

/// What a state is without the contact of its last step.
pub const WITHOUT_PUSHES: &str =
    "contact starts without the contact forces of the last step, which a step continues from";

#[pymethods]
impl State {
    /// s.
    #[getter]
    fn time(&self) -> f64 {
        self.inner.time
    }

    /// Number of steps taken.
    #[getter]
    fn steps(&self) -> u64 {
        self.inner.steps
    }

    /// Coordinates of all joints, m or rad.
    #[getter]
    fn positions<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        arrays::vector(py, &self.inner.coordinates)
    }

    /// Their rates, m/s or rad/s.
    #[getter]
    fn velocities<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        arrays::vector(py, &self.inner.rates)
    }

    /// Force of spring, damper and limit along each coordinate, N or N·m.
    #[getter]
    fn forces<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        arrays::vector(py, &self.inner.forces)
    }

    /// Link frames of all bodies in the world: x, y, z (m), quaternion w, x, y, z.
    #[getter]
    fn poses<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        arrays::rows(py, self.inner.poses.iter().map(arrays::seven))
    }

    /// Twists of all bodies: linear (m/s) and angular (rad/s), body axes.
    #[getter]
    fn twists<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        arrays::rows(py, self.inner.twists.iter().map(arrays::six))
    }

    /// Where an effector or body is: x, y, z (m), quaternion w, x, y, z.
    ///
    /// >>> pliant.gallery.arm().state().pose("tip")[:3]
    fn pose<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let mechanism = &self.mechanism;
        let pose = match find("name", name, mechanism).map_err(input)? {
            Place::Effector(effector) => self.inner.effector_pose(mechanism, effector),
            Place::Body(body) => self.inner.pose(body),
        };
        Ok(arrays::vector(py, &arrays::seven(&pose.map_err(input)?)))
    }

    /// Whether the numbers are the same, also those of its contact forces.
    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        let pushed =
            |state: &State| state.touching.as_ref().map(|own| own.pushed().to_vec()).unwrap_or_default();
        other.cast::<State>().is_ok_and(|other| {
            let other = other.get();
            other.inner == self.inner && pushed(other) == pushed(self)
        })
    }

    /// By its mechanism and its numbers; the contact forces of the last step are left out, with a warning.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<PickledState<'py>> {
        let own = slf.get();
        if own.touching.as_ref().is_some_and(Touching::pushes) {
            warn(slf.py(), [format!("a state in a pickle: {WITHOUT_PUSHES}").as_str()])?;
        }
        let read = slf.py().import("pliant._native")?.getattr("state_from_numbers")?;
        let mechanism = Mechanism::of_gallery(own.mechanism.clone());
        let state = &own.inner;
        let lists = vec![
            state.poses.iter().flat_map(arrays::seven).collect(),
            state.twists.iter().flat_map(arrays::six).collect(),
            state.coordinates.clone(),
            state.rates.clone(),
            state.forces.clone(),
            state.friction.clone(),
            state.multipliers.clone(),
            arrays::seven(&state.base).to_vec(),
            state.private.clone(),
        ];
        Ok((read, (mechanism, state.time, state.steps, lists)))
    }

    fn __repr__(&self) -> String {
        format!("<pliant.State of {:?} at {} s>", self.mechanism.name(), self.inner.time)
    }
}

/// A function and its arguments, as pickles have them: mechanism, time, steps, and the lists of a state.
type PickledState<'py> = (Bound<'py, PyAny>, (Mechanism, f64, u64, Vec<Vec<f64>>));

/// A state of the numbers that its pickle holds.
#[pyfunction]
pub fn state_from_numbers(
    mechanism: &Bound<'_, Mechanism>,
    time: f64,
    steps: u64,
    lists: Vec<Vec<f64>>,
) -> PyResult<State> {
    guarded(|| {
        let mechanism = &mechanism.get().inner;
        let mut state = engine::State::at_rest(mechanism);
        let wrong = || input("lists: these are not the numbers of a state of this mechanism");
        let [poses, twists, coordinates, rates, forces, friction, multipliers, base, private] =
            <[Vec<f64>; 9]>::try_from(lists).map_err(|_| wrong())?;
        let lengths = [poses.len(), twists.len(), base.len()];
        if lengths != [7 * state.poses.len(), 6 * state.twists.len(), 7] {
            return Err(wrong());
        }
        (state.time, state.steps) = (time, steps);
        state.poses = poses.chunks(7).map(arrays::pose_of).collect();
        state.twists =
            twists.chunks(6).map(|six| Twist::from_vector(&Vector6::from_column_slice(six))).collect();
        state.base = arrays::pose_of(&base);
        (state.coordinates, state.rates, state.forces) = (coordinates, rates, forces);
        (state.friction, state.multipliers, state.private) = (friction, multipliers, private);
        match state.belongs_to(mechanism) && state.is_finite() {
            true => Ok(State::new(mechanism, state)),
            false => Err(wrong()),
        }
    })
}
