//! Adaptive-thin and adaptive-thick: the adaptive gripper hangs on a vertical slide, closes on something, lifts it by 5 cm and
//! holds it.
//!
//! A plate of 10 mm between the pads is pinched: the couplers stay on their stops. A bar of 65 mm that lies higher, on a post,
//! stops the spring links first: the couplers leave their stops and the pads turn in under it.

use nalgebra::{UnitQuaternion, Vector3};

use super::super::adaptive_gripper;
use super::super::link::{box_shape, finish};
use super::{lift, loose_box, target};
use crate::mechanism::{Body, Geometry, Mechanism, MechanismBuilder, Shape};
use crate::spatial::{Pose, SpatialInertia};

/// What the adaptive gripper grasps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Thickness {
    /// A plate of 10 mm and 200 g, to pinch.
    Thin,
    /// A round bar of 65 mm and 300 g, to envelop.
    Thick,
}

/// Times at which it closes, has closed, lifts and has lifted, s.
const TIMES: [f64; 4] = [0.1, 0.6, 0.8, 1.6];
/// Angle of the drivers' set-points, closed, rad.
const CLOSED: f64 = 0.8;
const FRICTION: f64 = 0.6;

/// An adaptive gripper that picks up something.
pub fn adaptive_grasp(what: Thickness) -> Mechanism {
    let (name, object, center, half) = match what {
        Thickness::Thin => ("adaptive-thin", "plate", -0.145, 0.03),
        Thickness::Thick => ("adaptive-thick", "bar", -0.11, 0.0325),
    };
    let mut builder = MechanismBuilder::new(name);
    lift(&mut builder, "palm");
    adaptive_gripper::parts(&mut builder);
    let [closing, closed, lifting, lifted] = TIMES;
    target(&mut builder, "lift", &[(0.0, 0.0), (lifting, 0.0), (lifted, 0.05)]);
    for joint in ["left_driver", "right_driver"] {
        target(&mut builder, joint, &[(0.0, 0.0), (closing, 0.0), (closed, CLOSED)]);
    }
    builder.body(match what {
        Thickness::Thin => loose_box(object, [0.0, 0.0, center], 0.2, [0.01, 0.05, 2.0 * half], FRICTION),
        Thickness::Thick => bar(object, center, half),
    });
    // A post below it, narrower than what is between the closed fingers.
    let post = box_shape([8e-3, 0.05, 0.1]).at(Pose::translation([0.0, 0.0, center - half - 0.05]));
    builder.world_shape(Shape { friction: Some(FRICTION), ..post });
    finish(builder)
}

/// A round bar along y.
fn bar(name: &str, height: f64, radius: f64) -> Body {
    let along_y = UnitQuaternion::from_axis_angle(&Vector3::x_axis(), std::f64::consts::FRAC_PI_2);
    let shape = Shape::new(Geometry::Cylinder { radius, half_length: 0.025 });
    let mass = 0.3;
    Body::new(name, Pose::new(along_y, Vector3::z() * height))
        .inertia(SpatialInertia::of_box(mass, [1.7 * radius, 1.7 * radius, 0.05]))
        .shape(Shape { friction: Some(FRICTION), ..shape })
        .free()
}
