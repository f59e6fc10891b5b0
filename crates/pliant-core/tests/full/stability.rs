//! Claim: a step of a sixtieth of a second is stable for chains under their own tension, for stiffness over
//! seven decades, at a singular pose, in loops and at limits; and closures hold.

use crate::common::scenes::{
    self, LENGTH, Most, ball_chain, every_stiffness, flat_four_bar, kick_and_swing, push_across,
    under_its_load,
};
use crate::common::{FRAME, apart, come_to_rest};
use pliant_core::engine::Simulation as _;
use pliant_core::engine::StaticsSettings;
use pliant_core::full::Model;
use pliant_core::gallery;

/// The chain that blows up where constraint forces are held fixed during a step.
#[test]
fn a_hanging_chain_of_balls_is_stable() {
    let mechanism = ball_chain(20);
    let model = Model::new(&mechanism);
    let mut simulation = model.simulate();
    let Most { gained, violation, .. } = kick_and_swing(&mut simulation);
    println!("gained {gained:.4} J, violation {violation:.1e} radii");
    let depth = -simulation.energy().potential / (0.1 * 20.0 * 9.81);
    println!("hangs at {depth:.4} m on average, kinetic {:.1e} J", simulation.energy().kinetic);
    assert!(gained <= 0.0, "{gained} J");
    assert!(violation < 1e-3, "{violation:e}");
    // It hangs straight down: centres at half a link, one and a half, …: one metre on average.
    assert!((depth - 1.0).abs() < 1e-3, "{depth}");
}

/// The gap of a joint while the chain falls from level and swings, in link lengths. Measured with 1, 2 and 3
/// iterations: 3.6e-3, 9.1e-6, 1.3e-7.
#[test]
fn two_iterations_close_the_joints_of_a_swinging_chain() {
    let mechanism = ball_chain(20);
    let model = Model::new(&mechanism);
    let mut worst = [0.0f64; 3];
    for (iterations, worst) in (1..).zip(&mut worst) {
        let mut simulation = model.simulate();
        simulation.set_iterations(iterations).unwrap();
        for _ in 0..300 {
            simulation.step(FRAME).unwrap();
            for j in 0..20 {
                let X = simulation.state().relative_pose(&mechanism, &mechanism.joints()[j]);
                *worst = worst.max(X.position.norm() / LENGTH);
            }
        }
    }
    println!("gap in links after 1, 2, 3 iterations: {worst:?}");
    assert!(worst[1] < 1e-5, "{:e}", worst[1]);
    assert!(worst[2] < worst[1] && worst[1] < worst[0]);
}

/// What two iterations leave open falls with the square of the displacement, down to rounding.
#[test]
fn every_stiffness_is_stable() {
    let bound = |stiffness: f64| (1e-2 * (100.0 / stiffness).min(1.0).powi(2)).max(1e-12);
    every_stiffness(50, |mechanism| Model::new(mechanism).simulate().into(), bound);
}

/// All bars of a passive four-bar on one line: two branches of motion meet there, and the closures lose a
/// row. Pushed across, it moves, and its joints stay closed.
#[test]
fn a_singular_four_bar_moves_when_pushed() {
    let (turned, violation) = push_across(&mut Model::new(&flat_four_bar()).simulate());
    assert!(turned > 1.0, "{turned}");
    assert!(violation < 1e-6, "{violation:e}");
}

/// The ladder of 36 links bends by 11 mm, and its own statics say where it comes to rest.
#[test]
fn the_ladder_comes_to_rest_where_statics_says() {
    let mechanism = gallery::ladder(36);
    let model = Model::new(&mechanism);
    let mut simulation = model.simulate();
    let (tip, start) = under_its_load(&mut simulation);
    let steps = come_to_rest(&mut simulation, FRAME, 3000);
    let moved = (simulation.effector_pose(tip).unwrap().position - start).norm();
    let mut statics = model.simulate();
    statics.inputs_mut().add_scene_loads();
    let equilibrium = statics.settle(&StaticsSettings::default()).unwrap();
    let difference = apart(&mechanism, simulation.state(), statics.state());
    println!("moved {moved:.6} m in {steps} steps, statics {difference:.1e} radii, {equilibrium:?}");
    assert!((moved / 0.01100 - 1.0).abs() < 0.01, "{moved}");
    assert!(equilibrium.converged && equilibrium.stable);
    assert!(difference < 1e-10, "{difference:e}");
}

#[test]
fn a_limit_holds() {
    scenes::a_limit_holds(|mechanism| Model::new(mechanism).simulate().into());
}
