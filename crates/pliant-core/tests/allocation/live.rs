//! Claim: a live step allocates no memory, whatever is set before it.

use crate::common::allocation::steps_allocate_nothing;
use pliant_core::gallery;
use pliant_core::live::Model;

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
        // The first step makes the plan of a pull.
        steps_allocate_nothing(&mut model.simulate(), |_, _| {});
    }
}
