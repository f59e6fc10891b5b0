//! What holds for every format.

use super::{joint, link, read, robot};

#[test]
fn leaves_that_move_are_effectors() {
    let text = robot(&[
        &link("base"),
        &link("camera"),
        &link("a"),
        &link("left"),
        "<link name=\"tip\"/>\n",
        &joint("mount", "fixed", "base", "camera", ""),
        &joint("shoulder", "continuous", "base", "a", ""),
        &joint("l", "continuous", "a", "left", ""),
        &joint("r", "fixed", "a", "tip", ""),
    ]);
    assert_eq!(read(&text, &[]).summary().effectors, ["left", "tip"]);
    // What does not move needs none.
    assert_eq!(read(&robot(&[&link("base")]), &[]).summary().effectors, [""; 0]);
}

#[test]
fn the_joint_to_the_world_gets_a_name_of_its_own() {
    let text = robot(&[&link("base"), &link("a"), &joint("base_to_world", "continuous", "base", "a", "")]);
    let mechanism = read(&text, &[]);
    assert_eq!(mechanism.joints()[1].name, "base_to_world_");
}

/// A limit that the file's own pose breaks would throw the joint; it is left out, and the other one stays. What is
/// off by a last decimal is no defect.
#[test]
fn limits_that_the_pose_breaks() {
    let limit = |lower: &str, upper: &str| format!("<limit lower=\"{lower}\" upper=\"{upper}\"/>");
    let hinge = |child: &str, lower, upper| joint(child, "revolute", "base", child, &limit(lower, upper));
    let text = robot(&[
        &["base", "above", "below", "at", "near", "both"].map(link).concat(),
        &hinge("above", "-3", "-0.5"),
        &hinge("below", "0.25", "2"),
        &hinge("at", "0", "1"),
        &hinge("near", "1e-9", "1"),
        // The wrong way round besides.
        &hinge("both", "2", "1"),
    ]);
    let mechanism = read(
        &text,
        &[
            "robot.urdf:8: joint `above`: the file's pose, 0, is above the upper limit -0.5, which was left out (2 more like it)",
            "robot.urdf:12: joint `both`: the lower limit 2 is above the upper limit 1; they were swapped",
        ],
    );
    let limits: Vec<(f64, f64)> =
        mechanism.joints()[..5].iter().map(|j| (j.freedoms[0].lower, j.freedoms[0].upper)).collect();
    let (low, high) = (f64::NEG_INFINITY, f64::INFINITY);
    assert_eq!(limits, [(-3.0, high), (low, 2.0), (0.0, 1.0), (0.0, 1.0), (low, 2.0)]);
}
