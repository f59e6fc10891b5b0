//! Compliance at the effectors, as `pliant compliance --at` has it for the pose of now: what a force on each moves it by, unloaded, a free base
//! held.

use pliant_core::linear::{Linearisation, Reference};
use pliant_core::mechanism::Mechanism;

use super::Session;

/// Up to so many bodies: it is found in the engine's thread, which then misses no step.
const MOST_BODIES: usize = 200;
/// Frames from one look to the next.
const EVERY: u32 = 10;

impl Session {
    pub(super) fn set_ellipsoids(&mut self, on: bool) -> Result<(), String> {
        self.ellipsoids = None;
        if on {
            let found = self.find_ellipsoids()?;
            self.ellipsoids = Some((self.frame, found));
        }
        Ok(())
    }

    /// Finds them again now and then; those of a pose that has none stay as they were.
    pub(super) fn refresh_ellipsoids(&mut self) {
        if self.ellipsoids.as_ref().is_some_and(|(then, _)| self.frame.wrapping_sub(*then) >= EVERY) {
            let now = self.frame;
            let found = self.find_ellipsoids().ok();
            if let Some((then, columns)) = &mut self.ellipsoids {
                *then = now;
                found.into_iter().for_each(|found| *columns = found);
            }
        }
    }

    fn find_ellipsoids(&mut self) -> Result<Vec<f32>, String> {
        let whole = &self.loaded.mechanism;
        let held = if self.loaded.touches() { self.apart.held.as_ref() } else { Some(whole) };
        let held: Mechanism = held.ok_or("there are no joints, and so no compliance")?.clone();
        if held.bodies().len() > MOST_BODIES {
            return Err(format!(
                "compliance is shown for at most {MOST_BODIES} bodies, and this scene has {}",
                held.bodies().len()
            ));
        }
        let state = self.running.simulation().state().clone();
        // What joints hold together has all joints, in the same order.
        let positions: Vec<_> =
            held.joint_ids().map(|id| (id, state.coordinates[held[id].coordinates()].to_vec())).collect();
        let reference = Reference::at_positions(&held, &positions).map_err(|error| error.to_string())?;
        let projection = Linearisation::at(reference).project().map_err(|error| error.to_string())?;
        let mut columns = Vec::new();
        for effector in self.loaded.mechanism.effectors() {
            let at = projection.effectors().iter().position(|own| own.name == effector.name);
            let pose = state.pose(effector.body).map_err(|error| error.to_string())? * effector.frame;
            let R = pose.rotation_matrix();
            match at {
                // C in the effector's axes is R C Rᵀ in the world's.
                Some(e) => {
                    let C = R * projection.compliance().fixed_view::<3, 3>(6 * e, 6 * e) * R.transpose();
                    columns.extend(C.iter().map(|x| *x as f32));
                }
                None => columns.extend([0.0; 9]),
            }
        }
        Ok(columns)
    }
}
