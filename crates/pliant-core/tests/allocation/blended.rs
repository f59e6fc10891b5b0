//! Claim: a blended step allocates no memory, whatever is set before it.

use crate::common::allocation::steps_allocate_nothing;
use pliant_core::blended::{Links, Model, Options};
use pliant_core::gallery;
use pliant_core::spatial::Wrench;

#[test]
fn a_step_allocates_nothing() {
    for name in ["helix:50", "arm", "hand", "two-link", "rungs:18", "y"] {
        let mechanism = gallery::build(name).unwrap();
        let mut model = Model::new(&mechanism, Options::default()).unwrap();
        for size in [1.0, -1.0] {
            let mut loads = vec![Wrench::ZERO; mechanism.effectors().len()];
            mechanism.loads().iter().for_each(|l| loads[l.effector.index()] = l.wrench * size);
            model.add(&loads).unwrap();
        }
        for links in [Links::Joint, Links::Twist] {
            let mut simulation = model.simulate();
            simulation.set_options(Options { links, ..Options::default() });
            steps_allocate_nothing(&mut simulation, |_, _| {});
        }
    }
}
