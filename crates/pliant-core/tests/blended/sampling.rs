//! Claim: samples chosen automatically bring the error of the effectors under loads that nothing was trained on within the
//! bound; the same seed gives the same samples; the estimate shows the error; and what cannot be done is said.

use pliant_core::engine::Simulation as _;
use std::ops::ControlFlow;

use crate::common::loads::{Random, case};
use crate::common::{apart, bits};
use pliant_core::blended::{Doing, Limit, Model, Options, Progress, SampleError, Sampling};
use pliant_core::gallery;

#[test]
fn it_meets_the_bound_under_loads_it_has_not_seen() {
    for name in ["y", "rungs:18", "helix:50", "arm", "loop", "gripper"] {
        let mechanism = gallery::build(name).unwrap();
        let start = std::time::Instant::now();
        let (model, outcome) =
            Sampling::default().run(&mechanism, Options::default(), |_| ControlFlow::Continue(())).unwrap();
        eprintln!(
            "{name}: {} samples, held out {:.4} (median {:.5}), estimate {:.4}, {} tested, {} out of reach, {} snapped, {:.1} s",
            model.samples().len(),
            outcome.held_out,
            outcome.held_out_median,
            outcome.estimate,
            outcome.tested,
            outcome.out_of_reach,
            outcome.snapped,
            start.elapsed().as_secs_f64()
        );
        assert_eq!(outcome.limit, Limit::None, "{name}: {outcome:?}");
        assert!(outcome.held_out <= 0.05 && outcome.tested == 12, "{name}: {outcome:?}");
    }
}

#[test]
fn the_same_seed_gives_the_same_samples() {
    let mechanism = gallery::build("y").unwrap();
    let run = |seed| {
        let sampling = Sampling { seed, loads: 6, ..Sampling::default() };
        let (model, outcome) =
            sampling.run(&mechanism, Options::default(), |_| ControlFlow::Continue(())).unwrap();
        let samples: Vec<_> = model.samples().iter().map(|s| bits(s.state())).collect();
        (samples, outcome)
    };
    assert_eq!(run(3), run(3));
    assert_ne!(run(3).1, run(4).1);
}

/// Estimate over true error of the links of a blend with seven samples, forces from the blend alone.
#[test]
fn the_estimate_tells_the_error() {
    let mut cases = Vec::new();
    for name in ["chain", "y", "helix:50"] {
        let mechanism = gallery::build(name).unwrap();
        let sampling = Sampling { displacement: 1.0, most_samples: 7, loads: 4, ..Sampling::default() };
        let (model, _) = sampling.run(&mechanism, Options::default(), |_| ControlFlow::Continue(())).unwrap();
        let mut random = Random(31);
        let (mut least, mut most, mut compared) = (f64::INFINITY, 0.0f64, 0);
        for k in 0..16 {
            let wanted = [0.2, 0.4, 0.7, 1.0][k % 4];
            let Some(case) = case(&mechanism, &mut random, wanted, false) else { continue };
            let mut simulation = model.simulate();
            crate::common::loads::set_loads(&mut simulation, &case.loads);
            if !simulation.settle(&Default::default()).unwrap().converged {
                continue;
            }
            let error = apart(&mechanism, simulation.state(), &case.state);
            let estimate = simulation.estimate().unwrap();
            // Past a third of a radius there is no model left to tell the error of.
            if error < 0.3 {
                compared += 1;
                (least, most) = (least.min(estimate / error), most.max(estimate / error));
            }
        }
        eprintln!("{name}: {least:.2} to {most:.2} in {compared}");
        assert!(least > 0.7 && most < 1.5, "{name}: {least} to {most} in {compared}");
        cases.push((name, compared));
    }
    assert_eq!(cases, [("chain", 14), ("y", 14), ("helix:50", 13)], "of 16 loads");
}

#[test]
fn what_cannot_be_done_is_said() {
    let mechanism = gallery::build("helix:20").unwrap();
    // A bound that nothing meets with three samples.
    let sampling = Sampling { max_error: 1e-9, most_samples: 3, loads: 4, ..Sampling::default() };
    let (model, outcome) =
        sampling.run(&mechanism, Options::default(), |_| ControlFlow::Continue(())).unwrap();
    assert_eq!((model.samples().len(), &outcome.limit), (3, &Limit::Samples));
    assert!(outcome.held_out.is_finite() && outcome.worst_displacement > 0.0);
    assert!(outcome.worst_loads.iter().any(|w| w.force.norm() > 0.0));
    for bad in [0.0, -1.0, f64::NAN] {
        let sampling = Sampling { max_error: bad, ..Sampling::default() };
        assert!(sampling.run(&mechanism, Options::default(), |_| ControlFlow::Continue(())).is_err());
    }
    let floating = gallery::build("hexapod").unwrap();
    let refused = Model::new(&floating, Options::default()).unwrap_err();
    assert!(matches!(&refused, SampleError::Linearisation(_)) && refused.to_string().contains("free base"));
}

/// Stopped from outside after so many equilibria of the search, and after so many more of the check.
fn stopped(
    name: &str,
    searched: usize,
    checked: usize,
) -> (usize, Vec<Progress>, pliant_core::blended::Outcome) {
    let mechanism = gallery::build(name).unwrap();
    let mut all: Vec<Progress> = Vec::new();
    let sampling = Sampling { max_error: 1e-9, loads: 4, ..Sampling::default() };
    let (model, outcome) = sampling
        .run(&mechanism, Options::default(), |progress| {
            all.push(progress);
            let checks = all.iter().filter(|p| p.doing == Doing::Checking).count();
            let go_on =
                if progress.doing == Doing::Checking { checks < checked } else { all.len() < searched };
            if go_on { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })
        .unwrap();
    (model.samples().len(), all, outcome)
}

#[test]
fn it_can_be_stopped_before_every_equilibrium() {
    // At once: the unloaded sample, nothing known.
    let (samples, all, outcome) = stopped("helix:20", 0, 0);
    assert_eq!((samples, outcome.limit, outcome.tested), (1, Limit::Stopped, 0));
    assert!(outcome.held_out.is_infinite() && outcome.worst_loads.is_empty());
    // No more than one is reported of whatever was stopped: seeding, the first loads and the check.
    assert_eq!(all.len(), 3);
    // In the search, with time to check: what there is has an error.
    let (samples, all, outcome) = stopped("helix:20", 100, usize::MAX);
    assert_eq!((outcome.limit, outcome.tested), (Limit::Stopped, 4));
    assert!(samples >= 7 && outcome.held_out > 1e-9 && outcome.held_out < 1.0, "{outcome:?}");
    // It is reported before each, in order.
    assert!(all.iter().enumerate().all(|(i, p)| p.searched == i));
    let order: Vec<Doing> = all.iter().map(|p| p.doing).fold(Vec::new(), |mut order, doing| {
        if order.last() != Some(&doing) {
            order.push(doing);
        }
        order
    });
    assert_eq!(order[..3], [Doing::Seeding, Doing::Searching, Doing::Checking]);
    // In the check: as many as were tested.
    let (_, _, outcome) = stopped("helix:20", 100, 25);
    assert!(outcome.limit == Limit::Stopped && (1..4).contains(&outcome.tested), "{outcome:?}");
}
