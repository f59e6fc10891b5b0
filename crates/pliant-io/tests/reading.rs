//! Claim: the reader takes what the format promises: integers and lists of one as numbers, roll, pitch
//! and yaw about fixed axes, mass from shapes, defaults; and long chains without a deep stack.

use std::f64::consts::{FRAC_1_SQRT_2, PI};
use std::fmt::Write as _;

use pliant_core::mechanism::{Geometry, Mechanism, STANDARD_GRAVITY};
use pliant_core::nalgebra::{Rotation3, Vector3};

#[track_caller]
fn read(text: &str) -> Mechanism {
    pliant_io::scene::read(text, "scene.toml").unwrap_or_else(|e| panic!("{e}"))
}

const BODY: &str = "[[body]]\nname = \"a\"\nmass = 1\ninertia = [1, 1, 1]\n";

#[test]
fn integers_and_lists_of_one_are_numbers() {
    let joint = "[[joint]]\nname = \"j\"\nkind = \"ball\"\nparent = \"world\"\nchild = \"a\"\n";
    let mechanism = read(&format!("{BODY}{joint}stiffness = [5]\nlimits = [[-1, 0x10]]\ndamping = 1_0\n"));
    for freedom in &mechanism.joints()[0].freedoms {
        assert_eq!((freedom.stiffness, freedom.damping), (5.0, 10.0));
        assert_eq!((freedom.lower, freedom.upper), (-1.0, 16.0));
    }
}

#[test]
fn defaults() {
    let mechanism = read(&format!("{BODY}free = true\n"));
    assert_eq!((mechanism.name(), mechanism.gravity()), ("", STANDARD_GRAVITY.into()));
}

#[test]
fn rpy_turns_about_fixed_axes_roll_first() {
    let (roll, pitch, yaw) = (0.3, -0.7, 2.1);
    let mechanism = read(&format!("{BODY}free = true\nrpy = [{roll}, {pitch}, {yaw}]\n"));
    let turn = |axis, angle| Rotation3::from_axis_angle(&axis, angle).into_inner();
    let expected =
        turn(Vector3::z_axis(), yaw) * turn(Vector3::y_axis(), pitch) * turn(Vector3::x_axis(), roll);
    assert!((mechanism.bodies()[0].pose.rotation_matrix() - expected).amax() < 1e-15);
}

#[test]
fn axis_turns_z_onto_it_whatever_its_length() {
    let joint = "[[joint]]\nname = \"j\"\nkind = \"hinge\"\nparent = \"world\"\nchild = \"a\"\n";
    for scale in ["e-300", "", "e300"] {
        let mechanism = read(&format!("{BODY}{joint}axis = [0.0{scale}, 3.0{scale}, 4.0{scale}]\n"));
        let z = mechanism.joints()[0].frame.rotation * Vector3::z();
        assert!((z - Vector3::new(0.0, 0.6, 0.8)).norm() < 1e-15, "{z}");
    }
}

#[test]
fn unit_quaternions_keep_their_bits_and_rounded_ones_are_normalised() {
    let rotation = |q: &str| read(&format!("{BODY}free = true\nrotation = {q}\n")).bodies()[0].pose.rotation;
    let exact = rotation("[0.0, -0.7071067811865476, 0.7071067811865476, -0.0]");
    assert_eq!((exact.i, exact.j), (-FRAC_1_SQRT_2, FRAC_1_SQRT_2));
    assert!(exact.k.is_sign_negative());
    let rounded = rotation("[0.7071, 0.7071, 0, 0]");
    assert!((rounded.norm() - 1.0).abs() < 1e-15);
}

#[test]
fn compliance_is_the_inverse_of_stiffness() {
    let joint = "[[joint]]\nname = \"j\"\nkind = \"hinge\"\nparent = \"world\"\nchild = \"a\"\n";
    assert_eq!(read(&format!("{BODY}{joint}compliance = 0.25\n")).joints()[0].freedoms[0].stiffness, 4.0);
}

#[test]
fn mass_comes_from_shapes_where_the_body_gives_none() {
    // Two balls of radius r at ±d on x, and one without density.
    let ball = |x: &str, density: &str| {
        format!("[[body.shape]]\nkind = \"ball\"\nradius = 0.1\nposition = [{x}, 0, 0]\n{density}")
    };
    let (dense, light) = ("density = 1000\n", "");
    let text = format!(
        "[[body]]\nname = \"a\"\nfree = true\n{}{}{}",
        ball("1.5", dense),
        ball("-0.5", dense),
        ball("9", light)
    );
    let inertia = read(&text).bodies()[0].inertia;
    let mass = 1000.0 * 4.0 / 3.0 * PI * 0.1f64.powi(3);
    let own = 0.4 * mass * 0.01;
    assert!((inertia.mass - 2.0 * mass).abs() < 1e-12);
    assert!((inertia.center_of_mass - Vector3::new(0.5, 0.0, 0.0)).norm() < 1e-15);
    let expected = Vector3::new(2.0 * own, 2.0 * (own + mass), 2.0 * (own + mass));
    assert!((inertia.inertia.diagonal() - expected).norm() < 1e-12);
    assert!((inertia.inertia - inertia.inertia.transpose()).amax() == 0.0);
}

#[test]
fn a_byte_order_mark_and_carriage_returns_are_no_matter() {
    read(&format!("\u{feff}{BODY}free = true\n").replace('\n', "\r\n"));
}

#[test]
fn a_chain_of_a_hundred_thousand_links_loads_on_a_small_stack() {
    let count = 100_000;
    let mut text = String::new();
    for i in 0..count {
        write!(text, "[[body]]\nname = \"b{i}\"\nposition = [0, 0, -{i}]\nmass = 1\ninertia = [1, 1, 1]\n")
            .unwrap();
        let parent = if i == 0 { "world".to_string() } else { format!("b{}", i - 1) };
        write!(
            text,
            "[[joint]]\nname = \"j{i}\"\nkind = \"hinge\"\nparent = \"{parent}\"\nchild = \"b{i}\"\n"
        )
        .unwrap();
    }
    let load = move || read(&text).bodies().len();
    let thread = std::thread::Builder::new().stack_size(512 * 1024).spawn(load).unwrap();
    assert_eq!(thread.join().unwrap(), count);
}

#[test]
fn a_hundred_thousand_errors_come_soon() {
    let mut text = String::new();
    for i in 0..100_000 {
        write!(text, "[[body]]\nname = \"b{i}\"\nmass = -1\nposition = 0\ncolour = 1\n").unwrap();
    }
    let errors = pliant_io::scene::read(&text, "scene.toml").unwrap_err();
    assert!(errors.diagnostics().len() >= 300_000);
}

#[test]
fn shapes_of_contact() {
    let shape =
        "[[world.shape]]\nkind = \"heightfield\"\nsize = [2, 1]\nheights = [[0, 1], [2, 3], [4, 5]]\n";
    let floor = "[[world.shape]]\nkind = \"plane\"\nposition = [0, 0, -2]\n";
    let body = "[[body.shape]]\nkind = \"ball\"\nradius = 1\n";
    let mechanism = read(&format!(
        "{BODY}free = true\n{body}restitution = 1\n{body}touches = false\n{shape}friction = 0\n{floor}"
    ));
    let [ground, floor] = mechanism.world_shapes() else { panic!("two shapes") };
    assert_eq!((&floor.geometry, floor.pose.position.z), (&Geometry::Plane, -2.0));
    let heights = vec![vec![0.0, 1.0], vec![2.0, 3.0], vec![4.0, 5.0]];
    assert_eq!(ground.geometry, Geometry::Heightfield { size: [2.0, 1.0], heights });
    assert_eq!((ground.friction, ground.restitution, ground.touches), (Some(0.0), None, true));
    let [bouncing, drawn] = &mechanism.bodies()[0].shapes[..] else { panic!("two shapes") };
    assert_eq!((bouncing.restitution, bouncing.touches), (Some(1.0), true));
    assert_eq!((drawn.restitution, drawn.touches), (None, false));
    assert_eq!(read(&pliant_io::scene::write(&mechanism)), mechanism, "it reads back the same");

    for (line, words) in [
        ("restitution = 1.5", "the restitution must be between 0 and 1, but is 1.5"),
        ("friction = -1", "the friction must not be negative"),
        ("friction = 1\ntouches = false", "`touches` is false"),
        ("touches = 1", "true or false"),
    ] {
        let text = format!("{BODY}free = true\n{body}{line}\n");
        let error = pliant_io::scene::read(&text, "scene.toml").expect_err(line).to_string();
        assert!(error.contains(words) && error.contains("scene.toml:"), "{error}");
    }
}
