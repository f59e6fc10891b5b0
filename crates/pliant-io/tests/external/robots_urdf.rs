//! Claim: of the real URDF files in the wheel example-robot-data, all load that Pinocchio loads, and have
//! its mass, its freedoms, and its poses of all links in random joint configurations, to 1e-9; each can
//! be written as a scene and read again, bit for bit.
//!
//! Conventions that differ: Pinocchio moves massless links, which are welded here (with a warning);
//! `mimic` is a coupling here, and the joint itself counts as a freedom in both; a massless root called
//! `world` is the world.

use std::collections::HashMap;
use std::path::PathBuf;

use crate::answers::{ask, poses};
use crate::common::{Random, assert_round_trip};
use crate::trial::{Found, trial};
use crate::wheels;
use libtest_mimic::Trial;
use pliant_core::joints::JointKind;
use pliant_core::mechanism::{JointId, Mechanism};
use pliant_core::nalgebra::{Quaternion, UnitQuaternion, Vector3};
use serde_json::json;

/// Pinocchio refuses them too: an xacro without links, and a joint to a link that is not there.
const REFUSED: [&str; 2] = ["falcon.urdf", "ur3.urdf"];

pub fn trials() -> Vec<Trial> {
    vec![
        trial("robots_urdf::mass_freedoms_and_poses", mass_freedoms_and_poses_are_those_of_pinocchio),
        trial("robots_urdf::every_robot_round_trips", every_robot_round_trips),
    ]
}

fn robots() -> Found<Vec<(PathBuf, Mechanism)>> {
    let folder = wheels::wheel("example-robot-data", "5.0.0")?;
    let files = wheels::files(&folder, "urdf");
    assert_eq!(files.len(), 77);
    let mut loaded = Vec::new();
    for path in files {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        match pliant_io::load(&path) {
            Ok(mechanism) => loaded.push((path, mechanism)),
            Err(error) => assert!(REFUSED.contains(&name.as_str()), "{error}"),
        }
    }
    println!("{} of 77 files loaded", loaded.len());
    assert_eq!(loaded.len(), 75);
    Ok(loaded)
}

fn mass_freedoms_and_poses_are_those_of_pinocchio() -> Found<()> {
    let robots = robots()?;
    let python = wheels::python("pin", "pinocchio")?;
    let mut random = Random(11);
    let mut jobs = Vec::new();
    for (path, mechanism) in &robots {
        for _ in 0..3 {
            let q: HashMap<&str, Vec<f64>> = (mechanism.joints().iter())
                .filter(|joint| matches!(joint.kind, JointKind::Hinge | JointKind::Prismatic))
                .map(|joint| (joint.name.as_str(), vec![4.0 * random.unit() - 2.0]))
                .collect();
            jobs.push(json!({ "file": path, "q": q }));
        }
    }
    let answers = ask(&python, "pinocchio_poses.py", "pinocchio", jobs.clone());
    let answers = answers.as_array().unwrap();

    let (mut compared, mut welded) = (0, 0);
    for (i, (answer, job)) in answers.iter().zip(&jobs).enumerate() {
        let (path, mechanism) = &robots[i / 3];
        let what = path.display();
        let mass = answer["mass"].as_f64().unwrap();
        assert!(
            (mechanism.mass() - mass).abs() <= 1e-9 * mass.max(1.0),
            "{what}: {} {mass}",
            mechanism.mass()
        );

        // Joints that Pinocchio moves and that are fixed here, each for want of mass.
        let moving: HashMap<String, u64> = serde_json::from_value(answer["joints"].clone()).unwrap();
        let fixed = mechanism
            .joint_ids()
            .filter(|j| mechanism[*j].kind == JointKind::Fixed && moving.contains_key(&mechanism[*j].name));
        let fixed: Vec<JointId> = fixed.collect();
        assert!(fixed.iter().all(|j| mechanism[mechanism[*j].child].inertia.mass == 0.0), "{what}");
        let lost: u64 = fixed.iter().map(|j| moving[&mechanism[*j].name]).sum();
        if lost > 0 {
            assert!(
                mechanism.warnings().iter().any(|w| w.contains("has no mass and carries none")),
                "{what}"
            );
        }
        welded += fixed.len();
        let freedoms = mechanism.summary().freedoms as u64;
        assert_eq!(freedoms + lost, answer["freedoms"].as_u64().unwrap(), "{what}");

        let q: HashMap<String, Vec<f64>> = serde_json::from_value(job["q"].clone()).unwrap();
        let bodies: HashMap<String, Vec<f64>> = serde_json::from_value(answer["bodies"].clone()).unwrap();
        for (b, pose) in poses(mechanism, &q).iter().enumerate() {
            let name = &mechanism.bodies()[b].name;
            let p = &bodies[name];
            let rotation = UnitQuaternion::from_quaternion(Quaternion::new(p[6], p[3], p[4], p[5]));
            let apart = (pose.position - Vector3::new(p[0], p[1], p[2])).norm();
            let turned = pose.rotation.angle_to(&rotation);
            assert!(apart < 1e-9 && turned < 1e-7, "{what}: {name} is {apart} m and {turned} rad away");
            // The angle of a quaternion loses half its digits near zero; its entries do not.
            let sign = pose.rotation.coords.dot(&rotation.coords).signum();
            let entries = (pose.rotation.coords - rotation.coords * sign).norm();
            assert!(entries < 1e-9, "{what}: {name} is turned by {entries}");
            compared += 1;
        }
        let dropped = bodies.len() - mechanism.bodies().len();
        assert!(dropped <= 1 && (dropped == 0 || bodies.contains_key("world")), "{what}: {dropped}");
    }
    println!("{compared} poses compared; {} joints fixed for want of mass", welded / 3);
    assert_eq!((answers.len(), compared), (3 * 75, 6756), "configurations and poses");
    Ok(())
}

fn every_robot_round_trips() -> Found<()> {
    let robots = robots()?;
    robots.iter().for_each(|(_, mechanism)| assert_round_trip(mechanism));
    Ok(())
}
