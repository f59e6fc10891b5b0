//! Claim: `pliant compliance` gives what closed forms and small changes of the nonlinear equilibrium
//! give, at the file's pose, with joints put elsewhere and under loads; it says plainly what it cannot do.

use crate::common::json::{keys, numbers};
use crate::common::{Run, snapshot_of_help};
use serde_json::Value;

/// A rod on a ball joint 0.2 m from its link frame, held by three springs, with an effector at its end.
const ROD: &str = include_str!("scenes/rod-on-a-ball.toml");

fn matrix(document: &Value) -> Vec<Vec<f64>> {
    document["compliance"].as_array().expect("rows").iter().map(numbers).collect()
}

/// What springs of 1/c let happen along the given motions: Σ c j jᵀ.
fn springs(motions: &[(f64, [f64; 6])]) -> Vec<Vec<f64>> {
    let entry = |i: usize, k: usize| motions.iter().map(|(c, j)| c * j[i] * j[k]).sum();
    (0..6).map(|i| (0..6).map(|k| entry(i, k)).collect()).collect()
}

#[track_caller]
fn close(a: &[Vec<f64>], b: &[Vec<f64>], tolerance: f64) {
    assert_eq!(a.len(), b.len());
    for (i, (a, b)) in a.iter().zip(b).enumerate() {
        assert_eq!(a.len(), b.len());
        for (k, (x, y)) in a.iter().zip(b).enumerate() {
            assert!((x - y).abs() <= tolerance, "entry {i}, {k}: {x} and {y}");
        }
    }
}

/// The two-link arm with its elbow at an angle: hinges about z, 0.5 m apart and from the tip, 100 N·m/rad.
fn two_link(elbow: f64) -> Vec<Vec<f64>> {
    let (s, c) = elbow.sin_cos();
    springs(&[(0.01, [0.5 * s, 0.5 + 0.5 * c, 0.0, 0.0, 0.0, 1.0]), (0.01, [0.0, 0.5, 0.0, 0.0, 0.0, 1.0])])
}

#[test]
fn help() {
    snapshot_of_help(&Run::new("compliance-help"), "help_compliance", &["compliance", "--help"]);
}

#[test]
fn people_get_tables() {
    let run = Run::new("compliance-table");
    for (name, mechanism) in [("compliance_two_link", "two-link"), ("compliance_y", "y")] {
        let outcome = run.run(&["compliance", mechanism]);
        assert_eq!((outcome.code, outcome.err.as_str()), (0, ""));
        insta::assert_snapshot!(name, outcome.out);
    }
    // Legs on a base that is held share nothing: six tables, not twenty-one.
    let legs = run.run(&["compliance", "hexapod"]).out;
    assert_eq!(legs.matches("under a wrench on").count(), 6, "{legs}");
    // With many effectors, each by itself, and how many pairs there are; those that are named in full.
    let hand = run.run(&["compliance", "hand-grasp"]).out;
    let effectors = hand.matches("under a wrench on itself").count();
    assert_eq!((effectors, hand.matches("under a wrench on `").count()), (6, 0), "{hand}");
    assert!(hand.contains("pairs of effectors move under each other's wrenches too: --effector A"), "{hand}");
    let three =
        ["compliance", "hand-grasp", "--effector", "thumb", "--effector", "index", "--effector", "palm"];
    let three = run.run(&three).out;
    assert!(three.contains("`thumb` under a wrench on `index`") && !three.contains("pairs of"), "{three}");
}

#[test]
fn springs_in_a_row_add_up() {
    let run = Run::new("compliance-rest");
    let document = run.json(&["compliance", "two-link"], 0);
    assert_eq!(keys(&document), ["compliance", "effectors", "exact", "inexact_at", "rank", "warnings"]);
    assert_eq!((&document["rank"], &document["exact"]), (&2.into(), &true.into()));
    assert_eq!(document["effectors"], serde_json::json!(["tip"]));
    close(&matrix(&document), &two_link(0.0), 1e-15);
}

#[test]
fn joints_are_put_where_they_are_asked_to() {
    let run = Run::new("compliance-at");
    let bent = run.json(&["compliance", "two-link", "--at", "elbow=0.5"], 0);
    close(&matrix(&bent), &two_link(0.5), 1e-15);
    let both = run.json(&["compliance", "two-link", "--at", "shoulder=-2", "--at", "elbow=0.5"], 0);
    close(&matrix(&both), &two_link(0.5), 1e-15);

    // A ball joint takes three numbers. Turned about x, the spring of that turn is what it was.
    run.file("rod.toml", ROD);
    let turned = run.json(&["compliance", "rod.toml", "--at", "pivot=0.3,0,0"], 0);
    assert_eq!(turned["rank"], 3);
    let C = matrix(&turned);
    assert!((C[3][3] - 0.1).abs() < 1e-12, "{C:?}");
    let rest = matrix(&run.json(&["compliance", "rod.toml"], 0));
    close(
        &rest,
        &springs(&[
            (0.1, [0.0, 0.0, 0.0, 1.0, 0.0, 0.0]),
            (0.05, [0.0, 0.0, -0.4, 0.0, 1.0, 0.0]),
            (0.025, [0.0, 0.4, 0.0, 0.0, 0.0, 1.0]),
        ]),
        1e-15,
    );
}

/// Small forces more on the nonlinear equilibrium move the tip as the compliance there says.
#[test]
fn under_loads_it_is_the_slope_of_the_equilibrium() {
    let run = Run::new("compliance-loaded");
    const FORCE: f64 = 0.1;
    for (mechanism, more) in [("two-link", &[][..]), ("arm", &["--load", "tip=0,10,-20"]), ("four-bar", &[])]
    {
        let arguments = [&["compliance", mechanism, "--loaded"], more].concat();
        let C = matrix(&run.json(&arguments, 0));
        let tip =
            run.json(&["compliance", mechanism], 0)["effectors"][0].as_str().expect("a name").to_string();
        let settled = |force: [f64; 3]| {
            let load = format!("{tip}={},{},{}", force[0], force[1], force[2]);
            let arguments = [&["statics", mechanism, "--scene-load", "--load", &load], more].concat();
            let frame = run.json(&arguments, 0)["effectors"][&tip].clone();
            (numbers(&frame["position"]), numbers(&frame["quaternion"]))
        };
        let R = rotation(&settled([0.0; 3]).1);
        let largest = C[..3].iter().flat_map(|row| &row[..3]).fold(0.0f64, |m, x| m.max(x.abs()));
        for k in 0..3 {
            let push = |f: f64| {
                let mut force = [0.0; 3];
                force[k] = f;
                settled(force).0
            };
            let (ahead, behind) = (push(FORCE), push(-FORCE));
            for i in 0..3 {
                let slope = (ahead[i] - behind[i]) / (2.0 * FORCE);
                // In the world: R C Rᵀ.
                let told: f64 = (0..9).map(|n| R[i][n / 3] * C[n / 3][n % 3] * R[k][n % 3]).sum();
                // Wrong in the square of the force: measured 5.4e-7.
                assert!((slope - told).abs() < 1e-6 * largest, "{mechanism} {i} {k}: {slope} and {told}");
            }
        }
        let rest = matrix(&run.json(&["compliance", mechanism], 0));
        assert!((0..6).any(|i| (0..6).any(|k| (rest[i][k] - C[i][k]).abs() > 1e-3 * largest)), "{mechanism}");
    }
}

fn rotation(q: &[f64]) -> [[f64; 3]; 3] {
    let [w, x, y, z] = q else { panic!("four numbers") };
    [
        [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)],
        [2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)],
        [2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)],
    ]
}

#[test]
fn effectors_and_bodies_are_chosen_by_name() {
    let run = Run::new("compliance-names");
    let all = run.json(&["compliance", "y"], 0);
    assert_eq!(all["effectors"], serde_json::json!(["left", "right"]));
    let swapped = run.json(&["compliance", "y", "--effector", "right", "--effector", "left"], 0);
    assert_eq!(swapped["effectors"], serde_json::json!(["right", "left"]));
    let (C, S) = (matrix(&all), matrix(&swapped));
    let other = |i: usize| (i + 6) % 12;
    let back: Vec<Vec<f64>> = (0..12).map(|i| (0..12).map(|k| S[other(i)][other(k)]).collect()).collect();
    close(&C, &back, 1e-15);
    // The tip of the helix is the frame of its last link.
    let tip = run.json(&["compliance", "helix:50"], 0);
    let body = run.json(&["compliance", "helix:50", "--effector", "link49"], 0);
    assert_eq!(body["effectors"], serde_json::json!(["link49"]));
    close(&matrix(&tip), &matrix(&body), 1e-15);
}

/// Symmetric, no direction pushes back, and of the rank that the linear engine has.
#[test]
fn every_gallery_entry_has_one() {
    let run = Run::new("compliance-gallery");
    for name in run.mechanisms() {
        let document = run.json(&["compliance", &name], 0);
        let C = matrix(&document);
        assert_eq!(C.len(), 6 * document["effectors"].as_array().expect("names").len());
        for (i, row) in C.iter().enumerate() {
            assert!(row[i] >= -1e-15, "{name}");
            assert!(row.iter().enumerate().all(|(k, x)| *x == C[k][i]), "{name}");
        }
        let still = ["simulate", &name, "--engine", "linear", "--duration", "0", "--dt", "0.01"];
        assert_eq!(document["rank"], run.json(&still, 0)["rank"], "{name}");
        assert!(document["rank"].as_u64().is_some_and(|rank| rank > 0 && rank <= C.len() as u64));
    }
}

/// Each part of a mechanism has its own rank: a stiff one is not lost next to a soft one.
#[test]
fn ranks_of_separate_parts_add_up() {
    let run = Run::new("compliance-parts");
    let stiff = ROD.split("[[body]]").nth(1).expect("a body").replace("\"rod\"", "\"stiff\"");
    let stiff = stiff.replace("\"pivot\"", "\"other\"").replace("\"tip\"", "\"end\"");
    let stiff = stiff.replace("[10.0, 20.0, 40.0]", "[1e11, 2e11, 4e11]");
    run.file("parts.toml", format!("{ROD}[[body]]{stiff}"));
    let document = run.json(&["compliance", "parts.toml"], 0);
    assert_eq!(document["effectors"], serde_json::json!(["tip", "end"]));
    assert_eq!(document["rank"], 6);
}

#[test]
fn bad_input() {
    let run = Run::new("compliance-input");
    let fails = |more: &[&str], words: &[&str]| {
        run.fails(&[&["compliance", "two-link"], more].concat(), 2, words);
    };
    fails(&["--effector", "tipp"], &["`tipp`", "`tip`", "[[effector]]", "body"]);
    fails(&["--effector", "tip", "--effector", "tip"], &["`tip`", "twice"]);
    fails(&["--method", "fast"], &["`fast`", "`exact`", "`incremental`"]);
    fails(&["--at", "elbow"], &["JOINT=VALUE"]);
    fails(&["--at", "elbow=east"], &["`east` is not a number"]);
    fails(&["--at", "elbow=nan"], &["not finite"]);
    fails(&["--at", "elbo=1"], &["no joint `elbo`", "did you mean `elbow`?"]);
    fails(&["--at", "nothing-like-it=1"], &["no joint", "joints: shoulder, elbow"]);
    fails(&["--at", "elbow=1,2"], &["`elbow` has 1 freedom, not 2"]);
    fails(&["--at", "elbow=1", "--at", "elbow=2"], &["`elbow` is named twice"]);
    fails(&["--at", "elbow=1", "--loaded"], &["--at", "--loaded"]);
    fails(&["--load", "tip=1,2,3"], &["--loaded"]);
    fails(&["--no-gravity"], &["--loaded"]);
    fails(&["--loaded", "--load", "hip=1,2,3"], &["no effector or body `hip`", "effectors: tip"]);
    fails(&["--threads", "0"], &["--threads"]);
    run.fails(&["compliance", "twolink"], 2, &["did you mean `two-link`?"]);

    run.file("rod.toml", ROD);
    run.fails(&["compliance", "rod.toml", "--at", "pivot=1"], 2, &["`pivot` has 3 freedoms, not 1"]);
    run.file("bare.toml", ROD.split("[[effector]]").next().expect("a scene"));
    run.fails(&["compliance", "bare.toml"], 2, &["`rod` has no effector", "[[effector]]", "--effector"]);
    assert_eq!(run.json(&["compliance", "bare.toml", "--effector", "rod"], 0)["rank"], 3);
    run.file("loose.toml", ROD.replace("stiffness = [10.0, 20.0, 40.0]", ""));
    run.fails(&["compliance", "loose.toml"], 2, &["`tip`", "`pivot`", "nothing holds", "stiffness"]);
    run.file("welded.toml", ROD.replace("ball", "fixed").replace("stiffness = [10.0, 20.0, 40.0]", ""));
    run.fails(&["compliance", "welded.toml"], 2, &["`tip`", "cannot move", "welded to the world"]);
}

#[test]
fn loops_do_not_take_every_position() {
    let run = Run::new("compliance-loop");
    let turned = run.json(&["compliance", "four-bar", "--at", "A=0.1"], 0);
    assert_eq!(turned["rank"], 1);
    let impossible = ["compliance", "four-bar", "--at", "A=0.1", "--at", "B=1"];
    run.fails(&impossible, 2, &["cannot be at these positions"]);
}

#[test]
fn no_equilibrium_is_a_failed_job() {
    let run = Run::new("compliance-failure");
    run.file("rod.toml", ROD);
    let overload = ["compliance", "rod.toml", "--loaded", "--load", "rod=1e300,0,0"];
    run.fails(&overload, 1, &["no equilibrium found"]);
    let document = run.json(&overload, 1);
    assert_eq!(keys(&document), ["converged", "error"]);
    assert_eq!(document["converged"], false);
    run.fails(&["compliance", "hexapod", "--loaded"], 1, &["not unique", "free base"]);
}

/// Exact on trees and simple loops; where it is not, it says so, and where.
#[test]
fn the_incremental_method_tells_where_it_is_not_exact() {
    let run = Run::new("compliance-incremental");
    let method = |mechanism: &str, method: &str| run.json(&["compliance", mechanism, "--method", method], 0);
    for mechanism in ["arm", "hexapod", "four-bar", "loop"] {
        let (exact, incremental) = (method(mechanism, "exact"), method(mechanism, "incremental"));
        assert_eq!((&incremental["exact"], &incremental["rank"]), (&true.into(), &exact["rank"]));
        assert_eq!(incremental["inexact_at"], serde_json::json!([]));
        let C = matrix(&exact);
        let largest = C.iter().flatten().fold(0.0f64, |m, x| m.max(x.abs()));
        close(&C, &matrix(&incremental), 1e-12 * largest);
    }
    let document = method("graph", "incremental");
    assert_eq!((&document["exact"], &document["inexact_at"]), (&false.into(), &serde_json::json!(["e"])));
    let outcome = run.run(&["compliance", "graph", "--method", "incremental"]);
    assert_eq!((outcome.code, outcome.err.as_str()), (0, ""));
    assert!(outcome.out.contains("is not exact here") && outcome.out.contains("`e`"), "{}", outcome.out);
}

/// A slider with a pad that its spring presses on a wall: along the wall's normal nothing yields, along it nothing either while friction
/// holds; the free part beyond a second spring yields as that spring does.
#[test]
fn at_rest_contacts_hold() {
    let run = Run::new("compliance-resting");
    run.file("pad.toml", include_str!("scenes/pressed-pad.toml"));
    let document = run.json(&["compliance", "pad.toml", "--resting"], 0);
    let C = matrix(&document);
    for i in 0..6 {
        for k in 0..6 {
            let expected = if i == 2 && k == 2 { 1.0 / 500.0 } else { 0.0 };
            assert!((C[i][k] - expected).abs() < 1e-8, "{i} {k}: {}", C[i][k]);
        }
    }
    // What contacts yield as springs is no motion: the neck is one, and 24 freedoms of the hexapod less three for each of six feet are six.
    assert_eq!(document["rank"], 1);
    assert_eq!(run.json(&["compliance", "hexapod-terrain", "--resting"], 0)["rank"], 6);
    run.fails(&["compliance", "two-link", "--resting"], 2, &["--resting", "--loaded"]);
    run.fails(&["compliance", "pad.toml", "--gravity", "0,0,1"], 2, &["--resting"]);
}

/// A ball that a spring presses on the floor would roll: a warning has what that changes.
#[test]
fn at_rest_what_rolls_is_a_warning() {
    let run = Run::new("compliance-rolling");
    let scene = |shape: &str| include_str!("scenes/pressed-ball.toml").replace("SHAPE", shape);
    run.file("ball.toml", scene("kind = \"ball\"\nradius = 0.1"));
    let measures = run.json(&["compliance", "ball.toml", "--resting"], 0)["measures"].clone();
    assert_eq!(measures[0]["kind"], "rolling left out", "{measures}");
    let measure = measures[0]["measure"].as_f64().expect("a number");
    // About y the point that stays is turned against springs, 150 N·m/rad + 900 N/m (0.3 m)², less what presses from above: the spring's 50 N
    // at 0.3 m and the weight at 0.1 m. Rolling adds Nρ. What is softest is the spin, held by 100 N·m/rad.
    let weight = 2.0 * 9.81;
    let held = 150.0 + 900.0 * 0.09 - (50.0 * 0.3 + weight * 0.1);
    let expected = 0.1 * (50.0 + weight) / (held * held) * 100.0;
    assert!((measure / expected - 1.0).abs() < 1e-3, "{measure} of {expected}");
    run.file("box.toml", scene("kind = \"box\"\nsize = [0.2, 0.2, 0.2]"));
    assert_eq!(run.json(&["compliance", "box.toml", "--resting"], 0)["warnings"], serde_json::json!([]));
}
