//! Running the program, for all test files of this folder and those of `pliant-papers`.

pub mod json;
pub mod page;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

/// The program of the crate whose tests these are.
const PROGRAM: &str = match (option_env!("CARGO_BIN_EXE_pliant"), option_env!("CARGO_BIN_EXE_pliant-papers"))
{
    (Some(program), _) | (None, Some(program)) => program,
    (None, None) => panic!("tests of a crate with another program"),
};

/// A run of the program in an empty folder of its own.
pub struct Run {
    pub folder: PathBuf,
}

/// What came of a run.
pub struct Outcome {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Run {
    /// The folder is named after the test.
    pub fn new(test: &str) -> Run {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).expect("a folder to work in");
        Run { folder }
    }

    pub fn file(&self, name: &str, content: impl AsRef<[u8]>) -> &Run {
        fs::write(self.folder.join(name), content).expect("a file to read");
        self
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(PROGRAM);
        // Help texts wrap at the width of the terminal, of which there is none.
        command.args(arguments).current_dir(&self.folder).stdin(Stdio::null()).env("COLUMNS", "100");
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Outcome {
        let output = self.command(arguments).output().expect("the program runs");
        Outcome {
            code: output.status.code().expect("the program ends by itself"),
            out: String::from_utf8(output.stdout).expect("text"),
            err: String::from_utf8(output.stderr).expect("text"),
        }
    }

    /// The names of the gallery's mechanisms, scenes of contact left out.
    pub fn mechanisms(&self) -> Vec<String> {
        let list = self.json(&["list"], 0);
        let names = list.as_array().expect("a list").iter().map(|e| e["name"].as_str().expect("a name"));
        let scenes = [
            "-terrain", "-catch", "-grasp", "-pick", "-hole", "-heap", "-thin", "-thick", "-post", "-wrap",
            "-stands", "-carries", "soft-",
        ];
        let is_scene =
            |name: &&str| ["pad", "finger"].contains(name) || scenes.iter().any(|scene| name.contains(scene));
        names.filter(|name| !is_scene(name)).map(String::from).collect()
    }

    /// Runs with `--json`: one document on standard output, nothing on standard error.
    #[track_caller]
    pub fn json(&self, arguments: &[&str], code: i32) -> Value {
        let outcome = self.run(&[arguments, &["--json"]].concat());
        assert_eq!(outcome.err, "", "{arguments:?}");
        assert_eq!(outcome.code, code, "{arguments:?}: {}", outcome.out);
        serde_json::from_str(&outcome.out).expect("one JSON document")
    }

    /// Fails with this code and the same message for people and scripts, with these words in it.
    #[track_caller]
    pub fn fails(&self, arguments: &[&str], code: i32, words: &[&str]) {
        let outcome = self.run(arguments);
        assert_eq!((outcome.code, outcome.out.as_str()), (code, ""), "{arguments:?}: {}", outcome.err);
        assert!(outcome.err.starts_with("error: "), "{arguments:?}: {}", outcome.err);
        assert!(!outcome.err.starts_with("error: error: "), "{arguments:?}: {}", outcome.err);
        let document = self.json(arguments, code);
        let message = document["error"].as_str().expect("an error message");
        for word in words {
            assert!(outcome.err.contains(word), "{arguments:?}: `{word}` is not in {}", outcome.err);
            assert!(message.contains(word), "{arguments:?}: `{word}` is not in {message}");
        }
    }
}

/// A help text. Help teaches by example.
pub fn help(run: &Run, arguments: &[&str]) -> String {
    let outcome = run.run(arguments);
    assert_eq!((outcome.code, outcome.err.as_str()), (0, ""));
    assert!(outcome.out.contains("Examples:"), "help teaches by example");
    outcome.out
}

/// Help changes only on purpose. (Not every test file has a help text to check.)
pub fn snapshot_of_help(run: &Run, name: &str, arguments: &[&str]) {
    insta::with_settings!({ prepend_module_to_snapshot => false, snapshot_path => "../snapshots" }, {
        insta::assert_snapshot!(name, help(run, arguments));
    });
}

/// Does something with every item, two at a time, and gives back what came of each that came to something.
pub fn two_at_a_time<T: Sync, R: Send>(items: &[T], each: impl Fn(&T) -> Option<R> + Sync) -> Vec<R> {
    let next = std::sync::atomic::AtomicUsize::new(0);
    let work = || {
        let taken = std::iter::from_fn(|| items.get(next.fetch_add(1, std::sync::atomic::Ordering::Relaxed)));
        taken.filter_map(&each).collect::<Vec<R>>()
    };
    std::thread::scope(|scope| {
        let other = scope.spawn(work);
        let mut all = work();
        all.extend(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        all
    })
}
