//! Graph: nine bodies with branches, a loop and two effectors (Andrews 2015, Fig. 3).
//!
//! ```text
//!               c ── d ── g        z up, x to the right, 0.2 m a cell;
//!             ╱    ╲               a is welded to the world, the other joints are
//!   a ── b ╱         e ── f        sprung hinges about y, midway between centres;
//!            ╲       │             e hangs on c and on i: the loop b c e i h
//!               h ── i
//! ```
//! 10 N down at `f`.

use nalgebra::Vector3;

use super::link::{WEIGHTLESS, box_body, effector, finish, load, passive_hinge, weld};
use crate::mechanism::{Mechanism, MechanismBuilder};
use crate::spatial::Pose;

const CELL: f64 = 0.2;

/// Columns and rows of the drawing.
const CELLS: [(&str, f64, f64); 9] = [
    ("a", 0.0, 0.0),
    ("b", 1.0, 0.0),
    ("c", 2.0, 1.0),
    ("d", 3.0, 1.0),
    ("e", 3.0, 0.0),
    ("f", 4.0, 0.0),
    ("g", 4.0, 1.0),
    ("h", 2.0, -1.0),
    ("i", 3.0, -1.0),
];

const EDGES: [(&str, &str); 9] = [
    ("a", "b"),
    ("b", "c"),
    ("b", "h"),
    ("h", "i"),
    ("c", "e"),
    ("i", "e"),
    ("e", "f"),
    ("c", "d"),
    ("d", "g"),
];

/// A graph of nine bodies with one loop.
pub fn graph() -> Mechanism {
    let mut builder = MechanismBuilder::new("graph");
    builder.gravity(WEIGHTLESS);
    for (name, _, _) in CELLS {
        let pose = Pose::translation(center(name).into());
        builder.body(box_body(name, pose, 0.2, [0.1, 0.04, 0.1]));
    }
    builder.joint(weld("a", center("a")));
    for (parent, child) in EDGES {
        let middle = (center(parent) + center(child)) * 0.5;
        builder.joint(
            passive_hinge(format!("{parent}{child}"), parent, child, middle, Vector3::y())
                .stiffness(100.0)
                .damping(1.0),
        );
    }
    builder.effector(effector("f", "f", Pose::identity()));
    builder.effector(effector("g", "g", Pose::identity()));
    builder.load(load("f", [0.0, 0.0, -10.0]));
    finish(builder)
}

fn center(body: &str) -> Vector3<f64> {
    let (_, column, row) = CELLS.into_iter().find(|(name, ..)| *name == body).expect("a body of the drawing");
    Vector3::new(CELL * column, 0.0, CELL * row)
}
