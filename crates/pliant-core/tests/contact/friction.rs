//! Claim: friction between a body and a compliant effector sticks and slips as Coulomb's law in one dimension says, in
//! every engine. The law is solved here on its own, as a recursion of two scalars, and in closed form where there is one.

use crate::common::models::Models;
use pliant_core::contact::{Solver, World};
use pliant_core::joints::JointKind;
use pliant_core::mechanism::{
    Body, EffectorDescription, Geometry, JointDescription, Mechanism, MechanismBuilder, Shape, WORLD,
};
use pliant_core::spatial::{Pose, SpatialInertia, Wrench};

const G: f64 = 9.81;

fn slab(size: [f64; 3], friction: f64) -> Shape {
    Shape { friction: Some(friction), ..Shape::new(Geometry::Box { size: size.into() }) }
}

/// One body on one joint with springs and dampers, an effector on it.
fn sprung(body: Body, kind: JointKind, frame: Pose, stiffness: Vec<f64>, damping: Vec<f64>) -> Mechanism {
    let mut builder = MechanismBuilder::new("sprung");
    builder.gravity([0.0, 0.0, -G]);
    let mut joint = JointDescription::new("spring", kind, WORLD, &body.name);
    joint.frame = frame;
    joint.stiffness = Some(stiffness.into());
    joint.damping = Some(damping.into());
    builder.effector(EffectorDescription {
        name: "top".into(),
        body: body.name.clone(),
        frame: Pose::identity(),
    });
    builder.joint(joint).body(body);
    builder.build().unwrap()
}

/// A block on a plate that a spring holds along x is pulled harder and harder, let go, and pulled again. It sticks until
/// the plate pushes with µN, slips while it is pulled harder and until it has lost its speed, and sticks again.
#[test]
fn a_pulled_block_sticks_and_slips() {
    let (m, M, k, c, friction) = (1.0, 0.3, 2000.0, 10.0, 0.4);
    let most = friction * m * G;
    let size = [1.0, 0.3, 0.02];
    let plate = Body::new("plate", Pose::identity())
        .inertia(SpatialInertia::of_box(M, size))
        .shape(slab(size, friction));
    let along_x = Pose::rotation([0.0, 1.0, 0.0], std::f64::consts::FRAC_PI_2);
    let mechanism = sprung(plate, JointKind::Prismatic, along_x, vec![k], vec![c]);
    let models = Models::new(&mechanism);
    let (h, settling, rising, period) = (1.0 / 960.0, 0.5, 1.2, 1.8);
    // From 0 to 1.5 µN in the first part of each period, nothing in the rest.
    let pull = |t: f64| {
        let t = (t - settling).rem_euclid(period);
        if t < rising { 1.5 * most * t / rising } else { 0.0 }
    };
    for actor in models.simulations() {
        let engine = actor.engine();
        let mut world = World::new([0.0, 0.0, -G]);
        world.set_solver(Solver::Exact { tolerance: 1e-10 });
        let id = world.add(actor).unwrap();
        let block = Body::new("block", Pose::translation([0.0, 0.0, 0.02]))
            .inertia(SpatialInertia::of_box(m, [0.1, 0.1, 0.02]))
            .shape(slab([0.1, 0.1, 0.02], friction));
        let block = world.add_body(&block.free()).unwrap();
        while world.time() < settling - 0.5 * h {
            world.step(h).unwrap();
        }
        // (M + hc + h²k) v⁺ = Mv − hkx − λ and m w⁺ = mw + hF + λ, |λ| ≤ µmgh, λ against w⁺ − v⁺ where it is at that bound.
        let (mut x, mut v, mut y, mut w) = (0.0, 0.0, 0.0, 0.0);
        let A = M + h * c + h * h * k;
        let (mut slips, mut changes, mut onsets) = (false, Vec::new(), Vec::new());
        let start = world.body(block).unwrap().pose().position.x;
        let mut apart = 0.0f64;
        for step in 0..(3.0 * period / h) as usize {
            let t = settling + step as f64 * h;
            let F = pull(t);
            world.body_mut(block).unwrap().set_load(Wrench::force([F, 0.0, 0.0]));
            world.step(h).unwrap();
            (v, w) = ((M * v - h * k * x) / A, w + h * F / m);
            let free = (v - w) / (1.0 / m + 1.0 / A);
            let impulse = free.clamp(-most * h, most * h);
            (v, w) = (v - impulse / A, w + impulse / m);
            (x, y) = (x + h * v, y + h * w);
            let place = world.simulation_mut(id).unwrap().state().poses[0].position.x;
            let moved = world.body(block).unwrap().pose().position.x - start;
            apart = apart.max((place - x).abs()).max((moved - y).abs());
            let now = free != impulse;
            if now != slips {
                changes.push(t);
                if now {
                    onsets.push((F, k * place));
                }
            }
            slips = now;
            if !slips && step > 0 {
                // Nothing creeps: what is left is the solver's tolerance.
                let slip = world.body(block).unwrap().twist().linear.x
                    - world
                        .simulation_mut(id)
                        .unwrap()
                        .state()
                        .world_twist(mechanism.effectors()[0].body)
                        .unwrap()
                        .linear
                        .x;
                assert!(slip.abs() < 1e-6, "{engine}: at {t} s it creeps at {slip} m/s");
            }
        }
        // Three times each.
        assert_eq!(changes.len(), 6, "{engine}: {changes:?}");
        for (F, spring) in onsets {
            // Slip begins where pull and spring are µN, but for the plate's inertia and damper as the pull rises: 10 N·s/m
            // times 2.5 mm/s, and swings of that size.
            assert!((F / most - 1.0).abs() < 0.01, "{engine}: pulled with {F} of {most}");
            assert!((spring / most - 1.0).abs() < 0.015, "{engine}: the spring has {spring} of {most}");
        }
        // The block slides 0.2 m in all. What is left is how far its weight still sinks and the solver's tolerance.
        assert!(apart < 1e-7, "{engine}: {apart} m from the law");
        assert!(y > 0.2, "{engine}: it slid {y} m");
    }
}

/// A block on a spring that rubs on the floor: each half swing takes 2µN/k from its amplitude, until that is below µN/k,
/// where it sticks.
#[test]
fn swings_that_rub_lose_the_same_each_time() {
    let (m, k, friction) = (1.0, 400.0, 0.1);
    let lost = friction * m * G / k;
    let start = 10.3 * lost;
    let size = [0.1, 0.1, 0.02];
    let block = Body::new("block", Pose::translation([0.0, 0.0, 0.01]))
        .inertia(SpatialInertia::of_box(m, size))
        .shape(slab(size, friction));
    let stiffness = vec![k, k, 0.1, 100.0, 100.0, 100.0];
    let frame = Pose::translation([0.0, 0.0, 0.01]);
    let mechanism = sprung(block, JointKind::Bushing, frame, stiffness, vec![0.0; 6]);
    let spring = mechanism.find_joint("spring").unwrap();
    let models = Models::new(&mechanism);
    let h = 1.0 / 10_000.0;
    for actor in models.simulations() {
        let engine = actor.engine();
        let mut world = World::new([0.0, 0.0, -G]);
        world.set_solver(Solver::Exact { tolerance: 1e-11 });
        world.add_shape(&slab([1.0; 3], friction).at(Pose::translation([0.0, 0.0, -0.5]))).unwrap();
        let id = world.add(actor).unwrap();
        for _ in 0..5000 {
            world.step(h).unwrap();
        }
        let target = [-start, 0.0, 0.0, 0.0, 0.0, 0.0];
        world.simulation_mut(id).unwrap().inputs_mut().set_target(spring, &target).unwrap();
        // (m + h²k) v⁺ = mv − hk(x + start) + λ, |λ| ≤ µmgh.
        let (mut x, mut v, A) = (0.0, 0.0, m + h * h * k);
        let (mut turns, mut apart, mut last) = (vec![start], 0.0f64, 0.0);
        for _ in 0..12_000 {
            world.step(h).unwrap();
            v = (m * v - h * k * (x + start)) / A;
            v -= (A * v).clamp(-friction * m * G * h, friction * m * G * h) / A;
            x += h * v;
            let state = world.simulation_mut(id).unwrap().state();
            let (place, speed) = (state.poses[0].position.x, state.twists[0].linear.x);
            apart = apart.max((place - x).abs());
            if last != 0.0 && (speed * last < 0.0 || speed.abs() < 1e-9) {
                turns.push(place + start);
                last = 0.0;
            }
            if speed.abs() > 1e-6 {
                last = speed;
            }
        }
        let in_lost: Vec<f64> = turns.iter().map(|x| x / lost).collect();
        // 10.3, −8.3, 6.3, −4.3, 2.3, −0.3. Backward Euler takes πωh/2 = 0.3 % of the amplitude each half swing besides.
        assert_eq!(turns.len(), 6, "{engine}: {in_lost:?}");
        for (i, turn) in in_lost.iter().enumerate() {
            let expected = (10.3 - 2.0 * i as f64) * if i % 2 == 0 { 1.0 } else { -1.0 };
            assert!((turn - expected).abs() < 0.1, "{engine}: {in_lost:?}");
        }
        // Of 25 mm, over 12 000 steps.
        assert!(apart < 1e-8, "{engine}: {apart} m from the law");
    }
}
