//! Claim: `compare` runs end to end on real robots: hands, arms, humanoids, a quadruped with a free base, and cassie,
//! grippers and four-bars with their loops, each as its file is or with the few lines that a user would add. Both
//! engines move, the page is whole, no figure is missing, and the figures are such as theory asks for: the
//! frequencies of a condensed model are none too low and fall with more modes (Rayleigh), and where no limits act, a
//! linear model's error vanishes against the displacement as the load does.

use std::f64::consts::{FRAC_PI_2, FRAC_PI_4};
use std::fs;
use std::path::PathBuf;

use crate::common::Run;
use crate::common::json::number;
use crate::common::page::check_page;
use crate::trial::{Found, trial};
use crate::wheels;
use libtest_mimic::Trial;
use pliant::nalgebra::{Matrix3, Quaternion, UnitQuaternion, Vector3};
use serde_json::Value;

/// A package that has robots: name, version, the folder in it, and whether it is large.
type Package = (&'static str, &'static str, &'static str, bool);

const DATA: Package = ("example-robot-data", "5.0.0", "cmeel.prefix/share/example-robot-data/robots", false);
const MJX: Package = ("mujoco-mjx", "3.17.0", "mujoco/mjx/test_data", false);
const ROBOSUITE: Package = ("robosuite", "1.5.2", "robosuite/models/assets", true);
const GENESIS: Package = ("genesis-world", "1.4.5", "genesis/assets", true);

struct Robot {
    name: &'static str,
    package: Package,
    file: &'static str,
    /// What a user's scene adds; nothing where the file is compared as it is.
    scene: &'static str,
    /// Bodies, loops and effectors.
    counts: [usize; 3],
    /// Error of the linear model's effectors under the scene's load, over the radius: at most. Nothing where a
    /// free base has no equilibrium.
    error: Option<f64>,
    /// Error over displacement under a hundredth of that load, at most: it is of second order, unless something
    /// that a linear model does not know acts at once.
    first_order: f64,
}

fn found(package: Package) -> Found<PathBuf> {
    let (name, version, folder, large) = package;
    let wheel = if large { wheels::large_wheel(name, version) } else { wheels::wheel(name, version) };
    Ok(wheel?.join(folder))
}

/// Every number of a document is there: what is not finite is `null` in JSON.
fn check_numbers(what: &str, value: &Value) {
    match value {
        Value::Null => panic!("{what} is missing"),
        Value::Array(list) => list.iter().for_each(|value| check_numbers(what, value)),
        // A model that there is none of says why.
        Value::Object(map) if map.get("error").is_some_and(Value::is_string) => {}
        Value::Object(map) => {
            // Two of these may not be known in the time there is, not every warning has a measure; and not every engine takes every robot, or comes to rest.
            let others = ["stopped", "error_stopped", "error", "bound", "held_out", "measures"];
            let engine = |key: &str| key.starts_with("reduced") || key.starts_with("blended");
            let left_out = |key: &str, value: &Value| others.contains(&key) || value.is_null() && engine(key);
            let figures = map.iter().filter(|(key, value)| !left_out(key, value));
            figures.for_each(|(key, value)| check_numbers(&format!("{what}.{key}"), value));
        }
        _ => {}
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().expect("a list")
}

/// By Rayleigh's principle a model whose links move as in statics is none too low in any frequency, and none higher
/// with more modes. Frequencies are good to rounding in squares, amplified by the mechanism's condition.
fn check_frequencies(name: &str, frequencies: &Value) {
    let models = list(&frequencies["models"]);
    let ratios = |i: usize| list(&models[i]["ratio"]).iter().map(number).collect::<Vec<f64>>();
    let [none, one, four] = [0, 1, 2].map(ratios);
    for (few, more) in [(&none, &one), (&one, &four)] {
        for (a, b) in few.iter().zip(more) {
            assert!(*a >= 1.0 - 1e-6 && *b >= 1.0 - 1e-6 && *b <= a * (1.0 + 1e-6), "{name}: {a} {b}");
        }
    }
    assert!(!four.is_empty(), "{name}");
}

fn compare(robot: &Robot) -> Found<()> {
    let folder = found(robot.package)?;
    let (file, allowed) = (folder.join(robot.file), folder.to_str().expect("a path"));
    let name = robot.name;
    let run = Run::new(&format!("robots-{}", name.replace(' ', "-")));
    let mechanism = match robot.scene {
        "" => file.to_str().expect("a path").to_string(),
        scene => {
            run.file("robot.toml", format!("import = {file:?}\n{scene}"));
            "robot.toml".into()
        }
    };
    let info = run.json(&["info", &mechanism, "--allow-path", allowed], 0);
    let effectors = list(&info["effectors"]).len();
    let counts = [&info["bodies"], &info["loops"]].map(|x| x.as_u64().expect("a count") as usize);
    assert_eq!([counts[0], counts[1], effectors], robot.counts, "{name}");

    let start = std::time::Instant::now();
    let json = run.json(&["compare", &mechanism, "-o", "page.html", "--allow-path", allowed], 0);
    let seconds = start.elapsed().as_secs_f64();
    check_page(&fs::read_to_string(run.folder.join("page.html")).expect("a page"));
    check_numbers(name, &json);
    check_frequencies(name, &json["frequencies"]);
    let transient = &json["transient"];
    assert_eq!(transient["stopped"], Value::Null, "{name}");
    let at_rest = list(&json["errors"]);
    let scene = at_rest.iter().find(|sample| sample["load_scale"] == 1.0);
    let figures = |sample: &Value| (number(&sample["displacement"]), number(&sample["effector"]));
    let at_rest_under = |(displacement, error)| format!("at rest {error:.1e} of {displacement:.1e} radii, ");
    println!(
        "{name}: {} bodies, {} loops, {} coordinates; {}in motion {:.1e} of {:.1e}; {seconds:.1} s",
        counts[0],
        counts[1],
        json["coordinates"],
        scene.map(figures).map_or(String::new(), at_rest_under),
        number(&transient["max_error_relative"]),
        number(&transient["max_displacement_relative"]),
    );
    match robot.error {
        None => {
            assert!(json["error_stopped"].as_str().is_some_and(|why| why.contains("free base")), "{name}")
        }
        Some(most) => {
            let (displacement, error) = scene.map(figures).expect("the scene's load");
            // The springs of a hand without its own hold what it carries to 0.01 rad: a load moves it little.
            assert!(error <= most && displacement > 1e-5, "{name}: {error} of {displacement}");
            let (displacement, error) = figures(&at_rest[0]);
            assert!(error < robot.first_order * displacement, "{name}: {error} of {displacement}");
        }
    }
    Ok(())
}

/// Joints start at limits that gravity presses them against.
const AT_LIMITS: f64 = 1.0;

/// A robot as its file is.
const fn plain(name: &'static str, file: &'static str, counts: [usize; 3]) -> Robot {
    Robot { name, package: DATA, file, scene: "", counts, error: Some(0.01), first_order: 0.01 }
}

pub fn trials() -> Vec<Trial> {
    let others = [
        trial("robots::a_panda_starts_at_home_and_stays", a_panda_starts_at_home_and_stays),
        trial("robots::cassie_settles_under_its_weight", cassie_settles_under_its_weight),
        trial("robots::cassie_gives_way_as_it_settles", cassie_gives_way_as_it_settles),
    ];
    let compared = robots()
        .into_iter()
        .map(|robot| trial(format!("robots::compare {}", robot.name), move || compare(&robot)));
    compared.chain(others).collect()
}

/// The robots that are compared.
fn robots() -> [Robot; 14] {
    [
        Robot {
            package: MJX,
            scene: "[[effector]]\nmatch = \"rh_?fdistal\"\n[[effector]]\nmatch = \"rh_thdistal\"\n",
            // The fingers lie at their limits, and gravity would bend them back.
            error: Some(0.05),
            first_order: AT_LIMITS,
            ..plain("shadow hand", "shadow_hand/right_hand.xml", [25, 0, 5])
        },
        plain("allegro hand", "allegro_hand_description/urdf/allegro_right_hand.urdf", [21, 0, 4]),
        plain("panda", "panda_description/urdf/panda.urdf", [13, 0, 3]),
        Robot {
            // Stands on four feet that carry its 16.085 kg, the centre of mass 8 mm before the middle.
            scene: "free_base = true\n[[effector]]\nmatch = \"*_foot\"\n\
                [[load]]\neffector = \"FL_foot\"\nforce = [0.0, 0.0, 41.126]\n\
                [[load]]\neffector = \"FR_foot\"\nforce = [0.0, 0.0, 41.126]\n\
                [[load]]\neffector = \"RL_foot\"\nforce = [0.0, 0.0, 37.771]\n\
                [[load]]\neffector = \"RR_foot\"\nforce = [0.0, 0.0, 37.771]\n",
            error: None,
            ..plain("go2", "go2_description/urdf/go2.urdf", [31, 0, 4])
        },
        Robot {
            scene: CASSIE,
            // Its closures repeat each other but for the file's digits: the linear model takes them for one, the
            // full simulation holds each to its digits, and is a few per cent stiffer.
            first_order: 0.05,
            ..plain("cassie", "cassie_description/robots/cassie.sdf", [35, 6, 2])
        },
        Robot {
            scene: CASSIE,
            ..plain("cassie without gearboxes", "cassie_description/robots/cassie_v2.sdf", [23, 4, 2])
        },
        plain("ur5 with gripper", "ur_description/urdf/ur5_gripper.urdf", [10, 0, 1]),
        Robot { first_order: AT_LIMITS, ..plain("icub", "icub_description/robots/icub.urdf", [56, 0, 5]) },
        Robot {
            first_order: AT_LIMITS,
            ..plain("talos", "talos_data/robots/talos_reduced.urdf", [60, 0, 7])
        },
        Robot {
            first_order: AT_LIMITS,
            ..plain("tiago", "tiago_description/robots/tiago.urdf", [78, 0, 12])
        },
        plain("solo", "solo_description/robots/solo12.urdf", [17, 0, 4]),
        Robot { package: ROBOSUITE, ..plain("xarm7 gripper", "grippers/xarm7_gripper.xml", [8, 2, 4]) },
        Robot { package: ROBOSUITE, ..plain("inspire hand", "grippers/inspire_right_hand.xml", [20, 0, 5]) },
        Robot {
            package: GENESIS,
            scene: "[[load]]\neffector = \"link_4\"\nforce = [0.0, 0.0, -1e4]\n",
            ..plain("four-bar", "xml/four_bar_linkage.xml", [4, 1, 1])
        },
    ]
}

/// Motors hold what the file leaves to them: it has springs of its own in the legs, so nothing else is held.
const CASSIE: &str =
    "[[joint]]\nmatch = \"*-op\"\nstiffness = 500.0\ndamping = 5.0\n[[effector]]\nmatch = \"*-foot\"\n";

/// An MJCF robot starts in its key frame `home`, and where its actuators hold it there it stays but for what gravity
/// bends, in every engine.
fn a_panda_starts_at_home_and_stays() -> Found<()> {
    let folder = found(GENESIS)?;
    let panda = folder.join("xml/franka_emika_panda/panda.xml");
    let (run, panda) = (Run::new("robots-home"), panda.to_str().expect("a path"));
    // The file has four digits of these.
    let home = [0.0, 0.0, 0.0, -FRAC_PI_2, 0.0, FRAC_PI_2, -FRAC_PI_4, 0.04, 0.04];
    let names = (1..=7).map(|j| format!("joint{j}")).chain((1..=2).map(|j| format!("finger_joint{j}")));
    let names: Vec<String> = names.collect();
    let off = |json: &Value| {
        let off = |(name, home): (&String, &f64)| (number(&json["joints"][name]["position"][0]) - home).abs();
        names.iter().zip(&home).map(off).fold(0.0, f64::max)
    };
    let settled = off(&run.json(&["statics", panda], 0));
    // Springs of 4500 N·m/rad hold 3 kg half a metre away: some millirad.
    assert!((1e-4..0.02).contains(&settled), "{settled}");
    for engine in ["full", "articulated", "linear"] {
        let moved = |duration: &str| {
            let arguments = ["simulate", panda, "--engine", engine, "--duration", duration, "--dt", "0.001"];
            off(&run.json(&arguments, 0))
        };
        assert!(moved("0.001") < 2e-4, "{engine}");
        // It swings up to twice as far as it settles.
        let way = moved("1");
        println!("{engine}: {way:.1e} rad from home after a second, {settled:.1e} at rest");
        assert!(way < 2.5 * settled, "{engine}: {way}");
    }
    Ok(())
}

/// The whole of cassie settles under its weight, at once: closures that repeat each other but for the file's digits do
/// not stop the search, and it ends where a motion goes.
fn cassie_settles_under_its_weight() -> Found<()> {
    let folder = found(DATA)?;
    let run = Run::new("robots-statics");
    let path = folder.join("cassie_description/robots/cassie.sdf");
    run.file("robot.toml", format!("import = {path:?}\n{CASSIE}"));
    let allowed = folder.to_str().expect("a path");
    let settled = run.json(&["statics", "robot.toml", "--allow-path", allowed], 0);
    println!("cassie settles in {} iterations", settled["iterations"]);
    assert_eq!((&settled["converged"], &settled["load_steps"]), (&true.into(), &1.into()));
    let apart = |duration: &str, leg: &str| {
        let moved = ["simulate", "robot.toml", "--engine", "full", "--duration", duration, "--dt", "0.002"];
        let moved = run.json(&[&moved[..], &["--allow-path", allowed]].concat(), 0);
        let joints = settled["joints"].as_object().expect("joints").iter();
        let off = |(name, joint): (&String, &Value)| {
            let found = list(&moved["joints"][name]["position"]).iter().map(number);
            let off = list(&joint["position"]).iter().map(number).zip(found).map(|(a, b)| (a - b).abs());
            off.fold(0.0, f64::max)
        };
        let of_leg: Vec<f64> = joints.filter(|(name, _)| name.starts_with(leg)).map(off).collect();
        assert_eq!(of_leg.len(), 20, "joints of the {leg} leg");
        of_leg.into_iter().fold(0.0, f64::max)
    };
    // A step holds rows softly against change: what repeats others but for digits creeps to its place. The left leg,
    // whose motors turn by 0.15 rad, is there; the other is on its way.
    let [left, right, before] = [apart("20", "left"), apart("20", "right"), apart("5", "right")];
    println!(
        "after 20 s the left leg is {left:.1e} rad away, the right one {right:.1e}, and {before:.1e} after 5 s"
    );
    assert!(left < 1e-5 && right < 0.75 * before, "{left} {right} {before}");
    Ok(())
}

/// A foot's position under a force on it, or without any, without gravity; and its rotation.
fn foot(run: &Run, allowed: &str, force: Vector3<f64>) -> (Vector3<f64>, UnitQuaternion<f64>) {
    let load = format!("left-foot={:e},{:e},{:e}", force.x, force.y, force.z);
    let json =
        run.json(&["statics", "robot.toml", "--no-gravity", "--load", &load, "--allow-path", allowed], 0);
    let foot = &json["effectors"]["left-foot"];
    let numbers = |key: &str| list(&foot[key]).iter().map(number).collect::<Vec<f64>>();
    let (p, q) = (numbers("position"), numbers("quaternion"));
    (Vector3::from_column_slice(&p), UnitQuaternion::new_normalize(Quaternion::new(q[0], q[1], q[2], q[3])))
}

/// The compliance of cassie's foot, through its springs and loops, is the finite difference of where the full
/// mechanism settles.
fn cassie_gives_way_as_it_settles() -> Found<()> {
    let folder = found(DATA)?;
    // Without gearboxes, a newton moves the foot 2 mm, 1/300 of the radius, and the difference is of second order in that. The whole robot has
    // closures that repeat each other but for the file's digits, which the linear model takes for one.
    for (file, newton, tolerance) in [("cassie_v2.sdf", 1.0, 2e-5), ("cassie.sdf", 1e-4, 0.02)] {
        let run = Run::new("robots-compliance");
        let path = folder.join("cassie_description/robots").join(file);
        run.file("robot.toml", format!("import = {path:?}\n{CASSIE}"));
        let allowed = folder.to_str().expect("a path");
        let json =
            run.json(&["compliance", "robot.toml", "--effector", "left-foot", "--allow-path", allowed], 0);
        let rows = list(&json["compliance"]);
        let C = Matrix3::from_fn(|i, j| number(&rows[i][j]));
        let (_, R) = foot(&run, allowed, Vector3::zeros());
        for axis in [Vector3::x(), Vector3::y(), Vector3::z()] {
            let settled = (foot(&run, allowed, axis * newton).0 - foot(&run, allowed, axis * -newton).0)
                / (2.0 * newton);
            let linear = R * (C * (R.inverse() * axis));
            let off = (settled - linear).norm() / linear.norm();
            println!("{file}: {:.2e} m/N, off by {off:.1e}", linear.norm());
            assert!(off < tolerance, "{file}: {settled} {linear}");
        }
    }
    Ok(())
}
