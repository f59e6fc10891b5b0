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
