//! Claim: links of mechanisms that are fast pass through nothing of a millimetre or more, and enter it by no more than half a millimetre, as
//! loose bodies do; every step is taken.

use nalgebra::Vector3;
use pliant_core::contact::{SimulationId, World};
use pliant_core::engine::{Simulation, State, StepError};
use pliant_core::engines::Engine;
use pliant_core::joints::JointKind;
use pliant_core::mechanism::{Body, Geometry, JointDescription, Mechanism, MechanismBuilder, Shape, WORLD};
use pliant_core::nalgebra;
use pliant_core::spatial::{Pose, SpatialInertia, Twist};

use crate::common::forest::Numbers;

const ENGINES: [Engine; 2] = [Engine::Full, Engine::Articulated];
const FRAME: f64 = 1.0 / 60.0;

fn solid(kind: usize, size: f64) -> Shape {
    let geometry = match kind % 3 {
        0 => Geometry::Box { size: Vector3::new(1.0, 0.3, 0.2) * size },
        1 => Geometry::Capsule { radius: 0.1 * size, half_length: 0.4 * size },
        _ => Geometry::Cylinder { radius: 0.2 * size, half_length: 0.3 * size },
    };
    let turn = if kind.is_multiple_of(3) { Pose::identity() } else { Pose::rotation([0.0, 1.0, 0.0], 1.57) };
    Shape::new(geometry).at(turn)
}

/// Two or three links of a size in a row, on springs: on a free base, or hanging on a hinge at the origin.
fn links(seed: usize, size: f64, is_free: bool) -> Mechanism {
    let mut builder = MechanismBuilder::new(format!("links {seed}"));
    let kinds = [JointKind::Hinge, JointKind::Ball, JointKind::Universal];
    for i in 0..2 + seed % 2 {
        let name = format!("link{i}");
        let body = Body::new(&name, Pose::translation([(i as f64 + 0.5) * 1.2 * size, 0.0, 0.0]))
            .inertia(SpatialInertia::of_box(1.0, [size, 0.3 * size, 0.3 * size]))
            .shape(solid(seed + i, size));
        builder.body(if i == 0 && is_free { body.free() } else { body });
        if i > 0 || !is_free {
            let parent = if i == 0 { WORLD.to_string() } else { format!("link{}", i - 1) };
            let kind = if i == 0 { JointKind::Hinge } else { kinds[seed % 3].clone() };
            let joint = JointDescription::new(format!("joint{i}"), kind, parent, &name)
                .axis([i as f64 * 1.2 * size, 0.0, 0.0].into(), [0.0, 1.0, 0.0].into());
            let stiffness = if i == 0 { 0.0 } else { 200.0 * size * size };
            builder.joint(joint.stiffness(stiffness).damping(0.02 * stiffness));
        }
    }
    builder.build().unwrap()
}

/// All links move as one body that is at a pose and turns with w about a point.
fn place(
    simulation: &mut dyn Simulation,
    motion: &Pose,
    v: Vector3<f64>,
    w: Vector3<f64>,
    about: Vector3<f64>,
) {
    let mut state: State = simulation.state().clone();
    for (pose, twist) in state.poses.iter_mut().zip(&mut state.twists) {
        *pose = *motion * *pose;
        let R = pose.rotation.inverse();
        *twist = Twist::new(R * (v + w.cross(&(pose.position - about))), R * w);
    }
    state.private.clear();
    simulation.set_state(&state).unwrap();
}

/// What came of a run: the deepest overlap, m; in how many steps something pushed; whether the depth was warned of.
struct Outcome {
    depth: f64,
    touched: usize,
    warned: bool,
}

/// None where the engine reports that it cannot take a step.
fn run(world: &mut World, steps: usize) -> Option<Outcome> {
    let (mut depth, mut touched) = (0.0f64, 0);
    for _ in 0..steps {
        match world.step(FRAME) {
            Ok(report) => {
                depth = depth.max(report.penetration);
                touched += report.pushing.min(1);
            }
            Err(StepError::Torn { .. } | StepError::NotFinite { .. }) => return None,
            Err(error) => panic!("{error}"),
        }
    }
    let warned = world.warnings().iter().any(|warning| warning.kind == "deep overlap");
    Some(Outcome { depth, touched, warned })
}

/// Of all runs: those that touched, those deeper than half a millimetre, those warned of, those that were refused.
#[derive(Debug, Default)]
struct Count {
    runs: usize,
    touched: usize,
    deep: usize,
    warned: usize,
    refused: usize,
}

impl Count {
    /// Whether the run went to its end.
    fn add(&mut self, what: &str, size: f64, outcome: Option<Outcome>) -> bool {
        self.runs += 1;
        let Some(Outcome { depth, touched, warned }) = outcome else {
            self.refused += 1;
            return false;
        };
        self.touched += touched.min(1);
        self.deep += usize::from(depth > 5e-4);
        self.warned += usize::from(warned);
        println!("{what}: {:.3} mm, {touched} steps, warned: {warned}", 1e3 * depth);
        // Radii are 0.42 to 0.54 of the size.
        assert!(depth < 0.0055 * size || warned, "{what}: {depth} m deep without a warning");
        true
    }
}

fn lowest(world: &World, id: SimulationId) -> f64 {
    let simulation = world.simulation(id).unwrap();
    simulation.poses().map(|(_, pose)| pose.position.z).fold(f64::INFINITY, f64::min)
}

/// Free trees of 0.05 to 1 m links, 10 to 20 m/s and 50 rad/s, thrown on sheets of 1 and 2 mm and on a floor.
#[test]
fn thrown_trees_are_stopped() {
    let mut count = Count::default();
    for (seed, engine) in (0..36usize).flat_map(|seed| ENGINES.map(|engine| (seed, engine))) {
        let mut numbers = Numbers(seed as u64 * 17 + 3);
        let size = [0.05, 0.1, 0.3, 1.0][seed % 4];
        let thickness = [1e-3, 2e-3, 1.0][(seed / 4) % 3];
        let mut world = World::new([0.0, 0.0, -9.81]);
        let sheet = Shape::new(Geometry::Box { size: [200.0, 200.0, thickness].into() });
        world.add_shape(&sheet.at(Pose::translation([0.0, 0.0, -0.5 * thickness]))).unwrap();
        let mechanism = links(seed, size, true);
        let mut simulation = engine.simulate(&mechanism).unwrap();
        let turn = numbers.vector() * 3.0;
        let at = [0.0, 0.0, 4.0 * size + 0.5 * (numbers.next() + 1.0)];
        let pose = Pose::translation(at) * Pose::rotation([0.48, 0.6, 0.64], turn.x);
        let speed = [5.0 * numbers.next(), 5.0 * numbers.next(), -10.0 - 5.0 * (numbers.next() + 1.0)];
        let w = numbers.vector().normalize() * 50.0;
        place(&mut *simulation, &pose, speed.into(), w, pose.position);
        let id = world.add(simulation).unwrap();
        let outcome = run(&mut world, 90);
        if count.add(&format!("{engine:?} {seed}, {size} m on {thickness} m"), size, outcome) {
            let low = lowest(&world, id);
            assert!(low > 0.0, "{engine:?} {seed}: {low} m, below a sheet of {thickness} m");
        }
    }
    println!("{count:?}");
    assert!(count.runs == 72 && count.touched >= 55 && count.refused == 0 && count.deep == 0, "{count:?}");
}

/// Arms on a hinge that turn at 50 rad/s against a sheet of 1 or 2 mm or a block.
#[test]
fn swung_arms_are_stopped() {
    let mut count = Count::default();
    for (seed, engine) in (0..36usize).flat_map(|seed| ENGINES.map(|engine| (seed, engine))) {
        let mut numbers = Numbers(seed as u64 * 29 + 11);
        let size = [0.05, 0.1, 0.3, 1.0][seed % 4];
        let thickness = [1e-3, 2e-3, 0.5][(seed / 4) % 3];
        let mechanism = links(seed, size, false);
        let mut world = World::new([0.0; 3]);
        // Across the circle of the arm, so that turning about y by some angle leads to it from above.
        let angle = 0.5 + 0.4 * (numbers.next() + 1.0);
        let sheet = Shape::new(Geometry::Box { size: [4.0 * size, 4.0 * size, thickness].into() });
        let middle =
            Pose::rotation([0.0, 1.0, 0.0], angle) * Pose::translation([3.0 * size, 0.0, -0.15 * size]);
        world.add_shape(&sheet.at(middle * Pose::translation([0.0, 0.0, -0.5 * thickness]))).unwrap();
        let mut simulation = engine.simulate(&mechanism).unwrap();
        let mut state = simulation.state().clone();
        let w = Vector3::new(0.0, 50.0, 0.0);
        for (pose, twist) in state.poses.iter().zip(&mut state.twists) {
            let R = pose.rotation.inverse();
            *twist = Twist::new(R * w.cross(&pose.position), R * w);
        }
        state.rates[0] = 50.0;
        state.private.clear();
        simulation.set_state(&state).unwrap();
        let id = world.add(simulation).unwrap();
        let outcome = run(&mut world, 60);
        if count.add(&format!("{engine:?} {seed}, {size} m on {thickness} m"), size, outcome) {
            // The first link is still on its side.
            let first = world.simulation(id).unwrap().poses().next().unwrap().1.position;
            let turned = (-first.z).atan2(first.x);
            assert!(turned < angle + 0.1, "{engine:?} {seed}: turned by {turned}, the sheet is at {angle}");
        }
    }
    println!("{count:?}");
    assert!(count.runs == 72 && count.touched >= 55 && count.refused == 0 && count.deep == 0, "{count:?}");
}
