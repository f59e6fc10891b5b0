//! Every warning of a URDF file, word for word.

use super::{joint, link, links, read, robot};

#[test]
fn unknown_elements_once_per_kind() {
    let text = robot(&[
        "<surface/>\n<surface/>\n<link name=\"a\"><mystery/></link>\n<link name=\"b\"><mystery/></link>\n",
        &joint("j", "fixed", "a", "b", "<spring/>"),
    ]);
    read(
        &text,
        &[
            "robot.urdf:2: <surface> in <robot> is unknown and was left out (1 more like it)",
            "robot.urdf:4: <mystery> in <link> is unknown and was left out (1 more like it)",
            "robot.urdf:6: <spring> in <joint> is unknown and was left out",
        ],
    );
}

#[test]
fn masses_and_inertias() {
    let inertial =
        |name: &str, content: &str| format!("<link name=\"{name}\"><inertial>{content}</inertial></link>\n");
    let moments = |x: f64, y: f64, z: f64| {
        format!("<inertia ixx=\"{x}\" iyy=\"{y}\" izz=\"{z}\" ixy=\"0\" ixz=\"0\" iyz=\"0\"/>")
    };
    let hinge = |child: &str| joint(child, "continuous", "base", child, "");
    let names = ["missing", "negative", "weightless", "impossible", "point", "rod"];
    let text = robot(&[
        &link("base"),
        &inertial("missing", &moments(1.0, 1.0, 1.0)),
        &inertial("negative", &format!("<mass value=\"-1\"/>{}", moments(1.0, 1.0, 1.0))),
        &inertial("weightless", &format!("<mass value=\"0\"/>{}", moments(1.0, 1.0, 1.0))),
        &inertial("impossible", &format!("<mass value=\"1\"/>{}", moments(1.0, 1.0, 4.0))),
        // So small that it is a decimal of zero.
        &inertial("point", &format!("<mass value=\"1\"/>{}", moments(0.0, 0.0, 1e-35))),
        &inertial("rod", &format!("<mass value=\"1\"/>{}", moments(1.0, 1.0, 0.0))),
        &names.map(hinge).concat(),
    ]);
    let mechanism = read(
        &text,
        &[
            "robot.urdf:3: link `missing`: <inertial> gives no mass; it was read as massless",
            "robot.urdf:3: link `missing` has no mass and carries none: joint `missing` was fixed (2 more like it)",
            "robot.urdf:4: link `negative`: the mass is -1; it was read as 0",
            "robot.urdf:5: link `weightless` has inertia but no mass; it was read as massless",
            "robot.urdf:6: link `impossible`: no rigid body has the principal moments 1.0000e0, 1.0000e0, 4.0000e0 kg·m²; \
             the smaller ones were raised until one can",
            "robot.urdf:7: link `point` turns about some axis without inertia; it got the inertia of a ball of water of its mass \
             (1 more like it)",
        ],
    );
    let I = mechanism.bodies()[4].inertia.inertia;
    assert!(
        (I[(0, 0)] - 2.0).abs() < 1e-12 && (I[(1, 1)] - 2.0).abs() < 1e-12 && (I[(2, 2)] - 4.0).abs() < 1e-12
    );
    // A ball of water of 1 kg has a radius of 62 mm.
    assert!((mechanism.bodies()[5].inertia.inertia[(0, 0)] - 0.4 * 0.0620350f64.powi(2)).abs() < 1e-8);
    assert_eq!(mechanism.mass(), 4.0);
}

#[test]
fn limits_and_axes() {
    let text = robot(&[
        &links(&["base", "a", "b", "c", "d"]),
        &joint("swapped", "revolute", "base", "a", "<limit lower=\"1\" upper=\"-1\"/>"),
        &joint("none", "revolute", "base", "b", ""),
        &joint("unbound", "revolute", "base", "c", "<limit effort=\"1\" velocity=\"1\"/>"),
        &joint("nowhere", "continuous", "base", "d", "<axis xyz=\"0 0 0\"/>"),
    ]);
    let mechanism = read(
        &text,
        &[
            "robot.urdf:7: joint `swapped`: the lower limit 1 is above the upper limit -1; they were swapped",
            "robot.urdf:8: joint `none` must have a <limit>, but has none; it was read as a joint without limits",
            "robot.urdf:9: joint `unbound`: its <limit> has no `lower` and `upper`; it was read as a joint without limits",
            "robot.urdf:10: joint `nowhere`: the axis has no length; x was used",
        ],
    );
    assert_eq!(
        (mechanism.joints()[0].freedoms[0].lower, mechanism.joints()[0].freedoms[0].upper),
        (-1.0, 1.0)
    );
}

#[test]
fn dynamics_and_mimics() {
    let text = robot(&[
        &links(&["base", "a", "b", "c", "d", "e"]),
        &joint("rough", "continuous", "base", "a", "<dynamics damping=\"-1\" friction=\"-0.5\"/>"),
        &joint("rough too", "continuous", "base", "b", "<dynamics friction=\"0.5\"/>"),
        &joint("nobody", "continuous", "base", "c", "<mimic joint=\"ghost\"/>"),
        &joint("plane", "planar", "base", "d", "<mimic joint=\"rough\"/>"),
        &joint("shifted", "continuous", "base", "e", "<mimic joint=\"rough\" offset=\"0.5\"/>"),
    ]);
    read(
        &text,
        &[
            "robot.urdf:8: joint `rough`: the damping is -1; it was read as 0",
            "robot.urdf:8: joint `rough`: the friction is -0.5; it was read as 0",
            "robot.urdf:10: joint `nobody` mimics `ghost`, which does not exist; it moves on its own",
            "robot.urdf:11: joint `plane` cannot mimic `rough`: only joints of one freedom can; it was left out",
        ],
    );
}

#[test]
fn shapes() {
    let shape = |geometry: &str| format!("<collision><geometry>{geometry}</geometry></collision>\n");
    let text = robot(&[
        "<link name=\"a\">\n",
        &shape("<mesh filename=\"package://nowhere/a.stl\"/>"),
        &shape("<mesh filename=\"package://nowhere/b.stl\"/>"),
        &shape("<mesh filename=\"gone.stl\"/>"),
        &shape("<mesh filename=\"../../../../../../../../../../../etc/passwd\"/>"),
        &shape("<mesh filename=\"http://example.org/a.stl\"/>"),
        &shape("<box size=\"0 1 1\"/>"),
        &shape("<torus/>"),
        &shape(""),
        "</link>\n",
    ]);
    read(
        &text,
        &[
            "robot.urdf:3: the mesh `package://nowhere/a.stl` was left out: there is no package `nowhere` (1 more like it)",
            "robot.urdf:5: the mesh `gone.stl` was left out: there is no such file",
            "robot.urdf:6: the mesh `../../../../../../../../../../../etc/passwd` was left out: it lies outside the folder of the file: move it there, or allow its folder",
            "robot.urdf:7: the mesh `http://example.org/a.stl` was left out: `http://` is not supported",
            "robot.urdf:8: a box without extent was left out",
            "robot.urdf:9: a geometry <torus> is unknown and was left out",
            "robot.urdf:10: a geometry is empty and was left out",
        ],
    );
}

#[test]
fn several_roots() {
    let text = robot(&[&link("a"), &link("b"), &link("c"), &joint("j", "continuous", "a", "c", "")]);
    read(&text, &["robot.urdf:3: `a` and `b` are both roots: no joint carries them"]);
}

#[test]
fn a_coupling_of_a_joint_that_was_fixed() {
    let text = robot(&[
        &link("base"),
        &link("a"),
        "<link name=\"frame\"/>\n",
        &joint("j", "continuous", "base", "a", ""),
        &joint("k", "continuous", "a", "frame", "<mimic joint=\"j\"/>"),
    ]);
    read(
        &text,
        &[
            "robot.urdf:4: link `frame` has no mass and carries none: joint `k` was fixed",
            "robot.urdf:6: the coupling of joint `k` to `j` was left out: `k` does not move",
        ],
    );
}
