//! The models of one mechanism that engines run on, as simulations.

use pliant_core::engine::Simulation;
use pliant_core::mechanism::Mechanism;
use pliant_core::reduced::{self, Reduction};
use pliant_core::{articulated, full, motions};

pub struct Models {
    full: full::Model,
    articulated: articulated::Model,
    reduced: reduced::Model,
    /// Of trees alone.
    motions: Option<motions::Model>,
}

impl Models {
    pub fn new(mechanism: &Mechanism) -> Models {
        let open = mechanism.order().loop_joints().is_empty() && mechanism.couplings().is_empty();
        Models {
            full: full::Model::new(mechanism),
            articulated: articulated::Model::new(mechanism),
            reduced: Reduction::at_rest(mechanism).modes_for_contact(1.0 / 240.0).build().unwrap(),
            motions: open.then(|| motions::Choice::new(mechanism).build().unwrap()),
        }
    }

    /// Full, articulated, reduced and, of trees, motions. All start in the file's pose.
    pub fn simulations(&self) -> Vec<Box<dyn Simulation>> {
        let mut simulations: Vec<Box<dyn Simulation>> = vec![
            self.full.simulate().into(),
            self.articulated.simulate().into(),
            self.reduced.simulate().into(),
        ];
        simulations.extend(self.motions.as_ref().map(|model| model.simulate().into()));
        simulations
    }
}
