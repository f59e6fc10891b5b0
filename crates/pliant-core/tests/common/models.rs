//! The models of one mechanism that engines run on, as simulations.

use pliant_core::engine::Simulation;
use pliant_core::linear::{self, Linearisation};
use pliant_core::mechanism::Mechanism;
use pliant_core::reduced::{self, Options, Reduction};
use pliant_core::{articulated, full};

/// Gallery mechanisms of every sort: chains, loops, couplings, free bases, several effectors, formulas.
pub const EVERY_SORT: [&str; 11] = [
    "chain",
    "ladder:36",
    "loop",
    "hand",
    "gripper",
    "hexapod",
    "firefighters",
    "graph",
    "torus-chain:4",
    "windmill",
    "surface-slide",
];

pub struct Models {
    full: full::Model,
    articulated: articulated::Model,
    linear: linear::Model,
    /// With the mass of every pose: by default it is kept until a link has turned by 0.05 rad.
    reduced: reduced::Model,
}

impl Models {
    pub fn new(mechanism: &Mechanism) -> Models {
        let reduced = Reduction::at_rest(mechanism).build().unwrap();
        Models {
            full: full::Model::new(mechanism),
            articulated: articulated::Model::new(mechanism),
            linear: Linearisation::at_rest(mechanism).modes_for_contact(1.0 / 240.0).build().unwrap(),
            reduced: reduced.with_options(Options { turned: 0.0, ..Options::default() }),
        }
    }

    /// Full, articulated, linear and reduced. All start in the file's pose.
    pub fn simulations(&self) -> Vec<Box<dyn Simulation>> {
        vec![
            self.full.simulate().into(),
            self.articulated.simulate().into(),
            self.linear.simulate().into(),
            self.reduced.simulate().into(),
        ]
    }
}
