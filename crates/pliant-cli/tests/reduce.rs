//! Claim: `pliant reduce` writes a model of the error that was asked for, the same for the same seed, or says what
//! limits it; the file takes the place of the mechanism in every command; and a damaged one is refused.

use std::fs;

use crate::common::{Run, snapshot_of_help};
use serde_json::Value;

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().expect("an object").keys().map(String::as_str).collect()
}

/// A small model, made in a moment.
fn small(run: &Run, file: &str) -> Value {
    run.json(&["reduce", "y", "--displacement", "0.4", "--max-error", "0.02", "-o", file], 0)
}

#[test]
fn help() {
    snapshot_of_help(&Run::new("reduce-help"), "help_reduce", &["reduce", "--help"]);
}

#[test]
fn it_writes_what_was_asked_for() {
    let run = Run::new("reduce");
    let document = small(&run, "y.pliant");
    assert_eq!(
        keys(&document),
        [
            "bound",
            "bytes",
            "displacement",
            "error",
            "estimate",
            "file",
            "held_out",
            "held_out_median",
            "limit",
            "models",
            "out_of_reach",
            "seconds",
            "seed",
            "snapped",
            "tested",
            "unusable",
            "warnings",
            "worst",
        ]
    );
    assert!(document["models"].as_u64().is_some_and(|n| (1..=64).contains(&n)));
    for key in ["error", "held_out"] {
        assert!(number(&document[key]) <= 0.02, "{key}");
    }
    assert!(document["limit"].is_null());
    assert_eq!(keys(&document["worst"]["loads"]).len(), 2, "of each effector");
    let bytes = fs::read(run.folder.join("y.pliant")).expect("a file");
    assert_eq!(document["bytes"], bytes.len() as u64);

    // The same seed, the same file; another, another.
    small(&run, "again.pliant");
    assert!(fs::read(run.folder.join("again.pliant")).expect("a file") == bytes);

    // What is in it.
    let mut info = run.json(&["info", "y.pliant"], 0);
    let plain = run.json(&["info", "y"], 0);
    for (key, other) in
        [("models", "models"), ("error", "error"), ("held_out", "held_out"), ("bound", "bound")]
    {
        assert_eq!(info[key], document[other], "{key}");
    }
    for key in ["models", "error", "held_out", "bound", "displacement", "seed"] {
        info.as_object_mut().expect("an object").remove(key);
    }
    assert_eq!(info, plain, "and all that is known of its mechanism");

    // Statics of the blend, under its own names, near the exact answer.
    let load = ["--load", "left=100,0,0"];
    let blend = run.json(&[&["statics", "y.pliant"], &load[..]].concat(), 0);
    let exact = run.json(&[&["statics", "y.pliant", "--engine", "full"], &load[..]].concat(), 0);
    assert_eq!(
        keys(&blend),
        [
            "bodies",
            "converged",
            "effectors",
            "estimate",
            "iterations",
            "joints",
            "models",
            "residual",
            "warnings"
        ]
    );
    assert_eq!(exact, run.json(&[&["statics", "y"], &load[..]].concat(), 0));
    assert_eq!((&blend["converged"], &blend["models"]), (&true.into(), &document["models"]));
    assert_eq!(keys(&blend["effectors"]), keys(&exact["effectors"]));
    let radius = number(&plain["radius"]);
    for (name, pose) in blend["effectors"].as_object().expect("effectors") {
        for k in 0..3 {
            let off = number(&pose["position"][k]) - number(&exact["effectors"][name]["position"][k]);
            assert!(off.abs() < 0.02 * radius, "{name}: {off}");
        }
    }
    assert!(number(&blend["estimate"]) < 0.02);

    // By default it moves by the blend; the same as when that is asked for.
    let more = ["--duration", "0.1", "--dt", "0.01", "--scene-load"];
    let mut moved = run.json(&[&["simulate", "y.pliant"], &more[..]].concat(), 0);
    let mut named = run.json(&[&["simulate", "y.pliant", "--engine", "blended"], &more[..]].concat(), 0);
    for document in [&mut moved, &mut named] {
        assert_eq!(document["engine"], "blended");
        for key in ["time_per_step_us", "p99_us", "engine_why"] {
            document.as_object_mut().expect("an object").remove(key);
        }
    }
    assert_eq!(moved, named);
    assert_eq!(moved["models"], document["models"]);
    assert!(number(&moved["estimate"]) >= 0.0);
    let full = run.json(&[&["simulate", "y.pliant", "--engine", "full"], &more[..]].concat(), 0);
    assert!(full.get("estimate").is_none());

    // The other commands take its mechanism.
    assert_eq!(run.json(&["compliance", "y.pliant"], 0), run.json(&["compliance", "y"], 0));
    let scenes = ["y.pliant", "y"].map(|name| run.run(&["export", name, "-o", "-"]).out);
    assert_eq!(scenes[0], scenes[1]);
}

#[test]
fn people_get_a_table_and_advice() {
    let run = Run::new("reduce-people");
    let outcome = run.run(&["reduce", "two-link", "--displacement", "0.2", "-o", "two.pliant"]);
    assert_eq!(outcome.code, 0, "{}", outcome.err);
    assert!(outcome.err.starts_with("warning: with "), "{}", outcome.err);
    assert!(outcome.err.contains("`simulate --engine articulated`"), "{}", outcome.err);
    assert_eq!(outcome.err.matches("nothing is reduced").count(), 1, "once: {}", outcome.err);
    for words in ["models", "held out", "of the radius", "bound", "wrote two.pliant ("] {
        assert!(outcome.out.contains(words), "`{words}` is not in\n{}", outcome.out);
    }
    let info = run.run(&["info", "two.pliant"]).out;
    for words in ["models", "held out", "up to a displacement of 0.2"] {
        assert!(info.contains(words), "`{words}` is not in\n{info}");
    }
    let statics = run.run(&["statics", "two.pliant"]).out;
    assert!(statics.contains("estimate") && statics.contains("models"), "{statics}");
    let bench = run.json(&["bench", "two.pliant"], 0);
    let engines: Vec<&Value> = bench.as_array().expect("a list").iter().map(|line| &line["engine"]).collect();
    assert!(engines.contains(&&"blended".into()), "{engines:?}");
}

#[test]
fn a_bound_that_is_not_met_is_a_failed_job_with_the_best_model() {
    let run = Run::new("reduce-bound");
    let asked =
        ["reduce", "y", "--force", "blend", "--max-error", "1e-6", "--most-models", "3", "-o", "y.pliant"];
    let outcome = run.run(&asked);
    assert_eq!((outcome.code, outcome.out.as_str()), (1, ""), "{}", outcome.err);
    for words in ["not within the bound", "3 models", "--most-models", "--load left=", "y.pliant"] {
        assert!(outcome.err.contains(words), "`{words}` is not in {}", outcome.err);
    }
    let document = run.json(&asked, 1);
    assert_eq!((&document["models"], &document["limit"]), (&3.into(), &"models".into()));
    assert!(number(&document["held_out"]) > 1e-6);
    // Where the blend does not come to rest, the estimate is not finite, and so null.
    assert!(document["estimate"].is_null() || number(&document["estimate"]) > 1e-6);
    assert!(number(&document["worst"]["displacement"]) > 0.0);
    assert_eq!(run.json(&["info", "y.pliant"], 0)["models"], 3);
    // Far beyond its samples it says so, or does not come to rest: never a wrong answer in silence.
    let far = run.run(&["statics", "y.pliant", "--load", "left=1e5,0,0", "--json"]);
    let far_document: Value = serde_json::from_str(&far.out).expect("a document");
    match far.code {
        0 => assert!(far_document["warnings"].as_array().is_some_and(|w| !w.is_empty())),
        code => assert_eq!((code, &far_document["converged"]), (1, &false.into())),
    }
}

#[test]
fn the_best_model_there_was_time_for() {
    let run = Run::new("reduce-time");
    // No time at all: the unloaded equilibrium, of unknown error.
    let asked = ["reduce", "helix:50", "--max-seconds", "1e-6", "-o", "none.pliant"];
    run.fails(
        &asked,
        1,
        &[
            "not within the bound",
            "1 model ",
            "not be tested",
            "the time",
            "--max-seconds",
            "no load was found",
        ],
    );
    // What is known at once is told at once, before the error.
    let told = run.run(&["reduce", "y", "--max-seconds", "1e-6", "-o", "none.pliant"]).err;
    assert!(told.starts_with("warning: with 6 freedoms and 2 effectors nothing is reduced"), "{told}");
    assert_eq!(
        (told.matches("nothing is reduced").count(), told.matches("unknown").count()),
        (1, 0),
        "{told}"
    );
    let document = run.json(&asked, 1);
    assert_eq!((&document["models"], &document["limit"]), (&1.into(), &"time".into()));
    assert!(document["held_out"].is_null() && document["tested"] == 0);
    assert_eq!(run.json(&["info", "none.pliant"], 0)["models"], 1);
    // Some, for a bound that is out of reach: it ends in time, with an error that is known.
    let some = ["reduce", "y", "--max-error", "1e-7", "--most-models", "1000", "--max-seconds", "4"];
    let document = run.json(&[&some[..], &["-o", "some.pliant"]].concat(), 1);
    assert_eq!(document["limit"], "time");
    assert!(document["tested"].as_u64().is_some_and(|n| n > 0), "{document}");
    // One more equilibrium than there was time for, and the file.
    assert!((2.9..40.0).contains(&number(&document["seconds"])), "{}", document["seconds"]);
    assert_eq!(run.json(&["info", "some.pliant"], 0)["models"], document["models"]);
}

/// What the reader of a robot said of it is in the file, too; and an effector that no load moves is told.
#[test]
fn warnings_of_an_import_are_kept() {
    let run = Run::new("reduce-import");
    run.file(
        "arm.urdf",
        "<robot name=\"arm\">\n\
         <link name=\"base\"/>\n\
         <link name=\"tip\"><inertial><mass value=\"2\"/><inertia ixx=\"1\" iyy=\"1\" izz=\"1\" ixy=\"0\" ixz=\"0\" \
         iyz=\"0\"/></inertial></link>\n\
         <joint name=\"elbow\" type=\"continuous\"><parent link=\"base\"/><child link=\"tip\"/><dynamics \
         friction=\"-1\"/></joint>\n</robot>\n",
    );
    let document = run.json(&["reduce", "arm.urdf", "-o", "arm.pliant"], 1);
    assert_eq!((&document["limit"], &document["models"]), (&"loads".into(), &1.into()));
    let (plain, model) = (run.json(&["info", "arm.urdf"], 0), run.json(&["info", "arm.pliant"], 0));
    assert_eq!(plain["warnings"].as_array().map(Vec::len), Some(1));
    for key in ["warnings", "notes"] {
        assert_eq!(model[key], plain[key], "{key}");
    }
    run.fails(&["info", "arm.pliant", "--strict"], 2, &["friction"]);
}

#[test]
fn bad_input() {
    let run = Run::new("reduce-input");
    let fails = |more: &[&str], words: &[&str]| {
        run.fails(&[&["reduce", "y", "-o", "y.pliant"], more].concat(), 2, words);
    };
    for bad in ["0", "-0.1", "nan", "inf", "small"] {
        fails(&["--max-error", bad], &["--max-error", "radii above zero"]);
        fails(&["--displacement", bad], &["--displacement", "radii above zero"]);
    }
    for bad in ["0", "-1", "nan", "soon"] {
        fails(&["--max-seconds", bad], &["--max-seconds", "seconds above zero"]);
    }
    fails(&["--most-models", "0"], &["--most-models"]);
    fails(&["--seed", "-1"], &["--seed"]);
    run.fails(&["reduce", "y"], 2, &["--output"]);
    run.fails(&["reduce", "y", "-o", "y.toml"], 2, &["y.toml", ".pliant"]);
    run.fails(&["reduce", "y", "-o", "nowhere/y.pliant"], 1, &["nowhere/y.pliant", "no folder `nowhere`"]);
    fs::create_dir(run.folder.join("folder.pliant")).expect("a folder");
    run.fails(&["reduce", "y", "-o", "folder.pliant"], 1, &["folder.pliant", "directory"]);
    run.fails(&["reduce", "hexapod", "-o", "y.pliant"], 2, &["free base", "`motions`"]);
    run.fails(&["reduce", "hexapod-terrain", "-o", "y.pliant"], 2, &["free base", "`motions`"]);
    let scene = run.run(&["export", "y", "-o", "-"]).out;
    let blunt = scene.split("[[effector]]").next().expect("a scene");
    run.file("blunt.toml", blunt).fails(
        &["reduce", "blunt.toml", "-o", "y.pliant"],
        2,
        &["no effector", "[[effector]]"],
    );
    assert!(!run.folder.join("y.pliant").exists(), "bad input leaves no file");
}

/// An object that a hand may grasp is no free base: the model is that of the hand, and says what it leaves out.
#[test]
fn loose_bodies_are_left_to_contact() {
    let run = Run::new("reduce-loose");
    let asked =
        ["reduce", "gripper-pick", "--displacement", "0.05", "--max-seconds", "4", "-o", "pick.pliant"];
    let outcome = run.run(&[&asked[..], &["--json"]].concat());
    let document: Value = serde_json::from_str(&outcome.out).expect("a document");
    assert!(number(&document["models"]) >= 1.0, "{document}");
    let warnings = document["warnings"].as_array().expect("warnings");
    assert!(warnings.iter().any(|w| w.as_str().is_some_and(|w| w.contains("block"))), "{warnings:?}");
    let [model, scene] = ["pick.pliant", "gripper-pick"].map(|name| run.json(&["info", name], 0));
    assert_eq!(number(&model["bodies"]) + number(&scene["loose_bodies"]), number(&scene["bodies"]));
}

#[test]
fn a_damaged_file_is_refused_by_every_command() {
    let run = Run::new("reduce-damaged");
    small(&run, "y.pliant");
    let whole = fs::read(run.folder.join("y.pliant")).expect("a file");
    let mut flipped = whole.clone();
    flipped[whole.len() / 3] ^= 0x20;
    run.file("flipped.pliant", flipped)
        .file("cut.pliant", &whole[..whole.len() - 9])
        .file("empty.pliant", "");
    for (file, words) in
        [("flipped.pliant", "damaged"), ("cut.pliant", "cut short"), ("empty.pliant", "it is empty")]
    {
        for command in [
            &["info", file][..],
            &["statics", file],
            &["simulate", file, "--duration", "1", "--dt", "0.1"],
            &["compare", file],
            &["compliance", file],
            &["bench", file],
        ] {
            run.fails(command, 2, &[file, words]);
        }
    }
}

#[test]
fn a_mechanism_can_be_blended_without_a_file() {
    let run = Run::new("reduce-at-once");
    let outcome = run.run(&["statics", "two-link", "--engine", "blended", "--scene-load"]);
    assert_eq!(outcome.code, 0, "{}", outcome.err);
    assert!(outcome.err.contains("`pliant reduce` makes them once for all"), "{}", outcome.err);
    let blended = ["simulate", "two-link", "--engine", "blended", "--duration", "0.1", "--dt", "0.01"];
    let document = run.json(&blended, 0);
    assert!(document["models"].as_u64().is_some_and(|n| n > 1));
    run.fails(&[&blended[..], &["--modes", "1"]].concat(), 2, &["--modes", "`reduced`", "`blended`"]);
    run.fails(&[&blended[..], &["--load", "tipp=1,2,3"]].concat(), 2, &["`tipp`"]);
    run.fails(&["statics", "hexapod", "--engine", "blended"], 2, &["free base"]);
}

/// In motion the estimate of a blend is its error, and can be beyond what the model was made for.
#[test]
fn what_the_estimate_is_in_motion() {
    let run = Run::new("reduce-estimate");
    run.json(&["reduce", "y", "--displacement", "0.1", "--max-error", "1e-2", "-o", "y.pliant"], 0);
    let far = ["simulate", "y.pliant", "--duration", "0.1", "--dt", "0.01", "--load", "left=300,0,0"];
    let document = run.json(&far, 0);
    assert!(number(&document["estimate"]) > 1e-2, "{document}");
    let warnings = document["warnings"].as_array().expect("a list");
    let told = |w: &Value| w.as_str().is_some_and(|w| w.contains("beyond those of its samples"));
    assert!(warnings.iter().any(told), "{warnings:?}");
    assert!(run.run(&far).out.contains("off by about"));
}
