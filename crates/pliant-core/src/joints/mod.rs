//! Joint kinds: one small file each, all answering the same questions.
//!
//! A joint connects a frame on its parent body to a frame on its child body. X is the pose of the
//! child's joint frame in the parent's. On the joint's manifold X = X(q), and X(0) is the identity:
//! the two frames coincide in the file's pose. The questions:
//!
//! | question | symbol | shape |
//! |---|---|---|
//! | [`JointKind::freedoms`] | d | |
//! | [`JointKind::transform`] | X(q) | pose |
//! | [`JointKind::subspace`] | S(q): X⁻¹Ẋ = S q̇, body twist of the child frame | 6×d |
//! | [`JointKind::subspace_rate`] | Ṡ(q, q̇) | 6×d |
//! | [`JointKind::motion`] | X(q), S(q) and Ṡq̇ at once | |
//! | [`JointKind::coordinates`] | θ(X): coordinates of any relative pose, the nearest turn to a reference | d |
//! | [`JointKind::coordinates_jacobian`] | Jθ(X): θ̇ = Jθ ξ for the body twist ξ = X⁻¹Ẋ | d×6 |
//! | [`JointKind::residual`] | C(X): zero on the manifold | 6−d |
//! | [`JointKind::rows`] | J(X): Ċ = J ξ | (6−d)×6 |
//! | [`JointKind::place`] | the last four at once | |
//! | [`JointKind::wrench_derivative`] | ∂(Jᵀλ + Jθᵀτ)/∂ξ: what turns into geometric stiffness | 6×6 |
//!
//! Any joint that knows only X and S has the residual log(X(q)⁻¹ X) with q as an unknown. The rows of each kind are faster forms,
//! tested against it.
//!
//! Answers come in fixed 6-vectors and 6×6 matrices of which the first d (or 6−d) entries, rows or
//! columns count and the rest is zero: no allocation and no generic sizes.
//!
//! ```
//! use pliant_core::joints::JointKind;
//!
//! let hinge = JointKind::Hinge; // about z
//! let turned = hinge.transform(&[0.5]);
//! assert_eq!(hinge.freedoms(), 1);
//! assert!((hinge.coordinates(&turned, &[0.0])[0] - 0.5).abs() < 1e-15);
//! ```

mod ball;
mod bushing;
mod cylindrical;
pub(crate) mod expression;
mod fixed;
mod hinge;
pub(crate) mod hinge_lanes;
mod planar;
mod prismatic;
mod universal;

mod rows;

use std::sync::Arc;

use nalgebra::{Matrix6, Vector6};

use crate::expression::Expression;
use crate::spatial::{Pose, Twist};

/// What kind of motion a joint leaves.
#[derive(Clone, Debug, PartialEq)]
pub enum JointKind {
    /// Turns about z.
    Hinge,
    /// Turns about any axis; coordinates are the rotation vector.
    Ball,
    /// Turns about x, then about the carried y.
    Universal,
    /// Slides along z.
    Prismatic,
    /// Slides along z and turns about it.
    Cylindrical,
    /// Slides along x and y and turns about z.
    Planar,
    /// Holds the bodies together.
    Fixed,
    /// Leaves all six freedoms, held by springs alone: translation (parent axes), rotation vector.
    Bushing,
    /// Moves as a formula says.
    Expression(Arc<Expression>),
}

impl From<Expression> for JointKind {
    fn from(expression: Expression) -> JointKind {
        JointKind::Expression(Arc::new(expression))
    }
}

/// What a joint answers at a relative pose X that need not lie on its manifold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Placement {
    /// θ(X)
    pub coordinates: Vector6<f64>,
    /// C(X)
    pub residual: Vector6<f64>,
    /// J(X)
    pub rows: Matrix6<f64>,
    /// Jθ(X)
    pub coordinates_jacobian: Matrix6<f64>,
}

/// Sends a question to the file of the joint's kind; a formula's has the formula as one more argument.
macro_rules! ask {
    ($kind:expr, $question:ident ( $($argument:expr),* ), $formula:ident => $answer:expr) => {
        match $kind {
            JointKind::Hinge => hinge::$question($($argument),*),
            JointKind::Ball => ball::$question($($argument),*),
            JointKind::Universal => universal::$question($($argument),*),
            JointKind::Prismatic => prismatic::$question($($argument),*),
            JointKind::Cylindrical => cylindrical::$question($($argument),*),
            JointKind::Planar => planar::$question($($argument),*),
            JointKind::Fixed => fixed::$question($($argument),*),
            JointKind::Bushing => bushing::$question($($argument),*),
            JointKind::Expression($formula) => $answer,
        }
    };
}

impl JointKind {
    /// Every kind that has a file of its own, in the order of the scene file's documentation.
    pub const ALL: [JointKind; 8] = [
        JointKind::Hinge,
        JointKind::Ball,
        JointKind::Universal,
        JointKind::Prismatic,
        JointKind::Cylindrical,
        JointKind::Planar,
        JointKind::Fixed,
        JointKind::Bushing,
    ];

    /// The word of the scene file.
    pub fn name(&self) -> &'static str {
        match self {
            JointKind::Hinge => "hinge",
            JointKind::Ball => "ball",
            JointKind::Universal => "universal",
            JointKind::Prismatic => "prismatic",
            JointKind::Cylindrical => "cylindrical",
            JointKind::Planar => "planar",
            JointKind::Fixed => "fixed",
            JointKind::Bushing => "bushing",
            JointKind::Expression(_) => "expression",
        }
    }

    /// The kind of a word of the scene file; a formula takes more than a word.
    pub fn from_name(name: &str) -> Option<JointKind> {
        JointKind::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Number of freedoms d, 0 to 6.
    #[inline]
    pub fn freedoms(&self) -> usize {
        match self {
            JointKind::Hinge => hinge::FREEDOMS,
            JointKind::Ball => ball::FREEDOMS,
            JointKind::Universal => universal::FREEDOMS,
            JointKind::Prismatic => prismatic::FREEDOMS,
            JointKind::Cylindrical => cylindrical::FREEDOMS,
            JointKind::Planar => planar::FREEDOMS,
            JointKind::Fixed => fixed::FREEDOMS,
            JointKind::Bushing => bushing::FREEDOMS,
            JointKind::Expression(formula) => formula.freedoms(),
        }
    }

    /// How many of the freedoms, the first ones, are translations (m); the others are rotations (rad).
    #[inline]
    pub fn translations(&self) -> usize {
        match self {
            JointKind::Hinge | JointKind::Ball | JointKind::Universal | JointKind::Fixed => 0,
            JointKind::Prismatic | JointKind::Cylindrical => 1,
            JointKind::Planar => 2,
            JointKind::Bushing => 3,
            JointKind::Expression(formula) => formula.lengths(),
        }
    }

    /// A name for coordinate k: that of a formula's freedom, or what it does.
    pub fn coordinate_name(&self, k: usize) -> &str {
        const SLIDES: [&str; 3] = ["slide along x", "slide along y", "slide along z"];
        const TURNS: [&str; 3] = ["turn about x", "turn about y", "turn about z"];
        match self {
            JointKind::Hinge => TURNS[2],
            JointKind::Ball | JointKind::Universal => TURNS[k],
            JointKind::Prismatic => SLIDES[2],
            JointKind::Cylindrical => [SLIDES[2], TURNS[2]][k],
            JointKind::Planar => [SLIDES[0], SLIDES[1], TURNS[2]][k],
            JointKind::Bushing => [SLIDES, TURNS][k / 3][k % 3],
            JointKind::Fixed => unreachable!("a fixed joint has no coordinates"),
            JointKind::Expression(formula) => &formula.formula().freedoms()[k],
        }
    }

    /// Whether the rate of coordinate k depends on the child frame's angular velocity alone.
    #[inline]
    pub fn only_turns(&self, k: usize) -> bool {
        k >= self.translations() && !matches!(self, JointKind::Expression(_))
    }

    /// Says that questions off the manifold will come in every step: a formula is then compiled for these too.
    pub(crate) fn prepare_off_manifold(&self) {
        if let JointKind::Expression(formula) = self {
            formula.prepare_curvature();
        }
    }

    /// X(q): the child's joint frame in the parent's.
    #[inline]
    pub fn transform(&self, q: &[f64]) -> Pose {
        debug_assert_eq!(q.len(), self.freedoms());
        ask!(self, transform(q), formula => formula.transform(q))
    }

    /// S(q), 6×d: the child frame's body twist relative to the parent is S q̇.
    #[inline]
    pub fn subspace(&self, q: &[f64]) -> Matrix6<f64> {
        debug_assert_eq!(q.len(), self.freedoms());
        ask!(self, subspace(q), formula => formula.subspace(q))
    }

    /// Ṡ(q, q̇), 6×d: the rate of the subspace while q moves with q̇.
    #[inline]
    pub fn subspace_rate(&self, q: &[f64], rate: &[f64]) -> Matrix6<f64> {
        debug_assert_eq!(q.len(), self.freedoms());
        debug_assert_eq!(rate.len(), self.freedoms());
        ask!(self, subspace_rate(q, rate), formula => formula.subspace_rate(q, rate))
    }

    /// The coordinates θ(X) of a relative pose, which need not lie on the manifold. Of the angles
    /// that describe the same pose, those nearest the reference are taken, so that turns count on.
    #[inline]
    pub fn coordinates(&self, X: &Pose, reference: &[f64]) -> Vector6<f64> {
        debug_assert_eq!(reference.len(), self.freedoms());
        ask!(self, coordinates(X, reference), formula => expression::coordinates(formula, X, reference))
    }

    /// Jθ(X), d×6: the rate of the coordinates for a body twist of the child frame, on the branch
    /// on which θ(X) = q.
    #[inline]
    pub fn coordinates_jacobian(&self, X: &Pose, q: &[f64]) -> Matrix6<f64> {
        debug_assert_eq!(q.len(), self.freedoms());
        ask!(self, coordinates_jacobian(X, q), formula => expression::coordinates_jacobian(formula, X, q))
    }

    /// The constraint residual C(X), 6−d numbers, zero on the manifold; q is θ(X).
    #[inline]
    pub fn residual(&self, X: &Pose, q: &[f64]) -> Vector6<f64> {
        debug_assert_eq!(q.len(), self.freedoms());
        ask!(self, residual(X), formula => expression::residual(formula, X, q))
    }

    /// The constraint rows J(X), (6−d)×6: Ċ = J ξ for a body twist ξ of the child frame; q is θ(X).
    #[inline]
    pub fn rows(&self, X: &Pose, q: &[f64]) -> Matrix6<f64> {
        debug_assert_eq!(q.len(), self.freedoms());
        ask!(self, rows(X), formula => expression::rows(formula, X, q))
    }

    /// θ(X), C(X), J(X) and Jθ(X) at once: what a joint in maximal coordinates is asked at each iterate.
    #[inline]
    pub fn place(&self, X: &Pose, reference: &[f64]) -> Placement {
        if let JointKind::Expression(formula) = self {
            return expression::place(formula, X, reference);
        }
        let coordinates = self.coordinates(X, reference);
        let q = &coordinates.as_slice()[..self.freedoms()];
        Placement {
            coordinates,
            residual: self.residual(X, q),
            rows: self.rows(X, q),
            coordinates_jacobian: self.coordinates_jacobian(X, q),
        }
    }

    /// The derivative, 6×6, of the wrench that the joint passes on, Jᵀλ + Jθᵀτ in the axes of the child
    /// frame, while the child frame moves with body twist ξ and multipliers λ (6−d) and coordinate
    /// forces τ (d) stay as they are.
    #[inline]
    pub fn wrench_derivative(
        &self,
        X: &Pose,
        q: &[f64],
        multipliers: &[f64],
        forces: &[f64],
    ) -> Matrix6<f64> {
        debug_assert_eq!(multipliers.len(), 6 - self.freedoms());
        debug_assert_eq!(forces.len(), self.freedoms());
        ask!(self, wrench_derivative(X, q, multipliers, forces),
            formula => expression::wrench_derivative(formula, X, q, multipliers, forces))
    }

    /// Ṡ q̇, the acceleration that is left when q̈ = 0.
    #[inline]
    pub fn bias(&self, q: &[f64], rate: &[f64]) -> Twist {
        if let JointKind::Expression(formula) = self {
            return formula.motion(q, rate).2;
        }
        let S = self.subspace_rate(q, rate);
        let mut b = Vector6::zeros();
        for (k, r) in rate.iter().enumerate() {
            b += S.column(k) * *r;
        }
        Twist::from_vector(&b)
    }

    /// X(q), S(q) and Ṡq̇ at once: what a recursion over the tree asks of each joint in each step.
    #[inline]
    pub fn motion(&self, q: &[f64], rate: &[f64]) -> (Pose, Matrix6<f64>, Twist) {
        match self {
            JointKind::Expression(formula) => formula.motion(q, rate),
            _ => (self.transform(q), self.subspace(q), self.bias(q, rate)),
        }
    }
}

/// An angle, moved by whole turns to within half a turn of the reference.
#[inline]
pub(crate) fn nearest_turn(angle: f64, reference: f64) -> f64 {
    use std::f64::consts::{PI, TAU};
    let off = reference - angle;
    if off.abs() < PI { angle } else { angle + TAU * (off / TAU).round() }
}

/// A passive turn about any axis is counted from the other side beyond this, rad: far from 2π, where the rates of a
/// rotation vector have no bound.
const RECENTRE: f64 = 1.5 * std::f64::consts::PI;

/// The same turn by a rotation vector no longer than [`RECENTRE`].
#[inline]
pub(crate) fn recentred(r: nalgebra::Vector3<f64>) -> nalgebra::Vector3<f64> {
    use std::f64::consts::TAU;
    let length = r.norm();
    if length > RECENTRE { r * (1.0 - (length / TAU).round() * TAU / length) } else { r }
}

/// A rotation vector, moved by whole turns about its own axis to the nearest to the reference.
#[inline]
fn nearest_rotation_vector(r: nalgebra::Vector3<f64>, reference: &[f64]) -> nalgebra::Vector3<f64> {
    use std::f64::consts::TAU;
    let reference = nalgebra::Vector3::new(reference[0], reference[1], reference[2]);
    let angle = r.norm();
    if angle < 1e-12 {
        // No turn, and so no axis of its own: whole turns about the reference's axis.
        let length = reference.norm();
        let turns = (length / TAU).round();
        return if turns == 0.0 { r } else { r + reference * (turns * TAU / length) };
    }
    let axis = r / angle;
    axis * nearest_turn(angle, axis.dot(&reference))
}
