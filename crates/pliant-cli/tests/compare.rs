//! Claim: `compare` writes one page that needs nothing else and is well formed whatever the mechanism is called,
//! and one JSON document with every figure; errors fall with the displacement; what cannot be compared is said,
//! not failed; every entry of the gallery gives a page; two runs differ in timings alone.

use std::fs;

use crate::common::json::number;
use crate::common::page::check_page;
use crate::common::{Run, snapshot_of_help, two_at_a_time};
use serde_json::Value;

/// A link on a hinge, with a place for more text in the head and at the end.
fn scene(name: &str, more: &str) -> String {
    include_str!("scenes/two-links.toml").replace("NAME", &format!("{name:?}")) + more
}

const TIP: &str = "[[effector]]\nname = \"tip\"\nbody = \"lower\"\nposition = [0.25, 0.0, 0.0]\n";

fn read(run: &Run, name: &str) -> String {
    fs::read_to_string(run.folder.join(name)).expect("a page")
}

#[test]
fn help() {
    snapshot_of_help(&Run::new("compare-help"), "help_compare", &["compare", "--help"]);
}

#[test]
fn people_get_the_point_and_a_page() {
    let run = Run::new("compare-people");
    let outcome = run.run(&["compare", "rungs:12"]);
    assert_eq!((outcome.code, outcome.err.as_str()), (0, ""));
    assert!(outcome.out.starts_with("Good"), "{}", outcome.out);
    assert!(outcome.out.contains("\n\nThe linear model has 1 coordinate instead of the 72 of 12 bodies"));
    assert!(outcome.out.ends_with("wrote rungs-12-compare.html\n"), "{}", outcome.out);
    let page = read(&run, "rungs-12-compare.html");
    check_page(&page);
    let first =
        page.split("<p class=\"lead\">").nth(1).expect("a lead").split("</p>").next().expect("its end");
    assert!(first.contains("1 coordinate") && first.contains("times as fast") && first.contains('%'));
    assert!(first.contains("the fastest engine with every freedom"), "{first}");
    for id in
        ["path", "apart", "error", "violation", "speed", "drawing-scene", "motion-canvas", "motion-data"]
    {
        assert!(page.contains(&format!("id=\"{id}")), "{id}");
    }
    assert!(page.matches("<title id=").count() >= 7, "plots and drawings have titles");
    assert!(page.contains("prefers-color-scheme: dark") && page.contains("@media print"));
}

/// The model is linear at the file's pose: its error falls at least with the square of the displacement.
#[test]
fn errors_fall_with_the_displacement() {
    let run = Run::new("compare-errors");
    for name in ["y", "chain:8", "rungs:12"] {
        let document = run.json(&["compare", name], 0);
        let error = document["errors"].as_array().expect("a list");
        assert!(error.len() >= 10, "{name}");
        assert_eq!(error.iter().filter(|e| e["load_scale"] == 1.0).count(), 1, "{name}: the scene's load");
        for pair in error.windows(2) {
            let of = |key: &str| (number(&pair[0][key]), number(&pair[1][key]));
            let (displacement, effector) = (of("displacement"), of("effector"));
            assert!(displacement.0 < displacement.1, "{name}");
            // Below 1e-9 it is rounding and the tolerances of both solvers; curves bend where they are far.
            if effector.1 > 1e-9 && displacement.1 < 0.5 {
                let order = (effector.1 / effector.0).ln() / (displacement.1 / displacement.0).ln();
                assert!(order > 1.8, "{name}: order {order} at {displacement:?}");
            }
            // The estimate is of the worst link, the error of the effector.
            let estimate = number(&pair[1]["estimate"]);
            if effector.1 > 1e-6 && displacement.1 < 0.3 {
                assert!(
                    (0.5..3.0).contains(&(estimate / effector.1)),
                    "{name}: {estimate} of {}",
                    effector.1
                );
            }
            for kind in ["twist", "joint", "corrected"] {
                let links = &pair[1][kind];
                assert!(number(&links["mean"]) <= number(&links["max"]), "{name}");
                assert!(number(&links["violation"]) >= 0.0, "{name}");
            }
        }
        let last = error.last().expect("a sample");
        assert!(number(&last["joint"]["violation"]) < 1e-9, "{name}: no gap in trees and parallelograms");
        assert!(number(&last["twist"]["violation"]) > 1e-3, "{name}: links by themselves come apart");
    }
}

#[test]
fn the_document_has_every_figure() {
    let run = Run::new("compare-json");
    let document = run.json(&["compare", "four-bar", "-o", "page.html"], 0);
    assert_eq!((&document["mechanism"], &document["page"]), (&"four-bar".into(), &"page.html".into()));
    assert_eq!((&document["bodies"], &document["coordinates"]), (&3.into(), &1.into()));
    assert_eq!(document["effectors"].as_array().map(Vec::len), Some(1));
    let transient = &document["transient"];
    for key in [
        "dt",
        "duration",
        "max_displacement_relative",
        "max_error_relative",
        "max_error_relative_4_modes",
        "rms_error_relative",
        "final_error_relative",
    ] {
        assert!(number(&transient[key]) > 0.0, "{key}");
    }
    assert_eq!(number(&transient["duration"]), number(&transient["dt"]) * number(&transient["steps"]));
    let full = &document["frequencies"]["full_hz"];
    let models = document["frequencies"]["models"].as_array().expect("models");
    assert_eq!(models.len(), 3);
    for model in models {
        assert_eq!(model["mass"], "condensed");
        let ratio = number(&model["hz"][0]) / number(&full[0]);
        assert!((number(&model["ratio"][0]) - ratio).abs() < 1e-12);
        // Constraining a linear mechanism stiffens it (Rayleigh).
        assert!((1.0 - 1e-9..1.01).contains(&ratio), "{ratio}");
    }
    let speed = &document["speed"];
    // The same equations and the same steps in other coordinates: what is left is how the step damps.
    let articulated = number(&document["transient"]["articulated"]["max_error_relative"]);
    assert!(
        articulated < 0.01 * number(&document["transient"]["max_displacement_relative"]),
        "{articulated}"
    );
    for engine in ["articulated", "reduced", "blended"] {
        assert!(document["transient"][engine]["stopped"].is_null(), "{engine}");
    }
    // Speed is reported against the faster of the engines with every freedom.
    let exact = number(&speed["full_us"]).min(number(&speed["articulated_us"]));
    assert_eq!(number(&speed["exact_us"]), exact);
    let named = speed["exact_engine"].as_str().expect("a name");
    assert_eq!(number(&speed[format!("{named}_us").as_str()]), exact);
    assert_eq!(number(&speed["times_as_fast"]), exact / number(&speed["joint_us"]));
    for key in [
        "full_us",
        "articulated_us",
        "twist_us",
        "joint_us",
        "corrected_us",
        "effectors_us",
        "reduced_us",
        "blended_us",
        "exact_us",
        "times_as_fast",
        "build_full_us",
        "build_linear_us",
    ] {
        assert!(number(&speed[key]) > 0.0, "{key}");
    }
    check_page(&read(&run, "page.html"));
}

/// At their default sizes; under a minute each, and all of them together.
#[test]
fn every_gallery_entry_gives_a_page() {
    let run = Run::new("compare-gallery");
    two_at_a_time(&run.mechanisms(), |name| {
        let document = run.json(&["compare", name], 0);
        assert_eq!(document["page"], format!("{name}-compare.html"));
        let page = read(&run, &format!("{name}-compare.html"));
        check_page(&page);
        assert!(page.len() < 1_500_000, "{name}: {} bytes", page.len());
        if name == "adaptive-gripper" {
            // Its couplers press on their stops, which a linear model does not have: the page says so.
            assert!(page.contains("joint limits act"));
        } else {
            assert!(number(&document["transient"]["max_error_relative"]) < 0.2, "{name}");
        }
        assert_eq!(document["transient"]["stopped"], Value::Null, "{name}");
        let samples = document["errors"].as_array().expect("a list").len();
        if name == "hexapod" {
            assert_eq!(samples, 0);
            assert!(document["error_stopped"].as_str().is_some_and(|why| why.contains("free base")));
            assert!(page.contains("There is no static comparison") && page.contains("free base"));
        } else {
            assert!(samples >= 10, "{name}");
        }
        Some(())
    });
}

#[test]
fn two_runs_differ_in_timings_alone() {
    let run = Run::new("compare-repeat");
    let once = || {
        let mut document = run.json(&["compare", "y"], 0);
        document["speed"] = Value::Null;
        let page = read(&run, "y-compare.html");
        let part = |from: &str, to: &str| {
            let start = page.find(from).expect("a start");
            page[start..start + page[start..].find(to).expect("an end")].to_string()
        };
        (document, part("<h2>The mechanism", "<h2>Speed"), part("motion-data\">", "</script>"))
    };
    assert!(once() == once());
}

/// Engines that go further than one linear model: exact, or as good as their samples; and they know it. Between few samples a blend
/// is off by more than the one linear model is at the largest of these loads, 0.11 and 0.07: the page shows both.
#[test]
fn reduced_and_blended_stand_next_to_linear() {
    let run = Run::new("compare-engines");
    let document = run.json(&["compare", "y"], 0);
    assert!(document["blended"]["models"].as_u64().is_some_and(|n| n > 1), "{}", document["blended"]);
    // Made under random loads, and checked under others.
    assert!(number(&document["blended"]["held_out"]) <= 0.05, "{}", document["blended"]);
    assert_eq!((&document["blended"]["tested"], &document["blended"]["bound"]), (&12.into(), &0.05.into()));
    assert_eq!(document["blended"]["error"], Value::Null);
    let errors = document["errors"].as_array().expect("a list");
    let mut worst = [0.0f64; 2];
    let near: Vec<&Value> = errors.iter().filter(|at| number(&at["displacement"]) < 1.0).collect();
    assert_eq!((near.len(), errors.len()), (18, 19));
    for at in near {
        // Made for the scene's load, and at others near it.
        assert!(number(&at["reduced"]["effector"]) < 1e-3, "{at}");
        assert!(number(&at["reduced"]["estimate"]) < 2e-3, "{at}");
        let of = [&at["blended"], at].map(|engine| number(&engine["effector"]));
        worst = [worst[0].max(of[0]), worst[1].max(of[1])];
    }
    assert!(worst.iter().all(|off| (0.05..0.15).contains(off)), "{worst:?}");
    let page = read(&run, "y-compare.html");
    assert!(page.contains("id=\"engines") && page.contains("Further than one linear model"));
    let made = format!("between {} linear models, sampled", document["blended"]["models"]);
    assert!(page.contains(&made) && page.contains("under 12 other loads"), "{made}");

    // That of a model file is its mechanism.
    run.json(&["reduce", "y", "--displacement", "0.3", "-o", "y.pliant"], 0);
    let again = run.json(&["compare", "y.pliant"], 0);
    assert_eq!(again["blended"], document["blended"]);
    let document = again;
    assert_eq!(document["page"], "y-compare.html");
}

/// Loads beyond those that the blended model was made with are reported once, in the words of `simulate` and `statics`, where the
/// estimate is above the bound, and only there.
#[test]
fn loads_beyond_the_samples_of_a_blend() {
    let run = Run::new("compare-beyond");
    let words = "beyond those it was built for";
    let told = |name: &str| {
        let document = run.json(&["compare", name, "-o", "page.html"], 0);
        let counts = [document.to_string(), read(&run, "page.html")].map(|text| text.matches(words).count());
        (document, counts)
    };
    let mut beyond = [0, 0];
    for name in ["two-link", "y", "gripper", "chain:6"] {
        let (document, counts) = told(name);
        let bound = number(&document["blended"]["bound"]);
        let errors = document["errors"].as_array().expect("a list");
        let estimates = errors.iter().filter_map(|at| at["blended"]["estimate"].as_f64());
        let is = usize::from(estimates.fold(0.0, f64::max) > bound);
        assert_eq!(counts, [is, is], "{name}");
        beyond[is] += 1;
    }
    assert!(beyond[0] > 0 && beyond[1] > 0, "{beyond:?}");
    let (document, counts) = told("four-bar");
    assert_eq!(counts, [1, 1]);
    // Not under the scene's load, but from some load on, which is named.
    let bound = number(&document["blended"]["bound"]);
    let errors = document["errors"].as_array().expect("a list");
    let first = errors.iter().find(|at| number(&at["blended"]["estimate"]) > bound).expect("one");
    assert_eq!(first["load_scale"], 4.0);
    let warnings = document["warnings"].as_array().expect("a list");
    let warning =
        warnings.iter().filter_map(|warning| warning.as_str()).find(|warning| warning.contains(words));
    let warning = warning.expect("a warning");
    assert!(
        warning.starts_with("blended at rest under 4 times the scene's load: the pose is off"),
        "{warning}"
    );
    assert!(read(&run, "page.html").contains(">Blended at rest under"));
    let outcome = run.run(&["compare", "four-bar"]);
    assert!(outcome.err.contains(words), "{}", outcome.err);
}

#[test]
fn names_cannot_break_the_page() {
    let run = Run::new("compare-names");
    let name = "</script><b>&\"'";
    run.file("odd name.toml", scene(name, TIP));
    let document = run.json(&["compare", "odd name.toml"], 0);
    assert_eq!((&document["page"], &document["mechanism"]), (&"odd-name-compare.html".into(), &name.into()));
    let page = read(&run, "odd-name-compare.html");
    check_page(&page);
    assert!(page.contains("<h1>&lt;/script&gt;&lt;b&gt;&amp;"));
}

/// Targets move the mechanism; limits that act are reported, and so is a load that nothing bears.
#[test]
fn targets_limits_and_loads_beyond_bearing() {
    let run = Run::new("compare-targets");
    let target = "[[target]]\njoint = \"elbow\"\ntime = [0.0, 0.4]\nposition = [0.0, 0.3]\n";
    run.file("target.toml", scene("target", &format!("{TIP}{target}")));
    let document = run.json(&["compare", "target.toml"], 0);
    assert!(number(&document["transient"]["duration"]) >= 0.4);
    assert!(number(&document["transient"]["max_displacement_relative"]) > 0.1);
    assert!(number(&document["transient"]["max_error_relative"]) < 0.1);
    assert_eq!(document["notes"], Value::Array(Vec::new()));

    let load = "[[load]]\neffector = \"tip\"\nforce = [0.0, 0.0, -400.0]\n";
    run.file("limit.toml", scene("limit", &format!("{TIP}{load}")));
    let document = run.json(&["compare", "limit.toml"], 0);
    let notes = document["notes"].to_string();
    assert!(notes.contains("shoulder") && notes.contains("limits"), "{notes}");
    assert!(read(&run, "limit-compare.html").contains("A linear model has no limits"));
}

/// What makes figures other than they seem is reported.
#[test]
fn falling_bases_and_springs_that_pull_away() {
    let run = Run::new("compare-notes");
    run.file("away.toml", scene("away", TIP).replace("stiffness = 100.0", "stiffness = 100.0\nrest = 0.5"));
    let notes = run.json(&["compare", "away.toml"], 0)["notes"].to_string();
    assert!(notes.contains("Springs pull away") && notes.contains("“elbow” by 0.5 rad"), "{notes}");
    let falling = scene("falling", TIP).replace(
        "mass = 0.5\ninertia = [1e-3, 5e-3, 5e-3]\n[[body]]",
        "mass = 0.5\n\
        inertia = [1e-3, 5e-3, 5e-3]\nfree = true\n[[body]]",
    );
    let (head, tail) = falling.split_once("[[joint]]").expect("a joint");
    let (_, tail) = tail.split_once("[[joint]]").expect("another");
    run.file("falling.toml", format!("{head}[[joint]]{tail}"));
    let notes = run.json(&["compare", "falling.toml"], 0)["notes"].to_string();
    assert!(notes.contains("The base is free and falls"), "{notes}");
    let load = "[[load]]\neffector = \"tip\"\nforce = [0.0, 0.0, 9.81]\n";
    run.file("carried.toml", format!("{head}[[joint]]{tail}{load}"));
    let notes = run.json(&["compare", "carried.toml"], 0)["notes"].to_string();
    assert!(!notes.contains("falls"), "{notes}");
}

#[test]
fn what_cannot_be_compared() {
    let run = Run::new("compare-bad");
    run.fails(&["compare"], 2, &["<MECH>"]);
    run.fails(&["compare", "helx"], 2, &["did you mean `helix`?"]);
    run.fails(&["compare", "missing.toml"], 2, &["missing.toml"]);
    run.fails(&["compare", "y", "-o", "page.svg"], 2, &["page.svg", ".html"]);
    run.fails(&["compare", "y", "-o", "nowhere/page.html"], 1, &["nowhere", "no folder"]);
    run.file("no-effector.toml", scene("bare", ""));
    run.fails(&["compare", "no-effector.toml"], 2, &["`bare`", "[[effector]]"]);
    let stuck = scene("stuck", TIP).replace("stiffness = 100.0\n", "");
    run.file("loose.toml", stuck);
    run.fails(&["compare", "loose.toml"], 2, &["elbow", "stiffness"]);
    assert!(
        fs::read_dir(&run.folder)
            .expect("a folder")
            .all(|f| { f.expect("a file").path().extension().is_some_and(|e| e == "toml") })
    );
}

/// The first thing that a reader gets is whether all is well: in green, or what is not, in red, with the values that say so.
#[test]
fn a_verdict_comes_first() {
    let run = Run::new("compare-verdict");
    for (mechanism, good, words) in [
        ("rungs:12", true, &[][..]),
        // Chosen so that one linear model is far off, and the engines with every freedom are not.
        ("arm", false, &["`linear` is off by", "in motion"]),
        ("hand-grasp", false, &["`linear` is up to", "from `full`"]),
    ] {
        let document = run.json(&["compare", mechanism, "-o", "page.html"], 0);
        assert_eq!(document["verdict"]["good"], good, "{mechanism}: {}", document["verdict"]);
        let wrong = document["verdict"]["wrong"].to_string();
        assert!(words.iter().all(|word| wrong.contains(word)), "{mechanism}: {wrong}");
        let right = document["verdict"]["right"].as_array().expect("engines");
        assert!(right.contains(&"articulated".into()), "{mechanism}: {right:?}");
        assert_eq!(right.contains(&"linear".into()), good, "{mechanism}: {right:?}");
        let page = read(&run, "page.html");
        check_page(&page);
        let class = if good { "verdict good" } else { "verdict bad" };
        let [verdict, lead] =
            [format!("<p class=\"{class}\">"), "<p class=\"lead\">".into()].map(|tag| page.find(&tag));
        assert!(verdict.expect("a verdict") < lead.expect("a lead"), "{mechanism}");
        // Of a good one, errors under more than the scene's load may be red.
        assert!(good || page.contains("class=\"alarm\""), "{mechanism}");
    }
}
