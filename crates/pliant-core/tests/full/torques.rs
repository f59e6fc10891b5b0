//! Claim: statics under dead torques, whose tangent is not symmetric, converge as fast as under forces, to where
//! the damped motion comes to rest.

use pliant_core::engine::Simulation as _;
use pliant_core::engine::StaticsSettings;
use pliant_core::full::Model;
use pliant_core::gallery;
use pliant_core::joints::JointKind;
use pliant_core::mechanism::{Body, JointDescription, Mechanism, MechanismBuilder, WORLD};
use pliant_core::spatial::{Pose, SpatialInertia, Wrench};

fn ball() -> Mechanism {
    let mut builder = MechanismBuilder::new("ball");
    builder.gravity([0.0; 3]);
    builder.body(Body::new("a", Pose::identity()).inertia(SpatialInertia::of_box(0.1, [0.3; 3])));
    let joint = JointDescription::new("j", JointKind::Ball, WORLD, "a");
    builder.joint(joint.stiffness([2.0, 5.0, 1.0]).damping(0.1));
    builder.build().unwrap()
}

#[test]
fn torques_are_balanced_where_the_motion_rests() {
    for (mechanism, torque, in_steps) in [
        (ball(), [2.5, 1.5, 0.5], false),
        (gallery::arm(), [150.0, 100.0, -200.0], false),
        (gallery::arm(), [300.0, 200.0, -400.0], true), // too much to put on at once
    ] {
        let model = Model::new(&mechanism);
        let last = crate::common::handles::body(&mechanism, mechanism.bodies().len() - 1);
        let mut statics = model.simulate();
        statics.inputs_mut().set_body_load(last, Wrench::torque(torque)).unwrap();
        let mut motion = statics.clone();
        let found = statics.settle(&StaticsSettings::default()).unwrap();
        assert!(found.converged, "{found:?}");
        // Quadratic at the end; with the symmetric part alone it takes ten times as many, or fails.
        assert!(in_steps || found.iterations <= 10, "{found:?}");
        assert_eq!(found.load_steps > 1, in_steps, "{found:?}");
        for _ in 0..3000 {
            motion.step(1.0 / 60.0).unwrap();
        }
        for (a, b) in statics.state().poses.iter().zip(&motion.state().poses) {
            let difference = (a.position - b.position).norm() + a.rotation.angle_to(&b.rotation);
            // The angle between two close quaternions is good to the root of rounding.
            assert!(difference < 1e-7, "{}: {difference:e}", mechanism.name());
        }
    }
}
