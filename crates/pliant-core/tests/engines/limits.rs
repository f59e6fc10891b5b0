//! Claim: a limit holds whatever presses a joint against it: weights over nine decades, springs that are relaxed beyond it over six,
//! and loads; where a load is stronger than the limit is stiff, that is a warning with how far it yields.

use pliant_core::engine::{JointProperty, Simulation, StaticsSettings};
use pliant_core::engines::Engine;
use pliant_core::joints::JointKind;
use pliant_core::mechanism::{
    Body, EffectorDescription, JointDescription, Mechanism, MechanismBuilder, WORLD,
};
use pliant_core::spatial::{Pose, SpatialInertia, Wrench};

const ENGINES: [Engine; 3] = [Engine::Full, Engine::Articulated, Engine::Reduced];
const LIMIT: f64 = 0.1;

/// A link of a mass at the end of an arm along x, on a hinge about y or a slide along −z, so that weight moves it to where its coordinate
/// is above zero.
fn limited(kind: JointKind, mass: f64, arm: f64, [stiffness, damping, rest]: [f64; 3]) -> Mechanism {
    let mut builder = MechanismBuilder::new("limited");
    let size = 0.2 * arm;
    builder.body(
        Body::new("link", Pose::translation([arm, 0.0, 0.0]))
            .inertia(SpatialInertia::of_box(mass, [size; 3])),
    );
    let axis = if kind == JointKind::Prismatic { [0.0, 0.0, -1.0] } else { [0.0, 1.0, 0.0] };
    let joint = JointDescription::new("joint", kind, WORLD, "link").axis([0.0; 3].into(), axis.into());
    let limits = vec![(-LIMIT, LIMIT)];
    builder.joint(joint.stiffness(stiffness).damping(damping).rest(rest).limits(limits));
    builder.effector(EffectorDescription {
        name: "tip".into(),
        body: "link".into(),
        frame: Pose::identity(),
    });
    builder.build().unwrap()
}

/// How far beyond its limit the joint is at the end, in the statics and in motion; and whether that is a warning.
fn beyond(simulation: &mut dyn Simulation, moves: bool) -> (f64, bool) {
    if moves {
        (0..600).for_each(|_| simulation.step(0.01).unwrap());
    } else {
        let found = simulation.settle(&StaticsSettings::default()).unwrap();
        assert!(found.converged, "{found:?}");
    }
    let warned = simulation.warnings().iter().any(|warning| warning.kind == "limits");
    (simulation.state().coordinates[0] - LIMIT, warned)
}

#[test]
fn of_any_mass() {
    let mut cases = 0;
    for (kind, arm) in [JointKind::Hinge, JointKind::Prismatic]
        .into_iter()
        .flat_map(|k| [0.3, 1.0, 10.0].map(|arm| (k.clone(), arm)))
    {
        for mass in (-3..=6).map(|n| 10f64.powi(n)) {
            let inertia = mass * if kind == JointKind::Hinge { arm * arm } else { 1.0 };
            // Held by hardly anything, and damped so that it falls slowly.
            let mechanism = limited(kind.clone(), mass, arm, [0.1 * inertia, 5.0 * inertia, 0.0]);
            for (engine, moves) in ENGINES.into_iter().flat_map(|e| [(e, true), (e, false)]) {
                let (off, warned) = beyond(&mut *engine.simulate(&mechanism).unwrap(), moves);
                // Weight over the stiffness of the limit: 9.81/1e5 m, or over the arm rad, and less where it is light.
                let most = 1.01e-4 / if kind == JointKind::Hinge { arm } else { 1.0 };
                assert!(
                    (-1e-9..most).contains(&off),
                    "{engine:?} {kind:?} {mass} kg, {arm} m, {moves}: {off}"
                );
                assert!(!warned);
                cases += 1;
            }
        }
    }
    assert_eq!(cases, 2 * 3 * 10 * 6);
}

#[test]
fn of_any_spring() {
    let mut cases = 0;
    for stiffness in (1..=7).map(|n| 10f64.powi(n)) {
        let mechanism = limited(JointKind::Hinge, 2.0, 0.5, [stiffness, 0.05 * stiffness, 0.5]);
        for (engine, moves) in ENGINES.into_iter().flat_map(|e| [(e, true), (e, false)]) {
            let (off, warned) = beyond(&mut *engine.simulate(&mechanism).unwrap(), moves);
            // A thousandth of how far beyond it the spring is relaxed, and the weight.
            assert!((0.0..4.0e-4 + 1e-4).contains(&off), "{engine:?} {stiffness} N·m/rad, {moves}: {off}");
            assert!(!warned);
            cases += 1;
        }
        // The same where the spring gets its stiffness later.
        let soft = limited(JointKind::Hinge, 2.0, 0.5, [1.0, 0.05 * stiffness, 0.5]);
        for engine in ENGINES {
            let mut simulation = engine.simulate(&soft).unwrap();
            let joint = soft.find_joint("joint").unwrap();
            simulation.set_joint(joint, JointProperty::Stiffness, &[stiffness]).unwrap();
            let (off, _) = beyond(&mut *simulation, true);
            assert!((0.0..5.0e-4).contains(&off), "{engine:?} {stiffness} N·m/rad, set: {off}");
            cases += 1;
        }
    }
    assert_eq!(cases, 7 * 9);
}

/// Loads of 10 to 10⁹ N on 2 kg: within 1e-3 of the limit, or a warning with how far.
#[test]
fn of_any_load() {
    let (mut held, mut warnings) = (0, 0);
    for kind in [JointKind::Hinge, JointKind::Prismatic] {
        let mechanism = limited(kind.clone(), 2.0, 0.5, [1.0, 100.0, 0.0]);
        let size = if kind == JointKind::Prismatic { mechanism.radius() } else { 1.0 };
        for force in (1..=9).map(|n| -(10f64.powi(n))) {
            for engine in [Engine::Full, Engine::Articulated] {
                let mut simulation = engine.simulate(&mechanism).unwrap();
                let tip = simulation.effector("tip").unwrap();
                simulation.set_load(tip, Wrench::force([0.0, 0.0, force])).unwrap();
                let (off, warned) = beyond(&mut *simulation, false);
                assert_eq!(warned, off > 1e-3 * size, "{engine:?} {force} N: {off}");
                let found = simulation.warnings().into_iter().find(|warning| warning.kind == "limits");
                assert!(found.is_none_or(|warning| (warning.measure / off - 1.0).abs() < 1e-9));
                held += usize::from(!warned);
                warnings += usize::from(warned);
            }
        }
    }
    assert!(held >= 8 && warnings >= 8, "{held} {warnings}");
}
