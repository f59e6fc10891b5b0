//! Twists: linear and angular velocity, or a small displacement.

use nalgebra::{Matrix6, UnitQuaternion, Vector3, Vector6};

use super::{Wrench, skew};

/// A spatial velocity (or small displacement): linear part in m/s, angular part in rad/s, in the
/// axes and at the origin of the frame it belongs to.
///
/// ```
/// use pliant_core::nalgebra::Vector3;
/// use pliant_core::spatial::{Pose, Twist, Wrench};
///
/// let wheel = Twist::new(Vector3::zeros(), Vector3::new(0.0, 0.0, 4.0)); // turns about z, 4 rad/s
/// let rim = Pose::translation([0.5, 0.0, 0.0]);
/// let there = rim.twist_to_local(&wheel);
/// assert_eq!(there.linear, Vector3::new(0.0, 2.0, 0.0)); // the rim goes at 2 m/s
///
/// // A brake takes the same power in either frame.
/// let brake = Wrench::force([0.0, -3.0, 0.0]);
/// assert_eq!(brake.power(&there), -6.0);
/// assert_eq!(rim.wrench_to_outer(&brake).power(&wheel), -6.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Twist {
    /// Velocity of the frame's origin, m/s.
    pub linear: Vector3<f64>,
    /// Angular velocity, rad/s.
    pub angular: Vector3<f64>,
}

impl Twist {
    /// The twist of something at rest.
    pub const ZERO: Twist =
        Twist { linear: Vector3::new(0.0, 0.0, 0.0), angular: Vector3::new(0.0, 0.0, 0.0) };

    /// A twist from its two parts.
    #[inline]
    pub fn new(linear: Vector3<f64>, angular: Vector3<f64>) -> Twist {
        Twist { linear, angular }
    }

    /// The six numbers (v, ω).
    #[inline]
    pub fn to_vector(&self) -> Vector6<f64> {
        let (v, w) = (&self.linear, &self.angular);
        Vector6::new(v.x, v.y, v.z, w.x, w.y, w.z)
    }

    /// From the six numbers (v, ω).
    #[inline]
    pub fn from_vector(x: &Vector6<f64>) -> Twist {
        Twist { linear: Vector3::new(x[0], x[1], x[2]), angular: Vector3::new(x[3], x[4], x[5]) }
    }

    /// In other axes: both parts turned.
    #[inline]
    pub fn turned(&self, rotation: &UnitQuaternion<f64>) -> Twist {
        Twist { linear: rotation * self.linear, angular: rotation * self.angular }
    }

    /// The Lie bracket ad(self) other = (ω×v' + v×ω', ω×ω').
    #[inline]
    pub fn bracket(&self, other: &Twist) -> Twist {
        Twist {
            linear: self.angular.cross(&other.linear) + self.linear.cross(&other.angular),
            angular: self.angular.cross(&other.angular),
        }
    }

    /// The matrix of [`Twist::bracket`]: ad(ξ) = [\[ω\]×, \[v\]×; 0, \[ω\]×].
    pub fn bracket_matrix(&self) -> Matrix6<f64> {
        let (V, W) = (skew(&self.linear), skew(&self.angular));
        let mut ad = Matrix6::zeros();
        ad.fixed_view_mut::<3, 3>(0, 0).copy_from(&W);
        ad.fixed_view_mut::<3, 3>(0, 3).copy_from(&V);
        ad.fixed_view_mut::<3, 3>(3, 3).copy_from(&W);
        ad
    }

    /// The transpose of the bracket applied to a wrench: ad(ξ)ᵀ w.
    #[inline]
    pub fn bracket_transpose(&self, w: &Wrench) -> Wrench {
        Wrench {
            force: -self.angular.cross(&w.force),
            torque: -self.linear.cross(&w.force) - self.angular.cross(&w.torque),
        }
    }

    /// Whether all six numbers are finite.
    pub fn is_finite(&self) -> bool {
        self.linear.iter().chain(self.angular.iter()).all(|x| x.is_finite())
    }
}

impl std::ops::Add for Twist {
    type Output = Twist;
    #[inline]
    fn add(self, other: Twist) -> Twist {
        Twist { linear: self.linear + other.linear, angular: self.angular + other.angular }
    }
}

impl std::ops::Sub for Twist {
    type Output = Twist;
    #[inline]
    fn sub(self, other: Twist) -> Twist {
        Twist { linear: self.linear - other.linear, angular: self.angular - other.angular }
    }
}

impl std::ops::Neg for Twist {
    type Output = Twist;
    #[inline]
    fn neg(self) -> Twist {
        Twist { linear: -self.linear, angular: -self.angular }
    }
}

impl std::ops::Mul<f64> for Twist {
    type Output = Twist;
    #[inline]
    fn mul(self, s: f64) -> Twist {
        Twist { linear: self.linear * s, angular: self.angular * s }
    }
}
