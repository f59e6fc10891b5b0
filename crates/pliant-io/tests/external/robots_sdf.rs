//! Claim: the real SDF files in the wheel example-robot-data load, with loops, springs and gearboxes, and
//! have Drake's mass, and its poses of all links and its forces of all springs in random configurations of the
//! spanning tree, to 1e-9; so have a file with every way of giving a pose and one with every kind of spring.
//!
//! Drake takes neither loops nor gearboxes: those joints are left out for it.

use std::collections::HashMap;
use std::f64::consts::TAU;
use std::path::PathBuf;

use crate::answers::{ask, poses};
use crate::common::{Random, assert_round_trip};
use crate::trial::{Found, trial};
use crate::wheels;
use libtest_mimic::Trial;
use pliant_core::mechanism::{JointId, Mechanism};
use pliant_core::nalgebra::{Quaternion, Vector3};
use serde_json::json;

pub fn trials() -> Vec<Trial> {
    vec![
        trial("robots_sdf::own_files_are_as_in_drake", own_files_are_as_in_drake),
        trial("robots_sdf::real_robots_are_as_in_drake", real_robots_are_as_in_drake),
        trial(
            "robots_sdf::cassie_has_its_loops_springs_and_gearboxes",
            cassie_has_its_loops_springs_and_gearboxes,
        ),
    ]
}

fn robots() -> Found<Vec<(PathBuf, Mechanism)>> {
    let folder = wheels::wheel("example-robot-data", "5.0.0")?;
    let files = wheels::files(&folder, "sdf");
    assert_eq!(files.len(), 5);
    Ok(files
        .into_iter()
        .map(|path| {
            let mechanism = pliant_io::load(&path).unwrap_or_else(|error| panic!("{error}"));
            (path, mechanism)
        })
        .collect())
}

fn joints(mechanism: &Mechanism) -> impl Iterator<Item = JointId> {
    mechanism.joint_ids()
}

fn closes_a_loop(mechanism: &Mechanism, j: JointId) -> bool {
    mechanism.order().tree_joint_of(mechanism[j].child) != Some(j)
}

fn own_files_are_as_in_drake() -> Found<()> {
    let own = ["frames.sdf", "springs.sdf"].map(|name| {
        let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/sdf").join(name);
        let mechanism = pliant_io::load(&path).unwrap_or_else(|error| panic!("{error}"));
        (path, mechanism)
    });
    let springs = mass_poses_and_springs_are_those_of_drake("own", &own)?;
    assert!(springs >= 15, "three springs at least, in five configurations");
    Ok(())
}

fn real_robots_are_as_in_drake() -> Found<()> {
    mass_poses_and_springs_are_those_of_drake("robots", &robots()?)?;
    Ok(())
}

/// Compares mechanisms in five configurations; how many forces of springs were compared.
fn mass_poses_and_springs_are_those_of_drake(name: &str, robots: &[(PathBuf, Mechanism)]) -> Found<usize> {
    let python = wheels::python("drake", "pydrake")?;
    let mut random = Random(12);
    let (mut jobs, mut coordinates) = (Vec::new(), Vec::new());
    for (path, mechanism) in robots {
        let dropped: Vec<&str> = joints(mechanism)
            .filter(|j| closes_a_loop(mechanism, *j))
            .map(|j| mechanism[j].name.as_str())
            .collect();
        for round in 0..5 {
            let mut q: HashMap<String, Vec<f64>> = HashMap::new();
            for joint in mechanism.joints().iter().filter(|joint| matches!(joint.freedoms.len(), 1 | 2)) {
                let number = |_: &_| if round == 0 { 0.0 } else { 4.0 * random.unit() - 2.0 };
                q.insert(joint.name.clone(), joint.freedoms.iter().map(number).collect());
            }
            // Of a screw, Drake has the turn only.
            if let Some(turn) = q.get("thread").cloned() {
                q.insert("thread:travel".into(), vec![turn[0] * 0.5 / TAU]);
            }
            jobs.push(json!({ "file": path, "dropped": dropped, "q": q }));
            coordinates.push(q);
        }
    }
    let answers = ask(&python, "drake_poses.py", &format!("drake-{name}"), jobs);
    let answers = answers.as_array().unwrap();

    let (mut compared, mut springs) = (0, 0);
    for (i, (answer, q)) in answers.iter().zip(&coordinates).enumerate() {
        let (path, mechanism) = &robots[i / 5];
        let what = path.display();
        let mass = answer["mass"].as_f64().unwrap();
        assert!((mechanism.mass() - mass).abs() < 1e-9, "{what}: {} {mass}", mechanism.mass());
        let bodies: HashMap<String, Vec<f64>> = serde_json::from_value(answer["bodies"].clone()).unwrap();
        let found = poses(mechanism, q);
        for (name, p) in &bodies {
            let pose = &found[mechanism.find_body(name).unwrap_or_else(|| panic!("{what}: {name}")).index()];
            let apart = (pose.position - Vector3::new(p[0], p[1], p[2])).norm();
            let rotation = Quaternion::new(p[3], p[4], p[5], p[6]).coords;
            let turned =
                (pose.rotation.coords - rotation * pose.rotation.coords.dot(&rotation).signum()).norm();
            assert!(apart < 1e-9 && turned < 1e-9, "{what}: {name} is {apart} m and {turned} away");
            compared += 1;
        }
        let forces: HashMap<String, Vec<f64>> = serde_json::from_value(answer["forces"].clone()).unwrap();
        for (name, forces) in &forces {
            let joint = &mechanism[mechanism.find_joint(name).unwrap_or_else(|| panic!("{what}: {name}"))];
            // Springs of ours that the file does not have.
            let default = mechanism.notes().iter().any(|note| note.contains("no springs are given"));
            for (k, force) in forces.iter().enumerate().filter(|_| !default) {
                let freedom = &joint.freedoms[k];
                let ours = freedom.stiffness * (freedom.rest - q[name][k]);
                assert!((ours - force).abs() <= 1e-9 * (1.0 + ours.abs()), "{what}: {name} {ours} {force}");
                springs += usize::from(*force != 0.0);
            }
        }
    }
    println!("{} files, {compared} poses and {springs} forces of springs compared", robots.len());
    let expected = if robots.len() == 5 { (25, 635, 80) } else { (10, 55, 19) };
    assert_eq!((answers.len(), compared, springs), expected, "configurations, poses, forces of springs");
    Ok(springs)
}

fn cassie_has_its_loops_springs_and_gearboxes() -> Found<()> {
    for (path, mechanism) in &robots()? {
        let loops: Vec<&str> = joints(mechanism)
            .filter(|j| closes_a_loop(mechanism, *j))
            .map(|j| mechanism[j].name.as_str())
            .collect();
        println!("{}: {loops:?}", path.display());
        mechanism.warnings().iter().for_each(|warning| println!("  {warning}"));
        mechanism.notes().iter().for_each(|note| println!("  ({note})"));
        // Two rods on each leg, and in the whole one a slider along each shin.
        let whole = path.ends_with("cassie.sdf");
        assert_eq!(loops.len(), if whole { 6 } else { 4 }, "{}", path.display());
        let stiffness: Vec<f64> =
            mechanism.joints().iter().flat_map(|j| &j.freedoms).map(|f| f.stiffness).collect();
        assert_eq!(stiffness.iter().filter(|k| **k == 1500.0).count(), 2, "{}", path.display());
        assert_eq!(stiffness.iter().filter(|k| **k == 1250.0).count(), 2, "{}", path.display());
        assert_eq!(stiffness.iter().filter(|k| **k > 0.0).count(), 4);
        if whole {
            assert_eq!(mechanism.couplings().len(), 10);
            let coupling = mechanism.couplings()[0];
            let name = |j: JointId| mechanism[j].name.as_str();
            assert_eq!((name(coupling.joint), name(coupling.of)), ("left-roll-op", "left-roll-ip"));
            assert_eq!(coupling.ratio, -0.04);
        }
        assert!(mechanism.find_body("pelvis").is_some());
        let held = mechanism.order().tree_joint_of(mechanism.body_ids().next().unwrap()).is_some();
        assert!(held, "the root is fixed unless said otherwise");
        assert_round_trip(mechanism);
    }
    Ok(())
}
