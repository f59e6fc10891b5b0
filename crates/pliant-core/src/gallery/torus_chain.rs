//! Torus chain: rings in a row along +x, each rolling on the one before where their tubes touch: four freedoms a
//! joint, the first ring on a universal joint (Si, Guenter 2010, Fig. 5). Springs hold all; 1 N down and 0.5 N
//! aside at the tip.
//!
//! ```text
//!  world ═ ( ring0 )( ring1 )( ring2 ) tip →    seen along z; ring axes along z
//! ```

use nalgebra::{Matrix3, Vector3};

use super::Size;
use super::link::{WEIGHTLESS, effector, finish, load, ready};
use crate::joints::JointKind;
use crate::mechanism::{Body, Geometry, JointDescription, Mechanism, MechanismBuilder, Shape, WORLD};
use crate::spatial::{Pose, SpatialInertia};

pub(super) const SIZE: Size = Size { default: 10, multiple: 1 };

/// Radii of the rings and of their tubes, m.
const RING: f64 = 0.05;
const TUBE: f64 = 0.01;
const MASS: f64 = 0.1;
const STIFFNESS: f64 = 100.0;
const DAMPING: f64 = 0.2;

/// A chain of `rings` rings.
///
/// # Panics
/// If the number of rings is zero or above [`LARGEST_SIZE`](super::LARGEST_SIZE).
pub fn torus_chain(rings: usize) -> Mechanism {
    SIZE.check("torus-chain", rings);
    let mut builder = MechanismBuilder::new(format!("torus-chain:{rings}"));
    builder.gravity(WEIGHTLESS);
    let first = JointDescription::new("base", JointKind::Universal, WORLD, "ring0");
    builder.joint(first.stiffness(STIFFNESS).damping(DAMPING));
    let last = row(&mut builder, rings, Pose::translation([RING + TUBE, 0.0, 0.0]));
    builder.effector(effector("tip", last, Pose::translation([RING + TUBE, 0.0, 0.0])));
    builder.load(load("tip", [0.0, 0.5, -1.0]));
    finish(builder)
}

/// Adds rings along the x of a pose, which is that of the first, with the joints between them; the last one's name.
fn row(builder: &mut MechanismBuilder, rings: usize, first: Pose) -> String {
    let (mut at, rolling) = (first, rolling());
    for i in 0..rings {
        builder.body(ring(format!("ring{i}"), at));
        if i + 1 < rings {
            let (parent, child) = (format!("ring{i}"), format!("ring{}", i + 1));
            builder.joint(roll(&rolling, format!("roll{i}"), parent, child, at));
            at = at * Pose::translation([2.0 * (RING + TUBE), 0.0, 0.0]);
        }
    }
    format!("ring{}", rings - 1)
}

/// A ring with its axis along z.
pub(super) fn ring(name: String, pose: Pose) -> Body {
    let about = MASS * (RING * RING + 0.75 * TUBE * TUBE);
    let across = MASS * (0.5 * RING * RING + 0.625 * TUBE * TUBE);
    let inertia = Matrix3::from_diagonal(&Vector3::new(across, across, about));
    let inertia = SpatialInertia { mass: MASS, center_of_mass: Vector3::zeros(), inertia };
    let shape = Shape::new(Geometry::Cylinder { radius: RING + TUBE, half_length: TUBE });
    Body::new(name, pose).inertia(inertia).shape(shape)
}

/// How a ring rolls on another: the kind, and G(0).
pub(super) fn rolling() -> (JointKind, Pose) {
    let radii = [("ring1", RING), ("tube1", TUBE), ("ring2", RING), ("tube2", TUBE)];
    ready("torus-torus", radii.map(|(name, x)| (name, x.into())))
}

/// The joint of a ring that touches another, which is at a pose, at the other's +x.
pub(super) fn roll(
    rolling: &(JointKind, Pose),
    name: String,
    parent: String,
    child: String,
    at: Pose,
) -> JointDescription {
    let (kind, start) = rolling.clone();
    JointDescription::new(name, kind, parent, child).frame(at * start).stiffness(STIFFNESS).damping(DAMPING)
}
