//! `--at`, `--base`, `--effector`, `--gravity`, `--load`, `--spring` and `--dt` mean the same wherever they stand: what a scene file
//! says with its own keys, or a closed form.

use crate::common::Run;
use crate::common::json::numbers;
use serde_json::Value;

/// A slider of 2 kg on a spring of 300 N/m along z, critically damped or so, with limits of ±0.2 m.
const SLIDER: &str = include_str!("scenes/slider.toml");

/// A document without what depends on the clock.
fn timeless(mut document: Value) -> Value {
    for key in ["time_per_step_us", "p99_us"] {
        document.as_object_mut().expect("an object").remove(key);
    }
    document
}

/// The scene file of a mechanism, with lines put into the section of one joint.
fn scene(run: &Run, mechanism: &str, joint: &str, lines: &str) -> String {
    let file = format!("{}-{joint}.toml", mechanism.replace(':', "-"));
    assert_eq!(run.run(&["export", mechanism, "-o", &file]).code, 0);
    let text = std::fs::read_to_string(run.folder.join(&file)).expect("a scene");
    let name = format!("name = \"{joint}\"\n");
    let (at, _) = text.match_indices(&name).last().expect("the joint");
    let at = at + name.len();
    run.file(&file, format!("{}{lines}\n{}", &text[..at], &text[at..]));
    file
}

#[test]
fn a_position_is_the_start_of_a_scene_file() {
    let run = Run::new("options-at");
    let mut ran = 0;
    for (mechanism, joint, value) in
        [("two-link", "elbow", 0.5_f64), ("arm", "arm2", -0.3), ("hexapod", "front_left_femur", 0.2)]
    {
        let file = scene(&run, mechanism, joint, &format!("start = {value:?}"));
        for engine in ["full", "articulated", "reduced", "linear"] {
            let times = ["--engine", engine, "--duration", "0.05", "--dt", "0.01"];
            let command = |mechanism: &str, more: &[&str]| {
                timeless(run.json(&[&["simulate", mechanism], &times[..], more].concat(), 0))
            };
            let expected = command(&file, &[]);
            assert_eq!(
                command(mechanism, &["--at", &format!("{joint}={value}")]),
                expected,
                "{mechanism}, {engine}"
            );
            let degrees = format!("{joint}={}deg", value.to_degrees());
            let turned = command(mechanism, &["--at", &degrees]);
            // Degrees are rounded once more.
            for (name, pose) in expected["bodies"].as_object().expect("bodies") {
                let (a, b) = (numbers(&pose["position"]), numbers(&turned["bodies"][name]["position"]));
                assert!(
                    a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-12),
                    "{mechanism}, {engine}: {a:?}, {b:?}"
                );
            }
            ran += 1;
        }
        let expected = run.json(&["compliance", &file], 0)["compliance"].clone();
        let at = format!("{joint}={value}");
        assert_eq!(run.json(&["compliance", mechanism, "--at", &at], 0)["compliance"], expected);
    }
    assert_eq!(ran, 12);
}

#[test]
fn loops_stay_closed_where_joints_are_put() {
    let run = Run::new("options-loops");
    for engine in ["full", "articulated", "linear"] {
        let times = ["--engine", engine, "--duration", "0", "--dt", "0.01"];
        let document = run.json(&[&["simulate", "four-bar", "--at", "A=0.1"], &times[..]].concat(), 0);
        assert!((numbers(&document["joints"]["A"]["position"])[0] - 0.1).abs() < 1e-8, "{engine}");
        assert!(document["violation"].as_f64().expect("a number") < 1e-9, "{engine}");
    }
    let impossible = ["statics", "four-bar", "--at", "A=0.1", "--at", "B=1"];
    run.fails(&impossible, 2, &["cannot be at these positions"]);
}

#[test]
fn values_beyond_a_limit_warn_with_both() {
    let run = Run::new("options-limits");
    run.file("slider.toml", SLIDER);
    let at = ["slider.toml", "--at", "rail=0.25"];
    let times = ["--engine", "full", "--duration", "0", "--dt", "0.01"];
    let commands: [Vec<&str>; 5] = [
        [&["simulate"], &at[..], &times].concat(),
        [&["statics"], &at[..]].concat(),
        [&["compliance"], &at[..]].concat(),
        [&["compare"], &at[..], &["-o", "slider.html"]].concat(),
        [&["reduce"], &at[..], &["-o", "slider.pliant", "--displacement", "0.1"]].concat(),
    ];
    for command in &commands {
        let outcome = run.run(&[command.as_slice(), &["--json"]].concat());
        let document: Value = serde_json::from_str(&outcome.out).expect("one JSON document");
        let warnings = document["warnings"].as_array().expect("warnings");
        let told = warnings.iter().any(|w| {
            let text = w.as_str().expect("a sentence");
            ["--at", "`rail`", "0.25 m", "0.2 m"].iter().all(|word| text.contains(word))
        });
        assert!(told, "{command:?}: {warnings:?}");
    }
    let within = run.json(&["statics", "slider.toml", "--at", "rail=0.2"], 0);
    assert_eq!(within["warnings"], serde_json::json!([]));
    run.fails(&["statics", "slider.toml", "--at", "rail=10deg"], 2, &["`rail`", "translation", "in m"]);
}

#[test]
fn gravity_is_that_of_a_scene_file() {
    let run = Run::new("options-gravity");
    run.file("slider.toml", SLIDER);
    run.file("up.toml", SLIDER.replace("[0.0, 0.0, -10.0]", "[0.5, 0.0, 4.0]"));
    for command in [
        &["statics"][..],
        &["simulate", "--engine", "articulated", "--duration", "0.1", "--dt", "0.01"],
        &["compliance", "--loaded"],
    ] {
        let given = run.json(&[command, &["slider.toml", "--gravity", "0.5,0,4"]].concat(), 0);
        assert_eq!(timeless(given), timeless(run.json(&[command, &["up.toml"]].concat(), 0)), "{command:?}");
    }
    // m g / k
    let negative = run.json(&["statics", "slider.toml", "--gravity", "-1,0,-3"], 0);
    assert!((numbers(&negative["joints"]["rail"]["position"])[0] + 0.02).abs() < 1e-12);
    let errors = |more: &[&str]| {
        let page = run.json(&[&["compare"], more, &["-o", "page.html"]].concat(), 0);
        page["errors"].clone()
    };
    assert_eq!(errors(&["slider.toml", "--gravity", "0.5,0,4"]), errors(&["up.toml"]));
    run.fails(&["statics", "slider.toml", "--gravity", "1,2"], 2, &["2 numbers", "x,y,z"]);
    let both = ["statics", "slider.toml", "--gravity", "1,2,3", "--no-gravity"];
    run.fails(&both, 2, &["--gravity", "--no-gravity"]);
}

#[test]
fn a_free_base_is_placed_as_a_whole() {
    let run = Run::new("options-base");
    let times = ["--engine", "full", "--duration", "0", "--dt", "0.01"];
    let at = |more: &[&str]| run.json(&[&["simulate", "hexapod"], &times[..], more].concat(), 0);
    let (before, after) = (at(&[]), at(&["--base", "-1,2,3,0,0,1.5707963267948966"]));
    let [from, to] = [&before, &after].map(|document| numbers(&document["bodies"]["base"]["position"]));
    assert_eq!(to, [-1.0, 2.0, 3.0]);
    // A quarter turn about z takes (x, y, z) from the base to (−y, x, z).
    for (body, pose) in before["bodies"].as_object().expect("bodies") {
        let (p, q) = (numbers(&pose["position"]), numbers(&after["bodies"][body]["position"]));
        let d = [p[0] - from[0], p[1] - from[1], p[2] - from[2]];
        let expected = [to[0] - d[1], to[1] + d[0], to[2] + d[2]];
        assert!(expected.iter().zip(&q).all(|(a, b)| (a - b).abs() < 1e-12), "{body}: {expected:?}, {q:?}");
    }
    let fixed = ["statics", "arm", "--base", "0,0,1"];
    run.fails(&fixed, 2, &["--base", "free base", "--free-base"]);
}

#[test]
fn effectors_are_bodies_or_effectors_everywhere() {
    let run = Run::new("options-effectors");
    let names = |document: &Value| -> Vec<String> {
        document["effectors"].as_object().expect("effectors").keys().cloned().collect()
    };
    let body = "arm3";
    let statics = run.json(&["statics", "arm", "--effector", body], 0);
    assert_eq!(statics["effectors"][body], statics["bodies"][body]);
    // The scene's load acts on `tip`, which stays.
    assert_eq!(names(&statics), [body, "tip"]);
    for engine in ["full", "articulated", "linear", "reduced"] {
        let times = ["--engine", engine, "--duration", "0.01", "--dt", "0.01"];
        let document = run.json(&[&["simulate", "y", "--effector", "right"], &times[..]].concat(), 0);
        assert!(names(&document).contains(&"right".into()), "{engine}");
    }
    let page = run.json(&["compare", "two-link", "--effector", "upper", "-o", "page.html"], 0);
    assert!(page["effectors"].as_array().expect("names").contains(&"upper".into()), "{}", page["effectors"]);
    for command in ["statics", "compliance", "compare"] {
        run.fails(
            &[command, "arm", "--effector", "tipp"],
            2,
            &["`tipp`", "did you mean `tip`?", "[[effector]]"],
        );
        run.fails(&[command, "arm", "--effector", "tip", "--effector", "tip"], 2, &["`tip`", "twice"]);
    }
    run.fails(&["compare", "arm", "--load", "arm3=1,0,0"], 2, &["`arm3`", "--effector arm3"]);
}

#[test]
fn a_load_of_compare_is_one_of_the_scene() {
    let run = Run::new("options-load");
    run.file("slider.toml", SLIDER);
    let load = "[[load]]\neffector = \"hook\"\nforce = [0.0, 0.0, 5.0]\n";
    run.file("loaded.toml", format!("{SLIDER}{load}"));
    let errors =
        |more: &[&str]| run.json(&[&["compare", "-o", "page.html"], more].concat(), 0)["errors"].clone();
    assert_eq!(errors(&["slider.toml", "--load", "hook=0,0,5"]), errors(&["loaded.toml"]));
}

#[test]
fn steps_of_a_comparison_are_as_long_as_asked_for() {
    let run = Run::new("options-dt");
    run.file("slider.toml", SLIDER);
    let page = run.json(&["compare", "slider.toml", "--dt", "0.002", "-o", "page.html"], 0);
    assert_eq!((page["transient"]["dt"].as_f64(), page["speed"]["dt"].as_f64()), (Some(0.002), Some(0.002)));
    let touching = run.json(&["compare", "hand-grasp", "--dt", "0.01", "-o", "page.html"], 0);
    assert_eq!(touching["contact"]["dt"], 0.01);
    run.fails(&["compare", "slider.toml", "--dt", "0"], 2, &["above zero"]);
}

/// With a spring k₂ to the height z and one k₁ of the joint, the hook at height h + q is at rest where
/// k₁ q = k₂ (z − h − q) − m g.
#[test]
fn a_spring_pulls_to_a_point_in_every_engine() {
    let run = Run::new("options-spring");
    run.file("slider.toml", SLIDER);
    let (k1, k2, z, h) = (300.0, 200.0, 0.3, 0.1);
    let q = (k2 * (z - h) - 20.0) / (k1 + k2);
    let spring = ["slider.toml", "--spring", "hook=0,0,0.3,200"];
    let check = |document: &Value, within: f64, what: &str| {
        let found = numbers(&document["joints"]["rail"]["position"])[0];
        assert!((found - q).abs() < within, "{what}: {found}, not {q}");
        let force = numbers(&document["springs"][0]["force"]);
        assert_eq!(document["springs"][0]["on"], "hook");
        assert!((force[2] - k2 * (z - h - q)).abs() < k2 * within, "{what}: {force:?}");
    };
    check(&run.json(&[&["statics"], &spring[..]].concat(), 0), 1e-10, "statics");
    for engine in ["full", "articulated", "linear", "reduced"] {
        // 5 s are 60 times the slowest time constant.
        let times = ["--engine", engine, "--duration", "5", "--dt", "0.01"];
        check(&run.json(&[&["simulate"], &spring[..], &times].concat(), 0), 1e-9, engine);
    }
    // A spring of the scene is the same one, and is listed.
    let scene = format!(
        "{SLIDER}\n[[spring]]\nname = \"lead\"\neffector = \"hook\"\npoint = [0, 0, 0.3]\nstiffness = 200\n"
    );
    run.file("sprung.toml", &scene);
    check(&run.json(&["statics", "sprung.toml"], 0), 1e-10, "scene");
    let listed = run.json(&["info", "sprung.toml"], 0);
    assert_eq!(
        (&listed["springs"][0]["name"], &listed["springs"][0]["on"]),
        (&"lead".into(), &"hook".into())
    );
    // The compliance along the rail is 1/(k₁ + k₂), of the option and of the scene, loaded or not.
    for arguments in [&spring[..], &["sprung.toml"], &["sprung.toml", "--loaded"]] {
        let document = run.json(&[&["compliance"], arguments].concat(), 0);
        let along = numbers(&document["compliance"][2])[2];
        assert!((along * (k1 + k2) - 1.0).abs() < 1e-9, "{arguments:?}: {along}");
    }
    run.json(&[&["compare"], &spring[..], &["-o", "slider.html"]].concat(), 0);
    let body = run.json(&["statics", "slider.toml", "--spring", "block=0,0,0.2,200"], 0);
    assert!((numbers(&body["joints"]["rail"]["position"])[0] - q).abs() < 1e-10);
    run.fails(
        &["statics", "slider.toml", "--spring", "hok=0,0,0,1"],
        2,
        &["--spring", "did you mean `hook`?"],
    );
    run.fails(&["statics", "slider.toml", "--spring", "hook=0,0,0,-1"], 2, &["zero or above"]);
}

#[test]
fn a_model_file_is_of_one_mechanism_as_it_is() {
    let run = Run::new("options-model");
    assert_eq!(run.run(&["reduce", "two-link", "--displacement", "0.1", "-o", "m.pliant"]).code, 0);
    for option in [["--at", "elbow=0.1"], ["--effector", "tip"], ["--base", "0,0,0"]] {
        run.fails(&["statics", "m.pliant", option[0], option[1]], 2, &[option[0], "model file"]);
    }
    run.fails(&["compare", "m.pliant", "--load", "tip=0,1,0"], 2, &["--load", "model file"]);
    run.fails(&["compare", "m.pliant", "--spring", "tip=0,1,0,1"], 2, &["--spring", "model file"]);
    // A spring coupling is an input of its engine too.
    let sprung = run.json(&["statics", "m.pliant", "--spring", "tip=1,0.1,0,1"], 0);
    assert_eq!(sprung["springs"][0]["on"], "tip");
    // Gravity and loads are inputs of its engine.
    run.json(&["statics", "m.pliant", "--gravity", "0,0,-1", "--load", "tip=0,1,0"], 0);
}
