//! Claim: `pliant simulate --engine live` takes and gives what `full` does, comes to rest where `statics` says, and
//! says plainly what it does not take.

use crate::common::Run;

/// A rod on a hinge without a spring.
const LOOSE: &str = r#"
[[body]]
name = "rod"
position = [0.5, 0.0, 0.0]
mass = 1.0
inertia = [0.1, 0.1, 0.1]

[[joint]]
name = "pivot"
kind = "hinge"
parent = "world"
child = "rod"
axis = [0.0, 1.0, 0.0]

[[effector]]
name = "tip"
body = "rod"
"#;

fn live<'a>(mechanism: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let head = ["simulate", mechanism, "--engine", "live", "--duration", "20", "--dt", "0.02"];
    [&head, more].concat()
}

#[test]
fn it_comes_to_rest_where_statics_says() {
    let run = Run::new("live-rest");
    for (name, effector) in [("arm", "tip"), ("helix", "tip"), ("hand", "index")] {
        let moved = run.json(&live(name, &["--scene-load"]), 0);
        let rest = run.json(&["statics", name, "--scene-load"], 0);
        for k in 0..3 {
            let [a, b] =
                [&moved, &rest].map(|d| d["effectors"][effector]["position"][k].as_f64().expect("a number"));
            // Rest is reached to 1e-9 m after 20 s.
            assert!((a - b).abs() < 1e-8, "{name}: {a} {b}");
        }
        assert!(moved["violation"].as_f64().expect("a number") < 1e-12, "{name}");
        let full = run.json(&["simulate", name, "--engine", "full", "--duration", "0.01", "--dt", "0.01"], 0);
        let keys =
            |d: &serde_json::Value| d.as_object().expect("an object").keys().cloned().collect::<Vec<_>>();
        let more = ["dropped", "estimate", "inner"];
        let mut expected = [keys(&full), more.map(String::from).to_vec()].concat();
        expected.sort();
        assert_eq!(keys(&moved), expected);
        assert_eq!(moved["inner"], serde_json::json!([]));
        // At rest the live engine is off by nothing.
        assert!(moved["estimate"].as_f64().is_some_and(|e| (0.0..1e-8).contains(&e)), "{name}");
    }
}

#[test]
fn bad_input() {
    let run = Run::new("live-input");
    run.fails(&live("arm", &["--effector", "tipp"]), 2, &["`tipp`", "`tip`", "[[effector]]"]);
    run.fails(&live("arm", &["--modes", "some"]), 2, &["--modes", "whole number", "auto"]);
    run.json(&live("arm", &["--effector", "finger0_3"]), 0);
    run.file("loose.toml", LOOSE);
    run.fails(&live("loose.toml", &[]), 2, &["`tip`", "`pivot`", "stiffness"]);
}

/// What is dropped is named; the more links are kept, the faster it is, or as fast in the next of equal fingers, and with
/// all of them there is none.
#[test]
fn dropped_vibrations_are_named_and_kept_by_links() {
    let run = Run::new("live-modes");
    let arm = |modes: &[&'static str]| {
        let head = ["simulate", "arm", "--engine", "live", "--duration", "0.01", "--dt", "0.001"];
        run.json(&[&head[..], modes].concat(), 0)
    };
    let hz = |d: &serde_json::Value| d["dropped"]["hz"].as_f64();
    let links = |d: &serde_json::Value| d["inner"].as_array().map_or(0, Vec::len);
    let counts = ["0", "1", "2"].map(|k| arm(&["--modes", k]));
    assert_eq!(counts[0]["dropped"], arm(&[])["dropped"]);
    for (k, pair) in counts.windows(2).enumerate() {
        assert_eq!(links(&pair[1]), k + 1);
        assert_eq!(pair[1]["inner"][k], pair[0]["dropped"]["body"], "where the slowest is largest");
        assert!(hz(&pair[0]) <= hz(&pair[1]), "{pair:?}");
    }
    assert!(hz(&counts[0]) < hz(&counts[2]));
    let auto = arm(&["--modes", "auto"]);
    assert!(links(&auto) > 0);
    let all = arm(&["--modes", "1000"]);
    assert!(all["dropped"].is_null() && links(&all) < 30, "{}", all["inner"]);
    let outcome = run.run(&["simulate", "arm", "--engine", "live", "--duration", "0.01", "--dt", "0.001"]);
    let told = outcome.out.lines().find(|line| line.starts_with("dropped")).expect("a line");
    assert!(told.contains("modes from") && told.contains("Hz"), "{told}");
}
