//! What several test files need: random numbers, the bits of a mechanism as text, and a scene that
//! uses every key.

use std::fmt::Write as _;

use pliant_core::mechanism::Mechanism;
use pliant_core::nalgebra::Vector3;
use pliant_core::spatial::Pose;

/// A small seeded generator (SplitMix64).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }

    /// A whole number below a bound, which is not zero.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    /// Between 0 and 1.
    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    pub fn direction(&mut self) -> Vector3<f64> {
        Vector3::from_fn(|_, _| self.between(-1.0, 1.0)).normalize()
    }

    /// A turn of up to 3 rad and a way of this length.
    pub fn pose(&mut self, size: f64) -> Pose {
        let turn = Pose::rotation(self.direction().into(), self.between(-3.0, 3.0));
        Pose::translation((self.direction() * size).into()) * turn
    }

    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// A finite number of any size, often a special one.
    pub fn number(&mut self) -> f64 {
        match self.below(8) {
            0 => 0.0,
            1 => -0.0,
            2 => 1.0,
            3 => (self.unit() - 0.5) * 10f64.powi(self.below(600) as i32 - 300),
            _ => 2.0 * self.unit() - 1.0,
        }
    }

    /// A number of ordinary size above zero.
    pub fn positive(&mut self) -> f64 {
        (self.unit() + 0.01) * 10f64.powi(self.below(7) as i32 - 3)
    }
}

/// Everything a mechanism was made of, every number to its last bit: `PartialEq` would take q and −q,
/// or 0 and −0, for the same.
pub fn bits(mechanism: &Mechanism) -> String {
    let mut text = String::new();
    writeln!(text, "{:?} {:?}", mechanism.name(), mechanism.gravity()).unwrap();
    writeln!(text, "{:?}", mechanism.world_shapes()).unwrap();
    writeln!(text, "{:?}", mechanism.bodies()).unwrap();
    writeln!(text, "{:?}", mechanism.joints()).unwrap();
    writeln!(text, "{:?}", mechanism.start()).unwrap();
    writeln!(text, "{:?}", mechanism.effectors()).unwrap();
    writeln!(text, "{:?}", mechanism.couplings()).unwrap();
    writeln!(text, "{:?}", mechanism.loads()).unwrap();
    writeln!(text, "{:?}", mechanism.targets()).unwrap();
    writeln!(text, "{:?}", mechanism.springs()).unwrap();
    text
}

/// Reading what is written gives the same mechanism, and writing that the same text.
#[track_caller]
pub fn assert_round_trip(mechanism: &Mechanism) {
    let text = pliant_io::scene::write(mechanism);
    let again = pliant_io::scene::read(&text, "again.toml").unwrap_or_else(|e| panic!("{e}\n\n{text}"));
    assert_eq!(bits(mechanism), bits(&again), "\n{text}");
    assert_eq!(text, pliant_io::scene::write(&again));
}

/// A scene that uses every key.
pub const EVERY_KEY: &str = r##"
[mechanism]
name = "every key: \"quoted\", tab \t, \u00e9, \\"
gravity = [0, 0.5, -1.62]

[[world.shape]]
kind = "heightfield"
size = [2, 3.0]
heights = [[0.0, 0.1, 0], [0.0, -0.0, 1e-5]]
friction = 0.5
[[world.shape]]
kind = "box"
size = [10, 10, 1]
position = [0, 0, -0.5]

[[body]]
name = "base"
free = true
position = [0.1, -0.0, 1e-7]
rpy = [0.1, -0.2, 3.0]
mass = 2
center_of_mass = [0, 0, 0.01]
inertia = [0.02, 0.03, 0.04, 1e-3, -1e-3, 2e-4]
[[body.shape]]
kind = "mesh"
file = "parts/base.stl"
scale = 0.001
[[body.shape]]
kind = "convex"
file = "parts/base hull.stl"
scale = [1, 2, 3]
rotation = [0.7071068, 0, 0.7071068, 0]
friction = 0

[[body]]
name = "upper"
rotation = [0.5, -0.5, 0.5, -0.5]
[[body.shape]]
kind = "capsule"
radius = 0.01
half_length = 0.05
rpy = [0, 1.5, 0]
density = 1000
friction = 0.8
[[body.shape]]
kind = "cylinder"
radius = 0.02
half_length = [0.03]
position = [0, 0.1, 0.05]
rotation = [0.6, 0, 0.8, 0]
density = 2700.0
[[body.shape]]
kind = "ball"
radius = 0.1

[[body]]
name = "massless"

[[body]]
name = "lower"
mass = 0x10
inertia = [1e-3, 1e-3, 1e-4]

[[joint]]
name = "hip"
kind = "hinge"
parent = "base"
child = "upper"
position = [0, 0, 1]
axis = [0, 3, 4]
stiffness = 1000.0
damping = 1
limits = [-1.5, inf]
rest = 0.1
armature = 1e-5

[[joint]]
name = "weld"
kind = "fixed"
parent = "upper"
child = "massless"

[[joint]]
name = "knee"
kind = "bushing"
parent = "massless"
child = "lower"
rpy = [0, 0, 1]
compliance = [1e-3, 1e-3, 2e-3, 0.5, 0.5, 0.25]
damping = [1, 2, 3, 4, 5, 6]
limits = [[-1, 1], [-2, 2], [-inf, 3], [-4, inf], [-inf, inf], [0, 0]]
rest = [0, 0, 0, 0, -0.0, 1]
armature = [0.1]

[[joint]]
name = "loop"
kind = "prismatic"
parent = "world"
child = "lower"
rotation = [0, 1, 0, 0]

[[joint]]
name = "follower"
kind = "hinge"
parent = "base"
child = "lower"
compliance = 0.001
limits = [[-1, 1]]

[[body]]
name = "nut"
mass = 0.1
inertia = [1e-4, 1e-4, 1e-4]
[[joint]]
name = "thread"
kind = "expression"
parent = "base"
child = "nut"
lengths = ["s"]
angles = ["a", "b"]
parameters = { lead = 0.01, points = [[0, 0, 0], [0.1, 0, -0.0], [0.2, 0.1, 0]] }
transform = """
# along a curve, round its tangent
let c = bezier(0.5 + s, points);
translate(c) * rotate_x(a) * translate([lead * a, 0, 0]) * rotate_y(b)
"""
stiffness = [10, 2, 2]
[[body]]
name = "ring"
mass = 0.1
inertia = [1e-4, 1e-4, 1e-4]
[[joint]]
name = "chain"
kind = "expression"
parent = "nut"
child = "ring"
ready = "torus-torus"
parameters = { ring1 = 0.2, tube1 = 0.05, ring2 = 0.15, tube2 = 4e-2 }
limits = [[-1, 1], [-1, 1], [-1, 1], [-inf, inf]]

[[effector]]
name = "tip"
body = "lower"
position = [0, 0, 0.05]
rpy = [0.1, 0.2, 0.3]
[[effector]]
name = "heel"
body = "base"

[[coupling]]
joint = "follower"
of = "hip"
ratio = -2
offset = 0.25
[[coupling]]
joint = "hip"
of = "loop"

[[load]]
effector = "tip"
force = [0, 0, -100]
torque = [1, 0, 0]
[[load]]
effector = "heel"
torque = [0, -0.0, 0]

[[target]]
joint = "hip"
time = [0, 0.5]
position = [0, [0.3]]
[[target]]
joint = "knee"
time = [1]
position = [[1, 2, 3, 4, 5, 6]]

[[spring]]
name = "hook"
body = "lower"
position = [0.1, 0.0, -0.0]
rpy = [0.1, 0.2, 0.3]
point = [1, 2.5, -0.0]
stiffness = 50
turning_stiffness = 0.1
damping = 2
turning_damping = 1e-3
[[spring]]
name = "lead"
effector = "tip"
time = [0, 0.1, 0.3]
point = [[0, 0, 0], [0.1, 0.2, 0.3], [0, 0, 1]]
stiffness = 7.5
[[spring]]
name = "between"
body = "lower"
rotation = [0.5, -0.5, 0.5, -0.5]
to = "base"
point = [0.3, 0.1, 0.2]
damping = 3
"##;
