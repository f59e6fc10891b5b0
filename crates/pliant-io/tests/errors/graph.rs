//! Names, references, what holds a body and what gives it mass.

use super::expect;

#[test]
fn empty_file() {
    expect(
        r##""##,
        r##"
error: the file has no body
 --> scene.toml:1:1
  |
1 |
  | ^ add one: [[body]], with name = "…" below it
"##,
    );
}

#[test]
fn no_body() {
    expect(
        r##"[mechanism]
name = "nothing"
"##,
        r##"
error: the file has no body
 --> scene.toml:1:1
  |
1 | [mechanism]
  | ^ add one: [[body]], with name = "…" below it
"##,
    );
}

#[test]
fn missing_body_name() {
    expect(
        r##"[[body]]
mass = 0.2
inertia = [1e-3, 1e-3, 1e-4]
[[joint]]
name = "elbow"
kind = "hinge"
parent = "world"
child = "upper"
"##,
        r##"
error: body 1: `name` is missing
 --> scene.toml:1:1
  |
1 | [[body]]
  | ^^^^^^^^ give it one: name = "…"
"##,
    );
}

#[test]
fn missing_joint_name() {
    expect(
        r##"[[body]]
name = "upper"
mass = 0.2
inertia = [1e-3, 1e-3, 1e-4]
[[joint]]
kind = "hinge"
parent = "world"
child = "upper"
"##,
        r##"
error: joint 1: `name` is missing
 --> scene.toml:5:1
  |
5 | [[joint]]
  | ^^^^^^^^^ give it one: name = "…"
"##,
    );
}

#[test]
fn empty_name() {
    expect(
        r##"[[body]]
name = ""
mass = 0.2
inertia = [1e-3, 1e-3, 1e-4]
[[joint]]
name = "elbow"
kind = "hinge"
parent = "world"
child = ""
"##,
        r##"
error: a body has no name
 --> scene.toml:2:8
  |
2 | name = ""
  |        ^^ give it one: name = "…"
"##,
    );
}

#[test]
fn repeated_body_name() {
    expect(
        r##"[[body]]
name = "upper"
mass = 0.2
inertia = [1e-3, 1e-3, 1e-4]
[[body]]
name = "upper"
mass = 0.2
inertia = [1e-3, 1e-3, 1e-4]
[[joint]]
name = "elbow"
kind = "hinge"
parent = "world"
child = "upper"
"##,
        r##"
error: there is already a body `upper`
 --> scene.toml:6:8
  |
6 | name = "upper"
  |        ^^^^^^^ give each its own name
"##,
    );
}

#[test]
fn repeated_joint_name() {
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
[[joint]]
name = "elbow"
kind = "hinge"
parent = "world"
child = "upper"
"##,
        r##"
error: there is already a joint `elbow`
  --> scene.toml:11:8
   |
11 | name = "elbow"
   |        ^^^^^^^ give each its own name
"##,
    );
}

#[test]
fn body_called_world() {
    expect(
        r##"[[body]]
name = "world"
mass = 0.2
inertia = [1e-3, 1e-3, 1e-4]
[[body]]
name = "upper"
mass = 0.2
inertia = [1e-3, 1e-3, 1e-4]
[[joint]]
name = "elbow"
kind = "hinge"
parent = "world"
child = "upper"
"##,
        r##"
error: no body can be called `world`
 --> scene.toml:2:8
  |
2 | name = "world"
  |        ^^^^^^^ that is the name of what does not move
"##,
    );
}

#[test]
fn unknown_parent() {
    expect(
        r##"[[body]]
name = "upper"
mass = 0.2
inertia = [1e-3, 1e-3, 1e-4]
[[joint]]
name = "elbow"
kind = "hinge"
parent = "uper"
child = "upper"
"##,
        r##"
error: there is no body `uper`
 --> scene.toml:8:10
  |
8 | parent = "uper"
  |          ^^^^^^ did you mean `upper`?
"##,
    );
}

#[test]
fn unknown_child() {
    expect(
        r##"[[body]]
name = "upper"
mass = 0.2
inertia = [1e-3, 1e-3, 1e-4]
[[joint]]
name = "elbow"
kind = "hinge"
parent = "world"
child = "lower"
"##,
        r##"
error: there is no body `lower`
 --> scene.toml:9:9
  |
9 | child = "lower"
  |         ^^^^^^^ name a body of this file
"##,
    );
}

#[test]
fn world_as_child() {
    expect(
        r##"[[body]]
name = "upper"
mass = 0.2
inertia = [1e-3, 1e-3, 1e-4]
[[joint]]
name = "elbow"
kind = "hinge"
parent = "upper"
child = "world"
"##,
        r##"
error: joint `elbow` has the world as its child
 --> scene.toml:9:9
  |
9 | child = "world"
  |         ^^^^^^^ swap parent and child: the world is always a parent
"##,
    );
}

#[test]
fn joint_without_kind() {
    expect(
        r##"[[body]]
name = "upper"
mass = 0.2
inertia = [1e-3, 1e-3, 1e-4]
[[joint]]
name = "elbow"
parent = "world"
child = "upper"
"##,
        r##"
error: joint `elbow`: `kind` is missing
 --> scene.toml:6:8
  |
6 | name = "elbow"
  |        ^^^^^^^ one of hinge, ball, universal, prismatic, cylindrical, planar, fixed, bushing, expression
"##,
    );
}

#[test]
fn joint_without_parent() {
    expect(
        r##"[[body]]
name = "upper"
mass = 0.2
inertia = [1e-3, 1e-3, 1e-4]
[[joint]]
name = "elbow"
kind = "hinge"
child = "upper"
"##,
        r##"
error: joint `elbow`: `parent` is missing
 --> scene.toml:6:8
  |
6 | name = "elbow"
  |        ^^^^^^^ name a body, or "world"
"##,
    );
}

#[test]
fn joint_without_child() {
    expect(
        r##"[[body]]
name = "upper"
mass = 0.2
inertia = [1e-3, 1e-3, 1e-4]
[[joint]]
name = "elbow"
kind = "hinge"
parent = "world"
"##,
        r##"
error: joint `elbow`: `child` is missing
 --> scene.toml:6:8
  |
6 | name = "elbow"
  |        ^^^^^^^ name a body
"##,
    );
}

#[test]
fn joint_of_unknown_kind() {
    expect(
        r##"[[body]]
name = "upper"
mass = 0.2
inertia = [1e-3, 1e-3, 1e-4]
[[joint]]
name = "elbow"
kind = "revolute"
parent = "world"
child = "upper"
stiffness = [1.0, 2.0, 3.0]
"##,
        r##"
error: joint `elbow`: there is no joint of kind `revolute`
 --> scene.toml:7:8
  |
7 | kind = "revolute"
  |        ^^^^^^^^^^ one of hinge, ball, universal, prismatic, cylindrical, planar, fixed, bushing, expression
"##,
    );
}

#[test]
fn directed_cycle() {
    expect(
        r##"[[body]]
name = "upper"
mass = 0.2
inertia = [1e-3, 1e-3, 1e-4]
[[body]]
name = "lower"
mass = 0.2
inertia = [1e-3, 1e-3, 1e-4]
[[joint]]
name = "elbow"
kind = "hinge"
parent = "lower"
child = "upper"
[[joint]]
name = "wrist"
kind = "hinge"
parent = "upper"
child = "lower"
"##,
        r##"
error: joints go round in a circle: lower → upper → lower
  --> scene.toml:18:9
   |
18 | child = "lower"
   |         ^^^^^^^ turn one of these joints round: a loop is a body with two parents, not a circle of parents
"##,
    );
}

#[test]
fn body_that_nothing_holds() {
    expect(
        r##"[[body]]
name = "upper"
mass = 0.2
inertia = [1e-3, 1e-3, 1e-4]
"##,
        r##"
error: nothing holds body `upper`
 --> scene.toml:2:8
  |
2 | name = "upper"
  |        ^^^^^^^ add a joint with it as child, or say free = true
"##,
    );
}

#[test]
fn free_body_that_a_joint_holds() {
    expect(
        r##"[[body]]
name = "upper"
mass = 0.2
inertia = [1e-3, 1e-3, 1e-4]
free = true
[[joint]]
name = "elbow"
kind = "hinge"
parent = "world"
child = "upper"
"##,
        r##"
error: body `upper` is free, but joint `elbow` holds it
 --> scene.toml:5:8
  |
5 | free = true
  |        ^^^^ remove one of the two
"##,
    );
}

#[test]
fn massless_body() {
    expect(
        r##"[[body]]
name = "upper"
[[joint]]
name = "elbow"
kind = "hinge"
parent = "world"
child = "upper"
"##,
        r##"
error: body `upper` has no mass, and neither has anything welded to it
 --> scene.toml:2:8
  |
2 | name = "upper"
  |        ^^^^^^^ give mass and inertia (or shapes with a density), or weld it to a body with mass or to the world
"##,
    );
}

#[test]
fn massless_body_welded_to_a_massless_one() {
    expect(
        r##"[[body]]
name = "upper"
[[body]]
name = "lower"
[[joint]]
name = "elbow"
kind = "hinge"
parent = "world"
child = "upper"
[[joint]]
name = "weld"
kind = "fixed"
parent = "upper"
child = "lower"
"##,
        r##"
error: body `upper` has no mass, and neither has anything welded to it
 --> scene.toml:2:8
  |
2 | name = "upper"
  |        ^^^^^^^ give mass and inertia (or shapes with a density), or weld it to a body with mass or to the world
"##,
    );
}
