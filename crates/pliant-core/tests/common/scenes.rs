//! Scenes that are hard on an engine's stability: small mechanisms, and what is done to them, the same for every engine.

use pliant_core::engine::{Simulation, State};
use pliant_core::full::LIMIT_STIFFNESS;
use pliant_core::gallery;
use pliant_core::joints::JointKind;
use pliant_core::mechanism::{
    Body, EffectorDescription, EffectorId, JointDescription, Mechanism, MechanismBuilder, PerFreedom, WORLD,
};
use pliant_core::nalgebra::Vector3;
use pliant_core::spatial::{Pose, SpatialInertia, Wrench};

use crate::common::handles::effector;
use crate::common::{FRAME, edited};

/// Of a link of [`ball_chain`], m.
pub const LENGTH: f64 = 0.1;

/// Links of 0.1 m and 0.1 kg along x on passive ball joints, held at the origin.
pub fn ball_chain(links: usize) -> Mechanism {
    let mut builder = MechanismBuilder::new("ball chain");
    let mut parent = WORLD.to_string();
    for i in 0..links {
        let name = format!("link{i}");
        let at = Vector3::new(LENGTH * i as f64, 0.0, 0.0);
        let pose = Pose::translation([at.x + 0.5 * LENGTH, 0.0, 0.0]);
        builder.body(Body::new(&name, pose).inertia(SpatialInertia::of_box(0.1, [LENGTH, 0.02, 0.02])));
        builder.joint(JointDescription::new(&name, JointKind::Ball, parent, &name).axis(at, Vector3::z()));
        parent = name;
    }
    builder.build().unwrap()
}

/// A passive four-bar with all bars on one line, and the effector `coupler`.
pub fn flat_four_bar() -> Mechanism {
    let mut builder = MechanismBuilder::new("flat four-bar");
    builder.gravity([0.0; 3]);
    for (name, from, to) in [("crank", 0.0, 0.1), ("coupler", 0.1, 0.4), ("rocker", 0.3, 0.4)] {
        let (middle, length) = (0.5 * (from + to), to - from);
        let inertia = SpatialInertia::of_box(length, [length, 0.02, 0.02]);
        builder.body(Body::new(name, Pose::translation([middle, 0.0, 0.0])).inertia(inertia));
    }
    for (name, parent, child, at) in [
        ("A", WORLD, "crank", 0.0),
        ("B", "crank", "coupler", 0.1),
        ("C", "rocker", "coupler", 0.4),
        ("D", WORLD, "rocker", 0.3),
    ] {
        let joint = JointDescription::new(name, JointKind::Hinge, parent, child);
        builder.joint(joint.axis(Vector3::new(at, 0.0, 0.0), Vector3::y()));
    }
    let coupler = "coupler".to_string();
    builder.effector(EffectorDescription { name: coupler.clone(), body: coupler, frame: Pose::identity() });
    builder.build().unwrap()
}

/// A door on a hinge with limits, its inertia about it a third of a kg·m².
pub fn door(limit: f64) -> Mechanism {
    let mut builder = MechanismBuilder::new("door");
    builder.gravity([0.0; 3]);
    let inertia = SpatialInertia::of_box(1.0, [1.0, 0.05, 0.5]);
    builder.body(Body::new("door", Pose::translation([0.5, 0.0, 0.0])).inertia(inertia));
    let joint = JointDescription::new("hinge", JointKind::Hinge, WORLD, "door");
    builder.joint(joint.damping(0.01).limits((-limit, limit)));
    builder.build().unwrap()
}

/// What a motion reached at most: energy over that of its start, J; gaps in joints, radii; turn of a body in a frame, rad.
pub struct Most {
    pub gained: f64,
    pub violation: f64,
    pub turn: f64,
}

/// Runs for some frames; energy does not count what loads hold.
fn watch(simulation: &mut dyn Simulation, frames: usize, mut held: impl FnMut(&State) -> f64) -> Most {
    let start = simulation.energy().total() + held(simulation.state());
    let mut most = Most { gained: f64::NEG_INFINITY, violation: 0.0, turn: 0.0 };
    for _ in 0..frames {
        simulation.step(FRAME).unwrap();
        let energy = simulation.energy().total() + held(simulation.state());
        let fastest = simulation.state().twists.iter().map(|t| t.angular.norm()).fold(0.0, f64::max);
        most.gained = most.gained.max(energy - start);
        most.violation = most.violation.max(simulation.violation());
        most.turn = most.turn.max(fastest * FRAME);
    }
    most
}

/// A level chain falls, is kicked aside at its last body so that it leaves the plane, and swings for a minute.
pub fn kick_and_swing(simulation: &mut dyn Simulation) -> Most {
    let tip = simulation.mechanism().body_ids().next_back().unwrap();
    simulation.inputs_mut().set_body_load(tip, Wrench::force([0.0, 0.5, 0.0])).unwrap();
    (0..6).for_each(|_| simulation.step(FRAME).unwrap());
    simulation.inputs_mut().set_body_load(tip, Wrench::ZERO).unwrap();
    watch(simulation, 3600, |_| 0.0)
}

/// Ten seconds of a mechanism under a force at its first effector, whose energy counts; and how far that went, m.
pub fn pull_at_the_effector(simulation: &mut dyn Simulation, force: [f64; 3]) -> (Most, f64) {
    let tip = effector(simulation.mechanism(), 0);
    simulation.inputs_mut().set_load(tip, Wrench::force(force)).unwrap();
    let mechanism = simulation.mechanism().clone();
    let start = simulation.state().effector_pose(&mechanism, tip).unwrap().position;
    let moved = |state: &State| state.effector_pose(&mechanism, tip).unwrap().position - start;
    let most = watch(simulation, 600, |state| -Vector3::from(force).dot(&moved(state)));
    (most, moved(simulation.state()).norm())
}

/// Puts on the scene's loads; the effector `tip`, and where it starts.
pub fn under_its_load(simulation: &mut dyn Simulation) -> (EffectorId, Vector3<f64>) {
    simulation.inputs_mut().add_scene_loads();
    let tip = simulation.effector("tip").unwrap();
    (tip, simulation.effector_pose(tip).unwrap().position)
}

/// Ten seconds of a helix of so many links under a force at its tip, for stiffness over seven decades, from 10 to 1e8 N·m/rad: total energy, the
/// load's included, never rises above where it started, and gaps (over the radius) stay within what `bound` gives for a stiffness.
pub fn every_stiffness(
    links: usize,
    simulate: impl Fn(&Mechanism) -> Box<dyn Simulation>,
    bound: impl Fn(f64) -> f64,
) {
    let helix = gallery::helix(links);
    for exponent in 1..=8 {
        let stiffness = 10f64.powi(exponent);
        let mechanism = edited(&helix, |joint| joint.stiffness = Some(PerFreedom::All(stiffness)));
        let (most, moved) = pull_at_the_effector(&mut *simulate(&mechanism), [0.0, 0.0, -100.0]);
        let Most { gained, violation, .. } = most;
        println!("k = 1e{exponent}: gained {gained:.2e} J, violation {violation:.1e}, moved {moved:.2e} m");
        assert!(gained <= 1e-9, "k = 1e{exponent}: {gained} J");
        assert!(violation < bound(stiffness), "k = 1e{exponent}: {violation:e}");
    }
}

/// A second of the flat four-bar, pushed across with 1 N: how far the crank turns, rad, and the largest gap.
pub fn push_across(simulation: &mut dyn Simulation) -> (f64, f64) {
    let coupler = effector(simulation.mechanism(), 0);
    simulation.set_load(coupler, Wrench::force([0.0, 0.0, 1.0])).unwrap();
    let (mut turned, mut violation) = (0.0f64, 0.0f64);
    for _ in 0..60 {
        simulation.step(FRAME).unwrap();
        turned = turned.max(simulation.state().coordinates[0].abs());
        violation = violation.max(simulation.violation());
        // The work of the force is the energy of motion, less what the step takes.
        let work = simulation.effector_pose(coupler).unwrap().position.z;
        assert!(simulation.energy().kinetic <= work * (1.0 + 1e-6) + 1e-12);
    }
    println!("turned {turned:.2} rad, violation {violation:.1e}");
    (turned, violation)
}

/// Five seconds of a door, turned against its limit by 10 N·m: it yields by torque over stiffness, at rest and while it is run against.
pub fn a_limit_holds(simulate: impl Fn(&Mechanism) -> Box<dyn Simulation>) {
    let (limit, torque) = (0.5, 10.0);
    let mechanism = door(limit);
    for side in [1.0, -1.0] {
        let (beyond, rest) = turn_against_the_limit(&mut *simulate(&mechanism), limit, side * torque);
        assert!(beyond < 1e-3, "{beyond:e}");
        assert!((rest - torque / LIMIT_STIFFNESS).abs() < 1e-9, "{rest:e}");
        // As the statics say.
        let mut statics = simulate(&mechanism);
        let load = Wrench::torque([0.0, 0.0, side * torque]);
        let door = mechanism.body_ids().next().unwrap();
        statics.inputs_mut().set_body_load(door, load).unwrap();
        statics.settle(&Default::default()).unwrap();
        let rest = statics.state().coordinates[0] * side - limit;
        assert!((rest - torque / LIMIT_STIFFNESS).abs() < 1e-12, "{rest:e}");
    }
}

/// Five seconds of the door: how far beyond it was at most and is at rest, rad.
fn turn_against_the_limit(simulation: &mut dyn Simulation, limit: f64, torque: f64) -> (f64, f64) {
    let load = Wrench::torque([0.0, 0.0, torque]);
    let door = simulation.mechanism().body_ids().next().unwrap();
    simulation.inputs_mut().set_body_load(door, load).unwrap();
    let beyond = |state: &State| state.coordinates[0] * torque.signum() - limit;
    let mut most = 0.0f64;
    for _ in 0..300 {
        simulation.step(FRAME).unwrap();
        most = most.max(beyond(simulation.state()));
    }
    let rest = beyond(simulation.state());
    println!("beyond the limit: {most:.1e} rad at most, {rest:.6e} at rest");
    (most, rest)
}
