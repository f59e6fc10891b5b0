//! Small files, one feature each, with what they must become.

use std::f64::consts::{FRAC_1_SQRT_2, FRAC_PI_2, PI};
use std::path::PathBuf;

use pliant_core::engine::State;
use pliant_core::joints::JointKind;
use pliant_core::mechanism::{Body, Freedom, Geometry, Joint, Mechanism};
use pliant_core::nalgebra::{Matrix3, Vector3};

use crate::common::assert_round_trip;

/// Where the files lie.
pub fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/mjcf/files")
}

fn load(name: &str) -> Mechanism {
    let mechanism = pliant_io::load(folder().join(name)).unwrap_or_else(|error| panic!("{error}"));
    assert_round_trip(&mechanism);
    mechanism
}

fn read(text: &str) -> Result<Mechanism, String> {
    pliant_io::import::read(text, "inline.xml", &Default::default()).map_err(|error| error.to_string())
}

fn body<'m>(mechanism: &'m Mechanism, name: &str) -> &'m Body {
    &mechanism[mechanism.find_body(name).unwrap_or_else(|| panic!("no body {name}"))]
}

fn joint<'m>(mechanism: &'m Mechanism, name: &str) -> &'m Joint {
    &mechanism[mechanism.find_joint(name).unwrap_or_else(|| panic!("no joint {name}"))]
}

#[track_caller]
fn near(a: impl Into<Vector3<f64>>, b: [f64; 3]) {
    let a = a.into();
    assert!((a - Vector3::from(b)).norm() < 1e-12, "{a:?} {b:?}");
}

#[track_caller]
fn same(a: f64, b: f64) {
    assert!((a - b).abs() < 1e-12 * b.abs().max(1.0), "{a} {b}");
}

/// The only freedom of a joint.
#[track_caller]
fn freedom(mechanism: &Mechanism, name: &str) -> Freedom {
    let joint = joint(mechanism, name);
    assert_eq!(joint.freedoms.len(), 1, "{name}");
    joint.freedoms[0]
}

#[track_caller]
fn has_warning(mechanism: &Mechanism, words: &str) {
    let warnings = mechanism.warnings();
    assert!(warnings.iter().any(|warning| warning.contains(words)), "{words}: {warnings:#?}");
}

#[test]
fn orientations() {
    let m = load("orientations.xml");
    assert_eq!(m.name(), "orientations");
    let s = FRAC_1_SQRT_2;
    let turned = |name: &str, v: [f64; 3]| body(&m, name).pose.rotation * Vector3::from(v);
    near(turned("quat", [0.0, 1.0, 0.0]), [0.0, 0.0, 1.0]);
    near(turned("axisangle", [1.0, 0.0, 0.0]), [0.0, 1.0, 0.0]);
    near(turned("xyaxes", [1.0, 0.0, 0.0]), [0.0, 1.0, 0.0]);
    near(turned("xyaxes", [0.0, 1.0, 0.0]), [-1.0, 0.0, 0.0]);
    near(turned("zaxis", [0.0, 0.0, 1.0]), [s, 0.0, s]);
    // zYx: about z, then about the world's y, then about the carried x: Ry(20°) Rz(90°) Rx(30°).
    let (c, d) = (30f64.to_radians().cos(), 30f64.to_radians().sin());
    let (e, f) = (20f64.to_radians().cos(), 20f64.to_radians().sin());
    // y ↦ (0, c, d) ↦ (−c, 0, d) ↦ (−c e + d f, 0, c f + d e).
    near(turned("euler", [0.0, 1.0, 0.0]), [-c * e + d * f, 0.0, c * f + d * e]);
    // Frames: the body is a metre along the frame's x, the world's y.
    near(body(&m, "framed").pose.position, [1.0, 1.0, 0.0]);
    let turn = joint(&m, "turn");
    near(turn.frame.position, [0.75, 1.0, 0.5]);
    near(turn.frame.rotation * Vector3::z(), [0.0, 1.0, 0.0]);
    near(body(&m, "framed").shapes[0].pose.position, [0.5, 0.0, 0.5]);
    near(body(&m, "framed").inertia.center_of_mass, [0.5, 0.0, 0.5]);
    let tip = &m[m.find_effector("tip").unwrap()];
    near(tip.frame.position, [0.0, 0.0, -0.5]);
    near(tip.frame.rotation * Vector3::z(), [0.0, 0.0, -1.0]);
}

#[test]
fn default_classes() {
    let m = load("defaults.xml");
    let springs = |name: &str| {
        let joint = joint(&m, name);
        let f = &joint.freedoms[0];
        (joint.kind.clone(), f.stiffness, f.damping, f.armature)
    };
    assert_eq!(springs("plain"), (JointKind::Hinge, 10.0, 1.0, 0.0));
    assert_eq!(springs("upper"), (JointKind::Hinge, 20.0, 1.0, 0.0));
    assert_eq!(springs("lower"), (JointKind::Prismatic, 20.0, 3.0, 0.5));
    assert_eq!(springs("tip"), (JointKind::Hinge, 10.0, 1.0, 0.0));
    near(joint(&m, "lower").frame.rotation * Vector3::z(), [0.0, 1.0, 0.0]);
    near(joint(&m, "tip").frame.rotation * Vector3::z(), [0.0, 0.0, 1.0]);
    same(body(&m, "upper").inertia.mass, 500.0 * 4.0 / 3.0 * PI * 1e-3);
    same(body(&m, "tip").inertia.mass, 4.0);
    let error = read(r#"<mujoco><worldbody><body><geom class="x" size="1"/></body></worldbody></mujoco>"#);
    assert!(error.unwrap_err().contains("there is no default class `x`"));
}

#[test]
fn joints_of_all_kinds() {
    let m = load("joints.xml");
    let rad = f64::to_radians;
    assert_eq!(m.summary().freedoms, 23);
    let hinge = freedom(&m, "hinge");
    same(hinge.rest, rad(30.0));
    same(hinge.lower, rad(-120.0));
    same(hinge.upper, rad(60.0));
    assert_eq!((hinge.stiffness, hinge.damping, hinge.armature), (5.0, 0.5, 0.01));
    near(joint(&m, "hinge").frame.position, [0.1, 0.0, 0.0]);
    let slide = freedom(&m, "slide");
    same(slide.rest, 0.3);
    assert_eq!((slide.lower, slide.upper), (f64::NEG_INFINITY, f64::INFINITY));
    let ball = joint(&m, "ball");
    assert_eq!(ball.kind, JointKind::Ball);
    near(ball.frame.position, [2.0, 0.0, 0.3]);
    assert!(ball.frame.rotation.angle_to(&body(&m, "ball").pose.rotation) < 1e-12);
    assert!(ball.freedoms.iter().all(|f| f.stiffness == 7.0 && f.damping == 0.7));
    same(ball.freedoms[2].upper, rad(60.0));
    has_warning(&m, "joints.xml:15: joint `ball`: the limit of a ball joint's angle");
    assert!(body(&m, "free").free && !body(&m, "on").free);
    assert_eq!(joint(&m, "u1+u2").kind, JointKind::Universal);
    assert_eq!(joint(&m, "u1+u2").freedoms[1].stiffness, 2.0);
    let cylindrical = joint(&m, "c1+c2");
    assert_eq!(cylindrical.kind, JointKind::Cylindrical);
    assert_eq!((cylindrical.freedoms[0].lower, cylindrical.freedoms[0].upper), (-1.0, 2.0));
    same(cylindrical.freedoms[1].upper, rad(20.0));
    assert_eq!(joint(&m, "p1+p2+p3").kind, JointKind::Planar);
    assert_eq!(joint(&m, "h1").kind, JointKind::Hinge);
    assert_eq!(joint(&m, "chain_joint3").kind, JointKind::Ball);
    assert_eq!(joint(&m, "chain_joint3").child, m.find_body("chain").unwrap());
    // Limits count only where the file says so.
    let limits = |compiler: &str, attributes: &str| {
        let text = format!(
            r#"<mujoco><compiler angle="radian" {compiler}/><worldbody><body><geom size="1"/>
            <joint name="j" range="-1 1" {attributes}/></body></worldbody></mujoco>"#
        );
        freedom(&read(&text).unwrap(), "j").upper
    };
    assert_eq!(limits("", ""), 1.0);
    assert_eq!(limits(r#"autolimits="false""#, ""), f64::INFINITY);
    assert_eq!(limits(r#"autolimits="false""#, r#"limited="true""#), 1.0);
    assert_eq!(limits("", r#"limited="false""#), f64::INFINITY);
}

#[test]
fn geoms_have_shape_and_mass() {
    let m = load("geoms.xml");
    let M = |name: &str| body(&m, name).inertia;
    let shape = |name: &str| &body(&m, name).shapes[0];
    same(M("sphere").mass, 1000.0 * PI / 6.0);
    assert_eq!(shape("sphere").geometry, Geometry::Ball { radius: 0.5 });
    assert_eq!(shape("sphere").friction, Some(1.0));
    same(M("capsule").mass, 1000.0 * (PI * 0.01 * 2.0 + 4.0 / 3.0 * PI * 1e-3));
    near(M("capsule").center_of_mass, [0.0, 1.0, 0.0]);
    assert_eq!(shape("capsule").geometry, Geometry::Capsule { radius: 0.1, half_length: 1.0 });
    near(shape("capsule").pose.rotation * Vector3::z(), [0.0, -1.0, 0.0]);
    same(M("cylinder").mass, 10.0 * 2.0 * PI * 0.01);
    let mass = 1000.0 * 4.0 / 3.0 * PI * 0.012;
    same(M("ellipsoid").mass, mass);
    same(M("ellipsoid").inertia[(0, 0)], mass / 5.0 * (0.04 + 0.36));
    has_warning(&m, "an ellipsoid has the contact shape of a capsule");
    same(M("box").mass, 3.0);
    same(M("box").inertia[(2, 2)], 3.0 / 3.0 * (0.01 + 0.04));
    near(M("box").center_of_mass, [1.0, 0.0, 0.0]);
    same(M("mesh").mass, 1000.0 / 3.0);
    near(M("mesh").center_of_mass, [0.25, 0.25, 1.5]);
    same(M("shell").mass, 1000.0 * PI);
    same(M("shell").inertia[(0, 0)], 1000.0 * PI * 2.0 / 3.0 * 0.25);
    // Of what touches, if anything does; mass from the groups that count.
    assert_eq!(body(&m, "several").shapes.len(), 3);
    assert_eq!(shape("several").friction, Some(0.3));
    same(M("several").mass, 16.0);
    near(M("several").center_of_mass, [0.0; 3]);
    near(M("given").center_of_mass, [0.0, 0.0, 1.0]);
    assert!((M("given").inertia - Matrix3::from_diagonal(&Vector3::new(2.0, 1.0, 2.5))).norm() < 1e-12);
    assert_eq!(M("full").inertia, Matrix3::new(1.0, 0.1, 0.2, 0.1, 2.0, 0.3, 0.2, 0.3, 2.5));
    let [floor, hills] = m.world_shapes() else { panic!("{:?}", m.world_shapes()) };
    near(floor.pose.position, [0.0; 3]);
    assert_eq!(floor.geometry, Geometry::Plane);
    let heights = vec![vec![0.5, 0.375, 0.25], vec![0.0, 0.125, 0.25]];
    assert_eq!(hills.geometry, Geometry::Heightfield { size: [6.0, 4.0], heights });
}

#[test]
fn compiler_options_of_inertia() {
    let m = load("compiler.xml");
    // Masses 0.5 (bound), 1.5 (no geom: as given) and 1, then scaled to six.
    same(body(&m, "light").inertia.mass, 1.0);
    same(body(&m, "flat").inertia.mass, 3.0);
    same(m.mass(), 6.0);
    near(body(&m, "light").inertia.center_of_mass, [0.0; 3]);
    same(body(&m, "light").inertia.inertia[(0, 0)], 0.01 * 2.0);
    same(body(&m, "flat").inertia.inertia[(2, 2)], 2.0 * 2.0);
    same(body(&m, "box").inertia.inertia[(2, 2)], 2.0 / 6.0);
}

#[test]
fn included_files_and_meshes() {
    let m = load("include.xml");
    assert_eq!(freedom(&m, "elbow").stiffness, 3.0);
    same(body(&m, "arm").inertia.mass, 1000.0 / 6.0);
    near(body(&m, "arm").inertia.center_of_mass, [0.25; 3]);
    let Geometry::Convex { file, scale } = &body(&m, "arm").shapes[0].geometry else { panic!() };
    assert!(file.ends_with("parts/meshes/corner.stl"), "{file}");
    assert_eq!(*scale, Vector3::repeat(1.0));
    let missing = read(r#"<mujoco><include file="no such.xml"/></mujoco>"#).unwrap_err();
    assert!(missing.contains("cannot include `no such.xml`"), "{missing}");
    let outside = read(r#"<mujoco><include file="../../../../../../../etc/passwd"/></mujoco>"#).unwrap_err();
    assert!(outside.contains("outside"), "{outside}");
}

#[test]
fn copies() {
    let m = load("replicate.xml");
    assert_eq!(m.bodies().len(), 17);
    // Twelve steps of 30° and 0.1 m up.
    let finger = body(&m, "finger-03").pose;
    near(finger.position, [0.0, 0.5, 0.3]);
    near(finger.rotation * Vector3::x(), [0.0, 1.0, 0.0]);
    assert_eq!(freedom(&m, "knuckle-11").stiffness, 4.0);
    assert!(m.find_effector("tip-00").is_some());
    near(body(&m, "b01").pose.position, [1.0, 5.0, 0.0]);
    near(body(&m, "b10").pose.position, [0.0, 6.0, 0.0]);
    let bomb = r#"<mujoco><worldbody><replicate count="100000"><replicate count="100000"><body/></replicate>
        </replicate></worldbody></mujoco>"#;
    assert!(read(bomb).unwrap_err().contains("too many"));
}

#[test]
fn loops_and_couplings() {
    let m = load("four_bar.xml");
    assert_eq!(m.summary().loops, 1);
    let closing = joint(&m, "c");
    assert_eq!(closing.kind, JointKind::Ball);
    near(closing.frame.position, [0.5, 0.0, 0.5]);
    assert_eq!(m.gravity(), Vector3::new(1.0, 0.0, -5.0));

    let m = load("equality.xml");
    let [first, second] = m.couplings() else { panic!("{:?}", m.couplings()) };
    assert_eq!((first.ratio, first.offset), (-2.0, 0.5));
    assert_eq!(m[first.joint].name, "a");
    assert_eq!((second.ratio, second.offset), (1.0, 0.0));
    has_warning(&m, "only the linear part of `polycoef`");
    assert_eq!(joint(&m, "g").kind, JointKind::Fixed);
    assert_eq!(joint(&m, "sites").kind, JointKind::Ball);
    near(joint(&m, "sites").frame.position, [0.0, 0.0, 1.0]);
    assert_eq!(joint(&m, "as it is").kind, JointKind::Fixed);
    assert_eq!(joint(&m, "as it is").child, m.find_body("e").unwrap());
    assert!(m.bodies().iter().all(|body| !body.free));
    has_warning(&m, "weld `elsewhere` is open by 1.000e0 in the file's pose");
    assert_eq!(joint(&m, "to world").parent, None);
    assert_eq!(joint(&m, "to world").child, m.find_body("f").unwrap());
    assert!(m.find_joint("off").is_none());
    has_warning(&m, "connect `off` is not active");
}

#[test]
fn tendons_spring_dampers_and_excludes() {
    let m = load("tendons.xml");
    // As MuJoCo 3.3 has them (`jnt_stiffness`, `dof_damping`), which inverts the mass matrix of the whole tree.
    let swing = freedom(&m, "swing");
    same(swing.stiffness, 4.191153262945925);
    same(swing.damping, 0.41073301976870075);
    same(swing.rest, 10.0f64.to_radians());
    for freedom in &joint(&m, "ball").freedoms {
        same(freedom.stiffness, 0.013117315392405394);
        same(freedom.damping, 0.011805583853164856);
    }
    // 0.5 p − 0.25 m = 0.05 and m + 2 d = 0, from the file's pose on.
    let [one, two] = m.couplings() else { panic!("{:?}", m.couplings()) };
    assert_eq!((&*m[one.joint].name, &*m[one.of].name), ("medial", "proximal"));
    same(one.ratio, 2.0);
    same(one.offset, -0.2);
    assert_eq!((&*m[two.joint].name, &*m[two.of].name), ("distal", "medial"));
    assert_eq!((two.ratio, two.offset), (-0.5, 0.0));
    let start = State::at_rest(&m);
    let at = |name: &str| start.coordinates_of(&m, m.find_joint(name).unwrap()).unwrap()[0];
    for (name, q) in [("proximal", 0.0), ("medial", -0.2), ("distal", 0.1)] {
        same(at(name), q);
    }
    // L = p + 0.5 (m + ref) = 2 p − 0.1 + 10°: four times its spring and damper.
    let (proximal, shift) = (freedom(&m, "proximal"), 10.0f64.to_radians() - 0.1);
    same(proximal.stiffness, 12.0);
    same(proximal.damping, 0.8);
    same(proximal.rest, (0.1 - shift) / 2.0);
    same(proximal.lower, (-0.2 - shift) / 2.0);
    same(proximal.upper, (0.6 - shift) / 2.0);
    has_warning(
        &m,
        ":35: fixed `apart`: spring, damper and limits of a tendon across joints that no coupling",
    );
    assert_eq!(m.warnings().len(), 1, "{:#?}", m.warnings());
    assert_eq!(body(&m, "finger").passes, ["upper"]);
    assert_eq!(body(&m, "end").passes, ["world"]);
}

/// As MuJoCo 4.0 has it in `geom_size`: only the first number counts.
#[test]
fn a_box_between_two_points_is_square() {
    let text = r#"<mujoco><worldbody><body name="a"><joint/>
        <geom type="box" size="0.3 0.1 0.05" fromto="-0.1 0 0 0.1 0 0" mass="1"/></body></worldbody></mujoco>"#;
    let m = read(text).unwrap();
    let Geometry::Box { size } = &body(&m, "a").shapes[0].geometry else { panic!() };
    near(*size, [0.6, 0.6, 0.2]);
}

/// Also of a file that is named without a folder: it lies in that of the program.
#[test]
fn packages_are_found_from_anywhere() {
    let text = r#"<mujoco><asset><mesh name="m" file="package://parts/meshes/corner.stl"/></asset>
        <worldbody><body name="a"><joint/><geom type="mesh" mesh="m"/></body></worldbody></mujoco>"#;
    let options = pliant_io::Options { packages: vec![folder().join("parts")], ..Default::default() };
    let m = pliant_io::import::read(text, "inline.xml", &options).unwrap();
    assert_eq!((body(&m, "a").shapes.len(), m.warnings().len()), (1, 0), "{:?}", m.warnings());
}

#[test]
fn where_contact_is_disabled_nothing_touches() {
    for (flag, touches) in [("", true), (r#"<option><flag contact="disable"/></option>"#, false)] {
        let text = format!(
            r#"<mujoco>{flag}<worldbody><geom name="floor" type="plane" size="1 1 1"/><body name="a" pos="0 0 1"><freejoint/>
            <geom name="ball" size="0.1"/></body></worldbody><contact><pair geom1="ball" geom2="floor"/></contact></mujoco>"#
        );
        let m = read(&text).unwrap();
        assert_eq!(m.has_contact(), touches);
        assert_eq!(body(&m, "a").shapes.len(), 1);
        let left_out = m.warnings().iter().filter(|warning| warning.contains("<pair>")).count();
        assert_eq!(left_out, usize::from(touches)); // both touch everything already
    }
}

/// As MuJoCo 4.0 has it in `tendon_lengthspring`: a spring without a length of its own is relaxed where all joints are at their
/// `springref`, and a length can be below zero.
#[test]
fn springs_of_tendons_are_relaxed_at_springref() {
    for (given, length) in [("", 0.1), ("springlength=\"-1\"", 0.1), ("springlength=\"-0.5\"", -0.5)] {
        let text = format!(
            r#"<mujoco><compiler angle="radian"/><worldbody>
            <body name="a"><joint name="a" springref="0.3" ref="0.2"/><geom size="0.1"/></body>
            <body name="b"><joint name="b" springref="0.2"/><geom size="0.1"/></body></worldbody>
            <equality><joint joint1="b" joint2="a" polycoef="0 0.5"/></equality>
            <tendon><fixed name="t" stiffness="8" {given}><joint joint="a" coef="1"/><joint joint="b" coef="-1"/></fixed></tendon></mujoco>"#
        );
        // L = (q + 0.2) − 0.5 q.
        let a = freedom(&read(&text).unwrap(), "a");
        same(a.stiffness, 2.0);
        same(a.rest, (length - 0.2) / 0.5);
    }
}

#[test]
fn what_cannot_be_below_zero_is_taken_as_zero() {
    let m = read(
        r#"<mujoco><worldbody><body><joint name="j" damping="-0.5" stiffness="-2" armature="-1"/>
        <geom size="0.1"/></body></worldbody></mujoco>"#,
    )
    .unwrap();
    assert_eq!((freedom(&m, "j").armature, m.warnings().len()), (0.0, 3));
    has_warning(&m, "inline.xml:1: joint `j`: `damping` is -0.5; it was read as 0");
}

#[test]
fn without_home_the_first_key_frame_is_where_it_starts() {
    let m = read(
        r#"<mujoco><worldbody><body name="a"><joint name="j" range="30 90"/><geom size="0.1"/></body></worldbody>
        <keyframe><key qpos="1.0"/><key name="other" qpos="1.2"/></keyframe></mujoco>"#,
    )
    .unwrap();
    assert_eq!(joint(&m, "j").start, [1.0]);
    assert!(m.notes().contains(&"inline.xml:2: the robot starts in the first key frame".to_string()));
}

/// A force limit is a torque limit of the joint, by the gear, where nothing else of the joint would be bounded with it.
#[test]
fn force_limits_of_actuators() {
    let with = |joint: &str, actuators: &str| {
        let text = format!(
            "<mujoco><worldbody><body name='a'><joint name='j' axis='0 1 0' {joint}/><geom size='0.1'/></body></worldbody>\
             <actuator>{actuators}</actuator></mujoco>"
        );
        let mechanism = read(&text).unwrap();
        let warnings = mechanism.warnings();
        (freedom(&mechanism, "j").torque_limit, warnings)
    };
    let held = |more: &str| format!("<position joint='j' kp='50' kv='2' {more}/>");
    let none = (f64::INFINITY, vec![]);
    assert_eq!(with("", &held("")), none);
    assert_eq!(with("", &held("forcerange='-3 3' forcelimited='false'")), none);
    assert_eq!(with("", &held("forcerange='-3 3'")), (3.0, vec![]));
    assert_eq!(with("", &held("forcerange='-3 3' gear='-4'")), (12.0, vec![]));
    let twice = format!("{}{}", held("forcerange='-3 3'"), held(""));
    for (joint, actuators, why) in [
        ("damping='1'", held("forcerange='-3 3'"), "next to a spring or damper of the joint's own"),
        ("stiffness='1'", held("forcerange='-3 3'"), "next to a spring or damper of the joint's own"),
        ("", twice, "next to a spring or damper of the joint's own"),
        ("", held("forcerange='-3 4'"), "not the same both ways"),
    ] {
        let (limit, warnings) = with(joint, &actuators);
        assert_eq!((limit, warnings.len()), (f64::INFINITY, 1), "{joint} {actuators}: {warnings:?}");
        assert!(warnings[0].contains(&format!("{why}, is not supported and was left out")), "{warnings:?}");
    }
}

#[test]
fn actuators_that_hold_a_position() {
    let m = load("actuators.xml");
    let a = freedom(&m, "a");
    // Two springs: 10 at 0.3 − 0.1, and kp g² = 80 at ctrl/g − ref = 0.4 − 0.1.
    same(a.stiffness, 90.0);
    same(a.rest, (10.0 * 0.2 + 80.0 * 0.3) / 90.0);
    same(a.damping, 1.0 + 2.0 * 4.0);
    let b = freedom(&m, "b");
    assert_eq!((b.stiffness, b.damping, b.rest), (50.0, 5.0, 0.4));
    let c = freedom(&m, "c");
    assert_eq!((c.stiffness, c.rest), (30.0, 0.2));
    // Critical, with what the joint carries: a cube of 1 kg a metre away, and the rotor.
    same(c.damping, 2.0 * f64::sqrt(30.0 * (1.0 + 0.02 / 3.0 + 0.2)));
    let d = freedom(&m, "d");
    assert_eq!((d.stiffness, d.rest), (5.0, 0.5));
    let e = freedom(&m, "e");
    assert_eq!((e.stiffness, e.damping), (0.0, 3.0));
    assert_eq!(freedom(&m, "f").stiffness, 0.0);
    has_warning(&m, "commands a force, not a position; it was left out (1 more like it)");
    has_warning(&m, "`g` has more than one freedom");
    assert!(m.notes().iter().any(|note| note.contains("key frame `home` sets them")), "{:?}", m.notes());
    // The key frame has `a` at its `ref` and `d` at 1.
    assert_eq!((&joint(&m, "a").start[..], &joint(&m, "d").start[..]), (&[0.0][..], &[1.0][..]));
    assert!(m.notes().iter().any(|note| note.ends_with(":30: the robot starts in the key frame `home`")));
}

#[test]
fn the_key_frame_home_is_where_it_starts() {
    let m = load("home.xml");
    for (name, start) in [
        ("shoulder", &[-1.0][..]),
        ("elbow", &[0.9 - 0.2]),
        ("bend+tilt", &[0.3, -0.4]),
        ("slide", &[0.1]),
        ("bite", &[0.5]),
        ("grind", &[-0.6]),
        ("crank", &[0.7]),
        ("left", &[0.6]),
    ] {
        assert_eq!(joint(&m, name).start, start, "{name}");
    }
    // A unit quaternion as a rotation vector: cos h = 0.8, and the axis times 2h.
    let neck: Vector3<f64> = Vector3::from_column_slice(&joint(&m, "neck").start);
    near(neck, Vector3::new(0.2, -0.4, 0.4).normalize().map(|x| x * 2.0 * 0.8f64.acos()).into());
    // The free body lies where the key frame has it, turned half round (0.8, 0, 0.4…) and so on.
    near(body(&m, "base").pose.position, [1.0, 2.0, 0.5]);
    let (s, c) = (4.0 / 5.0, 3.0 / 5.0); // of twice the angle whose tangent is 1/2
    near(body(&m, "base").pose.rotation * Vector3::x(), [c, 0.0, -s]);
    // What it carries came along: the crank 0.2 along its −x.
    near(body(&m, "crank").pose.position, [1.0 - 0.2 * c, 2.0, 0.5 + 0.2 * s]);
    let start = State::at_rest(&m);
    assert!(start.violation(&m) < 1e-12, "{:e}", start.violation(&m));
    // Limits hold where it starts, although not at zero.
    let shoulder = freedom(&m, "shoulder");
    assert_eq!((shoulder.lower, shoulder.upper, shoulder.rest), (-2.0, -0.5, -1.0));
    assert_eq!(m.warnings(), [""; 0]);
    // The start, the spring, and the mass of the link between the two joints of the jaw.
    assert_eq!(m.notes().len(), 3, "{:#?}", m.notes());
}

/// A body on a hinge with these words in its key frame.
fn with_key(key: &str, equality: &str) -> Mechanism {
    read(&format!(
        r#"<mujoco><worldbody>
          <body name="a" pos="0 0 1"><joint name="a" axis="0 1 0" range="-57 57"/><geom size=".1" pos=".5 0 0"/></body>
          <body name="b" pos="0 1 1"><freejoint/><geom size=".1"/></body>
        </worldbody><equality>{equality}</equality>
        <keyframe><key name="home" {key}/></keyframe></mujoco>"#
    ))
    .unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn key_frames_that_cannot_be_are_told() {
    let started = |m: &Mechanism| (joint(m, "a").start[0], body(m, "b").pose.position.z);
    let m = with_key(r#"qpos=".5 0 1 2 0 0 0 0""#, "");
    assert_eq!((started(&m), m.warnings().len()), ((0.5, 2.0), 0));
    // A quaternion of no length is none, and what holds the joint by default holds it there.
    assert_eq!(body(&m, "b").pose.rotation.angle(), 0.0);
    assert_eq!(freedom(&m, "a").rest, 0.5);
    let m = with_key(r#"qpos=".5 0 1""#, "");
    assert_eq!(started(&m), (0.0, 1.0));
    has_warning(&m, "has 3 numbers in `qpos`, but the joints have 8: it was left out");
    let m = with_key(r#"qpos=".5 0 1 2 1 0 0 0" qvel="1 0 0 0 0 0 0""#, "");
    assert_eq!(started(&m), (0.5, 2.0));
    has_warning(&m, "`qvel` of the key frame `home` was left out");
    let m = with_key(r#"qpos="2 0 1 1 1 0 0 0""#, "");
    assert!((freedom(&m, "a").upper, freedom(&m, "a").lower) == (f64::INFINITY, -57f64.to_radians()));
    has_warning(&m, "joint `a`: where it starts, 2, is above the upper limit");
    // A free body that an equality holds hangs there.
    let m = with_key(r#"qpos=".5 0 1 2 1 0 0 0""#, r#"<weld body1="a" body2="b"/>"#);
    assert_eq!(joint(&m, "a").start, [0.5]);
    has_warning(&m, "body `b` does not start in the key frame `home`: an equality couples it");
    // What loops forbid: the end of `a` is pinned to the world, and no angle but zero is left to it.
    let m = with_key(r#"qpos=".5 0 1 1 1 0 0 0""#, r#"<connect body1="a" body2="world" anchor="1 0 0"/>"#);
    assert_eq!(joint(&m, "a").start, [0.0]);
    has_warning(&m, "joint `a` cannot start at [0.5]");
    has_warning(&m, "all start in the file's pose instead");
}

#[test]
fn meshes_are_opened_where_they_are_shapes() {
    let folder = std::env::temp_dir().join(format!("pliant-mjcf-meshes-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let tetrahedron = |height: f64| {
        let points = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, height]];
        let vertices = points.map(|[x, y, z]| format!("v {x} {y} {z}\n")).concat();
        format!("{vertices}f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")
    };
    std::fs::write(folder.join("whole.obj"), tetrahedron(1.0)).unwrap();
    std::fs::write(folder.join("flat.obj"), tetrahedron(0.0)).unwrap();
    std::fs::write(folder.join("broken.stl"), "no mesh").unwrap();
    let of = |geoms: &str| {
        let meshes = ["whole.obj", "flat.obj", "broken.stl", "missing.stl"]
            .map(|f| format!("<mesh file=\"{f}\"/>"))
            .concat();
        let path = folder.join("robot.xml");
        let text = format!(
            "<mujoco><asset>{meshes}</asset><worldbody><body name=\"a\"><joint name=\"a\"/>
            <inertial pos=\"0 0 0\" mass=\"1\" diaginertia=\"1 1 1\"/>{geoms}</body></worldbody></mujoco>"
        );
        std::fs::write(&path, text).unwrap();
        pliant_io::load(&path).unwrap_or_else(|error| panic!("{error}"))
    };
    let mesh = |name: &str, drawn: bool| {
        let bits = if drawn { " contype=\"0\" conaffinity=\"0\"" } else { "" };
        format!("<geom type=\"mesh\" mesh=\"{name}\"{bits}/>")
    };
    let names = |m: &Mechanism| body(m, "a").shapes.iter().map(|s| s.geometry.name()).collect::<Vec<_>>();
    // What is only drawn may be missing, broken or flat: nothing stops, and the first two are reported.
    let m = of(&["whole", "flat", "broken", "missing"].map(|name| mesh(name, true)).concat());
    assert_eq!(names(&m), ["mesh", "mesh"]);
    has_warning(&m, "missing.stl` was left out: there is no such file");
    has_warning(&m, "broken.stl` was left out: ");
    // What touches needs a hull.
    let m = of(&["whole", "flat"].map(|name| mesh(name, false)).concat());
    assert_eq!(names(&m), ["convex"]);
    has_warning(&m, "flat.obj` was left out: all points lie in one plane");
    // Without one, the drawn ones are taken.
    let m = of(&[mesh("flat", false), mesh("whole", true)].concat());
    assert_eq!(names(&m), ["mesh"]);
    std::fs::remove_dir_all(&folder).unwrap();
}

/// What touches is what MuJoCo's rules say, for every choice of bits and pairs among three bodies and the floor: geoms that a pair names, or
/// that both have bits. A pair of geoms that have bits is left out: they touch by themselves.
#[test]
fn pairs_touch() {
    const NAMES: [&str; 4] = ["world", "a", "b", "c"];
    let sides = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)];
    for (bits, pairs) in (0..16u32).flat_map(|bits| (0..64u32).map(move |pairs| (bits, pairs))) {
        let geom = |i: usize, rest: &str| {
            let bits = if bits >> i & 1 == 1 { "" } else { " contype=\"0\" conaffinity=\"0\"" };
            format!("<geom name=\"g{i}\"{bits} {rest}/>")
        };
        let body = |i: usize| {
            format!(
                "<body name=\"{}\" pos=\"{i} 0 1\"><freejoint/>{}</body>",
                NAMES[i],
                geom(i, "size=\".1\"")
            )
        };
        let named: Vec<(usize, usize)> =
            (0..6).filter(|k| pairs >> k & 1 == 1).map(|k: usize| sides[k]).collect();
        let named_ones: String =
            named.iter().map(|(i, k)| format!("<pair geom1=\"g{i}\" geom2=\"g{k}\"/>")).collect();
        let floor = geom(0, "type=\"plane\" size=\"1 1 1\"");
        let bodies: String = (1..4).map(body).collect();
        let text =
            format!("<mujoco><worldbody>{floor}{bodies}</worldbody><contact>{named_ones}</contact></mujoco>");
        let m = read(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let touches = |i: usize| match i {
            0 => m.world_shapes().iter().any(|shape| shape.touches),
            i => self::body(&m, NAMES[i]).shapes.iter().any(|shape| shape.touches),
        };
        let passes =
            |i: usize, k: usize| i > 0 && self::body(&m, NAMES[i]).passes.iter().any(|name| name == NAMES[k]);
        for (i, k) in sides {
            let both = bits >> i & 1 == 1 && bits >> k & 1 == 1;
            let expected = both || named.contains(&(i, k));
            let found = touches(i) && touches(k) && !passes(i, k) && !passes(k, i);
            assert_eq!(found, expected, "{} and {}: {text}", NAMES[i], NAMES[k]);
        }
        let left_out = named.iter().any(|(i, k)| bits >> i & 1 == 1 && bits >> k & 1 == 1);
        let told = m.warnings().iter().any(|warning| warning.contains("<pair> is not supported"));
        assert_eq!(told, left_out, "{:?}\n{text}", m.warnings());
    }
    let world = |inside: &str, pair: &str| {
        read(&format!("<mujoco><worldbody>{inside}</worldbody><contact>{pair}</contact></mujoco>"))
    };
    let floor = "<geom name='floor' type='plane' size='1 1 1'/>";
    let foot = "<body name='foot' pos='0 0 1'><freejoint/><geom name='sole' size='.1' contype='0' conaffinity='0'/></body>";
    let error = world(floor, "<pair geom1='floor' geom2='shoe'/>").unwrap_err();
    assert!(error.contains("there is no geom `shoe`"), "{error}");
    // Next to a geom of its body that touches everything, one cannot touch by pairs alone.
    let mixed = foot.replace("</body>", "<geom size='.2'/></body>");
    let m = world(&[floor, &mixed].concat(), "<pair geom1='floor' geom2='sole'/>").unwrap();
    has_warning(&m, "<pair> is not supported");
    assert_eq!(body(&m, "foot").shapes.len(), 1);
    // Bodies touch as a whole.
    let step = "<geom type='box' size='1 1 1'/>";
    let m = world(&[floor, step, foot].concat(), "<pair geom1='floor' geom2='sole' friction='1'/>").unwrap();
    has_warning(&m, "body `foot`: a <pair> names geoms of `world`, and here the pair applies to all of them");
    has_warning(&m, "<pair>: `friction` is not supported");
}

#[test]
fn what_is_not_supported_is_told_once() {
    let m = load("left_out.xml");
    assert_eq!((freedom(&m, "a").friction, freedom(&m, "b").friction), (1.0, 1.0)); // `frictionloss`
    for words in [
        "left_out.xml:2: <option>: `density`",
        "left_out.xml:2: <option>: `wind`",
        "left_out.xml:2: <flag>: `limit` stays enabled",
        "left_out.xml:8: body `a`: `gravcomp`",
        "left_out.xml:9: joint `a`: only the linear part of `stiffness`",
        "left_out.xml:15: <pair> is not supported",
        "left_out.xml:17: <spatial> is not supported",
        "left_out.xml:22: <position> on a tendon is not supported",
        "left_out.xml:23: <muscle> on a tendon is not supported",
        "left_out.xml:24: <motor> commands a force, not a position; it was left out",
        "left_out.xml:26: <tendon>: only two joints can be coupled, linearly; it was left out",
        "left_out.xml:27: sensors were left out (1 more like it)",
    ] {
        has_warning(&m, words);
    }
    assert_eq!(m.warnings().len(), 12, "{:#?}", m.warnings());
}

#[test]
fn errors_say_what_is_wrong() {
    let world = |inside: &str| read(&format!("<mujoco><worldbody>{inside}</worldbody></mujoco>"));
    for (inside, words) in [
        (r#"<body name="world"/>"#, "no body can be called `world`"),
        (r#"<body><geom type="box" size="1 1"/></body>"#, "`size` is not that of a box"),
        (r#"<body><geom type="ring" size="1"/></body>"#, "`type` is `ring`"),
        (r#"<body><geom type="mesh" mesh="m"/></body>"#, "there is no mesh `m`"),
        (r#"<body><geom type="capsule" size="1" fromto="1 1 1 1 1 1"/></body>"#, "the same point"),
        (r#"<body><joint axis="0 0 0"/><geom size="1"/></body>"#, "`axis` has no direction"),
        (r#"<body quat="0 0 0 0"><geom size="1"/></body>"#, "`quat` has no direction"),
        (r#"<body pos="0 0"><geom size="1"/></body>"#, "`pos` has 2 numbers, but takes 3"),
        (r#"<body><composite type="cable"/></body>"#, "<composite> generates bodies and is not supported"),
        (r#"<joint/>"#, "the world has no joints"),
        (r#"<body><geom size="1"/><body><freejoint/><geom size="1"/></body></body>"#, "cannot move freely"),
        (r#"<body><inertial pos="0 0 0"/></body>"#, "the attribute `mass` is missing"),
        (r#"<body><joint type="screw"/><geom size="1"/></body>"#, "`type` is `screw`"),
    ] {
        let error = world(inside).expect_err(inside);
        assert!(error.contains(words), "{words}: {error}");
    }
    let global = read(r#"<mujoco><compiler coordinate="global"/><worldbody><body/></worldbody></mujoco>"#);
    assert!(global.unwrap_err().contains("`coordinate` is `global`"));
    let turn = FRAC_PI_2.to_string();
    let radian = format!(
        r#"<mujoco><compiler angle="radian"/><worldbody><body axisangle="0 0 1 {turn}"><geom size="1"/></body></worldbody></mujoco>"#
    );
    near(read(&radian).unwrap().bodies()[0].pose.rotation * Vector3::x(), [0.0, 1.0, 0.0]);
}
