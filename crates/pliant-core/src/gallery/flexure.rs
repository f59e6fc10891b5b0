//! Flexure: a stage on two leaves, cut from one plate of aluminium, 2 mm thick, that lies flat.
//!
//! ```text
//!            ┌─────────────┐  stage ── 1.6 N ─▶
//!            └┬───────────┬┘
//!             │           │   leaves, 40 × 0.5 × 2 mm, 30 mm apart      y in the plate away from the base, x along
//!             │           │                                             its edge, z up
//!            ┌┴───────────┴┐
//!            └─────────────┘  base, held
//! ```
//! The stage moves along x by 3 mm and, since the leaves bend, toward the base by 0.6 of the square of that over their length.

use std::sync::OnceLock;

use nalgebra::Vector3;

use super::link::{effector, finish, load};
use crate::mechanism::{Body, Geometry, Mechanism, MechanismBuilder, Shape, WORLD, ZoneDescription};
use crate::spatial::{Pose, SpatialInertia};

/// Of a leaf: length, thickness and width, m.
const LEAF: [f64; 3] = [0.04, 0.0005, 0.002];

/// Between the leaves, and the width of stage and base, m.
const APART: f64 = 0.03;
const DEEP: f64 = 0.01;

/// Of aluminium: Young's modulus, Pa, Poisson's ratio, kg/m³.
const YOUNG: f64 = 70e9;
const POISSON: f64 = 0.33;
const DENSITY: f64 = 2700.0;

/// A stage on two leaves. Their stiffness takes a moment to compute, and is kept.
pub fn flexure() -> Mechanism {
    static MADE: OnceLock<Mechanism> = OnceLock::new();
    MADE.get_or_init(make).clone()
}

fn make() -> Mechanism {
    let [length, thick, wide] = LEAF;
    let mut builder = MechanismBuilder::new("flexure");
    let size = Vector3::new(APART + 0.01, DEEP, wide);
    let block = Shape { touches: false, ..Shape::new(Geometry::Box { size }) };
    let middle = 0.5 * (length + DEEP);
    builder.world_shape(block.clone().at(Pose::translation([0.0, -middle, 0.0])));
    let stage = Body::new("stage", Pose::translation([0.0, middle, 0.0])).shape(block);
    builder.body(stage.inertia(SpatialInertia::of_box(DENSITY * size.product(), size.into())));
    for (name, side) in [("left", -0.5), ("right", 0.5)] {
        let leaf = Shape::new(Geometry::Box { size: Vector3::new(thick, length, wide) });
        let leaf = Shape { density: Some(DENSITY), ..leaf }.at(Pose::translation([side * APART, 0.0, 0.0]));
        let mut zone = ZoneDescription::new(name, WORLD, leaf).elasticity(YOUNG, POISSON);
        (zone.to, zone.damping) = (Some("stage".into()), 2e-5);
        builder.zone(zone);
    }
    builder.effector(effector("stage", "stage", Pose::identity()));
    builder.load(load("stage", [1.6, 0.0, 0.0]));
    finish(builder)
}
