//! Surface slide: a board on a Bézier patch of 25 points, which it stays in touch with as it slides and turns about the
//! normal, and a mast on a universal joint on it. Springs hold the board; 4 N along x at the mast's top.

use nalgebra::Vector3;

use super::link::{Link, box_body, effector, finish, load, ready};
use crate::joints::JointKind;
use crate::mechanism::{JointDescription, Mechanism, MechanismBuilder, WORLD};

/// Heights of the patch's points, rows along x, m; they are 0.5 m apart.
const HEIGHTS: [[f64; 5]; 5] = [
    [0.3, 0.1, 0.2, 0.1, 0.4],
    [0.1, 0.2, -0.1, 0.2, 0.1],
    [0.2, -0.2, 0.4, -0.1, 0.2],
    [0.1, 0.1, -0.2, 0.3, 0.0],
    [0.4, 0.2, 0.1, 0.1, 0.3],
];
const APART: f64 = 0.5;

/// A board and its mast.
pub fn surface_slide() -> Mechanism {
    let mut builder = MechanismBuilder::new("surface-slide");
    let grid: Vec<Vec<[f64; 3]>> = (HEIGHTS.iter().enumerate())
        .map(|(i, row)| {
            let x = APART * (i as f64 - 2.0);
            row.iter().enumerate().map(|(j, z)| [x, APART * (j as f64 - 2.0), *z]).collect()
        })
        .collect();
    let (kind, start) = ready(
        "frame-on-patch",
        [("points", grid.into()), ("start", [0.45, 0.55, 0.0].into()), ("scale", (4.0 * APART).into())],
    );
    builder.body(box_body("board", start, 1.0, [0.4, 0.15, 0.02]));
    let joint = JointDescription::new("slide", kind, WORLD, "board").frame(start);
    let limits = vec![(-0.7, 0.7), (-0.7, 0.7), (-3.0, 3.0)];
    builder.joint(joint.stiffness([100.0, 100.0, 2.0]).damping([5.0, 5.0, 0.1]).limits(limits));
    let up = start.rotation * Vector3::z();
    let mast = Link::new(start.position, start.position + up * 0.5);
    builder.body(mast.body("mast"));
    let foot = JointDescription::new("foot", JointKind::Universal, "board", "mast").frame(start);
    builder.joint(foot.stiffness(30.0).damping(0.3));
    builder.effector(effector("top", "mast", mast.end()));
    builder.load(load("top", [4.0, 0.0, 0.0]));
    finish(builder)
}
