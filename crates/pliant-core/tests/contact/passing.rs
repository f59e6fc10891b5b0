//! Claim: bodies that `passes` names do not touch, whichever of the two says it; all others do.

use pliant_core::articulated;
use pliant_core::contact::{Scene, Surfaces};
use pliant_core::engine::Simulation as _;
use pliant_core::joints::JointKind;
use pliant_core::mechanism::{Body, Geometry, JointDescription, Mechanism, MechanismBuilder, Shape};
use pliant_core::spatial::{Pose, SpatialInertia};

/// A plate on a stiff slide over a floor, and a ball above it.
fn scene(plate_passes: &[&str], ball_passes: &[&str]) -> Mechanism {
    let slab = Shape::new(Geometry::Box { size: [1.0, 1.0, 0.1].into() });
    let body = |name: &str, height: f64, shape: Shape, passes: &[&str]| Body {
        passes: passes.iter().map(|name| name.to_string()).collect(),
        ..Body::new(name, Pose::translation([0.0, 0.0, height]))
            .inertia(SpatialInertia::of_box(1.0, [0.1; 3]))
            .shape(shape)
    };
    let mut builder = MechanismBuilder::new("plate");
    builder.world_shape(slab.clone().at(Pose::translation([0.0, 0.0, -0.05])));
    builder.body(body("plate", 0.5, slab, plate_passes));
    builder.joint(
        JointDescription::new("slide", JointKind::Prismatic, "world", "plate").stiffness(1e5).damping(1e3),
    );
    builder.body(body("ball", 0.7, Shape::new(Geometry::Ball { radius: 0.1 }), ball_passes).free());
    builder.build().unwrap()
}

/// How high the ball is after a second.
fn height(mechanism: &Mechanism) -> f64 {
    let mut scene =
        Scene::new(mechanism, Surfaces::new(), |held| articulated::Model::new(held).simulate()).unwrap();
    (0..240).for_each(|_| scene.step(1.0 / 240.0).unwrap());
    scene.state().poses[1].position.z
}

#[test]
fn a_ball_falls_through_what_it_passes() {
    // On the plate, on the floor, and through both; recovery leaves a few µm.
    assert!((height(&scene(&[], &[])) - 0.65).abs() < 1e-3);
    assert!((height(&scene(&["ball"], &[])) - 0.1).abs() < 1e-3);
    assert!((height(&scene(&[], &["plate"])) - 0.1).abs() < 1e-3);
    assert!((height(&scene(&[], &["world"])) - 0.65).abs() < 1e-3);
    assert!(height(&scene(&[], &["plate", "world"])) < -2.0);
}

#[test]
fn what_is_passed_must_be_there() {
    let mut builder = MechanismBuilder::new("alone");
    let mut body = Body::new("ball", Pose::identity()).inertia(SpatialInertia::of_box(1.0, [0.1; 3])).free();
    body.passes = vec!["bell".into()];
    builder.body(body);
    let defects = builder.build().unwrap_err().defects;
    assert_eq!((defects[0].field, &*defects[0].help), (Some("passes"), "did you mean `ball`?"));
}
