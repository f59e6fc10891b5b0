//! The slowest mode that a model without modes truncates: of the links while its effectors are held, a fixed-interface mode of
//! Craig and Bampton (1968).

use super::field::Inertia;
use super::model::{Constants, Model};
use super::{Linearisation, ReductionError};
use crate::mechanism::BodyId;

/// The slowest mode that a model truncates, as the mechanism starts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Truncated {
    /// rad/s.
    pub frequency: f64,
    /// That of the slowest mode of all, effectors free, rad/s.
    pub slowest: f64,
    /// The body that has most of its kinetic energy.
    pub body: BodyId,
}

/// Faster than this, over the slowest, is no mode but rounding: the square of it is what digits there are.
const ROUNDING: f64 = 3e6;

impl Model {
    /// The slowest mode that is truncated without any modes kept; none if nothing can vibrate with the effectors held.
    ///
    /// ```
    /// use pliant_core::{gallery, linear::Linearisation};
    ///
    /// let model = Linearisation::at_rest(&gallery::helix(30)).build()?;
    /// let truncated = model.truncated()?.ok_or("nothing is truncated")?;
    /// assert!(truncated.frequency > truncated.slowest); // rad/s
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn truncated(&self) -> Result<Option<Truncated>, ReductionError> {
        let effectors = self.projection().effectors();
        let mechanism = self.mechanism();
        let names = effectors.iter().map(|e| e.name.as_str());
        let model = Linearisation::at_rest(mechanism).effectors(names).modes(1).build()?;
        // A body with the name of an effector would be taken for that.
        let is_free = |body: BodyId| {
            let name = &mechanism[body].name;
            mechanism.find_effector(name).is_none() && effectors.iter().all(|e| e.body != body)
        };
        let slowest = model.frequencies().first().copied().unwrap_or(0.0);
        let mode = model.constants.slowest_mode(is_free);
        let mode = mode.filter(|(frequency, _)| *frequency < ROUNDING * slowest);
        Ok(mode.map(|(frequency, body)| Truncated { frequency, slowest, body }))
    }
}

impl Constants {
    /// The slowest of the modes kept, rad/s, and which of the bodies that may be named has most of its kinetic energy.
    fn slowest_mode(&self, may_be: impl Fn(BodyId) -> bool) -> Option<(f64, BodyId)> {
        let with_modes = self.components.iter().filter(|c| c.size() > c.rank);
        let slowest = with_modes.min_by(|a, b| a.stiffness[a.rank].total_cmp(&b.stiffness[b.rank]))?;
        let inertia = Inertia::of(&self.reference, &slowest.part, &slowest.coordinates);
        let momentum = inertia.times(&slowest.shapes);
        let energy =
            |at: usize| slowest.shapes.twist(at, slowest.rank).dot(&momentum.twist(at, slowest.rank));
        let nodes = self.reference.mechanism.order().nodes();
        let most = (slowest.part.nodes.iter().enumerate())
            .map(|(at, &n)| (energy(at), nodes[n].head))
            .filter(|(_, body)| may_be(*body))
            // The first of equals.
            .fold(None, |most: Option<(f64, BodyId)>, one| {
                Some(most.filter(|most| most.0 >= one.0).unwrap_or(one))
            });
        // Of modes of mass one the stiffness is the square of the frequency.
        most.map(|(_, body)| (slowest.stiffness[slowest.rank].sqrt(), body))
    }
}
