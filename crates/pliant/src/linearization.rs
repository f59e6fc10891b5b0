//! The linearization of a step about a state, x' = A x + B u + B_w w, y = C x, by differences of the step of the engine `articulated`.
//!
//! Coordinates count in their own scales L (radii, rad), rates in L/dt, and forces in weights, so that every entry of the scaled matrices is
//! about one. Each derivative is the difference of four points,
//!
//! ```text
//! f′ = [8 (f(h) − f(−h)) − (f(2h) − f(−2h))] / 12h + O(h⁴)
//! ```
//!
//! with h = 2.5e-4: the error of the formula is some 1e-14, that of rounding some 1e-12. The differences over h and 2h also show where a step is
//! not smooth: at a limit, where friction holds.
//!
//! The engine carries the momenta of the links from step to step, as twists that are a term of order dt from those of coordinates and rates. This term
//! is kept as it is at the state; what a change of it would do is left out. It is zero at rest, and grows with the square of the speed.

use pliant_core::articulated;
use pliant_core::engine::{InputError, Inputs, Simulation as _, State, StepError, Warning};
use pliant_core::engines::articulated_model;
use pliant_core::mechanism::{Mechanism, UnknownHandle};
use pliant_core::nalgebra::DMatrix;
use pliant_core::spatial::{Pose, Twist, Wrench};

use crate::placing::{Placing, PlacingError};

/// Steps of differences, in scales.
const H: f64 = 2.5e-4;

/// Differences over h and 2h that are farther apart than this, in scales, are those of a step that is not smooth.
const SMOOTH: f64 = 1e-3;

/// Why there is no linearization.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum LinearizationError {
    /// The mechanism has no coordinates.
    #[error("the mechanism has no coordinates: there is nothing to linearize")]
    Coordinates,
    /// The state is one of another mechanism.
    #[error("state: it belongs to another mechanism")]
    State,
    /// Coordinates do not say where everything is.
    #[error(transparent)]
    Placing(#[from] PlacingError),
    /// An input that is not finite.
    #[error(transparent)]
    Input(#[from] InputError),
    /// A handle of something else.
    #[error(transparent)]
    Handle(#[from] UnknownHandle),
    /// A step next to the state cannot be taken.
    #[error(transparent)]
    Step(#[from] StepError),
}

type Result<T> = std::result::Result<T, LinearizationError>;

/// A step about a state: x' = A x + B u + B_loads w, y = C x, all as differences from the state. The state x is coordinates and rates.
#[derive(Clone, Debug, PartialEq)]
pub struct Linearization {
    /// From coordinates and rates to those after a step: 2n×2n.
    pub A: DMatrix<f64>,
    /// From set-points of all coordinates (rad or m) to coordinates and rates after a step: 2n×n.
    pub B: DMatrix<f64>,
    /// From forces and torques on the effectors (N, N·m, world axes) to coordinates and rates after a step: 2n×6e.
    pub B_loads: DMatrix<f64>,
    /// From coordinates and rates to where the effectors are (m, rad, world axes): 6e×2n.
    pub C: DMatrix<f64>,
    /// The time step, s.
    pub dt: f64,
    /// What to know of it: a step that is not smooth there, contact that is left out.
    pub warnings: Vec<Warning>,
}

/// The linearization of a step of the engine `articulated` about a state. Springs, PD control and loops are inside; contact is left out.
///
/// ```
/// use pliant::prelude::*;
///
/// let mechanism = gallery::two_link();
/// let mut exact = full::Model::new(&mechanism).simulate();
/// exact.settle(&StaticsSettings::default())?;
/// let rest = exact.state().clone();
/// let step = pliant::linearize(&mechanism, &rest, exact.inputs(), 0.01)?;
/// assert_eq!(step.A.shape(), (4, 4));
/// // Held by springs with dampers, it comes to rest.
/// assert!(step.A.complex_eigenvalues().iter().all(|x| x.norm() < 1.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn linearize(mechanism: &Mechanism, about: &State, inputs: &Inputs, dt: f64) -> Result<Linearization> {
    if !(dt.is_finite() && dt > 0.0) {
        return Err(StepError::TimeStep { dt }.into());
    }
    if !about.belongs_to(mechanism) {
        return Err(LinearizationError::State);
    }
    if mechanism.coordinate_count() == 0 {
        return Err(LinearizationError::Coordinates);
    }
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
        .collect::<std::result::Result<_, _>>()?;
    let (C, c) = step.matrix(&states, &of_seen, |step, vary, by| step.seen(vary, by, &from))?;
    let apart = a.max(b).max(w).max(c);
    let mut warnings = Vec::new();
    if apart > SMOOTH {
        let text = format!(
            "the step is not smooth there: finite differences over {H} and twice that differ by {apart:.1e}, in scales; a joint is at a \
             limit, or dry friction holds it"
        );
        warnings.push(Warning { kind: "not smooth", measure: apart, unit: "scales", text });
    }
    if mechanism.has_contact() {
        let text = "the linearization leaves contact out: it is that of the mechanism alone".into();
        let measure = mechanism.bodies().len() as f64;
        warnings.push(Warning { kind: "contact", measure, unit: "bodies", text });
    }
    Ok(Linearization { A, B, B_loads, C, dt, warnings })
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
    mechanism: &'m Mechanism,
    simulation: articulated::Simulation,
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
    fn new(mechanism: &'m Mechanism, about: &State, inputs: &Inputs, dt: f64) -> Result<Step<'m>> {
        let model = articulated_model(mechanism).map_err(PlacingError::from)?;
        let placing = Placing::of(&model)?;
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
            inputs.set_target(joint, &targets[mechanism[joint].coordinates()])?;
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
    fn go(&mut self, vary: Vary, by: f64) -> Result<()> {
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
                let joint = joint.ok_or(LinearizationError::Coordinates)?;
                let range = self.mechanism[joint].coordinates();
                let mut rest = self.targets[range.clone()].to_vec();
                rest[i - range.start] += by;
                self.simulation.inputs_mut().set_target(joint, &rest)?;
            }
            Vary::Load(e, k) => {
                let effector = self.mechanism.effector_ids().nth(e).ok_or(LinearizationError::Coordinates)?;
                let mut load = self.inputs.load(effector)?.to_vector();
                load[k] += by;
                self.simulation.inputs_mut().set_load(effector, Wrench::from_vector(&load))?;
            }
            Vary::Position(_) | Vary::Velocity(_) => {}
        }
        let mut state = self.placing.state(&q, &v)?.clone();
        for (twist, carried) in state.twists.iter_mut().zip(&self.carried) {
            *twist = *twist + *carried;
        }
        Ok(self.simulation.set_state(&state)?)
    }

    /// Coordinates and rates after a step, in their scales.
    fn after(&mut self, vary: Vary, by: f64) -> Result<Vec<f64>> {
        self.go(vary, by)?;
        self.simulation.step(self.dt)?;
        let state = self.simulation.state();
        let q = state.coordinates.iter().zip(&self.scales).map(|(q, scale)| q / scale);
        let v = state.rates.iter().zip(&self.scales).map(|(v, scale)| v * self.dt / scale);
        Ok(q.chain(v).collect())
    }

    /// Where effectors are from where they were, in radii and rad.
    fn seen(&mut self, vary: Vary, by: f64, from: &[Pose]) -> Result<Vec<f64>> {
        self.go(vary, by)?;
        let mut seen = Vec::new();
        for (effector, from) in self.mechanism.effector_ids().zip(from) {
            let pose = self.simulation.effector_pose(effector)?;
            seen.extend(((pose.position - from.position) / self.radius).iter());
            seen.extend((pose.rotation * from.rotation.inverse()).scaled_axis().iter());
        }
        Ok(seen)
    }

    /// The derivative of a function, in scales, and how far the differences over h and 2h are apart.
    fn derivative(
        &mut self,
        vary: Vary,
        mut of: impl FnMut(&mut Self, Vary, f64) -> Result<Vec<f64>>,
    ) -> Result<(Vec<f64>, f64)> {
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
        mut of: impl FnMut(&mut Self, Vary, f64) -> Result<Vec<f64>>,
    ) -> Result<(DMatrix<f64>, f64)> {
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
