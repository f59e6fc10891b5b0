//! Claim: springs that a scene describes are spring couplings that act from the start, in every engine; a point that moves is where
//! its path says at the end of each step; a spring between two bodies pushes both as the formula of its energy says; and as joints
//! they are the same springs.

use pliant_core::engine::{Simulation, Spring, StaticsSettings};
use pliant_core::gallery::{self, Passive, RandomOptions, random};
use pliant_core::mechanism::{
    BodyId, EffectorDescription, Mechanism, SpringDescription, SpringEnd, SpringStart,
};
use pliant_core::nalgebra::Vector3;
use pliant_core::spatial::{Pose, Twist, Wrench};
use pliant_core::{full, reduced};

use super::Kind;

const SETTINGS: fn() -> StaticsSettings =
    || StaticsSettings { tolerance: 1e-12, ..StaticsSettings::default() };

/// How stiff the first effector is about, N/m: what its scene's load does not move by a fifth of the radius.
fn stiffness(mechanism: &Mechanism) -> f64 {
    let load = mechanism.loads().iter().map(|load| load.wrench.force.norm()).fold(0.0, f64::max);
    load.max(1.0) / (0.2 * mechanism.radius())
}

/// With a spring from its first effector to a point that moves.
fn led(mechanism: &Mechanism, path: bool) -> Mechanism {
    let tip = &mechanism.effectors()[0];
    let at = (mechanism[tip.body].pose * tip.frame).position;
    let to = at + Vector3::new(0.02, 0.03, -0.01) * mechanism.radius();
    let (k, on) = (stiffness(mechanism), SpringStart::Effector(tip.name.clone()));
    let to = match path {
        true => SpringEnd::Path { time: vec![0.0, 0.03, 0.05], point: vec![at.into(), to.into(), at.into()] },
        false => SpringEnd::Point(to.into()),
    };
    let mut builder = mechanism.to_builder();
    builder.spring(SpringDescription {
        turning_stiffness: 0.01 * k,
        turning_damping: 1e-3 * k,
        ..SpringDescription::new("lead", on, to).stiffness(k).damping(0.05 * k)
    });
    builder.build().unwrap()
}

#[test]
fn a_spring_of_the_scene_is_a_coupling_that_follows_its_path() {
    let mut cases = 0;
    for kind in Kind::ALL {
        for name in kind.mechanisms() {
            let plain = gallery::build(name).unwrap();
            let scene = led(&plain, true);
            let (own, tip) = (&scene.springs()[0], &plain.effectors()[0]);
            let mut one = kind.simulate(&scene);
            // The same model, with a coupling that the test moves.
            let mut other = kind.simulate(&scene);
            other.inputs_mut().clear_springs();
            let turned = (plain[tip.body].pose * tip.frame).rotation;
            let id = other.inputs_mut().add_spring(Spring {
                body: tip.body,
                frame: tip.frame,
                target: Pose::new(turned, own.point[0].into()),
                target_twist: Twist::ZERO,
                stiffness: own.stiffness,
                turning_stiffness: own.turning_stiffness,
                damping: own.damping,
                turning_damping: own.turning_damping,
            });
            let id = id.unwrap();
            let dt = 0.004;
            for step in 1..=16 {
                let t = step as f64 * dt;
                // Up within 30 ms, down within 20: the path written out.
                let [a, b] = [0, 1].map(|i| Vector3::from(own.point[i]));
                let (point, speed) = match t {
                    t if t <= 0.03 => (a + (b - a) * (t / 0.03), (b - a) / 0.03),
                    t if t <= 0.05 => (b + (a - b) * ((t - 0.03) / 0.02), (a - b) / 0.02),
                    _ => (a, Vector3::zeros()),
                };
                let twist = Twist { linear: speed, angular: Vector3::zeros() };
                other.inputs_mut().set_spring_target(id, Pose::new(turned, point), twist).unwrap();
                one.step(dt).unwrap();
                other.step(dt).unwrap();
            }
            let (a, b) = (one.state().poses.clone(), other.state().poses.clone());
            let apart = a.iter().zip(&b).map(|(a, b)| (a.position - b.position).norm()).fold(0.0, f64::max);
            let moved = a.iter().zip(plain.bodies()).map(|(a, b)| (a.position - b.pose.position).norm());
            // Points of the path differ in the last bit; engines of mechanisms without springs are otherwise the same.
            assert!(apart < 1e-10 * plain.radius(), "{kind:?} {name}: {:.1e}", apart / plain.radius());
            assert!(moved.fold(0.0, f64::max) > 1e-6 * plain.radius(), "{kind:?} {name} did not move");
            cases += 1;
        }
    }
    assert!(cases > 40, "{cases}");
}

#[test]
fn springs_as_joints_have_the_same_equilibrium() {
    let mut cases = 0;
    for seed in 0..30 {
        let options = RandomOptions { passive: Passive::Never, effectors: 2, ..RandomOptions::default() };
        let plain = random(seed, &options);
        if plain.bodies().iter().any(|body| body.free) {
            continue;
        }
        let scene = led(&plain, false);
        let joints = scene.with_springs_as_joints().unwrap();
        assert_eq!(joints.joints().len(), scene.joints().len() + 1);
        let settle = |mechanism: &Mechanism| {
            let mut simulation = full::Model::new(mechanism).simulate();
            let found = simulation.settle(&SETTINGS()).unwrap();
            found.converged.then(|| simulation.state().poses.clone())
        };
        let (Some(a), Some(b)) = (settle(&scene), settle(&joints)) else { continue };
        let apart = a.iter().zip(&b).map(|(a, b)| (a.position - b.position).norm()).fold(0.0, f64::max);
        assert!(apart < 1e-8 * plain.radius(), "seed {seed}: {:.1e}", apart / plain.radius());
        cases += 1;
    }
    assert!(cases > 20, "{cases}");
}

/// Two bodies of a mechanism that no joint connects, far apart.
fn pair(mechanism: &Mechanism, seed: u64) -> Option<(BodyId, BodyId)> {
    let bodies: Vec<BodyId> = mechanism.body_ids().collect();
    let n = bodies.len() as u64;
    let (a, b) = (bodies[(seed % n) as usize], bodies[((3 * seed + n / 2) % n) as usize]);
    (a != b && !mechanism[a].free && !mechanism[b].free).then_some((a, b))
}

#[test]
fn a_spring_between_bodies_pushes_both_as_its_energy_says() {
    let mut cases = 0;
    for seed in 0..40 {
        let plain = random(seed, &RandomOptions { passive: Passive::Never, ..RandomOptions::default() });
        let Some((a, b)) = pair(&plain, seed) else { continue };
        let frame = Pose::translation([0.02, -0.01, 0.03]);
        let point = [-0.03, 0.02, 0.01];
        let k = 0.3 * stiffness(&plain);
        let names = [a, b].map(|body| plain[body].name.clone());
        let on = SpringStart::Body { body: names[0].clone(), frame };
        let to = SpringEnd::Body { body: names[1].clone(), point };
        let mut builder = plain.to_builder();
        builder.spring(SpringDescription::new("between", on, to).stiffness(k));
        let sprung = builder.build().unwrap();
        // Of the reduced engine every motion, which is exact.
        let every = reduced::Model::every_motion(&sprung).unwrap().simulate();
        for mut simulation in
            [Kind::Full.simulate(&sprung), Kind::Articulated.simulate(&sprung), every.into()]
        {
            if !simulation.settle(&SETTINGS()).is_ok_and(|found| found.converged) {
                continue;
            }
            let poses = simulation.state().poses.clone();
            // The same place without the spring, its forces as loads at the two points: nothing moves.
            let mut builder = plain.to_builder();
            for (name, body, at) in [("on", &names[0], frame), ("to", &names[1], Pose::translation(point))] {
                let (name, body) = (format!("spring {name}"), body.clone());
                builder.effector(EffectorDescription { name, body, frame: at });
            }
            let plain = builder.build().unwrap();
            let mut check = full::Model::new(&plain).simulate();
            let [x, y] = [(a, frame), (b, Pose::translation(point))]
                .map(|(body, at)| (poses[body.index()] * at).position);
            let force = (y - x) * k;
            for (name, force) in [("spring on", force), ("spring to", -force)] {
                let effector = check.effector(name).unwrap();
                check.inputs_mut().set_load(effector, Wrench::force(force.into())).unwrap();
            }
            // The joint that the spring became is the last.
            let mut state = check.state().clone();
            state.poses.clone_from(&poses);
            state.coordinates.copy_from_slice(&simulation.state().coordinates[..plain.coordinate_count()]);
            check.set_state(&state).unwrap();
            assert!(check.settle(&SETTINGS()).unwrap().converged, "seed {seed}");
            let found = &check.state().poses;
            let apart =
                found.iter().zip(&poses).map(|(a, b)| (a.position - b.position).norm()).fold(0.0, f64::max);
            assert!(
                apart < 1e-8 * plain.radius(),
                "{} seed {seed}: {:.1e}",
                simulation.engine(),
                apart / plain.radius()
            );
            cases += 1;
        }
    }
    assert!(cases > 60, "{cases}");
}

#[test]
fn a_path_that_a_user_takes_over_is_left_alone() {
    let scene = led(&gallery::arm(), true);
    let mut simulation = full::Model::new(&scene).simulate();
    let (name, id) =
        simulation.inputs().scene_springs().map(|(name, id)| (name.to_string(), id)).next().unwrap();
    assert_eq!(name, "lead");
    let target =
        Pose { position: Vector3::new(0.1, 0.2, 0.3), ..simulation.inputs().spring(id).unwrap().target };
    simulation.inputs_mut().set_spring_target(id, target, Twist::ZERO).unwrap();
    simulation.step(0.01).unwrap();
    assert_eq!(simulation.inputs().spring(id).unwrap().target, target);
    simulation.inputs_mut().remove_spring(id).unwrap();
    simulation.step(0.01).unwrap();
    assert!(simulation.inputs().spring(id).is_err());
}
