//! Bridge-heap: a ladder laid flat between two banks, its rungs sprung on two rails, and bodies that fall on it.
//!
//! ```text
//!   ══╤══╤══╤══╤══╤══╤══╤══        y up the page, x to the right; rails along x, rungs across
//!     │  │  │  │  │  │  │          both ends of both rails are hinged to the world
//!   ══╧══╧══╧══╧══╧══╧══╧══
//! ```

use nalgebra::Vector3;

use super::super::link::{Link, effector, finish, passive_hinge};
use super::{loose_ball, loose_box};
use crate::joints::JointKind;
use crate::mechanism::{JointDescription, Mechanism, MechanismBuilder, WORLD};
use crate::spatial::Pose;

/// Links of a rail, their length along x, the distance of the rails, and how far they hang through, m.
const LINKS: usize = 8;
const STEP: f64 = 0.1;
const WIDTH: f64 = 0.24;
const SAG: f64 = 0.06;
/// N·m/rad and N·m·s/rad.
const STIFFNESS: f64 = 400.0;
const DAMPING: f64 = 4.0;

/// A bridge that bodies fall on.
pub fn bridge_heap() -> Mechanism {
    let mut builder = MechanismBuilder::new("bridge-heap");
    // Rails hang through like ropes: straight ones would be locked.
    let sag = |s: f64| -4.0 * SAG * s * (1.0 - s);
    let point = |x: usize, y: f64| Vector3::new(STEP * x as f64, y, sag(x as f64 / LINKS as f64));
    for (rail, y) in [("left", 0.5 * WIDTH), ("right", -0.5 * WIDTH)] {
        for i in 0..LINKS {
            let name = format!("{rail}{i}");
            let link = Link::new(point(i, y), point(i + 1, y)).mass(0.15).section(0.02);
            builder.body(link.body(&name));
            let parent = if i == 0 { WORLD.to_string() } else { format!("{rail}{}", i - 1) };
            let joint = JointDescription::new(&name, JointKind::Ball, parent, &name);
            builder.joint(
                joint.frame(Pose::translation(link.from.into())).stiffness(STIFFNESS).damping(DAMPING),
            );
        }
        let last = format!("{rail}{}", LINKS - 1);
        let end = JointDescription::new(format!("{rail}_end"), JointKind::Ball, WORLD, last);
        builder.joint(end.frame(Pose::translation(point(LINKS, y).into())));
    }
    for i in 1..LINKS {
        // A plank lies on both rails, hinged to the left one and held by a ball joint on the right one.
        let name = format!("rung{i}");
        let link = Link::new(point(i, 0.5 * WIDTH), point(i, -0.5 * WIDTH)).mass(0.1).section(0.02);
        let mut body = link.body(&name);
        let crate::mechanism::Geometry::Box { size } = &mut body.shapes[0].geometry else { unreachable!() };
        size.y = 0.09;
        body.shapes[0].friction = Some(0.6);
        builder.body(body);
        builder.joint(
            passive_hinge(&name, format!("left{}", i - 1), &name, link.from, Vector3::y())
                .stiffness(STIFFNESS)
                .damping(DAMPING),
        );
        let close =
            JointDescription::new(format!("{name}_end"), JointKind::Ball, format!("right{}", i - 1), &name);
        builder.joint(close.frame(Pose::translation(link.to.into())));
        builder.effector(effector(&name, &name, Pose::identity()));
    }
    let middle = 0.5 * STEP * LINKS as f64;
    builder.body(loose_box("crate", [middle - 0.1, 0.02, 0.12], 1.0, [0.12, 0.1, 0.1], 0.6));
    builder.body(loose_box("plank", [middle + 0.03, -0.01, 0.25], 0.6, [0.3, 0.08, 0.03], 0.6));
    builder.body(loose_box("brick", [middle + 0.12, 0.0, 0.4], 0.8, [0.1, 0.06, 0.05], 0.6));
    builder.body(loose_ball("ball", [middle + 0.01, 0.03, 0.55], 0.5, 0.05, 0.6));
    builder.body(loose_box("cube", [middle - 0.08, 0.0, 0.5], 0.4, [0.06; 3], 0.6));
    finish(builder)
}
