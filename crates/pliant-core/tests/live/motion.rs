//! Claim: the live engine moves as the full one does. Transients at displacement 0.5 stay within a few per cent of the
//! full simulation with the same small step; any stiffness is stable at a frame of video; pulls, set-points and a
//! moving base lead to where the full engine comes to rest; and a closed path of loads does no work as the step
//! shrinks.

use crate::common::loads::{Random, case, effectors_apart, set_loads};
use crate::common::{FRAME, apart, builder, edited};
use pliant_core::engine::Simulation as _;
use pliant_core::engine::{Inputs, Spring};
use pliant_core::full;
use pliant_core::gallery;
use pliant_core::joints::JointKind;
use pliant_core::live::Model;
use pliant_core::mechanism::{JointDescription, Mechanism, PerFreedom};
use pliant_core::nalgebra::Vector3;
use pliant_core::reduced::Reduction;
use pliant_core::spatial::{Pose, Twist, Wrench, exp};

/// Largest distance of the effectors' paths under loads that are put on at once, over the largest displacement.
fn transient(model: &Model, loads: &[Wrench], dt: f64, seconds: f64) -> (f64, f64) {
    let mechanism = model.mechanism();
    let full_model = full::Model::new(mechanism);
    let (mut expected, mut simulation) = (full_model.simulate(), model.simulate());
    expected.settle(&Default::default()).unwrap();
    let start = expected.state().clone();
    simulation.set_state(&start).unwrap();
    set_loads(&mut expected, loads);
    crate::common::loads::set_loads(&mut simulation, loads);
    let (mut worst, mut largest) = (0.0f64, 0.0f64);
    for _ in 0..(seconds / dt).round() as usize {
        expected.step(dt).unwrap();
        simulation.step(dt).unwrap();
        worst = worst.max(effectors_apart(mechanism, simulation.state(), expected.state()));
        largest = largest.max(effectors_apart(mechanism, expected.state(), &start));
    }
    (worst / largest, largest)
}

/// Inner links of a model.
#[derive(Clone, Copy, Debug)]
enum Inner {
    Links(usize),
    For(f64),
}

/// What the effectors leave out are vibrations between them: of the arm with its tip held, and of the coils of a helix,
/// whose lowest frequency condensed mass has 3 % too high. Links between the effectors keep them.
#[test]
fn transients_are_those_of_the_full_engine() {
    let dt = 1e-3;
    let scenes = [
        ("two-link", Inner::Links(0), 0.001),
        ("y", Inner::Links(0), 0.003),
        ("hand", Inner::Links(0), 0.001),
        ("chain", Inner::Links(0), 0.02),
        ("arm", Inner::Links(0), 0.1),
        ("arm", Inner::Links(1), 0.001),
        ("arm", Inner::For(dt), 0.001),
        ("helix:50", Inner::Links(0), 0.25),
        ("helix:50", Inner::Links(1), 0.05),
        ("helix:50", Inner::For(dt), 0.004),
    ];
    for (name, inner, bound) in scenes {
        let mechanism = gallery::build(name).unwrap();
        let model = Model::new(&mechanism).unwrap();
        let model = match inner {
            Inner::Links(k) => model.with_inner_links(k).unwrap(),
            Inner::For(dt) => model.with_inner_links_for(dt).unwrap(),
        };
        let links: Vec<&str> = model.inner_links().iter().map(|e| e.name.as_str()).collect();
        let mut random = Random(11);
        let mut cases = 0;
        for _ in 0..4 {
            // A load put on at once swings about twice as far as it bends at rest.
            let Some(case) = case(&mechanism, &mut random, 0.25, false) else { continue };
            cases += 1;
            let (error, displacement) = transient(&model, &case.loads, dt, 0.5);
            eprintln!("{name} {links:?}: {error:.4} at {displacement:.2}");
            assert!(error < bound, "{name} {links:?}: {error}");
        }
        // The statics of y do not get to one of its loads.
        assert_eq!(cases, if name == "y" { 3 } else { 4 }, "{name} {links:?}");
    }
}

/// The slowest vibration that is dropped is the lowest natural frequency of the same mechanism with the effector's body
/// welded to the world, a loop of another shape; and with enough links kept there is none left.
#[test]
fn what_is_dropped_is_the_vibration_with_the_effectors_held() {
    for name in ["chain:8", "arm", "helix:20"] {
        let mechanism = gallery::build(name).unwrap();
        let dropped = Model::new(&mechanism).unwrap().dropped().unwrap().expect("it vibrates");
        let tip = &mechanism[mechanism.effectors()[0].body];
        let mut held = builder(&mechanism, |_| {});
        held.joint(JointDescription::new("held", JointKind::Fixed, "world", &tip.name).frame(tip.pose));
        let held = held.build().unwrap();
        let body = &mechanism[dropped.body].name;
        let natural = |mechanism: &Mechanism| {
            Reduction::at_rest(mechanism).effectors([body]).build().unwrap().full_frequencies(1).unwrap()[0]
        };
        let (with, without) = (natural(&held), natural(&mechanism));
        // Squares of frequencies are good to rounding times the condition of the loop's closure.
        assert!((dropped.frequency / with - 1.0).abs() < 1e-7, "{name}: {dropped:?}, {with}");
        // The slowest of all is that of the condensed mass, which is none too low (Rayleigh).
        assert!((1.0 - 1e-9..1.05).contains(&(dropped.slowest / without)), "{name}: {dropped:?}, {without}");
        let all = Model::new(&mechanism).unwrap().with_inner_links(usize::MAX).unwrap();
        assert_eq!(all.dropped().unwrap(), None, "{name}");
        assert!(all.inner_links().len() < mechanism.bodies().len(), "{name}");
    }
}

#[test]
fn any_stiffness_is_stable_at_a_frame_of_video() {
    for name in ["chain", "arm", "helix:50", "y"] {
        for power in 1..10 {
            let k = 10f64.powi(power);
            let mechanism = edited(&gallery::build(name).unwrap(), |joint| {
                joint.stiffness = Some(PerFreedom::All(k));
                joint.damping = Some(PerFreedom::All(1e-2 * k));
            });
            let model = Model::new(&mechanism).unwrap();
            let mut simulation = model.simulate();
            for e in 0..mechanism.effectors().len() {
                let load = Wrench::force([0.3 * k, 0.2 * k, -0.4 * k]);
                simulation.set_load(crate::common::handles::effector(&mechanism, e), load).unwrap();
            }
            let mut fastest = 0.0f64;
            for step in 0..600 {
                simulation.step(FRAME).unwrap();
                if step >= 500 {
                    let speed = simulation.state().twists.iter().map(|t| t.linear.norm()).fold(0.0, f64::max);
                    fastest = fastest.max(speed);
                }
            }
            // The softest still swing after ten seconds, under loads that bend them by radians.
            assert!(fastest < if k < 1e3 { 5.0 } else { 1e-11 }, "{name} k {k:.0e}: {fastest}");
        }
    }
}

/// Both engines with the same inputs, until they rest; how far they are apart then. Nothing where the full statics
/// do not find their way.
fn rest(mechanism: &Mechanism, set: impl Fn(&mut Inputs)) -> Option<f64> {
    let (full_model, model) = (full::Model::new(mechanism), Model::new(mechanism).unwrap());
    let (mut expected, mut simulation) = (full_model.simulate(), model.simulate());
    set(expected.inputs_mut());
    set(simulation.inputs_mut());
    if !expected.settle(&Default::default()).unwrap().converged {
        eprintln!("the full statics of {} do not find their way", mechanism.name());
        return None;
    }
    for _ in 0..3000 {
        simulation.step(FRAME).unwrap();
    }
    Some(apart(mechanism, simulation.state(), expected.state()))
}

#[test]
fn pulls_targets_and_bases_lead_to_the_same_rest() {
    let mut compared = 0;
    // Rounding, times the stiffness of a pull over that of the joints; with loops the tolerance of the statics.
    let mut check = |mechanism: &Mechanism, what: &str, off: Option<f64>| {
        let bound = if mechanism.order().loop_joints().is_empty() { 1e-11 } else { 1e-6 };
        let name = mechanism.name();
        compared += usize::from(off.is_some());
        assert!(off.is_none_or(|off| off < bound), "{name}: {what} {off:?}");
    };
    for name in ["y", "arm", "hand", "helix:20", "loop", "gripper"] {
        let mechanism = gallery::build(name).unwrap();
        let middle = crate::common::handles::body(&mechanism, mechanism.bodies().len() / 2);
        let place = mechanism[middle].pose;
        let r = mechanism.radius();
        for stiffness in [100.0, 1e6] {
            let pulled = rest(&mechanism, |inputs| {
                inputs
                    .add_spring(Spring {
                        body: middle,
                        frame: Pose::translation([0.1 * r, 0.0, 0.0]),
                        target: Pose::translation([0.1 * r, -0.1 * r, 0.05 * r]) * place,
                        target_twist: Twist::ZERO,
                        stiffness,
                        turning_stiffness: 0.01 * stiffness * r * r,
                        damping: 0.01 * stiffness,
                        turning_damping: 1e-4 * stiffness * r * r,
                    })
                    .unwrap();
            });
            check(&mechanism, "pulled", pulled);
        }
        let aimed = rest(&mechanism, |inputs| {
            for j in mechanism.joint_ids() {
                let d = mechanism[j].freedoms.len();
                inputs.set_target(j, &[0.2, -0.1, 0.1][..d]).unwrap();
            }
        });
        check(&mechanism, "aimed", aimed);
        let moved = rest(&mechanism, |inputs| {
            let base = exp(&Twist::new(Vector3::new(1.0, -2.0, 0.5), Vector3::new(0.4, 1.0, -0.3)));
            inputs.set_base(base, Twist::ZERO).unwrap();
            inputs
                .set_body_load(middle, Wrench::new(Vector3::new(3.0, 1.0, -2.0), Vector3::new(0.1, 0.2, 0.0)))
                .unwrap();
        });
        check(&mechanism, "moved", moved);
    }
    assert!(compared >= 18, "{compared} of 24");
}

/// A base that swings carries the mechanism as in the full engine.
#[test]
fn a_swinging_base_carries_the_mechanism() {
    for name in ["y", "arm", "helix:20"] {
        let mechanism = gallery::build(name).unwrap();
        let (full_model, model) = (full::Model::new(&mechanism), Model::new(&mechanism).unwrap());
        let (mut expected, mut simulation) = (full_model.simulate(), model.simulate());
        let dt = 1e-3;
        let r = mechanism.radius();
        let (mut worst, mut bent) = (0.0f64, 0.0f64);
        for step in 1..=1000 {
            let t = dt * step as f64;
            let (a, w) = (0.3, 6.0);
            let angle = a * (1.0 - (w * t).cos());
            let rate = a * w * (w * t).sin();
            let base = Pose::rotation([0.0, 0.6, 0.8], angle);
            let twist = Twist::new(Vector3::zeros(), Vector3::new(0.0, 0.6, 0.8) * rate);
            expected.inputs_mut().set_base(base, twist).unwrap();
            simulation.inputs_mut().set_base(base, twist).unwrap();
            expected.step(dt).unwrap();
            simulation.step(dt).unwrap();
            worst = worst.max(effectors_apart(&mechanism, simulation.state(), expected.state()));
            let rigid = mechanism.effectors().iter().enumerate().map(|(e, effector)| {
                let rest = base * mechanism[effector.body].pose * effector.frame;
                (expected.effector_pose(crate::common::handles::effector(&mechanism, e)).unwrap().position
                    - rest.position)
                    .norm()
            });
            bent = bent.max(rigid.fold(0.0, f64::max) / r);
        }
        eprintln!("{name}: {worst:.1e} of {bent:.1e}");
        // The helix bends by a thousandth of a radius, some of it as the vibrations that its tip leaves out.
        assert!(worst < bent * if name == "helix:20" { 0.2 } else { 0.08 }, "{name}: {worst} of {bent}");
    }
}

/// The work of a force that goes round a circle in so many frames, from the path of its effector.
fn work(mechanism: &Mechanism, size: f64, steps: usize) -> f64 {
    let model = Model::new(mechanism).unwrap();
    let mut simulation = model.simulate();
    let tip = crate::common::handles::effector(mechanism, 0);
    let force = |s: f64| {
        let a = std::f64::consts::TAU * s;
        Vector3::new(size * a.cos(), size * a.sin(), 0.3 * size * a.sin())
    };
    simulation.set_load(tip, Wrench::new(force(0.0), Vector3::zeros())).unwrap();
    for _ in 0..3000 {
        simulation.step(FRAME).unwrap();
    }
    let mut sum = 0.0;
    for step in 0..steps {
        let (a, b) = (force(step as f64 / steps as f64), force((step + 1) as f64 / steps as f64));
        let before = simulation.effector_pose(tip).unwrap().position;
        simulation.set_load(tip, Wrench::new(b, Vector3::zeros())).unwrap();
        simulation.step(FRAME).unwrap();
        sum += ((a + b) * 0.5).dot(&(simulation.effector_pose(tip).unwrap().position - before));
    }
    sum
}

#[test]
fn a_closed_path_of_loads_does_no_work_as_the_step_shrinks() {
    for name in ["y", "arm", "helix:20"] {
        let mechanism = gallery::build(name).unwrap();
        let works = [250, 500, 1000, 2000].map(|steps| work(&mechanism, 300.0, steps));
        eprintln!("{name}: {works:?}");
        // What is left is the dampers' work, which falls as the speed.
        for pair in works.windows(2) {
            assert!(pair[1] > 0.0 && pair[1] < 0.55 * pair[0], "{name}: {works:?}");
        }
    }
}

/// What dies out in a mechanism at rest ends at zero: numbers that are too small to be normal take many times as long.
#[test]
fn nothing_becomes_too_small_to_be_normal() {
    for name in ["arm", "y", "helix:12"] {
        let mechanism = gallery::build(name).unwrap();
        let model = Model::new(&mechanism).unwrap();
        let mut simulation = model.simulate();
        simulation.inputs_mut().add_scene_loads();
        for step in 0..20_000 {
            simulation.step(1.0 / 60.0).unwrap();
            if step % 100 == 0 {
                let state = simulation.state();
                let small = state.coordinates.iter().chain(&state.rates).filter(|x| x.is_subnormal()).count();
                assert_eq!(small, 0, "{name}, step {step}");
            }
        }
    }
}
