//! Links without mass between joints.

use super::{joint, link, read, robot};

#[test]
fn a_massless_link_between_two_joints_takes_a_share() {
    let text = robot(&[
        &link("base"),
        "<link name=\"cross\"/>\n<link name=\"frame\"/>\n",
        &link("a"),
        &link("b"),
        &joint("x", "continuous", "base", "cross", ""),
        &joint("y", "continuous", "cross", "a", "<origin xyz=\"0 1 0\"/><axis xyz=\"0 1 0\"/>"),
        &joint("weld", "fixed", "a", "b", "<origin xyz=\"0 0 1\"/>"),
        &joint("tool", "fixed", "b", "frame", ""),
    ]);
    let mechanism = read(&text, &[]);
    assert_eq!(mechanism.summary().freedoms, 2);
    assert!((mechanism.mass() - 3.0).abs() < 1e-15, "the total stays");
    // Both welded links give 1e-4 of theirs, at their common centre.
    let cross = &mechanism.bodies()[1].inertia;
    assert!((cross.mass - 2e-4).abs() < 1e-18);
    assert!((cross.center_of_mass - pliant_core::nalgebra::Vector3::new(0.0, 1.0, 0.5)).norm() < 1e-12);
    assert_eq!(
        mechanism.notes()[0],
        "robot.urdf:3: link `cross` between two joints has no mass: it takes 1e-4 of the mass it carries"
    );
    assert_eq!(mechanism.summary().effectors, ["frame"]);
}
