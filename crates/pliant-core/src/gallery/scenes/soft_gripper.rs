//! Soft-gripper: the gripper with round soft fingertips takes a bar off its middle and lifts it level.
//!
//! The weight of the bar turns it about the line between the two tips. Round rigid tips touch it at two points and cannot hold it
//! against that; soft ones of the same size touch it over a patch, whose friction does.

use super::super::gripper;
use super::super::link::finish;
use super::{ground, lift, loose_box, target};
use crate::mechanism::{Geometry, Mechanism, MechanismBuilder, Shape, ZoneDescription};
use crate::spatial::Pose;

/// Times at which it closes, has closed, lifts and has lifted, s.
const TIMES: [f64; 4] = [0.1, 0.4, 0.5, 1.2];

/// Radius of a fingertip and of the bone in it, m, and where its centre is in front of the tip's beam.
const RADIUS: f64 = 0.012;
const BONE: f64 = 0.006;

/// What the fingertips are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fingertips {
    /// Soft silicone on a bone.
    Soft,
    /// The same shape, rigid.
    Rigid,
}

/// A gripper with round fingertips that picks up a bar off its middle.
pub fn soft_gripper(fingertips: Fingertips) -> Mechanism {
    let name = match fingertips {
        Fingertips::Soft => "soft-gripper",
        Fingertips::Rigid => "rigid-gripper",
    };
    let mut builder = MechanismBuilder::new(name);
    lift(&mut builder, "palm");
    gripper::parts(&mut builder);
    for (side, sign) in [("left", -1.0), ("right", 1.0)] {
        let tip = format!("{side}_tip");
        // In the tip's frame: where its flat pad was, which goes.
        let at = Pose::translation([-sign * 0.012, 0.0, -0.01]);
        let body = builder.body_mut(&tip).expect("a part of the gripper");
        body.shapes.truncate(2);
        let radius = if fingertips == Fingertips::Soft { BONE } else { RADIUS };
        body.shapes.push(Shape { friction: Some(0.9), ..Shape::new(Geometry::Ball { radius }).at(at) });
        if fingertips == Fingertips::Soft {
            let ball = Shape::new(Geometry::Ball { radius: RADIUS }).at(at);
            let shape = Shape { friction: Some(0.9), ..ball };
            let mut zone =
                ZoneDescription::new(format!("{side} fingertip"), tip, shape).elasticity(2e6, 0.45);
            (zone.damping, zone.resolution) = (5e-3, Some(3e-3));
            zone.bonded = Some(Shape::new(Geometry::Ball { radius: BONE }).at(at));
            builder.zone(zone);
        }
    }
    let [closing, closed, lifting, lifted] = TIMES;
    target(&mut builder, "lift", &[(0.0, 0.0), (lifting, 0.0), (lifted, 0.08)]);
    for (joint, sign) in [("left_driver", -1.0), ("right_driver", 1.0)] {
        target(&mut builder, joint, &[(0.0, 0.0), (closing, 0.0), (closed, 0.3 * sign)]);
    }
    builder.world_shape(ground(-0.165, 0.6));
    builder.body(loose_box("bar", [0.0, 0.02, -0.145], 0.06, [0.03, 0.1, 0.04], 0.9));
    finish(builder)
}
