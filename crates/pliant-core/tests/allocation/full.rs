//! Claim: a step allocates no memory, whatever is set before it: loads, set-points, gravity, base, pull.

use crate::common::allocation::{MECHANISMS, rough, steps_allocate_nothing};
use pliant_core::full::Model;
use pliant_core::gallery::{self, RandomOptions};
use pliant_core::mechanism::Mechanism;

#[test]
fn a_step_allocates_nothing() {
    let mut mechanisms: Vec<Mechanism> =
        MECHANISMS.iter().map(|name| gallery::build(name).unwrap()).collect();
    // So many loops that fronts get wide.
    let options = RandomOptions { bodies: 80, loops: 1.0, bushiness: 1.0, ..RandomOptions::default() };
    mechanisms.push(gallery::random(5, &options));
    for mechanism in mechanisms {
        let model = Model::new(&mechanism);
        steps_allocate_nothing(&mut model.simulate(), |_, _| {});
        steps_allocate_nothing(&mut Model::new(&rough(&mechanism)).simulate(), |_, _| {});
    }
}
