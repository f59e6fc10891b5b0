//! Tray-carries: an arm of three links holds a bowl at its end, one effector that alone carries a block lying in it, and moves it to the side.
//!
//! ```text
//!             ┌┐ block
//!   ●───●───●└──┘ bowl        z up; hinges about y and z
//!   │
//! ```
//! Nothing but the bowl touches the block: its walls and friction hold it while the arm sags, turns by 0.8 rad within a second and stops.

use nalgebra::Vector3;

use super::super::link::{Link, box_shape, effector, finish};
use super::{loose_box, target};
use crate::joints::JointKind;
use crate::mechanism::{Body, JointDescription, Mechanism, MechanismBuilder, WORLD};
use crate::spatial::{Pose, SpatialInertia};

/// Edges of the bowl's floor, m, and the thickness of floor and walls.
const FLOOR: f64 = 0.14;
const THICK: f64 = 0.01;
const FRICTION: f64 = 0.5;

/// An arm that carries a block in a bowl.
pub fn tray_carries() -> Mechanism {
    let mut builder = MechanismBuilder::new("tray-carries");
    let points: Vec<Vector3<f64>> = [0.0, 0.3, 0.6].iter().map(|x| Vector3::new(*x, 0.0, 0.5)).collect();
    builder.body(Link::new(points[0], points[1]).mass(1.5).section(0.06).body("upper"));
    builder.body(Link::new(points[1], points[2]).mass(1.0).section(0.05).body("lower"));
    let center = Vector3::new(points[2].x + 0.5 * FLOOR, 0.0, 0.5);
    let inertia = SpatialInertia::of_box(0.3, [FLOOR, FLOOR, 0.03]);
    let mut bowl = Body::new("bowl", Pose::translation(center.into())).inertia(inertia);
    let wall = 0.5 * (FLOOR - THICK);
    for (size, at) in [
        ([FLOOR, FLOOR, THICK], [0.0, 0.0, 0.0]),
        ([THICK, FLOOR, 0.04], [wall, 0.0, 0.02]),
        ([THICK, FLOOR, 0.04], [-wall, 0.0, 0.02]),
        ([FLOOR, THICK, 0.04], [0.0, wall, 0.02]),
        ([FLOOR, THICK, 0.04], [0.0, -wall, 0.02]),
    ] {
        let mut shape = box_shape(size).at(Pose::translation(at));
        shape.friction = Some(FRICTION);
        bowl = bowl.shape(shape);
    }
    builder.body(bowl);
    for (name, parent, child, at, axis, stiffness) in [
        ("turn", WORLD, "upper", points[0], Vector3::z(), 800.0),
        ("elbow", "upper", "lower", points[1], Vector3::y(), 600.0),
        ("wrist", "lower", "bowl", points[2], Vector3::y(), 200.0),
    ] {
        let joint = JointDescription::new(name, JointKind::Hinge, parent, child).axis(at, axis);
        builder.joint(joint.stiffness(stiffness).damping(0.06 * stiffness));
    }
    builder.effector(effector("bowl", "bowl", Pose::identity()));
    let above = center.z + 0.5 * THICK + 0.025;
    builder.body(loose_box("block", [center.x, 0.0, above], 0.5, [0.06, 0.05, 0.05], FRICTION));
    target(&mut builder, "turn", &[(0.0, 0.0), (0.5, 0.0), (1.5, 0.8)]);
    finish(builder)
}
