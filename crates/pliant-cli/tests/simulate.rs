//! Claim: `pliant simulate` ends where `pliant statics` says, writes trajectories that read back to
//! the last bit, and reports to scripts plainly what went wrong and how far it came.

use std::fs::{self, File};

use crate::common::json::{keys, numbers};
use crate::common::{Run, snapshot_of_help, two_at_a_time};
use npyz::NpyFile;
use serde_json::Value;

/// A rod on a hinge whose name is hard on CSV; its target starts at 0.1 s and grows to a last position.
fn rod(last: &str) -> String {
    let scene = include_str!("scenes/rod.toml");
    scene.replace("\"rod\"", "'rod, \"left\"'").replace("0.0, 0.5]", &format!("0.0, {last}]"))
}

const KEYS: [&str; 12] = [
    "bodies",
    "effectors",
    "energy",
    "engine",
    "engine_why",
    "joints",
    "p99_us",
    "steps",
    "time",
    "time_per_step_us",
    "violation",
    "warnings",
];

fn simulate<'a>(mechanism: &'a str, duration: &'a str, dt: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    by("full", mechanism, duration, dt, more)
}

fn by<'a>(
    engine: &'a str,
    mechanism: &'a str,
    duration: &'a str,
    dt: &'a str,
    more: &[&'a str],
) -> Vec<&'a str> {
    let head = ["simulate", mechanism, "--engine", engine, "--duration", duration, "--dt", dt];
    [&head, more].concat()
}

/// Rows of numbers under a header.
fn read_csv(run: &Run, name: &str) -> (String, Vec<Vec<f64>>) {
    let text = fs::read_to_string(run.folder.join(name)).expect("a file");
    let mut lines = text.lines();
    let header = lines.next().expect("a header").to_string();
    let row = |line: &str| line.split(',').map(|x| x.parse().expect("a number")).collect();
    (header, lines.map(row).collect())
}

/// An array of an archive with its shape.
fn read_npz<T: npyz::Deserialize>(run: &Run, file: &str, array: &str) -> (Vec<u64>, Vec<T>) {
    let mut archive =
        zip::ZipArchive::new(File::open(run.folder.join(file)).expect("a file")).expect("a zip");
    let array = NpyFile::new(archive.by_name(&format!("{array}.npy")).expect("the array")).expect("an array");
    (array.shape().to_vec(), array.into_vec().expect("its numbers"))
}

fn files(run: &Run) -> Vec<String> {
    let entries = fs::read_dir(&run.folder).expect("a folder");
    let mut names: Vec<String> =
        entries.map(|e| e.expect("an entry").file_name().into_string().expect("text")).collect();
    names.sort();
    names
}

#[test]
fn help() {
    let run = Run::new("simulate-help");
    snapshot_of_help(&run, "help_simulate", &["simulate", "--help"]);
    snapshot_of_help(&run, "help_bench", &["bench", "--help"]);
}

#[test]
fn documents_have_the_promised_keys() {
    let run = Run::new("simulate-keys");
    let document = run.json(&simulate("arm", "0.1", "0.01", &["--iterations", "3"]), 0);
    assert_eq!(keys(&document), KEYS);
    assert_eq!(document["steps"], 10);
    assert!(document["time"].as_f64().is_some_and(|t| (t - 0.1).abs() < 1e-12));
    let [median, p99] = ["time_per_step_us", "p99_us"].map(|key| document[key].as_f64().expect("a number"));
    assert!(0.0 < median && median <= p99, "{median} {p99}");
    assert!(document["violation"].as_f64().is_some_and(|v| (0.0..1e-6).contains(&v)));
    assert_eq!(keys(&document["energy"]), ["elastic", "kinetic", "potential"]);
    assert!(document["energy"]["kinetic"].as_f64().is_some_and(|e| e > 0.0));
    let statics = run.json(&["statics", "arm"], 0);
    for key in ["bodies", "effectors", "joints"] {
        assert_eq!(keys(&document[key]), keys(&statics[key]));
    }
    for joint in document["joints"].as_object().expect("names").values() {
        assert_eq!(keys(joint), ["force", "position"]);
        assert_eq!(numbers(&joint["force"]).len(), numbers(&joint["position"]).len());
    }
    for frame in document["bodies"].as_object().expect("names").values() {
        assert_eq!((numbers(&frame["position"]).len(), numbers(&frame["quaternion"]).len()), (3, 4));
    }
}

#[test]
fn a_long_motion_ends_at_the_equilibrium() {
    let run = Run::new("simulate-statics");
    for (mechanism, more) in [
        ("ladder:36", &["--scene-load"][..]),
        ("arm", &["--load", "tip=0,0,-50"]),
        ("arm", &["--load", "tip=0,0,-50,1,0,0", "--no-gravity"]),
        ("four-bar", &["--scene-load"]),
    ] {
        let settled = run.json(&[&["statics", mechanism], more].concat(), 0);
        let by_each =
            ["full", "articulated"].map(|engine| run.json(&by(engine, mechanism, "60", "0.05", more), 0));
        let bodies = settled["bodies"].as_object().expect("names");
        for ((name, pose), moved) in bodies.iter().flat_map(|body| by_each.iter().map(move |m| (body, m))) {
            for part in ["position", "quaternion"] {
                let (a, b) = (numbers(&pose[part]), numbers(&moved["bodies"][name][part]));
                let distance = a.iter().zip(&b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                assert!(distance < 1e-8, "{mechanism} {more:?}: {part} of {name} differs by {distance}");
            }
        }
        for moved in &by_each {
            assert!(moved["energy"]["kinetic"].as_f64().is_some_and(|e| e < 1e-12));
        }
    }
}

#[test]
fn without_gravity_nothing_moves() {
    let run = Run::new("simulate-gravity");
    let rest = run.json(&simulate("arm", "0", "0.01", &[]), 0);
    let held = run.json(&simulate("arm", "0.5", "0.01", &["--no-gravity"]), 0);
    let sunk = run.json(&simulate("arm", "0.5", "0.01", &[]), 0);
    let height = |document: &Value| numbers(&document["effectors"]["tip"]["position"])[2];
    assert!((height(&held) - height(&rest)).abs() < 1e-12);
    assert!(height(&sunk) < height(&rest) - 1e-3);
    assert_eq!(held["energy"]["potential"], 0.0);
}

#[test]
fn no_duration_is_no_step() {
    let run = Run::new("simulate-zero");
    let document = run.json(&simulate("arm", "0", "0.01", &["-o", "start.csv"]), 0);
    assert_eq!(keys(&document), KEYS);
    assert_eq!((&document["steps"], &document["time"]), (&0.into(), &0.0.into()));
    assert_eq!((&document["time_per_step_us"], &document["p99_us"]), (&Value::Null, &Value::Null));
    assert_eq!(read_csv(&run, "start.csv").1.len(), 1);
    let outcome = run.run(&simulate("arm", "0.004", "0.01", &[]));
    assert_eq!(outcome.code, 0);
    assert!(outcome.err.contains("less than half a step"), "{}", outcome.err);
}

/// The rod's link frame is at its hinge: the gaps of a mechanism without size are given in metres.
#[test]
fn a_mechanism_without_radius_has_a_violation() {
    let run = Run::new("simulate-radius");
    run.file("rod.toml", rod("0.5"));
    let document = run.json(&simulate("rod.toml", "0.02", "0.01", &[]), 0);
    assert_eq!(keys(&document), KEYS);
    assert!(document["violation"].as_f64().is_some_and(|gap| (0.0..1e-6).contains(&gap)));
    let outcome = run.run(&simulate("rod.toml", "0.02", "0.01", &[]));
    assert_eq!(outcome.code, 0);
    assert!(!outcome.out.contains("NaN") && !outcome.out.contains("inf"), "{}", outcome.out);
}

#[test]
fn targets_are_followed() {
    let run = Run::new("simulate-targets");
    run.file("rod.toml", rod("0.5"));
    let at = |duration| {
        let document = run.json(&simulate("rod.toml", duration, "0.005", &["--no-gravity"]), 0);
        numbers(&document["joints"]["pivot"]["position"])[0]
    };
    // Twenty steps add up to 0.1 s but for rounding.
    assert!(at("0.1").abs() < 1e-15);
    assert!(at("0.2") > 0.05);
    assert!((at("20") - 0.5).abs() < 1e-9);
}

#[test]
fn trajectories_read_back_to_the_last_bit() {
    for engine in ["full", "linear", "reduced"] {
        check_trajectories(engine);
    }
}

fn check_trajectories(engine: &str) {
    let run = Run::new(&format!("simulate-files-{engine}"));
    let (T, B, C) = (21, 20, 20);
    let mut last = Value::Null;
    for file in ["arm.csv", "arm.npz"] {
        last = run.json(&by(engine, "arm", "0.2", "0.01", &["--scene-load", "-o", file]), 0);
        assert_eq!(last["steps"], T as u64 - 1);
    }
    assert_eq!(files(&run), ["arm.csv", "arm.npz"], "nothing else is left");

    let (header, rows) = read_csv(&run, "arm.csv");
    assert!(header.starts_with("time,arm0.px,arm0.py,arm0.pz,arm0.qw,arm0.qx,arm0.qy,arm0.qz,arm1.px,"));
    assert!(header.contains(",arm0.0,arm1.0,"));
    assert_eq!(header.split(',').count(), 1 + 7 * B + C);
    assert_eq!(rows.len(), T);
    assert!(rows.iter().all(|row| row.len() == 1 + 7 * B + C));

    let (time_shape, time) = read_npz::<f64>(&run, "arm.npz", "time");
    let (pose_shape, poses) = read_npz::<f64>(&run, "arm.npz", "poses");
    let (coordinate_shape, coordinates) = read_npz::<f64>(&run, "arm.npz", "coordinates");
    assert_eq!(time_shape, [T as u64]);
    assert_eq!(pose_shape, [T as u64, B as u64, 7]);
    assert_eq!(coordinate_shape, [T as u64, C as u64]);
    for (t, row) in rows.iter().enumerate() {
        let same = [&time[t..t + 1], &poses[7 * B * t..7 * B * (t + 1)], &coordinates[C * t..C * (t + 1)]];
        assert_eq!(*row, same.concat(), "row {t}");
    }
    assert!((time[T - 1] - 0.2).abs() < 1e-12);
    assert_eq!(numbers(&last["bodies"]["arm0"]["position"]), rows[T - 1][1..4], "the last row is the answer");
    assert_ne!(rows[0][1..4], rows[T - 1][1..4]);

    let (shape, bodies) = read_npz::<String>(&run, "arm.npz", "body_names");
    assert_eq!((shape, bodies[0].as_str()), (vec![B as u64], "arm0"));
    let (shape, joints) = read_npz::<String>(&run, "arm.npz", "joint_names");
    assert_eq!((shape, joints[1].as_str()), (vec![C as u64], "arm1"));
}

#[test]
fn names_are_quoted_and_joints_have_as_many_columns_as_freedoms() {
    let run = Run::new("simulate-names");
    run.file("rod.toml", rod("0.5"));
    run.json(&simulate("rod.toml", "0.02", "0.01", &["-o", "rod.CSV"]), 0);
    let text = fs::read_to_string(run.folder.join("rod.CSV")).expect("a file");
    assert!(text.starts_with("time,\"rod, \"\"left\"\".px\",\"rod, \"\"left\"\".py\","), "{text}");
    assert!(text.lines().next().is_some_and(|header| header.ends_with(",pivot.0")));
    assert_eq!(text.lines().count(), 4);

    // The ladder's loops close by ball joints: three coordinates each.
    run.json(&simulate("ladder:36", "0.02", "0.01", &["-o", "ladder.npz"]), 0);
    let (_, names) = read_npz::<String>(&run, "ladder.npz", "joint_names");
    let info = run.json(&["info", "ladder:36"], 0);
    let count = |key: &str| info[key].as_u64().expect("a count");
    assert_eq!(names.len() as u64, count("bodies") + 3 * count("loops"));
}

/// The target leaves the numbers between 0.1 s and 0.2 s.
#[test]
fn a_failed_step_keeps_what_came_before() {
    let run = Run::new("simulate-failure");
    run.file("rod.toml", rod("1e308"));
    for (file, rows) in [
        ("rod.csv", (|run| read_csv(run, "rod.csv").1.len()) as fn(&Run) -> usize),
        ("rod.npz", |run| read_npz::<f64>(run, "rod.npz", "time").1.len()),
    ] {
        let arguments = simulate("rod.toml", "1", "0.01", &["-o", file]);
        run.fails(&arguments, 1, &["step ", "rod, \"left\"", "the steps before it were written"]);
        let document = run.json(&arguments, 1);
        assert_eq!(keys(&document), ["error", "steps", "time"]);
        let steps = document["steps"].as_u64().expect("a count");
        assert!((10..20).contains(&steps), "{steps}");
        assert!(document["time"].as_f64().is_some_and(|t| (t - 0.01 * steps as f64).abs() < 1e-9));
        assert_eq!(rows(&run) as u64, steps + 1, "{file}");
    }
    assert_eq!(files(&run), ["rod.csv", "rod.npz", "rod.toml"]);
}

#[test]
fn bad_input() {
    let run = Run::new("simulate-input");
    let fails = |duration, dt, more: &[&str], words: &[&str]| {
        run.fails(&simulate("arm", duration, dt, more), 2, words);
    };
    fails("1", "0", &[], &["--dt", "above zero"]);
    fails("1", "-0.1", &[], &["--dt", "above zero"]);
    fails("1", "nan", &[], &["--dt", "finite"]);
    fails("1", "soon", &[], &["--dt", "number of seconds"]);
    fails("-1", "0.1", &[], &["--duration", "zero or above"]);
    fails("inf", "0.1", &[], &["--duration", "finite"]);
    fails("1e6", "1e-6", &[], &["1.0e12 steps", "--dt"]);
    fails("1e300", "1e-300", &[], &["steps", "--dt"]);
    fails("1", "0.1", &["--iterations", "0"], &["at least one"]);
    fails("1", "0.1", &["--load", "elbow=1,2,3"], &["no effector or body `elbow`"]);
    fails("1", "0.1", &["-o", "arm.txt"], &["arm.txt", ".csv", ".npz"]);
    fails("1", "0.1", &["--load", "tip=1,2", "-o", "arm.csv"], &["2 numbers"]);
    fails("1", "0.1", &["--load", "elbow=1,2,3", "-o", "arm.csv"], &["elbow"]);
    assert_eq!(files(&run), [""; 0], "bad input leaves no file");
    let misspelt = ["simulate", "arm", "--engine", "ful", "--duration", "1", "--dt", "0.1"];
    run.fails(&misspelt, 2, &["no engine `ful`", "did you mean `full`?"]);
}

#[test]
fn a_file_that_cannot_be_written_is_a_failed_job() {
    let run = Run::new("simulate-unwritable");
    fs::create_dir(run.folder.join("folder.csv")).expect("a folder");
    // A million steps would take a while: these fail before the first.
    for (file, words) in [("nowhere/arm.csv", "cannot write `nowhere/arm.csv`"), ("folder.csv", "directory")]
    {
        run.fails(&simulate("arm", "1000", "0.001", &["-o", file]), 1, &[words]);
    }
}

#[test]
fn people_get_a_table() {
    let run = Run::new("simulate-table");
    let outcome = run.run(&simulate("arm", "0.1", "0.01", &["-o", "arm.csv"]));
    assert_eq!((outcome.code, outcome.err.as_str()), (0, ""));
    for words in [
        "10 of 0.01 s",
        "time per step",
        "µs median",
        "p99",
        "violation",
        "J kinetic",
        "EFFECTOR",
        "wrote arm.csv",
    ] {
        assert!(outcome.out.contains(words), "`{words}` is not in\n{}", outcome.out);
    }
}

#[test]
fn bench_times_what_it_is_asked_to() {
    let run = Run::new("bench");
    run.file("rod.toml", rod("0.5"));
    let document = run.json(&["bench", "two-link", "rod.toml", "chain:10"], 0);
    let entries = document.as_array().expect("a list");
    let what: Vec<[Option<&str>; 3]> =
        entries.iter().map(|e| ["name", "engine", "reconstruction"].map(|key| e[key].as_str())).collect();
    let lines = |name| {
        [
            ("full", None),
            ("articulated", None),
            ("reduced", None),
            ("linear", Some("twist")),
            ("linear", Some("joint")),
        ]
        .map(|(engine, reconstruction)| [Some(name), Some(engine), reconstruction])
    };
    let rod = lines("rod.toml");
    let refused = [rod[0], rod[1], rod[2], [Some("rod.toml"), Some("linear"), None]];
    assert_eq!(what, [&lines("two-link")[..], &refused, &lines("chain:10")].concat());

    let of_all =
        ["build_seconds", "engine", "median_us", "name", "p10_us", "p90_us", "p99_us", "us_per_link"];
    for entry in entries {
        let own = match (entry["engine"].as_str(), entry.get("error")) {
            (Some("full"), None) => &["iterations"][..],
            (Some("articulated"), None) => &[],
            (Some("linear"), None) => &["dynamics_us", "reconstruction"],
            (Some("reduced"), None) => &[],
            _ => {
                assert_eq!(keys(entry), ["engine", "error", "name"]);
                assert!(entry["error"].as_str().is_some_and(|e| e.contains("no effector")), "{entry}");
                continue;
            }
        };
        let mut expected = [&of_all, own].concat();
        expected.sort_unstable();
        assert_eq!(keys(entry), expected);
        let number = |key: &str| entry[key].as_f64().expect("a number");
        let [p10, median, p90, p99] = ["p10_us", "median_us", "p90_us", "p99_us"].map(number);
        assert!(0.0 < p10 && p10 <= median && median <= p90 && p90 <= p99);
        let links = if entry["name"] == "two-link" { 2.0 } else { 10.0 };
        let links = if entry["name"] == "rod.toml" { 1.0 } else { links };
        assert!((number("us_per_link") * links - median).abs() < 1e-9 * median);
        assert!(number("build_seconds") > 0.0);
        match entry["engine"].as_str() {
            Some("full") => assert_eq!(entry["iterations"], 1),
            Some("reduced" | "articulated") => {}
            _ => assert!(number("dynamics_us") > 0.0),
        }
    }
    let outcome = run.run(&["bench", "rod.toml"]);
    assert_eq!(outcome.code, 0);
    assert!(outcome.out.starts_with("NAME") && outcome.out.contains("DYNAMICS"), "{}", outcome.out);
    assert!(outcome.err.starts_with("warning: rod.toml is not timed with `linear`"), "{}", outcome.err);
    run.fails(&["bench", "two-link", "helx"], 2, &["`helx`"]);
    // What is gone says what replaced it.
    let gone = ["simulate", "arm", "--duration", "0.1", "--dt", "0.01", "--engine"];
    run.fails(&[&gone[..], &["live"]].concat(), 2, &["`live`", "was removed: use `reduced`"]);
    run.fails(&[&gone[..], &["motions"]].concat(), 2, &["`motions`", "is called `reduced`"]);
    run.fails(
        &[&gone[..], &["blended", "--force", "blend"]].concat(),
        2,
        &["--force", "removed", "`reduced`"],
    );
}

/// Where no engine is named, one with every freedom is taken: `articulated` on all of the gallery, with many loops too. The
/// motion is that of the engine by its name, to the last bit, and what was chosen and why is reported.
#[test]
fn the_engine_that_is_chosen_has_every_freedom() {
    let run = Run::new("simulate-auto");
    let list = run.json(&["list"], 0);
    let names =
        list.as_array().expect("a list").iter().map(|e| e["name"].as_str().expect("a name").to_string());
    let mut names: Vec<(String, &str)> = names.map(|name| (name, "articulated")).collect();
    assert_eq!(names.len(), 44);
    names.extend(["ladder:150", "ladder:240", "rungs:120"].map(|name| (name.into(), "articulated")));
    let chosen = two_at_a_time(&names, |(name, engine)| {
        let command = ["simulate", name, "--duration", "0.008", "--dt", "0.004"];
        let bare = |more: &[&str]| {
            let mut document = run.json(&[&command[..], more].concat(), 0);
            let why = document["engine_why"].take();
            let object = document.as_object_mut().expect("an object");
            object.retain(|key, _| !["time_per_step_us", "p99_us"].contains(&key.as_str()));
            (document, why)
        };
        let (auto, why) = bare(&[]);
        assert_eq!(&auto["engine"], engine, "{name}");
        assert!(why.as_str().is_some_and(|why| why.contains("freedom")), "{name}: {why}");
        assert_eq!((auto, Value::Null), bare(&["--engine", engine]), "{name}");
        Some(())
    });
    assert_eq!(chosen.len(), 47);
    let told = run.run(&["simulate", "arm", "--engine", "auto", "--duration", "0.01", "--dt", "0.01"]);
    assert_eq!(
        told.err,
        "note: the engine is `articulated`: it simulates every freedom (20), and without loops it is faster than `full`\n"
    );
    let foreign = ["simulate", "arm", "--modes", "2", "--duration", "0.01", "--dt", "0.01"];
    run.fails(&foreign, 2, &["--modes", "`articulated`", "--engine"]);
}
