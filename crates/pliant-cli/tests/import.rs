//! Claim: the command line takes robot files, tells on standard error what was assumed and left out, once,
//! and `--strict` and `--free-base` do what they say.

use crate::common::Run;

const LINK: &str = "<inertial><mass value=\"1\"/>\
    <inertia ixx=\"0.1\" iyy=\"0.1\" izz=\"0.1\" ixy=\"0\" ixz=\"0\" iyz=\"0\"/></inertial>";

fn arm(more: &str) -> String {
    format!(
        "<robot name=\"arm\">\n<link name=\"base\">{LINK}</link>\n<link name=\"tip\">{LINK}</link>\n\
         <joint name=\"elbow\" type=\"continuous\"><parent link=\"base\"/><child link=\"tip\"/>{more}</joint>\n</robot>\n"
    )
}

const NOTE: &str = "note: arm.urdf: 1 joint is held as by PD control, because the file gives no springs; `pliant info` says more, \
                    --verbose too\n";
const ASSUMED: &str = "1 joint is held as by PD control, because the file gives no springs: each sags by at most 0.01 rad or 1 mm under \
                       the weight that it carries in any pose, and is critically damped; a scene file with `import` can give other \
                       springs";

#[test]
fn info_of_a_robot() {
    let run = Run::new("import-info");
    run.file("arm.urdf", arm("<dynamics friction=\"-1\"/>"));
    let warning = "arm.urdf:4: joint `elbow`: the friction is -1; it was read as 0";
    let outcome = run.run(&["info", "arm.urdf"]);
    assert_eq!((outcome.code, outcome.err.as_str()), (0, ""));
    assert_eq!(
        outcome.out,
        format!(
            "name       arm\nbodies     2\njoints     2\nfreedoms   1\nloops      0\neffectors  tip\n\
             radius     0 m\nmass       2 kg\nassumed    {ASSUMED}\nwarnings   {warning}\n"
        )
    );
    let json = run.json(&["info", "arm.urdf"], 0);
    assert_eq!(json["warnings"], serde_json::json!([warning]));
    assert_eq!(json["notes"].as_array().map(Vec::len), Some(1));
    assert_eq!((json["mass"].as_f64(), json["freedoms"].as_u64()), (Some(2.0), Some(1)));
}

#[test]
fn strict_refuses_what_was_left_out_but_not_what_was_assumed() {
    let run = Run::new("import-strict");
    run.file("rough.urdf", arm("<dynamics friction=\"-1\"/>")).file("arm.urdf", arm(""));
    run.fails(&["info", "rough.urdf", "--strict"], 2, &["--strict", "rough.urdf:4", "friction"]);
    assert_eq!(run.run(&["info", "arm.urdf", "--strict"]).code, 0);
}

#[test]
fn a_free_base_by_option_and_by_scene() {
    let run = Run::new("import-free");
    run.file("arm.urdf", arm("")).file("arm.toml", "import = \"arm.urdf\"\n");
    run.file("free.toml", "import = \"arm.urdf\"\nfree_base = true\n");
    for (arguments, freedoms) in [
        (&["info", "arm.urdf"][..], 1),
        (&["info", "arm.urdf", "--free-base"], 7),
        (&["info", "arm.toml"], 1),
        (&["--free-base", "info", "arm.toml"], 7),
        (&["info", "free.toml"], 7),
    ] {
        assert_eq!(run.json(arguments, 0)["freedoms"].as_u64(), Some(freedoms), "{arguments:?}");
    }
}

#[test]
fn a_robot_settles_moves_and_is_exported() {
    let run = Run::new("import-run");
    run.file("arm.urdf", arm("<axis xyz=\"0 1 0\"/>"));
    let statics = run.run(&["statics", "arm.urdf", "--load", "tip=0,0,0,0,10,0"]);
    assert_eq!((statics.code, statics.err.as_str()), (0, NOTE));
    assert_eq!(
        run.run(&["simulate", "arm.urdf", "--engine", "full", "--duration", "0.01", "--dt", "0.001"]).code,
        0
    );
    assert_eq!(run.run(&["export", "arm.urdf", "-o", "arm.toml"]).code, 0);
    let (a, b) = (run.json(&["statics", "arm.urdf"], 0), run.json(&["statics", "arm.toml"], 0));
    assert_eq!(a["bodies"], b["bodies"]);
}

#[test]
fn a_broken_robot_is_shown_at_its_place() {
    let run = Run::new("import-broken");
    run.file("arm.urdf", arm("<origin xyz=\"0 0\"/>"));
    run.fails(&["info", "arm.urdf"], 2, &["arm.urdf:4:", "`xyz` has 2 numbers, but takes 3"]);
    run.file("arm.toml", "import = \"arm.urdf\"\n");
    run.fails(&["info", "arm.toml"], 2, &["arm.urdf:4:"]);
    run.file("glob.toml", "import = \"whole.urdf\"\n[[joint]]\nmatch = \"toe_*\"\nstiffness = 1\n");
    run.file("whole.urdf", arm(""));
    run.fails(&["info", "glob.toml"], 2, &["glob.toml:3:9", "no imported joint matches `toe_*`"]);
}

/// What nothing holds is said with the lines that would hold it, and those do.
#[test]
fn a_robot_that_nothing_holds_is_told_what_to_write() {
    let run = Run::new("import-unheld");
    let model = "<mujoco><worldbody><body><joint name='hip' stiffness='5' axis='0 1 0'/><geom size='0.1'/>\
        <body name='shin' pos='0 0 -0.5'><joint name='knee' axis='0 1 0'/><geom size='0.1'/></body></body></worldbody></mujoco>";
    run.file("leg.xml", model);
    let lines = "import = \"leg.xml\"\n  [[joint]]\n  match = \"knee\"\n  stiffness = 100.0";
    for arguments in [
        &["compare", "leg.xml"][..],
        &["compliance", "leg.xml"],
        &["simulate", "leg.xml", "--engine", "linear", "--duration", "0.01", "--dt", "0.001"],
    ] {
        run.fails(arguments, 2, &["joint `knee`", "Give that joint a stiffness, in a scene file", lines]);
    }
    run.file("leg.toml", lines);
    assert_eq!(run.run(&["compliance", "leg.toml"]).code, 0);
    // Of several joints, all at once.
    let ankle = "<body pos='0 0 -0.5'><joint name='ankle' axis='0 1 0'/><geom size='0.1'/></body></body></body></worldbody>";
    run.file("leg.xml", model.replace("</body></body></worldbody>", ankle));
    let all = "2 joints of the file have no spring: ankle, knee; `match` takes several at once";
    run.fails(&["compliance", "leg.xml"], 2, &["Give that joint a stiffness, in a scene file", all]);
}

/// One line for all that a file says and is left out, but for `info` and `--verbose`; scripts get all.
#[test]
fn what_is_left_out_is_told_in_short() {
    let run = Run::new("import-short");
    run.file("arm.urdf", arm("<limit lower=\"1\" upper=\"-1\"/><oil/><paint/>"));
    let short =
        "warning: 2 things of arm.urdf are left out or repaired: `pliant info` lists them, --verbose too\n";
    let outcome = run.run(&["compliance", "arm.urdf"]);
    assert_eq!((outcome.code, outcome.err), (0, format!("{NOTE}{short}")));
    let outcome = run.run(&["compliance", "arm.urdf", "--verbose"]);
    assert_eq!(outcome.err.lines().filter(|line| line.starts_with("warning: arm.urdf:4: ")).count(), 2);
    assert!(!run.run(&["info", "arm.urdf"]).err.contains("things of"));
    assert_eq!(run.json(&["compliance", "arm.urdf"], 0)["warnings"].as_array().map(Vec::len), Some(2));
}

/// A loose object next to a robot is no base of it.
#[test]
fn loose_bodies_are_not_reduced() {
    let run = Run::new("import-loose");
    let link = |name: &str, inner: &str| {
        format!(
            "<body name=\"{name}\" pos=\"0.3 0 0\"><joint axis=\"0 1 0\" stiffness=\"50\"/>\
             <geom type=\"capsule\" fromto=\"0 0 0 0.3 0 0\" size=\"0.02\"/>{inner}</body>"
        )
    };
    let links = ["a", "b", "c", "d", "e", "f", "g"]
        .iter()
        .rev()
        .fold(String::new(), |inner, name| link(name, &inner));
    run.file(
        "scene.xml",
        format!("<mujoco><worldbody>{links}<body name=\"cup\" pos=\"0 3 0\"><freejoint/><geom size=\"0.1\"/></body></worldbody></mujoco>"),
    );
    let made = run.json(&["reduce", "scene.xml", "-o", "scene.pliant", "--max-error", "0.2"], 0);
    let warnings = made["warnings"].to_string();
    assert!(
        warnings.contains("the model leaves out loose bodies, which only contact moves: cup"),
        "{warnings}"
    );
    assert_eq!(run.json(&["info", "scene.pliant"], 0)["bodies"], 7);
    assert_eq!(run.json(&["info", "scene.xml"], 0)["bodies"], 8);
}
