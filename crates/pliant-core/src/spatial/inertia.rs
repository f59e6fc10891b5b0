//! Spatial inertia of a rigid body.

use nalgebra::{Matrix3, Matrix6, Vector3};

use super::{Pose, Twist, Wrench, skew};

/// Mass, centre of mass and rotational inertia of a rigid body, in the axes of its frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpatialInertia {
    /// Mass, kg.
    pub mass: f64,
    /// Centre of mass in the frame, m.
    pub center_of_mass: Vector3<f64>,
    /// Rotational inertia about the centre of mass, in the frame's axes, kg·m².
    pub inertia: Matrix3<f64>,
}

impl SpatialInertia {
    /// Of nothing.
    pub const ZERO: SpatialInertia = SpatialInertia {
        mass: 0.0,
        center_of_mass: Vector3::new(0.0, 0.0, 0.0),
        inertia: Matrix3::new(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
    };

    /// Of a solid box of the given mass (kg) and full edge lengths (m), centred on the frame.
    pub fn of_box(mass: f64, size: [f64; 3]) -> SpatialInertia {
        let [x, y, z] = size.map(|s| s * s * mass / 12.0);
        SpatialInertia {
            mass,
            center_of_mass: Vector3::zeros(),
            inertia: Matrix3::from_diagonal(&Vector3::new(y + z, x + z, x + y)),
        }
    }

    /// The 6×6 matrix at the frame's origin: [m I, −m\[c\]×; m\[c\]×, I_c − m\[c\]×\[c\]×].
    pub fn matrix(&self) -> Matrix6<f64> {
        let m = self.mass;
        let C = skew(&self.center_of_mass);
        let mut M = Matrix6::zeros();
        M.fixed_view_mut::<3, 3>(0, 0).copy_from(&(Matrix3::identity() * m));
        M.fixed_view_mut::<3, 3>(0, 3).copy_from(&(C * -m));
        M.fixed_view_mut::<3, 3>(3, 0).copy_from(&(C * m));
        M.fixed_view_mut::<3, 3>(3, 3).copy_from(&(self.inertia - C * C * m));
        M
    }

    /// Momentum M ξ of a body moving with a twist of the same frame.
    #[inline]
    pub fn momentum(&self, twist: &Twist) -> Wrench {
        let c = &self.center_of_mass;
        let force = (twist.linear + twist.angular.cross(c)) * self.mass;
        Wrench { force, torque: self.inertia * twist.angular + c.cross(&force) }
    }

    /// Kinetic energy ½ ξᵀ M ξ, J.
    pub fn kinetic_energy(&self, twist: &Twist) -> f64 {
        0.5 * self.momentum(twist).power(twist)
    }

    /// The same body described in the frame in which its own frame has the given pose.
    pub fn in_outer(&self, pose: &Pose) -> SpatialInertia {
        let R = pose.rotation_matrix();
        let I = R * self.inertia * R.transpose();
        SpatialInertia {
            mass: self.mass,
            center_of_mass: pose.transform_point(&self.center_of_mass),
            inertia: (I + I.transpose()) * 0.5,
        }
    }

    /// Two bodies of the same frame, welded.
    pub fn welded(&self, other: &SpatialInertia) -> SpatialInertia {
        let mass = self.mass + other.mass;
        if mass == 0.0 {
            return SpatialInertia { inertia: self.inertia + other.inertia, ..*self };
        }
        let center_of_mass = (self.center_of_mass * self.mass + other.center_of_mass * other.mass) / mass;
        // Steiner: I = Σ I_i + m_i (|d|² − d dᵀ), d from the common centre of mass.
        let mut inertia = self.inertia + other.inertia;
        for part in [self, other] {
            let D = skew(&(part.center_of_mass - center_of_mass));
            inertia -= D * D * part.mass;
        }
        SpatialInertia { mass, center_of_mass, inertia }
    }
}
