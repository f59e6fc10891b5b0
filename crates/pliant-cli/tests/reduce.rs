//! Claim: `pliant reduce` writes a model of the error that was asked for, the same for the same seed, or says what
//! limits it; the file takes the place of the mechanism in every command; and a damaged one is refused.

use std::fs;

use crate::common::json::{keys, number};
use crate::common::{Run, snapshot_of_help};
use serde_json::Value;

/// A model of fewer motions than freedoms, made in a moment.
fn small(run: &Run, file: &str) -> Value {
    run.json(&["reduce", "helix:40", "--displacement", "0.4", "--max-error", "0.02", "-o", file], 0)
}

#[test]
fn help() {
    snapshot_of_help(&Run::new("reduce-help"), "help_reduce", &["reduce", "--help"]);
}

#[test]
fn it_writes_what_was_asked_for() {
    let run = Run::new("reduce");
    let document = small(&run, "helix.pliant");
    assert_eq!(
        keys(&document),
        [
            "bound",
            "bytes",
            "coordinates",
            "displacement",
            "equilibria",
            "error",
            "estimate",
            "every",
            "file",
            "freedoms",
            "frequency",
            "held_out",
            "held_out_median",
            "limit",
            "out_of_reach",
            "samples",
            "seconds",
            "seed",
            "several",
            "tested",
            "unsettled",
            "unsolved",
            "warnings",
            "within",
            "worst",
        ]
    );
    assert!(document["coordinates"].as_u64().is_some_and(|n| (6..30).contains(&n)), "{document}");
    assert_eq!((&document["freedoms"], &document["every"]), (&40.into(), &Value::Null));
    for key in ["error", "held_out"] {
        assert!(number(&document[key]) <= 0.02, "{key}");
    }
    assert!(document["limit"].is_null());
    assert_eq!((&document["tested"], &document["within"]), (&50.into(), &50.into()));
    assert_eq!(keys(&document["worst"]["loads"]), ["tip"]);
    let bytes = fs::read(run.folder.join("helix.pliant")).expect("a file");
    assert_eq!(document["bytes"], bytes.len() as u64);

    // The same seed, the same file.
    small(&run, "again.pliant");
    assert!(fs::read(run.folder.join("again.pliant")).expect("a file") == bytes);

    // What is in it.
    let mut info = run.json(&["info", "helix.pliant"], 0);
    let plain = run.json(&["info", "helix:40"], 0);
    let own = ["coordinates", "samples", "error", "held_out", "bound", "displacement", "seed"];
    for key in own {
        assert_eq!(info[key], document[key], "{key}");
        info.as_object_mut().expect("an object").remove(key);
    }
    assert_eq!(info, plain, "and all that is known of its mechanism");

    // Statics on the motions, under its own names, near the exact answer.
    let few = run.json(&["statics", "helix.pliant", "--scene-load"], 0);
    let exact = run.json(&["statics", "helix.pliant", "--engine", "full", "--scene-load"], 0);
    assert_eq!(
        keys(&few),
        [
            "bodies",
            "converged",
            "coordinates",
            "effectors",
            "estimate",
            "iterations",
            "joints",
            "residual",
            "stable",
            "warnings"
        ]
    );
    assert_eq!(exact, run.json(&["statics", "helix:40", "--scene-load"], 0));
    assert_eq!((&few["converged"], &few["coordinates"]), (&true.into(), &document["coordinates"]));
    assert_eq!(keys(&few["effectors"]), keys(&exact["effectors"]));
    let radius = number(&plain["radius"]);
    let mut worst = 0.0f64;
    for (name, pose) in few["bodies"].as_object().expect("bodies") {
        let off = |k: usize| number(&pose["position"][k]) - number(&exact["bodies"][name]["position"][k]);
        worst = worst.max((0..3).map(|k| off(k) * off(k)).sum::<f64>().sqrt() / radius);
    }
    // What it says of its error is true: it is a Newton step of the same statics.
    let ratio = number(&few["estimate"]) / worst;
    assert!(worst < 0.02 && (0.9..1.1).contains(&ratio), "{worst:e} {ratio}");

    // Without a file, motions are chosen for the loads.
    let named = run.json(&["statics", "helix:40", "--engine", "reduced", "--scene-load"], 0);
    assert!(number(&named["estimate"]) < 1e-3);

    // By default it moves by its motions; the same as when that is asked for.
    let more = ["--duration", "0.1", "--dt", "0.01", "--scene-load"];
    let mut moved = run.json(&[&["simulate", "helix.pliant"], &more[..]].concat(), 0);
    let mut named = run.json(&[&["simulate", "helix.pliant", "--engine", "reduced"], &more[..]].concat(), 0);
    for document in [&mut moved, &mut named] {
        assert_eq!(document["engine"], "reduced");
        for key in ["time_per_step_us", "p99_us", "engine_why"] {
            document.as_object_mut().expect("an object").remove(key);
        }
    }
    assert_eq!(moved, named);
    assert_eq!(moved["coordinates"], document["coordinates"]);
    assert!(number(&moved["estimate"]) >= 0.0);
    let full = run.json(&[&["simulate", "helix.pliant", "--engine", "full"], &more[..]].concat(), 0);
    assert!(full.get("estimate").is_none());
    let modes = [&["simulate", "helix.pliant", "--modes", "3"], &more[..]].concat();
    run.fails(&modes, 2, &["--modes", "model file", "--frequency"]);

    // The other commands take its mechanism.
    assert_eq!(run.json(&["compliance", "helix.pliant"], 0), run.json(&["compliance", "helix:40"], 0));
    let scenes = ["helix.pliant", "helix:40"].map(|name| run.run(&["export", name, "-o", "-"]).out);
    assert_eq!(scenes[0], scenes[1]);
}

#[test]
fn people_get_a_table_and_advice() {
    let run = Run::new("reduce-people");
    let outcome = run.run(&["reduce", "two-link", "--displacement", "0.2", "-o", "two.pliant"]);
    assert_eq!(outcome.code, 0, "{}", outcome.err);
    assert!(
        outcome.err.starts_with("warning: with 2 independent motions and 1 effector nothing is reduced"),
        "{}",
        outcome.err
    );
    assert!(outcome.err.contains("`simulate --engine articulated`"), "{}", outcome.err);
    assert_eq!(outcome.err.matches("nothing is reduced").count(), 1, "once: {}", outcome.err);
    for words in ["coordinates", "2 of 2", "held out", "of the radius", "bound", "wrote two.pliant ("] {
        assert!(outcome.out.contains(words), "`{words}` is not in\n{}", outcome.out);
    }
    let info = run.run(&["info", "two.pliant"]).out;
    for words in ["coordinates", "held out", "up to a displacement of 0.2"] {
        assert!(info.contains(words), "`{words}` is not in\n{info}");
    }
    let statics = run.run(&["statics", "two.pliant"]).out;
    assert!(statics.contains("estimate") && statics.contains("2 motions of 2 freedoms"), "{statics}");
    let bench = run.json(&["bench", "two.pliant"], 0);
    let engines: Vec<&Value> = bench.as_array().expect("a list").iter().map(|line| &line["engine"]).collect();
    assert!(engines.contains(&&"reduced".into()), "{engines:?}");
}

/// Far beyond what it was made for it says so, or does not come to rest: never a wrong answer in silence.
#[test]
fn loads_beyond_its_bound_are_a_warning() {
    let run = Run::new("reduce-beyond");
    run.json(&["reduce", "helix:40", "--displacement", "0.05", "--max-error", "1e-5", "-o", "h.pliant"], 0);
    let near = run.json(&["statics", "h.pliant"], 0);
    assert_eq!(near["warnings"].as_array().map(Vec::len), Some(0), "{near}");
    let mut warned = 0;
    for load in ["tip=3,0,0", "tip=0,30,0", "tip=0,0,-300"] {
        let far = run.run(&["statics", "h.pliant", "--load", load, "--json"]);
        let document: Value = serde_json::from_str(&far.out).expect("a document");
        match far.code {
            0 => {
                let told = document["warnings"].to_string().contains("beyond those it was built for");
                assert_eq!(told, number(&document["estimate"]) > 1e-5, "{load}: {document}");
                warned += usize::from(told);
            }
            code => assert_eq!((code, &document["converged"]), (1, &false.into())),
        }
    }
    assert!(warned > 0);
}

/// Options that linear models had say what replaced them.
#[test]
fn retired_options_say_so() {
    let run = Run::new("reduce-retired");
    for (option, value, words) in [
        ("--most-models", "64", "--max-error"),
        ("--max-seconds", "60", "--max-error"),
        ("--force", "blend", "`reduced`"),
    ] {
        run.fails(&["reduce", "y", option, value, "-o", "y.pliant"], 2, &[option, "removed", words]);
    }
}

/// What the reader of a robot said of it is in the file, too; and an effector that no load moves is reported.
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
    let document = run.json(&["reduce", "arm.urdf", "-o", "arm.pliant"], 0);
    assert_eq!((&document["every"], &document["tested"]), (&"untested".into(), &0.into()));
    assert!(document["warnings"].to_string().contains("that was not tested"), "{document}");
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
    for bad in ["-1", "nan", "soon"] {
        fails(&["--frequency", bad], &["--frequency", "hertz, zero or above"]);
    }
    fails(&["--seed", "-1"], &["--seed"]);
    run.fails(&["reduce", "y"], 2, &["--output"]);
    run.fails(&["reduce", "y", "-o", "y.toml"], 2, &["y.toml", ".pliant"]);
    run.fails(&["reduce", "y", "-o", "nowhere/y.pliant"], 1, &["nowhere/y.pliant", "no folder `nowhere`"]);
    fs::create_dir(run.folder.join("folder.pliant")).expect("a folder");
    run.fails(&["reduce", "y", "-o", "folder.pliant"], 1, &["folder.pliant", "directory"]);
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
    let document = run.json(&["reduce", "hand-grasp", "--displacement", "0.05", "-o", "grasp.pliant"], 0);
    let loose = document["warnings"].to_string();
    assert!(loose.contains("which only contact moves"), "{loose}");
    let [model, scene] = ["grasp.pliant", "hand-grasp"].map(|name| run.json(&["info", name], 0));
    assert_eq!(number(&model["bodies"]) + number(&scene["loose_bodies"]), number(&scene["bodies"]));
}

/// A free base is held while motions are chosen; the model moves on it.
#[test]
fn a_free_base_is_held() {
    let run = Run::new("reduce-free");
    let document = run.json(&["reduce", "hexapod", "-o", "hexapod.pliant"], 0);
    assert!(document["warnings"].to_string().contains("with the free base held"), "{document}");
    assert!(number(&document["held_out"]) <= 0.01 && number(&document["tested"]) > 0.0, "{document}");
    run.json(&["simulate", "hexapod.pliant", "--duration", "0.1", "--dt", "0.01"], 0);
}

#[test]
fn a_damaged_file_is_refused_by_every_command() {
    let run = Run::new("reduce-damaged");
    small(&run, "helix.pliant");
    let whole = fs::read(run.folder.join("helix.pliant")).expect("a file");
    let mut flipped = whole.clone();
    flipped[whole.len() / 3] ^= 0x20;
    run.file("flipped.pliant", flipped)
        .file("cut.pliant", &whole[..whole.len() - 9])
        .file("empty.pliant", "");
    for (file, words) in
        [("flipped.pliant", "damaged"), ("cut.pliant", "truncated"), ("empty.pliant", "it is empty")]
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
    assert!(outcome.err.contains("`pliant reduce` builds a reduced model once"), "{}", outcome.err);
    let blended = ["simulate", "two-link", "--engine", "blended", "--duration", "0.1", "--dt", "0.01"];
    let document = run.json(&blended, 0);
    assert!(document["models"].as_u64().is_some_and(|n| n > 1));
    run.fails(&[&blended[..], &["--modes", "1"]].concat(), 2, &["--modes", "`linear`", "`blended`"]);
    run.fails(&[&blended[..], &["--load", "tipp=1,2,3"]].concat(), 2, &["`tipp`"]);
    run.fails(&["statics", "hexapod", "--engine", "blended"], 2, &["free base"]);
}

/// In motion the estimate of a blend is how far its links are off, and can be beyond what the blend was made for; that of few motions is
/// the distance from rest.
#[test]
fn what_the_estimate_is_in_motion() {
    let run = Run::new("reduce-estimate");
    let moved = |engine, load| {
        ["simulate", "two-link", "--duration", "0.1", "--dt", "0.01", "--engine", engine, "--load", load]
    };
    // Beyond the loads that a blend is made for, in several directions; and well within them.
    let loads =
        [("tip=0,300,0", true), ("tip=300,300,0", true), ("tip=-400,100,0", true), ("tip=0,1,0", false)];
    for (load, far) in loads {
        let document = run.json(&moved("blended", load), 0);
        let warnings = document["warnings"].as_array().expect("a list");
        let is_beyond = |w: &Value| w.as_str().is_some_and(|w| w.contains("beyond those it was built for"));
        // The bound of a blend that is made for a run.
        assert_eq!(number(&document["estimate"]) > 0.01, far, "{load}: {document}");
        assert_eq!(warnings.iter().any(is_beyond), far, "{load}: {document}");
    }
    assert!(run.run(&moved("blended", "tip=0,300,0")).out.contains("off relative to the effectors"));
    let reduced = moved("reduced", "tip=0,300,0");
    assert!(number(&run.json(&reduced, 0)["estimate"]) > 0.01);
    assert!(run.run(&reduced).out.contains("from equilibrium; once at rest"));
}
