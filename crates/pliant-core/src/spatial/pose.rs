//! Poses: where a frame is, seen from another.

use nalgebra::{Matrix3, Matrix6, Quaternion, Unit, UnitQuaternion, Vector3};

use super::{Twist, Wrench, skew};

/// The pose of a frame (the *local* one) in another (the *outer* one): a point x of the local frame
/// is at R x + p in the outer one. Composition is `a * b`, with `a` the outer.
///
/// The rotation is kept as a quaternion: it renormalises at no cost and its logarithm is well
/// conditioned at half a turn, where that of a matrix is not.
///
/// ```
/// use pliant_core::nalgebra::Vector3;
/// use pliant_core::spatial::Pose;
///
/// let quarter = std::f64::consts::FRAC_PI_2;
/// let shoulder = Pose::translation([0.0, 0.0, 1.0]) * Pose::rotation([0.0, 0.0, 1.0], quarter);
/// let elbow = shoulder * Pose::translation([0.3, 0.0, 0.0]); // 0.3 m along the shoulder's own x
/// assert!((elbow.position - Vector3::new(0.0, 0.3, 1.0)).norm() < 1e-12);
///
/// let seen = shoulder.inverse_times(&elbow); // the elbow, seen from the shoulder
/// assert!((seen.position - Vector3::new(0.3, 0.0, 0.0)).norm() < 1e-12);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pose {
    /// Rotation R, local axes to outer axes.
    pub rotation: UnitQuaternion<f64>,
    /// Position p of the local origin in the outer frame, m.
    pub position: Vector3<f64>,
}

impl Pose {
    /// Both frames coincide.
    pub fn identity() -> Pose {
        Pose { rotation: UnitQuaternion::identity(), position: Vector3::zeros() }
    }

    /// A pose from its two parts.
    #[inline]
    pub fn new(rotation: UnitQuaternion<f64>, position: Vector3<f64>) -> Pose {
        Pose { rotation, position }
    }

    /// Moved, not turned.
    pub fn translation(position: [f64; 3]) -> Pose {
        Pose { rotation: UnitQuaternion::identity(), position: position.into() }
    }

    /// Turned by `angle` rad about an axis through the origin, which need not have length one but
    /// must not be zero.
    pub fn rotation(axis: [f64; 3], angle: f64) -> Pose {
        let axis = Unit::new_unchecked(direction(Vector3::from(axis)));
        Pose { rotation: UnitQuaternion::from_axis_angle(&axis, angle), position: Vector3::zeros() }
    }

    /// At a position, with the local z axis along `axis` (any length but zero) and as little turn
    /// as that takes; an axis along −z turns half round about x.
    pub fn with_z_along(axis: Vector3<f64>, position: Vector3<f64>) -> Pose {
        let n = direction(axis);
        let across = n.x.hypot(n.y);
        let rotation = if n.z < 0.0 && across < 1e-150 {
            UnitQuaternion::new_unchecked(Quaternion::new(0.0, 1.0, 0.0, 0.0))
        } else {
            // The half-way quaternion (1 + z·n, z×n), with 1 + n.z = across²/(1 − n.z) where the sum would cancel.
            let w = if n.z < 0.0 { across * across / (1.0 - n.z) } else { 1.0 + n.z };
            UnitQuaternion::new_normalize(Quaternion::new(w, -n.y, n.x, 0.0))
        };
        Pose { rotation, position }
    }

    /// The rotation as a matrix.
    #[inline]
    pub fn rotation_matrix(&self) -> Matrix3<f64> {
        self.rotation.to_rotation_matrix().into_inner()
    }

    /// The outer frame seen from the local one.
    #[inline]
    pub fn inverse(&self) -> Pose {
        let rotation = self.rotation.inverse();
        Pose { rotation, position: -(rotation * self.position) }
    }

    /// `other`, given in the outer frame, seen from this local one: self⁻¹ · other.
    #[inline]
    pub fn inverse_times(&self, other: &Pose) -> Pose {
        let rotation = self.rotation.inverse();
        Pose { rotation: rotation * other.rotation, position: rotation * (other.position - self.position) }
    }

    /// A point of the local frame, in the outer one.
    #[inline]
    pub fn transform_point(&self, x: &Vector3<f64>) -> Vector3<f64> {
        self.rotation * x + self.position
    }

    /// The same motion, given in the local frame, in the outer one: Ad(H) ξ, with
    /// Ad(H) = [R, \[p\]×R; 0, R] (Andrews 2015, eq. 29).
    #[inline]
    pub fn twist_to_outer(&self, twist: &Twist) -> Twist {
        let angular = self.rotation * twist.angular;
        Twist { linear: self.rotation * twist.linear + self.position.cross(&angular), angular }
    }

    /// The same motion, given in the outer frame, in the local one: Ad(H)⁻¹ ξ.
    #[inline]
    pub fn twist_to_local(&self, twist: &Twist) -> Twist {
        let r = self.rotation.inverse();
        Twist { linear: r * (twist.linear - self.position.cross(&twist.angular)), angular: r * twist.angular }
    }

    /// The same wrench, given in the local frame, in the outer one: Ad(H)⁻ᵀ w.
    #[inline]
    pub fn wrench_to_outer(&self, wrench: &Wrench) -> Wrench {
        let force = self.rotation * wrench.force;
        Wrench { force, torque: self.rotation * wrench.torque + self.position.cross(&force) }
    }

    /// The same wrench, given in the outer frame, in the local one: Ad(H)ᵀ w.
    #[inline]
    pub fn wrench_to_local(&self, wrench: &Wrench) -> Wrench {
        let r = self.rotation.inverse();
        Wrench { force: r * wrench.force, torque: r * (wrench.torque - self.position.cross(&wrench.force)) }
    }

    /// The matrix Ad(H) of [`Pose::twist_to_outer`].
    pub fn adjoint(&self) -> Matrix6<f64> {
        let R = self.rotation_matrix();
        let mut ad = Matrix6::zeros();
        ad.fixed_view_mut::<3, 3>(0, 0).copy_from(&R);
        ad.fixed_view_mut::<3, 3>(0, 3).copy_from(&(skew(&self.position) * R));
        ad.fixed_view_mut::<3, 3>(3, 3).copy_from(&R);
        ad
    }

    /// Normalises the rotation, unless it is a unit quaternion up to rounding: then it keeps its bits.
    pub fn settle(&mut self) {
        const ROUNDING: f64 = 16.0 * f64::EPSILON;
        if (self.rotation.quaternion().norm_squared() - 1.0).abs() > ROUNDING {
            self.rotation.renormalize();
        }
    }

    /// Whether all seven numbers are finite.
    pub fn is_finite(&self) -> bool {
        self.position.iter().chain(self.rotation.coords.iter()).all(|x| x.is_finite())
    }
}

/// The unit vector along any vector but zero.
fn direction(v: Vector3<f64>) -> Vector3<f64> {
    // Squares lose digits below 1e-146 and overflow above 1e154: lengths beyond are scaled first.
    let n2 = v.norm_squared();
    if (1e-280..1e280).contains(&n2) { v / n2.sqrt() } else { (v / v.amax()).normalize() }
}

impl std::ops::Mul for Pose {
    type Output = Pose;
    #[inline]
    fn mul(self, other: Pose) -> Pose {
        Pose {
            rotation: self.rotation * other.rotation,
            position: self.rotation * other.position + self.position,
        }
    }
}
