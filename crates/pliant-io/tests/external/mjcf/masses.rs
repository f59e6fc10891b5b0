//! Claim: every robot file of five packages that MuJoCo loads, MJCF or URDF, loads here, with its mass to 1e-6; and where it
//! starts its couplings, equalities and loops hold to 1e-9. The exceptions are named.

use std::fs;
use std::path::PathBuf;

use super::robots::{GENESIS, MJX, Package, ROBOSUITE, python, script};
use crate::trial::{Found, trial};
use crate::wheels;
use libtest_mimic::Trial;
use pliant_core::engine::State;
use pliant_core::mechanism::Mechanism;

const EXAMPLES: Package = || wheels::wheel("example-robot-data", "5.0.0");
const PYBULLET: Package = || wheels::large_wheel("pybullet", "3.2.7");

/// Packages, and how many of their files at least MuJoCo loads; which ones depends on its version.
const PACKAGES: [(&str, Package, usize); 5] = [
    ("example-robot-data", EXAMPLES, 45),
    ("mujoco-mjx", MJX, 35),
    ("genesis-world", GENESIS, 60),
    ("robosuite", ROBOSUITE, 50),
    ("pybullet", PYBULLET, 80),
];

/// Links without <inertial> have no mass by the words of URDF; MuJoCo gives them that of their shapes.
const WITHOUT_INERTIA: [&str; 1] = ["go2/urdf/go2.urdf"];

pub fn trials() -> Vec<Trial> {
    PACKAGES
        .map(|(name, package, least)| {
            trial(format!("mjcf::masses::{name}"), move || {
                masses_are_those_of_mujoco(name, package()?, least)
            })
        })
        .into()
}

fn masses_are_those_of_mujoco(name: &str, folder: PathBuf, least: usize) -> Found<()> {
    let python = python()?;
    let is_mjcf =
        |path: &PathBuf| fs::read(path).is_ok_and(|bytes| bytes.windows(7).any(|word| word == b"<mujoco"));
    let mut paths: Vec<PathBuf> = wheels::files(&folder, "xml").into_iter().filter(is_mjcf).collect();
    // A thousand blocks with one inertia, which MuJoCo refuses.
    paths.extend(
        wheels::files(&folder, "urdf")
            .into_iter()
            .filter(|path| !path.to_string_lossy().contains("random_urdfs")),
    );
    let answers = script(&python, "masses.py", &paths);
    assert_eq!(answers.lines().count(), paths.len());
    let (mut same, mut empty, mut wrong, mut worst) = (0, 0, Vec::new(), 0.0f64);
    for (path, answer) in paths.iter().zip(answers.lines()) {
        let Ok(mass) = answer.parse::<f64>() else { continue };
        let what = path.display();
        match pliant_io::load(path) {
            // A world without bodies is no mechanism.
            Err(error) if mass == 0.0 && error.to_string().contains("the file has no links") => empty += 1,
            Err(error) => wrong.push(format!("{what}: {error}")),
            Ok(mechanism) => {
                let open = gap(&mechanism);
                worst = worst.max(open);
                if open > 1e-9 {
                    wrong.push(format!("{what}: starts {open:e} open"));
                }
                let found = mechanism.mass();
                let named = WITHOUT_INERTIA.iter().any(|end| path.ends_with(end));
                if ((found - mass).abs() <= 1e-6 * mass) == named {
                    wrong.push(format!("{what}: {found} kg instead of {mass}"));
                }
                same += 1;
            }
        }
    }
    println!(
        "{name}: of {} files, {same} have MuJoCo's mass and start at most {worst:.1e} open, {} differ, {empty} have no bodies",
        paths.len(),
        wrong.len()
    );
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(same >= least, "only {same} files of {name}");
    Ok(())
}

/// How far loops and couplings are open where a mechanism starts, m or rad.
fn gap(mechanism: &Mechanism) -> f64 {
    let start = State::at_rest(mechanism);
    let coupled = (mechanism.couplings().iter())
        .map(|coupling| {
            let [q, p] =
                [coupling.joint, coupling.of].map(|j| start.coordinates_of(mechanism, j).unwrap()[0]);
            (q - coupling.ratio * p - coupling.offset).abs()
        })
        .fold(0.0, f64::max);
    let parted = (mechanism.joints().iter())
        .map(|joint| {
            let X = start.relative_pose(mechanism, joint);
            let q = joint.kind.coordinates(&X, &start.coordinates[joint.coordinates()]);
            let held = joint.kind.transform(&q.as_slice()[..joint.kind.freedoms()]);
            // The angle of a quaternion loses half its digits near zero; its entries do not.
            let sign = X.rotation.coords.dot(&held.rotation.coords).signum();
            let turned = 2.0 * (X.rotation.coords - held.rotation.coords * sign).norm();
            (X.position - held.position).norm().max(turned)
        })
        .fold(0.0, f64::max);
    coupled.max(parted)
}
