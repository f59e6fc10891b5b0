//! Claim: a step of a linear model allocates no memory, whatever is set before it and however links are rebuilt.

use crate::common::allocation::{MECHANISMS, steps_allocate_nothing};
use pliant_core::gallery;
use pliant_core::linear::{Linearisation, Reconstruction, Simulation};

#[test]
fn a_step_allocates_nothing() {
    for name in MECHANISMS {
        let mechanism = gallery::build(name).unwrap();
        let model = Linearisation::at_rest(&mechanism).modes(1).build().unwrap();
        let rebuilt = |simulation: &mut Simulation, i: usize| {
            simulation.set_reconstruction(
                [Reconstruction::Joint, Reconstruction::Twist, Reconstruction::Corrected][i % 3],
            );
        };
        steps_allocate_nothing(&mut model.simulate(), rebuilt);
    }
}
