//! Opening pages in a browser.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::common::Run;
use crate::trial::{Absent, Found};

/// How long a page may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// Opens pages that must have a plot and leave the console empty.
pub fn check_in_browser(run: &Run, pages: impl FnOnce() -> Vec<PathBuf>) -> Found<()> {
    let browser = browser()?;
    run.file("broken.html", "<!DOCTYPE html><script>nothing.there();</script><p>broken</p>");
    // What would be seen if something were wrong.
    let (log, dom) = open(&browser, &run.folder, &run.folder.join("broken.html"));
    assert!(dom.contains("broken"), "the browser shows no page: {log}");
    assert!(!console(&log).is_empty(), "an error does not show: {log}");
    for page in pages() {
        let (log, dom) = open(&browser, &run.folder, &page);
        assert_eq!(console(&log), [""; 0], "{}", page.display());
        assert!(dom.contains("<svg"), "{} has no plot: {log}", page.display());
    }
    Ok(())
}

/// The browser, if there is one.
pub fn browser() -> Found<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let files = std::env::split_paths(&path).flat_map(|folder| names.map(|name| folder.join(name)));
    let found = files.into_iter().find(|file| file.is_file());
    found.ok_or_else(|| Absent("there is no chromium, chromium-browser or google-chrome on PATH".into()))
}

/// Opens a page and gives what the browser logs and the page as it then is.
fn open(browser: &Path, folder: &Path, page: &Path) -> (String, String) {
    let [log, dom] = ["browser.log", "browser.html"].map(|name| folder.join(name));
    let file = |path: &Path| Stdio::from(fs::File::create(path).expect("a file"));
    let mut child = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-dev-shm-usage"])
        .args(["--use-angle=swiftshader", "--enable-unsafe-swiftshader"])
        .args(["--enable-logging=stderr", "--virtual-time-budget=2000", "--dump-dom"])
        .arg(format!("--user-data-dir={}", folder.join("profile").display()))
        .arg(format!("file://{}", page.display()))
        .stdin(Stdio::null())
        .stdout(file(&dom))
        .stderr(file(&log))
        .spawn()
        .expect("the browser starts");
    let start = Instant::now();
    while child.try_wait().expect("a child").is_none() {
        if start.elapsed() > PATIENCE {
            let _ = child.kill();
            let _ = child.wait();
            panic!("{} takes more than {PATIENCE:?} to open", page.display());
        }
        thread::sleep(Duration::from_millis(50));
    }
    [log, dom]
        .map(|path| String::from_utf8_lossy(&fs::read(path).expect("what it wrote")).into_owned())
        .into()
}

/// What pages and their scripts say on the console; not that pictures are read back, as a browser without a screen does.
fn console(log: &str) -> Vec<&str> {
    log.lines().filter(|line| line.contains("CONSOLE") && !line.contains("GL Driver Message")).collect()
}
