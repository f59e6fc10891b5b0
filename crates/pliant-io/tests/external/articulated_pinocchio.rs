//! Claim: forward dynamics of the real URDF robots in the wheel example-robot-data are those of Pinocchio.
//!
//! Pinocchio has no springs, dampers or limits: what a file gives is taken off again. Robots with joints that are welded
//! here for want of mass, with massless links that take a little of what they carry, with inertias that no rigid body
//! has and that are mended here, or with other joints than hinges and slides, are left out.

use std::collections::HashMap;

use crate::answers::ask;
use crate::common::Random;
use crate::trial::{Found, trial};
use crate::wheels;
use libtest_mimic::Trial;
use pliant_core::articulated::Model;
use pliant_core::engine::{Inputs, State};
use pliant_core::joints::JointKind;
use pliant_core::mechanism::Mechanism;
use pliant_core::spatial::Twist;
use serde_json::json;

/// What warnings and notes say of robots that are not quite their file's.
const CHANGED: [&str; 4] =
    ["has no mass and carries none", "no rigid body", "has inertia but no mass", "of the mass it carries"];

pub fn trials() -> Vec<Trial> {
    vec![trial("articulated_pinocchio::forward_dynamics", forward_dynamics_are_those_of_pinocchio)]
}

fn forward_dynamics_are_those_of_pinocchio() -> Found<()> {
    let folder = wheels::wheel("example-robot-data", "5.0.0")?;
    let python = wheels::python("pin", "pinocchio")?;
    let mut random = Random(5);
    let mut jobs = Vec::new();
    let mut robots: Vec<(Mechanism, State, Vec<f64>)> = Vec::new();
    for path in wheels::files(&folder, "urdf") {
        let Ok(mechanism) = pliant_io::load(&path) else { continue };
        let plain =
            |kind: &JointKind| matches!(kind, JointKind::Hinge | JointKind::Prismatic | JointKind::Fixed);
        let said = |words: &str| {
            mechanism.warnings().iter().chain(mechanism.notes()).any(|line| line.contains(words))
        };
        if CHANGED.into_iter().any(said)
            || !mechanism.joints().iter().all(|j| plain(&j.kind))
            || mechanism.order().nodes().is_empty()
        {
            continue;
        }
        let mut state = State::at_rest(&mechanism);
        let mut forces = vec![0.0; state.coordinates.len()];
        let mut given: HashMap<&str, [f64; 3]> = HashMap::new();
        for joint in mechanism.joints() {
            let at = joint.coordinates();
            let Some(freedom) = joint.freedoms.first() else { continue };
            let reach = if joint.kind == JointKind::Hinge { 2.0 } else { 0.1 };
            let q = (reach * (2.0 * random.unit() - 1.0)).clamp(freedom.lower, freedom.upper);
            let (rate, force) = (4.0 * random.unit() - 2.0, 10.0 * random.unit() - 5.0);
            (state.coordinates[at.start], state.rates[at.start]) = (q, rate);
            let own = freedom.stiffness * (freedom.rest - q) - freedom.damping * rate;
            forces[at.start] = force - own;
            given.insert(&joint.name, [q, rate, force]);
        }
        jobs.push(json!({ "file": path, "joints": given }));
        robots.push((mechanism, state, forces));
    }
    let answers = ask(&python, "pinocchio_dynamics.py", "dynamics", jobs);
    let answers: Vec<HashMap<String, f64>> = serde_json::from_value(answers).unwrap();

    let (mut worst, mut compared) = (0.0f64, 0);
    for ((mechanism, state, given), answer) in robots.iter().zip(&answers) {
        let model = Model::new(mechanism);
        let mut dynamics = model.dynamics();
        dynamics.set_state(state, Twist::ZERO).unwrap();
        let (mut forces, mut found) = (vec![0.0; model.speeds()], vec![0.0; model.speeds()]);
        let mut places = Vec::new();
        for joint in mechanism.joints().iter().filter(|joint| !joint.freedoms.is_empty()) {
            let at = model.speeds_of(joint.child).unwrap().expect("a node of its own").start;
            forces[at] = given[joint.coordinates().start];
            places.push((at, answer[&joint.name], joint.freedoms[0].armature));
        }
        if places.iter().any(|(_, _, armature)| *armature != 0.0) {
            continue; // rotors are no part of Pinocchio's file
        }
        dynamics.accelerations(&Inputs::new(mechanism), &forces, &mut found).unwrap();
        let scale = places.iter().map(|(_, a, _)| a.abs()).fold(0.0, f64::max);
        for (at, expected, _) in places {
            let error = (found[at] - expected).abs() / scale;
            // Both recursions round; light fingers on heavy arms have masses 1e6 apart.
            assert!(error < 1e-9, "{}: {} {expected}", mechanism.name(), found[at]);
            worst = worst.max(error);
            compared += 1;
        }
    }
    println!("{compared} accelerations of {} robots, worst relative difference {worst:.1e}", robots.len());
    assert_eq!((robots.len(), compared), (48, 669), "robots, and accelerations of those without rotors");
    Ok(())
}
