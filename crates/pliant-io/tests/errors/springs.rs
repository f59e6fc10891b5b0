//! Springs that are wrong.

use super::expect;

const BODY: &str = "[[body]]\nname = \"a\"\nfree = true\nmass = 1\ninertia = [1, 1, 1]\n";

#[track_caller]
fn of(spring: &str, errors: &str) {
    expect(&format!("{BODY}[[spring]]\n{spring}"), errors);
}

#[test]
fn neither_body_nor_effector() {
    of(
        "name = \"s\"\npoint = [0, 0, 0]\nstiffness = 1\n",
        r##"
error: spring `s`: neither `body` nor `effector` is given
 --> scene.toml:7:8
  |
7 | name = "s"
  |        ^^^ name one that it acts on
"##,
    );
}

#[test]
fn a_body_that_is_not_there() {
    of(
        "name = \"s\"\nbody = \"b\"\npoint = [0, 0, 0]\nstiffness = 1\n",
        r##"
error: there is no body `b`
 --> scene.toml:8:8
  |
8 | body = "b"
  |        ^^^ did you mean `a`?
"##,
    );
}

#[test]
fn to_itself() {
    of(
        "name = \"s\"\nbody = \"a\"\nto = \"a\"\nstiffness = 1\n",
        r##"
error: spring `s` goes from a body to itself
 --> scene.toml:9:6
  |
9 | to = "a"
  |      ^^^ name another body, or give a point of the world
"##,
    );
}

#[test]
fn times_and_points_that_do_not_fit() {
    of(
        "name = \"s\"\nbody = \"a\"\ntime = [0, 1, 1]\npoint = [[0, 0, 0], [1, 0, 0]]\nstiffness = -1\n",
        r##"
error: the times of spring `s` do not increase
 --> scene.toml:9:8
  |
9 | time = [0, 1, 1]
  |        ^^^^^^^^^ at least one finite time, each later than the one before, s

error: spring `s` has 2 points for 3 times
  --> scene.toml:10:9
   |
10 | point = [[0, 0, 0], [1, 0, 0]]
   |         ^^^^^^^^^^^^^^^^^^^^^^ give one point for each time

error: the stiffness of spring `s` is -1
  --> scene.toml:11:13
   |
11 | stiffness = -1
   |             ^^ zero or above and at most 1e200
"##,
    );
}

#[test]
fn without_strength() {
    of(
        "name = \"s\"\nbody = \"a\"\npoint = [0, 0, 0]\n",
        r##"
error: spring `s`: it has neither stiffness nor damping
 --> scene.toml:7:8
  |
7 | name = "s"
  |        ^^^ give stiffness = 100.0, N/m
"##,
    );
}
