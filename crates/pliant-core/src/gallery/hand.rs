//! Hand: a right hand with the palm down and the fingers along +x, slightly bent. Sixteen bones: the
//! palm, welded to the world, and five fingers of three, the thumb's first being its metacarpal.
//!
//! Knuckles are universal joints: aside about the palm's normal, then flexion; the other ten joints
//! are hinges. Flexion is positive. Sizes and ranges are those of an adult hand; limits are counted
//! from the drawn pose. Gravity acts; the index finger presses with 2 N.

use nalgebra::{Matrix3, UnitQuaternion, Vector3};

use super::link::{Link, box_body, effector, finish, load, passive_hinge, rotation, weld};
use crate::joints::JointKind;
use crate::mechanism::{Body, Geometry, JointDescription, Mechanism, MechanismBuilder, Shape};
use crate::spatial::Pose;

/// Of soft tissue and bone together, kg/m³.
const DENSITY: f64 = 1100.0;

/// N·m/rad, from the knuckle to the last joint.
const STIFFNESS: [f64; 3] = [4.0, 2.5, 1.5];
/// N·m·s/rad.
const DAMPING: [f64; 3] = [0.04, 0.025, 0.015];

pub(super) const BONES: [&str; 3] = ["proximal", "middle", "distal"];
pub(super) const THUMB_BONES: [&str; 3] = ["metacarpal", "proximal", "distal"];

struct Finger {
    name: &'static str,
    bones: [&'static str; 3],
    knuckle: Vector3<f64>,
    /// Where the straight finger points.
    along: Vector3<f64>,
    /// Where flexion takes it, square to `along`.
    towards: Vector3<f64>,
    /// m.
    lengths: [f64; 3],
    /// m.
    radii: [f64; 3],
    /// Flexion at each joint in the drawn pose, rad.
    bend: [f64; 3],
    /// Aside, and flexion at each joint from straight, rad.
    aside: (f64, f64),
    flexion: [(f64, f64); 3],
}

/// A hand of sixteen bones.
pub fn hand() -> Mechanism {
    let mut builder = MechanismBuilder::new("hand");
    builder.joint(weld("palm", Vector3::new(-0.045, 0.0, 0.0)));
    parts(&mut builder, None);
    builder.load(load("index", [0.0, 0.0, 2.0]));
    finish(builder)
}

/// How far a point is from something that fingers bend around, m.
pub(super) type Distance<'a> = &'a dyn Fn(&Vector3<f64>) -> f64;

/// Palm and fingers, without what holds the palm; each finger bent until it nearly touches what is there to be grasped.
pub(super) fn parts(builder: &mut MechanismBuilder, around: Option<Distance>) {
    builder.body(box_body("palm", Pose::identity(), 0.35, [0.09, 0.085, 0.028]));
    let fingers = [
        thumb(),
        finger("index", [0.050, 0.032], 0.10, [0.045, 0.026, 0.022], 0.0085),
        finger("middle", [0.053, 0.010], 0.02, [0.050, 0.030, 0.023], 0.0085),
        finger("ring", [0.050, -0.012], -0.06, [0.046, 0.028, 0.023], 0.008),
        finger("little", [0.044, -0.033], -0.18, [0.036, 0.021, 0.020], 0.007),
    ];
    for mut finger in fingers {
        if let Some(distance) = around {
            finger.bend_around(distance);
        }
        add_finger(builder, &finger);
    }
}

/// One of the four fingers; `spread` is the angle of its direction from x.
fn finger(name: &'static str, knuckle: [f64; 2], spread: f64, lengths: [f64; 3], radius: f64) -> Finger {
    Finger {
        name,
        bones: BONES,
        knuckle: Vector3::new(knuckle[0], knuckle[1], 0.0),
        along: Vector3::new(spread.cos(), spread.sin(), 0.0),
        towards: -Vector3::z(),
        lengths,
        radii: [radius, 0.9 * radius, 0.8 * radius],
        bend: [0.25, 0.4, 0.25],
        aside: (-0.3, 0.3),
        flexion: [(-0.3, 1.5), (0.0, 1.8), (-0.1, 1.3)],
    }
}

/// The thumb leaves the palm's side near the wrist, forward and down, and flexes across the palm.
fn thumb() -> Finger {
    let along = Vector3::new(0.62, 0.66, -0.42).normalize();
    let across = Vector3::new(0.35, -0.8, -0.5);
    Finger {
        name: "thumb",
        bones: THUMB_BONES,
        knuckle: Vector3::new(-0.028, 0.034, -0.008),
        along,
        towards: (across - along * along.dot(&across)).normalize(),
        lengths: [0.045, 0.034, 0.027],
        radii: [0.011, 0.0095, 0.0085],
        bend: [0.1, 0.2, 0.2],
        aside: (-0.4, 0.5),
        flexion: [(-0.3, 0.8), (-0.1, 1.0), (-0.2, 1.3)],
    }
}

/// How a finger bends, joint by joint, and how near it comes to what it bends around, m.
const BENDING: [f64; 3] = [0.45, 0.6, 0.35];
const NEAR: f64 = 0.001;

impl Finger {
    /// Its three bones.
    fn links(&self) -> [Link; 3] {
        let (mut from, mut angle) = (self.knuckle, 0.0);
        std::array::from_fn(|i| {
            angle += self.bend[i];
            let direction = self.along * angle.cos() + self.towards * angle.sin();
            let link = Link::new(from, from + direction * self.lengths[i]);
            from = link.to;
            link
        })
    }

    /// Bends until a bone is near something, in steps of half a milliradian.
    fn bend_around(&mut self, distance: Distance) {
        let gap = |finger: &Finger| {
            let mut least = f64::INFINITY;
            for (link, radius) in finger.links().iter().zip(finger.radii) {
                // Along the axis of the capsule, which ends a radius before the link does.
                let (a, b) = (radius / link.length(), 1.0 - radius / link.length());
                for k in 0..=8 {
                    let s = a + (b - a) * k as f64 / 8.0;
                    least = least.min(distance(&(link.from + (link.to - link.from) * s)) - radius);
                }
            }
            least
        };
        while gap(self) > NEAR && self.bend[1] < self.flexion[1].1 {
            self.bend.iter_mut().zip(BENDING).for_each(|(bend, by)| *bend += 5e-4 * by);
        }
    }
}

fn add_finger(builder: &mut MechanismBuilder, finger: &Finger) {
    let axis = finger.along.cross(&finger.towards);
    let mut parent = "palm".to_string();
    let mut end = Pose::identity();
    for (i, link) in finger.links().into_iter().enumerate() {
        let from = link.from;
        let name = format!("{}_{}", finger.name, finger.bones[i]);
        let mut bone = bone(&name, &link, finger.radii[i]);
        // Their tips cross where the hand closes around something small.
        if name == "index_distal" {
            bone.passes = vec!["thumb_distal".into()];
        }
        builder.body(bone);

        // The springs hold the drawn pose, which is coordinate 0: limits move by its bend.
        let flexion = (finger.flexion[i].0 - finger.bend[i], finger.flexion[i].1 - finger.bend[i]);
        let joint = if i == 0 {
            JointDescription::new(&name, JointKind::Universal, parent, &name)
                .frame(Pose::new(knuckle_axes(finger, axis), from))
                .limits([finger.aside, flexion])
        } else {
            passive_hinge(&name, parent, &name, from, axis).limits(flexion)
        };
        builder.joint(joint.stiffness(STIFFNESS[i]).damping(DAMPING[i]));
        (parent, end) = (name, link.end());
    }
    builder.effector(effector(finger.name, parent, end));
}

/// A universal joint turns about x, here aside, and then about the carried y, here flexion.
fn knuckle_axes(finger: &Finger, flexion_axis: Vector3<f64>) -> UnitQuaternion<f64> {
    let x = -finger.towards;
    rotation(Matrix3::from_columns(&[x, flexion_axis, x.cross(&flexion_axis)]))
}

/// A capsule as long as the link, with the mass of its volume.
fn bone(name: &str, link: &Link, radius: f64) -> Body {
    let half_length = 0.5 * link.length() - radius;
    let mut shape = Shape::new(Geometry::Capsule { radius, half_length })
        .at(Pose::with_z_along(Vector3::x(), Vector3::zeros()));
    shape.density = Some(DENSITY);
    let inertia = shape.inertia().expect("a capsule with a density has inertia");
    Body::new(name, link.pose()).inertia(inertia).shape(shape)
}
