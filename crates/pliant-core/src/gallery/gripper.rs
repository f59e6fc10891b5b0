//! Gripper: a palm on the world, pointing down, with two mirrored parallelogram fingers.
//!
//! ```text
//!   ══════════ palm ══════════
//!      ●   ○          ○   ●        ● driver, sprung hinge       z up, x to the right,
//!     /   /            \   \       ○ follower, passive hinge    hinges about y
//!    /   /              \   \
//!   ○───○                ○───○     passive hinges of the tip: carried by the driver,
//!    tip│[left      right]│tip     closed to the follower
//! ```
//! Driver and follower are parallel and equally long, so that the tips do not turn. The right driver
//! is coupled to the left one as its mirror image. An object pushes the pads apart with 10 N each;
//! gravity acts.

use nalgebra::Vector3;

use super::link::{Link, box_body, box_shape, effector, finish, load, passive_hinge, weld};
use crate::mechanism::{CouplingDescription, Mechanism, MechanismBuilder};
use crate::spatial::{Pose, SpatialInertia};

/// N·m/rad and N·m·s/rad.
const STIFFNESS: f64 = 5.0;
const DAMPING: f64 = 0.05;

/// From the file's pose, rad: the pads meet at 0.45.
const CLOSED: f64 = 0.45;
const OPEN: f64 = 0.35;

/// A gripper with two parallel jaws.
pub fn gripper() -> Mechanism {
    let mut builder = MechanismBuilder::new("gripper");
    builder.joint(weld("palm", Vector3::zeros()));
    parts(&mut builder);
    builder.load(load("left", [-10.0, 0.0, 0.0]));
    builder.load(load("right", [10.0, 0.0, 0.0]));
    finish(builder)
}

/// Palm and fingers, without what holds the palm.
pub(super) fn parts(builder: &mut MechanismBuilder) {
    builder.body(box_body("palm", Pose::identity(), 0.3, [0.12, 0.04, 0.03]));
    // Turning about +y swings what points down towards −x: opening for the left, closing for the right.
    finger(builder, "left", -1.0, (-CLOSED, OPEN));
    finger(builder, "right", 1.0, (-OPEN, CLOSED));
    builder.coupling(CouplingDescription {
        joint: "right_driver".into(),
        of: "left_driver".into(),
        ratio: -1.0,
        offset: 0.0,
    });
}

/// A finger on the side of `sign` along x.
fn finger(builder: &mut MechanismBuilder, side: &str, sign: f64, limits: (f64, f64)) {
    let point = |x: f64, z: f64| Vector3::new(sign * x, 0.0, z);
    let named = |part: &str| format!("{side}_{part}");
    let swing = point(0.02, -0.06);
    let (outer, inner) = (point(0.045, -0.015), point(0.02, -0.025));

    let driver = Link::new(outer, outer + swing).mass(0.03).section(0.01);
    let follower = Link::new(inner, inner + swing).mass(0.03).section(0.01);
    builder.body(driver.body(named("driver")));
    builder.body(follower.body(named("follower")));
    builder.joint(
        passive_hinge(named("driver"), "palm", named("driver"), outer, Vector3::y())
            .stiffness(STIFFNESS)
            .damping(DAMPING)
            .limits(limits),
    );
    builder.joint(passive_hinge(named("follower"), "palm", named("follower"), inner, Vector3::y()));

    // The tip: a beam down, a foot that reaches both hinges, and the pad on the inner face.
    let center = point(0.045, -0.115);
    let within = |p: Vector3<f64>| Pose::translation((p - center).into());
    let (beam, pad) = ([0.014, 0.02, 0.08], [0.01, 0.02, 0.04]);
    let pad_center = point(0.033, -0.125);
    builder.body(
        box_body(named("tip"), Pose::translation(center.into()), 0.06, beam)
            .shape(box_shape([0.035, 0.02, 0.02]).at(within(point(0.0525, -0.08))))
            .shape(box_shape(pad).at(within(pad_center)))
            .inertia(SpatialInertia::of_box(0.06, [0.03, 0.02, 0.08])),
    );
    for (part, at) in [("driver", driver.to), ("follower", follower.to)] {
        let joint = named(&format!("tip_{part}"));
        builder.joint(passive_hinge(joint, named(part), named("tip"), at, Vector3::y()));
    }
    let face = pad_center - point(0.5 * pad[0], 0.0);
    builder.effector(effector(side, named("tip"), within(face)));
}
