//! Excavator: boom, stick and bucket in the xz plane, each moved by a cylinder; hinges about y.
//!
//! ```text
//!             ___E ← stick cylinder        A, E, F: boom on the machine, stick on the boom, bucket
//!        boom/    \\ ← bucket cylinder     on the stick
//!          / ∥     \\                      ∥ boom cylinder
//!       __A  ∥  stick S─T                  S T U F: rocker, link and bucket are a four-bar that the
//!            P       F─U                   bucket's cylinder drives at T
//!               tip ╱ bucket               z up, x forward
//! ```
//! Sizes of a machine of eight tonnes: a boom of 3.4 m, a stick of 2 m, a bucket of 0.9 m. A cylinder is
//! a tube and a rod, hinged at both ends; its slide has the stiffness of its oil, all hinges are passive.
//! Gravity acts; the bucket's tip carries 5 kN.

use nalgebra::Vector3;

use super::link::{Link, effector, finish, load, passive_hinge, slide};
use crate::mechanism::{Mechanism, MechanismBuilder, WORLD};

/// Of the oil in a cylinder, N/m and N·s/m.
const STIFFNESS: f64 = 2e7;
const DAMPING: f64 = 2e6;

/// An excavator's arm with its three cylinders.
pub fn excavator() -> Mechanism {
    let point = |x: f64, z: f64| Vector3::new(x, 0.0, z);
    let [A, E, F, tip] = [point(0.0, 1.2), point(2.9, 2.9), point(4.1, 1.3), point(3.6, 0.6)];
    let [S, T, U] = [point(3.89, 1.58), point(4.21, 1.82), point(4.34, 1.48)];
    let (stick_head, bucket_foot) = (point(2.6, 3.3), point(3.23, 2.96));

    let mut builder = MechanismBuilder::new("excavator");
    let boom = Link::new(A, E).mass(600.0).section(0.3);
    let stick = Link::new(E, F).mass(300.0).section(0.2);
    let bucket = Link::new(F, tip).mass(250.0).section(0.25);
    builder.body(boom.body("boom"));
    builder.body(stick.body("stick").shape(Link::new(stick_head, E).section(0.15).on(&stick.pose())));
    builder.body(bucket.body("bucket").shape(Link::new(F, U).section(0.1).on(&bucket.pose())));
    builder.body(Link::new(S, T).mass(20.0).section(0.08).body("rocker"));
    builder.body(Link::new(T, U).mass(15.0).section(0.08).body("link"));
    for (name, parent, child, at) in [
        ("A", WORLD, "boom", A),
        ("E", "boom", "stick", E),
        ("F", "stick", "bucket", F),
        ("S", "stick", "rocker", S),
        ("T", "rocker", "link", T),
        ("U", "link", "bucket", U),
    ] {
        builder.joint(passive_hinge(name, parent, child, at, Vector3::y()));
    }
    cylinder(&mut builder, "boom", [WORLD, "boom"], [point(0.5, 0.9), point(1.5, 2.3)]);
    cylinder(&mut builder, "stick", ["boom", "stick"], [point(1.5, 2.5), stick_head]);
    cylinder(&mut builder, "bucket", ["stick", "rocker"], [bucket_foot, T]);
    builder.effector(effector("tip", "bucket", bucket.end()));
    builder.load(load("tip", [0.0, 0.0, -5000.0]));
    finish(builder)
}

/// A tube hinged to one body, a rod hinged to another, and the sprung slide between them.
fn cylinder(
    builder: &mut MechanismBuilder,
    name: &str,
    [on, of]: [&str; 2],
    [foot, head]: [Vector3<f64>; 2],
) {
    let [tube, rod] = Link::new(foot, head).mass(60.0).section(0.1).halves();
    let named = |part: &str| format!("{name}_{part}");
    builder.body(tube.body(named("tube"))).body(rod.section(0.06).body(named("rod")));
    builder.joint(passive_hinge(named("foot"), on, named("tube"), foot, Vector3::y()));
    let oil = slide(named("cylinder"), named("tube"), named("rod"), &rod);
    builder.joint(oil.stiffness(STIFFNESS).damping(DAMPING));
    builder.joint(passive_hinge(named("head"), named("rod"), of, head, Vector3::y()));
}
