//! Claim: with every motion of the joints, mass made in every step and no geometric stiffness, a step is that of the
//! articulated engine, to rounding: so every term of it is right on few motions too. Joints whose speeds are not the rates
//! of their coordinates (balls, bushings) agree to first order in the step.

use pliant_core::articulated;
use pliant_core::engine::{Inputs, JointProperty, Simulation, Spring, State};
use pliant_core::gallery::{Passive, RandomOptions, build, random};
use pliant_core::joints::JointKind;
use pliant_core::mechanism::Mechanism;
use pliant_core::nalgebra::{DMatrix, Vector3};
use pliant_core::reduced::{Model, Options};
use pliant_core::spatial::{Pose, Twist, Wrench, exp_rotation};

use crate::common::handles::body;
use crate::common::loads::Random;

/// Every motion: any combination of all coordinates of the tree, on its loops and couplings.
pub fn every_motion(mechanism: &Mechanism) -> Model {
    let carries = mechanism.order().nodes().iter().filter_map(|node| node.joint);
    let n = carries.map(|joint| mechanism[joint].freedoms.len()).sum::<usize>();
    let mix = |i: usize, k: usize| f64::from(i == k) + 0.2 * ((3 * i + 7 * k) as f64).sin() / n as f64;
    let options = Options { turned: 0.0, geometric: false };
    Model::with_motions(mechanism, &DMatrix::from_fn(n, n, mix)).with_options(options)
}

/// The furthest that places and twists of two states are apart, in radii and radii a second.
pub fn apart(mechanism: &Mechanism, a: &State, b: &State) -> (f64, f64) {
    let poses = a.poses.iter().zip(&b.poses).map(|(a, b)| {
        (a.position - b.position).norm() / mechanism.radius() + a.rotation.angle_to(&b.rotation)
    });
    let twists = a
        .twists
        .iter()
        .zip(&b.twists)
        .map(|(a, b)| (a.linear - b.linear).norm() / mechanism.radius() + (a.angular - b.angular).norm());
    (poses.fold(0.0, f64::max), twists.fold(0.0, f64::max))
}

/// Loads on all bodies, a spring coupling, set-points that move, and a base that does.
fn act(inputs: &mut Inputs, mechanism: &Mechanism, seed: u64, step: usize) {
    let mut numbers = Random(seed);
    for id in mechanism.body_ids() {
        let load = Wrench::new(numbers.direction() * 0.5, numbers.direction() * 0.05);
        inputs.set_body_load(id, load).unwrap();
    }
    if step == 0 {
        let spring = Spring {
            body: body(mechanism, mechanism.bodies().len() - 1),
            frame: Pose::translation([0.02, 0.0, 0.01]),
            target: Pose::translation([0.1, 0.2, 0.3]),
            target_twist: Twist::ZERO,
            stiffness: 20.0,
            turning_stiffness: 0.3,
            damping: 0.5,
            turning_damping: 0.01,
        };
        inputs.add_spring(spring).unwrap();
    }
    for joint in mechanism.joint_ids().filter(|j| !mechanism[*j].freedoms.is_empty()) {
        let rest: Vec<f64> = mechanism[joint].freedoms.iter().map(|f| f.rest + 0.002 * step as f64).collect();
        inputs.set_target(joint, &rest).unwrap();
    }
    if !mechanism.bodies().iter().any(|b| b.free) {
        let (t, w) = (0.01 * step as f64, Vector3::new(0.3, 0.2, -0.4));
        let pose = Pose::new(exp_rotation(&(w * t)), Vector3::new(0.2, 0.0, 0.1) * t);
        inputs.set_base(pose, Twist::new(Vector3::new(0.2, 0.0, 0.1), w)).unwrap();
    }
}

fn trees(kinds: &[JointKind], free_bases: bool, count: usize) -> Vec<Mechanism> {
    let options = RandomOptions {
        bodies: 9,
        loops: 0.0,
        passive: Passive::Anywhere,
        kinds: kinds.to_vec(),
        free_bases,
        ..RandomOptions::default()
    };
    (0..count as u64).map(|seed| random(seed, &options)).collect()
}

const RATES: [JointKind; 6] = [
    JointKind::Hinge,
    JointKind::Universal,
    JointKind::Prismatic,
    JointKind::Cylindrical,
    JointKind::Planar,
    JointKind::Fixed,
];

#[test]
fn every_motion_is_the_articulated_engine() {
    let mut ran = 0;
    for free_bases in [false, true] {
        for (seed, mechanism) in trees(&RATES, free_bases, 40).iter().enumerate() {
            if mechanism.coordinate_count() == 0 {
                continue;
            }
            let mut few = every_motion(mechanism).simulate();
            let mut all = articulated::Model::new(mechanism).simulate();
            for step in 0..30 {
                for inputs in [few.inputs_mut(), all.inputs_mut()] {
                    act(inputs, mechanism, seed as u64, step);
                }
                few.step(0.01).unwrap();
                all.step(0.01).unwrap();
            }
            let (places, twists) = apart(mechanism, few.state(), all.state());
            // Rounding of some hundred operations, over stiffness from 10 to 10⁴ and passive joints that swing.
            assert!(places < 1e-9 && twists < 1e-7, "{seed}, free {free_bases}: {places:e}, {twists:e}");
            ran += 1;
        }
    }
    assert!(ran >= 70, "{ran}");
}

/// Gallery trees, with formulas, limits that are met, friction and torque limits that change while they run.
#[test]
fn friction_torque_limits_and_new_springs_are_those_of_the_articulated_engine() {
    for name in ["chain:12", "arm", "hand", "y", "surface-slide"] {
        let mechanism = build(name).unwrap();
        let mut few = every_motion(&mechanism).simulate();
        let mut all = articulated::Model::new(&mechanism).simulate();
        let joint = mechanism.joint_ids().find(|j| mechanism[*j].freedoms.len() == 1);
        let simulations: [&mut dyn Simulation; 2] = [&mut few, &mut all];
        for simulation in simulations {
            simulation.inputs_mut().add_scene_loads();
            for step in 0..60 {
                if let (Some(joint), 10) = (joint, step) {
                    simulation.set_joint(joint, JointProperty::Friction, &[0.05]).unwrap();
                    simulation.set_joint(joint, JointProperty::TorqueLimit, &[0.5]).unwrap();
                }
                if let (Some(joint), 30) = (joint, step) {
                    simulation.set_joint(joint, JointProperty::Stiffness, &[3.0]).unwrap();
                    simulation.set_joint(joint, JointProperty::Damping, &[0.1]).unwrap();
                }
                simulation.step(0.01).unwrap();
            }
        }
        let (places, twists) = apart(&mechanism, few.state(), all.state());
        // Laws of friction are solved to 1e-10 of their bounds.
        assert!(places < 1e-7 && twists < 1e-6, "{name}: {places:e}, {twists:e}");
    }
}

#[test]
fn balls_and_bushings_agree_to_first_order() {
    let mut ran = 0;
    let options = RandomOptions {
        bodies: 6,
        loops: 0.0,
        passive: Passive::Never,
        kinds: vec![JointKind::Ball, JointKind::Bushing],
        limits: false,
        // The articulated engine takes the rates of a ball's rotors at the end of a step, which are others than it solved for.
        armatures: false,
        ..RandomOptions::default()
    };
    for seed in 0..12 {
        let mechanism = &random(seed, &options);
        let off = |h: f64| {
            let mut few = every_motion(mechanism).simulate();
            let mut all = articulated::Model::new(mechanism).simulate();
            for _ in 0..(0.04 / h).round() as usize {
                few.step(h).unwrap();
                all.step(h).unwrap();
            }
            apart(mechanism, few.state(), all.state()).0
        };
        // A quarter, where steps follow the fastest spring; stiff ones leave somewhat more.
        let (coarse, fine) = (off(4e-4), off(1e-4));
        assert!(fine < 0.6 * coarse + 1e-9, "{seed}: {coarse:e} {fine:e}");
        ran += 1;
    }
    assert_eq!(ran, 12);
}

/// A state of another engine, with momenta, is gone on from as that engine does.
#[test]
fn takes_over_from_another_engine() {
    for mechanism in trees(&RATES, false, 10).iter().filter(|m| m.coordinate_count() > 0) {
        let mut all = articulated::Model::new(mechanism).simulate();
        (0..20).for_each(|_| all.step(0.01).unwrap());
        let mut few = every_motion(mechanism).simulate();
        few.set_state(all.state()).unwrap();
        for _ in 0..10 {
            few.step(0.01).unwrap();
            all.step(0.01).unwrap();
        }
        let (places, twists) = apart(mechanism, few.state(), all.state());
        assert!(places < 1e-9 && twists < 1e-7, "{places:e} {twists:e}");
    }
}
