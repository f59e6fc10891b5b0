//! Claim: a step of few motions allocates no memory, whatever is set before it.

use crate::common::allocation::steps_allocate_nothing;
use pliant_core::gallery;
use pliant_core::reduced::Reduction;

#[test]
fn a_step_allocates_nothing() {
    let trees = ["chain:100", "arm", "hand", "helix:50", "y", "hexapod", "torus-chain:4", "surface-slide"];
    let loops =
        ["rungs:18", "ladder:12", "loop", "gripper", "delta", "stewart", "adaptive-gripper", "fin-ray"];
    for name in trees.into_iter().chain(loops) {
        let mechanism = gallery::build(name).unwrap();
        let model = Reduction::at_rest(&mechanism).build().unwrap();
        steps_allocate_nothing(&mut model.simulate(), |_, _| {});
    }
}
