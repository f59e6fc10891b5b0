//! Text that is not TOML, and several errors at once.

use super::expect;

#[test]
fn repeated_key() {
    expect(
        r##"[[body]]
name = "upper"
mass = 0.2
inertia = [1e-3, 1e-3, 1e-4]
mass = 0.3
[[joint]]
name = "elbow"
kind = "hinge"
parent = "world"
child = "upper"
"##,
        r##"
error: cannot read the file: repeated key
 --> scene.toml:5:1
  |
5 | mass = 0.3
  | ^^^^ give it only once
"##,
    );
}

#[test]
fn syntax_error() {
    expect(
        r##"[[body]]
name = "upper"
mass = = 0.2
inertia = [1e-3, 1e-3, 1e-4]
[[joint]]
name = "elbow"
kind = "hinge"
parent = "world"
child = "upper"
"##,
        r##"
error: cannot read the file: extra `=`
 --> scene.toml:3:8
  |
3 | mass = = 0.2
  |        ^ remove it
"##,
    );
}

#[test]
fn unfinished_string() {
    expect(
        r##"[[body]]
name = "upper
mass = 0.2
inertia = [1e-3, 1e-3, 1e-4]
[[joint]]
name = "elbow"
kind = "hinge"
parent = "world"
child = "upper"
"##,
        r##"
error: cannot read the file: invalid basic string
 --> scene.toml:2:14
  |
2 | name = "upper
  |              ^ expected `"`
"##,
    );
}

#[test]
fn unfinished_list() {
    expect(
        r##"[[body]]
name = "upper"
mass = 0.2
inertia = [1e-3, 1e-3, 1e-4]
position = [0.0, 1.0
[[joint]]
name = "elbow"
kind = "hinge"
parent = "world"
child = "upper"
"##,
        r##"
error: cannot read the file: missing comma between array elements
 --> scene.toml:6:1
  |
6 | [[joint]]
  | ^ a comma is missing, or `]` before this line
"##,
    );
}

#[test]
fn header_that_is_not_closed() {
    expect(
        r##"[[body]]
name = "upper"
mass = 0.2
inertia = [1e-3, 1e-3, 1e-4]
[[joint]
name = "elbow"
kind = "hinge"
parent = "world"
child = "upper"
"##,
        r##"
error: cannot read the file: unclosed array table
 --> scene.toml:5:9
  |
5 | [[joint]
  |         ^ expected `]`
"##,
    );
}

#[test]
fn several_errors_at_once() {
    expect(
        r##"[mechanism]
gravty = [0, 0, -9.81]

[[body]]
name = "upper"
mass = -0.2
inertia = [1e-3, 1e-3, 1e-4]
position = [0.0, "a", 0.0]

[[body]]
name = "lower"
mass = 0.1

[[joint]]
name = "elbow"
kind = "hing"
parent = "world"
child = "uppr"

[[joint]]
name = "wrist"
kind = "ball"
parent = "upper"
child = "lower"
stiffness = [1.0, 2.0]
limits = [1, -1]
"##,
        r##"
error: the mechanism: unknown key `gravty`
 --> scene.toml:2:1
  |
2 | gravty = [0, 0, -9.81]
  | ^^^^^^ did you mean `gravity`?

error: body `upper`: the mass is -0.2
 --> scene.toml:6:8
  |
6 | mass = -0.2
  |        ^^^^ it must be finite and zero or above, kg

error: body `upper`: an entry of `position` must be a number, not a string
 --> scene.toml:8:18
  |
8 | position = [0.0, "a", 0.0]
  |                  ^^^ write it without quotes

error: body `lower`: `mass` is given, but no `inertia`
  --> scene.toml:12:8
   |
12 | mass = 0.1
   |        ^^^ add inertia = [xx, yy, zz], kg·m², or give no mass and shapes with a density

error: joint `elbow`: there is no joint of kind `hing`
  --> scene.toml:16:8
   |
16 | kind = "hing"
   |        ^^^^^^ did you mean `hinge`?

error: there is no body `uppr`
  --> scene.toml:18:9
   |
18 | child = "uppr"
   |         ^^^^^^ did you mean `upper`?

error: joint `wrist`: stiffness has 2 entries, but a ball joint has 3 freedoms
  --> scene.toml:25:13
   |
25 | stiffness = [1.0, 2.0]
   |             ^^^^^^^^^^ give one value for all, or a list of 3

error: joint `wrist`: the lower limit 1 is above the upper limit -1
  --> scene.toml:26:10
   |
26 | limits = [1, -1]
   |          ^^^^^^^ write [-1, 1], m or rad
"##,
    );
}

#[test]
fn numbers_without_digits() {
    for number in [".5", "5.", "1.e5", "1e", "-.5", "[0, .5]"] {
        let scene = format!("[mechanism]\ngravity = {number}\n");
        let message =
            pliant_io::scene::read(&scene, "scene.toml").expect_err("the scene is wrong").to_string();
        assert!(
            message.starts_with("error: cannot read the file: a number lacks digits\n"),
            "{number}: {message}"
        );
        assert!(
            message.contains("digits before and after a point, and after `e`, such as 0.5 or 1e-3"),
            "{message}"
        );
    }
}

#[test]
fn several_syntax_errors_at_once() {
    expect(
        r##"[[body]]
name = "upper"
mass = = 0.2
inertia = [1e-3, 1e-3, 1e-4]
[[joint]]
name = "elbow"
kind = hinge
parent = "world"
child = "upper"
"##,
        r##"
error: cannot read the file: extra `=`
 --> scene.toml:3:8
  |
3 | mass = = 0.2
  |        ^ remove it

error: cannot read the file: string values must be quoted
 --> scene.toml:7:8
  |
7 | kind = hinge
  |        ^^^^^ expected literal string
"##,
    );
}
