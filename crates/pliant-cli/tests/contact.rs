//! Claim: scenes in which things touch end at rest where they must by every engine, with the forces that statics asks for;
//! what touched is in the answer, in trajectories and on the page; and bad scenes are reported before anything moves.

use std::fs::{self, File};

use crate::common::Run;
use crate::common::json::number;
use crate::common::page::check_page;
use npyz::NpyFile;
use serde_json::Value;

/// A block of 1 kg above a floor.
const FLOOR: &str = include_str!("scenes/drop.toml");

/// The same above a plate of 2 kg on a spring of 5000 N/m.
const PLATE: &str = include_str!("scenes/caught.toml");

const GRAVITY: f64 = 9.81;

fn floor(height: f64) -> String {
    FLOOR.replace("HEIGHT", &format!("{height:?}"))
}

fn simulate<'a>(file: &'a str, engine: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&["simulate", file, "--engine", engine, "--duration", "2", "--dt", "0.005"], more].concat()
}

fn height(document: &Value, kind: &str, name: &str) -> f64 {
    number(&document[kind][name]["position"][2])
}

/// The force on something by all contacts that pushed in the last step.
fn force_on(document: &Value, name: &str) -> [f64; 3] {
    let mut sum = [0.0; 3];
    for contact in document["contacts"].as_array().expect("a list") {
        let sign = if contact["second"] == name { 1.0 } else { -f64::from(contact["first"] == name) };
        (0..3).for_each(|k| sum[k] += sign * number(&contact["force"][k]));
    }
    sum
}

#[test]
fn a_block_comes_to_rest_on_the_floor() {
    let run = Run::new("contact-floor");
    run.file("drop.toml", floor(0.15));
    for engine in ["full", "articulated", "linear"] {
        for solver in [&[][..], &["--solver", "pgs", "--sweeps", "80"], &["--solver", "exact"]] {
            let end = run.json(&simulate("drop.toml", engine, solver), 0);
            // The softness of lasting contacts lets it sink by some µm.
            assert!((height(&end, "bodies", "block") - 0.05).abs() < 1e-4, "{end}");
            assert!((height(&end, "effectors", "middle") - 0.05).abs() < 1e-4, "{end}");
            let [x, y, z] = force_on(&end, "block");
            assert!((z - GRAVITY).abs() < 1e-3 && x.hypot(y) < 1e-3, "{engine}: {x} {y} {z}");
            assert_eq!(force_on(&end, "world")[2], -z);
            assert!(number(&end["penetration"]) < 5e-4 && number(&end["residual"]) < 1e-2, "{end}");
            for contact in end["contacts"].as_array().expect("a list") {
                assert!(number(&contact["point"][2]).abs() < 1e-3 && number(&contact["gap"]).abs() < 1e-3);
                assert!((number(&contact["normal"][2]).abs() - 1.0).abs() < 1e-9);
            }
            assert!(number(&end["time_per_step_us"]) > 0.0 && end["warnings"] == serde_json::json!([]));
        }
    }
    let text = run.run(&simulate("drop.toml", "full", &[]));
    assert_eq!((text.code, text.err.as_str()), (0, ""));
    for word in ["penetration", "residual", "CONTACT", "block", "world", "9.81 N"] {
        assert!(text.out.contains(word), "{word}: {}", text.out);
    }
}

#[test]
fn a_block_comes_to_rest_on_a_spring_by_every_engine() {
    let run = Run::new("contact-plate");
    run.file("caught.toml", PLATE);
    let sunk = -3.0 * GRAVITY / 5000.0;
    for engine in ["full", "articulated", "linear", "reduced"] {
        let end = run.json(&simulate("caught.toml", engine, &[]), 0);
        assert!((height(&end, "bodies", "plate") - sunk).abs() < 1e-5, "{engine}: {end}");
        assert!((height(&end, "effectors", "top") - sunk - 0.01).abs() < 1e-5, "{engine}: {end}");
        assert!((height(&end, "effectors", "middle") - sunk - 0.06).abs() < 1e-4, "{engine}: {end}");
        assert!((force_on(&end, "block")[2] - GRAVITY).abs() < 1e-3, "{engine}: {end}");
        assert!((number(&end["joints"]["spring"]["position"][0]) - sunk).abs() < 1e-5, "{engine}: {end}");
        assert_eq!(number(&end["energy"]["kinetic"]).max(1e-9), 1e-9, "{engine}");
    }
    run.fails(&simulate("caught.toml", "blended", &[]), 2, &["`blended`", "contact", "reduced"]);
    // A load on an effector of the loose body adds to its weight, one on the plate too.
    let load = ["--load", "middle=0,0,-5", "--load", "top=0,0,-5"];
    let end = run.json(&simulate("caught.toml", "linear", &load), 0);
    assert!((force_on(&end, "block")[2] - GRAVITY - 5.0).abs() < 1e-3);
    assert!((height(&end, "bodies", "plate") - sunk + 10.0 / 5000.0).abs() < 1e-5);
}

/// A ball that loses nothing falls on a floor again and again.
const BOUNCE: &str = include_str!("scenes/bounce.toml");

/// It falls h in √(2h/g), so that it hits every 2√(2h/g); each time it begins and ends to touch.
#[test]
fn events_tell_what_began_and_ended_to_touch() {
    let run = Run::new("contact-events");
    run.file("bounce.toml", BOUNCE);
    let fall = (2.0 * 0.005 / GRAVITY).sqrt();
    let dt = 0.002;
    let asked = |duration: &'static str| {
        ["simulate", "bounce.toml", "--engine", "full", "--dt", "0.002", "--duration", duration]
    };
    let end = run.json(&asked("0.2"), 0);
    let events = end["events"].as_array().expect("a list");
    assert_eq!((events.len(), &end["events_total"]), (6, &6.into()), "{end}");
    for (k, event) in events.iter().enumerate() {
        let names = [&event["first"], &event["second"]];
        assert!(names == ["ball", "world"] || names == ["world", "ball"], "{event}");
        assert_eq!(event["change"], if k % 2 == 0 { "began" } else { "ended" }, "{event}");
        // It hits at the end of a step and is off in the next; each bounce is a step late or early.
        let hit = (1 + k / 2 * 2) as f64 * fall + (k % 2) as f64 * dt;
        let bounces = (k / 2 + 1) as f64;
        assert!((number(&event["time"]) - hit).abs() < 2.0 * bounces * dt, "{event}: not at {hit}");
    }
    // A long run keeps the first thousand, and counts all.
    let end = run.json(&asked("40"), 0);
    let kept = end["events"].as_array().expect("a list");
    let total = number(&end["events_total"]);
    assert_eq!((kept.len(), &kept[..6]), (1000, &events[..]));
    assert!((total / (40.0 / fall) - 1.0).abs() < 0.1, "{total}");

    // What lies still has begun and not ended; by every engine.
    run.file("caught.toml", PLATE);
    for engine in ["full", "articulated", "linear", "reduced"] {
        let end = run.json(&simulate("caught.toml", engine, &[]), 0);
        let count = |change: &str| {
            let events = end["events"].as_array().expect("a list").iter();
            events.filter(|event| event["change"] == change).count()
        };
        assert_eq!(count("began"), count("ended") + 1, "{engine}: {}", end["events"]);
    }
    let end = run.json(&simulate("caught.toml", "full", &["--no-contact"]), 0);
    assert!(end["events"].is_null() && end["events_total"].is_null());
}

#[test]
fn without_contact_everything_falls_through() {
    let run = Run::new("contact-none");
    run.file("drop.toml", floor(0.15));
    let end = run.json(&simulate("drop.toml", "full", &["--no-contact"]), 0);
    assert!(height(&end, "bodies", "block") < -15.0);
    assert_eq!((&end["contacts"], &end["penetration"]), (&Value::Null, &Value::Null));
    // What is only drawn is not touched.
    run.file(
        "drawn.toml",
        floor(0.15).replace("position = [0.0, 0.0, -0.1]", "position = [0.0, 0.0, -0.1]\ntouches = false"),
    );
    let end = run.json(&simulate("drawn.toml", "full", &[]), 0);
    assert!(height(&end, "bodies", "block") < -15.0 && end["contacts"].is_null());
    run.file("bare.toml", floor(0.15).replace("density = 1000.0", "density = 1000.0\ntouches = false"));
    let end = run.json(&simulate("bare.toml", "full", &[]), 0);
    assert!(
        end["warnings"][0].as_str().expect("a warning").contains("no body has one with contact"),
        "{end}"
    );
}

#[test]
fn trajectories_tell_what_touched() {
    let run = Run::new("contact-trajectory");
    run.file("caught.toml", PLATE);
    let end = run.json(&simulate("caught.toml", "full", &["-o", "path.csv"]), 0);
    let text = fs::read_to_string(run.folder.join("path.csv")).expect("a file");
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().expect("a header").split(',').collect();
    let of_contact = [
        "contacts",
        "penetration",
        "residual",
        "top.fx",
        "top.fy",
        "top.fz",
        "middle.fx",
        "middle.fy",
        "middle.fz",
    ];
    assert_eq!(header[header.len() - 9..], of_contact);
    let rows: Vec<Vec<f64>> =
        lines.map(|line| line.split(',').map(|x| x.parse().expect("a number")).collect()).collect();
    assert_eq!(rows.len(), 401);
    assert!(rows.iter().all(|row| row.len() == header.len()));
    let [first, last] = [&rows[0], &rows[400]].map(|row| &row[header.len() - 9..]);
    assert_eq!(first, [0.0; 9], "nothing has touched at the start");
    assert_eq!(last[0] as usize, end["contacts"].as_array().expect("a list").len());
    assert_eq!(last[8], force_on(&end, "block")[2]);
    assert!((last[5] + last[8]).abs() < 1e-9, "action and reaction");
    let deepest = rows.iter().map(|row| row[header.len() - 8]).fold(0.0, f64::max);
    assert_eq!(deepest, number(&end["penetration"]));

    run.json(&simulate("caught.toml", "full", &["-o", "path.npz"]), 0);
    let file = File::open(run.folder.join("path.npz")).expect("a file");
    let mut archive = zip::ZipArchive::new(file).expect("a zip");
    let mut array = |name: &str, shape: &[u64]| -> Vec<f64> {
        let array = NpyFile::new(archive.by_name(&format!("{name}.npy")).expect(name)).expect("an array");
        assert_eq!(array.shape(), shape, "{name}");
        array.into_vec().expect("numbers")
    };
    let forces = array("forces", &[401, 2, 3]);
    assert_eq!(forces[400 * 6 + 5], last[8]);
    assert_eq!(array("contacts", &[401])[400], last[0]);
    assert_eq!(array("penetration", &[401])[400], last[1]);
    assert_eq!(array("residual", &[401])[400], last[2]);
    assert!(File::open(run.folder.join("path.npz.part")).is_err());
}

#[test]
fn info_counts_what_touches_and_warns() {
    let run = Run::new("contact-info");
    run.file("drop.toml", floor(0.03));
    let info = run.json(&["info", "drop.toml"], 0);
    assert_eq!((&info["world_shapes"], &info["loose_bodies"]), (&1.into(), &1.into()));
    let warning = info["warnings"][0].as_str().expect("a warning");
    assert!(warning.contains("`block`") && warning.contains("overlap by 20.000 mm"), "{warning}");
    let text = run.run(&["info", "drop.toml"]).out;
    assert!(text.contains("world shapes  1\n") && text.contains("loose bodies  1\n"), "{text}");
    run.fails(&["info", "drop.toml", "--strict"], 2, &["overlap"]);
    assert!(run.json(&["info", "arm"], 0)["world_shapes"].is_null());
}

#[test]
fn bad_scenes_are_told() {
    let run = Run::new("contact-bad");
    // Overlaps at the start are driven apart, with a warning.
    run.file("deep.toml", floor(0.03));
    let end = run.json(&simulate("deep.toml", "full", &[]), 0);
    assert!(end["warnings"][0].as_str().expect("a warning").contains("pushed apart"), "{end}");
    assert!((height(&end, "bodies", "block") - 0.05).abs() < 1e-4);
    // --strict counts it, after the results: 20 mm at the start.
    let strict = run.json(&simulate("deep.toml", "full", &["--strict"]), 1);
    assert_eq!((&strict["bodies"], &strict["warnings"]), (&end["bodies"], &end["warnings"]));
    assert!(strict["error"].as_str().expect("an error").contains("--strict"), "{strict}");
    let measure = &strict["measures"][0];
    assert_eq!((&measure["kind"], &measure["unit"]), (&"overlap".into(), &"m".into()));
    assert!((measure["measure"].as_f64().expect("a number") - 0.02).abs() < 1e-9, "{measure}");

    // An effector without a shape: an error if there is nothing else to touch with, else a warning.
    let bare = PLATE.replace(
        "kind = \"box\"\nsize = [0.3, 0.3, 0.02]",
        "kind = \"box\"\nsize = [0.3, 0.3, 0.02]\ntouches = false",
    );
    run.file(
        "bare.toml",
        format!(
            "{bare}{}",
            "[[world.shape]]\nkind = \"box\"\nsize = [1.0, 1.0, 0.1]\nposition = [0.0, 0.0, -1.0]\n"
        ),
    );
    for engine in ["full", "linear"] {
        run.fails(&simulate("bare.toml", engine, &[]), 2, &["bare.toml", "`plate`", "shape", "--no-contact"]);
    }
    let arm = "[[body]]\nname = \"arm\"\nmass = 1.0\ninertia = [0.01, 0.01, 0.01]\nposition = [1.0, 0.0, 0.0]\n[[joint]]\nname = \"hinge\"\n\
               kind = \"hinge\"\nparent = \"world\"\nchild = \"arm\"\nstiffness = 1.0\n[[effector]]\nname = \"tip\"\nbody = \"arm\"\n";
    run.file("arm.toml", format!("{PLATE}{arm}"));
    let end = run.json(&simulate("arm.toml", "linear", &[]), 0);
    let warning = end["warnings"][0].as_str().expect("a warning");
    assert!(warning.contains("`arm`") && warning.contains("so no contact: give it a shape"), "{warning}");

    let changed = |from: &str, to: &str| {
        let scene = floor(0.15);
        assert!(scene.contains(from), "{from}");
        scene.replace(from, to)
    };
    let shape = "kind = \"box\"\nsize = [0.1, 0.1, 0.1]\ndensity = 1000.0\n";
    run.file("massless.toml", changed("density = 1000.0\n", ""));
    run.file("friction.toml", changed("density = 1000.0\n", "density = 1000.0\nfriction = -0.1\n"));
    run.file("bounce.toml", changed("density = 1000.0\n", "density = 1000.0\nrestitution = 1.5\n"));
    run.file(
        "drawn.toml",
        changed("density = 1000.0\n", "density = 1000.0\nfriction = 0.1\ntouches = false\n"),
    );
    let mesh = |kind: &str, file: &str| {
        let body = "position = [0.0, 0.0, 0.15]\nmass = 1.0\ninertia = [0.01, 0.01, 0.01]\n";
        changed("position = [0.0, 0.0, 0.15]\n", body)
            .replace(shape, &format!("kind = \"{kind}\"\nfile = \"{file}\"\n"))
    };
    run.file("flat.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nf 1 2 3\nf 2 4 3\n");
    run.file("empty.obj", "v 0 0 0\nv 1 0 0\nf 1 2 1\n");
    run.file("flat.toml", mesh("convex", "flat.obj"));
    run.file("empty.toml", mesh("mesh", "empty.obj"));
    run.file("absent.toml", mesh("mesh", "absent.stl"));
    run.file("outside.toml", mesh("mesh", "../../../outside.stl"));
    for (file, words) in [
        ("massless.toml", &["massless.toml", "block", "mass"][..]),
        ("friction.toml", &["friction.toml", "block", "-0.1", "zero or above"]),
        ("bounce.toml", &["bounce.toml", "block", "1.5", "from 0 to 1"]),
        ("drawn.toml", &["drawn.toml", "block", "friction", "touches"]),
        ("flat.toml", &["flat.toml", "body `block`", "flat.obj", "volume"]),
        ("empty.toml", &["empty.toml", "body `block`", "empty.obj", "triangle"]),
        ("absent.toml", &["absent.toml", "body `block`", "absent.stl", "no such file"]),
        ("outside.toml", &["outside.toml", "body `block`", "outside.stl", "outside the folder"]),
    ] {
        run.fails(&simulate(file, "full", &[]), 2, words);
    }
    // What is wrong with a mesh is no reason not to tell all else.
    let info = run.json(&["info", "flat.toml"], 0);
    assert!(info["warnings"][0].as_str().expect("a warning").contains("flat.obj"), "{info}");
}

#[test]
fn bad_options_are_told() {
    let run = Run::new("contact-options");
    run.file("drop.toml", floor(0.15));
    for (more, words) in [
        (&["--solver", "newton"][..], &["there is no solver `newton`", "`pgs` and `exact`"][..]),
        (&["--sweeps", "0"], &["--sweeps", "whole number above zero"]),
        (&["--sweeps", "-3"], &["--sweeps", "whole number above zero"]),
        (&["--sweeps", "10", "--solver", "exact"], &["--sweeps", "`pgs`", "`exact`"]),
        (&["--sweeps", "10", "--no-contact"], &["--sweeps", "--no-contact"]),
    ] {
        run.fails(&simulate("drop.toml", "full", more), 2, words);
    }
    run.fails(&simulate("arm", "full", &["--solver", "pgs"]), 2, &["--solver", "`arm`", "is for contact"]);
}

/// A tetrahedron on the floor, its surface in a file next to the scene.
#[test]
fn surfaces_are_read_beside_the_scene() {
    let run = Run::new("contact-mesh");
    let tetrahedron = "v 0 0 0\nv 0.3 0 0\nv 0 0.3 0\nv 0 0 0.3\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n";
    run.file("tetrahedron.obj", tetrahedron);
    let body = "position = [0.0, 0.0, 0.01]\nmass = 1.0\ninertia = [0.01, 0.01, 0.01]\ncenter_of_mass = [0.05, 0.05, 0.05]\n";
    let shape = "kind = \"box\"\nsize = [0.1, 0.1, 0.1]\ndensity = 1000.0\n";
    for kind in ["convex", "mesh"] {
        let scene = floor(0.15).replace("position = [0.0, 0.0, 0.15]\n", body);
        let scene = scene.replace(shape, &format!("kind = \"{kind}\"\nfile = \"tetrahedron.obj\"\n"));
        run.file("mesh.toml", scene);
        let end = run.json(&simulate("mesh.toml", "full", &[]), 0);
        assert!(height(&end, "bodies", "block").abs() < 1e-3, "{kind}: {end}");
        assert!((force_on(&end, "block")[2] - GRAVITY).abs() < 1e-2, "{kind}: {end}");
    }
}

#[test]
fn engines_are_compared_in_contact() {
    let run = Run::new("contact-compare");
    run.file("caught.toml", PLATE);
    let document = run.json(&["compare", "caught.toml"], 0);
    assert_eq!(document["page"], "caught-compare.html");
    let contact = &document["contact"];
    let engines = contact["engines"].as_array().expect("a list");
    // Those that take no part say why.
    let (engines, absent): (Vec<_>, Vec<_>) = engines.iter().partition(|engine| engine["error"].is_null());
    assert!(engines.len() >= 3 && engines.len() + absent.len() == 5);
    assert_eq!((&engines[0]["engine"], &engines[0]["max_distance"]), (&"full".into(), &0.0.into()));
    assert_eq!((&contact["loaded"], &contact["steps"]), (&"middle".into(), &480.into()));
    let exact = contact["exact_engine"].as_str().expect("a name");
    assert!(["full", "articulated"].contains(&exact));
    for engine in engines.iter().filter(|engine| engine["engine"] == exact) {
        assert_eq!(number(&engine["times_as_fast"]), 1.0);
    }
    for engine in &engines[1..] {
        assert!(number(&engine["max_distance"]) < 2e-3, "{engine}");
        assert!(number(&engine["final_distance"]) < 1e-4, "{engine}");
        assert!(number(&engine["penetration"]) < 5e-4, "{engine}");
        assert!(
            number(&engine["max_force"]) > GRAVITY && number(&engine["time_per_step_us"]) > 0.0,
            "{engine}"
        );
    }
    let page = fs::read_to_string(run.folder.join("caught-compare.html")).expect("a page");
    check_page(&page);
    for id in ["distance", "force", "penetration", "residual", "motion-canvas", "motion-data"] {
        assert!(page.contains(&format!("id=\"{id}")), "{id}");
    }
    let text = run.run(&["compare", "caught.toml"]);
    assert_eq!((text.code, text.err.as_str()), (0, ""));
    assert!(text.out.contains("linear") && text.out.ends_with("wrote caught-compare.html\n"), "{}", text.out);
}
