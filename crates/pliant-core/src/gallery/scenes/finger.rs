//! Finger: three bones, each in a soft pad, bend around a fixed bar until all three pads press on it (James and Pai 2002, Fig. 5).
//!
//! ```text
//!   ┬ ━━━━━┓      bones of 45, 26 and 22 mm, drawn with their axes 0.5 mm farther from the bar than the pads are thick;
//!   │  ◯    ┃     set-points turn the three joints further
//! ```
//!
//! The pads are not joined to each other where the bones meet: the skin there is left out. The distal pad has about 834 nodes.

use std::sync::OnceLock;

use nalgebra::{Vector2, Vector3};

use super::super::link::{Link, effector, finish, passive_hinge, weld};
use super::target;
use crate::mechanism::{Body, Geometry, Mechanism, MechanismBuilder, Shape, ZoneDescription};
use crate::spatial::{Pose, SpatialInertia};

/// Of the three bones: length, radius of the pad around each, m, stiffness and damping of its joint, N·m/rad and N·m·s/rad, and how far
/// its set-point turns it on, rad.
const BONES: [(&str, f64, f64, f64, f64, f64); 3] = [
    ("proximal", 0.045, 0.0085, 3.0, 0.03, 0.08),
    ("middle", 0.026, 0.0077, 1.5, 0.015, 0.035),
    ("distal", 0.022, 0.0068, 0.5, 0.005, 0.018),
];

/// A bone is a capsule of this part of its pad's radius.
const BONE: f64 = 0.5;

/// Radius of the bar, how far along the first bone it is, and how far from the pads, m.
const BAR: f64 = 0.025;
const ALONG: f64 = 0.03;
const GAP: f64 = 5e-4;

/// A finger with three pads that bends around a bar. Its pads take a moment to make, and are kept.
pub fn finger() -> Mechanism {
    static MADE: OnceLock<Mechanism> = OnceLock::new();
    MADE.get_or_init(make).clone()
}

fn make() -> Mechanism {
    let mut builder = MechanismBuilder::new("finger");
    let mut base = Body::new("base", Pose::translation([-0.02, 0.0, 0.0]));
    base.shapes
        .push(Shape { touches: false, ..Shape::new(Geometry::Box { size: [0.03, 0.015, 0.015].into() }) });
    builder.body(base.inertia(SpatialInertia::of_box(0.02, [0.03, 0.015, 0.015])));
    builder.joint(weld("base", Vector3::new(-0.02, 0.0, 0.0)));
    // In the plane of x and z the axis of each bone touches a circle around the bar's.
    let center = Vector2::new(ALONG, -(BAR + GAP + BONES[0].2));
    let (mut from, mut parent) = (Vector2::zeros(), "base".to_string());
    for (name, length, radius, stiffness, damping, turn) in BONES {
        let away = center - from;
        let angle = ((BAR + GAP + radius) / away.norm()).asin();
        let direction = nalgebra::Rotation2::new(angle) * away.normalize();
        let to = from + direction * length;
        let point = |p: Vector2<f64>| Vector3::new(p.x, 0.0, p.y);
        let link = Link::new(point(from), point(to));
        let capsule = |radius: f64| {
            Shape::new(Geometry::Capsule { radius, half_length: 0.5 * length - radius })
                .at(Pose::with_z_along(Vector3::x(), Vector3::zeros()))
        };
        let bone = Shape { density: Some(1100.0), touches: false, ..capsule(BONE * radius) };
        let inertia = bone.inertia().expect("a capsule with a density has inertia");
        builder.body(Body::new(name, link.pose()).inertia(inertia).shape(bone.clone()));
        let joint = passive_hinge(name, parent, name, link.from, Vector3::y());
        builder.joint(joint.stiffness(stiffness).damping(damping));
        target(&mut builder, name, &[(0.0, 0.0), (0.05, 0.0), (0.35, turn)]);
        let pad = Shape { friction: Some(0.8), ..capsule(radius) };
        let mut zone = ZoneDescription::new(format!("{name} pad"), name, pad).elasticity(6e5, 0.45);
        (zone.damping, zone.bonded) = (5e-3, Some(bone));
        match name {
            "distal" => zone.nodes = Some(834),
            _ => zone.resolution = Some(3.5e-3),
        }
        builder.zone(zone);
        (from, parent) = (to, name.to_string());
    }
    let tip = Pose::translation([0.5 * BONES[2].1, 0.0, 0.0]);
    builder.effector(effector("tip", "distal", tip));
    let bar = Shape::new(Geometry::Cylinder { radius: BAR, half_length: 0.03 });
    let bar = bar.at(Pose::with_z_along(Vector3::y(), Vector3::new(center.x, 0.0, center.y)));
    builder.world_shape(Shape { friction: Some(0.8), ..bar });
    finish(builder)
}
