//! What engines are asked and answer when they look for an equilibrium.

use super::{InputError, Unsupported};

/// Settings of the search for an equilibrium.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StaticsSettings {
    /// Largest force left over that counts as none, relative to the largest that acts.
    pub tolerance: f64,
    /// Newton iterations for one load step; where things touch, 200 times as many steps in time.
    pub iterations: usize,
    /// How often a load step may be halved.
    pub halvings: u32,
}

impl Default for StaticsSettings {
    fn default() -> Self {
        StaticsSettings { tolerance: 1e-9, iterations: 100, halvings: 6 }
    }
}

/// What the search found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Equilibrium {
    /// Whether the state is an equilibrium.
    pub converged: bool,
    /// Largest force left over on a body (torques divided by the mechanism's lever), N. The engines `linear` and `blended`
    /// look for the pose itself: how far it still moves, in radii or rad.
    pub residual: f64,
    /// Largest closure left over, m or rad.
    pub closure: f64,
    /// Newton iterations, over all load steps.
    pub iterations: usize,
    /// Load steps tried: 1 if all loads could be put on at once.
    pub load_steps: usize,
    /// The part of the loads, gravity included, that an equilibrium was found for: 1 if it converged. The
    /// residual is always that of the whole load.
    pub load_reached: f64,
    /// Whether it is a minimum of energy, where the mechanism would stay. Dead torques have no energy: under
    /// them this speaks of all else, and what is not a minimum may still hold.
    pub stable: bool,
}

impl Equilibrium {
    /// Not found yet.
    pub(crate) const NONE: Equilibrium = Equilibrium {
        converged: false,
        residual: f64::INFINITY,
        closure: 0.0,
        iterations: 0,
        load_steps: 1,
        load_reached: 0.0,
        stable: false,
    };
}

/// Why there is no equilibrium to be found.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StaticsError {
    /// A body without any joint.
    #[error(
        "the equilibrium is not unique: nothing holds the free base `{body}`; hold it by a joint or a spring coupling"
    )]
    FreeBase {
        /// The body.
        body: String,
    },
    /// A joint that can move without any force.
    #[error(
        "the equilibrium is not unique: no spring, loop, load or gravity determines joint `{joint}`; give it a stiffness"
    )]
    NotUnique {
        /// The joint.
        joint: String,
    },
    /// The engine, or what simulates, has no equilibria.
    #[error(transparent)]
    Unsupported(#[from] Unsupported),
    /// The inputs are those of another mechanism.
    #[error(transparent)]
    Inputs(#[from] InputError),
    /// The engine's own equations failed on the way.
    #[error("there is no equilibrium: {0}")]
    Failed(String),
}
