//! Claim: a mechanism whose joints say `start` starts there in every engine: each joint is where it was put, loops and
//! couplings are closed, a free base stays where it is; coordinates, rests and limits keep their zero; and it moves as
//! the same mechanism does whose file is drawn in that pose. What loops forbid is an error that names the joint.

use crate::common::{FRAME, builder, distance, edited};
use pliant_core::engine::{Simulation, State};
use pliant_core::gallery::{self, Passive, RandomOptions};
use pliant_core::joints::JointKind;
use pliant_core::linear::{Linearisation, Reference};
use pliant_core::mechanism::{
    Body, CouplingDescription, EffectorDescription, Element, JointDescription, JointId, Mechanism,
    MechanismBuilder, PerFreedom,
};
use pliant_core::nalgebra::Vector3;
use pliant_core::spatial::{Pose, SpatialInertia};
use pliant_core::{articulated, full, reduced};

fn ids(mechanism: &Mechanism) -> impl Iterator<Item = JointId> {
    mechanism.joint_ids()
}

/// Starts of all freedoms, rad or m: no two alike.
fn starts(joint: &JointDescription, j: usize) -> Vec<f64> {
    let d = joint.kind.freedoms();
    (0..d)
        .map(|k| {
            0.4 * (1.0 + j as f64 * 1.7 + k as f64).sin()
                * if k < joint.kind.translations() { 0.1 } else { 1.0 }
        })
        .collect()
}

/// With all springs relaxed at the start.
fn started(mechanism: &Mechanism) -> Mechanism {
    let mut j = 0;
    edited(mechanism, |joint| {
        let start = starts(joint, j);
        j += 1;
        if !start.is_empty() {
            joint.limits = None;
            joint.rest = Some(PerFreedom::Each(start.clone()));
            joint.start = Some(PerFreedom::Each(start));
        }
    })
}

/// The first states of all engines.
fn first_states(mechanism: &Mechanism) -> Vec<(&'static str, State)> {
    let full = full::Model::new(mechanism);
    let articulated = articulated::Model::new(mechanism);
    let mut states = vec![
        ("full", full.simulate().state().clone()),
        ("articulated", articulated.simulate().state().clone()),
    ];
    if let Ok(model) = reduced::Reduction::at_rest(mechanism).build() {
        states.push(("reduced", model.simulate().state().clone()));
    }
    if let Ok(model) = Linearisation::at_rest(mechanism).build() {
        states.push(("linear", model.simulate().state().clone()));
    }
    states
}

#[test]
fn every_joint_of_a_tree_is_where_it_is_put_in_every_engine() {
    let options =
        RandomOptions { loops: 0.0, passive: Passive::Never, free_bases: true, ..RandomOptions::default() };
    let (mut engines, mut free) = (0, 0);
    for seed in 0..20 {
        let file = gallery::random(seed, &options);
        let mechanism = started(&file);
        let start = State::at_rest(&mechanism);
        for id in ids(&mechanism) {
            let joint = &mechanism[id];
            assert_eq!(start.coordinates_of(&mechanism, id).unwrap(), joint.start);
            // Twelve products of poses within a few metres.
            let X = start.relative_pose(&mechanism, &mechanism[id]);
            assert!(distance(&X, &joint.kind.transform(&joint.start)) < 1e-13, "{}", joint.name);
        }
        for (b, body) in mechanism.bodies().iter().enumerate().filter(|(_, body)| body.free) {
            assert!(distance(&start.poses[b], &body.pose) < 1e-15);
            free += 1;
        }
        // The zero of coordinates is the file's pose, which stays.
        assert!(mechanism.bodies().iter().zip(file.bodies()).all(|(a, b)| a.pose == b.pose));
        for (engine, state) in first_states(&mechanism) {
            engines += 1;
            for (a, b) in state.poses.iter().zip(&start.poses) {
                assert!(distance(a, b) < 1e-12, "{engine}, seed {seed}: {:e}", distance(a, b));
            }
            for (a, b) in state.coordinates.iter().zip(&start.coordinates) {
                assert!((a - b).abs() < 1e-12, "{engine}, seed {seed}");
            }
        }
    }
    assert_eq!((engines, free), (80, 30), "engines and free bodies of 20 mechanisms");
}

#[test]
fn relaxed_at_its_start_nothing_moves() {
    let options = RandomOptions { loops: 0.0, passive: Passive::Never, ..RandomOptions::default() };
    for seed in 0..10 {
        let mechanism = started(&gallery::random(seed, &options));
        let start = State::at_rest(&mechanism);
        let model = full::Model::new(&mechanism);
        let mut simulation = model.simulate();
        simulation.inputs_mut().set_gravity([0.0; 3]).unwrap();
        let found = simulation.settle(&Default::default()).unwrap();
        // Statics finds nothing to do.
        assert!(found.converged && found.load_reached == 1.0);
        for _ in 0..30 {
            simulation.step(FRAME).unwrap();
        }
        for (a, b) in simulation.state().poses.iter().zip(&start.poses) {
            // Rounding of the start's coordinates under springs of 10⁴ over 30 steps.
            assert!(distance(a, b) < 1e-10, "seed {seed}: {:e}", distance(a, b));
        }
    }
}

/// The mechanism drawn in its start pose: hinges turn about the same axes and count from there.
fn redrawn(mechanism: &Mechanism) -> Mechanism {
    let start = State::at_rest(mechanism);
    let mut builder = MechanismBuilder::new("redrawn");
    builder.gravity(mechanism.gravity().into());
    for (body, pose) in mechanism.bodies().iter().zip(&start.poses) {
        let mut body = body.clone();
        body.pose = *pose;
        builder.body(body);
    }
    for id in ids(mechanism) {
        let joint = &mechanism[id];
        assert!(matches!(joint.kind, JointKind::Hinge | JointKind::Fixed));
        let frame = start.pose(joint.child).unwrap() * mechanism.frame_in_child(&mechanism[id]);
        let child = &mechanism[joint.child].name;
        let mut description = JointDescription::new(
            &joint.name,
            joint.kind.clone(),
            mechanism.parent_name(&mechanism[id]),
            child,
        )
        .frame(frame);
        if let ([freedom], [q]) = (&joint.freedoms[..], start.coordinates_of(mechanism, id).unwrap()) {
            description = description
                .stiffness(freedom.stiffness)
                .damping(freedom.damping)
                .armature(freedom.armature)
                .rest(freedom.rest - q)
                .limits((freedom.lower - q, freedom.upper - q));
        }
        builder.joint(description);
    }
    for effector in mechanism.effectors() {
        builder.effector(pliant_core::mechanism::EffectorDescription {
            name: effector.name.clone(),
            body: mechanism[effector.body].name.clone(),
            frame: effector.frame,
        });
    }
    builder.build().unwrap()
}

/// A mechanism and the joints that are given a start.
fn with_start(name: &str, given: &[(&str, f64)]) -> Mechanism {
    let mechanism = gallery::build(name).unwrap();
    edited(&mechanism, |joint| {
        if let Some((_, q)) = given.iter().find(|(name, _)| *name == joint.name) {
            joint.start = Some(PerFreedom::All(*q));
        }
    })
}

#[test]
fn it_moves_as_if_the_file_were_drawn_there() {
    let arm = gallery::build("arm").unwrap();
    let names: Vec<String> = arm.joints().iter().map(|joint| joint.name.clone()).collect();
    let given: Vec<(&str, f64)> =
        names.iter().enumerate().map(|(j, name)| (name.as_str(), 0.3 * (j as f64).sin())).collect();
    for mechanism in [with_start("arm", &given), with_start("four-bar", &[("A", 0.4)])] {
        let other = redrawn(&mechanism);
        assert!(other.start().is_none());
        let loops = !mechanism.order().loop_joints().is_empty();
        // A loop is closed to the tolerance of statics, 1e-9, when the start is found, and the first step closes it.
        let near = if loops { 1e-7 } else { 1e-10 } * mechanism.radius();
        macro_rules! same {
            ($engine:literal, $model:expr, $settle:expr) => {
                same!($engine, $model, $settle, near);
            };
            ($engine:literal, $model:expr, $settle:expr, $near:expr) => {
                let (a, b) = ($model(&mechanism), $model(&other));
                let (mut a, mut b) = (a.simulate(), b.simulate());
                $settle(&mut a);
                $settle(&mut b);
                for step in 0..60 {
                    a.step(FRAME).unwrap();
                    b.step(FRAME).unwrap();
                    for ((a, b), body) in a.state().poses.iter().zip(&b.state().poses).zip(mechanism.bodies())
                    {
                        let off = distance(a, b);
                        assert!(off < $near, "{}: {} after {step} steps: {off:e}", $engine, body.name);
                    }
                }
            };
        }
        // Two Newton iterations leave what the frames' axes have a part in; eight leave rounding.
        same!("full", full::Model::new, |s: &mut full::Simulation| s.set_iterations(8).unwrap());
        same!("articulated", articulated::Model::new, |_| ());
        // Motions down to 1e-5 of the largest are kept, of shapes at an equilibrium that the statics find to 1e-9: the last of them
        // are known to 1e-4, and a sudden weight moves the arm along them by some 1e-3 of its way.
        // Mass is made in every step: kept until a link has turned far enough, it may be made one step sooner or later.
        let every_step = reduced::Options { turned: 0.0, ..Default::default() };
        let reduce = |m: &Mechanism| reduced::Reduction::at_rest(m).build().unwrap().with_options(every_step);
        same!("reduced", reduce, |_| (), 1e-6 * mechanism.radius());
        same!("linear", |m| Linearisation::at_rest(m).build().unwrap(), |_| ());
        let C =
            [&mechanism, &other].map(|m| Linearisation::at_rest(m).project().unwrap().compliance().clone());
        assert!((&C[0] - &C[1]).amax() < 1e-7 * C[1].amax());
    }
}

#[test]
fn loops_and_couplings_close() {
    for (name, given) in [("four-bar", ("A", 0.4)), ("four-bar", ("D", -0.2)), ("gripper", ("", 0.2))] {
        let file = gallery::build(name).unwrap();
        let sprung = file.joints().iter().find(|j| j.freedoms.iter().any(|f| f.stiffness > 0.0)).unwrap();
        let joint = if given.0.is_empty() { sprung.name.clone() } else { given.0.into() };
        let mechanism = with_start(name, &[(joint.as_str(), given.1)]);
        let start = State::at_rest(&mechanism);
        let q = start.coordinates_of(&mechanism, mechanism.find_joint(&joint).unwrap()).unwrap();
        assert!((q[0] - given.1).abs() < 1e-8, "{name}: {q:?}");
        // Statics closes loops to 1e-9 of the size.
        assert!(start.violation(&mechanism) < 1e-8, "{name}: {:e}", start.violation(&mechanism));
        for coupling in mechanism.couplings() {
            let [a, b] =
                [coupling.joint, coupling.of].map(|j| start.coordinates_of(&mechanism, j).unwrap()[0]);
            assert!((a - coupling.ratio * b - coupling.offset).abs() < 1e-8, "{name}");
        }
        // `--at` goes on from there: the same joint elsewhere, the same pose as from the file's.
        let id = mechanism.find_joint(&joint).unwrap();
        let there = [(id, vec![0.5 * given.1])];
        let a = Reference::at_positions(&mechanism, &there).unwrap();
        let b = Reference::at_positions(&file, &there).unwrap();
        for b_ in 0..mechanism.bodies().len() {
            let body = crate::common::handles::body(&mechanism, b_);
            assert!(distance(&a.pose(body).unwrap(), &b.pose(body).unwrap()) < 1e-7, "{name}");
        }
    }
}

/// A four-bar that hangs on a body which moves freely.
fn floating(start: f64) -> MechanismBuilder {
    let file = gallery::build("four-bar").unwrap();
    let mut given = builder(&file, |joint| {
        if joint.parent == "world" {
            joint.parent = "base".into();
        }
        if joint.name == "A" {
            joint.start = Some(PerFreedom::All(start));
        }
    });
    let inertia = file.bodies()[0].inertia;
    given.body(
        pliant_core::mechanism::Body::new("base", Pose::translation([1.0, 2.0, 3.0])).inertia(inertia).free(),
    );
    given
}

#[test]
fn loops_on_a_free_base_close_and_it_stays() {
    let mechanism = floating(0.4).build().unwrap();
    let start = State::at_rest(&mechanism);
    let base = mechanism.find_body("base").unwrap();
    assert!((start.pose(base).unwrap().position - Vector3::new(1.0, 2.0, 3.0)).norm() < 1e-9);
    assert!(start.violation(&mechanism) < 1e-8);
    // The bars are where they are without the base, which is no part of the loop.
    let fixed = State::at_rest(&with_start("four-bar", &[("A", 0.4)])).poses;
    for (a, b) in start.poses.iter().zip(&fixed) {
        assert!(distance(a, b) < 1e-8, "{:e}", distance(a, b));
    }
}

#[test]
fn starts_that_cannot_be_are_defects() {
    let file = gallery::build("four-bar").unwrap();
    let defects =
        |change: &mut dyn FnMut(&mut JointDescription)| builder(&file, change).build().unwrap_err().defects;
    // Two angles of a four-bar cannot be chosen independently.
    let found = defects(&mut |joint| {
        joint.start = match joint.name.as_str() {
            "A" => Some(PerFreedom::All(0.5)),
            "B" => Some(PerFreedom::All(0.5)),
            _ => None,
        }
    });
    assert_eq!((found.len(), found[0].field), (1, Some("start")));
    assert!(matches!(found[0].element, Element::Joint(0 | 1)), "{:?}", found[0]);
    assert!(found[0].message.contains("cannot start at [0.5]: loops"), "{}", found[0].message);
    let found = defects(&mut |joint| joint.start = Some(PerFreedom::All(f64::NAN)));
    assert_eq!(found[0].message, "joint `A`: start is NaN");
    let found = defects(&mut |joint| joint.start = Some(PerFreedom::Each(vec![0.0; 2])));
    assert!(found[0].message.contains("start"), "{}", found[0].message);
    // A way that nobody can mean is not followed.
    let found = defects(&mut |joint| joint.start = (joint.name == "A").then_some(PerFreedom::All(1e9)));
    assert!(found[0].message.contains("too long"), "{}", found[0].message);
}

/// Three hinges in a row, of which the second follows the first and the third the second, each with an offset.
fn followers() -> Mechanism {
    let mut builder = MechanismBuilder::new("followers");
    let mut parent = "world".to_string();
    for i in 0..3 {
        let (name, at) = (format!("link {i}"), Pose::translation([0.3 * i as f64, 0.0, 0.0]));
        let inertia = SpatialInertia::of_box(1.0, [0.3, 0.1, 0.1]);
        builder.body(Body::new(&name, at * Pose::translation([0.15, 0.0, 0.0])).inertia(inertia));
        let frame = at * Pose::rotation([1.0, 0.0, 0.0], 0.3 * i as f64);
        let mut joint =
            JointDescription::new(format!("joint {i}"), JointKind::Hinge, &parent, &name).frame(frame);
        if i == 0 {
            joint = joint.stiffness(20.0).damping(1.0);
        }
        builder.joint(joint);
        parent = name;
    }
    builder.effector(EffectorDescription { name: "tip".into(), body: parent, frame: Pose::identity() });
    for (joint, of, ratio, offset) in [(2, 1, -0.5, 0.3), (1, 0, 2.0, 0.4)] {
        let [joint, of] = [joint, of].map(|i| format!("joint {i}"));
        builder.coupling(CouplingDescription { joint, of, ratio, offset });
    }
    builder.build().unwrap()
}

#[test]
fn couplings_with_offsets_hold_at_the_start_and_stay() {
    let mechanism = followers();
    // By hand: 2 · 0 + 0.4 and −0.5 · 0.4 + 0.3.
    let expected = [0.0, 0.4, 0.1];
    let near = |q: &[f64], within: f64, what: &str| {
        for (q, expected) in q.iter().zip(expected) {
            assert!((q - expected).abs() < within, "{what}: {q} {expected}");
        }
    };
    near(&State::at_rest(&mechanism).coordinates, 1e-15, "start");
    let states = first_states(&mechanism);
    assert_eq!(states.len(), 4);
    for (engine, state) in states {
        near(&state.coordinates, 1e-12, engine);
    }
    // The only spring is relaxed: nothing moves but by rounding.
    let mut simulations: Vec<Box<dyn Simulation>> = vec![
        Box::new(full::Model::new(&mechanism).simulate()),
        Box::new(articulated::Model::new(&mechanism).simulate()),
    ];
    for simulation in &mut simulations {
        simulation.inputs_mut().set_gravity([0.0; 3]).unwrap();
        (0..60).for_each(|_| simulation.step(FRAME).unwrap());
        let engine = simulation.engine();
        near(&simulation.state().coordinates, 1e-10, engine);
    }
}
