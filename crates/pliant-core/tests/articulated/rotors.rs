//! Claim: rotors are carried on as their equations have them, also of joints whose speeds are not the rates of their coordinates:
//! the default step comes to the motion by Runge and Kutta's method, and with loops to that of the full engine, as the step gets
//! shorter. A rotor that kept the rates of the end of a step instead of those it was solved with would stay off, however short the
//! step.

use crate::common::edited;
use pliant_core::articulated::{Integrator, Model};
use pliant_core::engine::{Simulation, State};
use pliant_core::full;
use pliant_core::gallery::{self, Passive, RandomOptions};
use pliant_core::joints::JointKind;
use pliant_core::mechanism::{Mechanism, PerFreedom};

/// The furthest that links are apart, in radii and rad.
fn apart(mechanism: &Mechanism, a: &State, b: &State) -> f64 {
    let poses = a.poses.iter().zip(&b.poses);
    let distance = poses.map(|(a, b)| {
        (a.position - b.position).norm() / mechanism.radius() + a.rotation.angle_to(&b.rotation)
    });
    distance.fold(0.0, f64::max)
}

fn run(mut simulation: impl Simulation, dt: f64, seconds: f64) -> State {
    for _ in 0..(seconds / dt).round() as usize {
        simulation.step(dt).unwrap();
    }
    simulation.state().clone()
}

/// A random tree of one kind with soft springs, and rotors as heavy as its links on every freedom.
fn rotating(kind: &JointKind, seed: u64) -> Mechanism {
    let options = RandomOptions {
        bodies: 4,
        loops: 0.0,
        kinds: vec![kind.clone()],
        limits: false,
        massless: 0.0,
        ..RandomOptions::default()
    };
    edited(&gallery::random(seed, &options), |joint| {
        let some = joint.kind.freedoms() > 0;
        joint.damping = None;
        joint.stiffness = some.then_some(PerFreedom::All(2.0));
        joint.armature = some.then_some(PerFreedom::All(0.05));
    })
}

#[test]
fn rotors_of_trees_are_those_of_runge_and_kutta() {
    for kind in [JointKind::Ball, JointKind::Bushing, JointKind::Universal, JointKind::Hinge] {
        for seed in 0..4 {
            let mechanism = rotating(&kind, seed);
            let model = Model::new(&mechanism);
            let mut exact = model.simulate();
            exact.set_integrator(Integrator::RungeKutta4).unwrap();
            let exact = run(exact, 1e-3, 0.2);
            let moved = apart(&mechanism, &exact, model.simulate().state());
            let [coarse, fine] =
                [4e-4, 1e-4].map(|dt| apart(&mechanism, &run(model.simulate(), dt, 0.2), &exact));
            println!("{} {seed}: moved {moved:.1e}, {coarse:.1e}, {fine:.1e}", kind.name());
            // First order: a quarter, with what the second order leaves of it.
            assert!(moved > 1e-2 && fine < 0.3 * coarse, "{} {seed}: {coarse:e} {fine:e}", kind.name());
        }
    }
}

#[test]
fn rotors_of_loop_joints_are_those_of_the_full_engine() {
    let mut ran = 0;
    for seed in 0..12 {
        let options = RandomOptions {
            bodies: 8,
            loops: 0.5,
            passive: Passive::Never,
            kinds: vec![JointKind::Ball, JointKind::Universal],
            loop_kinds: vec![JointKind::Bushing, JointKind::Ball],
            limits: false,
            massless: 0.0,
            ..RandomOptions::default()
        };
        let mechanism = edited(&gallery::random(seed, &options), |joint| {
            let some = joint.kind.freedoms() > 0;
            joint.stiffness = some.then_some(PerFreedom::All(2.0));
            joint.damping = some.then_some(PerFreedom::All(0.02));
            joint.armature = some.then_some(PerFreedom::All(0.05));
        });
        if mechanism.order().loop_joints().is_empty() {
            continue;
        }
        let (model, whole) = (Model::new(&mechanism), full::Model::new(&mechanism));
        let own = [4e-4, 2e-4, 1e-4].map(|dt| run(model.simulate(), dt, 0.1));
        let [first, second] = [0, 1].map(|i| apart(&mechanism, &own[i], &own[i + 1]));
        assert!(second < 0.6 * first, "{seed}: {first:e} {second:e}");
        let full = [4e-4, 1e-4].map(|dt| run(whole.simulate(), dt, 0.1));
        // Of one mechanism with balls in loops, seed 7, the full engine moves otherwise the shorter its steps are.
        if apart(&mechanism, &full[0], &full[1]) > 5.0 * first {
            continue;
        }
        let [coarse, fine] = [(0, 0), (2, 1)].map(|(i, k)| apart(&mechanism, &own[i], &full[k]));
        println!("{seed}: {first:.1e}, {second:.1e}; from full {coarse:.1e}, {fine:.1e}");
        // A quarter, as first order has it.
        assert!(fine < 0.3 * coarse + 1e-9, "{seed}: {coarse:e} {fine:e}");
        ran += 1;
    }
    assert!(ran >= 8, "{ran}");
}
