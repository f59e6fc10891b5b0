//! Scenes of contact: mechanisms with a world to touch and bodies that nothing holds, and set-points over time.

mod adaptive_grasp;
mod bridge_heap;
mod fin_ray_post;
mod finger;
mod firefighters_catch;
mod gripper_pick;
mod hand_grasp;
mod hexapod_terrain;
mod humanoid;
mod pad;
mod peg_in_hole;
mod soft_gripper;
mod tendon_wrap;
mod tray_carries;

pub use adaptive_grasp::{Thickness, adaptive_grasp};
pub use bridge_heap::bridge_heap;
pub use fin_ray_post::fin_ray_post;
pub use finger::finger;
pub use firefighters_catch::firefighters_catch;
pub use gripper_pick::gripper_pick;
pub use hand_grasp::{Grasped, hand_grasp, soft_hand};
pub use hexapod_terrain::hexapod_terrain;
pub use humanoid::humanoid_stands;
pub use pad::pad;
pub use peg_in_hole::peg_in_hole;
pub use soft_gripper::{Fingertips, soft_gripper};
pub use tendon_wrap::tendon_wrap;
pub use tray_carries::tray_carries;

use nalgebra::{Matrix3, Vector3};

use super::link::box_body;
use crate::joints::JointKind;
use crate::mechanism::{Body, Geometry, JointDescription, MechanismBuilder, Shape, TargetDescription, WORLD};
use crate::spatial::{Pose, SpatialInertia};

/// The top of the ground at a height, as a wide box.
fn ground(height: f64, friction: f64) -> Shape {
    let shape = Shape::new(Geometry::Box { size: Vector3::new(4.0, 4.0, 0.2) });
    Shape { friction: Some(friction), ..shape.at(Pose::translation([0.0, 0.0, height - 0.1])) }
}

/// A box that nothing holds.
fn loose_box(name: &str, center: [f64; 3], mass: f64, size: [f64; 3], friction: f64) -> Body {
    let mut body = box_body(name, Pose::translation(center), mass, size).free();
    body.shapes[0].friction = Some(friction);
    body
}

/// A ball that nothing holds.
fn loose_ball(name: &str, center: [f64; 3], mass: f64, radius: f64, friction: f64) -> Body {
    let inertia = SpatialInertia {
        mass,
        center_of_mass: Vector3::zeros(),
        inertia: Matrix3::from_diagonal_element(0.4 * mass * radius * radius),
    };
    let shape = Shape { friction: Some(friction), ..Shape::new(Geometry::Ball { radius }) };
    Body::new(name, Pose::translation(center)).inertia(inertia).shape(shape).free()
}

/// A stiff vertical slide that carries a body, for a hand or a gripper that is lifted.
fn lift(builder: &mut MechanismBuilder, body: &str) {
    builder.joint(
        JointDescription::new("lift", JointKind::Prismatic, WORLD, body)
            .axis(Vector3::zeros(), Vector3::z())
            .stiffness(2e4)
            .damping(400.0),
    );
}

/// A set-point of a joint of one freedom: (time, position) by (time, position), s and m or rad.
fn target(builder: &mut MechanismBuilder, joint: &str, points: &[(f64, f64)]) {
    builder.target(TargetDescription {
        joint: joint.into(),
        time: points.iter().map(|(t, _)| *t).collect(),
        position: points.iter().map(|(_, x)| vec![*x]).collect(),
    });
}
