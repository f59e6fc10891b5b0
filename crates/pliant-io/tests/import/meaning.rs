//! What holds for every format.

use super::{joint, link, links, read, robot};
use pliant_core::mechanism::Freedom;

/// A link with a shape to touch with.
fn solid(name: &str) -> String {
    let shape = "<collision><geometry><sphere radius=\"0.1\"/></geometry></collision>";
    link(name).replace("</link>", &format!("{shape}</link>"))
}

#[test]
fn ends_with_shapes_and_named_tools_are_effectors() {
    let frame = |name: &str| format!("<link name=\"{name}\"/>\n");
    let text = robot(&[
        &["base", "arm", "left finger", "right finger", "leg"].map(solid).concat(),
        &["tool0", "imu_link", "hand_camera", "logo", "frame"].map(frame).concat(),
        &link("mirror"),
        &joint("shoulder", "continuous", "base", "arm", ""),
        &joint("l", "continuous", "arm", "left finger", ""),
        &joint("r", "continuous", "arm", "right finger", ""),
        &joint("hip", "continuous", "base", "leg", ""),
        // A tool in the arm's own set; sensors, a logo and a frame that are welded; a link that moves and has no shape.
        &joint("flange", "fixed", "arm", "tool0", ""),
        &joint("a", "fixed", "arm", "imu_link", ""),
        &joint("b", "fixed", "left finger", "hand_camera", ""),
        &joint("c", "fixed", "base", "logo", ""),
        &joint("d", "fixed", "leg", "frame", ""),
        &joint("e", "continuous", "arm", "mirror", ""),
    ]);
    let mut found = read(&text, &[]).summary().effectors;
    found.sort();
    assert_eq!(found, ["left finger", "leg", "right finger", "tool0"]);
}

/// A frame without a shape is an effector where it is, but on the link with a shape that it is welded to, however many frames
/// are between; one that is solid itself, or has nothing solid near, is on its own.
#[test]
fn frames_of_tools_are_on_what_touches() {
    let frame = |name: &str| format!("<link name=\"{name}\"/>\n");
    let at = "<origin xyz=\"0.1 0.2 0.3\" rpy=\"0.4 0.5 0.6\"/>";
    for (wrist, tool, on) in [
        (solid("wrist"), frame("tool0"), "wrist"),
        (solid("wrist"), solid("tool0"), "tool0"),
        (link("wrist"), frame("tool0"), "tool0"),
    ] {
        let mechanism = read(
            &robot(&[
                &[solid("base"), wrist, frame("flange"), tool].concat(),
                &joint("bend", "continuous", "base", "wrist", at),
                &joint("a", "fixed", "wrist", "flange", at),
                &joint("b", "fixed", "flange", "tool0", at),
            ]),
            &[],
        );
        let [effector] = mechanism.effectors() else { panic!("{:?}", mechanism.effectors()) };
        assert_eq!((effector.name.as_str(), mechanism[effector.body].name.as_str()), ("tool0", on));
        let tool = mechanism.find_body("tool0").unwrap();
        let found = mechanism[effector.body].pose * effector.frame;
        let off = found.inverse_times(&mechanism[tool].pose);
        assert!(off.position.norm() < 1e-15 && off.rotation.angle() < 1e-7, "{off:?}");
    }
}

#[test]
fn without_shapes_and_tools_all_ends_are_effectors() {
    let text = robot(&[
        &links(&["base", "camera", "a", "left"]),
        "<link name=\"top\"/>\n",
        &joint("mount", "fixed", "base", "camera", ""),
        &joint("shoulder", "continuous", "base", "a", ""),
        &joint("l", "continuous", "a", "left", ""),
        &joint("r", "fixed", "a", "top", ""),
    ]);
    let mut found = read(&text, &[]).summary().effectors;
    found.sort();
    assert_eq!(found, ["left", "top"]);
    // What does not move needs none.
    assert_eq!(read(&robot(&[&link("base")]), &[]).summary().effectors, [""; 0]);
}

#[test]
fn the_joint_to_the_world_gets_a_name_of_its_own() {
    let text = robot(&[&link("base"), &link("a"), &joint("base_to_world", "continuous", "base", "a", "")]);
    let mechanism = read(&text, &[]);
    assert_eq!(mechanism.joints()[1].name, "base_to_world_");
}

/// Joints whose limits leave the file's pose out start in the middle of them. What is off by a last decimal is no defect.
#[test]
fn limits_that_the_pose_breaks() {
    let limit = |lower: &str, upper: &str| format!("<limit lower=\"{lower}\" upper=\"{upper}\"/>");
    let hinge = |child: &str, lower, upper| joint(child, "revolute", "base", child, &limit(lower, upper));
    let text = robot(&[
        &["base", "above", "below", "at", "near", "both", "open"].map(link).concat(),
        &hinge("above", "-3", "-0.5"),
        &hinge("below", "0.25", "2"),
        &hinge("at", "0", "1"),
        &hinge("near", "1e-9", "1"),
        // The wrong way round besides.
        &hinge("both", "2", "1"),
        &hinge("open", "0.5", "inf"),
    ]);
    let mechanism = read(
        &text,
        &["robot.urdf:13: joint `both`: the lower limit 2 is above the upper limit 1; they were swapped"],
    );
    let of = |value: fn(&Freedom) -> f64| -> Vec<f64> {
        mechanism.joints()[..6].iter().map(|j| value(&j.freedoms[0])).collect()
    };
    assert_eq!(of(|f| f.lower), [-3.0, 0.25, 0.0, 0.0, 1.0, 0.5]);
    assert_eq!(of(|f| f.upper), [-0.5, 2.0, 1.0, 1.0, 2.0, f64::INFINITY]);
    let start: Vec<f64> = mechanism.joints()[..6].iter().map(|j| j.start[0]).collect();
    assert_eq!(start, [-1.75, 1.125, 0.0, 0.0, 1.5, 0.5]);
    assert_eq!(
        mechanism.notes()[0],
        "robot.urdf:9: 4 joints start in the middle of their limits, which exclude the file's pose: `above` at \
         -1.7500, `below` at 1.1250, `both` at 1.5000, `open` at 0.5000"
    );
}

/// q = ratio p + offset holds where the robot starts, limits of leader and followers kept; q is worked out by hand.
#[test]
fn couplings_hold_at_the_start() {
    let follow = |child: &str, of: &str, rest: &str, limit: &str| {
        joint(child, "revolute", "base", child, &format!("<mimic joint=\"{of}\" {rest}/><limit {limit}/>"))
    };
    let wide = "lower=\"-9\" upper=\"9\"";
    let text = robot(&[
        &["base", "lead", "one", "two", "pushed", "pusher"].map(link).concat(),
        &joint("lead", "revolute", "base", "lead", &format!("<limit {wide}/>")),
        &follow("two", "one", "multiplier=\"-2\" offset=\"0.1\"", wide),
        &follow("one", "lead", "multiplier=\"0.5\" offset=\"0.3\"", wide),
        // Its follower is within its limits where it is between 1 and 2.
        &joint("pushed", "revolute", "base", "pushed", &format!("<limit {wide}/>")),
        &follow("pusher", "pushed", "multiplier=\"-1\" offset=\"0.5\"", "lower=\"-1.5\" upper=\"-0.5\""),
    ]);
    let mechanism = read(&text, &[]);
    let start = mechanism.start().expect("it does not start in the file's pose");
    let at = |name: &str| {
        let joint = mechanism.joints().iter().find(|joint| joint.name == name).unwrap();
        start.coordinates[joint.coordinates().start]
    };
    let expected = [("lead", 0.0), ("one", 0.3), ("two", -0.5), ("pushed", 1.5), ("pusher", -1.0)];
    for (name, q) in expected {
        // A product and a sum.
        assert!((at(name) - q).abs() < 1e-15, "{name}: {}", at(name));
    }
}

/// Where no pose keeps all limits, the follower's broken one is left out, and that is reported.
#[test]
fn followers_without_a_place_lose_a_limit() {
    let text = robot(&[
        &["base", "a", "b"].map(link).concat(),
        &joint("a", "revolute", "base", "a", "<limit lower=\"-1\" upper=\"1\"/>"),
        &joint(
            "b",
            "revolute",
            "base",
            "b",
            "<mimic joint=\"a\" offset=\"5\"/><limit lower=\"-1\" upper=\"1\"/>",
        ),
    ]);
    let told = "robot.urdf:6: joint `b`: where it starts, 5, is above the upper limit 1, which was left out";
    let mechanism = read(&text, &[told]);
    assert_eq!(mechanism.start().unwrap().coordinates, [0.0, 5.0]);
}
