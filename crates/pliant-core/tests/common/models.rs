//! The models of one mechanism that engines run on, as actors of a world.

use pliant_core::contact::Actor;
use pliant_core::engine::State;
use pliant_core::mechanism::Mechanism;
use pliant_core::reduced::{self, Reduction};
use pliant_core::{articulated, blended, full, live};

pub struct Models<'m> {
    full: full::Model<'m>,
    articulated: articulated::Model<'m>,
    reduced: reduced::Model<'m>,
    live: live::Model<'m>,
    /// It has no free base.
    blended: Option<blended::Model<'m>>,
}

impl<'m> Models<'m> {
    pub fn new(mechanism: &'m Mechanism) -> Models<'m> {
        let free = mechanism.bodies().iter().any(|body| body.free);
        let blended = (!free).then(|| blended::Model::new(mechanism, Default::default()).unwrap());
        Models {
            full: full::Model::new(mechanism),
            articulated: articulated::Model::new(mechanism),
            reduced: Reduction::at_rest(mechanism).modes_for_contact(1.0 / 240.0).build().unwrap(),
            live: live::Model::new(mechanism).unwrap(),
            blended,
        }
    }

    /// Full, articulated, reduced and live; also blended, unless the base is free. All start in the file's pose.
    pub fn actors(&'m self) -> Vec<Actor<'m>> {
        let mut actors = vec![
            Actor::from(self.full.simulate()),
            Actor::from(self.articulated.simulate()),
            Actor::from(self.reduced.simulate()),
            Actor::from(self.live.simulate()),
        ];
        actors.extend(self.blended.as_ref().map(|model| {
            // It would start under its weight, which some tests take away.
            let mut simulation = model.simulate();
            simulation.set_state(&State::at_rest(model.mechanism())).unwrap();
            Actor::from(simulation)
        }));
        actors
    }
}
