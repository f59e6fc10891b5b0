//! Claim: a linkage written with few digits moves like the same with all digits, in every engine and at every step:
//! directions that loops repeat but for digits count once. A dead centre takes no closure away; axes that are tilted by
//! more than digits hold; and what is left open is reported.
//!
//! Linkages are described in a plane, turned into a direction that no digits favour, and rounded: positions, axes and
//! frames alike.

use pliant_core::engine::{Balance, Simulation, StaticsSettings, Warning};
use pliant_core::engines::Engine;
use pliant_core::joints::JointKind;
use pliant_core::mechanism::{
    Body, CouplingDescription, EffectorDescription, JointDescription, LoadDescription, Mechanism,
    MechanismBuilder, NEARLY_WITHIN, REPEATED_WITHIN, WORLD,
};
use pliant_core::nalgebra::{Quaternion, Unit, UnitQuaternion, Vector3};
use pliant_core::spatial::{Pose, SpatialInertia, Wrench};

use crate::common::FRAME;
use crate::common::counting::allocations;

/// Significant digits, and the unit of length in metres; all else in kg and s.
#[derive(Clone, Copy)]
struct Written {
    digits: i32,
    unit: f64,
    turn: UnitQuaternion<f64>,
}

impl Written {
    fn exactly(turn: UnitQuaternion<f64>) -> Written {
        Written { digits: 15, unit: 1.0, turn }
    }

    /// A point of the plane in the file's unit and digits; coordinates are below one metre.
    fn point(&self, x: f64, z: f64) -> Vector3<f64> {
        self.place(Vector3::new(x, 0.0, z))
    }

    fn place(&self, p: Vector3<f64>) -> Vector3<f64> {
        (self.turn * p).map(|x| self.round(x) / self.unit)
    }

    /// The frame of a joint with z along an axis, turned about it by an angle of its own, so that each loses other digits.
    fn frame(&self, name: &str, at: Vector3<f64>, axis: Vector3<f64>) -> Pose {
        let own: u32 = name.bytes().map(u32::from).sum();
        let frame = Pose::with_z_along(self.turn * axis, Vector3::zeros()).rotation;
        let frame = frame * UnitQuaternion::from_axis_angle(&Vector3::z_axis(), 0.7 * f64::from(own));
        Pose::new(self.rotation(frame), self.place(at))
    }

    fn round(&self, x: f64) -> f64 {
        let all = 10f64.powi(self.digits);
        (x * all).round() / all
    }

    fn rotation(&self, turn: UnitQuaternion<f64>) -> UnitQuaternion<f64> {
        let q = turn.coords.map(|x| self.round(x));
        UnitQuaternion::from_quaternion(Quaternion::from(q))
    }

    /// N·m, N·m/rad and so on in the file's units: kg·length²/s².
    fn torque(&self) -> f64 {
        self.unit.powi(-2)
    }
}

/// Adds elements of a linkage.
struct Drawing {
    written: Written,
    builder: MechanismBuilder,
}

impl Drawing {
    fn new(name: &str, written: Written) -> Drawing {
        let mut builder = MechanismBuilder::new(name);
        builder.gravity([0.0; 3]);
        Drawing { written, builder }
    }

    /// A bar between two points.
    fn bar(&mut self, name: &str, from: (f64, f64), to: (f64, f64)) -> &mut Drawing {
        let (w, along) = (self.written, (to.0 - from.0, to.1 - from.1));
        let turn = w.turn * UnitQuaternion::from_axis_angle(&Vector3::y_axis(), -along.1.atan2(along.0));
        let middle = w.point(0.5 * (from.0 + to.0), 0.5 * (from.1 + to.1));
        let length = along.0.hypot(along.1) / w.unit;
        let pose = Pose::new(w.rotation(turn), middle);
        let inertia = SpatialInertia::of_box(0.2, [length, 0.1 * length, 0.1 * length]);
        self.builder.body(Body::new(name, pose).inertia(inertia));
        self
    }

    /// A hinge, passive if its stiffness is nothing, N·m/rad.
    fn hinge(&mut self, name: &str, ends: [&str; 2], at: (f64, f64), stiffness: f64) -> &mut Drawing {
        self.hinge_about(name, ends, at, stiffness, Vector3::y())
    }

    fn hinge_about(
        &mut self,
        name: &str,
        [parent, child]: [&str; 2],
        at: (f64, f64),
        stiffness: f64,
        axis: Vector3<f64>,
    ) -> &mut Drawing {
        let (w, unit) = (self.written, self.written.torque());
        let joint = JointDescription::new(name, JointKind::Hinge, parent, child).frame(w.frame(
            name,
            Vector3::new(at.0, 0.0, at.1),
            axis,
        ));
        self.builder.joint(match stiffness {
            0.0 => joint,
            k => joint.stiffness(k * unit).damping(0.02 * k * unit),
        });
        self
    }

    /// A slide along a direction of the plane, N/m.
    fn slide(
        &mut self,
        name: &str,
        [parent, child]: [&str; 2],
        at: (f64, f64),
        along: (f64, f64),
        stiffness: f64,
    ) -> &mut Drawing {
        let w = self.written;
        let joint = JointDescription::new(name, JointKind::Prismatic, parent, child).frame(w.frame(
            name,
            Vector3::new(at.0, 0.0, at.1),
            Vector3::new(along.0, 0.0, along.1),
        ));
        self.builder.joint(match stiffness {
            0.0 => joint,
            k => joint.stiffness(k).damping(0.02 * k),
        });
        self
    }

    /// The effector, at the middle of a bar, and what pushes it, N: also out of the plane.
    fn pushed(&mut self, bar: &str, force: (f64, f64)) -> &mut Drawing {
        let w = self.written;
        let force = w.turn * Vector3::new(force.0, 0.3 * force.0.hypot(force.1), force.1) / w.unit;
        self.builder.effector(EffectorDescription {
            name: "tip".into(),
            body: bar.into(),
            frame: Pose::identity(),
        });
        self.builder
            .load(LoadDescription { effector: "tip".into(), wrench: Wrench::new(force, Vector3::zeros()) });
        self
    }

    fn build(&self) -> Mechanism {
        self.builder.clone().build().unwrap()
    }
}

type Plan = fn(Written) -> Mechanism;

fn four_bar(w: Written) -> Mechanism {
    let [A, B, C, D] = [(0.0, 0.0), (0.06, 0.08), (0.26, 0.2), (0.3, 0.0)];
    let mut d = Drawing::new("four-bar", w);
    d.bar("crank", A, B).bar("coupler", B, C).bar("rocker", D, C);
    d.hinge("A", [WORLD, "crank"], A, 20.0).hinge("B", ["crank", "coupler"], B, 0.0);
    d.hinge("D", [WORLD, "rocker"], D, 0.0).hinge("C", ["rocker", "coupler"], C, 0.0);
    d.pushed("coupler", (3.0, -20.0)).build()
}

fn slider_crank(w: Written) -> Mechanism {
    let [A, B, C] = [(0.0, 0.0), (0.05, 0.09), (0.31, 0.0)];
    let mut d = Drawing::new("slider-crank", w);
    d.bar("crank", A, B).bar("rod", B, C).bar("slider", (0.28, 0.0), (0.34, 0.0));
    d.hinge("A", [WORLD, "crank"], A, 20.0).hinge("B", ["crank", "rod"], B, 0.0);
    d.hinge("C", ["rod", "slider"], C, 0.0).slide("way", [WORLD, "slider"], C, (1.0, 0.0), 0.0);
    d.pushed("slider", (-40.0, 5.0)).build()
}

/// Boom, stick and bucket, each with a cylinder; the bucket's acts on a four-bar.
fn excavator(w: Written) -> Mechanism {
    let mut d = Drawing::new("excavator", w);
    let (A, E, F) = ((0.0, 0.1), (0.45, 0.45), (0.85, 0.1));
    d.bar("boom", A, E).hinge("A", [WORLD, "boom"], A, 0.0);
    d.bar("stick", E, F).hinge("E", ["boom", "stick"], E, 0.0);
    d.bar("bucket", F, (0.75, -0.05)).hinge("F", ["stick", "bucket"], F, 0.0);
    let mut cylinder = |name: &str, [on, of]: [&str; 2], from: (f64, f64), to: (f64, f64)| {
        let middle = (0.5 * (from.0 + to.0), 0.5 * (from.1 + to.1));
        let (tube, rod) = (format!("{name} tube"), format!("{name} rod"));
        d.bar(&tube, from, middle).bar(&rod, middle, to);
        d.hinge(&format!("{name} foot"), [on, &tube], from, 0.0);
        let along = (to.0 - from.0, to.1 - from.1);
        d.slide(&format!("{name} slide"), [&tube, &rod], middle, along, 4e4);
        d.hinge(&format!("{name} head"), [&rod, of], to, 0.0);
    };
    cylinder("boom", [WORLD, "boom"], (0.1, 0.0), (0.3, 0.28));
    cylinder("stick", ["boom", "stick"], (0.2, 0.4), (0.42, 0.53));
    // Rocker on the stick, link to the bucket.
    let (P, Q, R) = ((0.78, 0.19), (0.9, 0.22), (0.92, 0.06));
    cylinder("bucket", ["stick", "rocker"], (0.55, 0.45), Q);
    d.bar("rocker", P, Q).bar("link", Q, R);
    d.hinge("P", ["stick", "rocker"], P, 0.0).hinge("Q", ["rocker", "link"], Q, 0.0);
    d.hinge("R", ["link", "bucket"], R, 0.0);
    d.pushed("bucket", (-60.0, 100.0)).build()
}

/// Two fingers of five bars, driven through a mirrored coupling.
fn fingers(w: Written) -> Mechanism {
    let mut d = Drawing::new("2F-85", w);
    for (side, s) in [("left", -1.0), ("right", 1.0)] {
        let at = |x: f64, z: f64| (s * x, z);
        let name = |part: &str| format!("{side} {part}");
        let (driver, coupler, follower, spring) =
            (name("driver"), name("coupler"), name("follower"), name("spring"));
        let [A, B, C, D, E] = [
            at(0.0306, 0.0548),
            at(0.0621, 0.0535),
            at(0.0574, 0.0909),
            at(0.0127, 0.0614),
            at(0.0373, 0.1044),
        ];
        d.bar(&driver, A, B).bar(&coupler, B, C).bar(&follower, C, E).bar(&spring, D, E);
        d.hinge(&driver, [WORLD, &driver], A, 2.0).hinge(&coupler, [&driver, &coupler], B, 5.0);
        d.hinge(&follower, [&coupler, &follower], C, 0.0).hinge(&spring, [WORLD, &spring], D, 0.5);
        d.hinge(&name("closing"), [&spring, &follower], E, 0.0);
    }
    d.builder.coupling(CouplingDescription {
        joint: "right driver".into(),
        of: "left driver".into(),
        ratio: -1.0,
        offset: 0.0,
    });
    d.pushed("left follower", (-5.0, 2.0)).build()
}

/// A table on parallel legs of one length: all but two of them repeat each other in the plane, too.
fn legs(w: Written, feet: &[f64]) -> Mechanism {
    let mut d = Drawing::new("legs", w);
    let last = feet[feet.len() - 1] + 0.071;
    for (i, &x) in feet.iter().enumerate() {
        let leg = format!("leg {i}");
        d.bar(&leg, (x, 0.0), (x + 0.071, 0.303));
        d.hinge(&format!("foot {i}"), [WORLD, &leg], (x, 0.0), if i == 0 { 10.0 } else { 0.0 });
    }
    d.bar("top", (0.0, 0.303), (last, 0.303));
    for (i, &x) in feet.iter().enumerate() {
        d.hinge(&format!("head {i}"), [&format!("leg {i}"), "top"], (x + 0.071, 0.303), 0.0);
    }
    d.pushed("top", (8.0, 0.0)).build()
}

fn three_legs(w: Written) -> Mechanism {
    legs(w, &[0.0, 0.217, 0.4])
}

/// A polygon of six bars, sprung but for two hinges of the chain and the one that closes it.
fn polygon(w: Written) -> Mechanism {
    let corners = [(0.0, 0.0), (0.1, 0.21), (0.32, 0.33), (0.57, 0.29), (0.71, 0.12), (0.64, -0.05)];
    polygon_of(&corners, w)
}

fn polygon_of(corners: &[(f64, f64)], w: Written) -> Mechanism {
    let mut d = Drawing::new("polygon", w);
    let (name, bars) = (|i: usize| format!("bar {i}"), corners.len() - 1);
    for i in 0..bars {
        d.bar(&name(i), corners[i], corners[i + 1]);
        let parent = if i == 0 { WORLD.into() } else { name(i - 1) };
        d.hinge(
            &format!("hinge {i}"),
            [&parent, &name(i)],
            corners[i],
            if i + 2 < bars { 15.0 } else { 0.0 },
        );
    }
    // The last bar hangs on the world and closes the loop.
    d.bar("last", (0.8, 0.0), corners[bars]).hinge("last", [WORLD, "last"], (0.8, 0.0), 3.0);
    d.hinge("closing", ["last", &name(bars - 1)], corners[bars], 0.0);
    d.pushed(&name(bars / 2), (4.0, -12.0)).build()
}

/// Bars in a ring between hinges (point, axis), the first sprung; the world is the last bar. What is pushed is in the middle.
fn ring(name: &str, w: Written, lines: &[(Vector3<f64>, Vector3<f64>)], force: Vector3<f64>) -> Mechanism {
    let mut d = Drawing::new(name, w);
    let bar = |i: usize| format!("bar {i}");
    for i in 0..lines.len() - 1 {
        let middle = w.place((lines[i].0 + lines[i + 1].0) * 0.5);
        let inertia = SpatialInertia::of_box(0.2, [0.1 / w.unit; 3]);
        d.builder.body(Body::new(bar(i), Pose::new(w.rotation(w.turn), middle)).inertia(inertia));
    }
    for (i, (point, axis)) in lines.iter().enumerate() {
        let parent = if i == 0 || i + 1 == lines.len() { WORLD.into() } else { bar(i - 1) };
        let child = bar(i.min(lines.len() - 2));
        let name = format!("hinge {i}");
        let frame = w.frame(&name, *point, *axis);
        let joint = JointDescription::new(name, JointKind::Hinge, parent, child).frame(frame);
        d.builder.joint(match i {
            0 => joint.stiffness(20.0 * w.torque()).damping(0.4 * w.torque()),
            _ => joint,
        });
    }
    let effector =
        EffectorDescription { name: "tip".into(), body: bar(lines.len() / 2 - 1), frame: Pose::identity() };
    d.builder.effector(effector);
    let wrench = Wrench::new(w.turn * force / w.unit, Vector3::zeros());
    d.builder.load(LoadDescription { effector: "tip".into(), wrench });
    d.build()
}

/// Axes that meet in a point: three of the five rows repeat the others, each a length with an angle.
fn spherical(w: Written) -> Mechanism {
    let axes = [(0.1, 0.2, 0.9), (0.6, -0.1, 0.8), (0.7, 0.6, 0.5), (-0.1, 0.7, 0.6)];
    let lines = axes.map(|(x, y, z)| {
        let axis = Vector3::new(x, y, z).normalize();
        (axis * 0.3, axis)
    });
    ring("spherical", w, &lines, Vector3::new(10.0, -5.0, 8.0))
}

/// Two legs of three parallel hinges each: the top goes straight up.
fn sarrus(w: Written) -> Mechanism {
    let [x, y] = [Vector3::x(), Vector3::y()];
    let lines = [
        (Vector3::new(0.0, 0.2, 0.0), x),
        (Vector3::new(0.0, 0.33, 0.12), x),
        (Vector3::new(0.0, 0.2, 0.25), x),
        (Vector3::new(0.2, 0.0, 0.25), y),
        (Vector3::new(0.31, 0.0, 0.13), y),
        (Vector3::new(0.2, 0.0, 0.0), y),
    ];
    ring("Sarrus", w, &lines, Vector3::new(2.0, 3.0, -20.0))
}

/// Bennett's four bars: opposite ones alike, sin α/a = sin β/b. Three of five rows repeat the others, in directions that
/// turn with the pose.
fn bennett(w: Written) -> Mechanism {
    let (a, b, alpha) = (0.3, 0.4, 0.5f64);
    let beta = (alpha.sin() * b / a).asin();
    let first = 1.1f64;
    let factor = (0.5 * (beta + alpha)).sin() / (0.5 * (beta - alpha)).sin();
    let second = 2.0 * (factor / (0.5 * first).tan()).atan();
    let turn = |axis: Unit<Vector3<f64>>, angle: f64| {
        Pose::new(UnitQuaternion::from_axis_angle(&axis, angle), Vector3::zeros())
    };
    let mut at = Pose::identity();
    let mut lines = Vec::new();
    for (angle, length, twist) in
        [(first, a, alpha), (second, b, beta), (-first, a, alpha), (-second, b, beta)]
    {
        lines.push((at.position, at.rotation * Vector3::z()));
        at = at
            * turn(Vector3::z_axis(), angle)
            * Pose::translation([length, 0.0, 0.0])
            * turn(Vector3::x_axis(), twist);
    }
    assert!(at.position.norm() < 1e-14 && at.rotation.angle() < 1e-14, "it closes: {at:?}");
    ring("Bennett", w, &lines, Vector3::new(5.0, -8.0, 12.0))
}

const PLANS: [(&str, Plan); 9] = [
    ("four-bar", four_bar),
    ("slider-crank", slider_crank),
    ("excavator", excavator),
    ("2F-85", fingers),
    ("three legs", three_legs),
    ("polygon", polygon),
    ("spherical", spherical),
    ("Sarrus", sarrus),
    ("Bennett", bennett),
];

fn turns() -> [UnitQuaternion<f64>; 2] {
    let axis = |x: f64, y: f64, z: f64| Unit::new_normalize(Vector3::new(x, y, z));
    [
        UnitQuaternion::from_axis_angle(&axis(0.3, 0.5, -0.8), 1.234_567),
        UnitQuaternion::from_axis_angle(&axis(-0.7, 0.2, 0.4), 2.345_678),
    ]
}

/// How far the effector moves, in metres: in an equilibrium, or in 0.2 s with a step.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Run {
    Statics,
    Steps(Engine, f64),
}

fn runs() -> [Run; 8] {
    [
        Run::Statics,
        Run::Steps(Engine::Full, FRAME),
        Run::Steps(Engine::Full, 1.0 / 240.0),
        Run::Steps(Engine::Full, 1e-3),
        Run::Steps(Engine::Articulated, FRAME),
        Run::Steps(Engine::Articulated, 1.0 / 240.0),
        Run::Steps(Engine::Reduced, 1.0 / 240.0),
        Run::Steps(Engine::Linear, 1.0 / 240.0),
    ]
}

fn moved(mechanism: &Mechanism, written: &Written, run: Run) -> Result<Vector3<f64>, String> {
    let engine = if let Run::Steps(engine, _) = run { engine } else { Engine::Full };
    let mut simulation: Box<dyn Simulation> = engine.simulate(mechanism).map_err(|e| e.to_string())?;
    simulation.inputs_mut().add_scene_loads();
    let tip = simulation.effector("tip").unwrap();
    let before = simulation.effector_pose(tip).unwrap().position;
    match run {
        Run::Statics => {
            let found = simulation.settle(&StaticsSettings::default()).map_err(|e| e.to_string())?;
            if !found.converged {
                return Err(format!("{found:?}"));
            }
        }
        Run::Steps(_, h) => {
            for _ in 0..(0.2 / h).round() as usize {
                simulation.step(h).map_err(|e| e.to_string())?;
            }
        }
    }
    Ok((simulation.effector_pose(tip).unwrap().position - before) * written.unit)
}

#[test]
fn few_digits_move_like_all_digits() {
    let mut ran = 0;
    let mut bad = Vec::new();
    for (name, plan) in PLANS {
        for turn in turns() {
            let exact = Written::exactly(turn);
            let all = plan(exact);
            for run in runs() {
                let expected = moved(&all, &exact, run).unwrap();
                let mut line = String::new();
                for unit in [1.0, 1e-3] {
                    for digits in [4, 5, 6, 7, 8, 9, 10, 12, 15] {
                        let written = Written { digits, unit, turn };
                        let off = match moved(&plan(written), &written, run) {
                            Ok(got) => (got - expected).norm() / expected.norm(),
                            Err(error) => {
                                bad.push(format!("{name} {run:?} {digits}: {error}"));
                                f64::INFINITY
                            }
                        };
                        line += &format!(" {off:7.1e}");
                        // In proportion to the digits lost, by levers of up to 50. In other units `full` takes other steps where it
                        // looks for tension, N or N·m: up to 3e-5 of a motion at 1/60 s.
                        let full = matches!(run, Run::Steps(Engine::Full, _));
                        let floor = if unit != 1.0 && full { 1e-4 } else { 1e-8 };
                        let allowed = 100.0 * 10f64.powi(-digits) + floor;
                        if off > allowed {
                            bad.push(format!("{name} {run:?} unit {unit} digits {digits}: {off:e}"));
                        }
                        ran += 1;
                    }
                }
                println!("{name:12} {:44} {:.2e}{line}", format!("{run:?}"), expected.norm());
            }
        }
    }
    assert!(bad.is_empty(), "{} of {ran}:\n{}", bad.len(), bad.join("\n"));
    assert_eq!(ran, 9 * 2 * 8 * 2 * 9);
}

/// What each linkage repeats, whatever its digits and its unit: the count of rows less that of the motions they leave.
#[test]
fn what_is_repeated_does_not_depend_on_digits() {
    for (name, plan) in PLANS {
        for turn in turns() {
            let count = |written: Written| -> Vec<usize> {
                plan(written).repeated().iter().map(|repeated| repeated.directions).collect()
            };
            let expected = count(Written::exactly(turn));
            println!("{name}: {expected:?}");
            let known: &[usize] = match name {
                "excavator" => &[3, 3, 3, 3],
                "2F-85" => &[3, 3],
                "three legs" => &[3, 4],
                "Sarrus" => &[1],
                _ => &[3],
            };
            let mut sorted = expected.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, known, "{name}");
            for unit in [1.0, 1e-3, 1e3] {
                for digits in 4..16 {
                    assert_eq!(count(Written { digits, unit, turn }), expected, "{name} {digits} {unit}");
                }
            }
        }
    }
}

/// Loops of which more share joints than are looked at together: every leg beyond the second repeats all but one direction, whatever the digits;
/// so the table moves as with all digits.
#[test]
fn many_legs_repeat_each_other() {
    let turn = turns()[0];
    for count in [5, 16, 17, 20, 40] {
        let feet: Vec<f64> = (0..count).map(|i| 0.0917 * f64::from(i)).collect();
        let exact = Written::exactly(turn);
        let expected: Vec<_> = runs().map(|run| moved(&legs(exact, &feet), &exact, run)).into();
        for digits in [4, 5, 6, 9, 15] {
            let written = Written { digits, unit: 1.0, turn };
            let table = legs(written, &feet);
            let directions: usize = table.repeated().iter().map(|repeated| repeated.directions).sum();
            assert_eq!(directions, 3 + 4 * (feet.len() - 2), "{count} legs, {digits} digits");
            assert_eq!(table.loops_passed_over(), 0);
            for (run, expected) in runs().into_iter().zip(&expected) {
                let expected = expected.as_ref().unwrap_or_else(|e| panic!("{count} legs, {run:?}: {e}"));
                let got = moved(&table, &written, run);
                let got = got.unwrap_or_else(|e| panic!("{count} legs, {digits} digits, {run:?}: {e}"));
                let off = (got - expected).norm() / expected.norm();
                // As in the test of all linkages; the levers of a table are its legs'.
                assert!(
                    off < 100.0 * 10f64.powi(-digits) + 1e-8,
                    "{count} legs, {digits} digits, {run:?}: {off:e}"
                );
            }
        }
    }
}

/// What is left open is reported: nothing with all digits, and with few in proportion to them.
#[test]
fn gaps_are_told() {
    for (name, plan) in PLANS {
        let gap = |digits| {
            let mechanism = plan(Written { digits, unit: 1.0, turn: turns()[0] });
            mechanism.repeated().iter().fold([0.0f64; 2], |[m, rad], r| [m.max(r.gap[0]), rad.max(r.gap[1])])
        };
        println!("{name}: {:?} {:?} {:?}", gap(4), gap(6), gap(15));
        for digits in [4, 6, 9] {
            let [m, rad] = gap(digits);
            // A quarter of a radian, times the digits that several axes have lost.
            let most = 10f64.powi(-digits);
            assert!(m < most && rad < most && m + rad > 1e-3 * most, "{name} {digits}: {m:e} {rad:e}");
        }
        assert_eq!(gap(15), [0.0; 2], "{name}");
    }
}

/// Crossed bars in a row of cells, of which the first stands on the world by a hinge and a slide.
fn lazy_tongs(w: Written, cells: usize) -> Mechanism {
    tongs(w, cells, 4.0 * cells as f64, 0.0)
}

/// The same on a spring of its own, N·m/rad, in gravity along the row.
fn tongs(w: Written, cells: usize, stiffness: f64, gravity: f64) -> Mechanism {
    let mut d = Drawing::new("lazy tongs", w);
    d.builder.gravity([0.0, 0.0, -gravity]);
    let (x, z) = (0.07, 0.5 / cells as f64);
    let at = |i: usize| z * i as f64;
    for i in 0..cells {
        d.bar(&format!("a {i}"), (0.0, at(i)), (x, at(i + 1))).bar(
            &format!("b {i}"),
            (x, at(i)),
            (0.0, at(i + 1)),
        );
    }
    d.bar("foot", (x, 0.0), (x + 0.01, 0.0)).slide("slide", [WORLD, "foot"], (x, 0.0), (1.0, 0.0), 0.0);
    d.hinge("root", [WORLD, "a 0"], (0.0, 0.0), stiffness).hinge("on foot", ["foot", "b 0"], (x, 0.0), 0.0);
    for i in 0..cells {
        let [a, b] = [format!("a {i}"), format!("b {i}")];
        d.hinge(&format!("middle {i}"), [&a, &b], (0.5 * x, at(i) + 0.5 * z), 0.0);
        if i + 1 < cells {
            d.hinge(&format!("left {i}"), [&b, &format!("a {}", i + 1)], (0.0, at(i + 1)), 0.0);
            d.hinge(&format!("right {i}"), [&a, &format!("b {}", i + 1)], (x, at(i + 1)), 0.0);
        }
    }
    d.pushed(&format!("a {}", cells - 1), (0.05, 0.2)).build()
}

/// Tongs that fall fold flat, where the rows of their loops depend on each other, and on through that: `articulated` takes every step, its loops stay
/// closed and it gains no energy.
#[test]
fn tongs_fold_flat_and_on() {
    let (mut folded, mut most) = (0, 0);
    for cells in [2, 3, 6] {
        for dt in [FRAME, 1.0 / 240.0, 1e-3] {
            let mechanism = tongs(Written::exactly(UnitQuaternion::identity()), cells, 0.2, 9.81);
            let mut simulation = Engine::Articulated.simulate(&mechanism).unwrap();
            let mut balance = Balance::new(&mut *simulation).unwrap();
            let tip = simulation.effector("tip").unwrap();
            let height = simulation.effector_pose(tip).unwrap().position.z;
            for step in 1..=(0.5 / dt) as usize {
                let taken =
                    || simulation.step(dt).unwrap_or_else(|error| panic!("{cells} cells, {dt}: {error}"));
                // The name of a joint that an attempt tears, once for each length of pieces, 1 to 1/64; no state of seven lists.
                let count = allocations(taken);
                most = most.max(count);
                assert!(count <= 7, "{cells} cells, {dt}, {step}: {count}");
                assert!(
                    simulation.violation() < 1e-2,
                    "{cells} cells, {dt}, {step}: {}",
                    simulation.violation()
                );
                assert_eq!(balance.look(&mut *simulation), None, "{cells} cells, {dt}");
            }
            assert_eq!(simulation.steps(), (0.5 / dt) as u64);
            let end = simulation.effector_pose(tip).unwrap().position.z;
            println!("{cells} cells, {dt:.4}: {height:.3} to {end:.3}");
            folded += usize::from(end < 0.0);
        }
    }
    println!("at most {most} allocations in a step");
    assert!(folded > 0);
}

/// With three digits some closures are repeated to within the tolerance and some are not, and what is left of these locks or stiffens a linkage: that
/// is warned of, with how near they are; and not with more digits, in which linkages move as with all.
#[test]
fn closures_in_doubt_are_warned_of() {
    let tongs: [(&str, Plan); 3] = [
        ("lazy tongs 2", |w| lazy_tongs(w, 2)),
        ("lazy tongs 6", |w| lazy_tongs(w, 6)),
        ("lazy tongs 20", |w| lazy_tongs(w, 20)),
    ];
    let (mut wrong, mut warned, mut right) = (Vec::new(), 0, 0);
    for (name, plan) in PLANS.into_iter().chain(tongs) {
        for turn in turns() {
            let exact = Written::exactly(turn);
            let expected = moved(&plan(exact), &exact, Run::Statics).unwrap();
            for digits in [3, 4, 5, 6, 15] {
                let written = Written { digits, ..exact };
                let mechanism = plan(written);
                let off = moved(&mechanism, &written, Run::Statics)
                    .map_or(f64::INFINITY, |got| (got - expected).norm() / expected.norm());
                let warning = Warning::of_closures(&mechanism);
                println!("{name} {digits}: {off:.1e}, {warning:?}");
                if let Some(Warning { measure, .. }) = &warning {
                    assert!(
                        digits == 3 && (REPEATED_WITHIN..NEARLY_WITHIN).contains(measure),
                        "{name} {digits}: {measure}"
                    );
                    warned += 1;
                } else if off > 0.1 {
                    wrong.push(format!("{name} {digits}: {off:.2} in silence"));
                } else {
                    right += 1;
                }
            }
        }
    }
    println!("{warned} warned of, {right} right");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(warned >= 10 && right >= 96, "{warned} warned of, {right} right");
}

/// Bars in line: the rows of the loop depend on each other in this pose, and in no other.
#[test]
fn a_dead_centre_takes_no_closure_away() {
    for off in [0.0, 1e-9, 1e-6, 1e-4, 1e-3] {
        for turn in turns() {
            for digits in [4, 6, 9, 15] {
                // Crank and coupler in line, and a parallelogram laid flat.
                for corners in [
                    [(0.0, 0.0), (0.1, off), (0.3, 0.0), (0.35, -0.25)],
                    [(0.0, 0.0), (0.1, off), (0.4, off), (0.3, 0.0)],
                ] {
                    let [A, B, C, D] = corners;
                    let mut d = Drawing::new("in line", Written { digits, unit: 1.0, turn });
                    d.bar("crank", A, B).bar("coupler", B, C).bar("rocker", D, C);
                    d.hinge("A", [WORLD, "crank"], A, 20.0).hinge("B", ["crank", "coupler"], B, 0.0);
                    d.hinge("D", [WORLD, "rocker"], D, 0.0).hinge("C", ["rocker", "coupler"], C, 0.0);
                    let mechanism = d.build();
                    let directions: Vec<usize> = mechanism.repeated().iter().map(|r| r.directions).collect();
                    assert_eq!(directions, [3], "{off} {digits} {corners:?}");
                }
            }
        }
    }
}

/// A four-bar with one axis tilted by more than files round: it is locked, in every engine that looks at loops.
#[test]
fn tilted_axes_hold() {
    let turn = turns()[0];
    let tilted = |tilt: f64| {
        let [A, B, C, D] = [(0.0, 0.0), (0.06, 0.08), (0.26, 0.2), (0.3, 0.0)];
        let mut d = Drawing::new("four-bar", Written::exactly(turn));
        d.bar("crank", A, B).bar("coupler", B, C).bar("rocker", D, C);
        let axis = Vector3::new(tilt, 1.0, 0.5 * tilt);
        d.hinge_about("A", [WORLD, "crank"], A, 20.0, axis).hinge("B", ["crank", "coupler"], B, 0.0);
        d.hinge("D", [WORLD, "rocker"], D, 0.0);
        d.hinge("C", ["rocker", "coupler"], C, 0.0);
        d.pushed("coupler", (3.0, -20.0)).build()
    };
    let written = Written::exactly(turn);
    for run in runs() {
        let free = moved(&tilted(0.0), &written, run).unwrap().norm();
        for tilt in [1e-5, 1e-4, 3e-4, 1.5e-3, 3e-3, 1e-2, 0.1, 1.0] {
            let mechanism = tilted(tilt);
            let count: usize = mechanism.repeated().iter().map(|r| r.directions).sum();
            assert!(if tilt < 5e-4 { count == 3 } else { count < 3 }, "{tilt}: {count}");
            match moved(&mechanism, &written, run) {
                Ok(moved) => {
                    let part = moved.norm() / free;
                    println!("{tilt} {run:?}: {part:.1e}");
                    // Rows of `full` are soft against change: at the least tilt that holds, 2e-3 of the motion in 0.2 s.
                    let right = if tilt < 5e-4 { (part - 1.0).abs() < 3.0 * tilt } else { part < 5e-3 };
                    assert!(right, "{tilt} {run:?}: {part}");
                }
                Err(error) => assert!(tilt > 5e-4 && error.contains("cannot move: loops"), "{tilt}: {error}"),
            }
        }
    }
}

/// Random polygons in random planes, of four to eight bars.
#[test]
fn random_loops_move_like_all_digits() {
    // A sequence that fills the unit interval evenly.
    let mut k = 0.0;
    let mut any = |low: f64, high: f64| {
        k += 1.0;
        low + (high - low) * f64::fract(k * 0.618_033_988_749_894_9 + k * k * 0.414_213_562_373_095)
    };
    let (mut ran, mut worst) = (0, 0.0f64);
    for i in 0..30 {
        let bars = 3 + i % 5;
        let mut corners = vec![(0.0, 0.0)];
        for c in 1..bars {
            corners.push((0.7 * c as f64 / bars as f64 + any(-0.05, 0.05), any(0.1, 0.3)));
        }
        corners.push((0.7 + any(-0.05, 0.05), any(0.15, 0.25)));
        let turn = UnitQuaternion::from_euler_angles(any(-3.0, 3.0), any(-1.5, 1.5), any(-3.0, 3.0));
        let exact = Written::exactly(turn);
        for run in [Run::Statics, Run::Steps(Engine::Full, 1e-3), Run::Steps(Engine::Articulated, FRAME)] {
            let Ok(expected) = moved(&polygon_of(&corners, exact), &exact, run) else { continue };
            for digits in [4, 6, 8, 9] {
                let written = Written { digits, ..exact };
                let mechanism = polygon_of(&corners, written);
                assert_eq!(mechanism.repeated()[0].directions, 3, "{i} {digits}: {corners:?}");
                let got = moved(&mechanism, &written, run).unwrap_or_else(|e| panic!("{i} {digits}: {e}"));
                let off = (got - expected).norm() / expected.norm();
                worst = worst.max(off * 10f64.powi(digits));
                // As above.
                assert!(off < 100.0 * 10f64.powi(-digits), "{i} {run:?} {digits}: {off:e}, {corners:?}");
                ran += 1;
            }
        }
    }
    println!("{ran} runs, at most {worst:.1} of the last digit");
    assert_eq!(ran, 360, "runs");
}
