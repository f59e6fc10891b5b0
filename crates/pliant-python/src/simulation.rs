//! `Simulation`: a mechanism in motion by the engine of one's choice, with contact where something can touch.

use std::sync::{Mutex, MutexGuard, TryLockError};

use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pliant::Moving;
use pliant::engine::{self, StaticsSettings, Warning};
use pliant::mechanism::Mechanism as Inner;
use pliant::shared::setup::{Place, find, find_joint};
use pliant::shared::statics::not_converged;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays;
use crate::errors::{InternalError, guarded, input, job, not_taken, warn, warn_of};
use crate::mechanism::Mechanism;
use crate::state::{State, WITHOUT_PUSHES};

/// A running simulation. Its arrays are read-only copies; only its methods change it.
///
/// Made by `Mechanism.simulate`.
///
/// >>> sim = pliant.gallery.arm().simulate()
/// >>> sim.set_load("tip", [0, 0, -20])
/// >>> motion = sim.run(2.0, 0.01, record=["tip"])
/// >>> motion["tip"][:, 2]
#[pyclass(frozen, module = "pliant")]
pub struct Simulation {
    pub moving: Mutex<Moving>,
    /// The mechanism that moves.
    pub mechanism: Inner,
    /// The same, with its files.
    pub whole: Mechanism,
    pub engine: &'static str,
    /// Why the engine is what it is, unless it was named.
    pub why: Option<String>,
    /// Kinds of warnings that were given already.
    pub warned: Mutex<Vec<&'static str>>,
}

impl Simulation {
    /// The simulation, unless another thread is at it.
    pub fn lock(&self) -> PyResult<MutexGuard<'_, Moving>> {
        match self.moving.try_lock() {
            Ok(guard) => Ok(guard),
            Err(TryLockError::WouldBlock) => Err(input(
                "the simulation is in use in another thread: give each thread its own (`copy`), or wait for the other thread",
            )),
            Err(TryLockError::Poisoned(_)) => Err(InternalError::new_err(
                "the simulation was lost by an earlier internal error of Pliant: create another",
            )),
        }
    }

    /// Does something with the simulation.
    pub fn with<T>(&self, run: impl FnOnce(&mut dyn engine::Simulation) -> PyResult<T>) -> PyResult<T> {
        guarded(|| run(self.lock()?.simulation()))
    }

    /// Gives warnings of kinds that were not given before.
    pub fn warn(&self, py: Python<'_>, warnings: Vec<Warning>) -> PyResult<()> {
        let mut fresh = Vec::new();
        if let Ok(mut warned) = self.warned.lock() {
            for warning in warnings {
                if !warned.contains(&warning.kind) {
                    warned.push(warning.kind);
                    fresh.push(warning);
                }
            }
        }
        warn_of(py, &fresh)
    }
}

#[pymethods]
impl Simulation {
    /// The engine's name; `contact` if there are loose bodies only.
    #[getter]
    fn engine(&self) -> &'static str {
        self.engine
    }

    /// Why this engine was chosen; None if it was given.
    #[getter]
    fn engine_why(&self) -> Option<&str> {
        self.why.as_deref()
    }

    /// Time since the start, s.
    #[getter]
    fn time(&self) -> PyResult<f64> {
        self.with(|simulation| Ok(simulation.time()))
    }

    /// Number of steps taken.
    #[getter]
    fn steps(&self) -> PyResult<u64> {
        self.with(|simulation| Ok(simulation.steps()))
    }

    /// Advances by dt seconds. On an error the state is unchanged. Keeps the interpreter lock: `run` releases it.
    ///
    /// >>> sim.step(0.01)
    fn step(&self, dt: &Bound<'_, PyAny>) -> PyResult<()> {
        let dt = arrays::number("dt", dt)?;
        self.with(|simulation| simulation.step(dt).map_err(not_taken))
    }

    /// Coordinates of all joints (`Mechanism.coordinates`), m or rad.
    #[getter]
    fn positions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        self.with(|simulation| Ok(arrays::vector(py, &simulation.state().coordinates)))
    }

    /// Rates of all coordinates, m/s or rad/s.
    #[getter]
    fn velocities<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        self.with(|simulation| Ok(arrays::vector(py, &simulation.state().rates)))
    }

    /// Force of spring, damper and limit along each coordinate, N or N·m.
    #[getter]
    fn forces<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        self.with(|simulation| Ok(arrays::vector(py, &simulation.state().forces)))
    }

    /// Link frames of all bodies (`Mechanism.bodies`) in the world: x, y, z (m), quaternion w, x, y, z.
    #[getter]
    fn poses<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        self.with(|simulation| arrays::rows(py, simulation.state().poses.iter().map(arrays::seven)))
    }

    /// Twists of all bodies: linear (m/s) and angular (rad/s), body axes, at the link frame's origin.
    #[getter]
    fn twists<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        self.with(|simulation| arrays::rows(py, simulation.state().twists.iter().map(arrays::six)))
    }

    /// The frame of an effector or body in the world: x, y, z (m), quaternion w, x, y, z.
    ///
    /// >>> sim.pose("tip")[:3]
    fn pose<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let place = find("name", name, &self.mechanism).map_err(input)?;
        self.with(|simulation| {
            let pose = match place {
                Place::Effector(effector) => simulation.effector_pose(effector),
                Place::Body(body) => simulation.pose(body),
            };
            Ok(arrays::vector(py, &arrays::seven(&pose.map_err(input)?)))
        })
    }

    /// Coordinates of one joint, m or rad.
    ///
    /// >>> sim.position("arm2")
    fn position<'py>(&self, py: Python<'py>, joint: &str) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let id = find_joint("joint", joint, &self.mechanism).map_err(input)?;
        self.with(|simulation| Ok(arrays::vector(py, simulation.joint_positions(id).map_err(input)?)))
    }

    /// Kinetic, elastic and potential energy, J.
    #[getter]
    fn energy<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let energy = self.with(|simulation| Ok(simulation.energy()))?;
        let dict = PyDict::new(py);
        dict.set_item("kinetic", energy.kinetic)?;
        dict.set_item("elastic", energy.elastic)?;
        dict.set_item("potential", energy.potential)?;
        Ok(dict)
    }

    /// Sum over joints of the gap between their attachment points, over the mechanism's radius.
    #[getter]
    fn violation(&self) -> PyResult<f64> {
        self.with(|simulation| Ok(simulation.violation()))
    }

    /// Distance to equilibrium in radii; the error of the pose once at rest.
    ///
    /// >>> sim.estimate() < 10.0
    /// True
    fn estimate(&self, py: Python<'_>) -> PyResult<f64> {
        guarded(|| {
            let moving = &mut *self.lock()?;
            py.detach(|| moving.simulation().estimate()).map_err(job)
        })
    }

    /// What the engine has left out of the run so far, with its measure. `run` also gives them as `PliantWarning`.
    #[getter]
    fn warnings(&self) -> PyResult<Vec<String>> {
        self.with(|simulation| Ok(simulation.warnings().into_iter().map(|warning| warning.text).collect()))
    }

    /// Moves to the equilibrium under the present loads, set-points and springs.
    ///
    /// >>> sim.settle()
    /// >>> sim.estimate() < 1e-6
    /// True
    fn settle(&self, py: Python<'_>) -> PyResult<()> {
        guarded(|| {
            let moving = &mut *self.lock()?;
            let found = py.detach(|| moving.simulation().settle(&StaticsSettings::default())).map_err(job)?;
            match found.converged {
                true => Ok(()),
                false => Err(job(not_converged(&found, &self.mechanism))),
            }
        })
    }

    /// Contact points of the last step: a list of dictionaries with `first`, `second`, `point` (m), `normal`, `gap` (m) and
    /// `force` (N, on the second), as the command line has them; without contact it is empty.
    #[getter]
    fn contacts<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        guarded(|| {
            let moving = self.lock()?;
            let Moving::Touching(scene) = &*moving else { return Ok(Vec::new()) };
            let mut list = Vec::new();
            for contact in scene.world().contacts().iter().filter(|contact| contact.force.norm() > 0.0) {
                let dict = PyDict::new(py);
                dict.set_item("first", scene.world().name(contact.first).map_err(input)?)?;
                dict.set_item("second", scene.world().name(contact.second).map_err(input)?)?;
                dict.set_item("point", arrays::vector(py, contact.point.as_slice()))?;
                dict.set_item("normal", arrays::vector(py, contact.normal.as_slice()))?;
                dict.set_item("gap", contact.gap)?;
                dict.set_item("force", arrays::vector(py, contact.force.as_slice()))?;
                list.push(dict);
            }
            Ok(list)
        })
    }

    /// Elastic zones, as the last step left them: a list of dictionaries with `name`, `force` (N, on its bone), `area` (m², in contact), `largest_pressure`
    /// (Pa), `largest_displacement` (m), and, with a row for each node in contact, `nodes` (their
    /// numbers), `points` (m, undeformed position on the bone) and `loads` (N). World axes; without zones it is empty.
    ///
    /// >>> soft = pliant.gallery.pad().simulate()
    /// >>> soft.run(0.2, 0.002)
    /// >>> soft.zones[0]["force"], soft.zones[0]["loads"].sum(axis=0)
    #[getter]
    fn zones<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        guarded(|| {
            let moving = self.lock()?;
            let Moving::Touching(scene) = &*moving else { return Ok(Vec::new()) };
            let mut list = Vec::new();
            for (_, zone) in scene.world().zones() {
                let (points, loads) = (zone.solid().points(), zone.loads());
                let nodes = loads.iter().map(|(node, _)| [*node]);
                let places =
                    loads.iter().map(|(node, _)| zone.pose.transform_point(&points[*node as usize]).into());
                let forces = loads.iter().map(|(_, load)| (zone.pose.rotation * load).into());
                let dict = PyDict::new(py);
                dict.set_item("name", zone.name())?;
                dict.set_item("force", arrays::vector(py, zone.force().as_slice()))?;
                dict.set_item("area", zone.contact_area())?;
                dict.set_item("largest_pressure", zone.largest_pressure())?;
                dict.set_item("largest_displacement", zone.largest_displacement())?;
                dict.set_item("nodes", arrays::rows(py, nodes)?.reshape([loads.len()])?)?;
                dict.set_item("points", arrays::rows::<f64, 3>(py, places)?)?;
                dict.set_item("loads", arrays::rows::<f64, 3>(py, forces)?)?;
                list.push(dict);
            }
            Ok(list)
        })
    }

    /// The force of all contacts on a body in the last step, world axes, N; zero without contact.
    ///
    /// >>> scene = pliant.gallery.gripper_pick().simulate()
    /// >>> scene.run(0.1, 0.004)
    /// >>> scene.contact_force("block")
    fn contact_force<'py>(&self, py: Python<'py>, body: &str) -> PyResult<Bound<'py, PyArray1<f64>>> {
        guarded(|| {
            let id = self.mechanism.find_body(body);
            let id = id.ok_or_else(|| input(format!("body: there is no body `{body}`")))?;
            let moving = self.lock()?;
            let Moving::Touching(scene) = &*moving else { return Ok(arrays::vector(py, &[0.0; 3])) };
            let force =
                scene.touched(id).and_then(|touched| scene.world().force_on(touched)).map_err(input)?;
            Ok(arrays::vector(py, force.force.as_slice()))
        })
    }

    /// The whole state, to restore it later. Loads, set-points and springs are not part of it.
    ///
    /// >>> saved = sim.save()
    /// >>> sim.run(0.1, 0.01)
    /// >>> sim.restore(saved)
    fn save(&self) -> PyResult<State> {
        guarded(|| Ok(State::of(&mut *self.lock()?)))
    }

    /// Restores a saved state, bit for bit; also one of another engine of the same mechanism, as far as this engine can represent it. A state of
    /// another simulation with contact is restored without the contact forces of the last step, with a warning.
    ///
    /// >>> sim.restore(pliant.gallery.arm().equilibrium(loads={"tip": [0, 0, -5]}).state)
    fn restore(&self, state: &Bound<'_, State>) -> PyResult<()> {
        let py = state.py();
        guarded(|| {
            let state = state.get();
            if !state.inner.belongs_to(&self.mechanism) {
                return Err(input("state: it belongs to another mechanism"));
            }
            match self.lock()?.restore(&state.inner, state.touching.as_ref()).map_err(input)? {
                true => Ok(()),
                false => warn(py, [format!("a state of another simulation: {WITHOUT_PUSHES}").as_str()]),
            }
        })
    }

    /// An independent simulation in the same state, with the same inputs.
    ///
    /// >>> other = sim.copy()
    /// >>> other.step(0.01)
    /// >>> sim.time < other.time
    /// True
    fn copy(&self) -> PyResult<Simulation> {
        guarded(|| {
            let moving = Mutex::new(self.lock()?.clone());
            let warned = Mutex::new(self.warned.lock().map(|warned| warned.clone()).unwrap_or_default());
            let (mechanism, whole, why) = (self.mechanism.clone(), self.mechanism(), self.why.clone());
            Ok(Simulation { moving, mechanism, whole, engine: self.engine, why, warned })
        })
    }

    /// The mechanism that moves.
    #[getter]
    fn mechanism(&self) -> Mechanism {
        self.whole.with(self.mechanism.clone())
    }

    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let mechanism = slf.get().mechanism();
        slf.py().import("pliant._html")?.getattr("simulation")?.call1((slf, mechanism))
    }

    fn __copy__(&self) -> PyResult<Simulation> {
        self.copy()
    }

    fn __deepcopy__(&self, memo: &Bound<'_, PyAny>) -> PyResult<Simulation> {
        let _ = memo;
        self.copy()
    }

    fn __repr__(&self) -> String {
        let when = match self.moving.try_lock() {
            Ok(mut moving) => format!("at {} s", moving.simulation().time()),
            Err(TryLockError::WouldBlock) => "in use in another thread".into(),
            Err(TryLockError::Poisoned(_)) => "lost by an internal error".into(),
        };
        format!("<pliant.Simulation of {:?} by the engine {:?}, {when}>", self.mechanism.name(), self.engine)
    }
}
