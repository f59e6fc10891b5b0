//! Claim: `pliant simulate --engine linear` takes and gives what `full` does, agrees with it in small
//! motions, and says plainly what belongs to which engine and what cannot be reduced.

use crate::common::Run;
use crate::common::json::{keys, numbers};
use serde_json::Value;

/// A rod on a hinge, with a target that it is to follow.
const ROD: &str = include_str!("scenes/rod.toml");

const EFFECTOR: &str = "[[effector]]\nname = \"tip\"\nbody = \"rod\"\nposition = [0.4, 0.0, 0.0]\n";

fn by<'a>(engine: &'a str, mechanism: &'a str, times: [&'a str; 2], more: &[&'a str]) -> Vec<&'a str> {
    let head = ["simulate", mechanism, "--engine", engine, "--duration", times[0], "--dt", times[1]];
    [&head, more].concat()
}

fn linear<'a>(mechanism: &'a str, times: [&'a str; 2], more: &[&'a str]) -> Vec<&'a str> {
    by("linear", mechanism, times, more)
}

/// The largest difference between the positions of two documents, m.
fn distance(a: &Value, b: &Value, what: &str) -> f64 {
    let mut most = 0.0f64;
    for (name, frame) in a[what].as_object().expect("names") {
        let (a, b) = (numbers(&frame["position"]), numbers(&b[what][name]["position"]));
        most = a.iter().zip(&b).map(|(a, b)| (a - b).abs()).fold(most, f64::max);
    }
    most
}

/// At rest the estimate is the error, without the full statics having been asked.
#[test]
fn it_knows_how_far_it_is_off() {
    let run = Run::new("linear-estimate");
    for name in ["y", "helix", "rungs:18"] {
        let exact = run.json(&["statics", name, "--scene-load"], 0);
        let radius = run.json(&["info", name], 0)["radius"].as_f64().expect("a number");
        for reconstruction in ["joint", "corrected"] {
            let more = ["--scene-load", "--reconstruction", reconstruction];
            let document = run.json(&linear(name, ["30", "0.02"], &more), 0);
            let estimate = document["estimate"].as_f64().expect("a number");
            // Coordinates one by one are at most √3 below the distance.
            let error = distance(&document, &exact, "effectors") / radius;
            assert!(error > 1e-5, "{name}: there is an error to see");
            assert!(
                (0.7..2.6).contains(&(estimate / error)),
                "{name}, {reconstruction}: {estimate}, {error}"
            );
        }
    }
}

#[test]
fn documents_have_the_keys_of_the_full_engine_and_three_more() {
    let run = Run::new("linear-keys");
    let full = run.json(&by("full", "arm", ["0.1", "0.01"], &[]), 0);
    let document = run.json(&linear("arm", ["0.1", "0.01"], &[]), 0);
    let mut expected = [&keys(&full)[..], &["rank", "modes", "estimate"]].concat();
    expected.sort_unstable();
    assert_eq!(keys(&document), expected);
    assert_eq!(
        (&document["rank"], &document["modes"], &document["steps"]),
        (&6.into(), &0.into(), &10.into())
    );
    for key in ["bodies", "joints", "effectors", "energy"] {
        assert_eq!(keys(&document[key]), keys(&full[key]));
    }
    let [median, p99] = ["time_per_step_us", "p99_us"].map(|key| document[key].as_f64().expect("a number"));
    assert!(0.0 < median && median <= p99, "{median} {p99}");
    let still = run.json(&linear("arm", ["0", "0.01"], &[]), 0);
    assert_eq!((&still["steps"], &still["time_per_step_us"]), (&0.into(), &Value::Null));
}

/// The motion of a linear model is wrong by the square of its size, which is small here.
#[test]
fn small_motions_end_where_the_full_engine_ends() {
    let run = Run::new("linear-small");
    for (mechanism, load) in [
        ("two-link", "tip=0,1e-3,0"),
        ("arm", "tip=0,0,-1e-3"),
        ("ladder:36", "tip=1e-3,0,0"),
        ("four-bar", "coupler=0,0,1e-3"),
        ("helix:50", "link20=0,0,-1e-3"),
    ] {
        let more = ["--load", load, "--no-gravity"];
        let full = run.json(&by("full", mechanism, ["60", "0.05"], &more), 0);
        let rest = run.json(&by("full", mechanism, ["0", "0.05"], &more), 0);
        for reconstruction in ["twist", "joint", "corrected"] {
            let more = [&more[..], &["--reconstruction", reconstruction]].concat();
            let model = run.json(&linear(mechanism, ["60", "0.05"], &more), 0);
            for what in ["bodies", "effectors"] {
                let moved = distance(&rest, &full, what);
                let off = distance(&model, &full, what);
                assert!(off < 1e-4 * moved, "{mechanism}, {reconstruction}, {what}: {off} of {moved}");
            }
        }
    }
}

#[test]
fn reconstructions_are_what_they_are_said_to_be() {
    let run = Run::new("linear-reconstruction");
    let [twist, joint, corrected, default] = ["twist", "joint", "corrected", ""].map(|name| {
        let more = if name.is_empty() { vec![] } else { vec!["--reconstruction", name] };
        run.json(&linear("arm", ["0.5", "0.01"], &[&more[..], &["--scene-load"]].concat()), 0)
    });
    let violation = |document: &Value| document["violation"].as_f64().expect("a number");
    assert!(violation(&twist) > 1e-3);
    assert!(violation(&joint) < 1e-12 && violation(&corrected) < 1e-12);
    assert_eq!(joint["bodies"], default["bodies"]);
    assert_ne!(joint["bodies"], corrected["bodies"]);
    for other in [&twist, &corrected] {
        assert_eq!(other["effectors"], joint["effectors"], "effectors are where the model has them");
    }
}

#[test]
fn modes_are_counted_or_chosen_by_the_step() {
    let run = Run::new("linear-modes");
    let modes = |dt: &str, choice: &str| {
        run.json(&linear("helix:50", ["0", dt], &["--modes", choice]), 0)["modes"].as_u64().expect("a count")
    };
    assert_eq!((modes("0.01", "0"), modes("0.01", "3")), (0, 3));
    let chosen = ["0.1", "0.01", "0.001"].map(|dt| modes(dt, "auto"));
    assert!(chosen[0] <= chosen[1] && chosen[1] < chosen[2], "{chosen:?}");
}

#[test]
fn threads_change_no_bit() {
    let run = Run::new("linear-threads");
    let [one, two] = ["1", "2"].map(|threads| {
        let more = ["--scene-load", "--reconstruction", "twist", "--threads", threads];
        run.json(&linear("chain:20000", ["0.05", "0.01"], &more), 0)
    });
    for key in ["bodies", "effectors", "joints", "energy", "violation"] {
        assert!(one[key] == two[key], "{key}");
    }
}

#[test]
fn targets_are_followed() {
    let run = Run::new("linear-targets");
    run.file("rod.toml", format!("{ROD}{EFFECTOR}"));
    let at = |duration| {
        let document = run.json(&linear("rod.toml", [duration, "0.005"], &["--no-gravity"]), 0);
        numbers(&document["joints"]["pivot"]["position"])[0]
    };
    assert!(at("0.1").abs() < 1e-15);
    assert!(at("0.2") > 0.05);
    assert!((at("20") - 0.5).abs() < 1e-9);
}

/// `--linear` is the linear model in place of the motions of `reduced`, with and without that name, to the last bit.
#[test]
fn linear_is_an_option_of_reduced() {
    let run = Run::new("linear-option");
    let moved = |more: &[&str]| {
        let all = [&["simulate", "arm", "--duration", "0.1", "--dt", "0.01", "--scene-load"], more].concat();
        let mut document = run.json(&all, 0);
        for key in ["time_per_step_us", "p99_us"] {
            document[key] = Value::Null;
        }
        document
    };
    let named = moved(&["--engine", "linear"]);
    assert_eq!(named["engine"], "linear");
    assert_eq!(moved(&["--linear"]), named);
    assert_eq!(moved(&["--engine", "reduced", "--linear"]), named);
    assert_eq!(moved(&["--engine", "linear", "--linear"]), named);
    let reduced = moved(&["--engine", "reduced"]);
    assert!(reduced["coordinates"].as_u64() < reduced["freedoms"].as_u64(), "{reduced}");
    let foreign = ["simulate", "arm", "--engine", "full", "--duration", "0.1", "--dt", "0.01", "--linear"];
    run.fails(&foreign, 2, &["--linear", "`reduced`", "`full`"]);
}

#[test]
fn options_belong_to_engines() {
    let run = Run::new("linear-options");
    let times = ["1", "0.1"];
    run.fails(&linear("arm", times, &["--iterations", "2"]), 2, &["--iterations", "`full`", "`linear`"]);
    for option in [["--modes", "1"], ["--reconstruction", "joint"]] {
        run.fails(&by("full", "arm", times, &option), 2, &[option[0], "`full`", "`linear`"]);
    }
    run.fails(&linear("arm", times, &["--modes", "some"]), 2, &["--modes", "whole number", "auto"]);
    run.fails(&linear("arm", times, &["--modes=-1"]), 2, &["--modes", "whole number"]);
    let misspelt = ["--reconstruction", "joints"];
    run.fails(&linear("arm", times, &misspelt), 2, &["`joints`", "did you mean `joint`?"]);
    run.fails(&linear("arm", times, &["--threads", "0"]), 2, &["--threads"]);
}

#[test]
fn bad_input() {
    let run = Run::new("linear-input");
    let times = ["1", "0.1"];
    let load = ["--load", "tipp=0,0,1"];
    run.fails(&linear("arm", times, &load), 2, &["`tipp`", "effectors: tip", "to add an effector"]);
    run.fails(&linear("arm", times, &["--effector", "tipp"]), 2, &["`tipp`", "`tip`", "[[effector]]"]);
    run.file("bare.toml", ROD);
    run.fails(&linear("bare.toml", times, &[]), 2, &["`rod` has no effector", "--effector"]);
    assert_eq!(run.json(&linear("bare.toml", times, &["--effector", "rod"]), 0)["rank"], 1);
    run.file("loose.toml", format!("{ROD}{EFFECTOR}").replace("stiffness = 10.0", ""));
    run.fails(&linear("loose.toml", times, &["-o", "loose.csv"]), 2, &["`tip`", "`pivot`", "stiffness"]);
    assert!(!run.folder.join("loose.csv").exists(), "bad input leaves no file");
    run.fails(&linear("hand", times, &["--effector", "palm"]), 2, &["`palm`", "cannot move", "welded"]);
}

/// The target leaves the numbers between 0.1 s and 0.2 s.
#[test]
fn a_failed_step_tells_how_far_it_came() {
    let run = Run::new("linear-failure");
    run.file("rod.toml", format!("{ROD}{EFFECTOR}").replace("0.0, 0.5]", "0.0, 1e308]"));
    let arguments = linear("rod.toml", ["1", "0.01"], &["-o", "rod.csv"]);
    run.fails(&arguments, 1, &["step ", "`rod`", "the steps before it were written"]);
    let document = run.json(&arguments, 1);
    assert_eq!(keys(&document), ["error", "steps", "time"]);
    assert!(document["steps"].as_u64().is_some_and(|steps| (10..20).contains(&steps)), "{document}");
}

#[test]
fn people_are_told_the_size_of_the_model() {
    let run = Run::new("linear-table");
    let outcome = run.run(&linear("gripper", ["0.1", "0.01"], &["--modes", "2"]));
    assert_eq!((outcome.code, outcome.err.as_str()), (0, ""));
    let first = outcome.out.lines().next().expect("a line");
    assert!(first.contains("1 independent motion of the effectors and "), "{first}");
    assert!(outcome.out.contains("µs median") && outcome.out.contains("EFFECTOR"), "{}", outcome.out);
}
