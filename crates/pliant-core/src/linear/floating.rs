//! A free base: the motion of a component as a whole.
//!
//! Mean axes: with M_bb the inertia of everything as one rigid body, M_bz its coupling to z and S = M_bb⁻¹M_bz, the frame
//! H_m in which the links' motion carries no momentum moves as a rigid body, the base is at H_b = H_m exp(−S z), and z feels M′ = M − M_zb S: the same motion as the coupled floating frame, with
//! nothing between H_m and z but the loads. Gravity acts on H_m alone.
//!
//! The rigid part carries its linear momentum and its angular momentum about its centre of mass, world axes;
//! it turns as a free body does ([`free_turn`]). Without external torque the angular momentum is kept to the last bit, and
//! the energy of the turning to rounding.
//!
//! Left out: what spin does to z, and how M_bb changes with z.

use nalgebra::{DMatrix, Matrix3, Matrix6, UnitQuaternion, Vector3};

use super::linearisation::FreeBase;
use super::model::Component;
use crate::spatial::{Pose, Twist, exp, free_turn, right_jacobian};

/// The rigid part of a component on a free base.
#[derive(Clone, Debug)]
pub(super) struct Floating {
    /// S, 6×n, row by row; zero for the uncoupled base.
    pub sway: Vec<f64>,
    mass: f64,
    spatial: Matrix6<f64>,
    /// Centre of mass and inertia about it, frame H_m.
    center: Vector3<f64>,
    inertia: Matrix3<f64>,
    inverse: Matrix3<f64>,
    /// NᵀN = inverse.
    half: Matrix3<f64>,
    /// H_m.
    pub mean: Pose,
    /// Linear momentum, and angular momentum about the centre of mass, world axes.
    pub linear: Vector3<f64>,
    pub angular: Vector3<f64>,
    /// How fast H_m's origin and axes speed up, world axes: of the last step.
    pub acceleration: Twist,
    /// Whether gravity acts on z too: the uncoupled base.
    pub uncoupled: bool,
    /// H_m, momenta and acceleration at the end of the step that is attempted.
    next: (Pose, Vector3<f64>, Vector3<f64>, Twist),
}

/// The mass that z feels on a base that floats, and the rigid part.
pub(super) fn floating(component: &Component, how: FreeBase) -> (Floating, DMatrix<f64>) {
    let n = component.size();
    let M: &Matrix6<f64> = &component.base_mass;
    let coupling = DMatrix::from_fn(6, n, |i, k| component.base_load[(k, i)]);
    let S = match how {
        FreeBase::MeanAxes => {
            let M = DMatrix::from_fn(6, 6, |i, k| M[(i, k)]);
            M.cholesky().map_or(DMatrix::zeros(6, n), |factors| factors.solve(&coupling))
        }
        FreeBase::Uncoupled => DMatrix::zeros(6, n),
    };
    let mass = &component.mass - coupling.transpose() * &S;
    // M_bb = [m, −m[c]; m[c], I_c − m[c][c]].
    let m = M[(0, 0)];
    let center = Vector3::new(M[(5, 1)], M[(3, 2)], M[(4, 0)]) / m;
    let c = crate::spatial::skew(&center);
    let inertia: Matrix3<f64> = M.fixed_view::<3, 3>(3, 3) + c * c * m;
    let floating = Floating {
        sway: S.transpose().as_slice().to_vec(),
        mass: m,
        spatial: *M,
        center,
        inertia,
        inverse: inertia.try_inverse().unwrap_or_else(Matrix3::zeros),
        half: (inertia.cholesky())
            .and_then(|factors| factors.l().solve_lower_triangular(&Matrix3::identity()))
            .unwrap_or_else(Matrix3::zeros),
        mean: component.base_pose,
        linear: Vector3::zeros(),
        angular: Vector3::zeros(),
        acceleration: Twist::ZERO,
        uncoupled: how == FreeBase::Uncoupled,
        next: (component.base_pose, Vector3::zeros(), Vector3::zeros(), Twist::ZERO),
    };
    (floating, (&mass + mass.transpose()) * 0.5)
}

impl Floating {
    /// S z.
    pub fn sway_of(&self, z: &[f64]) -> Twist {
        super::dynamics::twist(&self.sway, z, None)
    }

    /// H_b = H_m exp(−S z).
    pub fn base(&self, z: &[f64]) -> Pose {
        self.mean * exp(&-self.sway_of(z))
    }

    /// Where the centre of mass of everything is, world.
    pub fn center(&self) -> Vector3<f64> {
        self.mean.transform_point(&self.center)
    }

    /// M_bb at H_m's origin.
    pub fn spatial_mass(&self) -> Matrix6<f64> {
        self.spatial
    }

    /// The total mass, kg.
    pub fn mass(&self) -> f64 {
        self.mass
    }

    /// The twist of H_m, world axes at its origin.
    pub fn twist(&self) -> Twist {
        self.twist_of(&self.mean.rotation, &self.linear, &self.angular)
    }

    fn twist_of(&self, R: &UnitQuaternion<f64>, linear: &Vector3<f64>, angular: &Vector3<f64>) -> Twist {
        let angular = R * (self.inverse * (R.inverse() * angular));
        Twist { linear: linear / self.mass - angular.cross(&(R * self.center)), angular }
    }

    /// After an impulse and a torque impulse about the centre of mass, world axes: the velocity of the centre of mass with
    /// the angular velocity, and where that centre is.
    pub fn after(&self, impulse: &Vector3<f64>, turn: &Vector3<f64>) -> (Twist, Vector3<f64>) {
        let (linear, angular) = self.answer(&(self.linear + impulse), &(self.angular + turn));
        (Twist { linear, angular }, self.center())
    }

    /// M_bb⁻¹: the velocity of the centre of mass and the angular velocity that an impulse and a torque impulse about it
    /// make, world axes.
    pub fn answer(&self, impulse: &Vector3<f64>, turn: &Vector3<f64>) -> (Vector3<f64>, Vector3<f64>) {
        let R = &self.mean.rotation;
        (impulse / self.mass, R * (self.inverse * (R.inverse() * turn)))
    }

    /// M_bb⁻¹ about the centre of mass, world axes, as a square: 1/√m, and H with HᵀH the inverse inertia.
    pub fn half_mobility(&self) -> (f64, Matrix3<f64>) {
        let R = self.mean.rotation_matrix();
        (1.0 / self.mass.sqrt(), self.half * R.transpose())
    }

    /// The body twist of the base: that of H_m, seen from it, and its sway.
    pub fn base_twist(&self, z: &[f64], rate: &[f64]) -> Twist {
        let world = self.twist();
        let r = self.mean.rotation.inverse();
        let mean = Twist { linear: r * world.linear, angular: r * world.angular };
        let sway = -self.sway_of(z);
        let rate = -self.sway_of(rate);
        exp(&sway).twist_to_local(&mean) + Twist::from_vector(&(right_jacobian(&sway) * rate.to_vector()))
    }

    /// Sets the rigid part so that the base is at a pose with a body twist, for given z and rates.
    pub fn place(&mut self, base: &Pose, twist: &Twist, z: &[f64], rate: &[f64]) {
        let sway = -self.sway_of(z);
        self.mean = *base * exp(&sway).inverse();
        let own = Twist::from_vector(&(right_jacobian(&sway) * (-self.sway_of(rate)).to_vector()));
        let mean = exp(&sway).twist_to_outer(&(*twist - own));
        let R = self.mean.rotation;
        let angular = R * mean.angular;
        let velocity = R * mean.linear + angular.cross(&(R * self.center));
        self.linear = velocity * self.mass;
        self.angular = R * (self.inertia * mean.angular);
    }

    /// Whether a step of h seconds under a force and a torque ends somewhere: beyond 1e12 m, or turned by more than that,
    /// counts as not finite.
    pub fn stays(&self, force: &Vector3<f64>, torque: &Vector3<f64>, h: f64) -> bool {
        let (linear, angular) = (self.linear + force * h, self.angular + torque * h);
        let moved = (self.mean.position + linear * (h / self.mass)).norm();
        let (speed, spin) = (linear.norm() / self.mass, self.inverse.norm() * angular.norm());
        moved < 1e12 && spin * h < 1e12 && speed.max(spin) < 1e100 * h.min(1.0)
    }

    /// Advances by h seconds under a force and a torque about the centre of mass, world axes, in memory; its acceleration
    /// then, `None` if that is not finite.
    pub fn attempt(&mut self, force: &Vector3<f64>, torque: &Vector3<f64>, h: f64) -> Option<Twist> {
        let (linear, angular) = (self.linear + force * h, self.angular + torque * h);
        let own = self.mean.rotation.inverse() * angular;
        let turned = self.mean.rotation * free_turn(&self.inertia, &self.inverse, &own, h);
        let rotation = UnitQuaternion::new_normalize(turned.into_inner());
        let center = self.center() + linear * (h / self.mass);
        let mean = Pose { rotation, position: center - rotation * self.center };
        let acceleration = (self.twist_of(&rotation, &linear, &angular) - self.twist()) * (1.0 / h);
        self.next = (mean, linear, angular, acceleration);
        (mean.is_finite() && acceleration.is_finite()).then_some(acceleration)
    }

    /// Takes the step that was attempted.
    pub fn take(&mut self) {
        (self.mean, self.linear, self.angular, self.acceleration) = self.next;
    }

    /// The numbers that make up its state.
    pub fn save(&self, out: &mut Vec<f64>) {
        out.extend_from_slice(self.mean.rotation.coords.as_slice());
        out.extend_from_slice(self.mean.position.as_slice());
        out.extend_from_slice(self.linear.as_slice());
        out.extend_from_slice(self.angular.as_slice());
        out.extend_from_slice(self.acceleration.to_vector().as_slice());
    }

    /// How many they are.
    pub const SAVED: usize = 19;

    /// Puts them back.
    pub fn restore(&mut self, x: &[f64]) {
        let v = |at: usize| Vector3::new(x[at], x[at + 1], x[at + 2]);
        let q = nalgebra::Quaternion::new(x[3], x[0], x[1], x[2]);
        self.mean = Pose { rotation: UnitQuaternion::new_unchecked(q), position: v(4) };
        (self.linear, self.angular) = (v(7), v(10));
        self.acceleration = Twist { linear: v(13), angular: v(16) };
    }
}
