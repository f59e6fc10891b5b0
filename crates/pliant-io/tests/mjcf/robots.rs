//! Real robots, and the small files, against MuJoCo itself.
//!
//! MuJoCo and the robots come from PyPI; where they cannot be had the tests say so and pass. All three
//! packages (250 MB) are compared with `PLIANT_ALL_ROBOTS=1`, otherwise the smallest.
//!
//! Conventions that differ: a mechanism's coordinate is MuJoCo's less `ref`; several joints of one body are one
//! joint or a chain with links of almost no mass; a world without bodies is no mechanism; a free body that an
//! equality joins to another hangs on it; a joint that an equality holds still is fixed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use crate::common::assert_round_trip;
use crate::features;
use crate::oracle::Answer;
use crate::wheels;

/// Packages, their versions, how many files they have, and how many of these at least are as in MuJoCo.
const PACKAGES: [(&str, &str, usize, usize); 3] =
    [("mujoco-mjx", "3.17.0", 38, 35), ("genesis-world", "1.4.5", 59, 43), ("robosuite", "1.5.2", 56, 49)];

/// Every MJCF file below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let is_mjcf =
        |path: &PathBuf| fs::read(path).is_ok_and(|bytes| bytes.windows(7).any(|w| w == b"<mujoco"));
    wheels::files(folder, "xml").into_iter().filter(is_mjcf).collect()
}

/// What a script of this folder prints; MuJoCo writes its log where it is started.
pub fn script(python: &Path, name: &str, arguments: &[PathBuf]) -> String {
    let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/mjcf").join(name);
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

/// A Python with MuJoCo, unless it cannot be had.
pub fn python() -> Option<PathBuf> {
    // Tests run side by side; one of them fetches.
    static PYTHON: OnceLock<Option<PathBuf>> = OnceLock::new();
    PYTHON.get_or_init(|| wheels::python("mujoco", "mujoco")).clone()
}

/// The packages that are compared, unpacked.
pub fn packages() -> Vec<(&'static str, PathBuf)> {
    static FOUND: OnceLock<Vec<(&str, PathBuf)>> = OnceLock::new();
    let find = || {
        let all = std::env::var_os("PLIANT_ALL_ROBOTS").is_some();
        let wanted = &PACKAGES[..if all { PACKAGES.len() } else { 1 }];
        wanted.iter().filter_map(|(name, version, ..)| Some((*name, wheels::wheel(name, version)?))).collect()
    };
    FOUND.get_or_init(find).clone()
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

#[test]
fn small_files_are_as_in_mujoco() {
    let Some(python) = python() else { return };
    let mut paths = files(&features::folder());
    paths.retain(|path| path.parent() == Some(&features::folder()));
    // A free body that is welded hangs on what it is welded to, and a joint that is held still is fixed.
    paths.retain(|path| !path.ends_with("equality.xml"));
    let answers = Answer::parse(&script(&python, "oracle.py", &paths));
    let (same, refused, _, wrong) = compare(&answers);
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert_eq!(paths.len(), 13);
    assert_eq!((same, refused), (paths.len(), 0), "{:#?}", answers.iter().find(|a| a.error.is_some()));
}

#[test]
fn real_robots_are_as_in_mujoco() {
    let Some(python) = python() else { return };
    for (name, folder) in packages() {
        let paths = files(&folder);
        let answers = Answer::parse(&script(&python, "oracle.py", &paths));
        let (same, refused, empty, wrong) = compare(&answers);
        let homes = answers.iter().filter(|answer| !answer.home.is_empty()).count();
        println!(
            "{name}: of {} files ({homes} start in `home`), {same} are as in MuJoCo, {} differ, {empty} have no bodies, MuJoCo refuses {refused}",
            paths.len(),
            wrong.len()
        );
        assert!(wrong.is_empty(), "{wrong:#?}");
        let (.., files, least) = PACKAGES.iter().find(|(package, ..)| *package == name).expect("one of them");
        assert_eq!((paths.len(), same + refused + empty), (*files, *files), "{name}");
        // Which files MuJoCo refuses depends on its version.
        assert!(same >= *least, "only {same} files of {name}");
    }
}
