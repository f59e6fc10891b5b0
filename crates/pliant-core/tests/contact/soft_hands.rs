//! Claim: the soft hands of the gallery are held by what touches them: each joint of `finger` carries the moments of the forces on the nodes of
//! its pads, and `soft-hand` carries a ball by its fingertips.

use pliant_core::contact::{Grip, Scene, Surfaces};
use pliant_core::engine::Simulation;
use pliant_core::engines::Engine;
use pliant_core::gallery;
use pliant_core::mechanism::Mechanism;
use pliant_core::nalgebra::Vector3;

fn scene(mechanism: &Mechanism, engine: &str) -> Scene {
    let engine: Engine = engine.parse().unwrap();
    Scene::new(mechanism, Surfaces::new(), |held| engine.simulate(held).unwrap()).unwrap()
}

#[test]
fn joints_of_the_finger_carry_what_presses_on_its_pads() {
    let mechanism = gallery::finger();
    let mut all: Vec<Vec<f64>> = Vec::new();
    for engine in ["full", "articulated", "reduced"] {
        let mut scene = scene(&mechanism, engine);
        (0..400).for_each(|_| scene.step(2e-3).unwrap());
        let state = scene.state().clone();
        let names = ["proximal", "middle", "distal"];
        let bones = names.map(|name| mechanism.find_body(name).unwrap());
        // Forces at places, by bone: those on its nodes, and its weight.
        let mut forces: [Vec<(Vector3<f64>, Vector3<f64>)>; 3] = Default::default();
        for (_, zone) in scene.world().zones() {
            let bone = names.iter().position(|name| zone.name() == format!("{name} pad")).unwrap();
            for node in zone.touched() {
                let at = zone.solid().points()[node.node] + node.displacement;
                forces[bone].push((zone.pose.transform_point(&at), zone.pose.rotation * node.force));
                // Coulomb's law, node by node.
                let normal = node.pressure * node.area;
                let along = (node.traction * node.area).norm();
                assert!(
                    along <= 0.8 * normal * (1.0 + 1e-6),
                    "{engine}, {}: {along} of {normal}",
                    zone.name()
                );
                assert!(
                    node.grip == Grip::Slips || node.slip.norm() < 1e-4,
                    "{engine}: {}",
                    node.slip.norm()
                );
            }
            let nodes = zone.touched().count();
            assert!(nodes >= 2, "{engine}: {nodes} of {}", zone.name());
            if bone == 2 {
                assert!((780..=890).contains(&zone.solid().nodes()), "{}", zone.solid().nodes());
            }
        }
        for (bone, body) in bones.iter().enumerate() {
            let inertia = &mechanism[*body].inertia;
            let weight = Vector3::new(0.0, 0.0, -9.81 * inertia.mass);
            forces[bone].push((state.poses[body.index()].transform_point(&inertia.center_of_mass), weight));
        }
        let mut carried = Vec::new();
        for (k, name) in names.iter().enumerate() {
            let joint = mechanism.find_joint(name).unwrap();
            let (freedom, q) =
                (mechanism[joint].freedoms[0], state.coordinates[mechanism[joint].coordinates()][0]);
            let target = scene.inputs().rest()[mechanism[joint].coordinates()][0];
            let pose = state.poses[bones[k].index()] * mechanism.frame_in_child(&mechanism[joint]);
            let axis = pose.rotation * Vector3::z();
            let moment: f64 =
                forces[k..].iter().flatten().map(|(at, f)| (at - pose.position).cross(f).dot(&axis)).sum();
            let spring = freedom.stiffness * (q - target);
            // At rest.
            assert!((spring - moment).abs() < 1e-9 * spring.abs(), "{engine}, {name}: {spring} and {moment}");
            carried.push(spring);
        }
        all.push(carried);
    }
    for carried in &all[1..] {
        for (one, two) in carried.iter().zip(&all[0]) {
            assert!((one - two).abs() < 1e-3 * two.abs(), "{all:?}");
        }
    }
}

#[test]
fn the_soft_hand_carries_a_ball() {
    for engine in ["articulated", "full"] {
        let mechanism = gallery::soft_hand();
        let mut scene = scene(&mechanism, engine);
        let ball = mechanism.find_body("ball").unwrap();
        let before = scene.pose(ball).unwrap().position;
        (0..1000).for_each(|_| scene.step(2e-3).unwrap());
        let lifted = scene.pose(ball).unwrap().position.z - before.z;
        (0..250).for_each(|_| scene.step(2e-3).unwrap());
        let later = scene.pose(ball).unwrap().position.z - before.z;
        let touching = scene.world().zones().filter(|(_, zone)| zone.touched().count() > 0).count();
        assert!((lifted - 0.03).abs() < 3e-3 && (later - lifted).abs() < 2e-4, "{engine}: {lifted}, {later}");
        assert!(touching >= 4, "{engine}: {touching}");
        let held = scene.world().force_on(scene.touched(ball).unwrap()).unwrap().force;
        assert!((held.z - 0.15 * 9.81).abs() < 2e-3, "{engine}: {held}");
        assert!(scene.world().warnings().is_empty(), "{:?}", scene.world().warnings());
    }
}
