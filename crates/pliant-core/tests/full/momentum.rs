//! Claim: without forces from outside a mechanism keeps its linear and angular momentum to rounding, after a push as well.

use crate::common::momentum;
use pliant_core::engine::Simulation as _;
use pliant_core::full::Model;
use pliant_core::gallery::{RandomOptions, random};
use pliant_core::mechanism::Mechanism;
use pliant_core::nalgebra::Vector3;
use pliant_core::spatial::Wrench;

/// Trees of all kinds of joints that float: nothing holds them.
fn floating() -> Vec<Mechanism> {
    let options = RandomOptions {
        loops: 0.0,
        free_bases: true,
        effectors: 0,
        limits: false,
        rests: false,
        ..RandomOptions::default()
    };
    let floats = |m: &Mechanism| m.joints().iter().all(|j| j.parent.is_some());
    (0..20).map(|seed| random(seed, &options)).filter(floats).take(6).collect()
}

/// Largest changes of linear and angular momentum over a second, relative to their sizes, after a push of
/// a tenth of a second.
fn changes(mechanism: &Mechanism, dt: f64) -> (f64, f64) {
    let model = Model::new(mechanism);
    let mut simulation = model.simulate();
    simulation.inputs_mut().set_gravity([0.0; 3]).unwrap();
    let load = Wrench::new(Vector3::new(3.0, -5.0, 4.0), Vector3::new(0.3, 0.2, -0.4));
    for b in [0, mechanism.bodies().len() - 1] {
        simulation.inputs_mut().set_body_load(crate::common::handles::body(mechanism, b), load).unwrap();
    }
    for _ in 0..(0.1 / dt).round() as usize {
        simulation.step(dt).unwrap();
    }
    for b in [0, mechanism.bodies().len() - 1] {
        simulation
            .inputs_mut()
            .set_body_load(crate::common::handles::body(mechanism, b), Wrench::ZERO)
            .unwrap();
    }
    let (P, L) = momentum(mechanism, simulation.state());
    let (mut linear, mut angular) = (0.0f64, 0.0f64);
    for _ in 0..(1.0 / dt).round() as usize {
        simulation.step(dt).unwrap();
        let now = momentum(mechanism, simulation.state());
        linear = linear.max((now.0 - P).norm() / P.norm());
        angular = angular.max((now.1 - L).norm() / L.norm());
    }
    (linear, angular)
}

#[test]
fn a_floating_tree_keeps_its_momentum() {
    let mechanisms = floating();
    assert_eq!(mechanisms.len(), 6);
    for mechanism in &mechanisms {
        let runs: Vec<(f64, f64)> =
            (0..4).map(|k| changes(mechanism, 1.0 / (60.0 * f64::powi(2.0, k)))).collect();
        println!("{}: linear, angular {runs:?}", mechanism.name());
        for (linear, angular) in &runs {
            assert!(*linear < 1e-12 && *angular < 1e-12, "{linear:e} {angular:e}");
        }
    }
}
