//! Claim: a step of a reduced model allocates no memory, whatever is set before it and however links are rebuilt.

use crate::common::allocation::{MECHANISMS, steps_allocate_nothing};
use pliant_core::engine::Simulation as _;
use pliant_core::gallery;
use pliant_core::reduced::{Reconstruction, Reduction, Simulation};

#[test]
fn a_step_allocates_nothing() {
    for name in MECHANISMS {
        let mechanism = gallery::build(name).unwrap();
        let model = Reduction::at_rest(&mechanism).modes(1).build().unwrap();
        let rebuilt = |simulation: &mut Simulation, i: usize| {
            simulation.set_reconstruction(
                [Reconstruction::Joint, Reconstruction::Twist, Reconstruction::Corrected][i % 3],
            );
        };
        let step = |simulation: &mut Simulation| simulation.step(1.0 / 240.0).unwrap();
        steps_allocate_nothing(&mechanism, &mut model.simulate(), Simulation::inputs_mut, rebuilt, step);
    }
}
