//! Claim: by Runge and Kutta's method the energy error of a motion falls as the fourth power of the step, for every kind of
//! joint, momentum is kept as well, and a base that accelerates is felt; the default step keeps the momentum of a free-floating tree to
//! rounding and never gains energy.

use crate::common::{FRAME, edited, momentum};
use pliant_core::articulated::{Integrator, Model};
use pliant_core::engine::{Simulation, State};
use pliant_core::gallery::{self, RandomOptions};
use pliant_core::joints::JointKind;
use pliant_core::mechanism::{Mechanism, PerFreedom};
use pliant_core::nalgebra::Vector3;
use pliant_core::spatial::{Pose, Twist, exp_rotation};

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
    assert!(turned < 1e-12, "{turned:e}");
    assert!(highest <= start * (1.0 + 1e-12), "{highest} of {start}");
}

#[test]
fn loops_are_refused_by_runge_and_kutta() {
    let mechanism = gallery::four_bar();
    let model = Model::new(&mechanism);
    let error = model.simulate().set_integrator(Integrator::RungeKutta4).unwrap_err().to_string();
    assert!(error.contains("loops"), "{error}");
}

/// A base that speeds up and turns: the explicit integrator goes the way of the full engine at a small step, the nearer
/// the smaller its own, to first order, as the base goes steadily within a step.
#[test]
fn runge_and_kutta_feel_a_base_that_accelerates() {
    for (name, turning) in [("arm", 0.0), ("arm", 2.0), ("two-link", 2.0), ("y", 1.0)] {
        let mechanism = edited(&gallery::build(name).unwrap(), |joint| {
            // Soft, so that an explicit integrator can follow at large steps.
            joint.stiffness = joint.stiffness.take().map(|_| 5.0.into());
            joint.damping = joint.damping.take().map(|_| 0.05.into());
        });
        let run = |simulation: &mut dyn Simulation, dt: f64| {
            for k in 1..=(0.25 / dt).round() as usize {
                let t = k as f64 * dt;
                let (v, w) = (Vector3::new(0.0, 4.0, 3.0) * t, Vector3::z() * (turning * t));
                let base = Pose::new(exp_rotation(&(w * (0.5 * t))), v * (0.5 * t));
                simulation.inputs_mut().set_base(base, Twist::new(v, w)).unwrap();
                simulation.step(dt).unwrap();
            }
        };
        let mut exact = pliant_core::full::Model::new(&mechanism).simulate();
        run(&mut exact, 1.25e-5);
        let exact = exact.state().coordinates.clone();
        let still = |dt: f64| {
            let mut simulation = Model::new(&mechanism).simulate();
            simulation.set_integrator(Integrator::RungeKutta4).unwrap();
            run(&mut simulation, dt);
            let joints = simulation.state().coordinates.iter().zip(&exact);
            joints.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
        };
        let moved = exact.iter().fold(0.0f64, |m, q| m.max(q.abs()));
        let errors = [5e-4, 2.5e-4, 1.25e-4].map(still);
        println!("{name} {turning}: {errors:?} of {moved}");
        assert!(moved > 0.01 && errors[2] < 0.01 * moved, "{name}: {errors:?} of {moved}");
        // The full engine's own error at its step is a tenth of the last one.
        assert!((1.6..2.4).contains(&(errors[0] / errors[1])), "first order: {errors:?}");
    }
}
