//! Tendon-wrap: the tendon finger curls around a fixed round post without friction, which stops its first phalanx early; the others
//! go on until they touch the post too.

use nalgebra::{UnitQuaternion, Vector3};

use super::super::link::finish;
use super::super::tendon_finger;
use super::target;
use crate::mechanism::{Geometry, Mechanism, MechanismBuilder, Shape};
use crate::spatial::Pose;

/// A tendon-driven finger that wraps around a post.
pub fn tendon_wrap() -> Mechanism {
    let mut builder = MechanismBuilder::new("tendon-wrap");
    tendon_finger::parts(&mut builder, 0.0);
    target(&mut builder, "motor", &[(0.0, 0.0), (0.1, 0.0), (0.6, 0.02)]);
    let along_y = UnitQuaternion::from_axis_angle(&Vector3::x_axis(), std::f64::consts::FRAC_PI_2);
    let post = Shape::new(Geometry::Cylinder { radius: 0.015, half_length: 0.02 });
    builder.world_shape(Shape {
        friction: Some(0.0),
        ..post.at(Pose::new(along_y, Vector3::new(0.023, 0.0, 0.03)))
    });
    finish(builder)
}
