//! A free tree as a whole: what nothing inside it can change, its linear momentum P and its angular momentum L about its
//! centre of mass.
//!
//! An engine that moves every body straight on and then puts joints together loses L as 1 − cos(hω) in every step of a tree
//! that spins. So the tree is stepped in axes that turn with it: by X, the turn of a rigid body that has the inertia I of the whole and its L
//! ([`free_turn`]). In these axes momenta turn back by Xᵀ, which is where centrifugal and Coriolis forces come from, bodies
//! move only relative to each other, and at the end of the step all turns by X at once:
//!
//! ```text
//! start:  v′ = V + Xᵀ(v − V),  L′ = XᵀL_i
//! step:   (v′, L′) → (v″, L″) in place, which moves with v″ − V − Ω×d and ω″ − Ω;  Ω = I⁻¹ΣL′, the sum about the centre of mass
//! end:    v = V + X(v″ − V) + ω×d,  L_i = X L″ + I_i ω         ω so that the sum is L and what acted from outside
//! ```
//!
//! A tree whose joints do not move so tumbles as a rigid body does: energy and momentum to rounding at any hω. Of one whose
//! joints move, momentum is kept to rounding. The last ω gives back what turning momenta back in place took from the turning,
//! and what relative motion takes. If that makes more energy than the step left and the former had, there is less of all motion relative to the
//! turning as a whole, whose energy is ½L·I⁻¹L.

use nalgebra::{Matrix3, UnitQuaternion, Vector3};

use crate::spatial::{Pose, Twist, free_turn};

/// Sums over the bodies of a tree, about a point near them; world axes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Whole {
    origin: Vector3<f64>,
    mass: f64,
    first: Vector3<f64>,
    linear: Vector3<f64>,
    /// Σ d m vᵀ.
    spread: Matrix3<f64>,
    own: Vector3<f64>,
    inertia: Matrix3<f64>,
    /// Twice the kinetic energy.
    vis: f64,
}

impl Whole {
    /// Of nothing yet.
    pub fn about(origin: Vector3<f64>) -> Whole {
        Whole { origin, ..Whole::default() }
    }

    /// Adds a body: its mass, centre of mass and velocity there, angular momentum and inertia about it, and its angular
    /// velocity, where energy is asked for.
    #[inline]
    pub fn add(
        &mut self,
        mass: f64,
        center: &Vector3<f64>,
        velocity: &Vector3<f64>,
        momentum: &Vector3<f64>,
        inertia: &Matrix3<f64>,
        rate: &Vector3<f64>,
    ) {
        let d = center - self.origin;
        self.mass += mass;
        self.first += d * mass;
        self.linear += velocity * mass;
        self.spread += d * (velocity * mass).transpose();
        self.own += momentum;
        self.inertia += inertia + steiner(mass, &d);
        self.vis += mass * velocity.norm_squared() + momentum.dot(rate);
    }

    fn offset(&self) -> Vector3<f64> {
        self.first / self.mass
    }

    /// The centre of mass.
    pub fn center(&self) -> Vector3<f64> {
        self.origin + self.offset()
    }

    /// Its velocity.
    pub fn velocity(&self) -> Vector3<f64> {
        self.linear / self.mass
    }

    /// Σ d×m R(v − V) + R L_i about the centre of mass: the angular momentum if all momenta were turned by R.
    pub fn angular(&self, R: &Matrix3<f64>) -> Vector3<f64> {
        let T = (self.spread - self.offset() * self.linear.transpose()) * R.transpose();
        Vector3::new(T.m23 - T.m32, T.m31 - T.m13, T.m12 - T.m21) + R * self.own
    }

    /// The mass of all.
    pub fn mass(&self) -> f64 {
        self.mass
    }

    /// Twice the kinetic energy.
    pub fn vis(&self) -> f64 {
        self.vis
    }

    /// The inertia about the centre of mass, and its inverse; `None` if it has none to speak of about some axis.
    fn inertia(&self) -> Option<(Matrix3<f64>, Matrix3<f64>)> {
        let I = self.inertia - steiner(self.mass, &self.offset());
        let scale = I.trace();
        let scaled = I / scale;
        let inverse = (scaled.determinant() > LEAST).then(|| scaled.try_inverse()).flatten()?;
        inverse.iter().all(|x| x.is_finite()).then_some((I, inverse / scale))
    }
}

/// Least product of the three moments, over the cube of their sum.
const LEAST: f64 = 1e-18;

/// m(d² − d dᵀ).
fn steiner(mass: f64, d: &Vector3<f64>) -> Matrix3<f64> {
    Matrix3::from_diagonal_element(mass * d.norm_squared()) - d * d.transpose() * mass
}

/// How a free tree turns as a whole in a step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turning {
    /// X.
    turn: UnitQuaternion<f64>,
    X: Matrix3<f64>,
    /// Ω, world axes before the turn.
    pub rate: Vector3<f64>,
    /// What Ω lacks of I⁻¹XᵀL, and twice the energy of that.
    lost: Vector3<f64>,
    vis: f64,
    /// The centre of mass at the start, then where it has to be; its velocity V, and L.
    start: Vector3<f64>,
    pub center: Vector3<f64>,
    velocity: Vector3<f64>,
    momentum: Vector3<f64>,
}

impl Turning {
    /// In a step of h seconds from a state; `None` for what cannot be said to turn.
    pub fn new(whole: &Whole, h: f64) -> Option<Turning> {
        let (I, inverse) = whole.inertia()?;
        let momentum = whole.angular(&Matrix3::identity());
        let turn = free_turn(&I, &inverse, &momentum, h);
        let X = turn.to_rotation_matrix().into_inner();
        let (all, back) = (X.transpose() * momentum, whole.angular(&X.transpose()));
        let rate = inverse * back;
        Some(Turning {
            turn,
            X,
            rate,
            lost: inverse * all - rate,
            vis: all.dot(&(inverse * all)) - back.dot(&rate),
            start: whole.center(),
            center: whole.center(),
            velocity: whole.velocity(),
            momentum,
        })
    }

    /// How far it turns, rad.
    pub fn angle(&self) -> f64 {
        self.turn.angle()
    }

    /// Velocity and angular momentum of a body in the axes that turn, from those of the state.
    #[inline]
    pub fn back(&self, velocity: &Vector3<f64>, momentum: &Vector3<f64>) -> (Vector3<f64>, Vector3<f64>) {
        let Xt = self.X.transpose();
        (self.velocity + Xt * (velocity - self.velocity), Xt * momentum)
    }

    /// What the end of the step will give back to a point: to first order, and before it has passed.
    pub fn lost_at(&self, point: &Vector3<f64>) -> Twist {
        Twist { linear: self.lost.cross(&(point - self.start)), angular: self.lost }
    }

    /// The velocity of a point that turns along, in these axes.
    #[inline]
    pub fn velocity_at(&self, point: &Vector3<f64>) -> Vector3<f64> {
        self.velocity + self.rate.cross(&(point - self.start))
    }

    /// Takes what the step did: the velocity of the centre of mass, with which that goes on for h seconds, and what acted
    /// from outside, as an angular impulse about it.
    pub fn pass(&mut self, velocity: Vector3<f64>, torque: Vector3<f64>, h: f64) {
        self.velocity = velocity;
        self.momentum += torque;
        self.center += velocity * h;
    }

    /// Where what is at a pose in the axes that turn is in the world, but for the shift of the end.
    #[inline]
    pub fn moved(&self, pose: &Pose) -> Pose {
        let mut rotation = self.turn * pose.rotation;
        rotation.renormalize_fast();
        Pose { rotation, position: self.center + self.X * (pose.position - self.start) }
    }

    /// Velocity relative to the centre of mass, and angular momentum of a body in world axes, from those in the axes that turn.
    #[inline]
    pub fn forth(&self, velocity: &Vector3<f64>, momentum: &Vector3<f64>) -> (Vector3<f64>, Vector3<f64>) {
        (self.X * (velocity - self.velocity), self.X * momentum)
    }

    /// What is left to do at the end, from the sums of these there and from the energy that the step left.
    pub fn end(&self, whole: &Whole, left: f64) -> End {
        let now = whole.angular(&Matrix3::identity());
        let (I, inverse) = whole.inertia().unwrap_or_default();
        let fix = inverse * (self.momentum - now);
        let rate = inverse * self.momentum;
        // Energies, twice: of the turning, and of the rest.
        let turning = rate.dot(&self.momentum);
        let rest = whole.vis + 2.0 * fix.dot(&now) + fix.dot(&(I * fix)) - turning;
        let left = left + self.vis;
        let part =
            if rest > 0.0 && turning + rest > left { ((left - turning).max(0.0) / rest).sqrt() } else { 1.0 };
        End {
            shift: self.center - whole.center(),
            velocity: self.velocity,
            center: whole.center(),
            fix,
            rate,
            part,
        }
    }
}

/// What brings a tree to where it has to be at the end of a step, with the momentum that it has to have.
#[derive(Clone, Copy, Debug)]
pub(crate) struct End {
    /// How far everything goes.
    pub shift: Vector3<f64>,
    velocity: Vector3<f64>,
    center: Vector3<f64>,
    fix: Vector3<f64>,
    rate: Vector3<f64>,
    /// How much is left of the motion relative to the turning.
    part: f64,
}

impl End {
    /// Velocity and angular momentum of a body at the end, from those of [`Turning::forth`].
    #[inline]
    pub fn apply(
        &self,
        center: &Vector3<f64>,
        velocity: &Vector3<f64>,
        momentum: &Vector3<f64>,
        inertia: &Matrix3<f64>,
    ) -> (Vector3<f64>, Vector3<f64>) {
        let d = center - self.center;
        let (v, L) = (velocity + self.fix.cross(&d), momentum + inertia * self.fix);
        if self.part == 1.0 {
            return (self.velocity + v, L);
        }
        let (along, own) = (self.rate.cross(&d), inertia * self.rate);
        (self.velocity + along + (v - along) * self.part, own + (L - own) * self.part)
    }
}
