//! The models of one mechanism that engines run on, as simulations.

use pliant_core::engine::{Simulation, State};
use pliant_core::mechanism::Mechanism;
use pliant_core::reduced::{self, Reduction};
use pliant_core::{articulated, blended, full, live};

pub struct Models {
    full: full::Model,
    articulated: articulated::Model,
    reduced: reduced::Model,
    live: live::Model,
    /// It has no free base.
    blended: Option<blended::Model>,
}

impl Models {
    pub fn new(mechanism: &Mechanism) -> Models {
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
    pub fn simulations(&self) -> Vec<Box<dyn Simulation>> {
        let mut simulations: Vec<Box<dyn Simulation>> = vec![
            self.full.simulate().into(),
            self.articulated.simulate().into(),
            self.reduced.simulate().into(),
            self.live.simulate().into(),
        ];
        simulations.extend(self.blended.as_ref().map(|model| {
            // It would start under its weight, which some tests take away.
            let mut simulation = model.simulate();
            simulation.set_state(&State::at_rest(model.mechanism())).unwrap();
            simulation.into()
        }));
        simulations
    }
}
