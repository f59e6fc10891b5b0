//! Links between the effectors that move with mass too.
//!
//! What a live model drops are the vibrations of the links while its effectors are held, the fixed-interface modes of
//! Craig and Bampton (1968). An inner link is one more effector: the one that has most of the kinetic energy of the
//! slowest vibration that is dropped. With it held, the next slowest is found, and so on.

use std::sync::Arc;

use super::model::Model;
use crate::mechanism::BodyId;
use crate::reduced::{EffectorFrame, Reduction, ReductionError};
use crate::spatial::Pose;

/// The slowest vibration that a model drops, of its links with its effectors held, as the mechanism starts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dropped {
    /// rad/s.
    pub frequency: f64,
    /// That of the slowest vibration of all, effectors free, rad/s.
    pub slowest: f64,
    /// The body that has most of its kinetic energy.
    pub body: BodyId,
}

/// A vibration so many times as fast as the slowest of all is dropped without regret: it takes some 1/6² of the path.
const FAST: f64 = 6.0;

/// Faster than this, over the slowest, is no vibration but rounding: the square of it is what digits there are.
const ROUNDING: f64 = 3e6;

/// Inner links that are chosen without being asked for one by one, at most: each has six motions in the small system.
const MOST: usize = 16;

impl Model {
    /// The slowest vibration that is dropped; none if nothing can vibrate with the effectors held.
    pub fn dropped(&self) -> Result<Option<Dropped>, ReductionError> {
        let names = self.effectors().iter().map(|e| e.name.as_str());
        let model = Reduction::at_rest(self.mechanism()).effectors(names).modes(1).build()?;
        // A body with the name of an effector would be taken for that.
        let is_free = |body: BodyId| {
            let name = &self.mechanism()[body].name;
            self.mechanism().find_effector(name).is_none() && self.effectors().iter().all(|e| e.body != body)
        };
        let slowest = model.frequencies().first().copied().unwrap_or(0.0);
        let mode =
            model.constants.slowest_mode(is_free).filter(|(frequency, _)| *frequency < ROUNDING * slowest);
        Ok(mode.map(|(frequency, body)| Dropped { frequency, slowest, body }))
    }

    /// With so many inner links, or as many as there are vibrations for.
    ///
    /// ```
    /// use pliant_core::{gallery, live};
    ///
    /// let mechanism = gallery::helix(30);
    /// let model = live::Model::new(&mechanism)?;
    /// let lost = model.dropped()?.ok_or("nothing is dropped")?;
    /// let model = model.with_inner_links(2)?;
    /// assert_eq!(model.inner_links().len(), 2);
    /// assert_eq!(model.inner_links()[0].body, lost.body); // it had most of what was lost
    /// let left = model.dropped()?.ok_or("nothing is dropped")?;
    /// assert!(left.frequency > 3.0 * lost.frequency); // only faster vibrations are dropped now
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_inner_links(mut self, links: usize) -> Result<Self, ReductionError> {
        for _ in 0..links {
            let Some(dropped) = self.dropped()? else { break };
            self.add_inner(dropped.body);
        }
        Ok(self)
    }

    /// With inner links until what is dropped is six times as fast as the slowest vibration, or faster than steps of dt
    /// seconds can follow: dt·ω ≥ 1.
    pub fn with_inner_links_for(mut self, dt: f64) -> Result<Self, ReductionError> {
        for _ in 0..MOST {
            let Some(dropped) = self.dropped()? else { break };
            if dropped.frequency >= FAST * dropped.slowest || dt * dropped.frequency >= 1.0 {
                break;
            }
            self.add_inner(dropped.body);
        }
        Ok(self)
    }

    /// The links that were chosen, in turn.
    pub fn inner_links(&self) -> &[EffectorFrame] {
        &self.constants.effectors[self.constants.asked..]
    }

    fn add_inner(&mut self, body: BodyId) {
        let name = self.mechanism()[body].name.clone();
        Arc::make_mut(&mut self.constants).effectors.push(EffectorFrame {
            name,
            body,
            frame: Pose::identity(),
            id: None,
        });
    }
}
