//! Hand-grasp: the hand hangs palm down on a vertical slide, closes its fingers on a ball or a box that stands on a
//! post, presses it against the palm, lifts it by 3 cm and holds it.
//!
//! Fingers are drawn around what they grasp, a millimetre from it. The lift is short because an effector of a linear model goes
//! along the exponential of its linear motion: lifting by v while turning by ω, it is off by ½ω×v.

use nalgebra::Vector3;

use super::super::hand;
use super::super::link::{effector, finish};
use super::{lift, loose_ball, loose_box, target};
use crate::mechanism::{Geometry, Mechanism, MechanismBuilder, Shape, TargetDescription};
use crate::spatial::Pose;

/// What is grasped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grasped {
    /// A ball of 60 mm and 150 g.
    Ball,
    /// A box of 150 g.
    Box,
}

/// Half the height of what is grasped, and its distance from the palm, m.
const HALF: f64 = 0.03;
const BELOW: f64 = 5e-4;
/// How far it is lifted, m.
const LIFT: f64 = 0.03;

/// Times at which it closes, has closed, lifts and has lifted, s.
const TIMES: [f64; 4] = [0.1, 0.6, 0.8, 1.6];

/// A hand that grasps something and lifts it.
pub fn hand_grasp(what: Grasped) -> Mechanism {
    // Places and angles for which all five fingers press.
    let (x, y, close) = match what {
        Grasped::Ball => (0.0417, -0.0023, [0.11, 0.107, 0.066]),
        Grasped::Box => (0.0272, 0.0054, [0.043, 0.103, 0.04]),
    };
    let center = Vector3::new(x, y, -0.014 - BELOW - HALF);
    let half_size = Vector3::new(0.022, 0.03, HALF);
    let distance = |x: &Vector3<f64>| match what {
        Grasped::Ball => (x - center).norm() - HALF,
        Grasped::Box => ((x - center).abs() - half_size).sup(&Vector3::zeros()).norm(),
    };
    let name = match what {
        Grasped::Ball => "hand-grasp",
        Grasped::Box => "hand-grasp-box",
    };
    let mut builder = MechanismBuilder::new(name);
    lift(&mut builder, "palm");
    hand::parts(&mut builder, Some(&distance));
    builder.effector(effector("palm", "palm", Pose::identity()));
    let [closing, closed, lifting, lifted] = TIMES;
    target(&mut builder, "lift", &[(0.0, 0.0), (lifting, 0.0), (lifted, LIFT)]);
    for finger in ["thumb", "index", "middle", "ring", "little"] {
        let bones = if finger == "thumb" { hand::THUMB_BONES } else { hand::BONES };
        let [first, second, third] = bones.map(|bone| format!("{finger}_{bone}"));
        bend(&mut builder, &first, closing, closed, &[0.0, close[0]]);
        bend(&mut builder, &second, closing, closed, &close[1..2]);
        bend(&mut builder, &third, closing, closed, &close[2..]);
    }
    let (mass, friction) = (0.15, 0.8);
    match what {
        Grasped::Ball => builder.body(loose_ball("ball", center.into(), mass, HALF, friction)),
        Grasped::Box => {
            builder.body(loose_box("box", center.into(), mass, (half_size * 2.0).into(), friction))
        }
    };
    let half_length = 0.03;
    let stand = Shape::new(Geometry::Cylinder { radius: 0.01, half_length });
    let below = center - Vector3::z() * (HALF + half_length);
    builder.world_shape(Shape { friction: Some(friction), ..stand.at(Pose::translation(below.into())) });
    finish(builder)
}

/// Set-points of a joint.
fn bend(builder: &mut MechanismBuilder, joint: &str, closing: f64, closed: f64, to: &[f64]) {
    let rest = vec![0.0; to.len()];
    builder.target(TargetDescription {
        joint: joint.into(),
        time: vec![0.0, closing, closed],
        position: vec![rest.clone(), rest, to.to_vec()],
    });
}
