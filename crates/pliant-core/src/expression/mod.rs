//! Joints written as formulas: a small language of numbers, vectors and transforms, with exact derivatives.
//!
//! ```
//! use pliant_core::{expression::Formula, joints::JointKind};
//!
//! let slide = Formula::new("translate(s, 0, 0.5 * s ^ 2)").length("s").compile()?;
//! assert_eq!(JointKind::from(slide).transform(&[2.0]).position.z, 2.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
#![doc = include_str!("README.md")]

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
pub mod ready;
mod spline;
mod syntax;
mod tape;
mod token;
mod types;
mod vector;

pub(crate) use compile::SINGULAR;
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

/// True where formulas run as machine code (feature `compiled`), false where they are interpreted; answers have the same bits.
pub const COMPILED: bool = cfg!(feature = "compiled");

/// A formula that was checked, with the tapes of X(q), S(q), Ṡq̇ and ∂S/∂q.
#[derive(Clone)]
pub struct Expression {
    formula: Formula,
    position: Tape,
    subspace: Tape,
    motion: Tape,
    curvature: Tape,
    /// G(0).
    start: Pose,
    /// How far a radian of the joint moves it at rest, m.
    length: f64,
    /// Which axes S leans on at rest, one for each freedom: `complement.rs`.
    axes: [(usize, f64); 6],
    /// Whether its tapes run as machine code: known once it is first asked where it is. Files that are only looked at
    /// need not wait for that.
    compiled: OnceLock<bool>,
    /// The same of ∂S/∂q, once an engine says that it asks for it in its steps.
    curvature_compiled: OnceLock<bool>,
}

/// At how many places a formula is tried between the corners of its limits.
const BETWEEN: usize = 64;

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
    /// Compiles the tapes of X, S and Ṡq̇, once, where they can be: the first use of a joint does, before its first step if
    /// an engine is made of it.
    #[inline]
    pub fn prepare(&self) {
        self.compiled.get_or_init(|| Tape::compile(&[&self.position, &self.subspace, &self.motion]));
    }

    /// The same for the tape of ∂S/∂q, which is interpreted without: for engines that ask off the manifold in every step.
    pub fn prepare_curvature(&self) {
        self.curvature_compiled.get_or_init(|| Tape::compile(&[&self.curvature]));
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

    /// The tape of ∂S/∂q, coordinate by coordinate and each column by column, from q.
    pub fn curvature_tape(&self) -> &Tape {
        &self.curvature
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

    /// ∂S/∂q_k, the first d of six.
    pub fn subspace_derivatives(&self, q: &[f64]) -> [Matrix6<f64>; 6] {
        let mut out = [0.0; 216];
        let d = self.freedoms();
        self.curvature.run(q, &mut out);
        std::array::from_fn(|k| match k < d {
            true => Matrix6::from_fn(|i, j| if j < d { out[6 * (d * k + j) + i] } else { 0.0 }),
            false => Matrix6::zeros(),
        })
    }

    /// Ṡ(q, q̇) = Σ ∂S/∂q_k q̇_k.
    pub fn subspace_rate(&self, q: &[f64], rate: &[f64]) -> Matrix6<f64> {
        self.subspace_derivatives(q).iter().zip(rate).fold(Matrix6::zeros(), |sum, (D, rate)| sum + D * *rate)
    }

    /// N, 6×(6−d): an orthonormal complement of S, smooth in S.
    pub(crate) fn complement(&self, S: &Matrix6<f64>) -> Matrix6<f64> {
        complement::complement(S, self.freedoms(), &self.axes)
    }

    /// Nᵀx.
    pub(crate) fn across(&self, S: &Matrix6<f64>, x: &Vector6<f64>) -> Vector6<f64> {
        complement::across(S, self.freedoms(), &self.axes, x)
    }

    /// Ṅ for S and Ṡ.
    pub(crate) fn complement_rate(&self, S: &Matrix6<f64>, rate: &Matrix6<f64>) -> Matrix6<f64> {
        complement::complement_rate(S, rate, self.freedoms(), &self.axes)
    }

    /// Coordinates within limits where X is not a finite rigid transform, if some are found: at the corners and at
    /// [`BETWEEN`] points between. An angle without limits is tried half a turn, a length one metre either way.
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
        // Points that fill a box of d edges evenly: multiples of 1/g, 1/g², … with g^(d+1) = g + 1 (Roberts 2018), the
        // golden ratio for one edge.
        let g = (0..40).fold(2.0f64, |g, _| (1.0 + g).powf(1.0 / (d + 1) as f64));
        let corners = 1usize << d;
        (0..corners + BETWEEN).find_map(|i| {
            let part = |k: usize| match i.checked_sub(corners) {
                None => (i >> k & 1) as f64,
                Some(i) => ((i + 1) as f64 * g.powi(-(k as i32 + 1))).fract(),
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
        complement::dependent_column(S, self.freedoms(), self.length, SINGULAR)
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
