//! Claim: a step of the articulated engine allocates no memory, whatever is set before it: loads, set-points, gravity,
//! base, pull; by either integrator.

use crate::common::allocation::{MECHANISMS, rough, steps_allocate_nothing};
use crate::common::counting::allocations;
use pliant_core::articulated::{Integrator, Model};
use pliant_core::engine::Simulation as _;
use pliant_core::gallery::{self, RandomOptions};
use pliant_core::mechanism::Mechanism;

#[test]
fn a_step_allocates_nothing() {
    let mut mechanisms: Vec<Mechanism> =
        MECHANISMS.iter().map(|name| gallery::build(name).unwrap()).collect();
    let options = RandomOptions { bodies: 30, loops: 0.3, bushiness: 1.0, ..RandomOptions::default() };
    mechanisms.push(gallery::random(5, &options));
    for mechanism in mechanisms {
        let model = Model::new(&mechanism);
        let mut simulation = model.simulate();
        steps_allocate_nothing(&mut simulation, |_, _| {});
        steps_allocate_nothing(&mut Model::new(&rough(&mechanism)).simulate(), |_, _| {});

        if simulation.set_integrator(Integrator::RungeKutta4).is_ok() {
            simulation.step(1e-6).unwrap();
            let count = allocations(|| simulation.step(1e-6).unwrap());
            assert_eq!(count, 0, "{}: Runge and Kutta", mechanism.name());
        }
    }
}
