//! Where a linear simulation comes to rest.
//!
//! Backward Euler with long steps is a fixed-point iteration on the statics z = K⁻¹Q(z). Long steps arrive at once, but a
//! load that turns much with its effector takes shorter ones, which damp.

use std::f64::consts::TAU;

use super::simulation::Simulation;
use crate::engine::{Equilibrium, Simulation as _};
use crate::spatial::{Pose, log};

/// Lengths of steps, in the lowest period.
const STRIDES: [f64; 4] = [1e4, 3.0, 0.3, 0.1];

/// Steps of one length, at most.
const MOST: usize = 5000;

/// Change of the effectors in a step, m over the radius or rad, at which they are at rest.
const STILL: f64 = 1e-11;

/// Steps until the effectors are at rest; the state is unchanged if they do not come to it. Time stands still.
pub(super) fn settle(simulation: &mut Simulation) -> Equilibrium {
    let model = simulation.model();
    let slowest = model.full_frequencies(1).ok().and_then(|frequencies| frequencies.first().copied());
    let period = slowest.filter(|w| *w > 0.0).map_or(1.0, |w| TAU / w);
    let radius = model.constants.reference.radius;
    let start = simulation.state().clone();
    let followed = simulation.inputs.hold_targets();
    let poses = |s: &Simulation| -> Vec<Pose> { s.effectors.iter().map(|(_, pose)| *pose).collect() };
    let mut found = Equilibrium::NONE;
    'strides: for stride in STRIDES {
        let mut before = poses(simulation);
        let mut still = 0;
        for _ in 0..MOST {
            if simulation.step_effectors(stride * period).is_err() {
                break;
            }
            found.iterations += 1;
            let now = poses(simulation);
            let moved = before.iter().zip(&now).map(|(a, b)| {
                let by = log(&a.inverse_times(b));
                by.linear.amax() / radius + by.angular.amax()
            });
            found.residual = moved.fold(0.0, f64::max);
            still = if found.residual < STILL { still + 1 } else { 0 };
            if still == 3 {
                (found.converged, found.stable, found.load_reached) = (true, true, 1.0);
                break 'strides;
            }
            before = now;
        }
        simulation.restore(&start).expect("it is a state of this simulation");
    }
    simulation.inputs.follow_again(followed);
    (simulation.state.time, simulation.state.steps) = (start.time, start.steps);
    simulation.rebuild();
    found
}
