//! Claim: a step of a sixtieth of a second of the articulated engine is stable for a swinging chain of hinges, for stiffness
//! over seven decades, at a singular pose, at limits and with pulls; couplings hold, those between joints that close loops included; and where the full
//! engine answers, it answers the same.

use crate::common::scenes::{self, every_stiffness, flat_four_bar, kick_and_swing, push_across};
use crate::common::{FRAME, apart, edited};
use pliant_core::articulated::Model;
use pliant_core::engine::Simulation as _;
use pliant_core::engine::Spring;
use pliant_core::engine::StaticsSettings;
use pliant_core::full;
use pliant_core::gallery;
use pliant_core::joints::JointKind;
use pliant_core::mechanism::{
    Body, CouplingDescription, JointDescription, Mechanism, MechanismBuilder, WORLD,
};
use pliant_core::nalgebra::Vector3;
use pliant_core::spatial::{Pose, SpatialInertia, Twist, Wrench, exp_rotation};

/// A chain of hinges without springs or dampers falls from level, is kicked aside and swings for a minute, links turning by up to
/// 0.8 rad a step: energy never rises.
#[test]
fn a_swinging_chain_of_hinges_gains_no_energy() {
    let mechanism = edited(&gallery::chain(20), |joint| {
        joint.stiffness = None;
        joint.damping = None;
    });
    let model = Model::new(&mechanism);
    let most = kick_and_swing(&mut model.simulate());
    println!("gained {:.4} J, a turn of {:.2} rad a step", most.gained, most.turn);
    assert!(most.gained <= 0.0, "{} J", most.gained);
    assert!(most.turn > 0.7, "it swings fast: {}", most.turn);
    assert!(most.violation < 1e-12);
}

/// The same chains of 2 to 40 hinges at steps up to 0.2 s, where what swings against the weight of what hangs on it is far too fast
/// for them.
#[test]
fn a_hanging_chain_gains_no_energy_at_any_step() {
    for links in [2, 5, 10, 20, 40] {
        let mechanism = edited(&gallery::chain(links), |joint| {
            joint.stiffness = None;
            joint.damping = None;
        });
        for dt in [FRAME, 1.0 / 30.0, 0.05, 0.1, 0.2] {
            let mut simulation = Model::new(&mechanism).simulate();
            let energy = |s: &mut pliant_core::articulated::Simulation| s.energy().total();
            let start = energy(&mut simulation);
            let mut most = f64::NEG_INFINITY;
            for _ in 0..(30.0 / dt) as usize {
                simulation.step(dt).unwrap();
                most = most.max(energy(&mut simulation) - start);
            }
            println!("{links} links, {dt:.4} s: {most:.2e} J above {start:.2}");
            assert!(most <= 0.0, "{links} links, {dt} s: {most} J");
        }
    }
}

#[test]
fn every_stiffness_is_stable() {
    every_stiffness(400, |mechanism| Model::new(mechanism).simulate().into(), |_| 1e-10);
}

/// Two branches of motion meet there, and the closures lose a row. Pushed across, it moves, and its joints stay closed.
#[test]
fn a_singular_four_bar_moves_when_pushed() {
    let (turned, violation) = push_across(&mut Model::new(&flat_four_bar()).simulate());
    assert!(turned > 1.0, "{turned}");
    // Corrections with the factors of the step close less well near the singular pose: full has 7e-9.
    assert!(violation < 1e-4, "{violation:e}");
}

#[test]
fn a_limit_holds() {
    scenes::a_limit_holds(|mechanism| Model::new(mechanism).simulate().into());
}

/// Stiff pulls to a frame that goes and turns: the two engines agree to first order; any strength is stable.
#[test]
fn pulls_are_those_of_the_full_engine() {
    for name in ["arm", "hexapod", "ladder:12"] {
        let mechanism = gallery::build(name).unwrap();
        let (model, other) = (Model::new(&mechanism), full::Model::new(&mechanism));
        let body = mechanism.effectors()[0].body;
        let frame = mechanism.effectors()[0].frame;
        let start = mechanism[body].pose * frame;
        let pull = Spring {
            body,
            frame,
            target: start,
            target_twist: Twist::ZERO,
            stiffness: 1e4,
            turning_stiffness: 50.0,
            damping: 100.0,
            turning_damping: 1.0,
        };
        let difference = |dt: f64| {
            let (mut a, mut b) = (model.simulate(), other.simulate());
            let id = a.inputs_mut().add_spring(pull).unwrap();
            let other_id = b.inputs_mut().add_spring(pull).unwrap();
            b.set_iterations(3).unwrap();
            let (v, w) = (Vector3::new(0.02, 0.01, -0.03), Vector3::new(0.1, 0.2, -0.1));
            for step in 1..=(0.05 / dt).round() as usize {
                let t = dt * step as f64;
                let target = Pose::new(exp_rotation(&(w * t)) * start.rotation, start.position + v * t);
                a.inputs_mut().set_spring_target(id, target, Twist::new(v, w)).unwrap();
                b.inputs_mut().set_spring_target(other_id, target, Twist::new(v, w)).unwrap();
                a.step(dt).unwrap();
                b.step(dt).unwrap();
            }
            let (f, g) = (a.spring_force(id).unwrap(), b.spring_force(other_id).unwrap());
            let off = (f.force - g.force).norm() / g.force.norm();
            (apart(&mechanism, a.state(), b.state()), off)
        };
        let list = [1e-3, 5e-4, 2.5e-4].map(difference);
        println!("{name}: apart {list:?}");
        assert!(
            list[2].0 < 0.6 * list[1].0 && list[1].0 < 0.6 * list[0].0 || list[2].0 < 1e-7,
            "{name}: {list:?}"
        );
        assert!(list[2].1 < 2e-2, "{name}: {list:?}");
        // Any strength is stable at a frame of video.
        let mut stiff = model.simulate();
        stiff.inputs_mut().add_spring(Spring { stiffness: 1e8, turning_stiffness: 1e6, ..pull }).unwrap();
        for _ in 0..120 {
            stiff.step(FRAME).unwrap();
        }
        let off = (stiff.state().poses[body.index()] * frame).position - start.position;
        assert!(off.norm() < 1e-4, "{name}: {off}");
    }
}

/// Two plates on bushings whose hinges close loops, coupled two to one.
fn coupled_plates() -> Mechanism {
    let mut builder = MechanismBuilder::new("plates");
    for (k, name) in ["a", "b"].into_iter().enumerate() {
        let at = Vector3::new(0.0, 0.3 * k as f64, 0.0);
        let pose = Pose::translation([0.1, at.y, 0.0]);
        builder.body(Body::new(name, pose).inertia(SpatialInertia::of_box(0.5, [0.2, 0.1, 0.02])));
        let soft = JointDescription::new(format!("soft_{name}"), JointKind::Bushing, WORLD, name);
        let soft = soft.frame(Pose::translation(at.into()));
        builder.joint(
            soft.stiffness([50.0, 50.0, 50.0, 2.0, 2.0, 2.0]).damping([1.0, 1.0, 1.0, 0.05, 0.05, 0.05]),
        );
        builder.joint(JointDescription::new(name, JointKind::Hinge, WORLD, name).axis(at, Vector3::y()));
    }
    builder.coupling(CouplingDescription { joint: "a".into(), of: "b".into(), ratio: 2.0, offset: 0.0 });
    builder.build().unwrap()
}

#[test]
fn couplings_of_joints_that_close_loops_hold() {
    let mechanism = coupled_plates();
    let model = Model::new(&mechanism);
    assert_eq!(mechanism.order().loop_joints().len(), 2);
    let other = full::Model::new(&mechanism);
    let load = Wrench::new(Vector3::new(0.3, 0.2, -1.0), Vector3::new(0.0, 0.1, 0.05));
    let difference = |dt: f64| {
        let (mut a, mut b) = (model.simulate(), other.simulate());
        a.inputs_mut().set_body_load(crate::common::handles::body(&mechanism, 0), load).unwrap();
        b.inputs_mut().set_body_load(crate::common::handles::body(&mechanism, 0), load).unwrap();
        b.set_iterations(3).unwrap();
        for _ in 0..(0.1 / dt).round() as usize {
            a.step(dt).unwrap();
            b.step(dt).unwrap();
        }
        apart(&mechanism, a.state(), b.state())
    };
    let list = [2e-3, 1e-3, 5e-4].map(difference);
    println!("coupled: {list:?}");
    assert!(list[2] < 0.6 * list[1] && list[1] < 0.6 * list[0], "{list:?}");

    let (mut simulation, mut statics) = (model.simulate(), other.simulate());
    simulation.inputs_mut().set_body_load(crate::common::handles::body(&mechanism, 0), load).unwrap();
    statics.inputs_mut().set_body_load(crate::common::handles::body(&mechanism, 0), load).unwrap();
    for _ in 0..3000 {
        simulation.step(FRAME).unwrap();
    }
    let mut angle = |name: &str| {
        let at = mechanism[mechanism.find_joint(name).unwrap()].coordinates().start;
        simulation.state().coordinates[at]
    };
    assert!(angle("b").abs() > 0.01, "it turns: {}", angle("b"));
    assert!((angle("a") - 2.0 * angle("b")).abs() < 1e-12);
    assert!(simulation.violation() < 1e-12);
    let found = statics.settle(&StaticsSettings { tolerance: 1e-12, ..Default::default() }).unwrap();
    let off = apart(&mechanism, simulation.state(), statics.state());
    println!("at rest {off:.1e} radii from statics, {found:?}");
    assert!(off < 1e-9, "{off:e}");
    // The coupling's own force, the last of the multipliers.
    let (a, b) = (simulation.state().multipliers.last(), statics.state().multipliers.last());
    assert!((a.unwrap() - b.unwrap()).abs() < 1e-6 * b.unwrap().abs(), "{a:?} {b:?}");
}
