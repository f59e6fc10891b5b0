//! Helix: links wound round a cylinder of 0.1 m radius, twelve a turn, going down 5 mm each; hinges
//! about the links' y and z in turn, the start held by the world, 100 N down at the tip
//! (after the helices that Andrews 2015 times).

use std::f64::consts::PI;

use nalgebra::Vector3;

use super::Size;
use super::chain::row;
use super::link::{WEIGHTLESS, finish, load};
use crate::mechanism::{Mechanism, MechanismBuilder};

pub(super) const SIZE: Size = Size { default: 50, multiple: 1 };

const RADIUS: f64 = 0.1;
const DROP: f64 = 0.005;

/// A helix of `links` links.
///
/// # Panics
/// If the number of links is zero or above [`LARGEST_SIZE`](super::LARGEST_SIZE).
pub fn helix(links: usize) -> Mechanism {
    SIZE.check("helix", links);
    let mut builder = MechanismBuilder::new(format!("helix:{links}"));
    builder.gravity(WEIGHTLESS);
    row(&mut builder, links, point);
    builder.load(load("tip", [0.0, 0.0, -100.0]));
    finish(builder)
}

fn point(i: usize) -> Vector3<f64> {
    let angle = PI * i as f64 / 6.0;
    Vector3::new(RADIUS * angle.cos(), RADIUS * angle.sin(), -DROP * i as f64)
}
