//! Joints given by a formula: a small language for transforms that depend on named freedoms.
//!
//! ```text
//! # A point that slides along a curve, with the frame along the tangent.
//! let c = bezier(s, points);
//! frame_from_tangent(derivative(c, s), [0, 0, 1], c) * rotate_x(turn)
//! ```
//!
//! The last expression is the transform G(q) from the child's joint frame to the parent's. All freedoms are zero
//! in the file's pose, where the two frames coincide: the joint is X(q) = G(0)⁻¹ G(q). The frame that a joint is
//! given at is that of the child in the formula; that of the parent is where G(0)⁻¹ puts it.
//!
//! | type | made by |
//! |---|---|
//! | number | `1.5`, `pi`, freedoms, parameters, `+ - * / ^` (constant powers), `sin cos tan sqrt abs dot length`, `v.x`, `piecewise` |
//! | vector | `[x, y, z]`, `vec(x, y, z)`, `+ -`, number `*` vector, `/` number, `cross normalize`, transform `*` point, `bezier bspline bezier_surface bspline_surface` |
//! | transform | `identity() rotate_x rotate_y rotate_z rotate translate inverse frame_from_tangent frame_from_tangents`, transform `*` transform |
//! | list | `[a, b, …]`: points, rows of points, knots |
//!
//! `let name = …;` names a value. `derivative(value, freedom)` is what it says, of numbers and vectors.
//! `piecewise(x, [b₁, …], [[c₀, c₁, …], …])` takes the first polynomial in x below b₁, and so on.
//! `bspline(u, degree, [points])` runs from 0 to 1 with even knots; beyond its ends a curve goes on as it was.
//!
//! The way of a formula: text ([`Syntax`]) → graph with every value once ([`Graph`]) → derivatives as more nodes of
//! it ([`Derivative`]) → instructions on registers ([`Tape`]), which run without allocating: interpreted, or with the
//! feature `compiled` as machine code, made once before the first use.
//! Derivatives come from jets on the shared graph (Si 2010 §4, without the factorisation step of D\*).

mod compile;
mod complement;
mod error;
mod formula;
mod functions;
mod graph;
mod interpret;
mod jet;
mod lower;
#[cfg(feature = "compiled")]
mod machine;
mod motion;
mod spline;
mod syntax;
mod tape;
mod token;
mod types;
mod vector;

pub use error::{ExpressionError, Place};
pub use formula::Formula;
pub use graph::{Graph, Node, Operation};
pub use jet::Derivative;
pub use syntax::{Form, Operator, Part, Syntax};
pub use tape::{Code, Instruction, REGISTERS, Register, Tape, TooLarge};
pub use types::Parameter;

use std::fmt;
use std::sync::OnceLock;

use nalgebra::{Matrix3, Matrix6, Rotation3, UnitQuaternion, Vector3, Vector6};

use crate::spatial::{Pose, Twist};

/// A formula that was checked, with the tapes of X(q), S(q) and Ṡ.
#[derive(Clone)]
pub struct Expression {
    formula: Formula,
    position: Tape,
    subspace: Tape,
    motion: Tape,
    rate: Tape,
    /// G(0).
    start: Pose,
    /// How far a radian of the joint moves it at rest, m.
    length: f64,
    /// Which axes S leans on at rest, one for each freedom: `complement.rs`.
    axes: [(usize, f64); 6],
    /// Whether its tapes run as machine code: known once it is first asked where it is. Files that are only looked at
    /// need not wait for that.
    compiled: OnceLock<bool>,
}

impl fmt::Debug for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Expression").field(&self.formula).finish()
    }
}

impl PartialEq for Expression {
    fn eq(&self, other: &Expression) -> bool {
        self.formula == other.formula
    }
}

impl Expression {
    /// Compiles all tapes, once, where they can be: the first use of a joint does, before its first step if an engine
    /// is made of it.
    #[inline]
    pub fn prepare(&self) {
        self.compiled
            .get_or_init(|| Tape::compile(&[&self.position, &self.subspace, &self.motion, &self.rate]));
    }

    /// What it was made from.
    pub fn formula(&self) -> &Formula {
        &self.formula
    }

    /// Number of freedoms d, 1 to 6.
    #[inline]
    pub fn freedoms(&self) -> usize {
        self.formula.freedoms.len()
    }

    /// How many of the freedoms, the first ones, are lengths.
    #[inline]
    pub fn lengths(&self) -> usize {
        self.formula.lengths
    }

    /// G(0): the child's frame in the parent's, as the formula has them, in the file's pose. The joint's frame is
    /// the child's.
    pub fn start(&self) -> Pose {
        self.start
    }

    /// A length that belongs to the joint, m: how far a radian moves it at rest.
    pub fn own_length(&self) -> f64 {
        self.length
    }

    /// The tape of X(q): R column by column and p, from q.
    pub fn position_tape(&self) -> &Tape {
        &self.position
    }

    /// The tape of X(q) and of S(q), column by column, from q.
    pub fn subspace_tape(&self) -> &Tape {
        &self.subspace
    }

    /// The tape of X(q), S(q) and Ṡq̇, from q and q̇.
    pub fn motion_tape(&self) -> &Tape {
        &self.motion
    }

    /// The tape of Ṡ, column by column, from q and q̇.
    pub fn subspace_rate_tape(&self) -> &Tape {
        &self.rate
    }

    /// X(q).
    pub fn transform(&self, q: &[f64]) -> Pose {
        let mut out = [0.0; 12];
        self.prepare();
        self.position.run(q, &mut out);
        pose(&out)
    }

    /// X(q) and S(q).
    pub fn transform_and_subspace(&self, q: &[f64]) -> (Pose, Matrix6<f64>) {
        let mut out = [0.0; 48];
        self.prepare();
        self.subspace.run(q, &mut out);
        (pose(&out), columns(&out[12..]))
    }

    /// S(q).
    pub fn subspace(&self, q: &[f64]) -> Matrix6<f64> {
        self.transform_and_subspace(q).1
    }

    /// X(q), S(q) and Ṡq̇.
    pub fn motion(&self, q: &[f64], rate: &[f64]) -> (Pose, Matrix6<f64>, Twist) {
        let mut out = [0.0; 54];
        let d = self.freedoms();
        self.prepare();
        self.motion.run(&both(q, rate)[..2 * d], &mut out);
        let bias = Vector6::from_column_slice(&out[12 + 6 * d..18 + 6 * d]);
        out[12 + 6 * d..].fill(0.0);
        (pose(&out), columns(&out[12..48]), Twist::from_vector(&bias))
    }

    /// Ṡ(q, q̇).
    pub fn subspace_rate(&self, q: &[f64], rate: &[f64]) -> Matrix6<f64> {
        let mut out = [0.0; 36];
        self.prepare();
        self.rate.run(&both(q, rate)[..2 * self.freedoms()], &mut out);
        columns(&out)
    }

    /// N, 6×(6−d): an orthonormal complement of S, smooth in S.
    pub(crate) fn complement(&self, S: &Matrix6<f64>) -> Matrix6<f64> {
        complement::complement(S, self.freedoms(), &self.axes)
    }

    /// Ṅ for S and Ṡ.
    pub(crate) fn complement_rate(&self, S: &Matrix6<f64>, rate: &Matrix6<f64>) -> Matrix6<f64> {
        complement::complement_rate(S, rate, self.freedoms(), &self.axes)
    }

    /// Coordinates within limits where X is not a finite rigid transform, if some are found: at the corners and at
    /// as many points between. An angle without limits is tried half a turn, a length one metre either way.
    pub(crate) fn not_rigid_within(&self, limits: &[(f64, f64)]) -> Option<Vec<f64>> {
        let d = self.freedoms();
        let range = |k: usize| {
            let (lower, upper) = limits[k];
            let far = if k < self.lengths() { 1.0 } else { std::f64::consts::PI };
            match (lower.is_finite(), upper.is_finite()) {
                (true, true) => (lower, upper),
                (true, false) => (lower, lower + 2.0 * far),
                (false, true) => (upper - 2.0 * far, upper),
                (false, false) => (-far, far),
            }
        };
        let corners = 1usize << d;
        (0..2 * corners).find_map(|i| {
            let part = |k: usize| match i < corners {
                true => (i >> k & 1) as f64,
                false => ((i * (2 * k + 1)) as f64 * 0.618_033_988_749_894_9).fract(),
            };
            let at = |k: usize| range(k).0 + part(k) * (range(k).1 - range(k).0);
            let q: Vec<f64> = (0..d).map(at).collect();
            let mut X = [0.0; 12];
            self.position.interpret(&q, &mut X);
            (!compile::is_rigid(&X)).then_some(q)
        })
    }

    /// The freedom that moves nothing that the ones before it do not, if S(q) has lost rank there.
    pub fn lost_freedom(&self, q: &[f64]) -> Option<usize> {
        self.dependent_column(&self.subspace(q))
    }

    /// The first column of S that depends on those before it.
    pub(crate) fn dependent_column(&self, S: &Matrix6<f64>) -> Option<usize> {
        complement::dependent_column(S, self.freedoms(), self.length, compile::SINGULAR)
    }
}

/// q and q̇ in one list.
#[inline]
fn both(q: &[f64], rate: &[f64]) -> [f64; 12] {
    let mut inputs = [0.0; 12];
    inputs[..q.len()].copy_from_slice(q);
    inputs[q.len()..2 * q.len()].copy_from_slice(rate);
    inputs
}

#[inline]
fn pose(numbers: &[f64]) -> Pose {
    let R = Rotation3::from_matrix_unchecked(Matrix3::from_column_slice(&numbers[..9]));
    Pose::new(UnitQuaternion::from_rotation_matrix(&R), Vector3::from_column_slice(&numbers[9..12]))
}

/// Columns of six numbers; those that are not there are zero.
#[inline]
fn columns(numbers: &[f64]) -> Matrix6<f64> {
    Matrix6::from_column_slice(&numbers[..36])
}
