//! `Mechanism`: what a file or the gallery gives; its bodies and joints.

use std::path::PathBuf;
use std::sync::{Mutex, OnceLock};

use numpy::{PyArray1, PyArray2, PyArrayDyn};
use pliant::contact::{Scene, Surfaces};
use pliant::engines::Engine;
use pliant::io;
use pliant::mechanism::{Mechanism as Inner, Summary};
use pliant::placing::Placing;
use pliant::reduced::Sampling;
use pliant::shared::setup::{self, Place};
use pliant::spatial::Pose;
use pyo3::prelude::*;

use crate::arrays;
use crate::comparison;
use crate::errors::{guarded, input, unsaved};
use crate::files::{Files, PickledFiles};
use crate::linearization::{self, Linearization};
use crate::making;
use crate::model::{self, Model};
use crate::parts::{Body, Joint};
use crate::placing;
use crate::setup::{ByName, Setup};
use crate::simulation::Simulation;
use crate::state::State;
use crate::statics::{self, Equilibrium};

/// A compliant articulated mechanism: bodies, joints with springs, effectors. It never changes.
///
/// Made by `pliant.load`, `pliant.parse` or `pliant.gallery`.
///
/// >>> m = pliant.gallery.arm()
/// >>> m.mass, m.freedoms, m.effectors
#[pyclass(frozen, module = "pliant")]
pub struct Mechanism {
    pub inner: Inner,
    pub files: Files,
    /// What runs of contact are copies of, so that states which one of them ends in are of use to others.
    scene: OnceLock<Mutex<Scene>>,
}

impl Mechanism {
    pub fn new(inner: Inner, files: Files) -> Mechanism {
        Mechanism { inner, files, scene: OnceLock::new() }
    }

    pub fn of_gallery(inner: Inner) -> Mechanism {
        Mechanism::new(inner, Files::default())
    }

    /// Another with the same files.
    pub fn with(&self, inner: Inner) -> Mechanism {
        Mechanism::new(inner, self.files.clone())
    }

    /// Surfaces of a mechanism with the same shapes that lie in files, read without the interpreter lock.
    pub fn surfaces(&self, py: Python<'_>, mechanism: &Inner) -> PyResult<Surfaces> {
        py.detach(|| self.files.surfaces(mechanism))
    }

    /// Its scene of contact by the engine `articulated`, where it starts: the same each time.
    pub fn scene(&self, py: Python<'_>) -> PyResult<Scene> {
        let lost = || input("the scene of the mechanism was lost by an earlier internal error of Pliant");
        if let Some(scene) = self.scene.get() {
            return scene.lock().map(|scene| scene.clone()).map_err(|_| lost());
        }
        let made = py.detach(|| {
            let surfaces = self.files.surfaces(&self.inner)?;
            Engine::Articulated.scene(&self.inner, surfaces).map_err(input)
        })?;
        // Another thread may have made one meanwhile.
        self.scene.get_or_init(|| Mutex::new(made)).lock().map(|scene| scene.clone()).map_err(|_| lost())
    }

    fn summary(&self) -> Summary {
        self.inner.summary()
    }
}

#[pymethods]
impl Mechanism {
    /// Its name, which may be empty.
    #[getter]
    fn name(&self) -> &str {
        self.inner.name()
    }

    /// Names of all bodies, in the order of the rows of `poses`.
    #[getter]
    fn bodies(&self) -> Vec<&str> {
        self.inner.bodies().iter().map(|body| body.name.as_str()).collect()
    }

    /// Names of all joints.
    #[getter]
    fn joints(&self) -> Vec<&str> {
        self.inner.joints().iter().map(|joint| joint.name.as_str()).collect()
    }

    /// Names of all effectors: the points where the world acts on the mechanism.
    #[getter]
    fn effectors(&self) -> Vec<&str> {
        self.inner.effectors().iter().map(|effector| effector.name.as_str()).collect()
    }

    /// Names of all coordinates, in the order of `positions`: that of its joint, with [k] where a joint has several.
    #[getter]
    fn coordinates(&self) -> Vec<String> {
        let mut names = Vec::new();
        for joint in self.inner.joints() {
            match joint.freedoms.len() {
                1 => names.push(joint.name.clone()),
                n => names.extend((0..n).map(|k| format!("{}[{k}]", joint.name))),
            }
        }
        names
    }

    /// Freedoms of the spanning forest, without the reduction by loops and couplings.
    #[getter]
    fn freedoms(&self) -> usize {
        self.summary().freedoms
    }

    /// Number of joints that close a loop.
    #[getter]
    fn loops(&self) -> usize {
        self.summary().loops
    }

    /// Mass of all bodies, kg.
    #[getter]
    fn mass(&self) -> f64 {
        self.inner.mass()
    }

    /// Radius of the ball around all joint and link origins, m.
    #[getter]
    fn radius(&self) -> f64 {
        self.inner.radius()
    }

    /// Gravity, world axes, m/s².
    #[getter]
    fn gravity<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        arrays::vector(py, self.inner.gravity().as_slice())
    }

    /// Whether the scene has contact.
    #[getter]
    fn has_contact(&self) -> bool {
        self.inner.has_contact()
    }

    /// What was left out of its file, and what is probably not intended.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.inner.warnings()
    }

    /// What was assumed when its file was read, such as springs that it does not give.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.inner.notes().to_vec()
    }

    /// A joint by its name.
    ///
    /// >>> pliant.gallery.two_link().joint("elbow").stiffness
    /// array([100.])
    fn joint(&self, name: &str) -> PyResult<Joint> {
        let id = setup::find_joint("name", name, &self.inner).map_err(input)?;
        Ok(Joint { mechanism: self.inner.clone(), at: id.index() })
    }

    /// A body by its name.
    ///
    /// >>> pliant.gallery.arm().body("arm2").mass
    fn body(&self, name: &str) -> PyResult<Body> {
        let names = self.inner.bodies().iter().map(|body| body.name.as_str());
        match self.inner.find_body(name) {
            Some(id) => Ok(Body { mechanism: self.inner.clone(), at: id.index() }),
            None => {
                let guess = pliant::shared::words::did_you_mean(name, names.clone());
                let there = pliant::shared::words::first_few(&names.collect::<Vec<_>>());
                Err(input(format!("name: there is no body `{name}`{guess}\nbodies: {there}")))
            }
        }
    }

    /// The equilibrium under gravity and loads, exactly, with loops; with contact, if the scene has contact.
    ///
    /// loads: effectors or bodies to forces (N), or forces and torques (N·m), world axes, at their origins.
    /// at: joints to the positions (rad or m) that the search starts from.
    /// gravity: m/s², world axes; the file's if not given.
    /// springs: effectors or bodies to [x, y, z, k], a spring of k N/m to a point.
    /// scene_loads: also the loads of the scene.
    ///
    /// >>> pliant.gallery.arm().equilibrium(loads={"tip": [0, 0, -20]}).effectors["tip"]
    #[pyo3(signature = (loads=None, at=None, gravity=None, springs=None, scene_loads=false))]
    fn equilibrium(
        &self,
        py: Python<'_>,
        loads: ByName<'_, '_>,
        at: ByName<'_, '_>,
        gravity: Option<&Bound<'_, PyAny>>,
        springs: ByName<'_, '_>,
        scene_loads: bool,
    ) -> PyResult<Equilibrium> {
        let setup = Setup { at, springs, effectors: &[] };
        statics::equilibrium(py, self, &setup, loads, gravity, scene_loads)
    }

    /// The compliance at effectors or bodies, exactly: from a force (N) and torque (N·m) on each to its motion (m, rad), in their own
    /// frames, linear part first; 6 rows and columns for each. By default at the file's pose, unloaded, and with a free base held.
    ///
    /// effectors: names of effectors or bodies; all effectors if none is given.
    /// at: joints to positions, rad or m.
    /// loaded: at the equilibrium under gravity, the scene's loads and those given.
    /// method: "exact", or "incremental" of the paper, which is not exact where loops share bodies.
    ///
    /// >>> pliant.gallery.arm().compliance("tip", at={"arm2": 0.3})[:3, :3]
    #[pyo3(signature = (*effectors, at=None, loads=None, gravity=None, springs=None, loaded=false, method="exact"))]
    #[expect(clippy::too_many_arguments, reason = "they are the names of the command line's options")]
    fn compliance<'py>(
        &self,
        py: Python<'py>,
        effectors: Vec<String>,
        at: ByName<'_, '_>,
        loads: ByName<'_, '_>,
        gravity: Option<&Bound<'_, PyAny>>,
        springs: ByName<'_, '_>,
        loaded: bool,
        method: &str,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let setup = Setup { at, springs, effectors: &effectors };
        statics::compliance(py, self, &setup, loads, gravity, loaded, method)
    }

    /// A simulation from the file's pose, at rest.
    ///
    /// engine: "auto", "full", "articulated", "reduced", "linear" or "blended".
    /// loads, at, gravity, springs, scene_loads: as in `equilibrium`; "reduced" chooses its motions for them.
    /// contact: with False, bodies pass through each other.
    /// modes: of "linear" and "reduced", how many modes are kept in addition to the motions of the effectors. If not given, "reduced" keeps 4,
    /// and "linear" none, or, where things touch, all that an impact excites in steps of 1/240 s.
    ///
    /// >>> sim = pliant.gallery.arm().simulate()
    /// >>> sim.run(1.0, 0.01)
    #[pyo3(signature = (engine="auto", *, loads=None, at=None, gravity=None, springs=None, scene_loads=false, contact=true, modes=None))]
    #[expect(clippy::too_many_arguments, reason = "they are the names of the command line's options")]
    fn simulate(
        &self,
        py: Python<'_>,
        engine: &str,
        loads: ByName<'_, '_>,
        at: ByName<'_, '_>,
        gravity: Option<&Bound<'_, PyAny>>,
        springs: ByName<'_, '_>,
        scene_loads: bool,
        contact: bool,
        modes: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Simulation> {
        let modes =
            modes.map(|modes| arrays::whole("modes", "a whole number of modes", (0, u64::MAX), modes));
        let modes = modes.transpose()?.map(|modes| usize::try_from(modes).unwrap_or(usize::MAX));
        let setup = Setup { at, springs, effectors: &[] };
        let choice = making::Choice { engine, contact, modes, motions: None };
        making::simulate(py, self, &setup, choice, loads, gravity, scene_loads)
    }

    /// A state with these positions and velocities (one number for each of `coordinates`); those of the start, and zero, if not given.
    /// Positions must close all loops (those of `at` do); they do not include free bodies.
    ///
    /// >>> pliant.gallery.two_link().state(positions=[0.1, 0.2]).poses
    #[pyo3(signature = (positions=None, velocities=None))]
    fn state(
        &self,
        positions: Option<&Bound<'_, PyAny>>,
        velocities: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<State> {
        guarded(|| {
            let start = pliant::engine::State::at_rest(&self.inner);
            if positions.is_none() && velocities.is_none() {
                return Ok(State::new(&self.inner, start));
            }
            let positions = placing::coordinates("positions", positions, &start.coordinates)?;
            let velocities = placing::coordinates("velocities", velocities, &start.rates)?;
            let mut placing = Placing::new(&self.inner).map_err(input)?;
            let state = placing.closed_state(&positions, &velocities).map_err(input)?;
            Ok(State::new(&self.inner, state.clone()))
        })
    }

    /// Where an effector or body is at given positions of the joints (forward kinematics): x, y, z (m), quaternion w, x, y, z. Of positions of
    /// the shape (batch, n), an array of the shape (batch, 7).
    ///
    /// >>> pliant.gallery.arm().pose("tip", numpy.zeros((100, 20))).shape
    /// (100, 7)
    fn pose<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        positions: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        guarded(|| {
            let place = setup::find("name", name, &self.inner).map_err(input)?;
            let (n, found) = (self.inner.coordinate_count(), arrays::numbers("positions", positions)?);
            if !matches!(found.shape.len(), 1 | 2) || found.shape.last() != Some(&n) {
                return Err(input(format!(
                    "positions: expected the shape ({n},) or (batch, {n}), got the shape {}",
                    arrays::shape(&found.shape)
                )));
            }
            let (body, frame) = match place {
                Place::Effector(effector) => (self.inner[effector].body, self.inner[effector].frame),
                Place::Body(body) => (body, Pose::identity()),
            };
            let (rates, mut poses) = (vec![0.0; n], Vec::with_capacity(7 * found.values.len() / n.max(1)));
            py.detach(|| {
                let mut placing = Placing::new(&self.inner).map_err(input)?;
                for positions in found.values.chunks(n.max(1)) {
                    let state = placing.closed_state(positions, &rates).map_err(input)?;
                    poses.extend(arrays::seven(&(state.pose(body).map_err(input)? * frame)));
                }
                Ok::<_, PyErr>(())
            })?;
            let shape: Vec<usize> = found.shape[..found.shape.len() - 1].iter().copied().chain([7]).collect();
            arrays::shaped(py, poses, &shape)
        })
    }

    /// The linearization of a step of dt seconds about a state: x' = A x + B u + B_loads w, y = C x, with x positions and velocities, u
    /// set-points, w forces and torques on the effectors, y the poses of the effectors. Springs, PD control and loops are included.
    ///
    /// state: a State, or a Simulation with what acts on it; the start if None.
    /// With loops, positions are not independent: A is valid for changes that keep loops closed.
    ///
    /// >>> step = pliant.gallery.arm().linearize(None, 0.01)
    /// >>> step.A.shape, step.B.shape, step.C.shape
    #[pyo3(signature = (state, dt, *, loads=None, gravity=None))]
    fn linearize(
        &self,
        py: Python<'_>,
        state: Option<&Bound<'_, PyAny>>,
        dt: &Bound<'_, PyAny>,
        loads: ByName<'_, '_>,
        gravity: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Linearization> {
        linearization::linearize(py, self, state, dt, loads, gravity)
    }

    /// Compares the engines, as `pliant compare` does: errors at rest and in motion, speed, frequencies; in scenes with contact, all engines that
    /// support contact. It takes seconds to a minute.
    ///
    /// dt: of the motion, s. effectors, at, springs, gravity: as in `compliance`. loads: effectors to forces (N), or forces and torques (N·m),
    /// in addition to those of the scene.
    ///
    /// >>> comparison = pliant.gallery.four_bar().compare()
    /// >>> comparison.figures["transient"]["max_error_relative"]
    #[pyo3(signature = (*effectors, dt=None, loads=None, at=None, gravity=None, springs=None))]
    #[expect(clippy::too_many_arguments, reason = "they are the names of the command line's options")]
    fn compare<'py>(
        &self,
        py: Python<'py>,
        effectors: Vec<String>,
        dt: Option<&Bound<'py, PyAny>>,
        loads: ByName<'_, '_>,
        at: ByName<'_, '_>,
        gravity: Option<&Bound<'_, PyAny>>,
        springs: ByName<'_, '_>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let setup = Setup { at, springs, effectors: &effectors };
        comparison::compare(py, self, &setup, loads, gravity, dt)
    }

    /// A reduced model of a few motions of the joints, with an error of at most max_error of the radius at rest under loads that move an effector by up to
    /// `displacement` radii; with its error under other loads. A bound that is not met is a `PliantWarning`.
    ///
    /// frequency: keeps all modes up to this frequency, Hz. seed: of the random loads; the same seed gives the same model.
    ///
    /// >>> model = pliant.gallery.helix(50).reduce(max_error=0.01)
    #[pyo3(signature = (max_error=0.01, *, displacement=1.0, frequency=None, seed=None), text_signature = "($self, max_error=0.01, *, displacement=1.0, frequency=None, seed=1)")]
    fn reduce(
        &self,
        py: Python<'_>,
        max_error: f64,
        displacement: f64,
        frequency: Option<f64>,
        seed: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Model> {
        let seed = seed.map_or(Ok(1), |seed| arrays::whole("seed", "a whole number", (0, u64::MAX), seed))?;
        model::reduce(py, self, Sampling { max_error, displacement, frequency, seed, ..Sampling::default() })
    }

    /// The mechanism with other start positions of joints; springs keep their rest positions.
    ///
    /// >>> bent = pliant.gallery.arm().at({"arm2": 0.3})
    fn at(&self, py: Python<'_>, positions: &Bound<'_, PyAny>) -> PyResult<Mechanism> {
        guarded(|| {
            let (inner, warnings) = Setup { at: Some(positions), ..Setup::default() }.of(&self.inner, &[])?;
            crate::errors::warn_of(py, &warnings)?;
            Ok(self.with(inner))
        })
    }

    /// The text of its scene file (TOML), which reads back to the last bit.
    ///
    /// >>> pliant.parse(pliant.gallery.arm().to_toml()) == pliant.gallery.arm()
    /// True
    fn to_toml(&self) -> PyResult<String> {
        guarded(|| Ok(io::scene::write(&self.inner)))
    }

    /// Writes its scene file (.toml).
    ///
    /// >>> pliant.gallery.arm().save("arm.toml")
    fn save(&self, path: PathBuf) -> PyResult<()> {
        guarded(|| io::save(&self.inner, path).map_err(unsaved))
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Mechanism>().is_ok_and(|other| other.get().inner == self.inner)
    }

    pub fn __hash__(&self) -> u64 {
        use std::hash::{DefaultHasher, Hash, Hasher};
        let mut hasher = DefaultHasher::new();
        (self.inner.name(), self.inner.bodies().len(), self.inner.coordinate_count()).hash(&mut hasher);
        hasher.finish()
    }

    fn __repr__(&self) -> String {
        let Summary { bodies, joints, freedoms, loops, .. } = self.summary();
        format!(
            "<pliant.Mechanism {:?}: {bodies} bodies, {joints} joints, {freedoms} freedoms, {loops} loops>",
            self.inner.name()
        )
    }

    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("pliant._html")?.getattr("mechanism")?.call1((slf,))
    }

    /// By the text of its scene file, with the surfaces of its meshes and what its reader said.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Pickled<'py>> {
        let own = slf.get();
        let read = slf.py().import("pliant._native")?.getattr("mechanism_from_text")?;
        let remarks = (own.inner.reader_warnings().to_vec(), own.inner.notes().to_vec());
        let files = guarded(|| own.files.pickled(slf.py(), &own.inner))?;
        Ok((read, (own.to_toml()?, files, remarks)))
    }
}

/// A function and its arguments, as pickles have them: text, files, and what its reader said.
type Pickled<'py> = (Bound<'py, PyAny>, (String, PickledFiles, (Vec<String>, Vec<String>)));
