//! Claim: motion of the articulated engine comes to rest where the statics of the full engine say, on trees, in loops
//! and with couplings; what it starts there, it leaves there.

use crate::common::scenes::under_its_load;
use crate::common::{FRAME, apart, creeping};
use pliant_core::articulated::{Model, Simulation};
use pliant_core::engine::Simulation as _;
use pliant_core::engine::State;
use pliant_core::engine::StaticsSettings;
use pliant_core::full::{self};
use pliant_core::gallery::{self, Passive, RandomOptions};
use pliant_core::mechanism::Mechanism;
use pliant_core::spatial::Twist;

/// Steps until nothing moves faster than 1e-12 radii a second, or for `steps` steps; how many it took.
fn come_to_rest(simulation: &mut Simulation, dt: f64, steps: usize) -> usize {
    let radius = simulation.mechanism().radius();
    for step in 1..=steps {
        simulation.step(dt).unwrap_or_else(|e| panic!("{}: {e}", simulation.mechanism().name()));
        let speed = |t: &Twist| t.linear.norm().max(t.angular.norm() * radius);
        if simulation.state().twists.iter().map(speed).fold(0.0, f64::max) < 1e-12 * radius {
            return step;
        }
    }
    steps
}

fn settled(mechanism: &Mechanism) -> State {
    let model = full::Model::new(mechanism);
    let mut statics = model.simulate();
    statics.inputs_mut().add_scene_loads();
    let found = statics.settle(&StaticsSettings { tolerance: 1e-12, ..Default::default() }).unwrap();
    assert!(found.converged || found.residual < 1e-8, "{}: {found:?}", mechanism.name());
    statics.state().clone()
}

/// As `settled` to its tolerance, in radii: 1e-9 is what was asked.
#[test]
fn motion_comes_to_rest_where_statics_says() {
    for name in
        ["two-link", "y", "arm", "helix:24", "ladder:36", "rungs:24", "hand", "gripper", "four-bar", "graph"]
    {
        let mechanism = creeping(&gallery::build(name).unwrap());
        let model = Model::new(&mechanism);
        let mut simulation = model.simulate();
        simulation.inputs_mut().add_scene_loads();
        let steps = come_to_rest(&mut simulation, 0.05, 4000);
        let expected = settled(&mechanism);
        let difference = apart(&mechanism, simulation.state(), &expected);
        println!(
            "{name}: {difference:.1e} radii after {steps} steps, violation {:.1e}",
            simulation.violation()
        );
        assert!(difference < 1e-9, "{name}: {difference:e}");
        let forces = simulation.state().forces.iter().zip(&expected.forces);
        let scale = expected.forces.iter().fold(0.0f64, |m, x| m.max(x.abs()));
        let off = forces.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(off < 1e-6 * scale, "{name}: forces {off:e} of {scale:e}");
    }
}

#[test]
fn the_ladder_bends_by_eleven_millimetres() {
    let mechanism = gallery::ladder(36);
    let model = Model::new(&mechanism);
    let mut simulation = model.simulate();
    let (tip, start) = under_its_load(&mut simulation);
    let mut violation = 0.0f64;
    for _ in 0..1200 {
        simulation.step(FRAME).unwrap();
        violation = violation.max(simulation.violation());
    }
    let moved = (simulation.effector_pose(tip).unwrap().position - start).norm();
    let difference = apart(&mechanism, simulation.state(), &settled(&mechanism));
    println!("moved {moved:.6} m, statics {difference:.1e} radii, violation {violation:.1e}");
    assert!((moved / 0.01100 - 1.0).abs() < 0.01, "{moved}");
    assert!(violation < 1e-9, "{violation:e}");
    assert!(difference < 1e-9, "{difference:e}");
}

/// Random mechanisms with loops, started at the equilibrium of the full engine, stay there.
#[test]
fn an_equilibrium_of_the_full_engine_is_one() {
    let mut tried = 0;
    for seed in 0..40 {
        let options = RandomOptions {
            loops: if seed % 2 == 0 { 0.0 } else { 0.3 },
            passive: Passive::InLoops,
            limits: false,
            ..RandomOptions::default()
        };
        let mechanism = gallery::random(seed, &options);
        let full_model = full::Model::new(&mechanism);
        let mut statics = full_model.simulate();
        statics.inputs_mut().add_scene_loads();
        let settings = StaticsSettings { tolerance: 1e-12, ..Default::default() };
        let Ok(found) = statics.settle(&settings) else { continue };
        if !found.stable || found.residual > 1e-8 {
            continue;
        }
        tried += 1;
        let model = Model::new(&mechanism);
        let mut simulation = model.simulate();
        simulation.inputs_mut().add_scene_loads();
        simulation.set_state(statics.state()).unwrap();
        for _ in 0..30 {
            simulation.step(FRAME).unwrap_or_else(|e| panic!("random {seed}: {e}"));
        }
        let difference = apart(&mechanism, simulation.state(), statics.state());
        let off = simulation.state().multipliers.iter().zip(&statics.state().multipliers);
        let off = off.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        println!("random {seed}: {difference:.1e} radii, multipliers {off:.1e}");
        assert!(difference < 1e-9, "random {seed}: {difference:e}");
    }
    assert_eq!(tried, 40, "equilibria");
}
