//! Two-link: the smallest compliant arm, two links of 0.5 m along +x with hinges about z
//! (Andrews 2015, Fig. 4). 40 N along y at the far end of the second link.

use nalgebra::Vector3;

use super::link::{Link, WEIGHTLESS, effector, finish, load, passive_hinge};
use crate::mechanism::{Mechanism, MechanismBuilder, WORLD};

const LENGTH: f64 = 0.5;

/// Two links in a plane.
pub fn two_link() -> Mechanism {
    let mut builder = MechanismBuilder::new("two-link");
    builder.gravity(WEIGHTLESS);
    let point = |x: f64| Vector3::new(x, 0.0, 0.0);
    let upper = Link::new(point(0.0), point(LENGTH)).mass(0.5);
    let lower = Link::new(point(LENGTH), point(2.0 * LENGTH)).mass(0.5);
    for (parent, joint, name, link) in
        [(WORLD, "shoulder", "upper", upper), ("upper", "elbow", "lower", lower)]
    {
        builder.body(link.body(name));
        builder
            .joint(passive_hinge(joint, parent, name, link.from, Vector3::z()).stiffness(100.0).damping(1.0));
    }
    builder.effector(effector("tip", "lower", lower.end()));
    builder.load(load("tip", [0.0, 40.0, 0.0]));
    finish(builder)
}
