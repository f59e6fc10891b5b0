//! Claim: trees of passive balls turn many times about axes that change, on fixed and free bases, as in the articulated engine; where a ball
//! cannot be counted from the other side, the error says which joint it is.

use pliant_core::articulated;
use pliant_core::engine::Simulation;
use pliant_core::joints::JointKind;
use pliant_core::mechanism::{
    Body, EffectorDescription, JointDescription, Mechanism, MechanismBuilder, WORLD,
};
use pliant_core::nalgebra::{Matrix3, Vector3};
use pliant_core::reduced::Reduction;
use pliant_core::spatial::{Pose, SpatialInertia};

use super::kept_mass::all_motions;

/// A wound hinge on a base that a ball carries, or nothing, and two arms of passive joints on its hub.
fn wound(kind: &JointKind, free: bool, root: Option<(f64, f64)>) -> Mechanism {
    let mut builder = MechanismBuilder::new("wound");
    builder.gravity([0.0; 3]);
    let inertia = |mass, I: [f64; 3]| SpatialInertia {
        mass,
        center_of_mass: Vector3::zeros(),
        inertia: Matrix3::from_diagonal(&I.into()),
    };
    let base = Body::new("base", Pose::identity()).inertia(inertia(0.5, [1e-3, 1.2e-3, 1.5e-3]));
    builder.body(if free { base.free() } else { base });
    if !free {
        let mut joint = JointDescription::new("root", JointKind::Ball, WORLD, "base");
        joint.limits = root.map(Into::into);
        builder.joint(joint);
    }
    let hub = Body::new("hub", Pose::translation([0.02, 0.0, 0.05]));
    builder.body(hub.inertia(inertia(0.3, [2e-4, 3e-4, 4e-4])));
    let wind = JointDescription::new("wind", JointKind::Hinge, "base", "hub");
    let at = Vector3::new(0.01, 0.0, 0.02);
    builder.joint(wind.axis(at, Vector3::new(0.2, 0.1, 1.0)).stiffness(0.001).start(60.0));
    for arm in 0..2 {
        let side = 1.0 - 2.0 * arm as f64;
        let mut parent = "hub".to_string();
        for i in 0..3 {
            let name = format!("{arm}{i}");
            let at = Vector3::new(0.03 + 0.06 * i as f64, 0.01 * side * i as f64, 0.05 + 0.02 * side);
            let center = Pose::translation((at + Vector3::new(0.03, 0.005 * side, 0.0)).into());
            builder.body(Body::new(&name, center).inertia(inertia(0.05, [2e-5, 3e-5, 1.5e-5])));
            let axis = Vector3::new(0.3 * side, 0.5 - 0.4 * i as f64, 0.6);
            builder.joint(JointDescription::new(&name, kind.clone(), &parent, &name).axis(at, axis));
            builder.effector(EffectorDescription {
                name: name.clone(),
                body: name.clone(),
                frame: Pose::identity(),
            });
            parent = name;
        }
    }
    builder.build().unwrap()
}

/// Three seconds of steps: the energy after one over that at the start, the most that there was over it, and how far all bodies turned.
fn run(simulation: &mut dyn Simulation, dt: f64) -> [f64; 3] {
    let start = simulation.energy().total();
    let (mut first, mut most, mut turned) = (0.0, 0.0f64, 0.0);
    let mut last = simulation.state().clone();
    for step in 0..(3.0 / dt).round() as usize {
        simulation.step(dt).unwrap();
        let energy = simulation.energy().total() / start;
        most = most.max(energy);
        if step + 1 == (1.0 / dt).round() as usize {
            first = energy;
        }
        let state = simulation.state();
        let angles = state.poses.iter().zip(&last.poses).map(|(a, b)| a.rotation.angle_to(&b.rotation));
        turned += angles.sum::<f64>();
        last.clone_from(state);
    }
    [first, most, turned]
}

#[test]
fn balls_turn_many_times() {
    for kind in [JointKind::Ball, JointKind::Hinge] {
        for free in [false, true] {
            let mechanism = wound(&kind, free, None);
            for dt in [1.0 / 60.0, 1.0 / 240.0, 1e-3] {
                let case = format!("{kind:?}, free {free}, {dt}");
                let [kept, ..] = run(&mut articulated::Model::new(&mechanism).simulate(), dt);
                for model in [Reduction::at_rest(&mechanism).build().unwrap(), all_motions(&mechanism)] {
                    let [first, most, turned] = run(&mut model.simulate(), dt);
                    assert!(most < 1.001 && turned > 100.0, "{case}: {most}, {turned}");
                    // The first second, before rounding and steps have led them apart.
                    assert!((first - kept).abs() < 0.01, "{case}: {first}, {kept}");
                }
            }
        }
    }
}

/// With limits a ball is not counted from the other side.
#[test]
fn a_ball_that_cannot_pass_a_whole_turn_is_named() {
    let mechanism = wound(&JointKind::Ball, false, Some((-100.0, 100.0)));
    let mut simulation = all_motions(&mechanism).simulate();
    let error = (0..600).find_map(|_| simulation.step(1.0 / 60.0).err()).expect("a whole turn").to_string();
    assert!(error.contains("joint `root` has turned by") && error.contains("`articulated`"), "{error}");
}
