//! Claim: a model made at the present pose of any engine's state and added while a simulation runs moves no effector elsewhere
//! by more than 1e-4 of the radius in any step, in the step of the addition and in all in which it fades in; in the end it
//! counts in full, and near it the blend is better than before.

use crate::common::FRAME;
use crate::common::loads::{Random, case, effectors_apart, set_loads};
use pliant_core::blended::{Model, Options, Simulation};
use pliant_core::engine::{Simulation as _, State};
use pliant_core::mechanism::Mechanism;
use pliant_core::{full, gallery};

/// How far effectors are elsewhere after a step with and one without a change, over the radius.
fn jump(mechanism: &Mechanism, with: &Simulation, without: &Simulation) -> f64 {
    let each = mechanism.effector_ids().map(|e| {
        let [a, b] = [with, without].map(|s| s.effector_pose(e).unwrap().position);
        (a - b).norm() / mechanism.radius()
    });
    each.fold(0.0, f64::max)
}

/// Steps until the models that were added count in full, or so many; the largest jump of a step against the same step in which
/// they go on counting as they do.
fn fade(mechanism: &Mechanism, simulation: &mut Simulation, dt: f64, most: usize) -> (usize, f64) {
    let mut largest = 0.0f64;
    for step in 0..most {
        if simulation.fading().is_empty() {
            return (step, largest);
        }
        let mut still = simulation.clone();
        still.set_options(Options { fade: f64::INFINITY, ..*simulation.options() });
        simulation.step(dt).unwrap();
        still.step(dt).unwrap();
        largest = largest.max(jump(mechanism, simulation, &still));
    }
    (most, largest)
}

/// Moving fast and slowly, at small and large displacements, in long and short steps, with models at states of this engine and
/// of others, and one added while another fades in.
#[test]
fn nothing_jumps() {
    let (mut added, mut refused, mut worst) = (0, 0, 0.0f64);
    for name in ["two-link", "y", "hand", "chain", "arm", "helix:50", "rungs:18", "gripper"] {
        let mechanism = gallery::build(name).unwrap();
        let model = Model::new(&mechanism, Options::default()).unwrap();
        let mut random = Random(41);
        for (k, displacement) in [0.2, 0.5, 0.9].into_iter().enumerate() {
            let Some(case) = case(&mechanism, &mut random, displacement, false) else { continue };
            let (dt, steps) = [(FRAME, 6), (1.0 / 240.0, 40), (FRAME, 30)][k];
            let mut simulation = model.simulate();
            set_loads(&mut simulation, &case.loads);
            let mut other = full::Model::new(&mechanism).simulate();
            set_loads(&mut other, &case.loads);
            for _ in 0..steps {
                simulation.step(dt).unwrap();
                other.step(dt).unwrap();
            }
            // Where this one is, where another engine is at the same time, and where the load leads to.
            let states = [simulation.state().clone(), other.state().clone(), case.state.clone()];
            for state in states {
                let mut without = simulation.clone();
                if simulation.add_model(&state).is_err() {
                    refused += 1;
                    assert_eq!(simulation.state(), without.state(), "{name}");
                    continue;
                }
                added += 1;
                assert_eq!(simulation.model().samples().len(), without.model().samples().len() + 1);
                let mut with = simulation.clone();
                with.step(dt).unwrap();
                without.step(dt).unwrap();
                worst = worst.max(jump(&mechanism, &with, &without));
                // The next comes while this one fades in.
                let (_, largest) = fade(&mechanism, &mut simulation, dt, 12);
                worst = worst.max(largest);
                assert!(worst < 1e-4, "{name} {displacement}: {worst:e}");
            }
        }
    }
    eprintln!("{added} added, {refused} refused, at most {worst:.1e} of the radius in a step");
    assert!(added >= 40 && refused <= 24, "{added} {refused}");
}

/// At rest under a load: a model added there brings the blend to a fraction of its error, and counts in full in the end.
#[test]
fn it_is_better_near_the_new_model() {
    let mut compared = 0;
    for (name, displacement) in
        [("two-link", 0.5), ("chain", 0.5), ("arm", 0.3), ("helix:50", 0.3), ("y", 0.5), ("rungs:18", 0.2)]
    {
        let mechanism = gallery::build(name).unwrap();
        let model = Model::new(&mechanism, Options::default()).unwrap();
        let mut random = Random(43);
        let Some(case) = case(&mechanism, &mut random, displacement, false) else { continue };
        let mut simulation = model.simulate();
        set_loads(&mut simulation, &case.loads);
        let rest = |simulation: &mut Simulation| -> State {
            (0..600).for_each(|_| simulation.step(FRAME).unwrap());
            simulation.state().clone()
        };
        let before = rest(&mut simulation);
        let error = effectors_apart(&mechanism, &before, &case.state);
        if simulation.add_model(&before).is_err() {
            eprintln!("{name}: no model there");
            continue;
        }
        let (steps, largest) = fade(&mechanism, &mut simulation, FRAME, 6000);
        assert!(simulation.fading().is_empty(), "{name}: {:?} after {steps}", simulation.fading());
        assert!(largest < 1e-4, "{name}: {largest:e}");
        let now = effectors_apart(&mechanism, &rest(&mut simulation), &case.state);
        eprintln!("{name}: off by {error:.2e}, then {now:.2e}, in {steps} steps of at most {largest:.1e}");
        // A linear model's error is the square of how far it is from its pose.
        assert!(now < 0.3 * error + 1e-6, "{name}: {error:e} {now:e}");
        compared += 1;
    }
    assert!(compared >= 4, "{compared}");
}

/// A saved state goes on with the same bits while a model fades in; a state of another mechanism is refused.
#[test]
fn it_is_saved_with_the_state() {
    let mechanism = gallery::arm();
    let mut simulation = Model::new(&mechanism, Options::default()).unwrap().simulate();
    simulation.inputs_mut().add_scene_loads();
    (0..20).for_each(|_| simulation.step(FRAME).unwrap());
    let here = simulation.state().clone();
    simulation.add_model(&here).unwrap();
    (0..5).for_each(|_| simulation.step(FRAME).unwrap());
    assert!(simulation.fading()[0] > 0.0 && simulation.fading()[0] < 1.0, "{:?}", simulation.fading());
    let mut again = simulation.clone();
    let saved = simulation.state().clone();
    simulation.step(FRAME).unwrap();
    again.step(0.01).unwrap();
    again.set_state(&saved).unwrap();
    again.step(FRAME).unwrap();
    assert_eq!(crate::common::bits(again.state()), crate::common::bits(simulation.state()));
    let mut foreign = full::Model::new(&gallery::chain(3)).simulate();
    assert!(simulation.add_model(foreign.state()).is_err());
}
