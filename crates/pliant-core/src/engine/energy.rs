//! Energies of a state.

use nalgebra::Vector3;

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

    /// All energy of a state under its inputs that is a function of where everything is: with that of limits, of spring couplings and of
    /// dead forces. Work of set-points, of a moving base and of dead torques is not.
    pub(crate) fn with_loads(state: &State, mechanism: &Mechanism, inputs: &Inputs) -> f64 {
        let limits: f64 =
            inputs.laws.iter().zip(&state.coordinates).map(|(law, q)| law.limit_energy(*q)).sum();
        let springs: f64 = inputs.springs.iter().map(|spring| spring.energy(state)).sum();
        let at = |body: usize, frame: &Vector3<f64>| state.poses[body].transform_point(frame);
        let effectors = mechanism.effectors().iter().zip(&inputs.effector_loads);
        let loads: f64 = effectors
            .map(|(effector, load)| load.force.dot(&at(effector.body.index(), &effector.frame.position)))
            .chain(
                inputs.body_loads.iter().zip(&state.poses).map(|(load, pose)| load.force.dot(&pose.position)),
            )
            .sum();
        Energy::of(state, mechanism, inputs).total() + limits + springs - loads
    }

    /// All three together.
    pub fn total(&self) -> f64 {
        self.kinetic + self.elastic + self.potential
    }
}
