//! Hexapod-terrain: the hexapod walks over uneven ground by set-points, three legs at a time.
//!
//! A foot that stands goes straight back in the base's frame, one that swings goes forward and up; the set-points are what
//! the three joints of the leg need for that (two links in a plane, and the turn of the coxa). The ground is flat at the start and
//! then rolls by 12 mm; it does not know of the feet, nor they of it: springs make up the difference.

use std::f64::consts::TAU;

use nalgebra::{Vector2, Vector3};

use super::super::hexapod::{self, COXA, FEMUR, LEGS, TIBIA, direction};
use super::super::link::finish;
use super::target;
use crate::mechanism::{Geometry, Mechanism, MechanismBuilder, Shape};
use crate::spatial::Pose;

/// Length of a stride and its lift, m; time of a cycle of two strides, s; cycles; points of a cycle.
const STRIDE: f64 = 0.1;
const LIFT: f64 = 0.035;
const CYCLE: f64 = 0.8;
const CYCLES: usize = 14;
const POINTS: usize = 16;
/// Stands still before, s.
const STILL: f64 = 0.2;

/// Half the lengths of the ground, m, its amplitude, m, and cells along x and y.
const GROUND: [f64; 2] = [3.5, 1.0];
const AMPLITUDE: f64 = 0.012;
const CELLS: [usize; 2] = [140, 40];

/// A hexapod that walks.
pub fn hexapod_terrain() -> Mechanism {
    let mut builder = MechanismBuilder::new("hexapod-terrain");
    hexapod::parts(&mut builder);
    for (leg, (name, _, eighths)) in LEGS.into_iter().enumerate() {
        let outward = direction(eighths);
        // Front and rear of one side go with the middle of the other.
        let late = [0, 3, 4].contains(&leg);
        let mut points: [Vec<(f64, f64)>; 3] = Default::default();
        points.iter_mut().for_each(|p| p.extend([(0.0, 0.0), (STILL, 0.0)]));
        for k in 1..=POINTS * CYCLES {
            let time = STILL + CYCLE * k as f64 / POINTS as f64;
            let phase = (k as f64 / POINTS as f64 + if late { 0.5 } else { 0.0 }).fract();
            // The first and last half cycle start from and end at the middle.
            let eased = (k as f64 / (0.5 * POINTS as f64)).min(1.0);
            let (along, up) = foot(phase);
            let angles = leg_angles(&outward, along * eased, up * eased);
            points.iter_mut().zip(angles).for_each(|(p, a)| p.push((time, a)));
        }
        for (part, points) in ["coxa", "femur", "tibia"].iter().zip(&points) {
            target(&mut builder, &format!("{name}_{part}"), points);
        }
    }
    let [x, y] = CELLS.map(|n| n + 1);
    let at = |i: usize, n: usize, half: f64| half * (2.0 * i as f64 / (n - 1) as f64 - 1.0);
    let heights = (0..y)
        .map(|k| (0..x).map(|i| height(at(i, x, GROUND[0]) + 2.5, at(k, y, GROUND[1]))).collect())
        .collect();
    let shape = Shape::new(Geometry::Heightfield { size: GROUND.map(|half| 2.0 * half), heights });
    builder.world_shape(Shape { friction: Some(0.9), ..shape.at(Pose::translation([2.5, 0.0, 0.0])) });
    finish(builder)
}

/// Where a foot is in its cycle: forward of its middle, and up. The first half swings.
fn foot(phase: f64) -> (f64, f64) {
    if phase < 0.5 {
        let s = 2.0 * phase;
        (STRIDE * (s - 0.5), LIFT * (0.5 * TAU * s).sin())
    } else {
        (STRIDE * (1.5 - 2.0 * phase), 0.0)
    }
}

/// Height of the ground, m.
fn height(x: f64, y: f64) -> f64 {
    let rising = ((x - 0.35) / 0.3).clamp(0.0, 1.0);
    rising * AMPLITUDE * ((TAU * x / 0.9).sin() * (TAU * y / 0.7).cos() + 0.3 * (TAU * (x + y) / 0.31).sin())
}

/// Turns of coxa, femur and tibia that move the foot of a leg forward (x) and up from where it stands.
fn leg_angles(outward: &Vector3<f64>, forward: f64, up: f64) -> [f64; 3] {
    let reach = COXA.0 + FEMUR.0 + TIBIA.0;
    let foot = outward * reach + Vector3::x() * forward;
    let across = Vector3::z().cross(outward);
    let coxa = foot.dot(&across).atan2(foot.dot(outward));
    // In the leg's plane, from the end of the coxa: outward and up.
    let to = Vector2::new(foot.norm() - COXA.0, FEMUR.1 + TIBIA.1 + up);
    let (a, b) = (Vector2::new(FEMUR.0, FEMUR.1), Vector2::new(TIBIA.0, TIBIA.1));
    let (la, lb, d) = (a.norm(), b.norm(), to.norm());
    let inner = ((la * la + lb * lb - d * d) / (2.0 * la * lb)).clamp(-1.0, 1.0).acos();
    let at_hip = ((la * la + d * d - lb * lb) / (2.0 * la * d)).clamp(-1.0, 1.0).acos();
    let angle = |v: &Vector2<f64>| v.y.atan2(v.x);
    // The knee is above the line from hip to foot. Turns about the leg's across are downward.
    let femur = angle(&to) + at_hip;
    let tibia = femur - (std::f64::consts::PI - inner);
    let (femur_rest, tibia_rest) = (angle(&a), angle(&b));
    [coxa, femur_rest - femur, (tibia_rest - femur_rest) - (tibia - femur)]
}
