//! Hand-grasp: the hand hangs palm down on a vertical slide, closes its fingers on a ball or a box that stands on a
//! post, presses it against the palm, lifts it by 3 cm and holds it.
//!
//! Fingers are drawn around what they grasp, a millimetre from it. The lift is short because an effector of a linear model goes
//! along the exponential of its linear motion: lifting by v while turning by ω, it is off by ½ω×v.

use nalgebra::Vector3;

use super::super::hand;
use super::super::link::{effector, finish};
use super::{lift, loose_ball, loose_box, target};
use crate::mechanism::{Geometry, Mechanism, MechanismBuilder, Shape, TargetDescription, ZoneDescription};
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

const FINGERS: [&str; 5] = ["thumb", "index", "middle", "ring", "little"];

/// Of a bone in a soft fingertip, the radius over that of the fingertip.
const BONE: f64 = 0.5;

/// Times at which it closes, has closed, lifts and has lifted, s.
const TIMES: [f64; 4] = [0.1, 0.6, 0.8, 1.6];

/// A hand that grasps something and lifts it.
pub fn hand_grasp(what: Grasped) -> Mechanism {
    let name = match what {
        Grasped::Ball => "hand-grasp",
        Grasped::Box => "hand-grasp-box",
    };
    finish(grasp(name, what, 1.0))
}

/// The same of a ball, with soft fingertips of silicone: a pad around each last bone, which is thinner; it closes half as hard.
pub fn soft_hand() -> Mechanism {
    let mut builder = grasp("soft-hand", Grasped::Ball, 0.5);
    for finger in FINGERS {
        let name = format!("{finger}_distal");
        let bone = builder.body_mut(&name).expect("a bone of the hand");
        let around = bone.shapes[0].clone();
        let Geometry::Capsule { radius, half_length } = around.geometry else { unreachable!("a capsule") };
        let core = Geometry::Capsule { radius: BONE * radius, half_length };
        let core = Shape { density: Some(1100.0), ..Shape::new(core).at(around.pose) };
        bone.inertia = core.inertia().expect("a capsule with a density has inertia");
        bone.shapes = vec![core.clone()];
        let pad = Shape { friction: Some(0.8), density: None, ..around };
        let mut zone = ZoneDescription::new(format!("{finger} fingertip"), name, pad).elasticity(4e6, 0.45);
        (zone.damping, zone.resolution, zone.bonded) = (5e-3, Some(2.5e-3), Some(core));
        builder.zone(zone);
    }
    finish(builder)
}

fn grasp(name: &str, what: Grasped, hard: f64) -> MechanismBuilder {
    // Places and angles for which all five fingers press.
    let (x, y, close) = match what {
        Grasped::Ball => (0.0417, -0.0023, [0.11, 0.107, 0.066]),
        Grasped::Box => (0.0272, 0.0054, [0.043, 0.103, 0.04]),
    };
    let close = close.map(|angle: f64| hard * angle);
    let center = Vector3::new(x, y, -0.014 - BELOW - HALF);
    let half_size = Vector3::new(0.022, 0.03, HALF);
    let distance = |x: &Vector3<f64>| match what {
        Grasped::Ball => (x - center).norm() - HALF,
        Grasped::Box => ((x - center).abs() - half_size).sup(&Vector3::zeros()).norm(),
    };
    let mut builder = MechanismBuilder::new(name);
    lift(&mut builder, "palm");
    hand::parts(&mut builder, Some(&distance));
    builder.effector(effector("palm", "palm", Pose::identity()));
    let [closing, closed, lifting, lifted] = TIMES;
    target(&mut builder, "lift", &[(0.0, 0.0), (lifting, 0.0), (lifted, LIFT)]);
    for finger in FINGERS {
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
    builder
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
