//! The linearization of a step about a state, x' = A x + B u + B_w w, y = C x, by differences of the step of the engine `articulated`.
//!
//! Coordinates count in their own scales L (radii, rad), rates in L/dt, and forces in weights, so that every entry of the scaled matrices is
//! about one. Each derivative is the difference of four points,
//!
//! ```text
//! f′ = [8 (f(h) − f(−h)) − (f(2h) − f(−2h))] / 12h + O(h⁴)
//! ```
//!
//! with h = 2.5e-4: the error of the formula is some 1e-14, that of rounding some 1e-12. The differences over h and 2h also tell where a step is not
//! smooth: at a limit, where friction holds.
//!
//! The engine carries the momenta of the links from step to step, as twists that are a term of order dt from those of coordinates and rates. This term
//! is kept as it is at the state; what a change of it would do is left out. It is zero at rest, and grows with the square of the speed.

use numpy::PyArray2;
use pliant::engine::{Inputs, Simulation as _, State as EngineState, Warning};
use pliant::mechanism::Mechanism as Inner;
use pliant::nalgebra::DMatrix;
use pliant::spatial::{Pose, Twist, Wrench};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use crate::arrays;
use crate::errors::{guarded, input, not_taken, warn_of};
use crate::mechanism::Mechanism;
use crate::placing::Placing;
use crate::setup::{ByName, inputs, loads};
use crate::simulation::Simulation;
use crate::state::State;

/// Steps of differences, in scales.
const H: f64 = 2.5e-4;

/// Differences over h and 2h that are farther apart than this, in scales, are those of a step that is not smooth.
const SMOOTH: f64 = 1e-3;

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

    /// From positions and velocities to where the effectors are (m, rad, world axes): 6e×2n.
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

    fn __repr__(&self) -> String {
        format!(
            "<pliant.Linearization of {} coordinates and {} outputs, dt = {} s>",
            self.sizes.0, self.sizes.1, self.dt
        )
    }
}

/// What is varied.
#[derive(Clone, Copy)]
enum Vary {
    Position(usize),
    Velocity(usize),
    Target(usize),
    Load(usize, usize),
}

/// Everything that a difference needs.
struct Step<'m> {
    mechanism: &'m Inner,
    simulation: pliant::articulated::Simulation,
    placing: Placing,
    inputs: Inputs,
    positions: Vec<f64>,
    velocities: Vec<f64>,
    /// Twists of the state beyond those of its coordinates and rates.
    carried: Vec<Twist>,
    targets: Vec<f64>,
    /// Of each coordinate: m or rad.
    scales: Vec<f64>,
    /// N.
    weight: f64,
    radius: f64,
    dt: f64,
}

impl<'m> Step<'m> {
    fn new(mechanism: &'m Inner, about: &EngineState, inputs: &Inputs, dt: f64) -> PyResult<Step<'m>> {
        let (model, placing) = Placing::new(mechanism)?;
        let radius = if mechanism.radius() > 0.0 { mechanism.radius() } else { 1.0 };
        let mut scales = Vec::new();
        for joint in mechanism.joints() {
            scales.extend(
                (0..joint.freedoms.len()).map(|k| if k < joint.kind.translations() { radius } else { 1.0 }),
            );
        }
        let mut inputs = inputs.clone();
        // Set-points are inputs here, also those of the scene, at the end of the step.
        inputs.follow_targets(about.time + dt);
        let targets = inputs.rest().to_vec();
        for joint in mechanism.joint_ids() {
            inputs.set_target(joint, &targets[mechanism[joint].coordinates()]).map_err(input)?;
        }
        let mut placing = placing.about(about);
        let placed = placing.state(&about.coordinates, &about.rates)?;
        let carried = about.twists.iter().zip(&placed.twists).map(|(twist, own)| *twist - *own).collect();
        let mass = mechanism.mass();
        Ok(Step {
            carried,
            mechanism,
            simulation: model.simulate(),
            placing,
            inputs,
            positions: about.coordinates.clone(),
            velocities: about.rates.clone(),
            targets,
            scales,
            weight: if mass > 0.0 { 9.81 * mass } else { 1.0 },
            radius,
            dt,
        })
    }

    /// The scale of what is varied.
    fn scale(&self, vary: Vary) -> f64 {
        match vary {
            Vary::Position(i) | Vary::Target(i) => self.scales[i],
            Vary::Velocity(i) => self.scales[i] / self.dt,
            Vary::Load(_, k) => self.weight * if k < 3 { 1.0 } else { self.radius },
        }
    }

    /// Goes to where something is varied by so many scales.
    fn go(&mut self, vary: Vary, by: f64) -> PyResult<()> {
        let by = by * self.scale(vary);
        let (mut q, mut v) = (self.positions.clone(), self.velocities.clone());
        match vary {
            Vary::Position(i) => q[i] += by,
            Vary::Velocity(i) => v[i] += by,
            Vary::Target(_) | Vary::Load(..) => {}
        }
        self.simulation.inputs_mut().clone_from(&self.inputs);
        match vary {
            Vary::Target(i) => {
                let joint =
                    self.mechanism.joint_ids().find(|id| self.mechanism[*id].coordinates().contains(&i));
                let joint = joint.ok_or_else(|| input("there is no such coordinate"))?;
                let range = self.mechanism[joint].coordinates();
                let mut rest = self.targets[range.clone()].to_vec();
                rest[i - range.start] += by;
                self.simulation.inputs_mut().set_target(joint, &rest).map_err(input)?;
            }
            Vary::Load(e, k) => {
                let effector =
                    self.mechanism.effector_ids().nth(e).ok_or_else(|| input("there is no such effector"))?;
                let mut load = self.inputs.load(effector).map_err(input)?.to_vector();
                load[k] += by;
                self.simulation.inputs_mut().set_load(effector, Wrench::from_vector(&load)).map_err(input)?;
            }
            Vary::Position(_) | Vary::Velocity(_) => {}
        }
        let mut state = self.placing.state(&q, &v)?.clone();
        for (twist, carried) in state.twists.iter_mut().zip(&self.carried) {
            *twist = *twist + *carried;
        }
        self.simulation.set_state(&state).map_err(input)
    }

    /// Coordinates and rates after a step, in their scales.
    fn after(&mut self, vary: Vary, by: f64) -> PyResult<Vec<f64>> {
        self.go(vary, by)?;
        self.simulation.step(self.dt).map_err(not_taken)?;
        let state = self.simulation.state();
        let q = state.coordinates.iter().zip(&self.scales).map(|(q, scale)| q / scale);
        let v = state.rates.iter().zip(&self.scales).map(|(v, scale)| v * self.dt / scale);
        Ok(q.chain(v).collect())
    }

    /// Where effectors are from where they were, in radii and rad.
    fn seen(&mut self, vary: Vary, by: f64, from: &[Pose]) -> PyResult<Vec<f64>> {
        self.go(vary, by)?;
        let mut seen = Vec::new();
        for (effector, from) in self.mechanism.effector_ids().zip(from) {
            let pose = self.simulation.effector_pose(effector).map_err(input)?;
            seen.extend(((pose.position - from.position) / self.radius).iter());
            seen.extend((pose.rotation * from.rotation.inverse()).scaled_axis().iter());
        }
        Ok(seen)
    }

    /// The derivative of a function, in scales, and how far the differences over h and 2h are apart.
    fn derivative(
        &mut self,
        vary: Vary,
        mut of: impl FnMut(&mut Self, Vary, f64) -> PyResult<Vec<f64>>,
    ) -> PyResult<(Vec<f64>, f64)> {
        let points = [-2.0 * H, -H, H, 2.0 * H];
        let mut f = Vec::with_capacity(points.len());
        for by in points {
            f.push(of(self, vary, by)?);
        }
        let mut apart: f64 = 0.0;
        let each = (0..f[0].len()).map(|i| {
            let (near, far) = ((f[2][i] - f[1][i]) / (2.0 * H), (f[3][i] - f[0][i]) / (4.0 * H));
            apart = apart.max((near - far).abs() / near.abs().max(1.0));
            (4.0 * near - far) / 3.0
        });
        let derivative = each.collect();
        Ok((derivative, apart))
    }

    /// The matrix of derivatives, in units of the rows and columns, and the worst of those distances.
    fn matrix(
        &mut self,
        varied: &[Vary],
        units: &[f64],
        mut of: impl FnMut(&mut Self, Vary, f64) -> PyResult<Vec<f64>>,
    ) -> PyResult<(DMatrix<f64>, f64)> {
        let mut found = DMatrix::zeros(units.len(), varied.len());
        let mut worst: f64 = 0.0;
        for (k, vary) in varied.iter().enumerate() {
            let (column, apart) = self.derivative(*vary, &mut of)?;
            worst = worst.max(apart);
            for (i, x) in column.into_iter().enumerate() {
                found[(i, k)] = x * units[i] / self.scale(*vary);
            }
        }
        Ok((found, worst))
    }
}

fn linearized(
    mechanism: &Inner,
    about: &EngineState,
    inputs: &Inputs,
    dt: f64,
) -> PyResult<([DMatrix<f64>; 4], f64)> {
    let mut step = Step::new(mechanism, about, inputs, dt)?;
    let (n, e) = (mechanism.coordinate_count(), mechanism.effectors().len());
    let states: Vec<Vary> = (0..n).map(Vary::Position).chain((0..n).map(Vary::Velocity)).collect();
    let targets: Vec<Vary> = (0..n).map(Vary::Target).collect();
    let wrenches: Vec<Vary> = (0..e).flat_map(|e| (0..6).map(move |k| Vary::Load(e, k))).collect();
    let of_state: Vec<f64> =
        step.scales.iter().copied().chain(step.scales.iter().map(|scale| scale / dt)).collect();
    let of_seen: Vec<f64> = (0..6 * e).map(|i| if i % 6 < 3 { step.radius } else { 1.0 }).collect();
    let (A, a) = step.matrix(&states, &of_state, Step::after)?;
    let (B, b) = step.matrix(&targets, &of_state, Step::after)?;
    let (B_loads, w) = step.matrix(&wrenches, &of_state, Step::after)?;
    step.go(Vary::Position(0), 0.0)?;
    let from: Vec<Pose> = mechanism
        .effector_ids()
        .map(|effector| step.simulation.effector_pose(effector))
        .collect::<Result<_, _>>()
        .map_err(input)?;
    let (C, c) = step.matrix(&states, &of_seen, |step, vary, by| step.seen(vary, by, &from))?;
    let apart = a.max(b).max(w).max(c);
    Ok(([A, B, B_loads, C], apart))
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
        if !state.belongs_to(mechanism) {
            return Err(input("state: it belongs to another mechanism"));
        }
        if mechanism.coordinate_count() == 0 {
            return Err(input("the mechanism has no coordinates: there is nothing to linearize"));
        }
        let ([A, B, B_loads, C], apart) = py.detach(|| linearized(mechanism, &state, &acts, dt))?;
        let mut warnings = Vec::new();
        if apart > SMOOTH {
            let text = format!(
                "the step is not smooth there: differences over {H} and twice that are {apart:.1e} apart, in scales; a joint is at a limit, or \
                 dry friction holds it"
            );
            warnings.push(Warning { kind: "not smooth", measure: apart, unit: "scales", text });
        }
        if mechanism.has_contact() {
            let text = "the linearization leaves contact out: it is that of the mechanism alone".into();
            warnings.push(Warning {
                kind: "contact",
                measure: mechanism.bodies().len() as f64,
                unit: "bodies",
                text,
            });
        }
        warn_of(py, &warnings)?;
        let kept = |matrix: &DMatrix<f64>| Ok::<_, PyErr>(arrays::fixed_matrix(py, matrix)?.unbind());
        Ok(Linearization {
            sizes: (B.ncols(), C.nrows()),
            A: kept(&A)?,
            B: kept(&B)?,
            B_loads: kept(&B_loads)?,
            C: kept(&C)?,
            dt,
        })
    })
}
