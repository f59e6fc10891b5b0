//! Claim: whatever is wrong with a scene file is reported once, at its line, with the offending text
//! underlined and what would be right beside it; and nothing else is.

/// The scene is refused with exactly this text.
#[track_caller]
fn expect(scene: &str, errors: &str) {
    let found = pliant_io::scene::read(scene, "scene.toml").expect_err("the scene is wrong");
    assert_eq!(found.to_string(), errors.trim_matches('\n'), "\n{found}");
    assert!(found.diagnostics().iter().all(|d| !d.help.is_empty() && !d.message.is_empty()));
    assert_eq!(found.to_string().matches("error: ").count(), found.diagnostics().len());
}

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
  |        ^^^^^^^ one of hinge, ball, universal, prismatic, cylindrical, planar, fixed, bushing
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
  |        ^^^^^^^^^^ one of hinge, ball, universal, prismatic, cylindrical, planar, fixed, bushing
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

#[test]
fn negative_mass() {
    expect(
        r##"[[body]]
name = "upper"
mass = -0.2
inertia = [1e-3, 1e-3, 1e-4]
[[joint]]
name = "elbow"
kind = "hinge"
parent = "world"
child = "upper"
"##,
        r##"
error: body `upper`: the mass is -0.2
 --> scene.toml:3:8
  |
3 | mass = -0.2
  |        ^^^^ it must be finite and zero or above, kg
"##,
    );
}

#[test]
fn mass_that_is_not_a_number() {
    expect(
        r##"[[body]]
name = "upper"
mass = nan
inertia = [1e-3, 1e-3, 1e-4]
[[joint]]
name = "elbow"
kind = "hinge"
parent = "world"
child = "upper"
"##,
        r##"
error: body `upper`: the mass is NaN
 --> scene.toml:3:8
  |
3 | mass = nan
  |        ^^^ it must be finite and zero or above, kg
"##,
    );
}

#[test]
fn infinite_mass() {
    expect(
        r##"[[body]]
name = "upper"
mass = inf
inertia = [1e-3, 1e-3, 1e-4]
[[joint]]
name = "elbow"
kind = "hinge"
parent = "world"
child = "upper"
"##,
        r##"
error: body `upper`: the mass is inf
 --> scene.toml:3:8
  |
3 | mass = inf
  |        ^^^ it must be finite and zero or above, kg
"##,
    );
}

#[test]
fn number_too_large() {
    expect(
        r##"[[body]]
name = "upper"
mass = 1e400
inertia = [1e-3, 1e-3, 1e-4]
[[joint]]
name = "elbow"
kind = "hinge"
parent = "world"
child = "upper"
"##,
        r##"
error: body `upper`: `mass` is too large a number
 --> scene.toml:3:8
  |
3 | mass = 1e400
  |        ^^^^^ at most about 1.8e308
"##,
    );
}

#[test]
fn negative_mass_of_a_welded_body() {
    expect(
        r##"[[body]]
name = "upper"
mass = 0.2
inertia = [1e-3, 1e-3, 1e-4]
[[body]]
name = "lower"
mass = -1
inertia = [1e-3, 1e-3, 1e-4]
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
error: body `lower`: the mass is -1
 --> scene.toml:7:8
  |
7 | mass = -1
  |        ^^ it must be finite and zero or above, kg
"##,
    );
}

#[test]
fn infinite_position() {
    expect(
        r##"[[body]]
name = "upper"
mass = 0.2
inertia = [1e-3, 1e-3, 1e-4]
position = [0.0, inf, 0.0]
[[joint]]
name = "elbow"
kind = "hinge"
parent = "world"
child = "upper"
"##,
        r##"
error: body `upper`: the position is not finite
 --> scene.toml:5:12
  |
5 | position = [0.0, inf, 0.0]
  |            ^^^^^^^^^^^^^^^ three finite numbers, m
"##,
    );
}

#[test]
fn infinite_gravity() {
    expect(
        r##"[mechanism]
gravity = [0, 0, -inf]
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
error: gravity is not finite
 --> scene.toml:2:11
  |
2 | gravity = [0, 0, -inf]
  |           ^^^^^^^^^^^^ three finite numbers, m/s²
"##,
    );
}

#[test]
fn impossible_inertia() {
    expect(
        r##"[[body]]
name = "upper"
mass = 0.2
inertia = [1e-3, 1e-3, 3e-3]
[[joint]]
name = "elbow"
kind = "hinge"
parent = "world"
child = "upper"
"##,
        r##"
error: body `upper`: no rigid body has the principal moments 1.0000e-3, 1.0000e-3, 3.0000e-3 kg·m²
 --> scene.toml:4:11
  |
4 | inertia = [1e-3, 1e-3, 3e-3]
  |           ^^^^^^^^^^^^^^^^^^ none may be negative and the largest must not exceed the sum of the others
"##,
    );
}

#[test]
fn negative_inertia() {
    expect(
        r##"[[body]]
name = "upper"
mass = 0.2
inertia = [-1e-3, 1e-3, 1e-3]
[[joint]]
name = "elbow"
kind = "hinge"
parent = "world"
child = "upper"
"##,
        r##"
error: body `upper`: no rigid body has the principal moments -1.0000e-3, 1.0000e-3, 1.0000e-3 kg·m²
 --> scene.toml:4:11
  |
4 | inertia = [-1e-3, 1e-3, 1e-3]
  |           ^^^^^^^^^^^^^^^^^^^ none may be negative and the largest must not exceed the sum of the others
"##,
    );
}

#[test]
fn infinite_inertia() {
    expect(
        r##"[[body]]
name = "upper"
mass = 0.2
inertia = [inf, inf, 1e-3]
[[joint]]
name = "elbow"
kind = "hinge"
parent = "world"
child = "upper"
"##,
        r##"
error: body `upper`: the inertia is not finite
 --> scene.toml:4:11
  |
4 | inertia = [inf, inf, 1e-3]
  |           ^^^^^^^^^^^^^^^^ three or six finite numbers, kg·m²
"##,
    );
}

#[test]
fn inertia_of_four_numbers() {
    expect(
        r##"[[body]]
name = "upper"
mass = 0.2
inertia = [1e-3, 1e-3, 1e-3, 0.0]
[[joint]]
name = "elbow"
kind = "hinge"
parent = "world"
child = "upper"
"##,
        r##"
error: body `upper`: `inertia` has 4 entries, but takes 3 or 6
 --> scene.toml:4:11
  |
4 | inertia = [1e-3, 1e-3, 1e-3, 0.0]
  |           ^^^^^^^^^^^^^^^^^^^^^^^ [xx, yy, zz] or [xx, yy, zz, xy, xz, yz], kg·m²
"##,
    );
}

#[test]
fn mass_without_inertia() {
    expect(
        r##"[[body]]
name = "upper"
mass = 0.2
[[joint]]
name = "elbow"
kind = "hinge"
parent = "world"
child = "upper"
"##,
        r##"
error: body `upper`: `mass` is given, but no `inertia`
 --> scene.toml:3:8
  |
3 | mass = 0.2
  |        ^^^ add inertia = [xx, yy, zz], kg·m², or give no mass and shapes with a density
"##,
    );
}

#[test]
fn inertia_without_mass() {
    expect(
        r##"[[body]]
name = "upper"
inertia = [1e-3, 1e-3, 1e-4]
[[joint]]
name = "elbow"
kind = "hinge"
parent = "world"
child = "upper"
"##,
        r##"
error: body `upper`: `inertia` is given, but no `mass`
 --> scene.toml:3:11
  |
3 | inertia = [1e-3, 1e-3, 1e-4]
  |           ^^^^^^^^^^^^^^^^^^ add mass = …, kg
"##,
    );
}

#[test]
fn center_of_mass_without_mass() {
    expect(
        r##"[[body]]
name = "upper"
center_of_mass = [0, 0, 0.1]
[[joint]]
name = "elbow"
kind = "hinge"
parent = "world"
child = "upper"
"##,
        r##"
error: body `upper`: `center_of_mass` is given, but no `mass`
 --> scene.toml:3:18
  |
3 | center_of_mass = [0, 0, 0.1]
  |                  ^^^^^^^^^^^ add mass = …, kg
"##,
    );
}

#[test]
fn swapped_limits() {
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
limits = [1.5, -1.5]
"##,
        r##"
error: joint `elbow`: the lower limit 1.5 is above the upper limit -1.5
  --> scene.toml:10:10
   |
10 | limits = [1.5, -1.5]
   |          ^^^^^^^^^^^ write [-1.5, 1.5], m or rad
"##,
    );
}

#[test]
fn limit_that_is_not_a_number() {
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
limits = [nan, 1.5]
"##,
        r##"
error: joint `elbow`: a limit is not a number
  --> scene.toml:10:10
   |
10 | limits = [nan, 1.5]
   |          ^^^^^^^^^^ [lower, upper], m or rad; inf for none
"##,
    );
}

#[test]
fn limits_of_three_numbers() {
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
limits = [-1.5, 0, 1.5]
"##,
        r##"
error: joint `elbow`: `limits` takes pairs of numbers, but here has 3 entries
  --> scene.toml:10:10
   |
10 | limits = [-1.5, 0, 1.5]
   |          ^^^^^^^^^^^^^^ [lower, upper], or a list of such pairs, one per freedom
"##,
    );
}

#[test]
fn stiffness_together_with_compliance() {
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
stiffness = 1000.0
compliance = 0.001
"##,
        r##"
error: joint `elbow`: `stiffness` and `compliance` both say how soft it is
  --> scene.toml:11:14
   |
11 | compliance = 0.001
   |              ^^^^^ give only one of the two
"##,
    );
}

#[test]
fn negative_stiffness() {
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
stiffness = -1
"##,
        r##"
error: joint `elbow`: stiffness is -1
  --> scene.toml:10:13
   |
10 | stiffness = -1
   |             ^^ it must be finite and zero or above, N/m or N·m/rad
"##,
    );
}

#[test]
fn infinite_damping() {
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
damping = inf
"##,
        r##"
error: joint `elbow`: damping is inf
  --> scene.toml:10:11
   |
10 | damping = inf
   |           ^^^ it must be finite and zero or above, N·s/m or N·m·s/rad
"##,
    );
}

#[test]
fn zero_compliance() {
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
compliance = 0
"##,
        r##"
error: joint `elbow`: compliance is 0
  --> scene.toml:10:14
   |
10 | compliance = 0
   |              ^ it must be finite and above zero; a rigid freedom is a joint kind without it, a passive one has stiffness = 0
"##,
    );
}

#[test]
fn list_of_the_wrong_length() {
    expect(
        r##"[[body]]
name = "upper"
mass = 0.2
inertia = [1e-3, 1e-3, 1e-4]
[[joint]]
name = "elbow"
kind = "ball"
parent = "world"
child = "upper"
stiffness = [1.0, 2.0]
"##,
        r##"
error: joint `elbow`: stiffness has 2 entries, but a ball joint has 3 freedoms
  --> scene.toml:10:13
   |
10 | stiffness = [1.0, 2.0]
   |             ^^^^^^^^^^ give one value for all, or a list of 3
"##,
    );
}

#[test]
fn stiffness_of_a_fixed_joint() {
    expect(
        r##"[[body]]
name = "upper"
mass = 0.2
inertia = [1e-3, 1e-3, 1e-4]
[[joint]]
name = "elbow"
kind = "fixed"
parent = "world"
child = "upper"
stiffness = 1.0
"##,
        r##"
error: joint `elbow`: a fixed joint has no freedom that stiffness could act on
  --> scene.toml:10:13
   |
10 | stiffness = 1.0
   |             ^^^ leave it out, or choose another kind
"##,
    );
}

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
  | ^^^^^^ known here: name, position, rotation, rpy, mass, center_of_mass, inertia, free, shape
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
fn both_rotation_and_rpy() {
    expect(
        r##"[[body]]
name = "upper"
mass = 0.2
inertia = [1e-3, 1e-3, 1e-4]
rotation = [1, 0, 0, 0]
rpy = [0, 0, 0]
[[joint]]
name = "elbow"
kind = "hinge"
parent = "world"
child = "upper"
"##,
        r##"
error: body `upper`: `rotation` and `rpy` both turn it
 --> scene.toml:6:7
  |
6 | rpy = [0, 0, 0]
  |       ^^^^^^^^^ give only one of the two
"##,
    );
}

#[test]
fn both_axis_and_rotation() {
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
axis = [0, 0, 1]
rotation = [1, 0, 0, 0]
"##,
        r##"
error: joint `elbow`: `axis` and `rotation` both turn it
  --> scene.toml:11:12
   |
11 | rotation = [1, 0, 0, 0]
   |            ^^^^^^^^^^^^ give only one of the two
"##,
    );
}

#[test]
fn axis_without_length() {
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
axis = [0, 0, 0]
"##,
        r##"
error: joint `elbow`: `axis` has no length
  --> scene.toml:10:8
   |
10 | axis = [0, 0, 0]
   |        ^^^^^^^^^ three finite numbers, not all zero: the direction of the joint's z, world axes
"##,
    );
}

#[test]
fn quaternion_far_from_unit() {
    expect(
        r##"[[body]]
name = "upper"
mass = 0.2
inertia = [1e-3, 1e-3, 1e-4]
rotation = [1, 1, 0, 0]
[[joint]]
name = "elbow"
kind = "hinge"
parent = "world"
child = "upper"
"##,
        r##"
error: body `upper`: the rotation is a quaternion of norm 1.4142
 --> scene.toml:5:12
  |
5 | rotation = [1, 1, 0, 0]
  |            ^^^^^^^^^^^^ normalise it: w² + x² + y² + z² = 1
"##,
    );
}

#[test]
fn infinite_quaternion() {
    expect(
        r##"[[body]]
name = "upper"
mass = 0.2
inertia = [1e-3, 1e-3, 1e-4]
rotation = [nan, 0, 0, 0]
[[joint]]
name = "elbow"
kind = "hinge"
parent = "world"
child = "upper"
"##,
        r##"
error: body `upper`: the rotation is not finite
 --> scene.toml:5:12
  |
5 | rotation = [nan, 0, 0, 0]
  |            ^^^^^^^^^^^^^^ a quaternion [w, x, y, z] of finite numbers
"##,
    );
}

#[test]
fn infinite_rpy() {
    expect(
        r##"[[body]]
name = "upper"
mass = 0.2
inertia = [1e-3, 1e-3, 1e-4]
rpy = [0, inf, 0]
[[joint]]
name = "elbow"
kind = "hinge"
parent = "world"
child = "upper"
"##,
        r##"
error: body `upper`: `rpy` is not finite
 --> scene.toml:5:7
  |
5 | rpy = [0, inf, 0]
  |       ^^^^^^^^^^^ three finite angles [roll, pitch, yaw], rad
"##,
    );
}

#[test]
fn shape_of_unknown_kind() {
    expect(
        r##"[[body]]
name = "upper"
mass = 0.2
inertia = [1e-3, 1e-3, 1e-4]
[[body.shape]]
kind = "sphere"
radius = 1.0
[[joint]]
name = "elbow"
kind = "hinge"
parent = "world"
child = "upper"
"##,
        r##"
error: shape 1 of body `upper`: there is no shape of kind `sphere`
 --> scene.toml:6:8
  |
6 | kind = "sphere"
  |        ^^^^^^^^ one of box, ball, capsule, cylinder, mesh, convex, heightfield
"##,
    );
}

#[test]
fn shape_with_the_key_of_another_kind() {
    expect(
        r##"[[body]]
name = "upper"
mass = 0.2
inertia = [1e-3, 1e-3, 1e-4]
[[body.shape]]
kind = "ball"
radius = 1.0
size = [1, 1, 1]
[[joint]]
name = "elbow"
kind = "hinge"
parent = "world"
child = "upper"
"##,
        r##"
error: shape 1 of body `upper`: unknown key `size`
 --> scene.toml:8:1
  |
8 | size = [1, 1, 1]
  | ^^^^ known here: kind, radius, position, rotation, rpy, density, friction
"##,
    );
}

#[test]
fn shape_without_its_size() {
    expect(
        r##"[[body]]
name = "upper"
mass = 0.2
inertia = [1e-3, 1e-3, 1e-4]
[[body.shape]]
kind = "box"
[[joint]]
name = "elbow"
kind = "hinge"
parent = "world"
child = "upper"
"##,
        r##"
error: shape 1 of body `upper`: `size` is missing
 --> scene.toml:5:1
  |
5 | [[body.shape]]
  | ^^^^^^^^^^^^^^ a box needs size = [x, y, z], m
"##,
    );
}

#[test]
fn shape_of_negative_size() {
    expect(
        r##"[[body]]
name = "upper"
[[body.shape]]
kind = "ball"
radius = -1
density = 1000
[[joint]]
name = "elbow"
kind = "hinge"
parent = "world"
child = "upper"
"##,
        r##"
error: a ball shape of body `upper`: radius must be a positive length, not -1
 --> scene.toml:5:10
  |
5 | radius = -1
  |          ^^ a finite number above zero, m
"##,
    );
}

#[test]
fn density_of_a_mesh() {
    expect(
        r##"[[body]]
name = "upper"
[[body.shape]]
kind = "mesh"
file = "arm.stl"
density = 1000
[[joint]]
name = "elbow"
kind = "hinge"
parent = "world"
child = "upper"
"##,
        r##"
error: shape 1 of body `upper`: the volume of a mesh is not known
 --> scene.toml:6:11
  |
6 | density = 1000
  |           ^^^^ give body `upper` mass and inertia instead of a density
"##,
    );
}

#[test]
fn world_shape_of_no_size() {
    expect(
        r##"[[world.shape]]
kind = "ball"
radius = 0
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
error: a ball shape of the world: radius must be a positive length, not 0
 --> scene.toml:3:10
  |
3 | radius = 0
  |          ^ a finite number above zero, m
"##,
    );
}

#[test]
fn effector_of_an_unknown_body() {
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
[[effector]]
name = "tip"
body = "uppper"
"##,
        r##"
error: there is no body `uppper`
  --> scene.toml:12:8
   |
12 | body = "uppper"
   |        ^^^^^^^^ did you mean `upper`?
"##,
    );
}

#[test]
fn load_without_force() {
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
[[effector]]
name = "tip"
body = "upper"
[[load]]
effector = "tip"
"##,
        r##"
error: load 1: neither `force` nor `torque` is given
  --> scene.toml:13:1
   |
13 | [[load]]
   | ^^^^^^^^ give force = [x, y, z], N, or torque = [x, y, z], N·m, or both
"##,
    );
}

#[test]
fn load_on_an_unknown_effector() {
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
[[load]]
effector = "tip"
force = [0, 0, 1]
"##,
        r##"
error: there is no effector `tip`
  --> scene.toml:11:12
   |
11 | effector = "tip"
   |            ^^^^^ name an effector of this file
"##,
    );
}

#[test]
fn coupling_of_a_ball() {
    expect(
        r##"[[body]]
name = "upper"
mass = 0.2
inertia = [1e-3, 1e-3, 1e-4]
[[joint]]
name = "elbow"
kind = "ball"
parent = "world"
child = "upper"
[[joint]]
name = "wrist"
kind = "hinge"
parent = "world"
child = "upper"
[[coupling]]
joint = "elbow"
of = "wrist"
"##,
        r##"
error: joint `elbow` has 3 freedoms and cannot be coupled
  --> scene.toml:16:9
   |
16 | joint = "elbow"
   |         ^^^^^^^ couplings take joints of one freedom: hinge or prismatic
"##,
    );
}

#[test]
fn target_that_does_not_increase() {
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
[[target]]
joint = "elbow"
time = [0.0, 0.0]
position = [0.0, 1.0]
"##,
        r##"
error: the times of the target of `elbow` do not increase
  --> scene.toml:12:8
   |
12 | time = [0.0, 0.0]
   |        ^^^^^^^^^^ at least one finite time, each later than the one before, s
"##,
    );
}

#[test]
fn target_of_too_few_positions() {
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
[[target]]
joint = "elbow"
time = [0.0, 1.0]
position = [0.0]
"##,
        r##"
error: the target of `elbow` has 1 positions for 2 times
  --> scene.toml:13:12
   |
13 | position = [0.0]
   |            ^^^^^ give one position for each time
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
error: imports are not supported by this version
 --> scene.toml:1:10
  |
1 | import = "hand.urdf"
  |          ^^^^^^^^^^^ write the bodies and joints into this file
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
error: joint 1: overlays with `match` are not supported by this version
 --> scene.toml:6:9
  |
6 | match = "finger_*"
  |         ^^^^^^^^^^ write each joint in full, with its name
"##,
    );
}

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
