//! Wrenches: force and torque.

use nalgebra::{UnitQuaternion, Vector3, Vector6};

use super::Twist;

/// A spatial force: force in N, torque in N·m, in the axes and at the origin of the frame it
/// belongs to.
///
/// ```
/// use pliant_core::spatial::{Pose, Wrench};
///
/// let tool = Pose::translation([0.5, 0.0, 0.0]); // in the wrist's frame
/// let weight = Wrench::force([0.0, 0.0, -10.0]); // at the tool
/// let at_wrist = tool.wrench_to_outer(&weight);
/// assert_eq!(at_wrist.force, weight.force);
/// assert_eq!(at_wrist.torque.y, 5.0); // 10 N with a lever of 0.5 m
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wrench {
    /// Force, N.
    pub force: Vector3<f64>,
    /// Torque about the frame's origin, N·m.
    pub torque: Vector3<f64>,
}

impl Wrench {
    /// No force and no torque.
    pub const ZERO: Wrench =
        Wrench { force: Vector3::new(0.0, 0.0, 0.0), torque: Vector3::new(0.0, 0.0, 0.0) };

    /// A wrench from its two parts.
    #[inline]
    pub fn new(force: Vector3<f64>, torque: Vector3<f64>) -> Wrench {
        Wrench { force, torque }
    }

    /// A force (N) through the origin.
    pub fn force(force: [f64; 3]) -> Wrench {
        Wrench { force: force.into(), torque: Vector3::zeros() }
    }

    /// A pure torque (N·m).
    pub fn torque(torque: [f64; 3]) -> Wrench {
        Wrench { force: Vector3::zeros(), torque: torque.into() }
    }

    /// In other axes: both parts turned.
    #[inline]
    pub fn turned(&self, rotation: &UnitQuaternion<f64>) -> Wrench {
        Wrench { force: rotation * self.force, torque: rotation * self.torque }
    }

    /// The six numbers (f, τ).
    #[inline]
    pub fn to_vector(&self) -> Vector6<f64> {
        let (f, t) = (&self.force, &self.torque);
        Vector6::new(f.x, f.y, f.z, t.x, t.y, t.z)
    }

    /// From the six numbers (f, τ).
    #[inline]
    pub fn from_vector(x: &Vector6<f64>) -> Wrench {
        Wrench { force: Vector3::new(x[0], x[1], x[2]), torque: Vector3::new(x[3], x[4], x[5]) }
    }

    /// Power f·v + τ·ω, in W, of this wrench on a twist of the same frame.
    #[inline]
    pub fn power(&self, twist: &Twist) -> f64 {
        self.force.dot(&twist.linear) + self.torque.dot(&twist.angular)
    }

    /// Whether all six numbers are finite.
    pub fn is_finite(&self) -> bool {
        self.force.iter().chain(self.torque.iter()).all(|x| x.is_finite())
    }
}

impl std::ops::Add for Wrench {
    type Output = Wrench;
    #[inline]
    fn add(self, other: Wrench) -> Wrench {
        Wrench { force: self.force + other.force, torque: self.torque + other.torque }
    }
}

impl std::ops::Sub for Wrench {
    type Output = Wrench;
    #[inline]
    fn sub(self, other: Wrench) -> Wrench {
        Wrench { force: self.force - other.force, torque: self.torque - other.torque }
    }
}

impl std::ops::Neg for Wrench {
    type Output = Wrench;
    #[inline]
    fn neg(self) -> Wrench {
        Wrench { force: -self.force, torque: -self.torque }
    }
}

impl std::ops::Mul<f64> for Wrench {
    type Output = Wrench;
    #[inline]
    fn mul(self, s: f64) -> Wrench {
        Wrench { force: self.force * s, torque: self.torque * s }
    }
}
