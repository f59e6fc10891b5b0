//! What constraints that hold points together leave out where surfaces are round: that these roll.
//!
//! Where a ball of radius ρ₁ that is pressed on a ball of radius ρ₂ by N turns by θ about a tangent, its centre is lower by ½ρ₁θ² if one
//! point of it stays, and by ½ρ₁²θ²/(ρ₁ + ρ₂) if it rolls. The difference is the energy ½Nρθ², 1/ρ = 1/ρ₁ + 1/ρ₂: to roll is to stay with a
//! spring of stiffness Nρ about the tangents, each with its own ρ. So it changes the compliance by ΔC = −Σ N DᵀρD to first order, with D the
//! turn of one side on the other per wrench. A force along the surface adds as much times its part of N, which is not counted.

use nalgebra::{DMatrix, Matrix3, SymmetricEigen, Vector3};

use super::sticking::Stuck;
use crate::linear::{Projection, Reference};
use crate::mechanism::{Geometry, JointId, Shape, UnknownHandle};
use crate::spatial::Pose;

/// A contact that rolls: the joint that holds its points together, and Nρ in N·m/rad, in the axes of that joint.
#[derive(Clone, Debug)]
pub(super) struct Rolling {
    pub joint: JointId,
    pub stiffness: Matrix3<f64>,
}

impl Stuck {
    /// What rolling would add to the compliance, to first order: of a projection of its mechanism at this reference.
    pub fn left_out_by_rolling(
        &self,
        projection: &Projection,
        reference: &Reference,
    ) -> Result<DMatrix<f64>, UnknownHandle> {
        let m = projection.compliance().nrows();
        let mut change = DMatrix::zeros(m, m);
        for Rolling { joint, stiffness } in &self.rolling {
            // A bushing's coordinates: translations, rotations.
            let map = projection.coordinate_map(reference, *joint)?;
            let D = map.rows(3, 3);
            change -= D.transpose() * stiffness * D;
        }
        Ok(change)
    }
}

/// How far from a round surface a point may be that lies on it, of its radius, and how far off its normal.
const NEAR: f64 = 0.02;

/// What is less curved than this part of the most curved direction is flat: contacts along a line do not roll about what crosses it.
const FLAT: f64 = 1e-6;

/// ρ about each tangent, world axes, of two sides, each with its shapes and where it is: curvatures add, and a turn about a tangent moves the
/// point across it. Zero if neither is round at this point.
pub(super) fn rolling_radius(
    sides: [(&[Shape], Pose); 2],
    point: &Vector3<f64>,
    normal: &Vector3<f64>,
) -> Matrix3<f64> {
    let [a, b] = sides.map(|(shapes, pose)| curvature(shapes, &pose, point, normal));
    let SymmetricEigen { eigenvalues, eigenvectors } = SymmetricEigen::new(a + b);
    let largest = eigenvalues.amax();
    let mut radius = Matrix3::zeros();
    for (k, curvature) in eigenvalues.iter().enumerate().filter(|(_, x)| **x > FLAT * largest) {
        let about = normal.cross(&eigenvectors.column(k));
        radius += about * about.transpose() / *curvature;
    }
    radius
}

/// The curvature, 1/m, of a ball, or of a round side of a capsule or cylinder, that has this point and normal; of the flattest if several have.
fn curvature(shapes: &[Shape], pose: &Pose, point: &Vector3<f64>, normal: &Vector3<f64>) -> Matrix3<f64> {
    let of_shape = |shape: &Shape| {
        let (radius, half_length) = match shape.geometry {
            Geometry::Ball { radius } => (radius, 0.0),
            Geometry::Capsule { radius, half_length } | Geometry::Cylinder { radius, half_length } => {
                (radius, half_length)
            }
            _ => return None,
        };
        let place = *pose * shape.pose;
        let at = place.inverse().transform_point(point);
        let arm = at - Vector3::z() * at.z.clamp(-half_length, half_length);
        let across = (place.rotation.inverse() * normal).cross(&arm).norm();
        if (arm.norm() - radius).abs() > NEAR * radius || across > NEAR * radius {
            return None;
        }
        let mut tangents = Matrix3::identity() - normal * normal.transpose();
        if at.z.abs() < half_length {
            let axis = place.rotation * Vector3::z();
            tangents -= axis * axis.transpose();
        }
        Some((radius, tangents / radius))
    };
    let round = shapes.iter().filter(|shape| shape.touches).filter_map(of_shape);
    round.fold((0.0, Matrix3::zeros()), |best, one| if one.0 > best.0 { one } else { best }).1
}
