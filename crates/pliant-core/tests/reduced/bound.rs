//! Claim: motions that are chosen to a bound keep it under loads that nothing was chosen by, on every link, and the figure that
//! is reported for it is true; the same seed gives the same motions; what leaves nothing to reduce keeps every motion.

use pliant_core::articulated;
use pliant_core::engine::Simulation;
use pliant_core::gallery::{Passive, RandomOptions, build, random};
use pliant_core::joints::JointKind;
use pliant_core::mechanism::{Mechanism, PerFreedom};
use pliant_core::nalgebra::DMatrix;
use pliant_core::reduced::{Every, Limit, Model, Outcome, Reduction, Sampling};

use crate::common::apart;
use crate::common::loads::{Random, case, effectors_apart, set_loads};

/// A tree of many freedoms and two effectors, hinges and balls.
fn tree() -> Mechanism {
    let kinds = vec![JointKind::Hinge, JointKind::Hinge, JointKind::Ball];
    let options = RandomOptions {
        bodies: 60,
        loops: 0.0,
        kinds,
        bushiness: 0.2,
        effectors: 2,
        limits: false,
        rests: false,
        passive: Passive::Never,
        ..RandomOptions::default()
    };
    random(5, &options)
}

fn chosen(mechanism: &Mechanism, max_error: f64) -> (Model, Outcome) {
    chosen_within(mechanism, max_error, 1.0)
}

fn chosen_within(mechanism: &Mechanism, max_error: f64, displacement: f64) -> (Model, Outcome) {
    let sampling = Sampling { max_error, displacement, ..Sampling::default() };
    sampling.run(mechanism, |_| ()).unwrap()
}

/// Errors of the motions under loads drawn by another generator, which the full statics solve, from the start; effectors move by
/// 0.2 to 1 times a displacement.
fn errors(model: &Model, displacement: f64, count: usize) -> Vec<f64> {
    let mechanism = model.mechanism();
    let mut random = Random(77);
    let mut errors = Vec::new();
    for k in 0..2 * count {
        if errors.len() == count {
            break;
        }
        let wanted = displacement * (0.2 + 0.8 * (k % count) as f64 / count as f64);
        let Some(case) = case(mechanism, &mut random, wanted, k % 2 == 1) else { continue };
        let mut simulation = model.simulate();
        set_loads(&mut simulation, &case.loads);
        let found = simulation.settle(&Default::default()).unwrap();
        let state = simulation.state();
        let off = apart(mechanism, state, &case.state).max(effectors_apart(mechanism, state, &case.state));
        errors.push(if found.converged { off } else { f64::INFINITY });
    }
    errors
}

#[test]
fn a_thousandth_of_the_radius_holds_under_unseen_loads() {
    let names = ["chain", "helix:50", "helix:100", "helix:400", "y", "arm", "hand"];
    let loops = ["loop", "rungs:18", "rungs:90", "ladder:12", "gripper"];
    let one = |name: &str| (name.to_string(), build(name).unwrap(), 1.0);
    let mut all: Vec<(String, Mechanism, f64)> = names.into_iter().chain(loops).map(one).collect();
    // It locks beyond.
    all.push(("random tree".into(), tree(), 0.3));
    for (name, mechanism, displacement) in all {
        let (model, outcome) = chosen_within(&mechanism, 1e-3, displacement);
        assert_eq!(outcome.limit, Limit::None, "{name}");
        assert!(outcome.held_out <= 1e-3 && outcome.error <= 1e-3, "{name}: {outcome:?}");
        // Where every motion is kept, a few loads show that it is exact.
        let least = if outcome.every.is_some() { 10 } else { 40 };
        assert!(outcome.tested >= least && outcome.within == outcome.tested, "{name}: {outcome:?}");
        assert!(outcome.held_out_median <= outcome.held_out);
        let mut errors = errors(&model, displacement, 50);
        errors.sort_by(f64::total_cmp);
        let within = errors.iter().filter(|error| **error <= 1e-3).count();
        eprintln!(
            "{name}: {} of {}, {} samples, held out {:.1e}, {within} of {}, worst {:.1e}, {} searched, {:?} {} {} {}",
            model.motions(),
            model.freedoms(),
            outcome.samples.len(),
            outcome.held_out,
            errors.len(),
            errors[errors.len() - 1],
            outcome.searched,
            outcome.every,
            outcome.unsolved.len(),
            outcome.several.len(),
            outcome.out_of_reach
        );
        assert!(errors.len() >= 40, "{name}: {}", errors.len());
        assert!(within * 100 >= 98 * errors.len(), "{name}: {within} of {}, {errors:?}", errors.len());
    }
}

#[test]
fn the_same_seed_gives_the_same_motions() {
    let mechanism = build("helix:50").unwrap();
    let (one, first) = chosen(&mechanism, 1e-2);
    let (two, second) = chosen(&mechanism, 1e-2);
    assert_eq!((one.columns(), first), (two.columns(), second.clone()));
    let sampling = Sampling { max_error: 1e-2, seed: 2, ..Sampling::default() };
    let (_, third) = sampling.run(&mechanism, |_| ()).unwrap();
    assert_ne!(second.worst_loads, third.worst_loads);
    // What is read back steps with the same bits.
    let again = Model::from_columns(&mechanism, &one.columns()).unwrap();
    let [a, b] = [one, again].map(|model| {
        let mut simulation = model.simulate();
        simulation.inputs_mut().add_scene_loads();
        (0..20).for_each(|_| simulation.step(0.01).unwrap());
        simulation.state().clone()
    });
    assert_eq!(a, b);
}

/// A count of searches ends it, with the error of what there is, which is not within the bound.
#[test]
fn it_ends_with_what_it_has() {
    let sampling = Sampling { max_error: 1e-5, most_equilibria: 600, ..Sampling::default() };
    let (model, outcome) = sampling.run(&build("helix:100").unwrap(), |_| ()).unwrap();
    assert_eq!(outcome.limit, Limit::Equilibria);
    assert!(model.motions() < 100 && outcome.searched <= 600 && outcome.tested > 0, "{outcome:?}");
    assert!(outcome.error.is_finite() && outcome.held_out.is_finite());
}

#[test]
fn what_leaves_nothing_to_reduce_keeps_every_motion() {
    for name in ["y", "arm", "hand", "two-link"] {
        let mechanism = build(name).unwrap();
        let (model, outcome) = chosen(&mechanism, 1e-2);
        assert_eq!(outcome.every, Some(Every::Few), "{name}");
        assert_eq!(model.motions(), model.freedoms(), "{name}");
        // The full statics end at 1e-9 of the largest force.
        assert!(outcome.tested > 0 && outcome.held_out < 1e-7, "{name}: {outcome:?}");
    }
    // Joints that nothing holds have no equilibrium to choose at.
    let mut builder = build("chain").unwrap().to_builder();
    builder.gravity([0.0; 3]);
    let names: Vec<String> = build("chain").unwrap().joints().iter().map(|j| j.name.clone()).collect();
    for name in names {
        builder.joint_mut(&name).unwrap().stiffness = Some(PerFreedom::All(0.0));
    }
    let loose = builder.build().unwrap();
    let (model, outcome) = chosen(&loose, 1e-2);
    assert!(
        matches!(&outcome.every, Some(Every::Restless(why)) if why.contains("not unique")),
        "{outcome:?}"
    );
    assert_eq!((model.motions(), outcome.tested), (model.freedoms(), 0));
}

/// A free base is held while motions are chosen, and free again in the model.
#[test]
fn a_free_base_is_held() {
    let mechanism = build("hexapod").unwrap();
    assert!(mechanism.bodies().iter().any(|body| body.free));
    let (model, outcome) = chosen(&mechanism, 1e-2);
    assert!(outcome.tested > 0 && outcome.held_out <= 1e-2, "{outcome:?}");
    let mut simulation = model.simulate();
    let start = simulation.state().poses[0].position;
    (0..10).for_each(|_| simulation.step(0.01).unwrap());
    assert!((simulation.state().poses[0].position - start).norm() > 0.01); // it falls
    assert!(simulation.estimate().unwrap_err().to_string().contains("free base"));
}

/// Modes below a frequency against dense eigenvalues of mass and stiffness with all shapes held.
#[test]
fn all_modes_below_a_frequency_are_kept() {
    for (name, hz) in [("helix:50", [3.0, 20.0, 60.0]), ("chain:30", [3.0, 40.0, 200.0])] {
        let mechanism = build(name).unwrap();
        let shapes = Reduction::at_rest(&mechanism).unloaded().modes(0).build().unwrap();
        let n = shapes.freedoms();
        let K: Vec<f64> = mechanism.joints().iter().flat_map(|j| &j.freedoms).map(|f| f.stiffness).collect();
        let M = articulated::Model::new(&mechanism).dynamics().mass_matrix();
        // With x = K^{-1/2} z, modes are eigenvalues 1/ω² of P K^{-1/2} M K^{-1/2} P, P off the shapes.
        let theta = shapes.columns();
        let Q = DMatrix::from_fn(n, theta.ncols(), |i, k| theta[(i, k)] * K[i].sqrt());
        let P = DMatrix::identity(n, n) - &Q * Q.transpose();
        let H = DMatrix::from_fn(n, n, |i, k| M[(i, k)] / (K[i] * K[k]).sqrt());
        let values = (&P * H * &P).symmetric_eigenvalues();
        for hz in hz {
            let w = std::f64::consts::TAU * hz;
            let expected = values.iter().filter(|value| **value * w * w > 1.0).count();
            let model = Reduction::at_rest(&mechanism).unloaded().modes_below(hz).build().unwrap();
            assert_eq!(model.motions() - shapes.motions(), expected, "{name} {hz} Hz");
        }
    }
}
