//! Every feature of URDF.

use std::f64::consts::{FRAC_PI_2, PI};

use pliant_core::joints::JointKind;
use pliant_core::mechanism::Geometry;
use pliant_core::nalgebra::Vector3;
use pliant_io::Options;

use super::{Folder, joint, link, links, meshes, read, read_with, robot};

#[test]
fn joints_of_every_type() {
    let origin = "<origin xyz=\"0 0 1\"/>";
    let limit = "<limit lower=\"-1\" upper=\"2\" effort=\"3\" velocity=\"4\"/>";
    let text = robot(&[
        &links(&["base", "a", "b", "c", "d", "e", "f"]),
        &joint(
            "revolute",
            "revolute",
            "base",
            "a",
            &format!("{origin}{limit}<axis xyz=\"0 2 0\"/><dynamics damping=\"0.5\"/>"),
        ),
        &joint("continuous", "continuous", "a", "b", &format!("{origin}{limit}")),
        &joint("prismatic", "prismatic", "b", "c", &format!("{origin}{limit}<axis xyz=\"0 0 1\"/>")),
        &joint("planar", "planar", "c", "d", "<axis xyz=\"0 0 1\"/>"),
        &joint("fixed", "fixed", "d", "e", origin),
        &joint("ball", "spherical", "e", "f", ""),
    ]);
    let mechanism = read(&text, &[]);
    let kinds: Vec<_> = mechanism.joints().iter().map(|j| (j.name.as_str(), &j.kind)).collect();
    let expected = [
        ("revolute", &JointKind::Hinge),
        ("continuous", &JointKind::Hinge),
        ("prismatic", &JointKind::Prismatic),
        ("planar", &JointKind::Planar),
        ("fixed", &JointKind::Fixed),
        ("ball", &JointKind::Ball),
        ("base_to_world", &JointKind::Fixed),
    ];
    assert_eq!(kinds, expected);
    let revolute = &mechanism.joints()[0];
    assert_eq!((revolute.freedoms[0].lower, revolute.freedoms[0].upper), (-1.0, 2.0));
    assert!((revolute.frame.rotation * Vector3::z() - Vector3::y()).norm() < 1e-15);
    assert_eq!(
        mechanism.joints()[1].freedoms[0].lower,
        f64::NEG_INFINITY,
        "a continuous joint has no limits"
    );
    assert!(
        (mechanism.joints()[1].frame.rotation * Vector3::z() - Vector3::x()).norm() < 1e-15,
        "x by default"
    );
    assert_eq!(mechanism.bodies()[3].pose.position, Vector3::new(0.0, 0.0, 3.0));
    assert_eq!(mechanism.name(), "r");
    assert_eq!(mechanism.summary().freedoms, 9);
    assert_eq!(mechanism.summary().effectors, ["f"]);
    assert_eq!(mechanism.mass(), 7.0, "the mass counts every link, the fixed root too");
}

#[test]
fn origins_turn_about_fixed_axes() {
    let origin = "<origin xyz=\"1 0 0\" rpy=\"0.1 0.2 1.5707963267948966\"/>";
    let text = robot(&[&link("base"), &link("a"), &joint("j", "fixed", "base", "a", origin)]);
    let pose = read(&text, &[]).bodies()[1].pose;
    let (roll, pitch, yaw) = pose.rotation.euler_angles();
    assert!((roll - 0.1).abs() < 1e-12 && (pitch - 0.2).abs() < 1e-12 && (yaw - FRAC_PI_2).abs() < 1e-12);
}

#[test]
fn inertials_are_seen_from_the_link() {
    let text = robot(&[
        "<link name=\"a\"><inertial><origin xyz=\"1 2 3\" rpy=\"0 0 1.5707963267948966\"/><mass value=\"2\"/>\
         <inertia ixx=\"0.1\" iyy=\"0.2\" izz=\"0.25\" ixy=\"0.01\" ixz=\"0\" iyz=\"0\"/></inertial></link>\n",
    ]);
    let inertia = read(&text, &[]).bodies()[0].inertia;
    assert_eq!((inertia.mass, inertia.center_of_mass), (2.0, Vector3::new(1.0, 2.0, 3.0)));
    let I = inertia.inertia;
    assert!(
        (I[(0, 0)] - 0.2).abs() < 1e-15
            && (I[(1, 1)] - 0.1).abs() < 1e-15
            && (I[(0, 1)] + 0.01).abs() < 1e-15
    );
}

#[test]
fn collision_and_visual_shapes() {
    let folder = Folder::new("shapes");
    folder.file("meshes/a b.stl", &meshes::corner("solid a b", 1.0));
    folder.file("package.xml", "");
    let shape = |tag: &str, geometry: &str| {
        format!("<{tag}><origin xyz=\"0 0 1\"/><geometry>{geometry}</geometry></{tag}>")
    };
    let both =
        [shape("visual", "<sphere radius=\"9\"/>"), shape("collision", "<box size=\"1 2 3\"/>")].concat();
    let more = [
        shape("visual", "<sphere radius=\"2\"/>"),
        shape("visual", "<cylinder radius=\"1\" length=\"4\"/>"),
        shape("visual", "<capsule radius=\"1\" length=\"4\"/>"),
        shape("visual", "<mesh filename=\"../meshes/a b.stl\" scale=\"1 2 3\"/>"),
    ]
    .concat();
    let package = folder.0.file_name().unwrap().to_str().unwrap();
    let hull = shape("collision", &format!("<mesh filename=\"package://{package}/meshes/a b.stl\"/>"));
    let text = robot(&[
        &format!("<link name=\"a\">{both}</link>"),
        &format!("<link name=\"b\">{more}</link>"),
        &format!("<link name=\"c\">{hull}</link>"),
        &joint("j", "fixed", "a", "b", ""),
        &joint("k", "fixed", "a", "c", ""),
    ]);
    let mechanism = pliant_io::load(folder.file("urdf/robot.urdf", &text)).unwrap();
    assert_eq!(mechanism.warnings(), [""; 0]);
    let geometries =
        |body: usize| mechanism.bodies()[body].shapes.iter().map(|s| s.geometry.clone()).collect::<Vec<_>>();
    assert_eq!(
        geometries(0),
        [Geometry::Box { size: Vector3::new(1.0, 2.0, 3.0) }, Geometry::Ball { radius: 9.0 }]
    );
    assert_eq!(mechanism.bodies()[0].shapes.iter().map(|s| s.touches).collect::<Vec<_>>(), [true, false]);
    assert_eq!(mechanism.bodies()[0].shapes[0].pose.position.z, 1.0);
    let file = folder.0.join("meshes/a b.stl").display().to_string();
    assert_eq!(
        geometries(1),
        [
            Geometry::Ball { radius: 2.0 },
            Geometry::Cylinder { radius: 1.0, half_length: 2.0 },
            Geometry::Capsule { radius: 1.0, half_length: 2.0 },
            Geometry::Mesh { file: file.clone(), scale: Vector3::new(1.0, 2.0, 3.0) },
        ]
    );
    assert_eq!(geometries(2), [Geometry::Convex { file, scale: Vector3::repeat(1.0) }]);
}

#[test]
fn mimics_are_couplings() {
    let mimic = "<limit lower=\"-1\" upper=\"1\"/><mimic joint=\"lead\" multiplier=\"-2\" offset=\"0\"/>";
    let text = robot(&[
        &links(&["base", "a", "b", "c"]),
        &joint("lead", "continuous", "base", "a", ""),
        &joint("follow", "revolute", "base", "b", mimic),
        &joint("copy", "continuous", "base", "c", "<mimic joint=\"follow\"/>"),
    ]);
    let mechanism = read(&text, &[]);
    let couplings: Vec<_> =
        mechanism.couplings().iter().map(|c| (c.joint.index(), c.of.index(), c.ratio, c.offset)).collect();
    assert_eq!(couplings, [(1, 0, -2.0, 0.0), (2, 1, 1.0, 0.0)]);
    assert!(mechanism.joints()[0].freedoms[0].is_sprung(), "who leads is held");
    assert!(!mechanism.joints()[1].freedoms[0].is_sprung(), "who follows is not");
}

#[test]
fn a_base_can_be_free() {
    let text = robot(&[&link("base"), &link("a"), &joint("j", "continuous", "base", "a", "")]);
    let mechanism = read_with(&text, &Options { free_base: true, ..Options::default() }).unwrap();
    assert!(mechanism.bodies()[0].free);
    assert_eq!((mechanism.joints().len(), mechanism.summary().freedoms), (1, 7));
}

#[test]
fn what_floats_is_free() {
    let text = robot(&[
        "<link name=\"world\"/>\n",
        &link("base"),
        &link("ball"),
        &joint("root", "floating", "world", "base", "<origin xyz=\"0 0 1\"/>"),
        &joint("loose", "floating", "base", "ball", ""),
    ]);
    let mechanism = read(&text, &[]);
    assert!(mechanism.bodies()[0].free && mechanism.bodies()[0].name == "base");
    assert_eq!(mechanism.bodies()[0].pose.position.z, 1.0);
    assert_eq!((&mechanism.joints()[0].kind, mechanism.joints()[0].is_held()), (&JointKind::Bushing, false));
    assert_eq!(mechanism.summary().freedoms, 12);
}

#[test]
fn a_link_called_world() {
    let shape = "<visual><geometry><sphere radius=\"1\"/></geometry></visual>";
    let text = robot(&[
        &format!("<link name=\"world\">{shape}</link>\n"),
        &link("base"),
        &joint("j", "fixed", "world", "base", ""),
    ]);
    let mechanism = read(&text, &[]);
    assert_eq!((mechanism.bodies().len(), mechanism.world_shapes().len()), (1, 1));
    assert_eq!(mechanism.joints()[0].parent, None);
    let free = read_with(&text, &Options { free_base: true, ..Options::default() }).unwrap();
    assert!(free.bodies()[0].free);
    let heavy = robot(&[&link("world"), &link("base"), &joint("j", "fixed", "world", "base", "")]);
    let warning = "robot.urdf:2: `world` is the name of the fixed world: the link was renamed `world_link`";
    assert_eq!(read(&heavy, &[warning]).mass(), 2.0);
}

#[test]
fn springs_of_the_file_leave_others_passive() {
    let spring = "<dynamics spring_stiffness=\"20\" spring_reference=\"0.25\"/>";
    let text = robot(&[
        &links(&["base", "a", "b"]),
        &joint("sprung", "continuous", "base", "a", spring),
        &joint("loose", "continuous", "a", "b", ""),
    ]);
    let mechanism = read(&text, &[]);
    let freedoms: Vec<_> =
        mechanism.joints()[..2].iter().map(|j| (j.freedoms[0].stiffness, j.freedoms[0].rest)).collect();
    assert_eq!(freedoms, [(20.0, 0.25), (0.0, 0.0)]);
    assert_eq!(mechanism.notes(), [""; 0]);
}

#[test]
fn default_springs_hold_what_they_carry_at_ten_hertz() {
    let text = robot(&[
        &links(&["base", "a", "b"]),
        &joint("lift", "prismatic", "base", "a", "<axis xyz=\"0 0 1\"/><limit lower=\"0.5\" upper=\"1\"/>"),
        &joint(
            "turn",
            "continuous",
            "a",
            "b",
            "<origin xyz=\"0 3 0\"/><axis xyz=\"0 0 1\"/><dynamics damping=\"1e9\"/>",
        ),
    ]);
    let mechanism = pliant_io::import::read(&text, "robot.urdf", &Options::default()).unwrap();
    let near = |a: f64, b: f64| assert!((a - b).abs() <= 1e-12 * b, "{a} {b}");
    // Both links slide, 2 kg, and sag by 1 mm; the second turns about its own centre, 0.1 kg·m², where no weight pulls: at 5 Hz.
    let [lift, turn] = [0, 1].map(|i| mechanism.joints()[i].freedoms[0]);
    near(lift.stiffness, 2.0 * 9.81 / 1e-3);
    near(lift.damping, 2.0 * (2.0 * 2.0 * 9.81 / 1e-3f64).sqrt());
    assert_eq!(lift.rest, 0.75, "held where it starts");
    near(turn.stiffness, 0.1 * (2.0 * PI * 5.0).powi(2));
    assert_eq!(turn.damping, 1e9, "what the file gives is kept where it is more");
    assert_eq!(
        mechanism.notes(),
        [
            "robot.urdf:5: 1 joint starts in the middle of its limits, which exclude the file's pose: `lift` at 0.7500",
            "2 joints are held as by PD control, because the file gives no springs: each sags by at most 0.01 rad or 1 mm under the \
          weight that it carries in any pose, and is critically damped; a scene file with `import` can give other springs"
        ]
    );
}

/// Links of 1 kg, each with a hinge at its origin and its centre 0.1 m along x from there, one after the other.
fn pendulums(second: &str, more: &str) -> String {
    let weight = "<inertial><origin xyz=\"0.1 0 0\"/><mass value=\"1\"/>\
        <inertia ixx=\"0.001\" iyy=\"0.001\" izz=\"0.001\" ixy=\"0\" ixz=\"0\" iyz=\"0\"/></inertial>";
    let link = |name: &str| format!("<link name=\"{name}\">{weight}</link>\n");
    let hinge =
        |name: &str, parent: &str, child: &str, more: &str| joint(name, "revolute", parent, child, more);
    let axis = "<axis xyz=\"0 0 1\"/>";
    robot(&[
        &["base", "upper", "lower"].map(link).concat(),
        &hinge(
            "shoulder",
            "base",
            "upper",
            &format!("{axis}<limit lower=\"-1\" upper=\"1\" effort=\"1\" velocity=\"1\"/>"),
        ),
        &hinge("elbow", "upper", "lower", &format!("<origin xyz=\"0.2 0 0\"/>{axis}{second}{more}")),
    ])
}

/// A shoulder is held by what it carries with the elbow anywhere, not by what it carries folded; and dry friction is held too.
#[test]
fn default_springs_hold_the_whole_range() {
    let at = |second: &str, more: &str| {
        let text = pendulums(second, more);
        let mechanism = pliant_io::import::read(&text, "robot.urdf", &Options::default()).unwrap();
        [0, 1].map(|i| mechanism.joints()[i].freedoms[0])
    };
    let fixed = |lower: f64, upper: f64| {
        format!("<limit lower=\"{lower}\" upper=\"{upper}\" effort=\"1\" velocity=\"1\"/>")
    };
    // Stretched, the centre of both is at (0.1 + 0.3)/2 m; folded back, at (0.1 + 0.1)/2.
    let [stretched, elbow] = at(&fixed(-1e-9, 1e-9), "");
    let [folded, _] = at(&fixed(PI - 1e-9, PI), "");
    let [any, _] = at(&fixed(-PI, PI), "");
    let near = |a: f64, b: f64, part: f64| assert!((a - b).abs() <= part * b, "{a} {b}");
    near(elbow.stiffness, 9.81 * 0.1 / 0.01, 1e-12);
    near(stretched.stiffness, 9.81 * 0.4 / 0.01, 1e-9);
    near(folded.stiffness, 9.81 * 0.2 / 0.01, 1e-9);
    // The start is stretched, and is one of the poses.
    near(any.stiffness, stretched.stiffness, 1e-9);
    let [_, rough] = at(&fixed(-1.0, 1.0), "<dynamics friction=\"3\"/>");
    near(rough.stiffness, (9.81 * 0.1 + 3.0) / 0.01, 1e-12);
    // Where only other poses are stretched, some of those looked at are nearly so.
    let [bent, _] = at(&fixed(0.0, PI), "");
    near(bent.stiffness, stretched.stiffness, 1e-9);
    let [far, _] = at(&fixed(0.5, PI), "");
    assert!(far.stiffness > 0.9 * 9.81 * (0.1 + 0.2 + 0.1 * 0.5f64.cos()) / 0.01, "{}", far.stiffness);
}

/// A robot without any mass keeps its joints: links get the mass of their collision shapes, as if of water.
#[test]
fn robots_without_mass_get_that_of_their_shapes() {
    let shape = "<collision><geometry><box size=\"0.1 0.2 0.3\"/></geometry></collision>";
    let link = |name: &str| format!("<link name=\"{name}\">{shape}</link>\n");
    let arm = |base: &str| {
        let elbow = joint("elbow", "continuous", "base", "tip", "<axis xyz=\"0 0 1\"/>");
        robot(&[base, &link("tip"), &elbow])
    };
    let warning = "robot.urdf:2: no link has a mass: 2 of 2 got that of their collision shapes at the density of water (1000 kg/m³); \
                   weight, motion and default springs follow from it, but the file's own springs do not";
    let mechanism = read(&arm(&link("base")), &[warning]);
    assert!((mechanism.mass() - 12.0).abs() < 1e-12, "{}", mechanism.mass());
    let tip = &mechanism.bodies()[1].inertia;
    assert!((tip.inertia[(2, 2)] - 6.0 * (0.01 + 0.04) / 12.0).abs() < 1e-15);
    assert_eq!(mechanism.joints()[0].kind, JointKind::Hinge);
    // Where one has a mass, those without have none by the words of the format.
    let mechanism =
        pliant_io::import::read(&arm(&super::link("base")), "robot.urdf", &Options::default()).unwrap();
    assert_eq!((mechanism.mass(), &mechanism.joints()[0].kind), (1.0, &JointKind::Fixed));
}

/// On a free base, legs carry the rest of the robot, and arms do not.
#[test]
fn default_springs_of_legs_carry_the_robot() {
    let weight = |mass: f64| {
        format!(
            "<inertial><mass value=\"{mass}\"/><inertia ixx=\"0.1\" iyy=\"0.1\" izz=\"0.1\" ixy=\"0\" ixz=\"0\" iyz=\"0\"/></inertial>"
        )
    };
    let link = |name: &str, mass: f64| format!("<link name=\"{name}\">{}</link>\n", weight(mass));
    let hinge = |name: &str, child: &str, x: f64, z: f64| {
        let more = format!("<origin xyz=\"{x} 0 {z}\"/><axis xyz=\"0 1 0\"/>");
        joint(name, "continuous", "trunk", child, &more)
    };
    let text = robot(&[
        &link("trunk", 20.0),
        &link("leg", 1.0),
        &link("arm", 1.0),
        &hinge("hip", "leg", 0.2, -1.0),
        &hinge("shoulder", "arm", 0.2, 0.3),
    ]);
    let read = |free_base: bool| {
        let options = Options { free_base, ..Options::default() };
        let mechanism = pliant_io::import::read(&text, "robot.urdf", &options).unwrap();
        ["hip", "shoulder"].map(|name| mechanism[mechanism.find_joint(name).unwrap()].freedoms[0].stiffness)
    };
    // Links turn about their own centres; the leg's hinge has trunk and arm above it: 20 kg 1 m up and 0.2 m across, 1 kg 1.3 m up.
    let alone = 0.1 * (2.0 * PI * 5.0f64).powi(2);
    let [hip, shoulder] = read(false);
    assert!(
        (hip - alone).abs() < 1e-9 * alone && (shoulder - alone).abs() < 1e-9 * alone,
        "{hip} {shoulder}"
    );
    let [hip, shoulder] = read(true);
    let moment = (20.0f64 * 0.2).hypot(20.0 + 1.3);
    let inertia = 20.0 * (1.0 + 0.2 * 0.2) + 0.1 + 1.3 * 1.3 + 0.1;
    let least = f64::max(9.81 * moment / 0.01, inertia * (2.0 * PI * 5.0f64).powi(2));
    assert!((hip / least - 1.0).abs() < 1e-9, "{hip} {least}");
    assert!((shoulder - alone).abs() < 1e-9 * alone, "{shoulder}");
}

#[test]
fn silent_elements_and_old_prefixes() {
    let text = format!(
        "<!-- made by hand -->\n<?xml version=\"1.0\"?>\n{}",
        robot(&[
            "<material name=\"red\"><color rgba=\"1 0 0 1\"/></material>\n",
            "<transmission name=\"t\"/><gazebo reference=\"a\"><x/></gazebo><sensor/>\n",
            "<gazebo><controller:plugin name=\"p\"/><sensor:camera/></gazebo>\n",
            &link("a"),
        ])
    );
    read(&text, &[]);
}

#[test]
fn an_xml_file_may_be_a_urdf() {
    let text = robot(&[&link("a")]);
    assert!(pliant_io::import::read(&text, "robot.xml", &Options::default()).is_ok());
}
