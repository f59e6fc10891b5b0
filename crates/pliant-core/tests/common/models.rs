//! The models of one mechanism that engines run on, as actors of a world.

use pliant_core::contact::Actor;
use pliant_core::mechanism::Mechanism;
use pliant_core::reduced::{self, Reduction};
use pliant_core::{articulated, full, live};

pub struct Models<'m> {
    full: full::Model<'m>,
    articulated: articulated::Model<'m>,
    reduced: reduced::Model<'m>,
    live: live::Model<'m>,
}

impl<'m> Models<'m> {
    pub fn new(mechanism: &'m Mechanism) -> Models<'m> {
        Models {
            full: full::Model::new(mechanism),
            articulated: articulated::Model::new(mechanism),
            reduced: Reduction::at_rest(mechanism).modes_for_contact(1.0 / 240.0).build().unwrap(),
            live: live::Model::new(mechanism).unwrap(),
        }
    }

    /// Full, articulated, reduced and live.
    pub fn actors(&'m self) -> [Actor<'m>; 4] {
        [
            Actor::from(self.full.simulate()),
            Actor::from(self.articulated.simulate()),
            Actor::from(self.reduced.simulate()),
            Actor::from(self.live.simulate()),
        ]
    }
}
