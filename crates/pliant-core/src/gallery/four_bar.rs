//! Four-bar: crank, coupler and rocker in the xz plane, hinges about y.
//!
//! ```text
//!            coupler ___ C
//!               ___/     \
//!          B __/          \ rocker      A is sprung; B, C and D are passive: the loop holds them
//!   crank  /               \
//!       ══A═════════════════D══         z up, x to the right
//! ```
//! Shortest and longest bar together are shorter than the other two (Grashof): the crank can turn
//! all the way round while the rocker swings. No two neighbouring bars are in line, so that the pose
//! is not singular. 50 N down at the middle of the coupler.

use nalgebra::Vector3;

use super::link::{Link, WEIGHTLESS, effector, finish, load, passive_hinge};
use crate::mechanism::{Mechanism, MechanismBuilder, WORLD};
use crate::spatial::Pose;

/// A crank-rocker linkage held by one spring.
pub fn four_bar() -> Mechanism {
    let [A, B, C, D] =
        [(0.0, 0.0), (0.06, 0.08), (0.26, 0.2), (0.3, 0.0)].map(|(x, z)| Vector3::new(x, 0.0, z));
    let mut builder = MechanismBuilder::new("four-bar");
    builder.gravity(WEIGHTLESS);
    builder.body(Link::new(A, B).mass(0.1).body("crank"));
    builder.body(Link::new(B, C).mass(0.25).body("coupler"));
    builder.body(Link::new(D, C).mass(0.2).body("rocker"));
    builder
        .joint(passive_hinge("A", WORLD, "crank", A, Vector3::y()).stiffness(20.0).damping(0.2))
        .joint(passive_hinge("B", "crank", "coupler", B, Vector3::y()))
        .joint(passive_hinge("C", "rocker", "coupler", C, Vector3::y()))
        .joint(passive_hinge("D", WORLD, "rocker", D, Vector3::y()));
    builder.effector(effector("coupler", "coupler", Pose::identity()));
    builder.load(load("coupler", [0.0, 0.0, -50.0]));
    finish(builder)
}
