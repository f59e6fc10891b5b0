//! Unknown keys and values of the wrong type.

use super::expect;

#[test]
fn position_of_two_numbers() {
    expect(
        r##"[[body]]
name = "upper"
mass = 0.2
inertia = [1e-3, 1e-3, 1e-4]
position = [0.0, 1.0]
[[joint]]
name = "elbow"
kind = "hinge"
parent = "world"
child = "upper"
"##,
        r##"
error: body `upper`: `position` has 2 entries, but takes 3
 --> scene.toml:5:12
  |
5 | position = [0.0, 1.0]
  |            ^^^^^^^^^^ give 3 numbers
"##,
    );
}

#[test]
fn position_over_several_lines() {
    expect(
        r##"[[body]]
name = "upper"
mass = 0.2
inertia = [1e-3, 1e-3, 1e-4]
position = [
  0.0,
  1.0,
]
[[joint]]
name = "elbow"
kind = "hinge"
parent = "world"
child = "upper"
"##,
        r##"
error: body `upper`: `position` has 2 entries, but takes 3
 --> scene.toml:5:12
  |
5 | position = [
  |            ^ give 3 numbers
"##,
    );
}

#[test]
fn unknown_key() {
    expect(
        r##"[[body]]
name = "upper"
mass = 0.2
inertia = [1e-3, 1e-3, 1e-4]
[[joint]]
name = "elbow"
kind = "hinge"
parent = "world"
child = "upper"
stifness = 10.0
"##,
        r##"
error: joint `elbow`: unknown key `stifness`
  --> scene.toml:10:1
   |
10 | stifness = 10.0
   | ^^^^^^^^ did you mean `stiffness`?
"##,
    );
}

#[test]
fn unknown_key_like_no_other() {
    expect(
        r##"[[body]]
name = "upper"
mass = 0.2
inertia = [1e-3, 1e-3, 1e-4]
colour = "red"
[[joint]]
name = "elbow"
kind = "hinge"
parent = "world"
child = "upper"
"##,
        r##"
error: body `upper`: unknown key `colour`
 --> scene.toml:5:1
  |
5 | colour = "red"
  | ^^^^^^ known here: name, position, rotation, rpy, mass, center_of_mass, inertia, free, shape, passes
"##,
    );
}

#[test]
fn unknown_table() {
    expect(
        r##"[[body]]
name = "upper"
mass = 0.2
inertia = [1e-3, 1e-3, 1e-4]
[[joint]]
name = "elbow"
kind = "hinge"
parent = "world"
child = "upper"
[[effectors]]
name = "tip"
"##,
        r##"
error: unknown key `effectors`
  --> scene.toml:10:3
   |
10 | [[effectors]]
   |   ^^^^^^^^^ did you mean `effector`?
"##,
    );
}

#[test]
fn string_for_a_number() {
    expect(
        r##"[[body]]
name = "upper"
mass = "heavy"
inertia = [1e-3, 1e-3, 1e-4]
[[joint]]
name = "elbow"
kind = "hinge"
parent = "world"
child = "upper"
"##,
        r##"
error: body `upper`: `mass` must be a number, not a string
 --> scene.toml:3:8
  |
3 | mass = "heavy"
  |        ^^^^^^^ write it without quotes
"##,
    );
}

#[test]
fn number_for_a_string() {
    expect(
        r##"[[body]]
name = "upper"
mass = 0.2
inertia = [1e-3, 1e-3, 1e-4]
[[joint]]
name = "elbow"
kind = "hinge"
parent = 0
child = "upper"
"##,
        r##"
error: joint `elbow`: `parent` must be a string, not a number
 --> scene.toml:8:10
  |
8 | parent = 0
  |          ^ write it in quotes
"##,
    );
}

#[test]
fn string_in_a_list() {
    expect(
        r##"[[body]]
name = "upper"
mass = 0.2
inertia = [1e-3, 1e-3, 1e-4]
position = [0.0, "1.0", 0.0]
[[joint]]
name = "elbow"
kind = "hinge"
parent = "world"
child = "upper"
"##,
        r##"
error: body `upper`: an entry of `position` must be a number, not a string
 --> scene.toml:5:18
  |
5 | position = [0.0, "1.0", 0.0]
  |                  ^^^^^ write it without quotes
"##,
    );
}

#[test]
fn number_for_a_list() {
    expect(
        r##"[[body]]
name = "upper"
mass = 0.2
inertia = [1e-3, 1e-3, 1e-4]
position = 1.0
[[joint]]
name = "elbow"
kind = "hinge"
parent = "world"
child = "upper"
"##,
        r##"
error: body `upper`: `position` must be a list of numbers, not a number
 --> scene.toml:5:12
  |
5 | position = 1.0
  |            ^^^ write it in brackets, with commas between
"##,
    );
}

#[test]
fn number_for_a_flag() {
    expect(
        r##"[[body]]
name = "upper"
mass = 0.2
inertia = [1e-3, 1e-3, 1e-4]
free = 1
[[joint]]
name = "elbow"
kind = "hinge"
parent = "world"
child = "upper"
"##,
        r##"
error: body `upper`: `free` must be true or false, not a number
 --> scene.toml:5:8
  |
5 | free = 1
  |        ^ write true or false, without quotes
"##,
    );
}

#[test]
fn table_for_a_list_of_tables() {
    expect(
        r##"[body]
name = "upper"
[[joint]]
name = "elbow"
kind = "hinge"
parent = "world"
child = "upper"
"##,
        r##"
error: `body` must be a list of tables, not a table
 --> scene.toml:1:1
  |
1 | [body]
  | ^^^^^^ write [[body]] and its keys below it
"##,
    );
}

#[test]
fn import() {
    expect(
        r##"import = "hand.urdf"
[[joint]]
match = "finger_*"
stiffness = 1.0
"##,
        r##"
error: cannot read `hand.urdf`: there is no such file
 --> scene.toml:1:10
  |
1 | import = "hand.urdf"
  |          ^^^^^^^^^^^ a path to a robot file, relative to this one
"##,
    );
}

#[test]
fn overlay() {
    expect(
        r##"[[body]]
name = "upper"
mass = 0.2
inertia = [1e-3, 1e-3, 1e-4]
[[joint]]
match = "finger_*"
stiffness = 1.0
"##,
        r##"
error: joint 1: `match` is given, but the scene imports nothing
 --> scene.toml:6:9
  |
6 | match = "finger_*"
  |         ^^^^^^^^^^ add import = "…" at the top, or write the joint in full, with its name
"##,
    );
}
