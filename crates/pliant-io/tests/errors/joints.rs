//! Springs, limits and frames of joints; effectors, loads, couplings and targets.

use super::expect;

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
error: the target of `elbow` has 1 position for 2 times
  --> scene.toml:13:12
   |
13 | position = [0.0]
   |            ^^^^^ give one position for each time
"##,
    );
}
