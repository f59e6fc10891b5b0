//! Chain: links of 0.1 m in a row along +x from the origin, hinges about y and z in turn, held by
//! the world at one end. No load but gravity: the longer it is, the harder for an engine whose cost
//! or whose springs do not scale.

use nalgebra::Vector3;

use super::Size;
use super::link::{Link, effector, finish, hinge};
use crate::mechanism::{Mechanism, MechanismBuilder, WORLD};
use crate::spatial::Pose;

pub(super) const SIZE: Size = Size { default: 20, multiple: 1 };

const LENGTH: f64 = 0.1;

/// A chain of `links` links.
///
/// # Panics
/// If the number of links is zero or above [`LARGEST_SIZE`](super::LARGEST_SIZE).
pub fn chain(links: usize) -> Mechanism {
    SIZE.check("chain", links);
    let mut builder = MechanismBuilder::new(format!("chain:{links}"));
    row(&mut builder, links, |i| Vector3::new(LENGTH * i as f64, 0.0, 0.0));
    finish(builder)
}

/// Adds links between the points 0, 1, … of a curve, each with a hinge at its start about its y or
/// z in turn, and the effector `tip` on the last.
pub(super) fn row(builder: &mut MechanismBuilder, links: usize, point: impl Fn(usize) -> Vector3<f64>) {
    let mut parent = WORLD.to_string();
    for i in 0..links {
        let link = Link::new(point(i), point(i + 1));
        let name = format!("link{i}");
        builder.joint(hinge(format!("hinge{i}"), parent, &name, link.from, link.alternating_axis(i)));
        builder.body(link.body(&name));
        parent = name;
    }
    builder.effector(effector("tip", parent, Pose::identity()));
}
