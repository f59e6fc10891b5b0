//! Where a reduced simulation comes to rest.

use pliant::mechanism::EffectorId;
use pliant::reduced;
use pliant::spatial::{Pose, log};

/// Lengths of steps to rest by, in lowest periods: long ones get there at once, but a load that turns much with the
/// effector takes shorter ones, which damp.
const STRIDES: [f64; 4] = [1e4, 3.0, 0.3, 0.1];

/// Steps of one length, at most.
const MOST: usize = 5000;

/// Change of the effectors in a step, m over the radius or rad, at which they are at rest.
const STILL: f64 = 1e-11;

/// Steps a reduced simulation until it is at rest, where it was before if it does not come to it. Backward Euler with
/// long steps is a fixed-point iteration on the statics z = K⁻¹Q(z).
pub fn settle(simulation: &mut reduced::Simulation, period: Option<f64>, radius: f64) -> bool {
    let mechanism = simulation.mechanism();
    let start = simulation.state().clone();
    let poses = |s: &reduced::Simulation| -> Vec<Pose> {
        let effectors = (0..mechanism.effectors().len()).map(EffectorId::from_index);
        effectors.map(|e| s.effector_pose(e)).collect()
    };
    for stride in STRIDES {
        let dt = stride * period.unwrap_or(1.0);
        let mut before = poses(simulation);
        let mut still = 0;
        for _ in 0..MOST {
            if simulation.step_effectors(dt).is_err() {
                break;
            }
            let now = poses(simulation);
            let moved = before.iter().zip(&now).map(|(a, b)| {
                let by = log(&a.inverse_times(b));
                by.linear.amax() / radius + by.angular.amax()
            });
            still = if moved.fold(0.0, f64::max) < STILL { still + 1 } else { 0 };
            if still == 3 {
                return true;
            }
            before = now;
        }
        if simulation.set_state(&start).is_err() {
            return false;
        }
    }
    false
}
