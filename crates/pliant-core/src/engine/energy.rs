//! Energies of a state.

use super::{Inputs, State};
use crate::mechanism::Mechanism;

/// Energies of a state, J.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Energy {
    /// Of motion.
    pub kinetic: f64,
    /// Of the joints' springs.
    pub elastic: f64,
    /// Of gravity, zero at the world's origin.
    pub potential: f64,
}

impl Energy {
    /// Of a state of any engine, under its inputs.
    pub(crate) fn of(state: &State, mechanism: &Mechanism, inputs: &Inputs) -> Energy {
        Energy {
            kinetic: state.kinetic_energy(mechanism),
            elastic: inputs.elastic_energy(state),
            potential: state.potential_energy(mechanism, inputs.gravity()),
        }
    }

    /// All three together.
    pub fn total(&self) -> f64 {
        self.kinetic + self.elastic + self.potential
    }
}
