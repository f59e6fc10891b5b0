//! Claim: by Runge and Kutta's method the energy error of a motion falls as the fourth power of the step, for every kind of
//! joint, and momentum is kept as well; the default step keeps the linear momentum of a free-floating tree to
//! rounding and never gains energy.

use crate::common::{FRAME, edited, momentum};
use pliant_core::articulated::{Integrator, Model};
use pliant_core::engine::Simulation as _;
use pliant_core::engine::State;
use pliant_core::gallery::{self, RandomOptions};
use pliant_core::joints::JointKind;
use pliant_core::mechanism::{Mechanism, PerFreedom};

/// A random tree of one kind, without damping, with springs that a step of some milliseconds follows.
fn conservative(kind: &JointKind, free: bool, seed: u64) -> Mechanism {
    let options = RandomOptions {
        bodies: 5,
        loops: 0.0,
        kinds: vec![kind.clone()],
        limits: false,
        massless: 0.0,
        free_bases: free,
        armatures: true,
        ..RandomOptions::default()
    };
    edited(&gallery::random(seed, &options), |joint| {
        joint.damping = None;
        joint.stiffness = (joint.kind.freedoms() > 0).then_some(PerFreedom::All(2.0));
    })
}

#[test]
fn energy_error_falls_as_the_fourth_power() {
    for kind in JointKind::ALL.iter().filter(|k| **k != JointKind::Fixed) {
        let mechanism = conservative(kind, false, 5);
        let model = Model::new(&mechanism);
        let error = |dt: f64| {
            let mut simulation = model.simulate();
            simulation.set_integrator(Integrator::RungeKutta4).unwrap();
            let start = simulation.energy().total();
            let mut largest = 0.0f64;
            for _ in 0..(0.2 / dt).round() as usize {
                simulation.step(dt).unwrap();
                largest = largest.max(simulation.energy().kinetic);
            }
            ((simulation.energy().total() - start) / largest).abs()
        };
        let errors = [4e-3, 2e-3, 1e-3, 5e-4].map(error);
        let ratios: Vec<f64> = errors.windows(2).map(|e| e[0] / e[1]).collect();
        println!("{}: {errors:?}, ratios {ratios:.1?}", kind.name());
        // Of fourth order: sixteen, or more where errors of opposite signs meet or the fifth power leads.
        assert!(ratios[1..].iter().all(|r| *r > 12.0) || errors[3] < 1e-13, "{}: {ratios:?}", kind.name());
        assert!(errors[3] < 1e-7, "{}: {errors:?}", kind.name());
    }
}

fn floating() -> Mechanism {
    let mut mechanism = conservative(&JointKind::Ball, true, 3);
    for seed in 4.. {
        let count = |m: &Mechanism| m.bodies().iter().filter(|b| b.free).count();
        let on_world = |m: &Mechanism| m.joints().iter().any(|j| j.parent.is_none());
        if count(&mechanism) == 1 && !on_world(&mechanism) {
            return mechanism;
        }
        mechanism = conservative(&JointKind::Hinge, true, seed);
    }
    unreachable!()
}

fn spinning(mechanism: &Mechanism) -> State {
    let mut state = State::at_rest(mechanism);
    for (b, twist) in state.twists.iter_mut().enumerate() {
        let x = b as f64;
        twist.linear = [0.3, -0.1, 0.2].into();
        twist.angular = [1.0 + x, 0.5, -0.4 * x].into();
    }
    state
}

#[test]
fn a_floating_tree_keeps_its_momentum() {
    let mechanism = floating();
    let model = Model::new(&mechanism);
    // By Runge and Kutta, to the fourth power of the step.
    let error = |dt: f64| {
        let mut simulation = model.simulate();
        simulation.inputs_mut().set_gravity([0.0; 3]).unwrap();
        simulation.set_integrator(Integrator::RungeKutta4).unwrap();
        simulation.set_state(&spinning(&mechanism)).unwrap();
        simulation.step(dt).unwrap(); // its twists fit its joints from here on
        let (P, L) = momentum(&mechanism, simulation.state());
        for _ in 0..(0.2 / dt).round() as usize {
            simulation.step(dt).unwrap();
        }
        let (P1, L1) = momentum(&mechanism, simulation.state());
        ((P1 - P).norm() / P.norm(), (L1 - L).norm() / L.norm())
    };
    let errors = [2e-3, 1e-3, 5e-4].map(error);
    println!("Runge and Kutta: {errors:?}");
    assert!(errors[2].0 < 1e-8 && errors[2].1 < 1e-8, "{errors:?}");
    assert!(errors[2].1 < errors[1].1 / 10.0 || errors[2].1 < 1e-13, "{errors:?}");

    let mut simulation = model.simulate();
    simulation.inputs_mut().set_gravity([0.0; 3]).unwrap();
    simulation.set_state(&spinning(&mechanism)).unwrap();
    let (P, L) = momentum(&mechanism, simulation.state());
    let start = simulation.energy().total();
    let mut highest = 0.0f64;
    for _ in 0..600 {
        simulation.step(FRAME).unwrap();
        highest = highest.max(simulation.energy().total());
    }
    let (P1, L1) = momentum(&mechanism, simulation.state());
    let turned = (L1 - L).norm() / L.norm();
    println!(
        "ten seconds at 1/60: linear {:.1e}, angular {turned:.1e}, energy {highest} of {start}",
        (P1 - P).norm()
    );
    assert!((P1 - P).norm() < 1e-12 * P.norm(), "{:e}", (P1 - P).norm());
    assert!(highest <= start * (1.0 + 1e-12), "{highest} of {start}");
}

#[test]
fn loops_are_refused_by_runge_and_kutta() {
    let mechanism = gallery::four_bar();
    let model = Model::new(&mechanism);
    let error = model.simulate().set_integrator(Integrator::RungeKutta4).unwrap_err().to_string();
    assert!(error.contains("loops"), "{error}");
}
