//! Claim: a body that is attached to effectors moves, sags and pushes as if a `fixed` joint of the mechanism's file held it, in
//! every engine, alone and between two fingers; momentum is kept when it is attached and when it is let go; and handles that
//! make no sense are refused.

use crate::common::counting::allocations;
use crate::common::models::Models;
use pliant_core::contact::{FreeBodyId, SimulationId, Solver, Touched, World};
use pliant_core::engine::Simulation;
use pliant_core::joints::JointKind;
use pliant_core::linear::Linearisation;
use pliant_core::mechanism::{
    Body, EffectorDescription, EffectorId, Geometry, JointDescription, Mechanism, MechanismBuilder, Shape,
    WORLD,
};
use pliant_core::nalgebra::Vector3;
use pliant_core::spatial::{Pose, SpatialInertia, Twist};

const H: f64 = 1.0 / 240.0;

fn cuboid(size: [f64; 3]) -> Shape {
    Shape::new(Geometry::Box { size: size.into() })
}

/// What is held: its centre of mass is not at its origin.
fn load(at: [f64; 3]) -> Body {
    let mut inertia = SpatialInertia::of_box(0.3, [0.08, 0.06, 0.1]);
    inertia.center_of_mass = Vector3::new(0.01, 0.005, -0.02);
    Body::new("load", Pose::translation(at) * Pose::rotation([0.0, 0.6, 0.8], 0.3))
        .inertia(inertia)
        .shape(cuboid([0.08, 0.06, 0.1]))
}

/// Fingers of two links on sprung ball joints that come from both sides; with the load fixed to all of them, if it is there.
fn fingers(sides: &[f64], held: Option<Body>) -> Mechanism {
    let mut builder = MechanismBuilder::new("fingers");
    for (i, side) in sides.iter().enumerate() {
        // Down, and then inward: bent, so that no direction is locked.
        let links = [
            ([0.3, 0.0, 0.1], [0.3, 0.0, 0.2], [0.03, 0.03, 0.18]),
            ([0.2, 0.0, 0.0], [0.3, 0.0, 0.0], [0.18, 0.03, 0.03]),
        ];
        for (k, (center, hinge, size)) in links.into_iter().enumerate() {
            let name = format!("link{i}{k}");
            let at = |x: [f64; 3]| Pose::translation([side * x[0], x[1], x[2]]);
            let body = Body::new(&name, at(center)).inertia(SpatialInertia::of_box(0.1, size));
            builder.body(body.shape(cuboid(size.map(|x| 0.5 * x))));
            let parent = if k == 0 { WORLD.to_string() } else { format!("link{i}0") };
            let mut joint = JointDescription::new(format!("joint{i}{k}"), JointKind::Ball, parent, &name);
            joint.frame = at(hinge);
            joint.stiffness = Some(40.0.into());
            joint.damping = Some(0.4.into());
            builder.joint(joint);
        }
        builder.effector(EffectorDescription {
            name: format!("tip{i}"),
            body: format!("link{i}1"),
            frame: Pose::translation([-0.1 * side, 0.0, 0.0]),
        });
        if held.is_some() {
            let kind = JointKind::Fixed;
            builder.joint(JointDescription::new(format!("fixed{i}"), kind, format!("link{i}1"), "load"));
        }
    }
    if let Some(body) = held {
        // What the linear engine touches with.
        builder.effector(EffectorDescription {
            name: "load".into(),
            body: "load".into(),
            frame: Pose::identity(),
        });
        builder.body(body);
    }
    builder.build().unwrap()
}

/// Worlds with the load attached, and with a mechanism that has it.
struct Twins {
    attached: (World, SimulationId),
    fixed: (World, SimulationId),
}

fn twins(
    free: Box<dyn Simulation>,
    whole: Box<dyn Simulation>,
    load: &Body,
    gravity: f64,
    floor: Option<f64>,
) -> Twins {
    let of = |mut actor: Box<dyn Simulation>| {
        let gravity = [0.3 * gravity, 0.2 * gravity, -gravity];
        let mut world = World::new(gravity);
        world.set_solver(Solver::Exact { tolerance: 1e-12 });
        if let Some(z) = floor {
            let shape = Shape { friction: Some(0.3), ..cuboid([2.0, 2.0, 1.0]) };
            world.add_shape(&shape.at(Pose::translation([0.0, 0.0, z - 0.5]))).unwrap();
        }
        actor.inputs_mut().set_gravity(gravity).unwrap();
        let id = world.add(actor).unwrap();
        (world, id)
    };
    let (mut attached, fixed) = (of(free), of(whole));
    let body = attached.0.add_body(&load.clone().free()).unwrap();
    let effectors: Vec<_> = attached.0.simulation(attached.1).unwrap().mechanism().effector_ids().collect();
    attached.0.attach(body, attached.1, &effectors).unwrap();
    Twins { attached, fixed }
}

fn tips(world: &World, id: SimulationId) -> [Pose; 2] {
    let actor = world.simulation(id).unwrap();
    let last = actor.mechanism().effectors().iter().rposition(|e| e.name.starts_with("tip")).unwrap();
    [0, last].map(|e| actor.effector_pose(crate::common::handles::effector(actor.mechanism(), e)).unwrap())
}

/// The largest difference of effectors' places, m and rad, and how far they are from where they began.
fn apart(twins: &Twins, start: &[Pose]) -> (f64, f64) {
    let one = tips(&twins.attached.0, twins.attached.1);
    let two = tips(&twins.fixed.0, twins.fixed.1);
    let far = |a: &Pose, b: &Pose| (a.position - b.position).norm().max(a.rotation.angle_to(&b.rotation));
    let most = |a: &[Pose], b: &[Pose]| a.iter().zip(b).map(|(a, b)| far(a, b)).fold(0.0, f64::max);
    (most(&one, &two), most(&one, start))
}

/// The lowest corner of the load.
fn lowest(load: &Body) -> f64 {
    let corners = (0..8).map(|i| [i & 1, (i >> 1) & 1, i >> 2].map(|x| f64::from(x) - 0.5));
    let at = |x: [f64; 3]| load.pose.transform_point(&Vector3::new(0.08 * x[0], 0.06 * x[1], 0.1 * x[2])).z;
    corners.map(at).fold(f64::INFINITY, f64::min)
}

/// Swings under a sudden weight until all is at rest, in the air and on the ground: every step, and so frequencies, damping
/// and sag. Under a weight of 1e-6 everything is linear; under the whole one, swings are of 0.1 rad.
#[test]
fn an_attached_body_is_as_if_it_were_fixed() {
    for sides in [&[1.0][..], &[1.0, -1.0]] {
        let own = load([0.0, 0.01, -0.02]);
        let (free, whole) = (fingers(sides, None), fingers(sides, Some(own.clone())));
        let (one, two) = (Models::new(&free), Models::new(&whole));
        let cases = [(1e-6, None), (1.0, None), (1e-6, Some(lowest(&own))), (1.0, Some(lowest(&own)))];
        for (part, floor) in cases {
            for (a, b) in one.simulations().into_iter().zip(two.simulations()) {
                let engine = a.engine();
                let mut twins = twins(a, b, &own, 9.81 * part, floor);
                let start = tips(&twins.attached.0, twins.attached.1);
                let (mut worst, mut swing, mut last) = (0.0f64, 0.0f64, (0.0, 0.0));
                for _ in 0..960 {
                    twins.attached.0.step(H).unwrap();
                    twins.fixed.0.step(H).unwrap();
                    last = apart(&twins, &start);
                    (worst, swing) = (worst.max(last.0), swing.max(last.1));
                }
                let name = format!("{} fingers, {part} g, floor {floor:?}, {engine}", sides.len());
                let forces =
                    [&twins.attached.0, &twins.fixed.0].map(|w| w.force_on(Touched::World).unwrap().force);
                let weight = 0.3 * 9.81 * part;
                if floor.is_some() {
                    assert!(forces[0].z < -0.1 * weight, "{name}: {forces:?}");
                }
                // Of places of 0.3 m rounding, over steps; else second order in the swing, which engines that carry momentum
                // feel in each step and linear ones, whose own loads act at the reference, also at rest.
                let (moving, resting) = match (part < 1.0, engine) {
                    (true, _) => (1e-7 + 1e-12 / swing, 1e-7 + 1e-12 / swing),
                    (_, "linear") => (0.03, 0.03),
                    (..) if floor.is_some() => (2e-3, 2e-4), // where it sticks depends on how it came there
                    _ => (1e-3, 1e-8),
                };
                assert!(worst < moving * swing, "{name}: {worst} of {swing}");
                assert!(last.0 < resting * last.1, "{name}: {last:?}");
                let off = (forces[0] - forces[1]).norm() / weight;
                assert!(off < if part < 1.0 { 1e-3 } else { 0.03 }, "{name}: {forces:?}");
            }
        }
    }
}

/// A block that flies along a plate on a spring, is attached to it and let go again. With both together as M,
/// (M + hc + h²k) v⁺ = Mv − hkx, from the velocity of the common momentum; apart, each goes on with its own.
#[test]
fn momentum_goes_on_when_it_is_attached_and_let_go() {
    let (m, M, k, c, speed) = (0.7, 0.4, 300.0, 2.0, 0.8);
    let mut builder = MechanismBuilder::new("plate");
    builder.gravity([0.0; 3]);
    let size = [0.3, 0.3, 0.02];
    let plate = Body::new("plate", Pose::identity()).inertia(SpatialInertia::of_box(M, size));
    builder.body(plate.shape(cuboid(size)));
    let mut joint = JointDescription::new("spring", JointKind::Prismatic, WORLD, "plate");
    joint.frame = Pose::rotation([0.0, 1.0, 0.0], std::f64::consts::FRAC_PI_2);
    (joint.stiffness, joint.damping) = (Some(k.into()), Some(c.into()));
    let frame = Pose::translation([0.1, 0.05, 0.01]);
    builder.joint(joint).effector(EffectorDescription { name: "top".into(), body: "plate".into(), frame });
    let mechanism = builder.build().unwrap();
    let models = Models::new(&mechanism);
    for actor in models.simulations() {
        let engine = actor.engine();
        let mut world = World::new([0.0; 3]);
        let id = world.add(actor).unwrap();
        let size = [0.1, 0.1, 0.1];
        let block = Body::new("block", Pose::translation([0.02, -0.03, 0.2]));
        let block = block.inertia(SpatialInertia::of_box(m, size)).shape(cuboid(size)).free();
        let body = world.add_body(&block).unwrap();
        let twist = Twist { linear: Vector3::new(speed, 0.0, 0.0), angular: Vector3::zeros() };
        world.body_mut(body).unwrap().place(block.pose, twist);
        world.attach(body, id, &[crate::common::handles::effector(&mechanism, 0)]).unwrap();
        let (mut x, mut v) = (0.0, m * speed / (m + M));
        let A = m + M + H * c + H * H * k;
        for step in 0..50 {
            world.step(H).unwrap();
            v = ((m + M) * v - H * k * x) / A;
            x += H * v;
            let place = world.simulation_mut(id).unwrap().state().poses[0].position.x;
            let moved = world.body(body).unwrap().pose().position - block.pose.position;
            let found = world.body(body).unwrap().twist().linear.x;
            // Rounding, and what the iterations of the full engine leave.
            assert!((place - x).abs() < 1e-9, "{engine} {step}: plate at {place} for {x}");
            assert!((moved - Vector3::new(x, 0.0, 0.0)).norm() < 1e-9, "{engine} {step}: {moved:?} for {x}");
            assert!((found - v).abs() < 1e-8, "{engine} {step}: {found} m/s for {v}");
        }
        let before = world.body(body).unwrap().momentum();
        world.detach(body).unwrap();
        assert_eq!(world.body(body).unwrap().momentum(), before);
        let (start, mut y) = (world.body(body).unwrap().pose().position, v);
        for step in 1..=50 {
            world.step(H).unwrap();
            y = (M * y - H * k * x) / (M + H * c + H * H * k);
            x += H * y;
            let place = world.simulation_mut(id).unwrap().state().poses[0].position.x;
            assert!((place - x).abs() < 1e-9, "{engine}: plate at {place} for {x}");
            let flown = world.body(body).unwrap().pose().position - start;
            let expected = before.0 / m * (step as f64 * H);
            assert!((flown - expected).norm() < 1e-12, "{engine}: {flown:?} for {expected:?}");
        }
        assert_eq!(world.body(body).unwrap().momentum().0, before.0, "{engine}");
    }
}

/// Once warm, steps with something held allocate nothing, and a clone goes on with the same bits.
#[test]
fn steps_with_something_held_repeat_and_allocate_nothing() {
    let sides = [1.0, -1.0];
    let (mechanism, own) = (fingers(&sides, None), load([0.0, 0.01, -0.02]));
    let models = Models::new(&mechanism);
    for actor in models.simulations() {
        let mut world = World::new([3.0, 2.0, -9.81]);
        let mut actor = actor;
        actor.inputs_mut().set_gravity([3.0, 2.0, -9.81]).unwrap();
        let floor = Pose::translation([0.0, 0.0, lowest(&own) - 0.5]);
        world.add_shape(&cuboid([2.0, 2.0, 1.0]).at(floor)).unwrap();
        let id = world.add(actor).unwrap();
        let body = world.add_body(&own.clone().free()).unwrap();
        world.attach(body, id, &[0, 1].map(|k| crate::common::handles::effector(&mechanism, k))).unwrap();
        for _ in 0..480 {
            world.step(H).unwrap();
        }
        assert!(world.report().pushing > 0, "{:?} {:?}", world.report(), world.contacts());
        let mut other = world.clone();
        other.step(H).unwrap();
        world.step(H).unwrap();
        let place = |world: &World| world.body(body).unwrap().pose();
        for _ in 0..20 {
            other.step(H).unwrap();
            let engine = world.simulation(id).unwrap().engine();
            let counted = allocations(|| assert!(world.step(H).is_ok()));
            assert_eq!(counted, 0, "{engine}");
            assert_eq!(place(&world), place(&other));
        }
    }
}

/// What makes no sense is refused with a message that says what would be right, and nothing is attached.
#[test]
fn handles_must_make_sense() {
    let mechanism = fingers(&[1.0, -1.0], None);
    let model = Linearisation::at_rest(&mechanism).effectors(["tip0"]).build().unwrap();
    let (mut world, mut larger) = (World::new([0.0; 3]), World::new([0.0; 3]));
    let body = world.add_body(&load([0.0; 3]).free()).unwrap();
    let id = world.add(model.simulate()).unwrap();
    larger.add_body(&load([0.0; 3]).free()).unwrap();
    let stranger = larger.add_body(&load([1.0, 0.0, 0.0]).free()).unwrap();
    larger.add(model.simulate()).unwrap();
    let elsewhere = larger.add(model.simulate()).unwrap();
    let tip = |e: usize| crate::common::handles::effector(&mechanism, e);
    let mut refused = |body: FreeBodyId, actor: SimulationId, effectors: &[EffectorId], words: &[&str]| {
        let message = world.attach(body, actor, effectors).unwrap_err().to_string();
        words.iter().for_each(|word| assert!(message.contains(word), "{message:?} should say {word:?}"));
        assert!(!world.is_attached(body).unwrap_or(false));
    };
    refused(stranger, id, &[tip(0)], &["free body number 1", "unknown here"]);
    refused(body, elsewhere, &[tip(0)], &["simulation number 1", "unknown here"]);
    refused(body, id, &[], &["`load`", "at least one effector"]);
    let foreign = crate::common::handles::effector(&pliant_core::gallery::y(), 1);
    refused(body, id, &[tip(0), foreign], &["effector number 1", "unknown here"]);
    refused(body, id, &[tip(1)], &["`load`", "linear engine does not move effector `tip1`", "`fingers`"]);
    refused(body, id, &[tip(0), tip(0)], &["`load`", "body `link01`", "name one"]);
    let message = world.detach(body).unwrap_err().to_string();
    assert_eq!(message, "`load` cannot be detached: it is not attached");
    assert!(world.detach(stranger).unwrap_err().to_string().contains("free body number 1 is unknown here"));
    world.attach(body, id, &[tip(0)]).unwrap();
    let message = world.attach(body, id, &[tip(0)]).unwrap_err().to_string();
    assert_eq!(message, "`load` cannot be attached: it is already; detach it first");
    assert!(world.is_attached(body).unwrap());
    world.detach(body).unwrap();
    assert!(!world.is_attached(body).unwrap());
}
