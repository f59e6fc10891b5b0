//! Mechanisms without contact: trees, loops and free bases of all kinds of joints, in every engine that takes them.

use pliant_core::engine::Simulation;
use pliant_core::engines::Engine;
use pliant_core::gallery::{Passive, RandomOptions, random};
use pliant_core::joints::JointKind;
use pliant_core::mechanism::{Joint, Mechanism};
use pliant_core::spatial::Pose;

use super::change::Change;
use super::{exceeds, factor, fail};
use crate::common::Random;

/// The blended one, of one model, takes what has no free base and an effector that springs hold.
const ENGINES: [Engine; 5] =
    [Engine::Full, Engine::Articulated, Engine::Linear, Engine::Reduced, Engine::Blended];
const DT: f64 = 1.0 / 120.0;
const STEPS: usize = 24;

#[derive(Clone, Copy, Debug)]
enum Kind {
    Tree,
    Loops,
    FreeBase,
}

/// Masses of 0.05 to 5 kg, links of 0.1 to 0.3 m.
fn scene(kind: Kind, seed: u64, mirrored: bool) -> Mechanism {
    let plain = vec![JointKind::Hinge, JointKind::Ball, JointKind::Prismatic, JointKind::Fixed];
    let options = RandomOptions {
        bodies: 6,
        loops: if matches!(kind, Kind::Loops) { 0.3 } else { 0.0 },
        passive: Passive::Never,
        free_bases: matches!(kind, Kind::FreeBase),
        kinds: if mirrored { plain.clone() } else { JointKind::ALL.to_vec() },
        loop_kinds: if mirrored { plain } else { JointKind::ALL.to_vec() },
        limits: false,
        // Coordinates of some kinds change their signs in a mirror.
        rests: !mirrored,
        ..RandomOptions::default()
    };
    random(seed, &options)
}

/// Where bodies are after a while; none if the engine does not take the mechanism, or says that it cannot take a step.
fn run(
    engine: Engine,
    mechanism: &Mechanism,
    dt: f64,
    steps: usize,
    restored: bool,
) -> Option<Vec<(String, Pose)>> {
    let mut simulation = engine.simulate(mechanism).ok()?;
    for step in 0..steps {
        if restored && step == steps / 2 {
            let saved = simulation.state().clone();
            simulation = engine.simulate(mechanism).ok()?;
            simulation.set_state(&saved).unwrap();
        }
        if let Err(error) = simulation.step(dt) {
            println!("{engine:?} refuses a step of {}: {error}", mechanism.name());
            return None;
        }
    }
    Some(poses(&*simulation))
}

fn poses(simulation: &dyn Simulation) -> Vec<(String, Pose)> {
    simulation.poses().map(|(id, pose)| (simulation.mechanism()[id].name.clone(), pose)).collect()
}

/// The largest difference of two places, m, or of angles, rad: a link is some tenths of a metre long.
fn apart(one: &[(String, Pose)], two: &[(String, Pose)], change: &Change) -> f64 {
    let mut most = 0.0f64;
    for (name, pose) in one {
        let other = &two.iter().find(|(other, _)| other == name).unwrap().1;
        let other = change.undo(other);
        most = most.max((other.position - pose.position).norm()).max(other.rotation.angle_to(&pose.rotation));
    }
    most
}

/// The changes, each with how far apart answers may be, m and rad. Rounding: motions of 24 steps multiply the 1e-16 of each
/// number by what the stiffest springs, 1e4 N/m on 0.05 kg, and the closure of loops make of it.
fn changes(numbers: &mut Random) -> Vec<(&'static str, Change, f64)> {
    let exact = 2e-8;
    let units =
        |length: f64, mass: f64, time: f64| Change { units: [length, mass, time], ..Change::default() };
    vec![
        ("turned and moved", Change { motion: numbers.pose(2.0), ..Change::default() }, exact),
        ("in mm", units(1e3, 1.0, 1.0), exact),
        ("in mm, g and ms", units(1e3, 1e3, 1e3), exact),
        ("in km and t", units(1e-3, 1e-3, 1.0), exact),
        // The same joints are cut and visited in the same order: sums are only added up in another one. 3600 scenes: 2.5e-11.
        ("in another order", Change { shuffled: Some(numbers.0), ..Change::default() }, 1e-10),
        ("split", Change { split: true, ..Change::default() }, exact),
        ("six digits", Change { digits: Some(6), ..Change::default() }, 2e-3),
    ]
}

/// Compares a scene with its changed form in engines; how many answers.
fn compare(
    engines: &[Engine],
    mechanism: &Mechanism,
    kind: Kind,
    (name, change, tolerance): &(&'static str, Change, f64),
) -> usize {
    let changed = change.apply(mechanism);
    let mut compared = 0;
    for &engine in engines {
        let Some(truth) = run(engine, mechanism, DT, STEPS, false) else { continue };
        let Some(answer) = run(engine, &changed, DT * change.units[2], STEPS, false) else {
            fail(mechanism, &format!("{engine:?} takes it, but not {name}"));
        };
        let apart = apart(&truth, &answer, change);
        if exceeds(apart, *tolerance) {
            fail(mechanism, &format!("{engine:?}, {kind:?}, {name}: {apart:.1e} apart"));
        }
        compared += 1;
    }
    compared
}

#[test]
fn written_otherwise() {
    let (mut scenes, mut compared) = (0, 0);
    for kind in [Kind::Tree, Kind::Loops, Kind::FreeBase] {
        for seed in 0..120 * factor() {
            let mechanism = scene(kind, seed, false);
            scenes += 1;
            let changes = changes(&mut Random(seed));
            compared += compare(&ENGINES, &mechanism, kind, &changes[seed as usize % changes.len()]);
        }
    }
    println!("{scenes} scenes, {compared} answers compared");
    assert!(compared > 1200, "{compared} of {scenes} scenes");
}

/// Every change of each, in all engines; how many answers of each engine.
fn compare_all(robots: impl Iterator<Item = Mechanism>) -> [usize; ENGINES.len()] {
    let mut compared = [0; ENGINES.len()];
    for (seed, mechanism) in robots.enumerate() {
        assert!(mechanism.targets().is_empty(), "{}", mechanism.name());
        // What starts at a limit leans on it, and limits yield by a stiffness that is the same number in all units.
        let at_limit = |joint: &Joint| {
            joint.freedoms.iter().zip(&joint.start).any(|(f, q)| *q <= f.lower || *q >= f.upper)
        };
        let leans = mechanism.joints().iter().any(at_limit);
        for change in changes(&mut Random(seed as u64)) {
            if leans && change.1.units != [1.0; 3] {
                continue;
            }
            for (count, engine) in compared.iter_mut().zip(ENGINES) {
                *count += compare(&[engine], &mechanism, Kind::Loops, &change);
            }
        }
    }
    compared
}

/// Robots and linkages of the gallery.
#[test]
fn robots_written_otherwise() {
    let names =
        ["arm", "hand", "gripper", "hexapod", "four-bar", "y", "two-link", "helix:12", "firefighters"];
    let compared = compare_all(names.into_iter().map(|name| pliant_core::gallery::build(name).unwrap()));
    println!("{} robots of the gallery, answers of {ENGINES:?}: {compared:?}", names.len());
    assert!(compared.iter().sum::<usize>() > 250, "{compared:?}");
}

/// Robot files: URDF, MJCF and SDF, with mimic joints, equalities and springs.
#[test]
fn imported_robots_written_otherwise() {
    let files = [
        "mutations/arm.urdf",
        "mutations/mimic.urdf",
        "mutations/hand.xml",
        "mjcf/files/four_bar.xml",
        "mjcf/files/hand.xml",
        "mjcf/files/springs.xml",
        "mjcf/files/equality.xml",
        "mjcf/files/orientations.xml",
        "sdf/springs.sdf",
    ];
    let tests = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let load = |file: &str| pliant_io::load(tests.join(file)).unwrap_or_else(|e| panic!("{file}: {e}"));
    let compared = compare_all(files.into_iter().map(load));
    println!("{} imported robots, answers of {ENGINES:?}: {compared:?}", files.len());
    assert!(compared.iter().sum::<usize>() > 250, "{compared:?}");
}

#[test]
fn mirrored() {
    let mut compared = 0;
    for (seed, kind) in
        (0..20 * factor()).flat_map(|s| [Kind::Tree, Kind::Loops, Kind::FreeBase].map(|k| (s, k)))
    {
        let mechanism = scene(kind, 1000 + seed, true);
        let change = Change { mirrored: true, ..Change::default() };
        let changed = change.apply(&mechanism);
        for engine in ENGINES {
            let Some(truth) = run(engine, &mechanism, DT, STEPS, false) else { continue };
            let answer = run(engine, &changed, DT, STEPS, false).unwrap();
            let apart = apart(&truth, &answer, &change);
            if exceeds(apart, 2e-8) {
                fail(&mechanism, &format!("{engine:?}, {kind:?}, mirrored: {apart:.1e} apart"));
            }
            compared += 1;
        }
    }
    assert!(compared > 150, "{compared}");
}

/// Saved in the middle and restored in a new simulation: the same bits.
#[test]
fn restored() {
    let mut compared = 0;
    for (seed, kind) in
        (0..12 * factor()).flat_map(|s| [Kind::Tree, Kind::Loops, Kind::FreeBase].map(|k| (s, k)))
    {
        let mechanism = scene(kind, 2000 + seed, false);
        for engine in ENGINES {
            let Some(truth) = run(engine, &mechanism, DT, STEPS, false) else { continue };
            let answer = run(engine, &mechanism, DT, STEPS, true).unwrap();
            if truth != answer {
                fail(&mechanism, &format!("{engine:?}, {kind:?}: a restored run differs"));
            }
            compared += 1;
        }
    }
    assert!(compared > 100, "{compared}");
}

/// With each halving of the step the answers of a fifth of a second come nearer to each other, or are already the same.
#[test]
fn shorter_steps() {
    let mut compared = 0;
    for (seed, kind) in
        (0..12 * factor()).flat_map(|s| [Kind::Tree, Kind::Loops, Kind::FreeBase].map(|k| (s, k)))
    {
        let mechanism = scene(kind, 3000 + seed, false);
        for engine in ENGINES {
            let answers: Vec<_> = [1usize, 2, 4, 8]
                .map(|n| run(engine, &mechanism, DT / (4 * n) as f64, STEPS * 4 * n, false))
                .into_iter()
                .flatten()
                .collect();
            let [a, b, c, d] = &answers[..] else { continue };
            let same = Change::default();
            let (first, last) = (apart(a, b, &same), apart(c, d, &same));
            // Two halvings of a first-order rule leave a quarter; where a stiff spring still swings in the longer steps, less is gained.
            if first >= 1e-6 && exceeds(last, 0.7 * first) {
                fail(&mechanism, &format!("{engine:?}, {kind:?}: {first:.1e} and then {last:.1e} apart"));
            }
            compared += 1;
        }
    }
    assert!(compared > 100, "{compared}");
}
