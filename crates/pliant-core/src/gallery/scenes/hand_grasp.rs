//! Hand-grasp: the hand hangs palm down on a vertical slide, closes its fingers on a ball or a box on a table, lifts it by
//! 10 cm and holds it.

use super::super::hand;
use super::super::link::finish;
use super::{ground, lift, loose_ball, loose_box, target};
use crate::mechanism::{Mechanism, MechanismBuilder, TargetDescription};

/// What is grasped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grasped {
    /// A ball of 64 mm and 150 g.
    Ball,
    /// A box of 150 g.
    Box,
}

/// Times at which it closes, has closed, lifts and has lifted, s.
const TIMES: [f64; 4] = [0.1, 0.6, 0.8, 1.6];

/// A hand that grasps something and lifts it.
pub fn hand_grasp(what: Grasped) -> Mechanism {
    let name = match what {
        Grasped::Ball => "hand-grasp",
        Grasped::Box => "hand-grasp-box",
    };
    let mut builder = MechanismBuilder::new(name);
    lift(&mut builder, "palm");
    hand::parts(&mut builder);
    let [closing, closed, lifting, lifted] = TIMES;
    target(&mut builder, "lift", &[(0.0, 0.0), (lifting, 0.0), (lifted, 0.1)]);
    let fingers = ["index", "middle", "ring", "little"];
    for finger in fingers {
        bend(&mut builder, &format!("{finger}_proximal"), closing, closed, [0.0, 0.5]);
        bend(&mut builder, &format!("{finger}_middle"), closing, closed, [0.6, f64::NAN]);
        bend(&mut builder, &format!("{finger}_distal"), closing, closed, [0.3, f64::NAN]);
    }
    bend(&mut builder, "thumb_metacarpal", closing, closed, [0.0, 0.4]);
    bend(&mut builder, "thumb_proximal", closing, closed, [0.5, f64::NAN]);
    bend(&mut builder, "thumb_distal", closing, closed, [0.4, f64::NAN]);
    let (center, friction) = ([0.07, 0.012, -0.062], 0.8);
    match what {
        Grasped::Ball => builder.body(loose_ball("ball", center, 0.15, 0.032, friction)),
        Grasped::Box => builder.body(loose_box("box", center, 0.15, [0.05, 0.06, 0.06], friction)),
    };
    builder.world_shape(ground(center[2] - 0.032, friction));
    finish(builder)
}

/// Set-points of a joint of one or two freedoms; the second is not a number where there is none.
fn bend(builder: &mut MechanismBuilder, joint: &str, closing: f64, closed: f64, by: [f64; 2]) {
    let to: Vec<f64> = by.into_iter().filter(|x| !x.is_nan()).collect();
    let rest = vec![0.0; to.len()];
    builder.target(TargetDescription {
        joint: joint.into(),
        time: vec![0.0, closing, closed],
        position: vec![rest.clone(), rest, to],
    });
}
