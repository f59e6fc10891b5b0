//! Claim: the blended engine moves about as the full one does, settles without limit cycles on the equilibrium of its
//! statics, and poses do not jump as samples come and go. How far it is off in motion, next to the engine `reduced`.

use std::ops::RangeInclusive;

use crate::common::loads::{Random, case, effectors_apart};
use crate::common::{FRAME, apart};
use pliant_core::blended::{Links, Model, Options, Simulation};
use pliant_core::engine::{Inputs, Simulation as Simulate, State};
use pliant_core::full;
use pliant_core::gallery;
use pliant_core::mechanism::Mechanism;
use pliant_core::reduced::Reduction;
use pliant_core::spatial::Wrench;

/// A model with the unloaded sample and pairs at random loads.
fn sampled(mechanism: &Mechanism, pairs: usize, options: Options) -> Model {
    let mut model = Model::new(mechanism, options).unwrap();
    let mut random = Random(5);
    for k in 0..pairs {
        let Some(case) = case(mechanism, &mut random, [0.8, 0.5][k % 2], false) else { continue };
        let opposite: Vec<Wrench> = case.loads.iter().map(|w| *w * -1.0).collect();
        let _ = (model.add(&case.loads), model.add(&opposite));
    }
    model
}

/// Half a second in steps of a millisecond: how far effectors are from those of the full engine at most, over how far these
/// go from where they are, and the latter.
pub fn off_the_path(simulation: &mut dyn Simulate, expected: &mut full::Simulation) -> (f64, f64) {
    let (mechanism, start) = (&expected.mechanism().clone(), expected.state().clone());
    let (mut worst, mut largest) = (0.0f64, 0.0f64);
    for _ in 0..500 {
        expected.step(1e-3).unwrap();
        simulation.step(1e-3).unwrap();
        worst = worst.max(effectors_apart(mechanism, simulation.state(), expected.state()));
        largest = largest.max(effectors_apart(mechanism, expected.state(), &start));
    }
    (worst / largest, largest)
}

pub fn set(simulation: &mut Simulation, loads: &[Wrench]) {
    crate::common::loads::set_loads(simulation, loads);
}

/// Paths are off by a third at worst, where those of `reduced`, made under the same load, are off by what its modes leave out.
#[test]
fn transients_are_near_those_of_the_full_engine() {
    let scenes = [("two-link", 2), ("y", 4), ("hand", 2), ("chain", 3), ("helix:50", 3), ("rungs:18", 2)];
    let (mut ran, mut compared) = (Vec::new(), 0);
    for (name, pairs) in scenes {
        let mechanism = gallery::build(name).unwrap();
        let model = sampled(&mechanism, pairs, Options::default());
        let mut random = Random(11);
        let mut cases = 0;
        for _ in 0..2 {
            let Some(case) = case(&mechanism, &mut random, 0.25, false) else { continue };
            cases += 1;
            let full_model = full::Model::new(&mechanism);
            let mut start = full_model.simulate();
            start.settle(&Default::default()).unwrap();
            let start = start.state().clone();
            let path = |mut simulation: Box<dyn Simulate>| {
                let mut expected = full_model.simulate();
                expected.set_state(&start).unwrap();
                simulation.set_state(&start).unwrap();
                // Rounding, and what the statics of the first sample leave over; and where few motions are nearest.
                let most = if simulation.engine() == "blended" { 1e-12 } else { 1e-3 };
                assert!(apart(&mechanism, simulation.state(), &start) < most, "{name}: start");
                for (effector, load) in mechanism.effector_ids().zip(&case.loads) {
                    expected.set_load(effector, *load).unwrap();
                    simulation.set_load(effector, *load).unwrap();
                }
                off_the_path(&mut *simulation, &mut expected)
            };
            let (error, largest) = path(model.simulate().into());
            let mut inputs = Inputs::new(&mechanism);
            for (effector, load) in mechanism.effector_ids().zip(&case.loads) {
                inputs.set_load(effector, *load).unwrap();
            }
            let motions = Reduction::at_rest(&mechanism).under(&inputs).build();
            let exact = motions.ok().map(|model| path(model.simulate().into()).0);
            eprintln!("{name}: {error:.4} at {largest:.2}; motions {exact:.4?}");
            assert!(error < 0.4, "{name}: {error}");
            // Where it takes the mechanism it is the better one.
            assert!(exact.is_none_or(|exact| exact < 0.03 && exact < error), "{name}: {exact:?} {error}");
            compared += usize::from(exact.is_some());
        }
        ran.push((name, model.samples().len(), cases));
    }
    // Samples, and cases of 2.
    let expected = [
        ("two-link", 5, 2),
        ("y", 7, 1),
        ("hand", 5, 2),
        ("chain", 7, 2),
        ("helix:50", 7, 2),
        ("rungs:18", 5, 2),
    ];
    assert_eq!((ran, compared), (expected.to_vec(), 11));
}

#[test]
fn damped_runs_come_to_rest_where_the_statics_are() {
    let mut ran = Vec::new();
    for (name, pairs) in
        [("y", 4), ("hand", 2), ("chain", 3), ("helix:50", 3), ("rungs:18", 2), ("gripper", 2)]
    {
        let mechanism = gallery::build(name).unwrap();
        let model = sampled(&mechanism, pairs, Options::default());
        let mut random = Random(3);
        let mut cases = 0;
        for k in 0..4 {
            let Some(case) = case(&mechanism, &mut random, [0.4, 0.9][k % 2], false) else { continue };
            cases += 1;
            let mut simulation = model.simulate();
            // Loads rise, so that what rests is what the statics find from rest.
            for step in 1..=240 {
                let part = step as f64 / 240.0;
                let loads: Vec<Wrench> = case.loads.iter().map(|w| *w * part).collect();
                set(&mut simulation, &loads);
                simulation.step(FRAME).unwrap();
            }
            let mut moved = f64::INFINITY;
            for _ in 0..1500 {
                let before = simulation.state().clone();
                simulation.step(FRAME).unwrap();
                moved = effectors_apart(&mechanism, simulation.state(), &before);
            }
            let rest = simulation.state().clone();
            let estimate = simulation.estimate().unwrap();
            let error = apart(&mechanism, &rest, &case.state);
            simulation.settle(&Default::default()).unwrap();
            let off = apart(&mechanism, simulation.state(), &rest);
            eprintln!(
                "{name} {k}: {moved:.1e} a step, {off:.1e} from the statics, {error:.4} wrong, {estimate:.4} estimated"
            );
            // Rounding; a limit cycle would be 1e-4 and more.
            assert!(moved < 1e-12, "{name} {k}: moves {moved}");
            // Newton's method ends within 1e-10.
            assert!(off < 1e-8, "{name} {k}: {off}");
        }
        ran.push((name, model.samples().len(), cases));
    }
    // Samples, and cases of 4.
    let expected = [
        ("y", 7, 4),
        ("hand", 5, 4),
        ("chain", 7, 4),
        ("helix:50", 7, 4),
        ("rungs:18", 5, 2),
        ("gripper", 3, 3),
    ];
    assert_eq!(ran, expected);
}

/// The largest change of pose, in radii, from one of these steps to the next, at rest under loads that go from one list to the other in so many.
pub fn largest_jump(
    simulation: &mut Simulation,
    ends: &[Vec<Wrench>],
    steps: RangeInclusive<usize>,
    all: usize,
) -> f64 {
    let mechanism = simulation.mechanism().clone();
    let mut last: Option<State> = None;
    let mut largest = 0.0f64;
    for k in steps {
        let s = k as f64 / all as f64;
        let loads: Vec<Wrench> = ends[0].iter().zip(&ends[1]).map(|(a, b)| *a * (1.0 - s) + *b * s).collect();
        set(simulation, &loads);
        simulation.settle(&Default::default()).unwrap();
        if let Some(last) = &last {
            largest = largest.max(apart(&mechanism, simulation.state(), last));
        }
        last = Some(simulation.state().clone());
    }
    largest
}

/// A path of loads in four times as many steps: poses change four times less from one to the next.
#[test]
fn poses_do_not_jump() {
    let mut ran = Vec::new();
    for name in ["y", "helix:50", "rungs:18"] {
        let mechanism = gallery::build(name).unwrap();
        let mut random = Random(17);
        let corners: Vec<Vec<Wrench>> =
            (0..3).filter_map(|_| case(&mechanism, &mut random, 0.7, false)).map(|case| case.loads).collect();
        // Branches apart are steeper: `tests/blended/branches.rs`.
        let options = Options { neighbours: 4, branches: false, ..Options::default() };
        let model = sampled(&mechanism, 6, options);
        for links in [Links::Joint, Links::Twist] {
            let largest = |steps: usize| {
                let mut simulation = model.simulate();
                simulation.set_options(Options { links, ..*model.options() });
                corners
                    .windows(2)
                    .map(|pair| largest_jump(&mut simulation, pair, 0..=steps, steps))
                    .fold(0.0, f64::max)
            };
            let (coarse, fine) = (largest(100), largest(400));
            let ratio = coarse / fine;
            eprintln!("{name} {links:?}: {coarse:.5} to {fine:.5}, {ratio:.2}");
            // A jump would stay as it is, a ratio of one.
            assert!(ratio > 3.3, "{name} {links:?}: {coarse} {fine}");
        }
        ran.push((name, corners.len(), model.samples().len()));
    }
    // Corners of 3, and samples.
    let expected = [("y", 2, 9), ("helix:50", 3, 13), ("rungs:18", 2, 13)];
    assert_eq!(ran, expected);
}
