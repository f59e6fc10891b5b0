//! Claim: the exact projection equals a dense null-space solve for any mechanism: all joint kinds, loops,
//! several effectors, effectors inside loops, passive freedoms, couplings; and the finite difference of the
//! nonlinear statics. Where nothing holds an effector, it says so and names a joint that lets it go.

use crate::common::dense::Dense;
use crate::common::maps::{Maps, effectors, softest};
use crate::common::{builder, edited};
use pliant_core::engine::Simulation as _;
use pliant_core::engine::StaticsSettings;
use pliant_core::full::Model;
use pliant_core::gallery::{self, Passive, RandomOptions};
use pliant_core::linear::{Linearisation, ReductionError};
use pliant_core::mechanism::{BodyId, CouplingDescription, Joint, Mechanism, PerFreedom};
use pliant_core::nalgebra::{Vector3, Vector6};
use pliant_core::spatial::{Pose, Wrench, exp_rotation, log};

/// What comparing a projection with the dense solve gives.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Outcome {
    /// How far all maps are apart.
    Held(f64),
    /// How far the compliances are apart; elsewhere some motion is held by nothing, and no load drives it.
    Loose(f64),
    /// Both say that an effector cannot move.
    Still,
    /// Both say that nothing holds an effector.
    NotHeld,
}

fn compare(mechanism: &Mechanism) -> Outcome {
    let reduction = Linearisation::at_rest(mechanism);
    let dense = Dense::new(mechanism);
    let name = mechanism.name();
    match (reduction.project(), Maps::dense(mechanism, &dense)) {
        (Ok(projection), Some(expected)) => {
            let maps = Maps::of(&projection, reduction.reference());
            match dense.unheld().ncols() {
                0 => Outcome::Held(maps.apart(&expected)),
                _ => Outcome::Loose(maps.apart_at_effectors(&expected)),
            }
        }
        (Err(ReductionError::Immovable { effector, .. }), Some(expected)) => {
            let e = mechanism.find_effector(&effector).unwrap().index();
            let most = expected.compliance.columns(6 * e, 6).amax();
            assert!(most <= 1e-11 * softest(mechanism), "{name}: `{effector}` moves by {most:e}");
            Outcome::Still
        }
        (Err(ReductionError::NotHeld { effector, joint, .. }), None) => {
            let id = mechanism.find_joint(&joint).unwrap();
            let passive = mechanism[id].freedoms.iter().any(|f| !f.is_sprung());
            assert!(passive, "{name}: `{joint}` is not passive");
            // It is one of those that move, and the effector with them.
            let motions = &dense.closed * dense.unheld();
            let range = mechanism[id].coordinates();
            let moves = motions.rows(range.start, range.len()).amax();
            assert!(moves > 1e-6, "{name}: `{joint}` does not move freely, {moves:e}");
            let effector = &mechanism[mechanism.find_effector(&effector).unwrap()];
            let moves = (dense.frame(effector.body, &effector.frame) * motions).amax();
            assert!(moves > 1e-6, "{name}: `{}` is held, {moves:e}", effector.name);
            Outcome::NotHeld
        }
        (a, b) => panic!("{name}: {:?}, dense solve {:?}", a.err(), b.map(|b| b.compliance.amax())),
    }
}

/// Whether an effector sits inside a loop: on a body that is neither where a loop's ways part nor beyond where they
/// meet.
fn effector_in_a_loop(mechanism: &Mechanism) -> bool {
    let parents = |b: BodyId| mechanism.joints().iter().filter(move |j| j.child == b).map(|j| j.parent);
    let mut inside = vec![false; mechanism.bodies().len()];
    for &m in mechanism.order().bodies().iter().filter(|&&m| parents(m).count() > 1) {
        // From each parent up to the dominator.
        let dominator = mechanism.order().dominator_of(m);
        let mut ahead: Vec<BodyId> = parents(m).flatten().collect();
        while let Some(b) = ahead.pop() {
            if Some(b) != dominator && !inside[b.index()] {
                inside[b.index()] = true;
                ahead.extend(parents(b).flatten());
            }
        }
    }
    mechanism.effectors().iter().any(|e| inside[e.body.index()])
}

#[test]
fn equals_the_dense_solve_on_the_gallery() {
    for entry in gallery::entries() {
        let mechanism = gallery::build(entry.name).unwrap();
        let Outcome::Held(off) = compare(&mechanism) else { panic!("{}", entry.name) };
        println!("{} {off:.1e}", entry.name);
        // Rounding, over up to fifty joints in a row; pieces of a leaf are 10⁴ times as stiff along it as across.
        let bound = if entry.name == "flexure" { 1e-11 } else { 1e-13 };
        assert!(off < bound, "{}: {off:e}", entry.name);
    }
}

fn random(seed: u64, bodies: usize) -> Mechanism {
    let options = RandomOptions {
        bodies,
        loops: [0.0, 0.2, 0.5][(seed / 3) as usize % 3],
        passive: [Passive::Never, Passive::InLoops, Passive::Anywhere][seed as usize % 3],
        effectors: 1 + seed as usize % 4,
        free_bases: seed.is_multiple_of(7),
        ..RandomOptions::default()
    };
    gallery::random(seed, &options)
}

/// With up to two of its joints of one freedom coupled to others.
fn coupled(mechanism: &Mechanism, seed: u64) -> Mechanism {
    let one = |j: &&Joint| j.kind.freedoms() == 1;
    let joints: Vec<&str> = mechanism.joints().iter().filter(one).map(|j| j.name.as_str()).collect();
    let mut builder = builder(mechanism, |_| {});
    for pair in joints.chunks_exact(2).take(2) {
        builder.coupling(CouplingDescription {
            joint: pair[0].into(),
            of: pair[1].into(),
            ratio: [1.0, -1.0, 0.5, 2.0][seed as usize % 4],
            offset: 0.0,
        });
    }
    builder.build().unwrap()
}

#[test]
fn equals_the_dense_solve_on_random_mechanisms() {
    let (mut held, mut loose, mut still, mut not_held, mut inside, mut with_coupling) = (0, 0, 0, 0, 0, 0);
    let mut worst: f64 = 0.0;
    let mut seed = 0;
    // 500 that have an answer, and what comes between.
    while held + loose < 500 {
        let mechanism = random(seed, 6 + seed as usize % 20);
        let mechanism = if seed.is_multiple_of(5) { coupled(&mechanism, seed) } else { mechanism };
        let outcome = compare(&mechanism);
        match outcome {
            Outcome::Held(_) => held += 1,
            Outcome::Loose(_) => loose += 1,
            Outcome::Still => still += 1,
            Outcome::NotHeld => not_held += 1,
        }
        if let Outcome::Held(off) | Outcome::Loose(off) = outcome {
            // Rounding, times the square of the condition of the loops, which stand at random: 5e-11 at worst here,
            // and all others below 1e-11.
            assert!(off < 1e-9, "seed {seed}: {off:e}");
            worst = worst.max(off);
            inside += usize::from(effector_in_a_loop(&mechanism));
            with_coupling += usize::from(!mechanism.couplings().is_empty());
        }
        seed += 1;
    }
    println!(
        "worst {worst:.1e}: {held} held, {loose} with a motion that nothing holds; {inside} with an effector in a \
         loop, {with_coupling} with couplings; beside {still} that cannot move and {not_held} not held"
    );
    assert_eq!((held, loose, still, not_held), (459, 41, 185, 199));
    assert_eq!((inside, with_coupling), (191, 73));
}

#[test]
fn equals_the_finite_difference_of_the_nonlinear_statics() {
    for name in ["y", "rungs:24", "loop", "hand", "helix:50", "gripper"] {
        let mechanism = gallery::build(name).unwrap();
        // Springs relaxed in the file's pose: coordinates are zero there.
        let mechanism = edited(&mechanism, |joint| {
            joint.rest = (joint.kind.freedoms() > 0).then_some(PerFreedom::All(0.0));
        });
        let reduction = Linearisation::at_rest(&mechanism);
        let projection = reduction.project().unwrap();
        let expected = Maps::of(&projection, reduction.reference());
        let model = Model::new(&mechanism);
        // Where every effector goes under a load on one of them, effector axes.
        let poses = |e: usize, load: Wrench| {
            let mut simulation = model.simulate();
            simulation.inputs_mut().set_gravity([0.0; 3]).unwrap();
            let R =
                simulation.effector_pose(crate::common::handles::effector(&mechanism, e)).unwrap().rotation;
            simulation
                .set_load(
                    crate::common::handles::effector(&mechanism, e),
                    Wrench::new(R * load.force, R * load.torque),
                )
                .unwrap();
            let settings = StaticsSettings { tolerance: 1e-12, ..StaticsSettings::default() };
            let equilibrium = simulation.settle(&settings).unwrap();
            assert!(equilibrium.converged, "{name}: {equilibrium:?}");
            let count = mechanism.effectors().len();
            (0..count)
                .map(|e| simulation.effector_pose(crate::common::handles::effector(&mechanism, e)).unwrap())
                .collect::<Vec<Pose>>()
        };
        let rest: Vec<Pose> = effectors(&mechanism).iter().map(|(b, f)| mechanism[*b].pose * *f).collect();
        let r = mechanism.radius();
        let unit = |i: usize| if i % 6 < 3 { r } else { 1.0 };
        let size = expected.compliance.amax();
        let mut worst = 0.0f64;
        for column in 0..expected.compliance.ncols() {
            let (e, k) = (column / 6, column % 6);
            // A load that moves by 1e-4 radii at most.
            let small = 1e-4 / size;
            let load = Wrench::from_vector(&Vector6::ith(k, small / unit(k)));
            let (plus, minus) = (poses(e, load), poses(e, load * -1.0));
            for (i, rest) in rest.iter().enumerate() {
                let moved = |pose: &Pose| log(&rest.inverse_times(pose)).to_vector();
                let twist = (moved(&plus[i]) - moved(&minus[i])) * (0.5 / small);
                for j in 0..6 {
                    let off = twist[j] / unit(j) - expected.compliance[(6 * i + j, column)];
                    worst = worst.max(off.abs() / size);
                }
            }
        }
        println!("{name}: {worst:.1e}");
        // A central difference is off by the square of the step, 1e-8, times how the statics curve: 0.05 to 0.2 here,
        // and a hundredth of that at a tenth of the step. The gripper, of passive loops, is off by 1e-8 at any
        // step: closures of 1e-12 that its equilibria leave, over the step.
        assert!(worst < 2e-8, "{name}: {worst:e}");
    }
}

/// Files round the axes of a planar linkage to a few digits. Taken at their word its loops would be locked, or
/// held by forces beyond any number; told by their geometry they move like those of parallel axes.
#[test]
fn loops_parallel_but_for_a_files_digits_move_like_parallel_ones() {
    let mut angle = 0.0f64;
    for (name, mechanism) in [
        ("four-bar", gallery::four_bar()),
        ("rungs", gallery::rungs(12)),
        ("loop", gallery::closed_loop(24)),
        ("gripper", gallery::gripper()),
    ] {
        let expected = Linearisation::at_rest(&mechanism).project().unwrap();
        for tilt in [1e-9, 1e-8, 1e-7, 1e-6, 1e-5] {
            let tilted = edited(&mechanism, |joint| {
                angle += 1.0;
                let turn = Vector3::new(angle.sin(), (2.0 * angle).cos(), 0.0) * tilt;
                joint.frame.rotation *= exp_rotation(&turn);
            });
            let projection = Linearisation::at_rest(&tilted).project().unwrap();
            let off = (projection.compliance() - expected.compliance()).amax() / expected.compliance().amax();
            println!("{name} tilted by {tilt:.0e}: {off:.1e}");
            // In proportion to the tilt, which lets forces out of the plane move it: by its lever, up to 25 here.
            assert!(off < 50.0 * tilt, "{name} tilted by {tilt:.0e}: {off:e}");
        }
    }
}
