//! Gripper-pick: the gripper hangs on a vertical slide over a table, closes on a block, lifts it by 10 cm and holds it.
//!
//! The block is 46 mm wide between pads 56 mm apart. The set-points of both drivers close by 0.35 rad; the block stops them after
//! 0.08 rad, so that each pad presses with about 20 N.

use super::super::gripper;
use super::super::link::finish;
use super::{ground, lift, loose_box, target};
use crate::mechanism::{Mechanism, MechanismBuilder};

/// Times at which it closes, has closed, lifts and has lifted, s.
const TIMES: [f64; 4] = [0.1, 0.5, 0.7, 1.5];

/// A gripper that picks up a block.
pub fn gripper_pick() -> Mechanism {
    let mut builder = MechanismBuilder::new("gripper-pick");
    lift(&mut builder, "palm");
    gripper::parts(&mut builder);
    let [closing, closed, lifting, lifted] = TIMES;
    target(&mut builder, "lift", &[(0.0, 0.0), (lifting, 0.0), (lifted, 0.1)]);
    for (joint, sign) in [("left_driver", -1.0), ("right_driver", 1.0)] {
        target(&mut builder, joint, &[(0.0, 0.0), (closing, 0.0), (closed, 0.35 * sign)]);
    }
    // The lower ends of the tips are 155 mm below the palm's centre.
    builder.world_shape(ground(-0.165, 0.6));
    builder.body(loose_box("block", [0.0, 0.0, -0.14], 0.1, [0.046, 0.04, 0.05], 0.6));
    finish(builder)
}
