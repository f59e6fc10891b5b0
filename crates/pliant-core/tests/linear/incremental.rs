//! Claim: the incremental method of Andrews 2015 equals the exact one wherever it says that it is exact, which is
//! on all trees and on many mechanisms with loops; where it differs, it says so.

use crate::common::dense::Dense;
use crate::common::maps::Maps;
use pliant_core::gallery::{self, Passive, RandomOptions};
use pliant_core::joints::JointKind;
use pliant_core::linear::ReductionError::{Immovable, NotHeld};
use pliant_core::linear::{Linearisation, Method};
use pliant_core::mechanism::{Body, EffectorDescription, JointDescription, Mechanism, MechanismBuilder};
use pliant_core::nalgebra::{DMatrix, Vector3};
use pliant_core::spatial::{Pose, SpatialInertia, Twist};

/// What comparing both methods gives.
enum Outcome {
    /// How far the maps are apart, and whether the incremental method calls itself exact.
    Apart(f64, bool),
    /// The incremental method says that it is not exact, and the exact one that an effector is not held or cannot
    /// move.
    Flagged,
    /// Both say that an effector is not held, or cannot move.
    Refused,
}

/// Compares both methods on a mechanism.
fn compare(mechanism: &Mechanism) -> Outcome {
    let exact = Linearisation::at_rest(mechanism);
    let incremental = exact.clone().method(Method::Incremental);
    match (exact.project(), incremental.project()) {
        (Ok(a), Ok(b)) => {
            let reference = exact.reference();
            let (expected, maps) = (Maps::of(&a, reference), Maps::of(&b, reference));
            // A motion that nothing holds and no load drives may be anything: effectors do not feel it.
            let held = Dense::new(mechanism).unheld().ncols() == 0;
            let apart = if held { maps.apart(&expected) } else { maps.apart_at_effectors(&expected) };
            Outcome::Apart(apart, b.is_exact())
        }
        (Err(NotHeld { .. }), Err(NotHeld { .. })) | (Err(Immovable { .. }), Err(Immovable { .. })) => {
            Outcome::Refused
        }
        (Err(NotHeld { .. } | Immovable { .. }), Ok(b)) if !b.is_exact() => Outcome::Flagged,
        (a, b) => panic!("{}: {:?} {:?}", mechanism.name(), a.err(), b.err()),
    }
}

/// Random mechanisms: trees and loops of all joints, chains and bushes, free bases, effectors anywhere.
fn mechanism(seed: u64) -> Mechanism {
    let options = RandomOptions {
        bodies: 4 + seed as usize % 17,
        loops: [0.0, 0.1, 0.2, 0.5][(seed / 3) as usize % 4],
        passive: [Passive::Never, Passive::InLoops, Passive::Anywhere][seed as usize % 3],
        bushiness: [0.0, 0.3, 0.8][(seed / 12) as usize % 3],
        effectors: 1 + (seed / 5) as usize % 3,
        free_bases: seed.is_multiple_of(7),
        ..RandomOptions::default()
    };
    gallery::random(seed, &options)
}

#[test]
fn equals_the_exact_method_where_it_says_so() {
    let (mut trees, mut loops, mut with_passive, mut flagged, mut alike, mut refused) = (0, 0, 0, 0, 0, 0);
    let mut worst = 0.0f64;
    for seed in 0..2400 {
        let mechanism = mechanism(seed);
        let is_tree = mechanism.order().loop_joints().is_empty();
        match compare(&mechanism) {
            Outcome::Refused => refused += 1,
            Outcome::Apart(off, true) => {
                // Exact means equal: both are off by rounding times the condition of the loops, and the exact
                // method also by what refinement leaves of its regularisation. Worst are 7e-11 (the incremental
                // method is 4e-12 from the dense solve there), 1e-11, 2e-12, and the others below 1e-12.
                assert!(off < 1e-9, "seed {seed}: {off:e}");
                worst = worst.max(off);
                let passive = mechanism.joints().iter().flat_map(|j| &j.freedoms).any(|f| !f.is_sprung());
                with_passive += usize::from(passive && !is_tree);
                *(if is_tree { &mut trees } else { &mut loops }) += 1;
            }
            Outcome::Apart(off, false) => {
                assert!(!is_tree, "seed {seed}: trees are always exact");
                flagged += 1;
                alike += usize::from(off < 1e-9);
            }
            Outcome::Flagged => flagged += 1,
        }
    }
    println!(
        "worst {worst:.1e}: {trees} trees, {loops} with loops, {with_passive} of these with passive freedoms; \
         {flagged} flagged, {alike} of them alike; {refused} refused by both"
    );
    // The criterion says something: loops are found exact, and few are flagged in vain.
    assert!(trees > 500 && loops > 300 && with_passive > 100, "{trees} {loops} {with_passive}");
    assert!(flagged > 800 && alike < flagged / 20, "{flagged} {alike}");
}

#[test]
fn a_hinge_is_its_spring_seen_from_the_effector() {
    let mut builder = MechanismBuilder::new("door");
    let pose = Pose::new(Pose::rotation([1.0, 2.0, 0.5], 0.7).rotation, Vector3::new(0.3, -0.2, 0.4));
    builder.body(Body::new("leaf", pose).inertia(SpatialInertia::of_box(1.0, [0.1; 3])));
    let frame = Pose::new(Pose::rotation([0.0, 1.0, 1.0], -0.4).rotation, Vector3::new(0.1, 0.2, -0.1));
    builder.joint(
        JointDescription::new("hinge", JointKind::Hinge, "world", "leaf").frame(frame).stiffness(40.0),
    );
    let handle = Pose::translation([0.5, 0.1, 0.0]);
    builder.effector(EffectorDescription { name: "handle".into(), body: "leaf".into(), frame: handle });
    let mechanism = builder.build().unwrap();
    // C = J cθ Jᵀ, J the screw of the hinge in the frame of the handle: axis n and arm, by hand.
    let at = pose * handle;
    let n = frame.rotation * Vector3::z();
    let v = n.cross(&(at.position - frame.position));
    let J = Twist::new(at.rotation.inverse() * v, at.rotation.inverse() * n).to_vector();
    let expected = J * J.transpose() / 40.0;
    let projection = Linearisation::at_rest(&mechanism).method(Method::Incremental).project().unwrap();
    let expected = DMatrix::from_column_slice(6, 6, expected.as_slice());
    // Rounding of a few products.
    assert!((projection.compliance() - &expected).amax() < 1e-15 * expected.amax().max(1.0));
}

#[test]
fn reproduces_the_cases_of_the_paper() {
    // Chains, splits, ladders of sprung rungs, and loops one after the other.
    let cases =
        ["chain", "y", "rungs", "rungs:96", "loop", "helix:400", "arm", "hand", "two-link", "four-bar"];
    for name in cases.into_iter().chain(["hexapod", "firefighters"]) {
        let mechanism = gallery::build(name).unwrap();
        let reduction = Linearisation::at_rest(&mechanism).method(Method::Incremental);
        let projection = reduction.project().unwrap();
        assert_eq!(projection.inexact_at(), [""; 0], "{name}");
        let maps = Maps::of(&projection, reduction.reference());
        let off = maps.apart(&Maps::dense(&mechanism, &Dense::new(&mechanism)).unwrap());
        let Outcome::Apart(from_exact, true) = compare(&mechanism) else { panic!("{name}") };
        println!("{name}: {off:.1e} from dense, {from_exact:.1e} from exact");
        // Rounding, over up to 400 joints in a row; of the exact method also what refinement leaves: 1e-12 on the
        // longest ladder.
        assert!(off < 1e-13 && from_exact < 3e-12, "{name}: {off:e} {from_exact:e}");
    }
}

#[test]
fn the_graph_of_figure_3_is_exact_without_the_branch_inside_its_loop() {
    // b splits to c and h, which merge at e; but c also leads to d and g. With an effector there, what e does
    // depends on what g carries.
    let mechanism = gallery::graph();
    let both = Linearisation::at_rest(&mechanism);
    let incremental = both.clone().method(Method::Incremental).project().unwrap();
    assert_eq!(incremental.inexact_at(), ["e"]);
    let exact = both.project().unwrap();
    // Far from it, not nearly: a share of what is alike anywhere else to rounding.
    let off = (incremental.compliance() - exact.compliance()).amax() / exact.compliance().amax();
    assert!(off > 0.01, "{off}");

    // With one at f alone the branch carries nothing.
    let one = Linearisation::at_rest(&mechanism).effectors(["f"]);
    let incremental = one.clone().method(Method::Incremental).project().unwrap();
    assert!(incremental.is_exact());
    let (exact, reference) = (one.project().unwrap(), one.reference());
    let off = Maps::of(&incremental, reference).apart(&Maps::of(&exact, reference));
    assert!(off < 1e-14, "{off:e}");
    let f = mechanism.find_body("f").unwrap();
    let dense = Dense::new(&mechanism).compliance(&[(f, Pose::identity())]).unwrap();
    // Rounding of a dense solve of nine coordinates.
    assert!((incremental.compliance() - &dense).amax() < 1e-14 * dense.amax());
}

#[test]
fn names_where_it_is_not_exact() {
    // Every rung but the last is held by two rails that lead on; the last is where they end.
    let ladder = gallery::ladder(12);
    let projection = Linearisation::at_rest(&ladder).method(Method::Incremental).project().unwrap();
    assert_eq!(projection.inexact_at(), ["rung0", "rung1", "rung2"]);
    // Couplings are not in the paper.
    let gripper = gallery::gripper();
    let projection = Linearisation::at_rest(&gripper).method(Method::Incremental).project().unwrap();
    assert_eq!(projection.inexact_at(), ["left_driver", "right_driver"]);
    // The exact method has nothing to name.
    assert_eq!(Linearisation::at_rest(&ladder).project().unwrap().inexact_at(), [""; 0]);
}
