//! A rigid body that nothing holds. It carries its momenta, so that what two of them exchange is kept to rounding.
//!
//! Linear momentum and angular momentum about the centre of mass, world axes; a step turns the body by
//! [`free_turn`], which keeps its energy to rounding however fast it tumbles. Forces and contact change momenta at the start
//! of the step.

use nalgebra::{Matrix3, UnitQuaternion, Vector3};

use super::error::ContactError;
use crate::algebra::wide::{square, wide};
use crate::engine::touch::Push;
use crate::mechanism::Body;
use crate::spatial::{Pose, SpatialInertia, Twist, Wrench, free_turn};

/// A free body in motion.
#[derive(Clone, Debug, PartialEq)]
pub struct FreeBody {
    name: String,
    inertia: SpatialInertia,
    inverse: Matrix3<f64>,
    /// NᵀN = inverse.
    half: Matrix3<f64>,
    pose: Pose,
    linear: Vector3<f64>,
    angular: Vector3<f64>,
    load: Wrench,
    /// Whether it is a ball.
    pub(super) round: bool,
    /// Momenta at the end of the step as if nothing touched.
    free: (Vector3<f64>, Vector3<f64>),
    /// Where the step that is attempted ends, and with what momenta.
    next: (Pose, Vector3<f64>, Vector3<f64>),
    /// What pushes do, a row for each: memory.
    rows: Vec<f64>,
}

impl FreeBody {
    /// At rest where the body is.
    pub fn new(body: &Body) -> Result<FreeBody, ContactError> {
        let massless = || ContactError::Massless { body: body.name.clone() };
        let inertia = body.inertia;
        let finite = inertia.inertia.iter().chain(&inertia.center_of_mass).all(|x| x.is_finite());
        if !(inertia.mass > 0.0 && inertia.mass.is_finite() && finite) {
            return Err(massless());
        }
        let factors = inertia.inertia.cholesky().ok_or_else(massless)?;
        let half = factors.l().solve_lower_triangular(&Matrix3::identity()).ok_or_else(massless)?;
        Ok(FreeBody {
            name: body.name.clone(),
            inertia,
            inverse: factors.inverse(),
            half,
            pose: body.pose,
            linear: Vector3::zeros(),
            angular: Vector3::zeros(),
            load: Wrench::ZERO,
            round: false,
            free: Default::default(),
            next: (body.pose, Vector3::zeros(), Vector3::zeros()),
            rows: Vec::new(),
        })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Mass, kg, centre of mass and inertia, link frame.
    pub fn inertia(&self) -> &SpatialInertia {
        &self.inertia
    }

    /// Its link frame in the world.
    pub fn pose(&self) -> Pose {
        self.pose
    }

    /// Its twist, world axes at the link frame's origin.
    pub fn twist(&self) -> Twist {
        self.twist_of(&self.linear, &self.angular)
    }

    /// Its linear momentum, kg·m/s, and angular momentum about the world's origin, kg·m²/s.
    pub fn momentum(&self) -> (Vector3<f64>, Vector3<f64>) {
        (self.linear, self.angular + self.center().cross(&self.linear))
    }

    /// Puts it somewhere, with a twist, world axes at the link frame's origin.
    pub fn place(&mut self, pose: Pose, twist: Twist) {
        self.pose = pose;
        let arm = self.center() - pose.position;
        self.linear = (twist.linear + twist.angular.cross(&arm)) * self.inertia.mass;
        let R = pose.rotation;
        self.angular = R * (self.inertia.inertia * (R.inverse() * twist.angular));
    }

    /// Puts it where something carries it; momenta stay.
    pub(super) fn carry(&mut self, pose: Pose) {
        self.pose = pose;
    }

    /// The radius at which its mass would have its inertia, m.
    pub(super) fn gyration(&self) -> f64 {
        (self.inertia.inertia.trace() / (3.0 * self.inertia.mass)).sqrt()
    }

    /// Sets the dead load at its link frame, world axes.
    pub fn set_load(&mut self, load: Wrench) {
        self.load = load;
    }

    fn center(&self) -> Vector3<f64> {
        self.pose.transform_point(&self.inertia.center_of_mass)
    }

    fn spin(&self, rotation: &UnitQuaternion<f64>, angular: &Vector3<f64>) -> Vector3<f64> {
        rotation * (self.inverse * (rotation.inverse() * angular))
    }

    fn twist_of(&self, linear: &Vector3<f64>, angular: &Vector3<f64>) -> Twist {
        let angular = self.spin(&self.pose.rotation, angular);
        let arm = self.center() - self.pose.position;
        Twist { linear: linear / self.inertia.mass - angular.cross(&arm), angular }
    }

    /// Momenta after h seconds as if nothing touched.
    pub(super) fn solve_free(&mut self, gravity: &Vector3<f64>, h: f64) {
        let arm = self.center() - self.pose.position;
        let torque = self.load.torque - arm.cross(&self.load.force);
        self.free =
            (self.linear + (gravity * self.inertia.mass + self.load.force) * h, self.angular + torque * h);
    }

    /// Its twist then, world axes at the link frame's origin.
    pub(super) fn free_twist(&self) -> Twist {
        self.twist_of(&self.free.0, &self.free.1)
    }

    /// G M⁻¹ Gᵀ of pushes, row by row: the products of x = (f/√m, N Rᵀτ), torques about the centre of mass.
    pub(super) fn respond(&mut self, pushes: &[Push], out: &mut [f64]) {
        let arm = self.center() - self.pose.position;
        let light = 1.0 / self.inertia.mass.sqrt();
        let half = self.half * self.pose.rotation_matrix().transpose();
        self.rows.clear();
        for w in pushes.iter().flat_map(|push| &push.rows) {
            let force = Vector3::new(w[0], w[1], w[2]);
            let torque = Vector3::new(w[3], w[4], w[5]) - arm.cross(&force);
            let (v, w) = (force * light, half * torque);
            self.rows.extend_from_slice(&[v.x, v.y, v.z, w.x, w.y, w.z, 0.0, 0.0]);
        }
        multiply(&self.rows, out, 3 * pushes.len());
    }

    /// Whether it is somewhere, and would be after the step as if nothing touched.
    pub(super) fn is_finite(&self) -> bool {
        let momenta = self.free.0.iter().chain(&self.free.1);
        self.pose.is_finite() && momenta.into_iter().all(|x| x.is_finite())
    }

    /// Solves the step with an impulse at the link frame, world axes; nothing moves. Whether it ends in finite numbers. A body in
    /// flight goes along its parabola, which keeps its energy; one that `rests` on something goes as contact had it.
    pub(super) fn attempt(&mut self, impulse: &Wrench, rests: bool, h: f64) -> bool {
        let center = self.center();
        let arm = center - self.pose.position;
        let linear = self.free.0 + impulse.force;
        let angular = self.free.1 + impulse.torque - arm.cross(&impulse.force);
        let own = self.pose.rotation.inverse() * angular;
        let turned = self.pose.rotation * free_turn(&self.inertia.inertia, &self.inverse, &own, h);
        let rotation = UnitQuaternion::new_normalize(turned.into_inner());
        let gained = if rests { Vector3::zeros() } else { self.free.0 - self.linear };
        let center = center + (linear - gained * 0.5) * (h / self.inertia.mass);
        let pose = Pose { rotation, position: center - rotation * self.inertia.center_of_mass };
        self.next = (pose, linear, angular);
        pose.is_finite() && linear.iter().chain(&angular).all(|x| x.is_finite())
    }

    /// How far it turns in a step of h seconds with the momenta that were attempted, rad.
    pub(super) fn turn(&self, h: f64) -> f64 {
        h * self.spin(&self.pose.rotation, &self.next.2).norm()
    }

    /// Where the step that was attempted ends.
    pub(super) fn next_pose(&self) -> Pose {
        self.next.0
    }

    fn kinetic_energy(&self, pose: &Pose, linear: &Vector3<f64>, angular: &Vector3<f64>) -> f64 {
        let own = pose.rotation.inverse() * angular;
        0.5 * (linear.norm_squared() / self.inertia.mass + own.dot(&(self.inverse * own)))
    }

    /// Energy of motion now, J.
    pub(super) fn moving(&self) -> f64 {
        self.kinetic_energy(&self.pose, &self.linear, &self.angular)
    }

    /// Energy now and at the end of the step that was attempted, J: of motion, of gravity and of the load's force.
    pub(super) fn energies(&self, gravity: &Vector3<f64>) -> [f64; 2] {
        let now = (self.pose, self.linear, self.angular);
        [now, self.next].map(|(pose, linear, angular)| {
            let moving = self.kinetic_energy(&pose, &linear, &angular);
            let center = pose.transform_point(&self.inertia.center_of_mass);
            moving - self.inertia.mass * gravity.dot(&center) - self.load.force.dot(&pose.position)
        })
    }

    /// Moves that place.
    pub(super) fn shift_next(&mut self, by: &Vector3<f64>) {
        self.next.0.position += by;
    }

    /// Takes the step that was attempted.
    pub(super) fn take(&mut self) {
        (self.pose, self.linear, self.angular) = self.next;
    }
}

wide! {
    fn multiply, square(rows: &[f64], out: &mut [f64], m: usize)
}
