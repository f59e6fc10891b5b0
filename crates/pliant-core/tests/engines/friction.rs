//! Claim: dry friction in joints sticks and slips as Coulomb's law says, motors give no more than their torque limit, and what
//! acts along a joint can be changed while a simulation runs, in every engine that can, as if it had been built so.

use pliant_core::contact::{Scene, Surfaces};
use pliant_core::engine::{JointProperty, Simulation, State, Warning};
use pliant_core::engines::Engine;
use pliant_core::gallery::{self, RandomOptions};
use pliant_core::joints::JointKind;
use pliant_core::linear::Linearisation;
use pliant_core::mechanism::{
    Body, BodyId, CouplingDescription, Geometry, JointDescription, JointId, Mechanism, MechanismBuilder,
    Shape, WORLD,
};
use pliant_core::nalgebra::Vector3;
use pliant_core::spatial::{Pose, SpatialInertia, Wrench};
use pliant_core::{articulated, blended, full};

use crate::common::{bits, edited};

/// The engines with dry friction.
fn engines(mechanism: &Mechanism) -> [Box<dyn Simulation>; 2] {
    [full::Model::new(mechanism).simulate().into(), articulated::Model::new(mechanism).simulate().into()]
}

fn first_joint(mechanism: &Mechanism) -> JointId {
    mechanism.joint_ids().next().unwrap()
}

fn first_body(mechanism: &Mechanism) -> BodyId {
    mechanism.body_ids().next().unwrap()
}

/// One body on one joint, without gravity.
fn single(
    kind: JointKind,
    mass: f64,
    change: impl FnOnce(JointDescription) -> JointDescription,
) -> Mechanism {
    let mut builder = MechanismBuilder::new("single");
    builder.gravity([0.0; 3]);
    builder.body(Body::new("body", Pose::identity()).inertia(SpatialInertia::of_box(mass, [0.3, 0.3, 0.3])));
    builder.joint(change(JointDescription::new("joint", kind, WORLD, "body")));
    builder.build().unwrap()
}

/// What freedom k of a kind moves of a cube of 0.3 m.
fn moved_mass(kind: &JointKind, k: usize, mass: f64) -> f64 {
    if k < kind.translations() { mass } else { mass * 0.18 / 12.0 }
}

/// The state in which freedom k moves at a rate, all else at rest, in the file's pose.
fn moving(mechanism: &Mechanism, k: usize, rate: f64) -> State {
    let mut state = State::at_rest(mechanism);
    let kind = &mechanism.joints()[0].kind;
    let S = kind.subspace(&[0.0; 6][..kind.freedoms()]);
    let twist = S.column(k) * rate;
    state.twists[0].linear = Vector3::new(twist[0], twist[1], twist[2]);
    state.twists[0].angular = Vector3::new(twist[3], twist[4], twist[5]);
    state.rates[k] = rate;
    state
}

const KINDS: [JointKind; 7] = [
    JointKind::Prismatic,
    JointKind::Hinge,
    JointKind::Cylindrical,
    JointKind::Planar,
    JointKind::Universal,
    JointKind::Ball,
    JointKind::Bushing,
];

/// A body that slides on its own stops after v²/2a with a = F/m, to the half step v h/2 that backward Euler takes less, and then
/// stands still: every kind of joint and freedom, over eight decades of mass and of friction.
#[test]
fn a_sliding_body_stops_where_coulomb_says() {
    let h = 1e-3;
    for kind in KINDS {
        for k in 0..kind.freedoms() {
            for mass in [1e-4, 1.0, 1e4] {
                for a in [1e-4, 1.0, 1e4] {
                    let v = a * 0.1; // stops after 100 steps
                    let inertia = moved_mass(&kind, k, mass);
                    // A turn of a radian about another axis would couple the others in: the way is v²/2a = a/200.
                    if a > 1.0 && k >= kind.translations() {
                        continue;
                    }
                    let mechanism = single(kind.clone(), mass, |joint| joint.friction(a * inertia));
                    for mut simulation in engines(&mechanism) {
                        let who =
                            format!("{} {k} of {} kg at {a}, {}", kind.name(), mass, simulation.engine());
                        simulation.set_state(&moving(&mechanism, k, v)).unwrap();
                        for step in 1..=99 {
                            simulation.step(h).unwrap();
                            let expected = v - a * h * step as f64;
                            let rate = simulation.state().rates[k];
                            assert!((rate - expected).abs() < 1e-9 * v, "{who}: {rate:e} {expected:e}");
                        }
                        (0..5).for_each(|_| simulation.step(h).unwrap());
                        let way = simulation.state().coordinates[k];
                        let expected = v * v / (2.0 * a) - 0.5 * v * h;
                        assert!((way - expected).abs() < 1e-6 * expected, "{who}: {way:e} {expected:e}");
                        (0..1000).for_each(|_| simulation.step(h).unwrap());
                        // Rounding of the place itself.
                        let drift = (simulation.state().coordinates[k] - way).abs();
                        assert!(drift < 1e-12 * way, "{who} drifts by {drift:e}");
                        assert!(simulation.state().rates[k].abs() < 1e-12 * v, "{who}");
                        assert!(simulation.warnings().is_empty(), "{who}");
                    }
                }
            }
        }
    }
}

/// Below its friction a load moves a body once, by a millionth of what it would in a step, and never again; above, it
/// accelerates it by what is left over.
#[test]
fn friction_holds_up_to_its_bound() {
    let h = 1.0 / 240.0;
    for (kind, load) in [
        (JointKind::Prismatic, Wrench::force([0.0, 0.0, 1.0])),
        (JointKind::Hinge, Wrench::torque([0.0, 0.0, 1.0])),
        (JointKind::Ball, Wrench::torque([0.0, 1.0, 0.0])),
    ] {
        for scale in [1e-4, 1.0, 1e4] {
            let mechanism = single(kind.clone(), 2.0, |joint| joint.friction(3.0 * scale));
            let (body, inertia) = (first_body(&mechanism), moved_mass(&kind, 0, 2.0));
            let k = if kind == JointKind::Ball { 1 } else { 0 };
            for mut simulation in engines(&mechanism) {
                let who = format!("{} {} at {scale}", simulation.engine(), kind.name());
                simulation.inputs_mut().set_body_load(body, load * (2.99 * scale)).unwrap();
                (0..10).for_each(|_| simulation.step(h).unwrap());
                let creep = simulation.state().coordinates[k];
                assert!(creep > 0.0 && creep < 2e-6 * h * h * 3.0 * scale / inertia, "{who}: {creep:e}");
                assert!((simulation.state().friction[k] / (-2.99 * scale) - 1.0).abs() < 1e-9, "{who}");
                (0..2000).for_each(|_| simulation.step(h).unwrap());
                let drift = (simulation.state().coordinates[k] - creep).abs();
                // The last bits of a force that is in balance, over 2000 steps.
                assert!(drift < 1e-9 * creep, "{who} drifts by {drift:e}");
                // The other way round it comes back by as much: nothing wanders off.
                simulation.inputs_mut().set_body_load(body, Wrench::ZERO).unwrap();
                (0..10).for_each(|_| simulation.step(h).unwrap());
                assert!(simulation.state().coordinates[k].abs() < 1e-6 * creep, "{who}");

                simulation.inputs_mut().set_body_load(body, load * (4.0 * scale)).unwrap();
                (0..10).for_each(|_| simulation.step(h).unwrap());
                let expected = 10.0 * h * scale / inertia;
                // The first step starts from rest on the piece that holds: none of it is lost.
                let rate = simulation.state().rates[k];
                assert!((rate / expected - 1.0).abs() < 1e-5, "{who}: {rate:e} {expected:e}");
            }
        }
    }
}

/// A mass on a spring loses 2F/k of its amplitude in every half swing, and stays where friction holds the spring. Backward Euler
/// takes ½ω²h of the amplitude a second too: the difference falls with the step.
#[test]
fn a_spring_loses_twice_friction_over_stiffness_per_half_swing() {
    let (mass, stiffness, friction, start) = (2.0, 80.0, 1.0, 0.2);
    let mechanism = single(JointKind::Prismatic, mass, |joint| {
        joint.stiffness(stiffness).friction(friction).start(start)
    });
    let turns = |simulation: &mut dyn Simulation, h: f64| {
        let (mut list, mut before) = (Vec::new(), -1.0);
        for _ in 0..(5.0 / h) as usize {
            simulation.step(h).unwrap();
            let (q, rate) = (simulation.state().coordinates[0], simulation.state().rates[0]);
            if rate * before < 0.0 && rate.abs() > 1e-6 {
                list.push(q.abs());
            }
            if rate.abs() > 1e-6 {
                before = rate;
            }
        }
        list.push(simulation.state().coordinates[0].abs());
        list
    };
    // 0.2, 0.175, … by 0.025, until the spring pulls no more than friction: at 0.0125 or less.
    let expected: Vec<f64> = (1..8).map(|n| start - 0.025 * f64::from(n)).collect();
    for which in 0..2 {
        let off = |h: f64| {
            let mut simulation = engines(&mechanism)[which].clone();
            let found = turns(&mut *simulation, h);
            let all = found.iter().zip(&expected).map(|(found, expected)| (found - expected).abs());
            (all.fold(0.0, f64::max), found.len())
        };
        let ((coarse, _), (fine, count)) = (off(1e-4), off(5e-5));
        assert!(coarse < 2e-3 && count >= 7, "{coarse:e} {count}");
        assert!((fine / coarse - 0.5).abs() < 0.1, "{which}: {coarse:e} {fine:e}");
    }
}

/// A pendulum with a rough pivot: what it loses is F times the angle it goes, and it ends where friction holds its weight.
#[test]
fn a_pendulum_rubs_its_energy_away() {
    let (mass, length, friction) = (1.5, 0.4, 0.3);
    let mut builder = MechanismBuilder::new("pendulum");
    let mut inertia = SpatialInertia::of_box(mass, [0.05; 3]);
    inertia.center_of_mass = Vector3::new(length, 0.0, 0.0);
    builder.body(Body::new("bob", Pose::identity()).inertia(inertia));
    let joint =
        JointDescription::new("pivot", JointKind::Hinge, WORLD, "bob").axis(Vector3::zeros(), Vector3::y());
    builder.joint(joint.friction(friction));
    let mechanism = builder.build().unwrap();
    for which in 0..2 {
        // Energy lost, and the angle gone.
        let run = |h: f64| {
            let mut simulation = engines(&mechanism)[which].clone();
            let start = simulation.energy().total();
            let (mut way, mut last, mut before) = (0.0, 0.0f64, start);
            for step in 0..(10.0 / h) as usize {
                simulation.step(h).unwrap();
                let q = simulation.state().coordinates[0];
                way += (q - last).abs();
                last = q;
                let energy = simulation.energy().total();
                assert!(energy <= before + 1e-12, "{} gains in step {step}", simulation.engine());
                before = energy;
            }
            assert!(simulation.state().rates[0].abs() < 1e-12);
            let torque = mass * 9.81 * length * last.cos();
            assert!(torque.abs() <= friction * (1.0 + 1e-9), "{torque}");
            // The angle at which it stopped is that of its weight's lever now.
            assert!((simulation.state().friction[0].abs() / torque.abs() - 1.0).abs() < 1e-6, "{torque}");
            (start - before) / (friction * way) - 1.0
        };
        // Backward Euler takes ω²h of the energy a second too: the difference falls with the step.
        let (coarse, fine) = (run(4e-4), run(2e-4));
        assert!(coarse.abs() < 0.05 && (fine / coarse - 0.5).abs() < 0.05, "{which}: {coarse:e} {fine:e}");
    }
}

/// Random trees and loops of all kinds of joints, each with friction and some with torque limits: after every step friction is at
/// its bound against the motion, or what it holds does not move but for its creep; the engines differ by the order of the step.
#[test]
fn every_freedom_sticks_or_slips() {
    for seed in 0..30 {
        let options = RandomOptions {
            bodies: 8,
            loops: if seed % 2 == 0 { 0.0 } else { 0.4 },
            limits: false,
            kinds: KINDS.to_vec(),
            loop_kinds: KINDS.to_vec(),
            ..RandomOptions::default()
        };
        let size = [1e-2, 1e-1, 1.0][seed as usize % 3];
        let mechanism = edited(&gallery::random(seed, &options), |joint| {
            if joint.kind != JointKind::Fixed {
                joint.friction = Some(size.into());
                joint.torque_limit = (joint.name.len() % 2 == 0).then_some(2.0.into());
            }
        });
        let h = 1.0 / 1000.0;
        let mut ends = Vec::new();
        for mut simulation in engines(&mechanism) {
            let (mut stuck, mut slipped) = (0, 0);
            for _ in 0..200 {
                let before = simulation.state().clone();
                simulation.step(h).unwrap();
                let state = simulation.state().clone();
                // Rates are those at the end of the step and friction is against those that its equations were linear in: of the
                // first order in h, times what the others move.
                let fastest = state.rates.iter().fold(0.0f64, |m, x| m.max(x.abs()));
                let slack = 2.0 * h * fastest * fastest;
                for (at, freedom) in mechanism.joints().iter().flat_map(|j| &j.freedoms).enumerate() {
                    let (rate, friction) = (state.rates[at], state.friction[at]);
                    let bound = freedom.friction;
                    assert!(friction.abs() <= bound);
                    if friction.abs() == bound {
                        slipped += 1;
                        // Against the motion, or at the very bound of what holds.
                        let creeps = (friction - before.friction[at]).abs() > 0.0;
                        assert!(
                            friction * rate <= bound * slack + 1e-9 || creeps,
                            "{seed} {at}: {friction} at {rate}"
                        );
                    } else {
                        stuck += 1;
                        assert!(rate.abs() < 1e-4 + slack, "{seed} {at}: {friction} of {bound} at {rate:e}");
                    }
                    if freedom.torque_limit < f64::INFINITY {
                        let (force, limit) = (state.forces[at], freedom.torque_limit * (1.0 + 1e-9));
                        let who = format!("{seed} {at} {}", simulation.engine());
                        assert!(force.abs() <= limit, "{who}: {force} {:?}", simulation.warnings());
                    }
                }
            }
            assert!(stuck > 0 && slipped > 0, "{seed}: {stuck} {slipped}");
            assert!(simulation.warnings().is_empty(), "{seed}: {:?}", simulation.warnings());
            ends.push(simulation.state().clone());
        }
        let apart = crate::common::apart(&mechanism, &ends[0], &ends[1]);
        assert!(apart < 5e-3, "{seed}: {apart:e}");
    }
}

/// A four-bar and a coupled pair with friction in every joint, also those that close the loop: they stand where friction holds
/// them, and both engines swing the same.
#[test]
fn loops_and_couplings_rub_too() {
    let four_bar = edited(&gallery::build("loop").unwrap(), |joint| {
        if joint.kind != JointKind::Fixed {
            joint.friction = Some(1e3.into());
        }
    });
    for mut simulation in engines(&four_bar) {
        let start = simulation.state().clone();
        (0..100).for_each(|_| simulation.step(1.0 / 240.0).unwrap());
        let early = simulation.state().clone();
        (0..1000).for_each(|_| simulation.step(1.0 / 240.0).unwrap());
        let late = simulation.state().clone();
        let moved = crate::common::apart(&four_bar, &start, &early);
        let drift = crate::common::apart(&four_bar, &early, &late);
        assert!(moved < 1e-8 && drift < 1e-9, "{}: {moved:e} {drift:e}", simulation.engine());
    }
    // Two equal wheels, geared one to one: both frictions act on both.
    let mut builder = MechanismBuilder::new("geared");
    builder.gravity([0.0; 3]);
    for (name, x) in [("a", 0.0), ("b", 1.0)] {
        let at = Pose::translation([x, 0.0, 0.0]);
        builder.body(Body::new(name, at).inertia(SpatialInertia::of_box(1.0, [0.3; 3])));
        builder.joint(
            JointDescription::new(format!("axle {name}"), JointKind::Hinge, WORLD, name)
                .frame(at)
                .friction(0.5),
        );
    }
    let (joint, of) = ("axle b".to_string(), "axle a".to_string());
    builder.coupling(CouplingDescription { joint, of, ratio: -1.0, offset: 0.0 });
    let geared = builder.build().unwrap();
    let moment = 0.18 / 12.0;
    for mut simulation in engines(&geared) {
        let body = first_body(&geared);
        simulation.inputs_mut().set_body_load(body, Wrench::torque([0.0, 0.0, 0.9])).unwrap();
        (0..200).for_each(|_| simulation.step(1e-3).unwrap());
        assert!(simulation.state().coordinates[0].abs() < 1e-6, "{}", simulation.engine());
        simulation.inputs_mut().set_body_load(body, Wrench::torque([0.0, 0.0, 1.2])).unwrap();
        (0..100).for_each(|_| simulation.step(1e-3).unwrap());
        let expected = 0.1 * 0.2 / (2.0 * moment);
        let rate = simulation.state().rates[0];
        assert!((rate / expected - 1.0).abs() < 1e-3, "{}: {rate} {expected}", simulation.engine());
    }
}

/// A motor turns a wheel with its torque limit while its set-point is far, I ω̇ = T, and holds it there as one without a bound;
/// at rest it gives no more than that.
#[test]
fn a_motor_gives_no_more_than_its_torque_limit() {
    let (limit, moment) = (0.3, moved_mass(&JointKind::Hinge, 0, 2.0));
    let motor = |joint: JointDescription| joint.stiffness(50.0).damping(2.0).rest(1.0).torque_limit(limit);
    let mechanism = single(JointKind::Hinge, 2.0, motor);
    for mut simulation in engines(&mechanism) {
        let h = 1.0 / 240.0;
        for step in 1..=20 {
            simulation.step(h).unwrap();
            let (rate, expected) = (simulation.state().rates[0], step as f64 * h * limit / moment);
            assert!((rate / expected - 1.0).abs() < 1e-9, "{}: {rate} {expected}", simulation.engine());
            assert!((simulation.state().forces[0] / limit - 1.0).abs() < 1e-9);
        }
        (0..2000).for_each(|_| simulation.step(h).unwrap());
        assert!((simulation.state().coordinates[0] - 1.0).abs() < 1e-9, "{}", simulation.engine());

        let body = first_body(&mechanism);
        simulation.inputs_mut().set_body_load(body, Wrench::torque([0.0, 0.0, 0.29])).unwrap();
        assert!(simulation.settle(&Default::default()).unwrap().converged);
        assert!((simulation.state().coordinates[0] - 1.0 - 0.29 / 50.0).abs() < 1e-9);
        simulation.inputs_mut().set_body_load(body, Wrench::torque([0.0, 0.0, 0.31])).unwrap();
        // Nothing balances that.
        assert!(!simulation.settle(&Default::default()).is_ok_and(|found| found.converged));
    }
}

/// Stiffness, damping, torque limit and friction that are changed on the way: from then on the motion is that of the mechanism
/// built with them, to the last bit; and changed back, again that of the first.
#[test]
fn joints_change_while_a_simulation_runs() {
    for name in ["chain:6", "loop", "gripper", "hexapod"] {
        let original = gallery::build(name).unwrap();
        let id = original.joint_ids().find(|j| original[*j].freedoms.iter().any(|f| f.is_sprung())).unwrap();
        let (joint, d) = (original[id].name.clone(), original[id].freedoms.len());
        for (property, value) in [
            (JointProperty::Stiffness, 0.0),
            (JointProperty::Stiffness, 33.0),
            (JointProperty::Damping, 0.7),
            (JointProperty::TorqueLimit, 1e-3),
            (JointProperty::Friction, 1e-3),
        ] {
            let other = edited(&original, |description| {
                if description.name == joint {
                    let field = match property {
                        JointProperty::Stiffness => &mut description.stiffness,
                        JointProperty::Damping => &mut description.damping,
                        JointProperty::TorqueLimit => &mut description.torque_limit,
                        JointProperty::Friction => &mut description.friction,
                    };
                    *field = Some(value.into());
                }
            });
            for (mut changed, mut built) in engines(&original).into_iter().zip(engines(&other)) {
                let who = format!("{name} {} {property:?} {value}", changed.engine());
                let before = changed.inputs().joint_property(id, property).unwrap();
                (0..20).for_each(|_| changed.step(0.01).unwrap());
                changed.set_joint(id, property, &vec![value; d]).unwrap();
                // Handles are of one mechanism; the numbers of a state are the same.
                let mut state = State::at_rest(&other);
                copy(changed.state(), &mut state);
                built.set_state(&state).unwrap();
                let saved = changed.state().clone();
                changed.set_state(&saved).unwrap();
                for _ in 0..20 {
                    changed.step(0.01).unwrap();
                    built.step(0.01).unwrap();
                }
                assert_eq!(bits(changed.state()), bits(built.state()), "{who}");
                // Restored, with what was changed still so: the same again.
                let end = bits(changed.state());
                changed.set_state(&saved).unwrap();
                (0..20).for_each(|_| changed.step(0.01).unwrap());
                assert_eq!(bits(changed.state()), end, "{who}");
                changed.set_joint(id, property, &before).unwrap();
                assert_eq!(changed.inputs().joint_property(id, property).unwrap(), before);
            }
        }
    }
}

fn copy(from: &State, to: &mut State) {
    (to.time, to.steps, to.base) = (from.time, from.steps, from.base);
    to.poses.clone_from(&from.poses);
    to.twists.clone_from(&from.twists);
    for (to, from) in [
        (&mut to.coordinates, &from.coordinates),
        (&mut to.rates, &from.rates),
        (&mut to.forces, &from.forces),
        (&mut to.friction, &from.friction),
        (&mut to.multipliers, &from.multipliers),
    ] {
        to.clone_from(from);
    }
}

/// Engines that are made of the springs take no others.
#[test]
fn a_linear_model_takes_no_other_springs() {
    let chain = gallery::chain(4);
    let mut linear = Linearisation::at_rest(&chain).build().unwrap().simulate();
    let error =
        linear.set_joint(first_joint(&chain), JointProperty::Damping, &[1.0]).unwrap_err().to_string();
    assert!(
        error.contains(
            "the engine `linear` has no change of joint damping during a run; these have: full, articulated"
        ),
        "{error}"
    );
}

/// Engines without dry friction and torque limits say so, with how much that is; so does what is known of an equilibrium.
#[test]
fn what_is_left_out_is_a_warning() {
    let rough = edited(&gallery::chain(4), |joint| {
        (joint.friction, joint.torque_limit) = (Some(0.25.into()), Some(5.0.into()));
    });
    let blended = blended::Model::new(&rough, Default::default()).unwrap();
    let blended: Box<dyn Simulation> = blended.simulate().into();
    let linear: Box<dyn Simulation> = Linearisation::at_rest(&rough).build().unwrap().simulate().into();
    let stiffness = rough.joints()[0].freedoms[0].stiffness;
    for simulation in [blended, linear] {
        let warnings = simulation.warnings();
        let friction = warnings.iter().find(|warning| warning.kind == "friction").unwrap();
        assert_eq!((friction.measure, friction.unit), (0.25, "N·m"));
        assert!(friction.text.contains(&format!("{:.2e} rad", 0.25 / stiffness)), "{friction}");
        assert!(warnings.iter().any(|warning| warning.kind == "torque limits" && warning.measure == 4.0));
        let at_rest = Warning::of_rest_with_friction(&rough, simulation.inputs());
        assert_eq!(at_rest.len(), 1);
    }
    for simulation in engines(&rough) {
        assert!(simulation.warnings().is_empty());
    }
    let plain = blended::Model::new(&gallery::chain(4), Default::default()).unwrap();
    assert!(plain.simulate().warnings().is_empty());
}

/// A rough slider that a free block rests on, with contact: it holds the block's weight as its own, and lets it go above its
/// friction, whatever the engine.
#[test]
fn friction_holds_what_lies_on_it() {
    for (friction, holds) in [(12.0, true), (8.0, false)] {
        let mut builder = MechanismBuilder::new("shelf");
        let shelf =
            Body::new("shelf", Pose::identity()).inertia(SpatialInertia::of_box(0.5, [0.4, 0.4, 0.02]));
        builder.body(shelf.shape(Shape::new(Geometry::Box { size: Vector3::new(0.4, 0.4, 0.02) })));
        builder.joint(JointDescription::new("lift", JointKind::Prismatic, WORLD, "shelf").friction(friction));
        let block = Body::new("block", Pose::translation([0.0, 0.0, 0.06])).free();
        let block = block.inertia(SpatialInertia::of_box(0.5, [0.1; 3]));
        builder.body(block.shape(Shape::new(Geometry::Box { size: Vector3::repeat(0.1) })));
        let mechanism = builder.build().unwrap();
        for which in 0..2 {
            let simulate = |held: &Mechanism| engines(held)[which].clone();
            let mut scene = Scene::new(&mechanism, Surfaces::new(), simulate).unwrap();
            (0..240).for_each(|_| scene.step(1.0 / 240.0).unwrap());
            let (q, rate) = (scene.state().coordinates[0], scene.state().rates[0]);
            // 9.81 N of weight in all; what is left over accelerates both.
            let expected = if holds { 0.0 } else { -(9.81 - friction) / 1.0 };
            assert!(
                (rate - expected).abs() < 0.01 * friction / 12.0,
                "{which} {friction}: {q} {rate} {expected}"
            );
            assert!(!holds || q.abs() < 1e-6, "{which}: {q:e}");
        }
    }
}

/// A value that cannot be, a list of another length and a joint of another mechanism are errors, and nothing changes.
#[test]
fn what_a_joint_cannot_be_is_refused() {
    let mechanism = gallery::two_link();
    let (joint, foreign) = (first_joint(&mechanism), first_joint(&gallery::chain(3)));
    for mut simulation in engines(&mechanism) {
        let before = simulation.inputs().clone();
        for (property, values, message) in [
            (JointProperty::Stiffness, &[-1.0][..], "the stiffness of joint `shoulder` cannot be -1"),
            (JointProperty::Damping, &[f64::NAN], "cannot be NaN: it must be finite and zero or above"),
            (
                JointProperty::TorqueLimit,
                &[0.0],
                "the torque limit of joint `shoulder` cannot be 0: it must be above zero",
            ),
            (JointProperty::Friction, &[f64::INFINITY], "cannot be inf"),
            (JointProperty::Friction, &[1.0, 2.0], "has 2 numbers, but the joint has 1 freedoms"),
        ] {
            let error = simulation.set_joint(joint, property, values).unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
        }
        assert!(simulation.set_joint(foreign, JointProperty::Friction, &[1.0]).is_err());
        assert_eq!(*simulation.inputs(), before);
    }
    let mut simulation = articulated::Model::new(&mechanism).simulate();
    simulation.set_integrator(articulated::Integrator::RungeKutta4).unwrap();
    simulation.set_joint(joint, JointProperty::Friction, &[0.1]).unwrap();
    let error = simulation.step(1e-4).unwrap_err().to_string();
    assert!(error.contains("dry friction with the integrator of Runge and Kutta"), "{error}");
}

/// The elastic energy of a motor is the work that its spring does within its torque limit: ∫ clamp(kθ, ±T) dθ.
#[test]
fn energy_of_a_motor_at_its_limit() {
    let mut compared = 0;
    for (limit, angle) in [(1.0, 0.3), (4.0, -0.9), (4.0, 0.02), (f64::INFINITY, 1.2)] {
        let mut builder = MechanismBuilder::new("motor");
        builder.gravity([0.0; 3]);
        builder.body(Body::new("link", Pose::identity()).inertia(SpatialInertia::of_box(1.0, [0.2; 3])));
        let joint = JointDescription::new("motor", JointKind::Hinge, WORLD, "link");
        builder.joint(joint.stiffness(100.0).torque_limit(limit).start(angle));
        let mechanism = builder.build().unwrap();
        const PIECES: usize = 100_000;
        let slice = angle / PIECES as f64;
        let torque = |at: f64| (100.0 * at).clamp(-limit, limit);
        let work: f64 = (0..PIECES).map(|i| torque((i as f64 + 0.5) * slice) * slice).sum();
        for engine in [Engine::Full, Engine::Articulated, Engine::Reduced] {
            let elastic = engine.simulate(&mechanism).unwrap().energy().elastic;
            assert!((elastic / work - 1.0).abs() < 1e-8, "{engine:?}, {limit}: {elastic} {work}");
            compared += 1;
        }
    }
    assert_eq!(compared, 12);
}
