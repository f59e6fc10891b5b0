//! What every engine must do, asked through the one trait that they share.

mod balance;
mod couplings;
mod digits;
mod friction;
mod handles;
mod interface;
mod limits;
mod momentum;
mod ownership;
mod repeat;
mod springs;

use crate::common::models::EVERY_SORT;
use pliant_core::blended;
use pliant_core::engine::Simulation;
use pliant_core::linear::Linearisation;
use pliant_core::mechanism::Mechanism;
use pliant_core::reduced::Reduction;
use pliant_core::spatial::Wrench;
use pliant_core::{articulated, full};

/// An engine in a setting of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Full,
    Articulated,
    Linear,
    Reduced,
    Blended,
}

impl Kind {
    const ALL: [Kind; 5] = [Kind::Full, Kind::Articulated, Kind::Linear, Kind::Reduced, Kind::Blended];

    /// Gallery mechanisms that the engine takes: chains, loops, couplings, free bases, several effectors, formulas.
    fn mechanisms(self) -> &'static [&'static str] {
        match self {
            Kind::Full | Kind::Articulated => &EVERY_SORT,
            Kind::Linear => &["chain", "helix:50", "rungs:18", "hand", "gripper", "hexapod", "graph"],
            Kind::Reduced => &[
                "chain",
                "arm",
                "hand",
                "helix:50",
                "y",
                "hexapod",
                "torus-chain:4",
                "surface-slide",
                "ladder:36",
                "loop",
                "gripper",
                "graph",
                "delta",
            ],
            Kind::Blended => &["arm", "hand", "helix:50", "y", "gripper", "rungs:18"],
        }
    }

    /// A new simulation, of a new model.
    fn simulate(self, mechanism: &Mechanism) -> Box<dyn Simulation> {
        let blend = || {
            let mut model = blended::Model::new(mechanism, Default::default()).unwrap();
            for size in [1.0, -1.0] {
                let mut loads = vec![Wrench::ZERO; mechanism.effectors().len()];
                mechanism.loads().iter().for_each(|l| loads[l.effector.index()] = l.wrench * size);
                model.add(&loads).unwrap();
            }
            model.simulate().into()
        };
        match self {
            Kind::Full => full::Model::new(mechanism).simulate().into(),
            Kind::Articulated => articulated::Model::new(mechanism).simulate().into(),
            Kind::Linear => Linearisation::at_rest(mechanism).modes(2).build().unwrap().simulate().into(),
            Kind::Reduced => Reduction::at_rest(mechanism).build().unwrap().simulate().into(),
            Kind::Blended => blend(),
        }
    }
}
