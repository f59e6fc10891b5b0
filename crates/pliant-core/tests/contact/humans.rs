//! Claim: the humanoid stands on its feet, which carry its weight; a bowl alone carries what lies in it; and an arm
//! whose torques are switched off sags on the device that drags it, and returns when they are on again.

use super::scenes::{position, run};
use nalgebra::Vector3;
use pliant_core::contact::{Scene, Surfaces, Touched};
use pliant_core::engine::{JointProperty, Simulation};
use pliant_core::mechanism::Mechanism;
use pliant_core::{articulated, full, gallery, nalgebra};

fn in_both_engines(name: &str, mut look: impl FnMut(&str, &Mechanism, &mut Scene)) {
    let whole = gallery::build(name).unwrap();
    for engine in ["full", "articulated"] {
        let mut scene = Scene::new(&whole, Surfaces::new(), |held| -> Box<dyn Simulation> {
            match engine {
                "full" => full::Model::new(held).simulate().into(),
                _ => articulated::Model::new(held).simulate().into(),
            }
        })
        .unwrap();
        assert!(scene.world().warnings().is_empty(), "{name}: {:?}", scene.world().warnings());
        look(engine, &whole, &mut scene);
    }
}

fn mass(whole: &Mechanism, counts: impl Fn(&str) -> bool) -> f64 {
    whole.bodies().iter().filter(|body| counts(&body.name)).map(|body| body.inertia.mass).sum()
}

/// What pushes on a body, N.
fn force_on(scene: &Scene, body: &str) -> Vector3<f64> {
    let id = scene.mechanism().find_body(body).unwrap();
    scene.world().force_on(scene.touched(id).unwrap()).unwrap().force
}

/// For 10 s: less than 1 mm deep, the weight on the feet to 0.1 %, nowhere else anything, and it has not gone anywhere. It rests where `rest`
/// says.
#[test]
fn humanoid_stands() {
    let mut heights = Vec::new();
    in_both_engines("humanoid-stands", |engine, whole, scene| {
        let mut searched = scene.clone();
        assert!(searched.rest().unwrap().converged, "{engine}");
        let (deepest, _) = run(scene, 10.0, |_| {});
        assert!(deepest < 1e-3, "{engine}: {deepest}");
        let weight = 9.80665 * mass(whole, |_| true);
        let feet = force_on(scene, "left_foot") + force_on(scene, "right_foot");
        assert!((feet.z / weight - 1.0).abs() < 1e-3, "{engine}: {} of {weight}", feet.z);
        for contact in scene.world().contacts().iter().filter(|contact| contact.force.norm() > 0.0) {
            assert!(
                [contact.first, contact.second].contains(&Touched::World),
                "{engine}: only feet on the ground"
            );
        }
        let (stands, rests) = (position(scene, "pelvis"), position(&mut searched, "pelvis"));
        assert!((stands - rests).norm() < 1e-3, "{engine}: {stands} {rests}");
        let start = whole[whole.find_body("pelvis").unwrap()].pose.position;
        assert!((stands - start).norm() < 0.05, "{engine}: {stands} of {start}");
        heights.push(stands.z);
    });
    assert!((heights[0] - heights[1]).abs() < 1e-4, "{heights:?}");
}

/// The arm turns by 0.8 rad and the block has come along, in the bowl, which carries its weight alone.
#[test]
fn a_bowl_carries_alone() {
    in_both_engines("tray-carries", |engine, whole, scene| {
        let (deepest, _) = run(scene, 4.0, |_| {});
        assert!(deepest < 5e-4, "{engine}: {deepest}");
        let (bowl, block) = (position(scene, "bowl"), position(scene, "block"));
        assert!((bowl.y.atan2(bowl.x) - 0.8).abs() < 0.01, "{engine}: {bowl}");
        assert!((block - bowl).xy().norm() < 0.05 && block.z > bowl.z, "{engine}: {bowl} {block}");
        let weight = 9.80665 * mass(whole, |name| name == "block");
        assert!((force_on(scene, "block").z / weight - 1.0).abs() < 1e-3, "{engine}");
        let bowl = scene.touched(whole.find_body("bowl").unwrap()).unwrap();
        for contact in scene.world().contacts().iter().filter(|contact| contact.force.norm() > 0.0) {
            assert!([contact.first, contact.second].contains(&bowl), "{engine}: only the bowl touches it");
        }
    });
}

/// Torques on: the hand stays within centimetres of the device's path. Off: the arm hangs on the device, at the equilibrium without
/// springs at its joints. On again: it returns to where it was, to 1e-4 m.
#[test]
fn torques_are_switched_off_and_on() {
    let arm = gallery::dragged_arm();
    let tip = arm.find_effector("hand").unwrap();
    let kinds: [(&str, Box<dyn Simulation>); 2] = [
        ("full", full::Model::new(&arm).simulate().into()),
        ("articulated", articulated::Model::new(&arm).simulate().into()),
    ];
    for (engine, mut simulation) in kinds {
        let run = |simulation: &mut Box<dyn Simulation>, seconds: f64| {
            for _ in 0..(seconds / 0.002).round() as usize {
                simulation.step(0.002).unwrap();
            }
            simulation.effector_pose(tip).unwrap().position
        };
        let start = simulation.effector_pose(tip).unwrap().position;
        let dragged = run(&mut simulation, 1.5);
        assert!((dragged - start).norm() > 0.03, "{engine}: dragged by {}", (dragged - start).norm());
        let on = run(&mut simulation, 6.0);
        let own: Vec<(_, Vec<f64>)> = arm
            .joint_ids()
            .map(|joint| {
                (joint, simulation.inputs().joint_property(joint, JointProperty::Stiffness).unwrap())
            })
            .collect();
        for (joint, stiffness) in &own {
            simulation.set_joint(*joint, JointProperty::Stiffness, &vec![0.0; stiffness.len()]).unwrap();
        }
        let off = run(&mut simulation, 20.0);
        // The device bears what muscles bore of 3.9 kg: 0.1 of the weight over 150 N/m at the least.
        assert!(on.z - off.z > 0.02, "{engine}: sags by {}", on.z - off.z);
        for (joint, stiffness) in &own {
            simulation.set_joint(*joint, JointProperty::Stiffness, stiffness).unwrap();
        }
        let again = run(&mut simulation, 10.0);
        assert!((again - on).norm() < 1e-4, "{engine}: {on} {again}");
    }
}
