//! Claim: the live engine comes to rest on the exact nonlinear equilibrium, that of the full statics, under random
//! loads that move the effectors by up to a radius of the mechanism; with loops, couplings and joints from formulas too.

use crate::common::loads::{Random, case, effectors_apart};
use crate::common::{FRAME, apart};
use pliant_core::engine::Simulation as _;
use pliant_core::gallery;
use pliant_core::live::{Model, Simulation};
use pliant_core::spatial::Twist;

/// Steps until nothing moves faster than 1e-10 radii a second; how many it took.
fn come_to_rest(simulation: &mut Simulation, dt: f64, steps: usize) -> usize {
    let radius = simulation.mechanism().radius();
    for step in 1..=steps {
        simulation.step(dt).unwrap();
        let speed = |t: &Twist| t.linear.norm().max(t.angular.norm() * radius);
        if step % 16 == 0 && simulation.state().twists.iter().map(speed).fold(0.0, f64::max) < 1e-10 * radius
        {
            return step;
        }
    }
    steps
}

/// Steps in which loads rise.
const RISE: usize = 120;

#[test]
fn it_settles_on_the_equilibrium_of_the_full_statics() {
    let found = ["y", "helix:50", "arm", "hand", "chain"].map(settle);
    assert_eq!(found, [11, 12, 12, 12, 12]);
}

#[test]
fn it_settles_so_with_loops_and_couplings() {
    let found = ["rungs:18", "loop", "gripper", "four-bar", "graph", "ladder:12"].map(settle);
    assert_eq!(found, [11, 12, 10, 5, 9, 12]);
}

#[test]
fn it_settles_so_with_joints_from_formulas() {
    let found = ["spline-slide", "surface-slide"].map(settle);
    assert_eq!(found, [12, 12]);
}

/// Twelve loads, or as many of them as the statics come to an end with: how many.
fn settle(name: &str) -> usize {
    let mechanism = gallery::build(name).unwrap();
    let model = Model::new(&mechanism).unwrap();
    let looped = !mechanism.order().loop_joints().is_empty();
    let mut random = Random(7);
    let (mut worst, mut found, mut slowest) = (0.0f64, 0, 0);
    for k in 0..12 {
        let wanted = [0.2, 0.5, 1.0][k % 3];
        let Some(case) = case(&mechanism, &mut random, wanted, k % 2 == 1) else { continue };
        found += 1;
        let mut simulation = model.simulate();
        // Loads rise for two seconds: put on at once, they may throw a finger into another equilibrium.
        for step in 1..=RISE {
            for (e, load) in case.loads.iter().enumerate() {
                let part = step as f64 / RISE as f64;
                simulation.set_load(crate::common::handles::effector(&mechanism, e), *load * part).unwrap();
            }
            simulation.step(FRAME).unwrap();
        }
        let steps = come_to_rest(&mut simulation, FRAME, 4000);
        let error = effectors_apart(&mechanism, simulation.state(), &case.state);
        let links = apart(&mechanism, simulation.state(), &case.state);
        let violation = simulation.violation();
        worst = worst.max(error.max(links));
        slowest = slowest.max(steps);
        // Joints of a tree have no gaps but rounding along it; loops are closed by Newton's method.
        assert!(violation < if looped { 1e-9 } else { 1e-12 }, "{name}: {violation}");
        // Both are at rest as far as their own tolerances, which for the statics of loops is a force of 1e-9 of
        // the largest, over a stiffness that singular rungs may not have; and speeds of 1e-10 radii a second.
        assert!(error.max(links) < if looped { 2e-5 } else { 1e-8 }, "{name} {k}: {error} {links}");
    }
    eprintln!("{name}: {found} cases, worst {worst:.1e}, at rest after {slowest} steps");
    found
}
