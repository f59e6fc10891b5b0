//! Numbers of bodies and their shapes.

use super::expect;

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
  |        ^^^^^^^^ one of box, ball, capsule, cylinder, mesh, convex, heightfield, plane
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
  | ^^^^ known here: kind, position, rotation, rpy, density, friction, restitution, touches, color, radius
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
error: shape 1 of body `upper`: the volume of a mesh is not known: there is no such file
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
