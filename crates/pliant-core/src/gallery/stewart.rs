//! Stewart: a platform on six legs of variable length, each a tube and a rod with a stiff slide between them.
//!
//! ```text
//!       •─── platform ───•      • ball joint, passive              z up; from above, the joints are
//!      ╱ ╲              ╱ ╲     ∥ slide, sprung                    in three pairs on each circle,
//!     ∥   ∥            ∥   ∥    ◦ universal joint, passive         those above between those below
//!    ╱     ╲          ╱     ╲
//!   ◦       ◦── base ◦       ◦  the platform stands on one leg; five ball joints close it
//! ```
//! Gough's and Stewart's platform: joints on circles of 0.5 m and 0.3 m, 20° within a pair, 0.6 m apart.
//! The legs are the springs: the platform's stiffness is JᵀKJ, with rows of J that are the legs' lines.
//! A load pushes the platform down and aside; no gravity.

use nalgebra::Vector3;

use super::link::{Link, WEIGHTLESS, ball, effector, finish, load, slide, universal};
use crate::mechanism::{Body, Geometry, Mechanism, MechanismBuilder, Shape, WORLD};
use crate::spatial::{Pose, SpatialInertia};

const BASE: f64 = 0.5;
const PLATFORM: f64 = 0.3;
const HEIGHT: f64 = 0.6;
/// N/m and N·s/m.
const STIFFNESS: f64 = 1e5;
const DAMPING: f64 = 1e3;

/// A Stewart platform on six springs.
pub fn stewart() -> Mechanism {
    let mut builder = MechanismBuilder::new("stewart");
    builder.gravity(WEIGHTLESS);
    let top = Pose::translation([0.0, 0.0, HEIGHT]);
    builder.body(
        Body::new("platform", top)
            .inertia(SpatialInertia::of_box(10.0, [0.5, 0.5, 0.02]))
            .shape(Shape::new(Geometry::Cylinder { radius: PLATFORM, half_length: 0.01 })),
    );
    for leg in 0..6 {
        // Pairs at 0°, 120° and 240° below, each leg 40° on or back to the pairs between them above.
        let (pair, sign) = (f64::from(leg / 2) * 120.0, if leg % 2 == 0 { -1.0 } else { 1.0 });
        let on_circle = |radius: f64, degrees: f64, height: f64| {
            let (sine, cosine) = degrees.to_radians().sin_cos();
            Vector3::new(radius * cosine, radius * sine, height)
        };
        let foot = on_circle(BASE, pair + 10.0 * sign, 0.0);
        let head = on_circle(PLATFORM, pair + 50.0 * sign, HEIGHT);
        let [tube, rod] = Link::new(foot, head).mass(2.0).section(0.03).halves();
        let [below, above] = ["tube", "rod"].map(|part| format!("{part}{leg}"));
        builder.body(tube.body(&below)).body(rod.section(0.02).body(&above));
        builder.joint(universal(&below, WORLD, &below, &tube));
        let piston = slide(format!("leg{leg}"), &below, &above, &rod);
        builder.joint(piston.stiffness(STIFFNESS).damping(DAMPING));
        builder.joint(ball(format!("head{leg}"), &above, "platform", head));
    }
    builder.effector(effector("platform", "platform", Pose::identity()));
    builder.load(load("platform", [200.0, 100.0, -400.0]));
    finish(builder)
}
