//! Springs of the file, against MuJoCo: where it settles, how soft its effectors are there, and how it moves.

use std::fs;
use std::path::{Path, PathBuf};

use pliant_core::engine::{Simulation, State, StaticsSettings};
use pliant_core::full;
use pliant_core::linear::{Linearisation, Reference};
use pliant_core::mechanism::Mechanism;
use pliant_core::nalgebra::{Matrix6, Quaternion, UnitQuaternion, Vector3, Vector6};
use pliant_core::spatial::Pose;

use super::robots::{self, GENESIS, Package, ROBOSUITE};
use crate::trial::{Found, trial};
use libtest_mimic::Trial;

/// How near MuJoCo's answer must be.
const NEAR: f64 = 0.01;

/// Words of a file, and what stands in their place.
type Changes<'a> = &'a [(&'a str, &'a str)];

fn pose(x: &[f64]) -> Pose {
    let rotation = UnitQuaternion::new_normalize(Quaternion::new(x[3], x[4], x[5], x[6]));
    Pose::new(rotation, Vector3::new(x[0], x[1], x[2]))
}

/// The compliance of an effector where the mechanism settles, world axes at its origin, and its pose there.
fn compliance(mechanism: &Mechanism, effector: &str) -> (Matrix6<f64>, Pose) {
    let mut simulation = full::Model::new(mechanism).simulate();
    let equilibrium = simulation.settle(&StaticsSettings::default()).unwrap();
    assert!(equilibrium.converged && equilibrium.stable, "{equilibrium:?}");
    let at = simulation.effector_pose(simulation.effector(effector).unwrap()).unwrap();
    let reference = Reference::at_equilibrium(&mut simulation);
    let projection = Linearisation::at(reference).effectors([effector]).project().unwrap();
    let mut turn = Matrix6::zeros();
    let R = at.rotation_matrix();
    turn.fixed_view_mut::<3, 3>(0, 0).copy_from(&R);
    turn.fixed_view_mut::<3, 3>(3, 3).copy_from(&R);
    let C = projection.compliance();
    (turn * Matrix6::from_fn(|i, j| C[(i, j)]) * turn.transpose(), at)
}

/// Where all bodies are, twenty times in one second from rest.
fn moved(mechanism: &Mechanism) -> Vec<Vec<Pose>> {
    let mut simulation = full::Model::new(mechanism).simulate();
    (0..20)
        .map(|_| {
            for _ in 0..500 {
                simulation.step(1e-4).unwrap();
            }
            simulation.poses().map(|(_, pose)| pose).collect()
        })
        .collect()
}

/// Compares one file, some of its words replaced, at one effector.
fn check(python: &Path, file: PathBuf, effector: &str, changes: Changes) {
    let mut text = fs::read_to_string(&file).unwrap();
    for (old, new) in changes {
        assert!(text.contains(old), "{old}");
        text = text.replace(old, new);
    }
    let mechanism = pliant_io::import::read(&text, &file.display().to_string(), &Default::default())
        .unwrap_or_else(|error| panic!("{error}"));
    let name = file.file_name().unwrap().to_string_lossy().into_owned();
    let (C, at) = compliance(&mechanism, effector);
    // Loads that move the effector by about a thousandth of the mechanism.
    let reach = mechanism.radius().max(1e-3);
    let scale = Vector6::from_fn(|i, _| C[(i, i)].max(0.0).sqrt());
    let moves = (0..3).map(|i| C[(i, i)]).fold(0.0, f64::max);
    // A turn counts by what it moves at the mechanism's size.
    let turns = (3..6).map(|i| C[(i, i)]).fold(moves / (reach * reach), f64::max);
    let size = |i: usize| {
        let (unit, most) = if i < 3 { (reach, moves) } else { (1.0, turns) };
        if C[(i, i)] > 1e-6 * most { 1e-3 * unit / most } else { 0.0 }
    };
    let mut arguments = vec![file, PathBuf::from(effector)];
    arguments.extend((0..6).map(|i| PathBuf::from(size(i).to_string())));
    arguments.extend(changes.iter().flat_map(|(old, new)| [PathBuf::from(old), PathBuf::from(new)]));
    let text = robots::script(python, "springs.py", &arguments);
    let lines = |word: &str| -> Vec<Vec<f64>> {
        let rows = text.lines().filter_map(|line| line.strip_prefix(word));
        rows.map(|row| row.split_whitespace().map(|x| x.parse().unwrap()).collect()).collect()
    };
    let settled = pose(&lines("site ")[0]);
    let off = (settled.position - at.position).norm() / reach;
    let columns = lines("column ");
    let mut worst: f64 = 0.0;
    for j in (0..6).filter(|j| size(*j) > 0.0) {
        for i in 0..6 {
            let floor = scale[j] * if i < 3 { moves.sqrt() } else { turns.sqrt() };
            worst = worst.max((columns[j][i] - C[(i, j)]).abs() / floor);
        }
    }
    let expected = lines("pose ");
    let (mut apart, mut way): (f64, f64) = (0.0, 0.0);
    let start = State::at_rest(&mechanism).poses;
    for (expected, found) in expected.chunks(expected.len() / 20).zip(moved(&mechanism)) {
        for ((expected, found), start) in expected.iter().zip(found).zip(&start) {
            let expected = pose(expected);
            apart = apart.max((expected.position - found.position).norm());
            apart = apart.max(reach * expected.rotation.angle_to(&found.rotation));
            way = way.max((expected.position - start.position).norm());
            way = way.max(reach * expected.rotation.angle_to(&start.rotation));
        }
    }
    println!(
        "{name}: settles within {off:.1e} of its size, compliance within {worst:.1e}, motion within {:.1e} of the way",
        apart / way
    );
    assert!(off < NEAR, "{name}: settles {off} away");
    assert!(worst < NEAR, "{name}: {C:.3e} against {columns:?}");
    assert!(apart < NEAR * way, "{name}: {apart} off on a way of {way}");
}

pub fn trials() -> Vec<Trial> {
    let real = |name: &str, package: Package, files: &'static [(&str, &str, Changes)]| {
        trial(format!("mjcf::springs::{name}"), move || {
            robots_settle_and_move_as_in_mujoco(&package()?, files)
        })
    };
    vec![
        trial("mjcf::springs::small_files", small_files_settle_and_move_as_in_mujoco),
        real("genesis-world", GENESIS, &ARMS),
        real("robosuite", ROBOSUITE, &HANDS),
    ]
}

fn small_files_settle_and_move_as_in_mujoco() -> Found<()> {
    let python = robots::python()?;
    for (file, effector) in [("four_bar.xml", "tip"), ("springs.xml", "tip"), ("hand.xml", "right")] {
        check(&python, robots::folder().join(file), effector, &[]);
    }
    Ok(())
}

/// Limits are soft in MuJoCo, and the file's pose is outside some: they get room.
const ELBOW: (&str, &str) = (r#" range="-3.0718 -0.0698""#, r#" range="-9 9""#);
const FINGER: (&str, &str) = (r#" range="0 0.04""#, r#" range="-1 1""#);
/// A default class has an attribute that there is none of, which MuJoCo does not take.
const PLAIN: (&str, &str) = (r#"class="xarm7_hand" group="1""#, r#"class="xarm7_hand""#);
/// Dry friction would hold it where it starts; MuJoCo's is soft, and is off.
const SMOOTH: (&str, &str) = (r#"frictionloss="1""#, r#"frictionloss="0""#);

/// File, effector and changes.
const ARMS: [(&str, &str, Changes); 3] = [
    ("genesis/assets/xml/franka_emika_panda/panda_nohand.xml", "attachment_site", &[ELBOW]),
    ("genesis/assets/xml/franka_emika_panda/panda.xml", "left_finger", &[ELBOW, FINGER]),
    ("genesis/assets/xml/universal_robots_ur5e/ur5e.xml", "attachment_site", &[]),
];
const HANDS: [(&str, &str, Changes); 2] = [
    ("robosuite/models/assets/grippers/xarm7_gripper.xml", "left_finger", &[PLAIN, SMOOTH]),
    ("robosuite/models/assets/grippers/inspire_right_hand.xml", "site_r_index_distal", &[]),
];

fn robots_settle_and_move_as_in_mujoco(folder: &Path, files: &[(&str, &str, Changes)]) -> Found<()> {
    let python = robots::python()?;
    for (file, effector, changes) in files {
        check(&python, folder.join(file), effector, changes);
    }
    Ok(())
}
