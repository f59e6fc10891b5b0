//! Many steps in one call, without the interpreter lock, recorded into arrays that are made once.

use std::time::{Duration, Instant};

use pliant::mechanism::{BodyId, EffectorId, Mechanism};
use pliant::shared::overlaps::Overlaps;
use pliant::shared::setup::{Place, find};
use pliant::shared::watch::Watch;
use pliant::spatial::Pose;
use pliant::{Moving, engine};
use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays;
use crate::errors::{guarded, input, not_taken};
use crate::simulation::Simulation;

/// More steps than this are a slip of the pen: at 1 µs each they take a quarter of an hour.
const MOST_STEPS: f64 = 1e9;

/// So long a run goes on before it asks for a keyboard interrupt.
const ATTENTION: Duration = Duration::from_millis(50);

/// Most steps between looks at the clock: fewer where steps are so long that these take longer.
const BETWEEN: u32 = 16;

/// What is recorded.
enum Quantity {
    Positions,
    Velocities,
    Forces,
    Poses,
    Twists,
    Energy,
    Effector(EffectorId),
    Body(BodyId),
}

struct Column {
    name: String,
    quantity: Quantity,
    values: Vec<f64>,
}

impl Column {
    fn new(name: String, mechanism: &Mechanism, rows: usize) -> PyResult<Column> {
        let quantity = match name.as_str() {
            "positions" => Quantity::Positions,
            "velocities" => Quantity::Velocities,
            "forces" => Quantity::Forces,
            "poses" => Quantity::Poses,
            "twists" => Quantity::Twists,
            "energy" => Quantity::Energy,
            name => match find("record", name, mechanism) {
                Ok(Place::Effector(effector)) => Quantity::Effector(effector),
                Ok(Place::Body(body)) => Quantity::Body(body),
                Err(error) => {
                    return Err(input(format!(
                        "{error}\nor record `positions`, `velocities`, `forces`, `poses`, `twists` or `energy`"
                    )));
                }
            },
        };
        let mut column = Column { name, quantity, values: Vec::new() };
        let width: usize = column.shape(mechanism).iter().product();
        let room = rows.checked_mul(width).and_then(|n| column.values.try_reserve_exact(n).ok());
        room.ok_or_else(|| {
            PyMemoryError::new_err(format!(
                "record: {rows} rows of `{}` do not fit in memory; take a larger `every`",
                column.name
            ))
        })?;
        Ok(column)
    }

    /// Of one row.
    fn shape(&self, mechanism: &Mechanism) -> Vec<usize> {
        match self.quantity {
            Quantity::Positions | Quantity::Velocities | Quantity::Forces => {
                vec![mechanism.coordinate_count()]
            }
            Quantity::Poses => vec![mechanism.bodies().len(), 7],
            Quantity::Twists => vec![mechanism.bodies().len(), 6],
            Quantity::Energy => vec![3],
            Quantity::Effector(_) | Quantity::Body(_) => vec![7],
        }
    }

    fn record(&mut self, simulation: &mut dyn engine::Simulation) {
        let seven =
            |values: &mut Vec<f64>, pose: Option<Pose>| values.extend(pose.iter().flat_map(arrays::seven));
        match self.quantity {
            Quantity::Positions => self.values.extend_from_slice(&simulation.state().coordinates),
            Quantity::Velocities => self.values.extend_from_slice(&simulation.state().rates),
            Quantity::Forces => self.values.extend_from_slice(&simulation.state().forces),
            Quantity::Poses => self.values.extend(simulation.state().poses.iter().flat_map(arrays::seven)),
            Quantity::Twists => self.values.extend(simulation.state().twists.iter().flat_map(arrays::six)),
            Quantity::Energy => {
                let energy = simulation.energy();
                self.values.extend([energy.kinetic, energy.elastic, energy.potential]);
            }
            Quantity::Effector(effector) => seven(&mut self.values, simulation.effector_pose(effector).ok()),
            Quantity::Body(body) => seven(&mut self.values, simulation.pose(body).ok()),
        }
    }
}

/// Steps of a duration.
pub fn step_count(seconds: f64, dt: f64) -> PyResult<u64> {
    if !(seconds.is_finite() && seconds >= 0.0) {
        return Err(input(format!(
            "seconds: expected a finite number of seconds, zero or above, got {seconds}"
        )));
    }
    let steps = (seconds / arrays::positive("dt", dt, "seconds")?).round();
    if steps > MOST_STEPS {
        return Err(input(format!(
            "a duration of {seconds} s in steps of {dt} s makes {steps:.1e} steps, more than {MOST_STEPS:e}; take a longer dt or a \
             shorter duration"
        )));
    }
    Ok(steps as u64)
}

#[pymethods]
impl Simulation {
    /// Takes round(seconds / dt) steps, without the interpreter lock, and returns what was recorded, the start included.
    ///
    /// record: `positions`, `velocities`, `forces` (all coordinates), `poses`, `twists` (all bodies), `energy` (kinetic, elastic,
    /// potential, J), or the name of an effector or body for its pose (x, y, z in m, quaternion w, x, y, z).
    /// every: record every so many steps.
    /// On an error, or a keyboard interrupt, the simulation has the state after its last good step.
    ///
    /// >>> sim.run(2.0, 0.01, record=["positions", "tip"])["tip"].shape
    /// (201, 7)
    #[pyo3(signature = (seconds, dt, record=Vec::new(), every=None), text_signature = "($self, seconds, dt, record=(), every=1)")]
    fn run<'py>(
        &self,
        py: Python<'py>,
        seconds: &Bound<'_, PyAny>,
        dt: &Bound<'_, PyAny>,
        record: Vec<String>,
        every: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        guarded(|| {
            let (seconds, dt) = (arrays::number("seconds", seconds)?, arrays::number("dt", dt)?);
            let steps = step_count(seconds, dt)?;
            let every = every.map_or(Ok(1), |every| {
                arrays::whole("every", "a whole number of steps", (1, u64::MAX), every)
            })?;
            let rows = usize::try_from(steps / every).map_err(input)? + 1;
            let mut times = Vec::new();
            let mut columns: Vec<Column> = Vec::new();
            for name in record {
                if columns.iter().any(|column| column.name == name) {
                    return Err(input(format!("record: `{name}` is named twice")));
                }
                columns.push(Column::new(name, &self.mechanism, rows)?);
            }
            let mut guard = self.lock()?;
            let moving = &mut *guard;
            if !columns.is_empty() {
                times.push(moving.simulation().time());
                columns.iter_mut().for_each(|column| column.record(moving.simulation()));
            }
            let mut taken = 0;
            // Of loose bodies alone there is no engine that leaves anything out.
            let mut watch = self.engine.parse().ok().map(|engine| {
                let touches = matches!(moving, Moving::Touching(_));
                let overlaps = || {
                    let surfaces = self.whole.surfaces(py, &self.mechanism).ok()?;
                    let apart = self.mechanism.take_apart();
                    Overlaps::new(&self.mechanism, &apart, &surfaces).ok().flatten()
                };
                Watch::new(&self.mechanism, engine, &[], (touches, overlaps), (moving.simulation(), steps))
            });
            while taken < steps {
                py.detach(|| {
                    let (simulation, start) = (moving.simulation(), Instant::now());
                    let (mut looked, mut unseen, mut between) = (start, 0, 1);
                    while taken < steps {
                        simulation.step(dt).map_err(not_taken)?;
                        taken += 1;
                        if let Some(watch) = watch.as_mut().filter(|watch| taken.is_multiple_of(watch.stride))
                        {
                            watch.look(simulation, taken);
                        }
                        if !columns.is_empty() && taken % every == 0 {
                            times.push(simulation.time());
                            columns.iter_mut().for_each(|column| column.record(simulation));
                        }
                        unseen += 1;
                        if unseen == between {
                            let now = Instant::now();
                            if now - start > ATTENTION {
                                break;
                            }
                            between =
                                if BETWEEN * (now - looked) / between < ATTENTION { BETWEEN } else { 1 };
                            (looked, unseen) = (now, 0);
                        }
                    }
                    Ok::<_, PyErr>(())
                })?;
                py.check_signals()?;
            }
            let mut warnings = moving.simulation().warnings();
            warnings.extend(watch.into_iter().flat_map(|watch| watch.found));
            drop(guard);
            self.warn(py, warnings)?;
            let recorded = PyDict::new(py);
            for column in columns {
                let shape: Vec<usize> =
                    [times.len()].into_iter().chain(column.shape(&self.mechanism)).collect();
                recorded.set_item(&column.name, arrays::shaped(py, column.values, &shape)?)?;
            }
            let times = arrays::shaped(py, times.clone(), &[times.len()])?;
            py.import("pliant._trajectory")?.getattr("Trajectory")?.call1((times, recorded))
        })
    }
}
