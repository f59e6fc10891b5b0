//! Claim: what a mechanism has fixed to the world touches as the world does, but for the links that a joint connects to it or that are said
//! to pass it.

use pliant_core::contact::{FreeBodyId, World};
use pliant_core::engines::Engine;
use pliant_core::joints::JointKind;
use pliant_core::mechanism::*;
use pliant_core::nalgebra::Vector3;
use pliant_core::spatial::{Pose, SpatialInertia};

/// A door that falls about y on a table, which is a body of the mechanism, or a shape of the world; both halves of a pin overlap.
fn door(is_body: bool, passes: bool) -> Mechanism {
    let mut builder = MechanismBuilder::new("door");
    builder.gravity(STANDARD_GRAVITY);
    let table = Shape::new(Geometry::Box { size: [4.0, 4.0, 0.2].into() });
    let at = Pose::translation([0.0, 0.0, -0.6]);
    if is_body {
        builder.body(Body::new("table", at).shape(table));
        builder.joint(JointDescription::new("legs", JointKind::Fixed, WORLD, "table").frame(at));
    } else {
        builder.world_shape(table.at(at));
    }
    let pin = Shape::new(Geometry::Ball { radius: 0.1 });
    builder.body(Body::new("post", Pose::identity()).shape(pin.clone()));
    builder.joint(JointDescription::new("ground", JointKind::Fixed, WORLD, "post"));
    let leaf = Shape::new(Geometry::Box { size: [1.0, 0.3, 0.05].into() });
    let mut body = Body::new("leaf", Pose::translation([0.5, 0.0, 0.0]))
        .inertia(SpatialInertia::of_box(1.0, [1.0, 0.3, 0.05]))
        .shape(leaf)
        .shape(pin.at(Pose::translation([-0.5, 0.0, 0.0])));
    if passes {
        body.passes.push("table".into());
    }
    builder.body(body);
    let hinge =
        JointDescription::new("hinge", JointKind::Hinge, "post", "leaf").axis(Vector3::zeros(), Vector3::y());
    builder.joint(hinge.damping(0.05));
    builder.effector(EffectorDescription {
        name: "edge".into(),
        body: "leaf".into(),
        frame: Pose::identity(),
    });
    builder.build().unwrap()
}

/// The hinge's angle and where a ball is that fell on the table, after two seconds; and the largest angle until then.
fn rest(mechanism: &Mechanism, engine: Engine, world_shapes: bool) -> (f64, Vector3<f64>, f64) {
    let mut world = World::new(STANDARD_GRAVITY);
    if world_shapes {
        mechanism.world_shapes().iter().for_each(|shape| world.add_shape(shape).unwrap());
    }
    let id = world.add(engine.simulate(mechanism).unwrap()).unwrap();
    let ball = Body::new("ball", Pose::translation([-1.0, 0.3, 0.1]))
        .inertia(SpatialInertia::of_box(0.5, [0.1; 3]))
        .shape(Shape::new(Geometry::Ball { radius: 0.05 }))
        .free();
    let ball: FreeBodyId = world.add_body(&ball).unwrap();
    let mut largest = 0.0f64;
    for _ in 0..480 {
        world.step(1.0 / 240.0).unwrap();
        largest = largest.max(world.simulation_mut(id).unwrap().state().coordinates[0]);
    }
    let state = world.simulation_mut(id).unwrap().state().clone();
    (state.coordinates[0], world.body(ball).unwrap().pose().position, largest)
}

#[test]
fn what_is_fixed_touches() {
    for engine in [Engine::Articulated, Engine::Full, Engine::Reduced] {
        let (fixed, shape) = (door(true, false), door(false, false));
        assert!(fixed.has_contact());
        let (one, two) = (rest(&fixed, engine, false), rest(&shape, engine, true));
        println!("{engine:?}: {one:?} {two:?}");
        // The leaf's edge, 0.025 m from its middle, is on the table at −0.5 m: sin a + 0.025 cos a = 0.5.
        let angle = one.0;
        assert!((angle.sin() + 0.025 * angle.cos() - 0.5).abs() < 1e-3, "{engine:?}: {angle}");
        assert!((one.1.z + 0.45).abs() < 1e-3, "{engine:?}: {:?}", one.1);
        assert!((one.0 - two.0).abs() < 1e-9 && (one.1 - two.1).norm() < 1e-9, "{engine:?}: {one:?} {two:?}");
        // What is to pass swings past it.
        let largest = rest(&door(true, true), engine, false).2;
        assert!(one.2 < 0.6 && largest > 1.5, "{engine:?}: {} and {largest}", one.2);
    }
    // A robot on its own base alone has nothing to touch.
    let mut alone = door(true, false).to_builder();
    alone.body_mut("table").unwrap().shapes.clear();
    assert!(!alone.build().unwrap().has_contact());
}
