//! Claim: a live step allocates no memory, whatever is set before it.

use crate::common::allocation::steps_allocate_nothing;
use pliant_core::engine::Simulation as _;
use pliant_core::gallery;
use pliant_core::live::{Model, Simulation};

#[test]
fn a_step_allocates_nothing() {
    let names = [
        "chain:100",
        "arm",
        "hand",
        "helix:50",
        "y",
        "gripper",
        "rungs:18",
        "loop",
        "graph",
        "torus-chain:4",
        "windmill",
        "spline-slide",
        "surface-slide",
    ];
    for name in names {
        let mechanism = gallery::build(name).unwrap();
        let model = Model::new(&mechanism).unwrap();
        let step = |simulation: &mut Simulation| simulation.step(1.0 / 240.0).unwrap();
        // The first step makes the plan of a pull.
        steps_allocate_nothing(&mechanism, &mut model.simulate(), Simulation::inputs_mut, |_, _| {}, step);
    }
}
