//! Claim: the command line keeps its promises to people and to scripts. Exit codes are 0, 1 and 2
//! as documented; `--json` puts one JSON document on standard output and nothing elsewhere, on
//! failure too; errors say what would be right; help texts change only on purpose.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::Stdio;

use crate::common::{Run, snapshot_of_help};
use serde_json::Value;

/// One link on a hinge whose limits leave out the file's pose: legal, with a warning.
const ODD: &str = include_str!("scenes/odd-limits.toml");

fn read(run: &Run, name: &str) -> Option<String> {
    fs::read_to_string(run.folder.join(name)).ok()
}

/// Floats to nine significant digits, so that a last bit does not matter.
fn rounded(value: Value) -> Value {
    match value {
        Value::Number(n) if n.is_f64() => {
            let short: f64 = format!("{:.8e}", n.as_f64().expect("a float")).parse().expect("a float");
            short.into()
        }
        Value::Array(items) => items.into_iter().map(rounded).collect(),
        Value::Object(map) => map.into_iter().map(|(key, value)| (key, rounded(value))).collect(),
        other => other,
    }
}

#[test]
fn help() {
    let run = Run::new("help");
    for (name, arguments) in [
        ("help", vec!["--help"]),
        ("help_list", vec!["list", "--help"]),
        ("help_info", vec!["info", "--help"]),
        ("help_export", vec!["export", "--help"]),
        ("help_paper", vec!["paper", "--help"]),
        ("help_completions", vec!["completions", "--help"]),
    ] {
        snapshot_of_help(&run, name, &arguments);
    }
    // They are wrapped by hand: what is longer than a line of the program would be broken once more.
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/help");
    let files: Vec<_> =
        fs::read_dir(folder).expect("texts").map(|file| file.expect("a file").path()).collect();
    assert!(files.len() >= 10, "{}", files.len());
    for file in files {
        let text = fs::read_to_string(&file).expect("a text");
        let long = text.lines().find(|line| line.chars().count() > 100);
        assert_eq!(long, None, "{}", file.display());
    }
    assert_eq!(run.run(&["help", "info"]).out, run.run(&["info", "--help"]).out);
    let version = run.run(&["--version"]);
    assert_eq!((version.code, version.out), (0, format!("pliant {}\n", env!("CARGO_PKG_VERSION"))));
}

/// `paper` names the program that does its work, with the options that it had, too.
#[test]
fn paper_names_its_program() {
    let run = Run::new("paper");
    for arguments in [&["paper"][..], &["paper", "-o", "papers", "--quick"], &["paper", "--threads", "2"]] {
        run.fails(arguments, 2, &["`pliant-papers`", "cargo run --release -p pliant-papers -- -o papers"]);
    }
    assert!(!run.folder.join("papers").exists());
}

#[test]
fn list() {
    let run = Run::new("list");
    let outcome = run.run(&["list"]);
    assert_eq!((outcome.code, outcome.err.as_str()), (0, ""));
    insta::assert_snapshot!("list", outcome.out);
    let list = run.json(&["list"], 0);
    let entries = list.as_array().expect("a list");
    assert_eq!(outcome.out.lines().count(), entries.len() + 1, "one line each, and a head");
    for entry in entries {
        let mut keys: Vec<&String> = entry.as_object().expect("an object").keys().collect();
        keys.sort();
        assert_eq!(keys, ["about", "name"]);
    }
}

#[test]
fn info_of_every_gallery_entry() {
    let run = Run::new("info-gallery");
    let mut infos = serde_json::Map::new();
    for name in run.mechanisms() {
        let mut info = run.json(&["info", &name], 0);
        let springs = info.as_object_mut().expect("an object").remove("springs");
        assert_eq!(springs.is_some(), name == "dragged-arm", "{name}");
        let mut keys: Vec<&String> = info.as_object().expect("an object").keys().collect();
        keys.sort();
        assert_eq!(
            keys,
            [
                "bodies",
                "effectors",
                "freedoms",
                "joints",
                "loops",
                "mass",
                "name",
                "radius",
                "repeated",
                "warnings"
            ]
        );
        for key in ["bodies", "joints", "freedoms", "loops"] {
            assert!(info[key].is_u64(), "{name}: {key}");
        }
        for key in ["radius", "mass"] {
            assert!(info[key].as_f64().is_some_and(|x| x > 0.0), "{name}: {key}");
        }
        infos.insert(name, rounded(info));
    }
    insta::assert_snapshot!("info_of_the_gallery", format!("{:#}", Value::Object(infos)));
}

#[test]
fn info_for_people() {
    let run = Run::new("info");
    let outcome = run.file("odd.toml", ODD).run(&["info", "odd.toml"]);
    assert_eq!((outcome.code, outcome.err.as_str()), (0, ""));
    insta::assert_snapshot!("info", outcome.out);
    let outcome = run.run(&["info", "four-bar"]);
    let redundant = "redundant  3 constraints at loop joints C, closed by the other loops to 0.0005 of the radius: none left open\n";
    assert!(outcome.out.contains(redundant), "{}", outcome.out);
}

#[test]
fn sizes() {
    let run = Run::new("sizes");
    assert_eq!(run.json(&["info", "helix:400"], 0)["bodies"], 400);
    assert_eq!(run.json(&["info", "helix:400"], 0)["name"], "helix:400");
    run.fails(&["info", "helix:0"], 2, &["helix:0"]);
    run.fails(&["info", "helix:"], 2, &["helix:", "whole number"]);
    run.fails(&["info", "helix:-3"], 2, &["whole number"]);
    run.fails(&["info", "helix:1e3"], 2, &["whole number"]);
    run.fails(&["info", "helix:99999999999999999999999"], 2, &["too large"]);
    run.fails(&["info", "two-link:3"], 2, &["only one size"]);
}

#[test]
fn unknown_names() {
    let run = Run::new("unknown");
    run.fails(&["info", "helx"], 2, &["`helx`", "did you mean `helix`?", "gripper", "a path", "./helx.toml"]);
    run.fails(&["info", "helx:400"], 2, &["`helx`", "./helx.toml"]);
    run.fails(&["info", ""], 2, &["gallery"]);
    run.fails(&["export", "nothing-like-it", "-o", "-"], 2, &["gallery", "helix"]);
}

#[test]
fn bad_usage() {
    let run = Run::new("usage");
    let outcome = run.run(&[]);
    assert_eq!((outcome.code, outcome.out.as_str()), (2, ""));
    assert!(outcome.err.contains("Usage: pliant"));
    assert!(run.json(&[], 2)["error"].as_str().is_some_and(|e| e.contains("Usage")));
    run.fails(&["frobnicate"], 2, &["frobnicate"]);
    run.fails(&["info"], 2, &["<MECH>"]);
    run.fails(&["info", "helix", "extra"], 2, &["extra"]);
    run.fails(&["info", "helix", "--color"], 2, &["--color"]);
    run.fails(&["export", "helix"], 2, &["--output"]);
    run.fails(&["completions", "dos"], 2, &["bash", "zsh", "fish"]);
}

#[test]
fn bad_files() {
    let run = Run::new("files");
    run.fails(&["info", "missing.toml"], 2, &["missing.toml"]);
    run.fails(&["info", "MISSING.TOML"], 2, &["MISSING.TOML"]);
    run.fails(&["info", "./helix"], 2, &["./helix"]);
    run.fails(&["info", "./"], 2, &["directory"]);
    run.file("model.pliant", "").fails(
        &["info", "model.pliant"],
        2,
        &["model.pliant", "empty", "pliant reduce"],
    );
    run.fails(&["export", "chain", "-o", "new.pliant"], 2, &["new.pliant", "pliant reduce"]);
    run.file("chain", "").fails(&["info", "chain"], 2, &["`chain`", "no extension"]);
    run.file("bytes.toml", [0xff, 0xfe, 0x00]).fails(&["info", "bytes.toml"], 2, &["bytes.toml", "UTF-8"]);
    run.file("broken.toml", "[mechanism\n").fails(&["info", "broken.toml"], 2, &["broken.toml"]);
    let misspelt = ODD.replace("child = \"link\"", "child = \"lonk\"");
    run.file("misspelt.toml", misspelt);
    run.fails(&["info", "misspelt.toml"], 2, &["misspelt.toml", "lonk", "did you mean `link`?"]);
    run.fails(&["export", "misspelt.toml", "-o", "out.toml"], 2, &["misspelt.toml"]);
    assert_eq!(read(&run, "out.toml"), None, "nothing is written");
}

#[test]
fn strict_takes_warnings_for_errors() {
    let run = Run::new("strict");
    run.file("odd.toml", ODD);
    let info = run.json(&["info", "odd.toml"], 0);
    assert_eq!(info["warnings"].as_array().map(Vec::len), Some(1));
    run.fails(&["info", "odd.toml", "--strict"], 2, &["--strict", "joint `pivot` starts outside its limits"]);
    run.fails(&["--strict", "export", "odd.toml", "-o", "out.toml"], 2, &["pivot"]);
    assert_eq!(read(&run, "out.toml"), None, "nothing is written");
    assert_eq!(run.json(&["info", "odd.toml", "--strict"], 2)["warnings"], info["warnings"]);
    assert_eq!(run.run(&["info", "gripper", "--strict"]).code, 0);
}

#[test]
fn export() {
    let run = Run::new("export");
    run.file("odd.toml", ODD);
    let outcome = run.run(&["export", "odd.toml", "-o", "out.toml"]);
    assert_eq!((outcome.code, outcome.out.as_str()), (0, "wrote out.toml\n"));
    assert!(outcome.err.starts_with("warning: joint `pivot`"), "{}", outcome.err);
    let written = read(&run, "out.toml").expect("a file");
    let printed = run.run(&["export", "odd.toml", "-o", "-"]);
    assert_eq!((printed.code, printed.out.as_str()), (0, written.as_str()));
    let document = run.json(&["export", "odd.toml", "-o", "-"], 0);
    assert_eq!(document["scene"], written.as_str());
    let document = run.json(&["export", "two-link", "-o", "out.toml"], 0);
    assert_eq!((&document["file"], &document["name"]), (&"out.toml".into(), &"two-link".into()));
    assert!(read(&run, "out.toml").is_some_and(|text| text.contains("two-link")), "replaced");
    run.fails(&["export", "helix", "-o", "nowhere/out.toml"], 1, &["cannot write `nowhere/out.toml`"]);
    run.fails(&["export", "helix", "-o", "out.urdf"], 2, &["out.urdf", ".toml"]);
}

/// Exported and read again, every gallery entry is the same mechanism and is written the same.
#[test]
fn export_round_trips() {
    let run = Run::new("round-trip");
    for name in run.mechanisms() {
        let first = run.run(&["export", &name, "-o", "-"]);
        assert_eq!((first.code, first.err.as_str()), (0, ""), "{name}");
        let second = run.file("again.toml", &first.out).run(&["export", "again.toml", "-o", "-"]);
        assert_eq!((second.code, second.out), (0, first.out), "{name}");
        assert_eq!(run.json(&["info", "again.toml"], 0), run.json(&["info", &name], 0));
    }
}

#[test]
fn completions() {
    let run = Run::new("completions");
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let outcome = run.run(&["completions", shell]);
        assert_eq!((outcome.code, outcome.err.as_str()), (0, ""));
        assert!(outcome.out.contains("pliant") && outcome.out.contains("export"), "{shell}");
        let document = run.json(&["completions", shell], 0);
        assert_eq!((&document["shell"], &document["script"]), (&shell.into(), &outcome.out.into()));
    }
}

/// A reader that stops reading, such as `head`, is no failure and no panic.
#[test]
fn a_closed_pipe_is_no_failure() {
    let run = Run::new("pipe");
    let mut child = run
        .command(&["export", "chain:20000", "-o", "-"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program runs");
    let mut first = String::new();
    BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut first).expect("a line");
    let output = child.wait_with_output().expect("the program ends");
    assert_eq!(first, "[mechanism]\n");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_eq!(output.status.code(), Some(0));
}

/// An output that takes nothing any more is one.
#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_a_failure() {
    let run = Run::new("full");
    for arguments in [&["list"][..], &["info", "helix", "--json"]] {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("a full device");
        let output = run.command(arguments).stdout(full).output().expect("the program runs");
        assert_eq!(output.status.code(), Some(1));
    }
}
