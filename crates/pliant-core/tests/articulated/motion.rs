//! Claim: as the step shrinks, the articulated and the full engine move the same way, to first order; a free body flies
//! as it should; a moving base carries what hangs on it.

use pliant_core::engine::Simulation as _;
use std::f64::consts::TAU;

use crate::common::{FRAME, apart, momentum};
use pliant_core::articulated::Model;
use pliant_core::full;
use pliant_core::gallery::{self, Passive, RandomOptions};
use pliant_core::joints::JointKind;
use pliant_core::mechanism::{Body, JointDescription, MechanismBuilder, WORLD};
use pliant_core::nalgebra::Vector3;
use pliant_core::spatial::{Pose, SpatialInertia, Twist, exp_rotation};

/// Halving the step halves the distance between the two engines, unless it is nothing to speak of.
#[test]
fn transients_go_to_those_of_the_full_engine() {
    let names = ["y", "arm", "ladder:12", "hand", "gripper", "four-bar", "hexapod"];
    let formulas = ["torus-chain:4", "windmill", "spline-slide", "surface-slide"];
    let mut mechanisms: Vec<_> =
        names.into_iter().chain(formulas).map(|name| gallery::build(name).unwrap()).collect();
    for seed in [1, 2, 3, 4, 5, 6] {
        let options = RandomOptions {
            bodies: 8,
            loops: if seed < 4 { 0.0 } else { 0.3 },
            passive: Passive::InLoops,
            free_bases: seed % 2 == 0,
            limits: false,
            ..RandomOptions::default()
        };
        mechanisms.push(gallery::random(seed, &options));
    }
    for mechanism in mechanisms {
        let model = Model::new(&mechanism);
        let other = full::Model::new(&mechanism);
        let difference = |dt: f64| {
            let (mut a, mut b) = (model.simulate(), other.simulate());
            a.inputs_mut().add_scene_loads();
            b.inputs_mut().add_scene_loads();
            b.set_iterations(3).unwrap();
            for _ in 0..(0.05 / dt).round() as usize {
                a.step(dt).unwrap();
                b.step(dt).unwrap();
            }
            apart(&mechanism, a.state(), b.state())
        };
        let start = pliant_core::engine::State::at_rest(&mechanism);
        let moved = {
            let mut a = model.simulate();
            a.inputs_mut().add_scene_loads();
            (0..50).for_each(|_| a.step(1e-3).unwrap());
            apart(&mechanism, a.state(), &start)
        };
        let list: Vec<f64> = [1e-3, 5e-4, 2.5e-4].map(difference).into();
        println!("{}: moved {moved:.1e}, apart {list:?}", mechanism.name());
        assert!(list[2] < 0.02 * moved, "{}: {list:?} of {moved}", mechanism.name());
        for pair in list.windows(2) {
            assert!(pair[1] < 0.62 * pair[0] || pair[1] < 2e-4 * moved, "{}: {list:?}", mechanism.name());
        }
    }
}

/// A body that spins about a principal axis and flies keeps momentum, and its centre of mass falls as it should.
#[test]
fn a_free_body_flies() {
    let mut builder = MechanismBuilder::new("plate");
    let inertia = SpatialInertia::of_box(2.0, [0.3, 0.2, 0.1]);
    let off = Pose::translation([0.1, -0.05, 0.02]);
    builder.body(Body::new("plate", Pose::identity()).inertia(inertia.in_outer(&off)).free());
    let mechanism = builder.build().unwrap();
    let model = Model::new(&mechanism);
    let mut simulation = model.simulate();
    let mut state = simulation.state().clone();
    let w = Vector3::new(0.0, 0.0, 20.0);
    let v = Vector3::new(1.0, 2.0, 3.0);
    state.twists[0] = Twist::new(v - w.cross(&off.position), w);
    simulation.set_state(&state).unwrap();
    let start = simulation.state().poses[0].transform_point(&off.position);
    let (_, L) = momentum(&mechanism, simulation.state());
    let spin = L - start.cross(&(v * 2.0));
    for _ in 0..120 {
        simulation.step(FRAME).unwrap();
    }
    let t = simulation.state().time;
    let at = simulation.state().poses[0].transform_point(&off.position);
    // The symplectic rule for a falling point: v first, so g t²/2 · (1 + 1/n).
    let fall = -9.81 * 0.5 * t * (t + FRAME);
    assert!((at - start - v * t - Vector3::new(0.0, 0.0, fall)).norm() < 1e-11, "{at}");
    let (P, L) = momentum(&mechanism, simulation.state());
    assert!((P / 2.0 - v - Vector3::new(0.0, 0.0, -9.81 * t)).norm() < 1e-11);
    assert!((L - at.cross(&P) - spin).norm() < 1e-12 * spin.norm().max(1.0));
    // Twenty radians a second for two seconds.
    let turned = simulation.state().poses[0].rotation.inverse() * exp_rotation(&(w * t));
    assert!(turned.angle() < 1e-10, "{}", turned.angle());
}

/// On a base that goes steadily, everything hangs as on one at rest; on one that starts at once, it stays behind.
#[test]
fn a_base_carries_what_hangs_on_it() {
    let mechanism = gallery::arm();
    let model = Model::new(&mechanism);
    let v = Vector3::new(0.3, -0.2, 0.1);
    let (mut still, mut moving) = (model.simulate(), model.simulate());
    for (simulation, v) in [(&mut still, Vector3::zeros()), (&mut moving, v)] {
        let mut state = simulation.state().clone();
        state.twists.iter_mut().zip(&state.poses).for_each(|(t, p)| t.linear = p.rotation.inverse() * v);
        simulation.set_state(&state).unwrap();
    }
    for step in 1..=60 {
        let at = v * (FRAME * step as f64);
        moving.inputs_mut().set_base(Pose::translation(at.into()), Twist::new(v, Vector3::zeros())).unwrap();
        still.step(FRAME).unwrap();
        moving.step(FRAME).unwrap();
        for (a, b) in still.state().poses.iter().zip(&moving.state().poses) {
            assert!((b.position - a.position - at).norm() < 1e-12);
        }
    }

    let other = full::Model::new(&mechanism);
    let difference = |dt: f64| {
        let (mut a, mut b) = (model.simulate(), other.simulate());
        b.set_iterations(3).unwrap();
        let count = (0.05 / dt).round() as usize;
        for step in 1..=count {
            let t = dt * step as f64;
            let base = Pose::new(exp_rotation(&(Vector3::new(0.0, 0.3, 1.0) * t)), v * t);
            let twist = Twist::new(v, Vector3::new(0.0, 0.3, 1.0));
            a.inputs_mut().set_base(base, twist).unwrap();
            b.inputs_mut().set_base(base, twist).unwrap();
            a.step(dt).unwrap();
            b.step(dt).unwrap();
        }
        apart(&mechanism, a.state(), b.state())
    };
    let list = [1e-3, 5e-4, 2.5e-4].map(difference);
    println!("apart on a base that starts at once: {list:?}");
    assert!(list[2] < 1e-3 && list[1] < 0.6 * list[0] && list[2] < 0.6 * list[1], "{list:?}");
}

/// A passive ball that turns round and round: no jump in its motion at half a turn or at a whole one.
#[test]
fn a_ball_turns_on_without_a_jump() {
    let mut builder = MechanismBuilder::new("spinner");
    builder.gravity([0.0; 3]);
    builder.body(Body::new("ball", Pose::identity()).inertia(SpatialInertia::of_box(1.0, [0.1; 3])));
    builder.joint(JointDescription::new("ball", JointKind::Ball, WORLD, "ball"));
    let mechanism = builder.build().unwrap();
    let model = Model::new(&mechanism);
    let mut simulation = model.simulate();
    let mut state = simulation.state().clone();
    let w = Vector3::new(1.0, 2.0, -2.0);
    state.twists[0].angular = w;
    simulation.set_state(&state).unwrap();
    let (mut longest, mut wobble) = (0.0f64, 0.0f64);
    for step in 1..=1200 {
        simulation.step(FRAME).unwrap();
        longest = longest.max(Vector3::from_column_slice(&simulation.state().coordinates).norm());
        wobble = wobble.max((simulation.state().twists[0].angular - w).norm());
        let expected = exp_rotation(&(w * (FRAME * step as f64)));
        let off = (simulation.state().poses[0].rotation.inverse() * expected).angle();
        assert!(off < 1e-11, "step {step}: {off:e}");
    }
    println!("sixty radians: rotation vector up to {longest:.2}, wobble {wobble:.1e}");
    assert!(longest < 0.8 * TAU && wobble < 1e-12);
}
