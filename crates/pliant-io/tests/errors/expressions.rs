//! Joints that are a formula: the token underlined inside the string, or the freedom, parameter or key.

use super::expect;

/// A scene with one joint of kind `expression`, whose keys start on line 10.
#[track_caller]
fn expect_joint(keys: &str, errors: &str) {
    let scene = format!(
        r##"[[body]]
name = "nut"
mass = 0.1
inertia = [1e-4, 1e-4, 1e-4]
[[joint]]
name = "j"
kind = "expression"
parent = "world"
child = "nut"
{keys}
"##
    );
    expect(&scene, errors);
}

#[test]
fn a_token_inside_a_long_string() {
    expect_joint(
        "angles = [\"a\"]\ntransform = \"\"\"\n  # turn\n  rotate_z(a) *\n    translate(0, 0, b)\n\"\"\"",
        r##"
error: joint `j`: there is no `b`
  --> scene.toml:14:21
   |
14 |     translate(0, 0, b)
   |                     ^ did you mean `a`?
"##,
    );
}

#[test]
fn a_type_inside_a_short_string() {
    expect_joint(
        "angles = [\"a\"]\ntransform = 'rotate_z(a) * translate(a)'",
        r##"
error: joint `j`: a vector is expected here, not a number
  --> scene.toml:11:38
   |
11 | transform = 'rotate_z(a) * translate(a)'
   |                                      ^ translate(vector) or translate(x, y, z)
"##,
    );
}

#[test]
fn a_string_with_escapes_is_underlined_whole() {
    expect_joint(
        "angles = [\"a\"]\ntransform = \"rotate_z(a) *\\t2\"",
        r##"
error: joint `j`: a transform or a vector is expected here, not a number
  --> scene.toml:11:13
   |
11 | transform = "rotate_z(a) *\t2"
   |             ^^^^^^^^^^^^^^^^^^ `*` takes two numbers, a number and a vector, two transforms, or a transform and a point
"##,
    );
}

#[test]
fn a_freedom_that_nothing_depends_on() {
    expect_joint(
        "lengths = [\"s\"]\nangles = [\"a\", \"b\"]\ntransform = \"translate(s, 0, 0) * rotate_z(a)\"",
        r##"
error: joint `j`: nothing depends on the freedom `b`
  --> scene.toml:11:16
   |
11 | angles = ["a", "b"]
   |                ^^^ use it in the transform, or leave it out
"##,
    );
}

#[test]
fn a_parameter_that_nothing_uses() {
    expect_joint(
        "angles = \"a\"\nparameters = { r = 0.1, q = [1, 2] }\ntransform = \"rotate_z(a) * translate(r, 0, 0)\"",
        r##"
error: joint `j`: nothing uses the parameter `q`
  --> scene.toml:11:29
   |
11 | parameters = { r = 0.1, q = [1, 2] }
   |                             ^^^^^^ leave it out, or use it in the transform
"##,
    );
}

#[test]
fn a_parameter_that_is_no_number() {
    expect_joint(
        "angles = \"a\"\nparameters = { r = [[0, 0, \"x\"]] }\ntransform = \"rotate_z(a) * translate(r, 0, 0)\"",
        r##"
error: joint `j`: an entry of `parameters` must be a number or a list of numbers, not a list
  --> scene.toml:11:20
   |
11 | parameters = { r = [[0, 0, "x"]] }
   |                    ^^^^^^^^^^^^^ write parameters = { radius = 0.2, points = [[0, 0, 0], …] }
"##,
    );
}

#[test]
fn no_transform() {
    expect_joint(
        "angles = [\"a\"]",
        r##"
error: joint `j`: `transform` is missing
 --> scene.toml:6:8
  |
6 | name = "j"
  |        ^^^ write transform = """…""" with its freedoms in lengths = […] and angles = […], or ready = "…"
"##,
    );
}

#[test]
fn a_ready_joint_that_there_is_none_of() {
    expect_joint(
        "ready = \"torus\"",
        r##"
error: joint `j`: there is no ready joint `torus`
  --> scene.toml:10:9
   |
10 | ready = "torus"
   |         ^^^^^^^ one of screw, point-on-curve, frame-on-curve, frame-on-patch, sphere-sphere, ellipsoid-ellipsoid, torus-torus, sphere-ellipsoid, sphere-torus, torus-ellipsoid, patch-sphere, patch-patch, four-bar-knee
"##,
    );
}

#[test]
fn a_ready_joint_without_its_parameter() {
    expect_joint(
        "ready = \"screw\"",
        r##"
error: joint `j`: `screw` needs the parameter `pitch`
  --> scene.toml:10:9
   |
10 | ready = "screw"
   |         ^^^^^^^ pitch: m per turn
"##,
    );
}

#[test]
fn a_ready_joint_with_freedoms() {
    expect_joint(
        "ready = \"screw\"\nangles = [\"turn\"]\nparameters = { pitch = 0.1 }",
        r##"
error: joint `j`: `screw` has its own freedoms
  --> scene.toml:11:10
   |
11 | angles = ["turn"]
   |          ^^^^^^^^ leave it out; they are turn
"##,
    );
}

#[test]
fn too_few_points_of_a_ready_joint() {
    expect_joint(
        "ready = \"point-on-curve\"\nparameters = { points = [[0, 0, 0]], start = 0.5, scale = 1 }",
        r##"
error: joint `j`: one point is too few
  --> scene.toml:10:9
   |
10 | ready = "point-on-curve"
   |         ^^^^^^^^^^^^^^^^ at least 2 here
"##,
    );
}

#[test]
fn not_rigid_within_its_limits() {
    expect_joint(
        "angles = [\"a\"]\nlimits = [-2, 2]\ntransform = \"rotate_z(a) * translate(sqrt(1 - a), 0, 0)\"",
        r##"
error: joint `j`: the transform is not rigid at a = 2.0000
  --> scene.toml:11:10
   |
11 | limits = [-2, 2]
   |          ^^^^^^^ give limits within which no root is negative, nothing is divided by zero and tangents are not parallel
"##,
    );
}

#[test]
fn a_formula_of_a_hinge() {
    expect(
        r##"[[body]]
name = "nut"
mass = 0.1
inertia = [1e-4, 1e-4, 1e-4]
[[joint]]
name = "j"
kind = "hinge"
parent = "world"
child = "nut"
transform = "rotate_z(a)"
"##,
        r##"
error: joint `j`: `transform` is not for a hinge joint
  --> scene.toml:10:13
   |
10 | transform = "rotate_z(a)"
   |             ^^^^^^^^^^^^^ leave it out, or say kind = "expression"
"##,
    );
}

/// Brackets a thousand deep and a million terms.
#[test]
fn too_large_is_refused() {
    let read = |text: String| {
        let scene = format!(
            "[[body]]\nname = \"b\"\nmass = 1\ninertia = [1, 1, 1]\n[[joint]]\nname = \"j\"\nkind = \"expression\"\nparent = \"world\"\nchild = \"b\"\nangles = [\"a\"]\ntransform = \"{text}\"\n"
        );
        pliant_io::scene::read(&scene, "scene.toml").expect_err("too large").diagnostics()[0].message.clone()
    };
    let deep = format!("rotate_z({}a{})", "(".repeat(1000), ")".repeat(1000));
    assert_eq!(read(deep), "joint `j`: brackets are nested too deeply");
    assert_eq!(
        read(format!("rotate_z(a{})", " + a".repeat(1_000_000))),
        "joint `j`: this expression is too long"
    );
}
