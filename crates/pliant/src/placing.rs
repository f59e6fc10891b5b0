//! States from coordinates: poses and twists of all bodies as joint coordinates and rates make them.
//!
//! ```
//! use pliant::{gallery, placing::Placing};
//!
//! let mechanism = gallery::two_link();
//! let mut placing = Placing::new(&mechanism)?;
//! let state = placing.closed_state(&[0.1, 0.2], &[0.0, 0.0])?;
//! let tip = state.effector_pose(&mechanism, mechanism.find_effector("tip").unwrap())?;
//! assert!((tip.rotation.angle() - 0.3).abs() < 1e-12);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use pliant_core::articulated::{Dynamics, Model};
use pliant_core::engine::{InputError, State};
use pliant_core::engines::{EngineError, articulated_model};
use pliant_core::mechanism::Mechanism;
use pliant_core::nalgebra::Vector3;
use pliant_core::spatial::Twist;

/// Gaps that are rounding, in radii: what the mechanism's own start may have.
const CLOSED: f64 = 1e-9;

/// Why there is no state of these coordinates.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PlacingError {
    /// The mechanism has more loops than the engine `articulated` takes.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// A body that no joint holds.
    #[error(
        "joint positions do not include the free body `{body}`: use states of a simulation, or hold it by a joint"
    )]
    Free {
        /// Its name.
        body: String,
    },
    /// Not one number for each coordinate.
    #[error("expected one number for each of {wanted} coordinates, got {got}")]
    Count {
        /// How many there are.
        got: usize,
        /// How many there must be.
        wanted: usize,
    },
    /// Numbers that are not finite.
    #[error(transparent)]
    Input(#[from] InputError),
    /// A loop is left open.
    #[error(
        "positions: the loop of joint `{joint}` is open by {gap:.1e} radii or rad: give positions at which it is closed"
    )]
    Open {
        /// The joint that is open most.
        joint: String,
        /// Its gap, radii or rad.
        gap: f64,
    },
}

/// Makes states of coordinates and rates.
#[derive(Clone)]
pub struct Placing {
    model: Model,
    dynamics: Dynamics,
    /// What else a state has.
    base: State,
}

impl Placing {
    /// Of a mechanism whose coordinates are all that its state has: without a free base.
    pub fn new(mechanism: &Mechanism) -> Result<Placing, PlacingError> {
        Placing::of(&articulated_model(mechanism)?)
    }

    /// By a model that no step is taken of, so that it may have any number of loops.
    pub fn of(model: &Model) -> Result<Placing, PlacingError> {
        let mechanism = model.mechanism();
        if let Some(body) = mechanism.bodies().iter().find(|body| body.free) {
            return Err(PlacingError::Free { body: body.name.clone() });
        }
        Ok(Placing { model: model.clone(), dynamics: model.dynamics(), base: State::at_rest(mechanism) })
    }

    /// With the time, the base and what contact, friction and loops apply of another state.
    pub fn about(mut self, base: &State) -> Placing {
        self.base.clone_from(base);
        self.base.private.clear();
        self
    }

    /// The state with these coordinates and rates.
    pub fn state(&mut self, positions: &[f64], velocities: &[f64]) -> Result<&State, PlacingError> {
        let wanted = self.base.coordinates.len();
        if let Some(list) = [positions, velocities].into_iter().find(|list| list.len() != wanted) {
            return Err(PlacingError::Count { got: list.len(), wanted });
        }
        self.base.coordinates.copy_from_slice(positions);
        self.base.rates.copy_from_slice(velocities);
        self.dynamics.set_state(&self.base, Twist::ZERO)?;
        Ok(self.dynamics.state())
    }

    /// The same, refused where it leaves loops open.
    pub fn closed_state(&mut self, positions: &[f64], velocities: &[f64]) -> Result<&State, PlacingError> {
        self.state(positions, velocities)?;
        let (mechanism, state) = (self.model.mechanism(), self.dynamics.state());
        let radius = if mechanism.radius() > 0.0 { mechanism.radius() } else { 1.0 };
        let mut worst: Option<(f64, &str)> = None;
        for joint in mechanism.joints() {
            let X = state.relative_pose(mechanism, joint);
            let q = joint.kind.coordinates(&X, &state.coordinates[joint.coordinates()]);
            let left = joint.kind.transform(&q.as_slice()[..joint.kind.freedoms()]).inverse_times(&X);
            let turned: Vector3<f64> = left.rotation.scaled_axis();
            let gap = (left.position.norm() / radius).max(turned.norm());
            if gap > worst.map_or(CLOSED, |(most, _)| most) {
                worst = Some((gap, &joint.name));
            }
        }
        match worst {
            None => Ok(state),
            Some((gap, joint)) => Err(PlacingError::Open { joint: joint.to_string(), gap }),
        }
    }
}
