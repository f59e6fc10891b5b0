//! Claim: a batch of runs is its runs, to the last bit, whatever the number of threads, also with contact; what is wrong is said of the
//! run and the step, and the array of the caller is the only one that matters.

use pliant::prelude::*;
use pliant::rollout::{Controls, Rollout, RolloutError, Starts};
use pliant::{Moving, Touching};

const BATCH: usize = 7;
const STEPS: usize = 5;

/// A batch with its defaults.
fn batch<'a>(moving: Moving, starts: Starts<'a>, controls: Controls<'a>, threads: usize) -> Rollout<'a> {
    Rollout { moving, starts, controls, dt: 0.01, steps: STEPS, threads, lenient: false, keep_ends: true }
}

fn arm() -> (Mechanism, Moving) {
    let mechanism = gallery::arm();
    let moving = Moving::from(Engine::Articulated.simulate(&mechanism).unwrap());
    (mechanism, moving)
}

/// Numbers between -1 and 1, the same for the same place.
fn number(i: usize) -> f64 {
    ((i * 7919 + 13) % 1000) as f64 / 500.0 - 1.0
}

#[test]
fn runs_are_those_of_a_simulation_for_any_number_of_threads() {
    let (mechanism, moving) = arm();
    let n = mechanism.coordinate_count();
    let rows: Vec<f64> = (0..BATCH * 2 * n).map(|i| 0.1 * number(i)).collect();
    let targets: Vec<f64> = (0..BATCH * STEPS * n).map(|i| 0.3 * number(i + 5)).collect();
    let runs: Vec<(Vec<f64>, Vec<State>)> = [1, 3]
        .map(|threads| {
            let mut out = vec![0.0; BATCH * STEPS * 2 * n];
            let own = batch(moving.clone(), Starts::Rows(BATCH, &rows), Controls::Each(&targets), threads);
            let outcome = own.run(&mut out, || true).unwrap();
            assert_eq!((outcome.ends.len(), outcome.without_pushes), (BATCH, false));
            (out, outcome.ends.into_iter().map(|(state, _)| state).collect())
        })
        .into();
    assert_eq!(runs[0], runs[1]);
    let mut placing = pliant::placing::Placing::new(&mechanism).unwrap();
    for run in 0..BATCH {
        let (q, v) = rows[run * 2 * n..(run + 1) * 2 * n].split_at(n);
        let mut simulation = Engine::Articulated.simulate(&mechanism).unwrap();
        simulation.set_state(placing.state(q, v).unwrap()).unwrap();
        for step in 0..STEPS {
            for joint in mechanism.joint_ids().filter(|id| !mechanism[*id].freedoms.is_empty()) {
                let own = mechanism[joint].coordinates();
                let at = (run * STEPS + step) * n;
                simulation.inputs_mut().set_target(joint, &targets[at + own.start..at + own.end]).unwrap();
            }
            simulation.step(0.01).unwrap();
            let row = &runs[0].0[(run * STEPS + step) * 2 * n..][..2 * n];
            let state = simulation.state();
            assert_eq!((&row[..n], &row[n..]), (&state.coordinates[..], &state.rates[..]));
        }
        assert_eq!(runs[0].1[run], *simulation.state());
    }
}

/// Runs that start where others ended are the rest of longer ones, with what pushed.
#[test]
fn runs_with_contact_go_on_from_their_ends() {
    let mechanism = gallery::build("hexapod-terrain").unwrap();
    let surfaces = pliant::contact::Surfaces::new();
    let apart = mechanism.take_apart();
    let held = apart.held.as_ref().map(|held| Engine::Articulated.simulate(held).unwrap());
    let scene = contact::Scene::of(&mechanism, apart.clone(), surfaces, held).unwrap();
    let moving = Moving::from(scene);
    let n = mechanism.coordinate_count();
    let start = moving.clone().save();
    let run = |starts: &[(State, Option<Touching>)], steps: usize, threads: usize| {
        let list = starts.iter().map(|(state, touching)| (state, touching.as_ref())).collect();
        let mut out = vec![0.0; starts.len() * steps * 2 * n];
        let own = batch(moving.clone(), Starts::States(list), Controls::Scene, threads);
        let outcome = Rollout { steps, ..own }.run(&mut out, || true).unwrap();
        assert!(!outcome.without_pushes);
        (out, outcome.ends)
    };
    let starts = [start, moving.clone().save()];
    let (_, whole) = run(&starts, 60, 1);
    let (_, first) = run(&starts, 30, 2);
    assert!(first[0].1.as_ref().is_some_and(Touching::pushes)); // it stands
    let (_, then) = run(&first, 30, 2);
    for (one, two) in whole.iter().zip(&then) {
        assert_eq!(one.0, two.0);
        assert_eq!(one.1.as_ref().map(Touching::pushed), two.1.as_ref().map(Touching::pushed));
    }
}

#[test]
fn what_is_wrong_is_said() {
    let (mechanism, moving) = arm();
    let n = mechanism.coordinate_count();
    let mut rows = vec![0.0; BATCH * 2 * n];
    let mut out = vec![0.0; BATCH * STEPS * 2 * n];
    for (rows, out, what) in [(1, 0, "starts"), (0, 1, "out")] {
        let rows = vec![0.0; BATCH * 2 * n + rows];
        let own = batch(moving.clone(), Starts::Rows(BATCH, &rows), Controls::Scene, 1);
        let refused = own.run(&mut vec![0.0; BATCH * STEPS * 2 * n + out], || true).err().unwrap();
        assert!(matches!(refused, RolloutError::Length { what: of, .. } if of == what), "{refused}");
    }
    let own = batch(moving.clone(), Starts::Rows(BATCH, &rows), Controls::Constant(&[0.0]), 1);
    assert!(matches!(own.run(&mut out, || true), Err(RolloutError::Length { what: "controls", .. })));
    // Two that fly apart: the first of them is named, or both are NaN.
    for run in [2, 5] {
        rows[run * 2 * n + n] = 1e200;
    }
    let own = batch(moving.clone(), Starts::Rows(BATCH, &rows), Controls::Scene, 3);
    assert!(matches!(own.run(&mut out, || true), Err(RolloutError::Step { run: 2, step: 1, .. })));
    let own = batch(moving.clone(), Starts::Rows(BATCH, &rows), Controls::Scene, 3);
    Rollout { lenient: true, ..own }.run(&mut out, || true).unwrap();
    for run in 0..BATCH {
        let part = &out[run * STEPS * 2 * n..(run + 1) * STEPS * 2 * n];
        assert!(part.iter().all(|x| x.is_nan() == [2, 5].contains(&run)));
    }
    // It stops when it is asked to, before its end.
    let own = batch(moving, Starts::Rows(1, &rows[..2 * n]), Controls::Scene, 1);
    let long = Rollout { steps: 200_000, ..own };
    assert_eq!(long.run(&mut vec![0.0; 200_000 * 2 * n], || false).err(), Some(RolloutError::Stopped));
}
