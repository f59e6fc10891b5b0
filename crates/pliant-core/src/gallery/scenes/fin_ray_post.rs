//! Fin-ray-post: the fin-ray finger stands on a carriage that slides by 15 mm against a fixed round post at half its height, and
//! bends around it.

use nalgebra::{UnitQuaternion, Vector3};

use super::super::fin_ray;
use super::super::link::{box_body, effector, finish};
use super::target;
use crate::joints::JointKind;
use crate::mechanism::{Geometry, JointDescription, Mechanism, MechanismBuilder, Shape, WORLD};
use crate::spatial::Pose;

/// A fin-ray finger that is pushed against a post.
pub fn fin_ray_post() -> Mechanism {
    let mut builder = MechanismBuilder::new("fin-ray-post");
    builder.body(box_body("carriage", Pose::translation([0.0, 0.0, -0.01]), 0.1, [0.06, 0.03, 0.015]));
    builder.joint(
        JointDescription::new("carriage", JointKind::Prismatic, WORLD, "carriage")
            .axis(Vector3::zeros(), Vector3::x())
            .stiffness(2e3)
            .damping(20.0),
    );
    fin_ray::parts(&mut builder, "carriage");
    builder.effector(effector("carriage", "carriage", Pose::identity()));
    target(&mut builder, "carriage", &[(0.0, 0.0), (0.1, 0.0), (0.6, -0.015)]);
    let along_y = UnitQuaternion::from_axis_angle(&Vector3::x_axis(), std::f64::consts::FRAC_PI_2);
    let post = Shape::new(Geometry::Cylinder { radius: 0.012, half_length: 0.02 });
    builder.world_shape(Shape {
        friction: Some(0.3),
        ..post.at(Pose::new(along_y, Vector3::new(-0.028, 0.0, 0.05)))
    });
    finish(builder)
}
