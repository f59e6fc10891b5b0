//! What is wrong with an expression, and where.

use std::fmt;
use std::ops::Range;

/// The part of a formula that an error belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// Some of the text, in bytes.
    Text(Range<usize>),
    /// A freedom, by its position: lengths first, then angles.
    Freedom(usize),
    /// A parameter, by its name.
    Parameter(String),
    /// The name of a ready joint.
    Ready,
}

/// One thing that is wrong with a formula: where, what, and what would be right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpressionError {
    /// The part it belongs to.
    pub place: Place,
    /// What is wrong.
    pub message: String,
    /// What would be right.
    pub help: String,
}

impl ExpressionError {
    pub(super) fn at(
        span: Range<usize>,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> ExpressionError {
        ExpressionError { place: Place::Text(span), message: message.into(), help: help.into() }
    }
}

impl fmt::Display for ExpressionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.message, self.help)
    }
}

impl std::error::Error for ExpressionError {}
