//! Claim: the gallery's grippers and fingers hold what they touch, and stay where they are: with the angles and forces that
//! their linkages have in closed form, in every engine whose links all touch.

use super::scenes::{forces, position, run, shallow};
use nalgebra::Vector3;
use pliant_core::contact::{Scene, Surfaces};
use pliant_core::engine::Simulation;
use pliant_core::mechanism::Mechanism;
use pliant_core::{articulated, full, gallery, nalgebra, reduced};

fn in_engines(name: &str, mut look: impl FnMut(&str, &Mechanism, &mut Scene)) {
    let whole = gallery::build(name).unwrap();
    type Make = fn(&Mechanism) -> Box<dyn Simulation>;
    let engines: [Make; 3] = [
        |m| full::Model::new(m).simulate().into(),
        |m| articulated::Model::new(m).simulate().into(),
        |m| reduced::Reduction::at_rest(m).build().unwrap().simulate().into(),
    ];
    for (engine, make) in ["full", "articulated", "reduced"].into_iter().zip(engines) {
        let mut scene = Scene::new(&whole, Surfaces::new(), make).unwrap();
        look(engine, &whole, &mut scene);
    }
}

fn coordinate(scene: &mut Scene, joint: &str) -> f64 {
    let mechanism = scene.mechanism();
    let own = mechanism[mechanism.find_joint(joint).unwrap()].coordinates();
    scene.state().coordinates[own][0]
}

/// Where an object is in the gripper.
fn in_palm(scene: &mut Scene, object: &str) -> Vector3<f64> {
    position(scene, object) - position(scene, "palm")
}

/// How many of the mechanism's bodies push.
fn touching(scene: &Scene) -> usize {
    let world = scene.world();
    let pushing = world.contacts().iter().filter(|c| c.force.dot(&c.normal) > 0.1);
    let mut pairs: Vec<_> =
        pushing.map(|c| [c.first, c.second].map(|t| world.name(t).unwrap().to_string())).collect();
    pairs.sort();
    pairs.dedup();
    pairs.len()
}

/// It lifts what it grasped by 50 mm, holds it for 2 s, and keeps it when shaken by 10 mm at 2 Hz.
fn lifts_and_holds(name: &str, object: &str, engine: &str, whole: &Mechanism, scene: &mut Scene) {
    let start = position(scene, object);
    let (mut deepest, _) = run(scene, 1.8, |_| {});
    let lifted = position(scene, object).z - start.z;
    let before = in_palm(scene, object);
    deepest = deepest.max(run(scene, 2.0, |_| {}).0);
    let drift = (in_palm(scene, object) - before).norm();
    let lift = whole.find_joint("lift").unwrap();
    let mut shaken = scene.clone();
    let (mut phase, mut highest) = (0.0, 0.0f64);
    run(&mut shaken, 2.0, |scene| {
        phase += std::f64::consts::TAU * 2.0 / 240.0;
        scene.inputs_mut().set_target(lift, &[0.05 + 0.01 * f64::sin(phase)]).unwrap();
        highest = highest.max(position(scene, object).z - start.z - lifted);
    });
    assert!((highest - 0.01).abs() < 2e-3, "{name} {engine}: shaken by {highest}");
    let slip = (in_palm(&mut shaken, object) - before).norm();
    println!(
        "{name} {engine}: deepest {deepest:.0e}, lifted {lifted:.5}, drift {drift:.0e}, slip {slip:.0e} m"
    );
    shallow(name, engine, deepest);
    assert!((lifted - 0.05).abs() < 2e-3, "{name} {engine}: {lifted}");
    assert!(drift < 1e-6, "{name} {engine}: {drift}");
    assert!(slip < 1e-6, "{name} {engine}: {slip}");
}

/// A plate is pinched: the couplers stay on their stops, the drivers are where the pads meet the plate, and by virtual work
/// F dx = (τ_driver + τ_spring) dθ + weight, with pads that swing on parallelograms of sides of L at the angle φ + θ.
#[test]
fn adaptive_gripper_pinches_a_plate() {
    in_engines("adaptive-thin", |engine, whole, scene| {
        lifts_and_holds("adaptive-thin", "plate", engine, whole, scene);
        let (x, z) = (0.0373f64, -0.043f64);
        let (L, phi) = (x.hypot(z), (-z).atan2(x));
        // Pads go from 42.5 mm to 5 mm: L cos(φ + θ) = x − 37.5 mm.
        let angle = ((x - 0.0375) / L).acos() - phi;
        let (sine, cosine) = angle.sin_cos();
        // A link whose centre is so far from its pivot goes down by that distance along x, turned.
        let down = |x: f64, z: f64| x * cosine + z * sine;
        let weight = 9.80665
            * (0.009 * down(0.0315 / 2.0, 0.0041 / 2.0)
                + 0.014 * down((0.0315 + x) / 2.0, (0.0041 + z) / 2.0)
                + 0.022 * down(x / 2.0, z / 2.0)
                + 0.03 * down(x, z));
        let expected = (5.0 * (0.8 - angle) + 0.05 * (2.62 - angle) + weight) / (L * (phi + angle).sin());
        for side in ["left", "right"] {
            let [driver, coupler] =
                ["driver", "coupler"].map(|joint| coordinate(scene, &format!("{side}_{joint}")));
            // Surfaces overlap by micrometres, and the stops give way.
            assert!((driver - angle).abs() < 2e-4, "{engine}: {driver}, not {angle}");
            assert!(coupler.abs() < 1e-4, "{engine}: {coupler}");
        }
        let found = forces(scene);
        println!("  {found:?} N, closed form {expected:.4} N");
        assert_eq!(found.len(), 2, "{engine}: {found:?}");
        for (pad, force) in found {
            assert!((force / expected - 1.0).abs() < 1e-3, "{engine}: `{pad}` {force} N, not {expected} N");
        }
    });
}

/// A round bar is enveloped: the couplers have left their stops, and both links of both fingers push.
#[test]
fn adaptive_gripper_envelops_a_bar() {
    in_engines("adaptive-thick", |engine, whole, scene| {
        lifts_and_holds("adaptive-thick", "bar", engine, whole, scene);
        for side in ["left", "right"] {
            let [coupler, follower] =
                ["coupler", "follower"].map(|joint| coordinate(scene, &format!("{side}_{joint}")));
            println!("  {side}: coupler {coupler:.4} follower {follower:.4}");
            assert!(coupler < -0.1, "{engine}: {coupler}");
        }
        assert_eq!(touching(scene), 4, "{engine}: {:?}", forces(scene));
    });
}

/// The tip comes over the post that pushes the flank away, and the carriage's spring carries what the post pushes.
#[test]
fn fin_ray_bends_around_the_post() {
    in_engines("fin-ray-post", |engine, _, scene| {
        let start = position(scene, "left4").x;
        let (deepest, _) = run(scene, 2.0, |_| {});
        shallow("fin-ray-post", engine, deepest);
        let before = position(scene, "left4");
        run(scene, 2.0, |_| {});
        let drift = (position(scene, "left4") - before).norm();
        let carriage = coordinate(scene, "carriage");
        let bent = before.x - start - carriage;
        let pushed: f64 = scene.world().contacts().iter().map(|c| c.force.x.abs()).sum();
        let carried = 2e3 * (carriage + 0.015);
        println!("{engine}: tip by {bent:.5} m, drift {drift:.0e} m, {pushed:.4} N and {carried:.4} N");
        assert!(bent < -5e-4, "{engine}: {bent}");
        assert!(drift < 1e-6, "{engine}: {drift}");
        assert!((pushed / carried - 1.0).abs() < 1e-3 && pushed > 0.5, "{engine}: {pushed} N, {carried} N");
    });
}

/// The post stops the first phalanx long before the angle Fr/k that it would have free; the others go on until all three touch.
/// At every joint the tendon's Fr balances its spring, the weights and the contact forces beyond it.
#[test]
fn tendon_finger_wraps_around_the_post() {
    in_engines("tendon-wrap", |engine, whole, scene| {
        let (deepest, _) = run(scene, 2.0, |_| {});
        shallow("tendon-wrap", engine, deepest);
        let before = position(scene, "distal");
        run(scene, 2.0, |_| {});
        let drift = (position(scene, "distal") - before).norm();
        println!("{engine}: {} touch, drift {drift:.0e} m", touching(scene));
        assert_eq!(touching(scene), 3, "{engine}");
        assert!(drift < 5e-6, "{engine}: {drift}");

        let force = 5000.0 * (0.02 - coordinate(scene, "motor"));
        let phalanges = [("proximal", 0.045, 0.009), ("middle", 0.028, 0.007), ("distal", 0.022, 0.005)];
        let poses = phalanges.map(|(name, ..)| scene.pose(whole.find_body(name).unwrap()).unwrap());
        for (i, (name, length, r)) in phalanges.into_iter().enumerate() {
            let pivot = poses[i].transform_point(&Vector3::new(-0.5 * length, 0.0, 0.0));
            let about = |point: Vector3<f64>, force: Vector3<f64>| (point - pivot).cross(&force).y;
            let beyond = || phalanges.iter().zip(&poses).skip(i);
            let g = 9.80665;
            let weight: f64 = beyond().map(|(_, p)| about(p.position, -0.02 * g * Vector3::z())).sum();
            let world = scene.world();
            let contact: f64 = (world.contacts().iter())
                .filter(|c| beyond().any(|((own, ..), _)| world.name(c.second).unwrap() == *own))
                .map(|c| about(c.point, c.force))
                .sum();
            // The slides of 5 g hang on the tendon: this joint's and those that it carries.
            let tendon = (force + 0.005 * g * (3 - i) as f64) * r;
            let angle = coordinate(scene, name);
            let left = tendon - 0.05 * angle + weight + contact;
            println!(
                "  {name}: {angle:.4} rad; {tendon:.5} N·m of the tendon, {contact:.5} of contact, {left:.0e} left"
            );
            // As far as the forces of sweeps over the contacts still change at rest.
            assert!(left.abs() < 1e-3 * tendon, "{engine} {name}: {left}");
            assert!(contact < 0.0 && angle < 0.5 * force * r / 0.05, "{engine} {name}: {angle} rad");
        }
    });
}
