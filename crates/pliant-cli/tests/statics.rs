//! Claim: `pliant statics` finds the equilibrium that theory and a long motion give, and tells
//! scripts plainly when there is none.

use crate::common::json::{keys, numbers};
use crate::common::{Run, snapshot_of_help};
use serde_json::Value;

/// A rod on a hinge, its link frame and centre of mass 0.2 m from it along x, held by a spring of 10 N·m/rad.
const ROD: &str = include_str!("scenes/loaded-rod.toml");

const KEYS: [&str; 11] = [
    "bodies",
    "closure",
    "converged",
    "effectors",
    "iterations",
    "joints",
    "load_reached",
    "load_steps",
    "residual",
    "stable",
    "warnings",
];

fn turn(document: &Value) -> f64 {
    numbers(&document["joints"]["pivot"]["position"])[0]
}

#[test]
fn help() {
    snapshot_of_help(&Run::new("statics-help"), "help_statics", &["statics", "--help"]);
}

#[test]
fn documents_have_the_promised_keys() {
    let run = Run::new("statics-keys");
    let document = run.json(&["statics", "arm", "--engine", "full"], 0);
    assert_eq!(keys(&document), KEYS);
    assert_eq!((&document["converged"], &document["stable"]), (&true.into(), &true.into()));
    assert!(document["residual"].as_f64().is_some_and(|r| (0.0..1e-8).contains(&r)));
    assert!(document["iterations"].as_u64().is_some_and(|n| n > 0));
    let info = run.json(&["info", "arm"], 0);
    assert_eq!(document["bodies"].as_object().map(|b| b.len() as u64), info["bodies"].as_u64());
    assert_eq!(keys(&document["effectors"]), ["tip"]);
    for frame in ["bodies", "effectors"].iter().flat_map(|key| document[*key].as_object().expect("names")) {
        assert_eq!(keys(frame.1), ["position", "quaternion"]);
        assert_eq!(numbers(&frame.1["position"]).len(), 3);
        let norm: f64 = numbers(&frame.1["quaternion"]).iter().map(|x| x * x).sum();
        assert!((norm - 1.0).abs() < 1e-12, "{}: the quaternion has norm {norm}", frame.0);
    }
    for (name, joint) in document["joints"].as_object().expect("names") {
        assert_eq!(keys(joint), ["force", "position"]);
        assert_eq!(numbers(&joint["position"]).len(), numbers(&joint["force"]).len(), "{name}");
    }
}

/// k θ = m g l cos θ + F L cos θ, with every term from the file.
#[test]
fn a_rod_hangs_where_its_moment_balance_says() {
    let run = Run::new("statics-rod");
    run.file("rod.toml", ROD);
    let (weight, load) = (0.5 * 9.81 * 0.2, 3.0 * 0.4);
    for (arguments, moment) in [
        (&[][..], weight),
        (&["--no-gravity"], 0.0),
        (&["--scene-load"], weight + load),
        (&["--scene-load", "--no-gravity"], load),
        (&["--load", "end = tip=0,0,-3"], weight + load),
        (&["--load", "rod=0,0,0,0,1.5,0", "--load", "rod=0,0,0,0,-0.5,0", "--no-gravity"], f64::NAN),
    ] {
        let document = run.json(&[&["statics", "rod.toml"], arguments].concat(), 0);
        let angle = turn(&document);
        // Torques are dead: they do not shrink with cos θ.
        let expected = if moment.is_nan() { 1.0 } else { moment * angle.cos() };
        assert!((10.0 * angle - expected).abs() < 1e-9, "{arguments:?}: {angle}");
        let force = numbers(&document["joints"]["pivot"]["force"])[0];
        assert!((force + 10.0 * angle).abs() < 1e-9, "{arguments:?}: the spring's torque is {force}");
    }
}

/// Nothing acts, so nothing may move: what is left over is rounding and must count as none.
#[test]
fn without_any_load_everything_stays() {
    let run = Run::new("statics-unloaded");
    for name in ["helix", "helix:400", "loop", "arm", "hand", "firefighters", "gripper"] {
        let document = run.json(&["statics", name, "--no-gravity"], 0);
        assert_eq!(document["converged"], true, "{name}");
        for (joint, values) in document["joints"].as_object().expect("names") {
            let moved = numbers(&values["position"]).into_iter().fold(0.0f64, |m, q| m.max(q.abs()));
            assert!(moved < 1e-12, "{name}: joint {joint} moved by {moved}");
        }
    }
}

/// The link frame sits in the hinge, so the mechanism has radius 0: k θ = m g l cos θ all the same.
#[test]
fn a_link_with_its_frame_at_the_hinge_turns() {
    let run = Run::new("statics-radius");
    let rod = ROD.replace("position = [0.2, 0.0, 0.0]\nmass", "center_of_mass = [0.2, 0.0, 0.0]\nmass");
    run.file("rod.toml", rod);
    let angle = turn(&run.json(&["statics", "rod.toml"], 0));
    assert!((10.0 * angle - 0.5 * 9.81 * 0.2 * angle.cos()).abs() < 1e-9, "{angle}");
}

/// Measured with other programs: the last rung of the ladder moves by 0.01100 m.
#[test]
fn the_ladder_gives_way_by_eleven_millimetres() {
    let run = Run::new("statics-ladder");
    let at = |arguments: &[&str]| {
        let document = run.json(&[&["statics", "ladder:36"], arguments].concat(), 0);
        numbers(&document["effectors"]["tip"]["position"])
    };
    let (rest, loaded) = (at(&[]), at(&["--scene-load"]));
    let moved = rest.iter().zip(&loaded).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
    assert!((moved / 0.01100 - 1.0).abs() < 0.01, "moved by {moved} m");
}

#[test]
fn loads_by_effector_and_by_body_agree() {
    let run = Run::new("statics-names");
    // The tip of the helix is the frame of its last link.
    let by = |load: &str| run.json(&["statics", "helix:50", "--load", load], 0);
    let scene = run.json(&["statics", "helix:50", "--scene-load"], 0);
    assert_eq!(by("tip=0,0,-100")["effectors"], by("link49=0,0,-100")["effectors"]);
    assert_eq!(by("tip=0,0,-100"), scene);
    let halves = ["statics", "helix:50", "--load", "tip=0,0,-50", "--load", "tip=0,0,-50,0,0,0"];
    assert_eq!(run.json(&halves, 0), scene, "loads on one place add up");
}

#[test]
fn people_get_a_table() {
    let run = Run::new("statics-table");
    let outcome = run.run(&["statics", "ladder:36", "--scene-load"]);
    assert_eq!((outcome.code, outcome.err.as_str()), (0, ""));
    for words in
        ["converged", "iterations", "residual", " N\n", "largest turn", " rad", "EFFECTOR", "0.0109995 m"]
    {
        assert!(outcome.out.contains(words), "`{words}` is not in\n{}", outcome.out);
    }
    run.file("bare.toml", ROD.split("[[effector]]").next().expect("a scene"));
    assert!(run.run(&["statics", "bare.toml"]).out.contains("no effectors"));
}

#[test]
fn bad_loads_are_bad_input() {
    let run = Run::new("statics-input");
    let fails = |load: &str, words: &[&str]| run.fails(&["statics", "arm", "--load", load], 2, words);
    fails("tip", &["NAME=fx,fy,fz"]);
    fails("tip=1,2", &["2 numbers", "three"]);
    fails("tip=1,2,3,4,5", &["5 numbers", "six"]);
    fails("tip=1,2,three", &["`three` is not a number"]);
    fails("tip=1,2,nan", &["`nan` is not finite"]);
    fails("tip=1,2,1e999", &["`1e999` is not finite"]);
    fails(
        "tipp=1,2,3",
        &["`tipp`", "did you mean `tip`?", "effectors: tip", "body works too", "[[effector]]"],
    );
    fails("=1,2,3", &["no effector or body ``"]);
    run.fails(&["statics", "arm", "--load", "tip=1e308,0,0", "--load", "tip=1e308,0,0"], 2, &["not finite"]);
    run.fails(&["statics", "arm", "--engine", "linear"], 2, &["`linear`", "has no statics", "`full`"]);
    run.fails(&["statics", "nowhere.toml"], 2, &["nowhere.toml"]);
    run.fails(&["statics"], 2, &["<MECH>"]);
}

#[test]
fn what_is_not_determined_is_a_failed_job() {
    let run = Run::new("statics-free");
    run.fails(&["statics", "hexapod"], 1, &["not unique", "free base", "`base`"]);
    run.file("loose.toml", ROD.replace("stiffness = 10.0", ""));
    let loose = ["statics", "loose.toml", "--no-gravity"];
    run.fails(&loose, 1, &["not unique", "`pivot`", "stiffness"]);
    assert_eq!(run.json(&loose, 1)["converged"], false);
}

/// A rod that stands on its hinge, with a spring too weak to keep it there.
#[test]
fn an_unstable_equilibrium_is_told() {
    let run = Run::new("statics-unstable");
    let standing =
        ROD.replacen("[0.2, 0.0, 0.0]", "[0.0, 0.0, 0.2]", 1).replace("stiffness = 10.0", "stiffness = 0.5");
    run.file("standing.toml", standing);
    let outcome = run.run(&["statics", "standing.toml"]);
    assert_eq!(outcome.code, 0);
    assert!(outcome.err.starts_with("warning: the equilibrium is unstable"), "{}", outcome.err);
    let document = run.json(&["statics", "standing.toml"], 0);
    assert_eq!((&document["converged"], &document["stable"]), (&true.into(), &false.into()));
    assert_eq!(document["warnings"].as_array().map(Vec::len), Some(1));
}

/// A load that no number can hold: the document is whole, says so, and holds no number that is not one.
#[test]
fn a_search_that_fails_is_told() {
    let run = Run::new("statics-overload");
    run.file("rod.toml", ROD);
    let arguments = ["statics", "rod.toml", "--load", "rod=1e300,0,0"];
    run.fails(&arguments, 1, &["no equilibrium found", "too large", "smaller"]);
    let document = run.json(&arguments, 1);
    let mut expected = [&KEYS[..], &["error"]].concat();
    expected.sort();
    assert_eq!(keys(&document), expected);
    assert_eq!((&document["converged"], &document["residual"]), (&false.into(), &Value::Null));
}
